r"""Checks of the corrected theorems, along runs: items 19 to 25.

The statements hold for every step size; here each is taken at step sizes that make its bound small,
but that of a constant step, which is taken at the printed ones. The cap of multipliers is
:math:`2B/\xi`. The function of an item takes a :class:`~replication.theory.problems.Problem` and
returns a list of :class:`~replication.theory.problems.Result`, one for each part.
"""

from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from pgpd_hf.algorithms.sampled_npgpd_hf import reaching_step
from replication.theory import constant_step, sampled, seen, theorem_1, theorem_2
from replication.theory.estimates import make_estimates
from replication.theory.problems import Result, averaged, averages_of, mean_error, run_averages
from replication.theory.records import record

_ERROR = 0.05  # probability with which a bound of one run may fail


def corrected_theorem_1(problem):
    """Item 19: Theorem 1 at the step sizes of its rate."""
    estimates, cap = make_estimates(problem.cmdp, problem.setting), cap_of(problem)
    steps = theorem_1.rate_steps(estimates, problem.setting.iterations, cap)
    bound = _statement(theorem_1.theorem_1, problem)(*steps, problem.setting.iterations)
    return _averaged(19, problem, bound, _averages(problem, steps))


def theorem_1_prime(problem):
    """Item 20: Theorem 1' at the step sizes for which it is smallest."""
    bound, runs = _runs_of_theorem_1_prime(problem)
    rows = [averages_of(it.algorithm, it.optimum, it.policies[:-1], it.multipliers) for it in runs]
    return _averaged(20, problem, bound, pd.DataFrame(rows))


def one_run(problem):
    """Item 21: both bounds of a single run, against the worst run."""
    statement = partial(_statement(theorem_1.high_probability, problem), error=_ERROR)
    steps, bound = theorem_1.best_steps(statement, problem.setting.iterations)
    averages = _averages(problem, steps)
    worst = averages["gap"].max(), max(0.0, averages["violation"].max())
    reason = f"the worst of {len(averages)} runs; each exceeds a bound with probability <= {_ERROR}"
    return [
        Result(f"21{part}", worst[k], bound[k], "runs", 0.0, reason, problem.largest[k])
        for k, part in enumerate("ab")
    ]


def semi_a_priori(problem):
    """Item 22: mean over runs of the gap minus its bound, which is computed from the same run."""
    _, runs = _runs_of_theorem_1_prime(problem)
    estimates = make_estimates(problem.cmdp, problem.setting)
    shown, measured = zip(*map(seen.look, runs), strict=True)
    measured = np.array(measured)  # (seeds, 2)
    bound = np.array([seen.semi_a_priori(estimates, run) for run in shown])
    reason = "interval of the difference of measured and bound, run by run"
    return [
        Result(
            f"22{part}",
            measured[:, k].mean(),
            bound[:, k].mean(),
            "runs",
            mean_error(measured[:, k] - bound[:, k])[1],
            reason,
            problem.largest[k],
        )
        for k, part in enumerate("ab")
    ]


def corrected_theorem_2(problem):
    """Item 23: Theorem 2, along runs of Algorithm 2T with the parameters of its rate."""
    setting, cap = problem.setting, cap_of(problem)
    estimates = make_estimates(problem.cmdp, setting)
    radius, *steps = theorem_2.rate_setting(estimates, setting.iterations, cap)
    constants = theorem_2.make_curvature(problem.cmdp, problem.optimum, estimates, radius)
    multiplier = problem.optimum.multiplier
    bound = theorem_2.theorem_2(constants, *steps, setting.iterations, cap, multiplier)
    options = {"perturbation": radius, "directions": "tangent"}
    changed = replace(_with_steps(problem, steps), **options)
    algorithm = changed.run(theorem_2.Interior, problem.cmdp, problem.optimum)
    averages = run_averages(algorithm, problem.optimum, problem.seeds)
    return _averaged(23, problem, bound, averages)


def theorem_1_with_a_constant_step(problem):
    """Item 24: Theorem A's bound of the priced gap, at the printed step sizes."""
    cmdp, best, length = problem.cmdp, problem.optimum, problem.setting.iterations
    steps = theorem_1_steps(cmdp.actions, cmdp.discount, length)
    estimates = make_estimates(cmdp, problem.setting)
    bound = constant_step.priced_gap(cmdp, best, estimates, *steps, length, cap_of(problem))
    averages = _averages(problem, steps)
    priced = averages["gap"] + best.multiplier * averages["violation"]
    gap, violation = problem.largest
    return averaged("24", [priced], [bound], [gap + best.multiplier * violation])


def sampled_steps(problem):
    """Item 25: sampled NPGPD-HF, at the step sizes for which its bounds are smallest."""
    cmdp, best = problem.cmdp, problem.optimum
    estimates, cap = make_estimates(cmdp, problem.setting), cap_of(problem)
    known = cmdp, best, reaching_step(cmdp), estimates
    statement = partial(sampled.sampled, *known, cap=cap)
    steps, bound = theorem_1.best_steps(statement, problem.setting.iterations)
    run = _with_steps(problem, steps).run("sampled_npgpd_hf", cmdp, best)
    return _averaged(25, problem, bound, run_averages(run, best, problem.seeds))


def cap_of(problem):
    r"""Cap of multipliers of the corrected statements, :math:`2B/\xi`, as printed but for scale."""
    return 2 * problem.cmdp.value_bound / problem.constants.slack


def _statement(function, problem):
    """A bound as a function of step sizes and T."""
    estimates = make_estimates(problem.cmdp, problem.setting)
    cap, multiplier = cap_of(problem), problem.optimum.multiplier
    return partial(function, estimates, cap=cap, multiplier=multiplier)


def _with_steps(problem, steps):
    primal_step, dual_step = steps
    changes = {"primal_step": primal_step, "dual_step": dual_step}
    return replace(problem.setting, multiplier_bound=cap_of(problem), **changes)


def _runs_of_theorem_1_prime(problem):
    """The bound of item 20, and the runs behind it and item 22, with what is seen of them."""

    def make():
        statement = _statement(theorem_1.theorem_1_prime, problem)
        steps, bound = theorem_1.best_steps(statement, problem.setting.iterations)
        algorithm = _algorithm(problem, steps)
        return bound, [record(algorithm, problem.optimum, seed) for seed in problem.seeds]

    return problem.once("Theorem 1'", make)


def _averages(problem, steps):
    return run_averages(_algorithm(problem, steps), problem.optimum, problem.seeds)


def _algorithm(problem, steps):
    return _with_steps(problem, steps).run("npgpd_hf", problem.cmdp, problem.optimum)


def _averaged(item, problem, bound, averages):
    samples = averages["gap"], averages["violation"].clip(lower=0)
    return averaged(item, samples, bound, problem.largest)
