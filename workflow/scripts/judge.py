"""Judge the paper's statements by the runs of one reading, or of many random instances."""

from pgpd_hf import claims
from pgpd_hf.support import storage, validation

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    statements = claims.load_claims(source.claims, schema, source.own)
    evidence = claims.load_evidence(
        source.traces, params.look, source.environment, source.optimum, source.tables, params.groups
    )
    storage.write_table(snakemake.output.verdicts, claims.judge(statements, evidence))
    storage.write_table(snakemake.output.power, claims.power_table(statements, evidence))
