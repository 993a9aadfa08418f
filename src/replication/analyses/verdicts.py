"""Verdicts on the paper's statements, by the runs of one reading or of many random instances."""

from replication.analyses import Table, instances
from replication.files import validation
from replication.study.readings import look

TARGET = "claims"
TABLES = {"{folder}claims": Table(keys="claim"), "{folder}power": Table()}
EVIDENCE = ("judged_traces", "judged_tables", "judged_environment", "judged_optimum")
READS = ("claims", "own", "schema", *EVIDENCE)
MAKES_ENVIRONMENTS = True
NAMES_ALGORITHMS = ("tables",)
ALGORITHMS = ("npgpd_hf", "zpgpd_hf")  # which the statements are about


def arguments(config, readings, folder):
    return {"look": look(readings, folder), "groups": instances.environments(config, folder)}


def load(claims, own, schema, **evidence):
    """Statements, and the evidence of runs for them."""
    from replication.statements.declaration import load_claims
    from replication.statements.sources import load_evidence

    given = {name.removeprefix("judged_"): it for name, it in evidence.items()}
    statements = load_claims(claims, validation.read_yaml(schema), own)
    return statements, load_evidence(**given)


def tables(**given):
    from replication.statements.power import power_table
    from replication.statements.verdicts import judge

    loaded = load(**given)
    return {"claims": judge(*loaded), "power": power_table(*loaded)}
