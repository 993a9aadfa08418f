r"""Each of the paper's statements against what it bounds, as a table.

Where the left side is a mean of samples it has a 95 % interval, and a statement holds if the whole
interval does. Items are checked in :mod:`~pgpd_hf.theory.lemmas`,
:mod:`~pgpd_hf.theory.smoothing` and :mod:`~pgpd_hf.theory.convergence`.
"""

import math
from dataclasses import asdict

import pandas as pd

from pgpd_hf.core import optima
from pgpd_hf.theory import convergence, lemmas, smoothing
from pgpd_hf.theory.bounds import STATEMENTS
from pgpd_hf.theory.constants import OutsideAssumptions, make_constants
from pgpd_hf.theory.problems import ROUNDING, Problem

COLUMNS = (
    "item",
    "part",
    "label",
    "line",
    "statement",
    "instance",
    "scale",
    "discount",
    "evaluators",
    "pairs",
    "horizon",
    "iterations",
    "method",
    "measured",
    "low",
    "high",
    "bound",
    "ratio",
    "holds",
    "audit",
    "reason",
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
}


def check_all(cmdp, setting, *, seeds=range(8), instance=None, items=None):
    """Check the statements on one process under one setting.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    setting : Setting
        M, N, H, T and link. Step sizes of the theorems, unless it has its own.
    seeds : iterable of int
        Of the short runs behind items 10, 11, 12, 16 and 17; at least two.
    instance : object, optional
        Name of the process, copied into the table.
    items : iterable of int, optional
        Which statements; by default all 18.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`; one row for each part of each statement. `ratio` is measured /
        bound. `holds` is <NA>, with the reason, where the setting is outside the statement's
        assumptions or the interval of a statistical measurement contains the bound. `audit` is
        what docs/audit.md found of the statement, whatever is measured here. The reason says
        "vacuous" where a bound is not below what its left side could be at all.

    Raises
    ------
    ValueError
        If the process has no Slater slack, or there are fewer than two seeds.
    """
    seeds = list(seeds)
    if len(seeds) < 2:
        raise ValueError("seeds: at least two expected, for an interval")
    optimum = optima.solve(cmdp)
    problem = Problem(cmdp, optimum, setting, seeds, make_constants(cmdp, optimum, setting))
    columns = {
        "instance": instance,
        "scale": cmdp.scale,
        "discount": cmdp.discount,
        **{name: asdict(setting)[name] for name in ("evaluators", "pairs", "horizon")},
        "iterations": setting.iterations,
    }
    rows = []
    for item in CHECKS if items is None else items:
        try:
            results = CHECKS[item](problem)
            rows += [_row(result, problem.constants, columns) for result in results]
        except OutsideAssumptions as error:
            parts = [statement for statement in STATEMENTS.values() if statement.item == item]
            rows += [_empty_row(statement, columns, str(error)) for statement in parts]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"holds": "boolean", "evaluators": "Int64"})


def _row(result, constants, columns):
    low, high = result.measured - result.error, result.measured + result.error
    bound, reasons = float(result.bound), [result.reason]
    tolerance = ROUNDING * max(abs(bound), constants.value_bound)
    if high <= bound + tolerance:
        holds = True
    elif low > bound + tolerance:
        holds = False
    else:
        holds, reasons = pd.NA, ["the 95 % interval contains the bound"]
    if holds is True and bound >= result.trivial:
        reasons.insert(0, f"vacuous: the largest possible value is {result.trivial:.3g}")
    return {
        **_statement_columns(STATEMENTS[result.key]),
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


def _empty_row(statement, columns, reason):
    return {**_statement_columns(statement), **columns, "holds": pd.NA, "reason": reason}


def _statement_columns(statement):
    names = ("item", "part", "label", "line", "audit")
    return {**{name: getattr(statement, name) for name in names}, "statement": statement.text}
