"""Verdicts on the paper's statements, by the runs of one reading or of many random instances."""

from pathlib import Path

from replication.analyses import Table, instances
from replication.files import validation
from replication.study import admission
from replication.study.readings import FULL, look

TARGET = "claims"
PRIORITY = 1
TABLES = {"{folder}claims": Table(keys="claim"), "{folder}power": Table()}
READS = (
    *("claims", "own", "schema"),
    *("judged_traces", "judged_tables", "judged_environment", "judged_optimum"),
)


def judged(config, readings):
    """Titles of all tables of verdicts, by the folder of the results."""
    return {
        FULL: "default",
        **{f"readings/{name}/": reading["title"] for name, reading in readings.items()},
        **{f"instances/{group}/": title for group, title in instances.judged(config).items()},
    }


def check(config, readings, root):
    """Refuse statements that cannot be judged, or that are about what the study lacks."""
    from replication.statements.declaration import load_claims

    titles = [*judged(config, readings).values()]
    if twice := next((title for title in titles if titles.count(title) > 1), ""):
        raise ValueError(f"claims: {twice!r} is the title of two readings or groups of instances")
    own = [*map(Path, config["claims"]["statements"])]
    load_claims(Path(root, "config/claims.yaml"), admission.load_schema(root, "claims"), own)
    for path in own:
        from replication.study import own_statements, sweeps

        swept = [sweeps.plan(config, [name]).values() for name in ("people", "horizon")]
        cases = [[case for items in parts for case in items[0][1]] for parts in swept]
        own_statements.refuse_unknown_names(path, config, readings, *cases)


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
