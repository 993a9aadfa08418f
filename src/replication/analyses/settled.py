"""Settled: T by a rule of stationarity.

Runs go on to twice the largest T that is considered; replication.statements.stationarity has the
rule.
"""

import numpy as np
import pandas as pd

from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import utility_span
from replication.analyses import Table
from replication.files import storage
from replication.statements import stationarity
from replication.study import configuration
from replication.study.cases import Case, by_seed, run_setting

TARGET = "settled"
TABLES = {
    "settled": Table("T by stationarity (table)"),
    "settled_moves": Table("How far curves move after T (table)"),
}
READS = ("runs", "environment", "optimum")
_POINTS = 11  # checkpoints in a quarter of T


def plan(config):
    return {algorithm: _cases(config, algorithm) for algorithm in _algorithms(config)}


def why_not(config):
    found = ", ".join(config["settled"]["longest"])
    return "" if _algorithms(config) else f"algorithms: the study has none of {found}"


def check(config):
    options = config["settled"]
    if missing := sorted({*options["longest"]} - {*options["seeds"]}):
        raise ValueError(f"settled.seeds: a number expected for {missing[0]}")


def arguments(config):
    return {"longest": config["settled"]["longest"]}


def tables(runs, environment, optimum, longest):
    traces, chosen, moved = storage.read_tables(runs), [], {}
    units = {
        "optimality_gap": traces.loc[traces["iteration"] == 0, "optimality_gap"].iloc[0],
        "constraint_violation": utility_span(CMDP.load(environment)),
        "multiplier": storage.read_json(optimum)["multiplier"],
    }
    for algorithm, ran in traces.groupby("algorithm", sort=False):
        lengths = stationarity.lengths(longest[algorithm])
        found = {length: stationarity.moves(ran, length, units) for length in lengths}
        length, label = stationarity.label(stationarity.settled_length(found), longest[algorithm])
        chosen.append({"algorithm": algorithm, "iterations": length, "label": label})
        moved |= {(algorithm, length): table for length, table in found.items()}
    keys = ["algorithm", "length"]
    moves = pd.concat(moved, names=keys).reset_index(keys)
    return {"settled": pd.DataFrame(chosen), "settled_moves": moves}


def _algorithms(config):
    return [name for name in config["settled"]["longest"] if name in config["algorithms"]]


def _cases(config, algorithm):
    """Cases by seed."""
    options = config["settled"]
    cap, marks = options["longest"][algorithm], {0}
    for length in stationarity.lengths(cap):
        points = np.linspace(0.75 * length, 2 * length, 5 * (_POINTS - 1) + 1)
        marks |= {*np.rint(points).astype(int).tolist()}
    cases = [
        Case(
            algorithm,
            run_setting(config, algorithm, number) | {"iterations": 2 * cap},
            purpose=configuration.stream_family(config, "settled"),
            checkpoints=tuple(sorted(marks)),
            labels={"longest": cap},
        )
        for number in config["evaluators"]
    ]
    return by_seed(cases, options["seeds"][algorithm])
