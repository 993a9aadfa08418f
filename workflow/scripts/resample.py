"""Score the statements of the experiment again on resampled units."""

import pandas as pd

from replication import statements
from replication.files import storage, validation

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    declared = statements.of_experiment(statements.load_claims(source.claims, schema, source.own))
    evidence = statements.load_evidence(
        source.traces, params.look, source.environment, source.optimum, source.tables, params.groups
    )
    scores = statements.resampled_scores(declared, evidence, params.resamples)
    storage.write_table(snakemake.output[0], pd.DataFrame({"score": scores}))
