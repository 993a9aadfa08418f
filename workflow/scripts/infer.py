"""Infer N from the verdicts under each, and from those on resampled units."""

import numpy as np

from replication.files import storage
from replication.statements import inference, report

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    tables, resampled = {}, {}
    for rounds, verdicts, scores in zip(
        params.rounds, source.verdicts, source.resampled, strict=True
    ):
        table = report.of_experiment(storage.read_table(verdicts))
        tables.setdefault(rounds, []).append(table)
        scores = storage.read_table(scores)["score"].to_numpy()
        resampled[rounds] = resampled.get(rounds, np.zeros(len(scores))) + scores
    storage.write_table(snakemake.output[0], inference.infer(tables, resampled))
