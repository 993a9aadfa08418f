"""Checks of the statements about iterates, printed (10 to 12, 15 to 17) and corrected (19, 23).

Averages along runs and one step from a policy are measured with 95 % intervals. Each function takes
a :class:`~audit.problems.Problem` and returns a list of results.
"""

import numpy as np
from audit import printed, theorem_1, theorem_2
from audit.estimates import make_estimates
from audit.problems import Result, averaged, mean_error
from scipy import special

from pgpd_hf import NPGPDHF
from pgpd_hf.streams import generator

STEPS = ("multiplier_bound", "primal_step", "dual_step")
_ESTIMATES = 400


def dual_regret(problem):
    """Item 10, along runs of NPGPD-HF."""
    c = problem.constants
    bound = printed.dual_regret(c, c.theorem_1_steps[1])
    largest = c.multiplier_bound * c.value_bound
    return averaged(["10"], [problem.natural["dual"]], [bound], [largest])


def zeroth_order_lagrangian(problem):
    """Item 11, along runs of ZPGPD-HF."""
    c = problem.constants
    bound, largest = printed.zeroth_order_lagrangian(c), (1 + c.multiplier_bound) * c.value_bound
    return averaged(["11"], [problem.zeroth["lagrangian"]], [bound], [largest])


def printed_theorem_2(problem):
    """Item 12, along runs of ZPGPD-HF."""
    c, violation = problem.constants, printed.theorem_2_violation
    limits = printed.theorem_2_gap(c), violation(c), violation(c, complete=True)
    return _gap_and_violation(problem, 12, problem.zeroth, limits)


def one_step(problem):
    """Item 15: mean over the estimates at a policy, at the uniform one and near the optimum."""
    c = problem.constants
    multiplier = min(problem.optimum.multiplier, c.multiplier_bound)
    uniform = np.full_like(problem.cmdp.reward, 1 / c.actions)
    mean, error = max(
        mean_error(one_step_shortfall(problem, policy, multiplier, _ESTIMATES))
        for policy in (uniform, 0.9 * problem.optimum.policy + 0.1 * uniform)
    )
    trivial = (1 + multiplier) * (c.return_bound + c.value_bound)  # largest gain and largest loss
    return [Result("15", mean, printed.one_step(c), "Monte Carlo", error, trivial=trivial)]


def average_performance(problem):
    """Item 16, along runs of NPGPD-HF."""
    c, samples = problem.constants, problem.natural["lagrangian"]
    bound = printed.natural_lagrangian(c, *c.theorem_1_steps)
    return averaged(["16"], [samples], [bound], [(1 + c.multiplier_bound) * c.value_bound])


def printed_theorem_1(problem):
    """Item 17, along runs of NPGPD-HF."""
    c, violation = problem.constants, printed.theorem_1_violation
    limits = printed.theorem_1_gap(c), violation(c), violation(c, complete=True)
    return _gap_and_violation(problem, 17, problem.natural, limits)


def corrected_theorem_1(problem):
    """Item 19: Theorem 1 at the step sizes of its rate."""
    cap, length = cap_of(problem.cmdp, problem.optimum), problem.setting.iterations
    estimates = make_estimates(problem.cmdp, problem.setting)
    steps = theorem_1.rate_steps(estimates, length, cap)
    bound = theorem_1.theorem_1(estimates, *steps, length, cap, problem.optimum.multiplier)
    options = dict(zip(STEPS, (cap, *steps), strict=True))
    return _gap_and_violation(problem, 19, problem.averages(NPGPDHF, **options), bound)


def corrected_theorem_2(problem):
    """Item 23: Theorem 2, along runs of Algorithm 2T with the parameters of its rate."""
    cap, length = cap_of(problem.cmdp, problem.optimum), problem.setting.iterations
    estimates = make_estimates(problem.cmdp, problem.setting)
    radius, *steps = theorem_2.rate_setting(estimates, length, cap)
    constants = theorem_2.make_curvature(problem.cmdp, problem.optimum, estimates, radius)
    bound = theorem_2.theorem_2(constants, *steps, length, cap, problem.optimum.multiplier)
    options = dict(zip(STEPS, (cap, *steps), strict=True)) | {"perturbation": radius}
    averages = problem.averages(theorem_2.Interior, **options)
    return _gap_and_violation(problem, 23, averages, bound)


def cap_of(cmdp, optimum):
    r"""Cap of multipliers of the corrected statements, :math:`2B/\xi`, as printed but for scale."""
    return 2 * cmdp.value_bound / optimum.slack


def one_step_shortfall(problem, policy, multiplier, count):
    r"""Sample :math:`\frac{1-\gamma}{\eta_1}E_\rho\log\hat Z - \Delta V_L(\rho)`.

    Each sample is one step of NPGPD-HF from the same policy. Lemma:nonmonotone (line 1878) says
    that the mean is at most (1 + sigma) eps_A/(1 - gamma).
    """
    cmdp = problem.cmdp
    step = problem.constants.theorem_1_steps[0] / (1 - cmdp.discount)
    estimates = sample_advantages(problem, policy, count)
    estimates = estimates[:, 0] + multiplier * estimates[:, 1]
    logits = step * estimates + np.log(policy)
    gain = _lagrangian(cmdp, special.softmax(logits, axis=-1), multiplier)
    gain -= _lagrangian(cmdp, policy, multiplier)
    return special.logsumexp(logits, axis=-1) @ cmdp.initial / step - gain


def sample_advantages(problem, policy, count):
    """Sample NPGPD-HF's estimated advantages, (count, 2, S, A), at a policy that is positive."""
    algorithm = problem.setting.algorithm(NPGPDHF)
    ready = algorithm.prepare(problem.cmdp, problem.optimum, problem.setting.iterations)
    axes = {"purpose": "theory", "check": "advantages", "evaluators": algorithm.evaluators}
    bits, theta = generator(**axes).bit_generator, np.log(policy)
    answers = [
        algorithm.estimate(ready, theta, bits.random_raw(ready.words), None) for _ in range(count)
    ]
    return np.stack([(it.reward, it.utility) for it in answers])


def _lagrangian(cmdp, policies, multiplier):
    v_r, v_g = cmdp.evaluate(policies)
    return v_r + multiplier * v_g


def _gap_and_violation(problem, item, averages, limits):
    """Results of a theorem: its bound of the gap, then of the positive part of the violation."""
    positive = averages["violation"].clip(lower=0)
    (most, worst), others = problem.largest, len(limits) - 1
    samples, trivial = [averages["gap"]] + [positive] * others, [most] + [worst] * others
    keys = [f"{item}{part}" for part in "abc"[: others + 1]]
    return averaged(keys, samples, limits, trivial)
