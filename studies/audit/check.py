"""Both sides of each of the paper's statements at one setting: rows of bounds.csv.

A statement holds if the whole 95 % interval of its left side is below the bound. `holds` is empty,
with the reason, where the setting violates an assumption of the statement, or the interval contains
the bound. The reason begins with "vacuous" where the left side could not exceed the bound for any
values, answers and multipliers in their ranges.
"""

import argparse
import json
import math

import pandas as pd
from audit import iterates, lemmas, smoothing
from audit.printed import Setting, make_constants
from audit.problems import ROUNDING, Problem
from audit.statements import STATEMENTS, Statement

from pgpd_hf import CMDP, random_cmdp, solve
from pgpd_hf.tables import one_line, write_table
from pgpd_hf.theory import OutsideAssumptions

CHECKS = {
    1: lemmas.finite_horizon,
    2: lemmas.return_variance,
    3: lemmas.feedback,
    4: lemmas.smoothness,
    5: smoothing.smoothing,
    6: lemmas.violation_from_gap,
    7: lemmas.excess_bias,
    8: smoothing.gradient_bias,
    9: lemmas.excess_square,
    10: iterates.dual_regret,
    11: iterates.zeroth_order_lagrangian,
    12: iterates.printed_theorem_2,
    14: lemmas.advantage_bias,
    15: iterates.one_step,
    16: iterates.average_performance,
    17: iterates.printed_theorem_1,
    19: iterates.corrected_theorem_1,
    23: iterates.corrected_theorem_2,
}
SIZES = ("evaluators", "rounds", "horizon", "iterations")
VALUES = ("method", "measured", "low", "high", "bound", "ratio", "holds", "reason")


def check(cmdp, setting, seeds, items=CHECKS):
    """Table of the paper's statements, or some `items`, on one CMDP under one setting."""
    optimum = solve(cmdp)
    constants = make_constants(cmdp, optimum, setting)
    problem = Problem(cmdp, optimum, setting, seeds, constants)
    rows = []
    for item in items:
        try:
            rows += [_row(result, constants) for result in CHECKS[item](problem)]
        except OutsideAssumptions as error:
            parts = [it for it in STATEMENTS.values() if it.item == item]
            rows += [it._asdict() | {"holds": pd.NA, "reason": str(error)} for it in parts]
    known = {"scale": cmdp.scale, "discount": cmdp.discount}
    known |= {name: getattr(setting, name) for name in SIZES}
    table = pd.DataFrame(rows).assign(**known)[[*Statement._fields, *known, *VALUES]]
    return table.astype({"holds": "boolean", "evaluators": "Int64"})


def _row(result, constants):
    low, high = result.measured - result.error, result.measured + result.error
    bound, reasons = float(result.bound), [result.reason]
    tolerance = ROUNDING * max(abs(bound), constants.value_bound)
    holds = True if high <= bound + tolerance else False if low > bound + tolerance else pd.NA
    if holds is pd.NA:
        reasons = ["the 95 % interval contains the bound"]
    elif holds and bound >= result.trivial:
        reasons.insert(0, f"vacuous: the largest possible value is {result.trivial:.3g}")
    return STATEMENTS[result.key]._asdict() | {
        "method": result.method,
        "measured": float(result.measured),
        "low": low,
        "high": high,
        "bound": bound,
        "ratio": result.measured / bound if bound > 0 else math.nan,
        "holds": holds,
        "reason": "; ".join(filter(None, reasons)),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--name", required=True, help="of the setting")
    parser.add_argument("--setting", required=True, type=json.loads, help="as JSON")
    parser.add_argument("--seeds", required=True, type=int, help="how many")
    parser.add_argument("--environment", help="NumPy archive, for settings without their own")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    with one_line():
        own = options.setting.pop("environment", None)
        cmdp = CMDP.load(options.environment) if own is None else random_cmdp(**own)
        table = check(cmdp, Setting(**options.setting), range(options.seeds))
        table.insert(len(Statement._fields), "setting", options.name)
        write_table(table, options.table)
