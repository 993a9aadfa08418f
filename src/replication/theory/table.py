r"""The table bounds.csv: both sides of each of the paper's statements, and of their corrections.

Where a left side is a mean of samples it has a 95 % interval, and a statement holds if the whole
interval is below the bound. The left sides are computed in :mod:`~replication.theory.lemmas`,
:mod:`~replication.theory.smoothing`, :mod:`~replication.theory.convergence` and
:mod:`~replication.theory.corrections`.
"""

import math

import pandas as pd

from pgpd_hf.core import optima
from replication.theory import convergence, corrections, lemmas, smoothing
from replication.theory.bounds import STATEMENTS
from replication.theory.constants import SIZES, OutsideAssumptions, make_constants
from replication.theory.problems import ROUNDING, Problem

COLUMNS = tuple(
    (
        "item part label line statement instance scale discount evaluators pairs horizon "
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
}


def check_all(cmdp, setting, *, seeds=range(8), instance=None, items=None):
    """Check the paper's statements on one CMDP under one setting.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    setting : Setting
        M, N, H, T and the link; the theorems' step sizes unless it has its own.
    seeds : iterable of int
        Seeds of the short runs behind items 10, 11, 12, 16, 17 and 19 to 23; at least two.
    instance : object, optional
        Name of the CMDP, copied into the table.
    items : iterable of int, optional
        Statements to check; by default all 23.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`; one row for each part of each statement. `ratio` is measured /
        bound. `holds` is <NA>, with the reason, where the setting violates an assumption of the
        statement or the interval of a mean contains the bound. `audit` is the finding of
        docs/audit.md on the statement. The reason begins with "vacuous" where the left side could
        not exceed the bound for any values, answers and multipliers in their ranges.

    Raises
    ------
    ValueError
        If the CMDP has no Slater slack, or there are fewer than two seeds.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(states=3, actions=2, discount=0.7, threshold=0.5)
    >>> setting = pgpd_hf.algorithms.Setting(evaluators=16, iterations=30, horizon=12)
    >>> table = check_all(cmdp, setting, items=[1, 4])
    >>> table[["item", "part", "measured", "bound", "holds"]].round(4)
       item part  measured    bound  holds
    0     1    a    0.0086   0.0138   True
    1     1    b    0.0086   0.0138   True
    2     1    c    0.0086   0.0138   True
    3     4         8.7789  31.1111   True
    """
    seeds = list(seeds)
    if len(seeds) < 2:
        raise ValueError("seeds: at least two expected, for an interval")
    optimum = optima.solve(cmdp)
    columns = {
        "instance": instance,
        "scale": cmdp.scale,
        "discount": cmdp.discount,
        **{name: getattr(setting, name) for name in SIZES},
    }
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
    if high <= bound + tolerance:
        holds = True
        if bound >= result.trivial:
            reasons.insert(0, f"vacuous: the largest possible value is {result.trivial:.3g}")
    elif low > bound + tolerance:
        holds = False
    else:
        holds, reasons = pd.NA, ["the 95 % interval contains the bound"]
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
