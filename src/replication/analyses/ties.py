"""The study with the step sizes that its races could not tell from the chosen ones.

The runs have the random streams of the study's own, so differences are due to the steps alone.
"""

import pandas as pd

from pgpd_hf.algorithms.base import STEPS
from pgpd_hf.core.cmdp import CMDP
from replication.analyses import Table
from replication.files import storage, validation
from replication.study import configuration
from replication.study.cases import Case, run_setting

TARGET = "claims"
TABLES = {"ties": Table("Tied step sizes (table)", "algorithm primal_step dual_step claim")}
STATEMENTS = ("claims", "own", "schema")
READS = ("runs", *STATEMENTS, "environment", "optimum", "full_traces", "full_verdicts")
CATEGORY = "Verdicts"
COLUMNS = ["algorithm", *STEPS, *"claim statement verdict chosen estimate low high".split()]


def plan(config):
    return {
        algorithm: [(number, _cases(config, algorithm, number)) for number in range(len(pairs))]
        for algorithm, pairs in config["claims"]["ties"].items()
    }


def check(config):
    for algorithm in config["claims"]["ties"]:
        configuration.require_algorithm(config, algorithm)


def tables(runs, claims, own, schema, environment, optimum, full_traces, full_verdicts):
    from replication.statements.declaration import load_claims
    from replication.statements.evidence import Evidence, Member
    from replication.statements.verdicts import judge

    cmdp, multiplier = CMDP.load(environment), storage.read_json(optimum)["multiplier"]
    declared = load_claims(claims, validation.read_yaml(schema), own)
    chosen = storage.read_table(full_verdicts).set_index("claim")["verdict"]
    traces = storage.read_traces(full_traces)
    found = [pd.DataFrame(columns=COLUMNS)]
    tied = storage.read_traces(runs) if runs else pd.DataFrame({"algorithm": []})
    for algorithm, own_runs in tied.groupby("algorithm"):
        others = traces[traces["algorithm"] != algorithm]
        about = {
            name: claim
            for name, claim in declared["claims"].items()
            if algorithm in (claim["criterion"].get("algorithm"), claim["criterion"].get("than"))
        }
        for steps, with_steps in own_runs.groupby(list(STEPS)):
            together = pd.concat([with_steps[traces.columns], others])
            evidence = Evidence([Member.on(cmdp, multiplier, together)])
            table = judge({**declared, "claims": about}, evidence)
            table = table[table["estimate"].notna() & (table["kind"] != "arithmetic")]
            steps = {"algorithm": algorithm, **dict(zip(STEPS, steps, strict=True))}
            found.append(table.assign(**steps, chosen=table["claim"].map(chosen))[COLUMNS])
    return {"ties": pd.concat(found, ignore_index=True)}


def _cases(config, algorithm, number):
    steps = dict(zip(STEPS, config["claims"]["ties"][algorithm][number], strict=True))
    return [
        Case(
            algorithm,
            run_setting(config, algorithm, evaluators) | steps,
            tuple(range(config["claims"]["seeds"])),
            config["streams"],
            labels={"tie": number},
        )
        for evaluators in config["evaluators"]
    ]
