"""Judge the paper's statements by the runs of one reading, or of many random instances."""

from replication.files import storage, validation
from replication.statements import declaration, power, sources, verdicts

with storage.job(snakemake):
    source, params = snakemake.input, snakemake.params
    schema = validation.read_yaml(source.schema)
    declared = declaration.load_claims(source.claims, schema, source.own)
    evidence = sources.load_evidence(
        source.traces, params.look, source.environment, source.optimum, source.tables, params.groups
    )
    storage.write_table(snakemake.output.verdicts, verdicts.judge(declared, evidence))
    storage.write_table(snakemake.output.power, power.power_table(declared, evidence))
