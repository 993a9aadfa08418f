"""Score the statements of the experiment again on resampled units."""

import pandas as pd

from pgpd_hf import claims
from pgpd_hf.support import storage, validation

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    statements = claims.of_experiment(claims.load_claims(source.claims, schema, source.own))
    evidence = claims.load_evidence(
        source.traces, params.look, source.environment, source.optimum, source.tables, params.groups
    )
    scores = claims.resampled_scores(statements, evidence, params.resamples)
    storage.write_table(snakemake.output[0], pd.DataFrame({"score": scores}))
