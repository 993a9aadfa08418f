"""Score the statements of the experiment again on resampled units."""

import pandas as pd

from replication.files import storage, validation
from replication.statements import declaration, inference, sources

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    declared = inference.of_experiment(declaration.load_claims(source.claims, schema, source.own))
    evidence = sources.load_evidence(
        source.traces, params.look, source.environment, source.optimum, source.tables, params.groups
    )
    scores = inference.resampled_scores(declared, evidence, params.resamples)
    storage.write_table(snakemake.output[0], pd.DataFrame({"score": scores}))
