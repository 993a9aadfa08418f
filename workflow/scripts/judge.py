"""Judge the paper's statements by the runs of one reading, or of many random instances."""

from replication import statements
from replication.files import storage, validation

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    declared = statements.load_claims(source.claims, schema, source.own)
    evidence = statements.load_evidence(
        source.traces, params.look, source.environment, source.optimum, source.tables, params.groups
    )
    storage.write_table(snakemake.output.verdicts, statements.judge(declared, evidence))
    storage.write_table(snakemake.output.power, statements.power_table(declared, evidence))
