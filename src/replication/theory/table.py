r"""The table bounds.csv: both sides of each of the paper's statements, and of their corrections.

Where a left side is a mean of samples it has a 95 % interval, and a statement holds if the whole
interval is below the bound. The left sides are computed in :mod:`~replication.theory.lemmas`,
:mod:`~replication.theory.smoothing`, :mod:`~replication.theory.convergence` and
:mod:`~replication.theory.corrections`.
"""

import math

import pandas as pd

from pgpd_hf.core import optima
from pgpd_hf.statistics import verdict
from replication.theory import convergence, corrections, lemmas, smoothing
from replication.theory.bounds import STATEMENTS
from replication.theory.constants import SIZES, OutsideAssumptions, make_constants
from replication.theory.problems import ROUNDING, Problem

# `ratio` is measured / bound. `holds` is <NA>, with the reason, where the setting violates an
# assumption of the statement or the interval of a mean contains the bound. `audit` is the finding
# of docs/audit.md. The reason begins with "vacuous" where the left side could not exceed the bound
# for any values, answers and multipliers in their ranges.
COLUMNS = tuple(
    (
        "item part label line statement scale discount evaluators rounds horizon "
        "iterations method measured low high bound ratio holds audit reason"
    ).split()
)
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
    10: convergence.dual_regret,
    11: convergence.zeroth_order_lagrangian,
    12: convergence.theorem_2,
    13: lemmas.performance_difference,
    14: lemmas.advantage_bias,
    15: convergence.one_step,
    16: convergence.average_performance,
    17: convergence.theorem_1,
    18: convergence.corollary,
    19: corrections.corrected_theorem_1,
    20: corrections.theorem_1_prime,
    21: corrections.one_run,
    22: corrections.semi_a_priori,
    23: corrections.corrected_theorem_2,
    24: corrections.theorem_1_with_a_constant_step,
    25: corrections.sampled_steps,
}


def check_all(cmdp, setting, *, seeds=range(8), items=None):
    """Check the paper's statements, or some `items`, on one CMDP under one setting."""
    seeds = list(seeds)
    if len(seeds) < 2:
        raise ValueError("seeds: at least two expected, for an interval")
    optimum = optima.solve(cmdp)
    columns = {"scale": cmdp.scale, "discount": cmdp.discount}
    columns |= {name: getattr(setting, name) for name in SIZES}
    rows, problem = [], None
    for item in CHECKS if items is None else items:
        try:
            if problem is None:
                constants = make_constants(cmdp, optimum, setting)
                problem = Problem(cmdp, optimum, setting, seeds, constants)
            results = CHECKS[item](problem)
            rows += [_row(result, problem.constants, columns) for result in results]
        except OutsideAssumptions as error:
            rows += [
                _statement_columns(statement) | columns | {"holds": pd.NA, "reason": str(error)}
                for statement in STATEMENTS.values()
                if statement.item == item
            ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"holds": "boolean", "evaluators": "Int64"})


def _row(result, constants, columns):
    low, high = result.measured - result.error, result.measured + result.error
    bound, reasons = float(result.bound), [result.reason]
    tolerance = ROUNDING * max(abs(bound), constants.value_bound)
    holds = verdict(high <= bound + tolerance, low > bound + tolerance, (True, False, pd.NA))
    if holds is pd.NA:
        reasons = ["the 95 % interval contains the bound"]
    elif holds and bound >= result.trivial:
        reasons.insert(0, f"vacuous: the largest possible value is {result.trivial:.3g}")
    return _statement_columns(STATEMENTS[result.key]) | {
        **columns,
        "method": result.method,
        "measured": float(result.measured),
        "low": low,
        "high": high,
        "bound": bound,
        "ratio": result.measured / bound if bound > 0 else math.nan,
        "holds": holds,
        "reason": "; ".join(filter(None, reasons)),
    }


def _statement_columns(statement):
    names = ("item", "part", "label", "line", "audit")
    return {"statement": statement.text} | {name: getattr(statement, name) for name in names}
