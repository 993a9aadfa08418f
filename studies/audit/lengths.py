r"""Bounds of both theorems, printed and corrected, over M, N and T, beside runs; and the first T.

Two bounds say something if both are below the largest gap and the largest violation of any policy,
whichever is smaller. Each statement is taken at step sizes of its own: the printed theorem's, and
for the corrected theorems those that make the larger of the two bounds small. Runs have the same
step sizes, as long as N T is at most the number `measured`; their averages over the first T
iterates have half widths of 95 % intervals.
"""

import argparse
import itertools
import json
from dataclasses import replace
from functools import cache, partial

import pandas as pd
from audit import printed, theorem_1, theorem_2
from audit.estimates import make_estimates
from audit.iterates import cap_of
from audit.printed import Setting, make_constants
from audit.problems import largest_values, mean_error

from pgpd_hf import CMDP, NPGPDHF, ZPGPDHF, run, solve
from pgpd_hf.evaluators import ESTIMATORS
from pgpd_hf.tables import one_line, write_table

ALGORITHMS = {  # that each statement is about
    "printed Theorem 1": NPGPDHF,
    "Theorem 1": NPGPDHF,
    "printed Theorem 2": ZPGPDHF,
    "Theorem 2": theorem_2.Interior,
}
STEPS = ("perturbation", "primal_step", "dual_step")  # the radius is ZPGPD-HF's alone


def lengths(cmdp, setting, rounds, iterations, measured, seeds):
    """Bounds at each N and T, with runs, and the first T, for the M of a setting."""
    optimum = solve(cmdp)
    level = min(largest_values(cmdp, optimum))
    rows, firsts = [], []
    for statement, estimator, n in itertools.product(ALGORITHMS, ESTIMATORS, rounds):
        if statement.startswith("printed") and estimator != "plug-in":
            continue  # the printed theorems are about the printed estimator
        at = replace(setting, rounds=n, estimator=estimator)
        keys = {"statement": statement, "estimator": estimator}
        keys |= {"evaluators": at.evaluators, "rounds": n}
        try:
            cap, bound = bound_of(cmdp, optimum, at, statement)
        except ValueError as error:  # outside the assumptions, or votes that cannot be read so
            rows.append(keys | {"reason": str(error)})
            continue
        for t in iterations:
            parameters, found = bound(float(t))
            options = dict(zip(STEPS[-len(parameters) :], parameters, strict=True))
            row = keys | {"iterations": t} | options | found._asdict()
            if n * t <= measured:
                algorithm = at.algorithm(ALGORITHMS[statement], multiplier_bound=cap, **options)
                row |= averages(cmdp, optimum, algorithm, t, seeds)
            rows.append(row)
        worse = cache(lambda t, bound=bound: float(bound(t)[1].worse))
        first = theorem_1.first_length(worse, level)
        last = {"at_longest": worse(10.0**theorem_1.LONGEST)}
        firsts.append(keys | {"largest": level, "iterations": first} | last)
    names = ["statement", "estimator", "evaluators", "rounds"]
    measures = [f"measured_{name}" for name in ("gap", "gap_error", "violation", "violation_error")]
    columns = [*names, "iterations", *STEPS, "gap", "violation", *measures, "reason"]
    tables = pd.DataFrame(rows, columns=columns), pd.DataFrame(firsts)
    return [table.astype({"evaluators": "Int64"}) for table in tables]


def bound_of(cmdp, optimum, setting, statement):
    """Cap of multipliers, and a function from T to step sizes and a pair of bounds."""
    if statement.startswith("printed"):
        constants = make_constants(cmdp, optimum, setting)
        return constants.multiplier_bound, partial(printed_bounds, constants, statement)
    cap, estimates = cap_of(cmdp, optimum), make_estimates(cmdp, setting)
    if statement == "Theorem 2":
        return cap, theorem_2.best_setting(cmdp, optimum, estimates, cap)
    known = {"cap": cap, "multiplier": optimum.multiplier}
    corrected = partial(theorem_1.theorem_1, estimates, **known)
    return cap, partial(theorem_1.best_steps, corrected)


def printed_bounds(constants, statement, iterations):
    """Step sizes of a printed theorem for T, of Theorem 2 the radius, too, and its bounds."""
    c = replace(constants, iterations=iterations)
    if statement.endswith("1"):
        both = printed.theorem_1_gap(c), printed.theorem_1_violation(c)
        return c.theorem_1_steps, theorem_1.Bound(*both)
    both = printed.theorem_2_gap(c), printed.theorem_2_violation(c)
    return (c.perturbation, *c.theorem_2_steps), theorem_1.Bound(*both)


def averages(cmdp, optimum, algorithm, iterations, seeds):
    """What runs measure: the mean gap, and the mean positive part of the average violation."""
    given = {"seeds": seeds, "iterations": iterations, "optimum": optimum}
    trace = run(cmdp, algorithm, checkpoints=[iterations - 1], **given)
    row = {}
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        samples = trace[f"mean_{column}"]
        pair = mean_error(samples.clip(lower=0) if name == "violation" else samples)
        row |= dict(zip((f"measured_{name}", f"measured_{name}_error"), pair, strict=True))
    return row


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="NumPy archive")
    parser.add_argument("--setting", required=True, type=json.loads, help="M, H and link, as JSON")
    parser.add_argument("--plan", required=True, type=json.loads, help="N, T and seeds, as JSON")
    parser.add_argument("--lengths", required=True, help="CSV file that is written: bounds at T")
    parser.add_argument("--first", required=True, help="CSV file that is written: the first T")
    options = parser.parse_args()
    with one_line():
        cmdp, plan = CMDP.load(options.environment), options.plan
        setting = Setting(iterations=1, **options.setting)
        amounts = plan["rounds"], plan["iterations"], plan["measured"], range(plan["seeds"])
        tables = lengths(cmdp, setting, *amounts)
        for table, path in zip(tables, (options.lengths, options.first), strict=True):
            write_table(table, path)
