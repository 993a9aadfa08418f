r"""First T at which bounds, printed and corrected, are informative.

A pair of bounds is informative if both are below the largest gap and the largest violation of any
policy, whichever is smaller. Each statement is taken at its own step sizes: the printed theorem's,
and for the corrected ones those that make the larger of the two bounds smallest. Gap and violation
are measured in runs with the same step sizes. Of step 3.10's bounds of one run, of both versions of
Theorem 2 at the step sizes of their rates, and of Theorem D, only the first T is computed.
"""

import itertools
import math
from dataclasses import replace
from functools import cache, partial

import numpy as np
import pandas as pd

from pgpd_hf.algorithms.sampled_npgpd_hf import reaching_step
from pgpd_hf.core.evaluators import ESTIMATORS
from replication.theory import bounds, sampled, theorem_1, theorem_2
from replication.theory.constants import make_constants, require_slack
from replication.theory.estimates import make_estimates
from replication.theory.problems import largest_values, mean_error, run_averages

LEVELS = (0.1, 0.02)  # in units of value
THEOREMS = {  # about each algorithm: printed, corrected, and with more known of the transitions
    "npgpd_hf": ("printed", "Theorem 1'", "Theorem 1', mixing known"),
    "zpgpd_hf": ("printed Theorem 2", "Theorem 2", "Theorem 2"),
}
_ONE_RUN = "one run (probability 0.95)"
_CORRECTED = {  # bounds of Theorem 1, and whether the transitions are known
    "Theorem 1": (theorem_1.theorem_1, False),
    "Theorem 1'": (theorem_1.theorem_1_prime, False),
    "Theorem 1', mixing known": (theorem_1.theorem_1_prime, True),
    _ONE_RUN: (theorem_1.high_probability, False),
}
_SAMPLED = "Theorem D"  # about sampled NPGPD-HF
_FIRST_ONLY = ("printed Theorem 2", "Theorem 2", _SAMPLED)
_MEASURED = [f"measured_{name}{end}" for name in ("gap", "violation") for end in ("", "_error")]
_KEYS = ("statement", "estimator", "evaluators", "rounds")
_COLUMNS = [*_KEYS, "iterations", "primal_step", "dual_step", "gap", "violation", "reason"]
_FIRST_COLUMNS = [*_KEYS, "level", "value", "iterations", "reason"]


def lengths(cmdp, optimum, setting, evaluators, rounds, iterations, measured, seeds):
    """Bounds over M, N and T, with runs up to N T = `measured`, and the first T at each level."""
    # The first table has the bounds, and what runs measure with half widths of 95 % intervals; the
    # second one the first T at which both bounds are at most a value, infinite if there is none up
    # to 10^12. Reasons stand in empty cells.
    require_slack(optimum.slack)
    levels = {"largest": min(largest_values(cmdp, optimum))} | {str(x): x for x in LEVELS}
    rows, firsts = [], []
    statements = ["printed", *_CORRECTED, *_FIRST_ONLY]
    for keys, at, cap, bound in _each(cmdp, optimum, setting, statements, evaluators, rounds):
        if bound is None:
            rows.append(keys)
            continue
        for t in () if keys["statement"] in (_ONE_RUN, *_FIRST_ONLY) else iterations:
            row = _row(keys, bound, t) | dict.fromkeys(_MEASURED, math.nan)
            if at.rounds * t <= measured:
                steps = {name: row[name] for name in ("primal_step", "dual_step")}
                changes = {"iterations": t, "multiplier_bound": cap, **steps}
                run = replace(at, **changes).run("npgpd_hf", cmdp, optimum)
                row |= _measure(run, optimum, seeds)
            rows.append(row)
        worse = partial(_worse, bound)
        for level, value in levels.items():
            first = theorem_1.first_length(worse, value)
            reason = f"{worse(1e12):.3g} at T = 1e12" if math.isinf(first) else ""
            firsts.append(
                keys | {"level": level, "value": value, "iterations": first, "reason": reason}
            )
    return _table(rows, [*_COLUMNS, *_MEASURED]), _table(firsts, _FIRST_COLUMNS)


def bounds_at(cmdp, optimum, setting, statements, evaluators, rounds, iterations):
    """Bounds of some statements over M, N and T, as in the first table of :func:`lengths`."""
    rows = []
    for keys, _, _, bound in _each(cmdp, optimum, setting, statements, evaluators, rounds):
        rows += [keys] if bound is None else [_row(keys, bound, t) for t in iterations]
    return _table(rows, _COLUMNS)


def _each(cmdp, optimum, setting, statements, evaluators, rounds):
    """Yield keys of a row, its setting, the cap of multipliers, and the bound, a function of T."""
    # Outside a statement's assumptions, and for votes that cannot be read so, there is no bound,
    # and the keys have the reason.
    for statement, estimator, m, n in itertools.product(statements, ESTIMATORS, evaluators, rounds):
        if statement.startswith("printed") and estimator != "plug-in":
            continue  # the printed theorems are about the printed estimator
        keys = {"statement": statement, "estimator": estimator, "evaluators": m, "rounds": n}
        at = replace(setting, evaluators=m, rounds=n, estimator=estimator)
        try:
            cap, bound = _bound(cmdp, optimum, at, statement)
            bound(1.0)
        except ValueError as error:
            yield keys | {"reason": str(error)}, at, None, None
        else:
            yield keys, at, cap, cache(bound)  # searches for levels look at the same T first


def _row(keys, bound, iterations):
    steps, found = bound(float(iterations))
    row = dict(zip(("primal_step", "dual_step"), steps, strict=True))
    return keys | row | {"iterations": iterations, **found._asdict(), "reason": ""}


def _worse(bound, iterations):
    return float(bound(iterations)[1].worse)


def _table(rows, columns):
    return pd.DataFrame(rows, columns=columns).astype({"evaluators": "Int64"})


def _bound(cmdp, optimum, setting, statement):
    """Cap of multipliers, and a function from T to step sizes and a pair of bounds."""
    if statement.startswith("printed"):
        constants = make_constants(cmdp, optimum, setting)
        return constants.multiplier_bound, partial(_printed, constants, statement)
    cap = 2 * cmdp.value_bound / optimum.slack
    if statement == "Theorem 2":
        return cap, _theorem_2(cmdp, optimum, make_estimates(cmdp, setting), cap)
    if statement == _SAMPLED:
        known = cmdp, optimum, reaching_step(cmdp), make_estimates(cmdp, setting)
        function = partial(sampled.sampled, *known, cap=cap)
        return cap, partial(theorem_1.best_steps, function)
    function, known = _CORRECTED[statement]
    estimates = make_estimates(cmdp, setting, known)
    corrected = partial(function, estimates, cap=cap, multiplier=optimum.multiplier)
    return cap, partial(theorem_1.best_steps, corrected)


def _printed(constants, statement, iterations):
    at = replace(constants, iterations=iterations)
    if statement == "printed Theorem 2":
        both = bounds.theorem_2_gap(at), bounds.theorem_2_violation(at)
        return at.theorem_2_steps, theorem_1.Bound(*both)
    steps = bounds.theorem_1_steps(at.actions, at.discount, iterations)
    return steps, theorem_1.Bound(bounds.theorem_1_gap(at), bounds.theorem_1_violation(at))


def _theorem_2(cmdp, optimum, estimates, cap):
    """A function as of :func:`_bound`: the rate's parameters of step 4.12 for the best length."""
    choices = []
    for length in np.geomspace(1, 1e12, 25):
        radius, *steps = theorem_2.rate_setting(estimates, length, cap)
        constants = theorem_2.make_curvature(cmdp, optimum, estimates, radius)
        choices.append((constants, steps))

    def best(iterations):
        found = [
            (steps, theorem_2.theorem_2(constants, *steps, iterations, cap, optimum.multiplier))
            for constants, steps in choices
        ]
        return min(found, key=lambda pair: pair[1].worse)

    return best


def _measure(algorithm, optimum, seeds):
    averages = run_averages(algorithm, optimum, seeds)
    found = averages["gap"], np.maximum(averages["violation"], 0)
    numbers = [number for values in found for number in mean_error(values)]
    return dict(zip(_MEASURED, numbers, strict=True))
