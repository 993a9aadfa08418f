"""Settings around those of the study, to see how far its results depend on them."""

import itertools
from contextlib import suppress

import pandas as pd

from pgpd_hf.core.cmdp import CMDP
from replication.analyses import Table
from replication.files import storage, validation
from replication.statements.evidence import Evidence, Member, Term, Undecidable
from replication.statements.verdicts import point_verdicts
from replication.study.cases import Case, run_setting

TARGET = "claims"
TABLES = {"sensitivity": Table("Other step sizes, N and μ (table)")}
READS = ("runs", "claims", "own", "schema", "environment")
CATEGORY = "Verdicts"
AXES = ("steps", "rounds", "perturbation")


def plan(config):
    return {
        f"{axis}/{algorithm}": list(enumerate(_cases(config, algorithm, axis)))
        for algorithm, options in config["algorithms"].items()
        for axis in AXES
        if axis != "perturbation" or axis in options
    }


def tables(runs, claims, own, schema, environment):
    from replication.statements.declaration import load_claims

    declared = load_claims(claims, validation.read_yaml(schema), own)
    cmdp = CMDP.load(environment)
    by_algorithm = storage.read_tables(runs).groupby("algorithm", sort=False)
    found = [
        tabulate(traces, declared, cmdp).assign(algorithm=name) for name, traces in by_algorithm
    ]
    return {"sensitivity": pd.concat(found, ignore_index=True)}


def tabulate(runs, claims, cmdp):
    """Gap, violation and statements that hold at each position along an axis, by M."""
    # Means are over the last quarter, in the units of statements/evidence.py. Statements count that
    # are about this algorithm alone: `holding` by their estimates, of those that are `decidable`.
    rows = []
    position = ["axis", "first", "second"]
    for key, traces in runs.groupby(position, sort=False, dropna=False):
        multiplier, algorithm = traces[["optimal_multiplier", "algorithm"]].iloc[0]
        evidence = Evidence([Member.on(cmdp, multiplier, traces)])
        holds = [verdict for verdict in point_verdicts(claims, evidence) if verdict is not None]
        for evaluators in traces["evaluators"].unique():
            row = dict(zip(position, key, strict=True)) | {"evaluators": evaluators}
            for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
                term = Term(algorithm, evaluators, column, "last_quarter")
                with suppress(Undecidable):  # the start is no worse than the optimum
                    row[name] = evidence.samples(term)[1].mean()
            rows.append(row | {"holding": sum(holds), "decidable": len(holds)})
    return pd.DataFrame(rows)


def _cases(config, algorithm, axis):
    """Lists of cases, one for each position along an axis."""
    options = config["claims"]["sensitivity"]
    if axis == "steps":
        positions = [({}, pair) for pair in itertools.product(options["factors"], repeat=2)]
    else:
        positions = [({axis: value}, (value, None)) for value in options[axis]]
    return [
        [
            Case(
                algorithm,
                run_setting(config, algorithm, evaluators) | changes,
                tuple(range(options["seeds"])),
                "sensitivity",
                factors=(float(first), float(second)) if axis == "steps" else (1.0, 1.0),
                labels={"axis": axis, "first": first, "second": second},
            )
            for evaluators in config["evaluators"]
            if evaluators is not None
        ]
        for changes, (first, second) in positions
    ]
