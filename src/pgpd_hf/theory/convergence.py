r"""What the algorithms' iterates achieve: items 10 to 12 and 15 to 18.

Items 10 to 12, 16 and 17 are about averages along runs, item 15 about one step from a policy; their
means have 95 % intervals. Item 18 is arithmetic. Each function of an item takes a
:class:`~pgpd_hf.theory.problems.Problem` and returns a list of
:class:`~pgpd_hf.theory.problems.Result`.
"""

import math
from dataclasses import replace

import numpy as np
from scipy import special

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core import streams
from pgpd_hf.core.policies import uniform_policy
from pgpd_hf.theory import bounds
from pgpd_hf.theory.constants import OutsideAssumptions
from pgpd_hf.theory.problems import Result, mean_error

_ESTIMATES = 400


def dual_regret(problem):
    """Item 10, along runs of NPGPD-HF."""
    bound = bounds.dual_regret(problem.constants, _steps(problem, "npgpd_hf")[1])
    largest = problem.constants.multiplier_bound * problem.constants.value_bound
    return [_run_result("10", problem.averages("npgpd_hf")["dual"], bound, largest)]


def zeroth_order_lagrangian(problem):
    """Item 11, along runs of ZPGPD-HF."""
    problem.require_theorem_steps()
    bound = bounds.zeroth_order_lagrangian(problem.constants)
    samples = problem.averages("zpgpd_hf")["lagrangian"]
    return [_run_result("11", samples, bound, _largest_gap(problem.constants))]


def theorem_2(problem):
    """Item 12, along runs of ZPGPD-HF."""
    problem.require_theorem_steps()
    constants = problem.constants
    limits = (
        bounds.theorem_2_gap(constants),
        bounds.theorem_2_violation(constants),
        bounds.theorem_2_violation(constants, complete=True),
    )
    return _theorem(problem, "zpgpd_hf", 12, limits)


def one_step(problem):
    """Item 15: the mean over estimates, at the uniform policy and near the optimum."""
    bound = bounds.one_step(problem.constants)
    multiplier = min(problem.optimum.multiplier, problem.constants.multiplier_bound)
    uniform = uniform_policy(problem.cmdp.states, problem.cmdp.actions)
    policies = uniform, 0.9 * problem.optimum.policy + 0.1 * uniform
    shortfalls = [
        mean_error(one_step_shortfall(problem, policy, multiplier, _ESTIMATES))
        for policy in policies
    ]
    mean, error = max(shortfalls)
    c = problem.constants
    trivial = (1 + multiplier) * (c.return_bound + c.value_bound)  # largest gain and largest loss
    return [Result("15", mean, bound, "Monte Carlo", error, trivial=trivial)]


def average_performance(problem):
    """Item 16, along runs of NPGPD-HF."""
    steps = _steps(problem, "npgpd_hf")
    limits = [
        bounds.natural_lagrangian(problem.constants, *steps, corrected=corrected)
        for corrected in (False, True)
    ]
    samples = problem.averages("npgpd_hf")["lagrangian"]
    trivial = _largest_gap(problem.constants)
    return [_run_result(f"16{part}", samples, limits[k], trivial) for k, part in enumerate("ab")]


def theorem_1(problem):
    """Item 17, along runs of NPGPD-HF."""
    problem.require_theorem_steps()
    constants = problem.constants
    limits = (
        bounds.theorem_1_gap(constants),
        bounds.theorem_1_violation(constants),
        bounds.theorem_1_violation(constants, complete=True),
    )
    return _theorem(problem, "npgpd_hf", 17, limits)


def corollary(problem):
    """Item 18: Theorem 1's bound times sqrt(T) along the corollary's schedule of M and H."""
    constants = problem.constants
    if not 0 < constants.discount < 1:
        raise OutsideAssumptions("discount: log(1/gamma) is infinite at gamma = 0")
    steepest = problem.link.inverse_lipschitz(constants.value_bound)
    measured = 0.0
    for iterations in np.unique(np.geomspace(3, 1e8, 40).astype(int)):
        horizon = math.ceil(math.log(iterations) / (2 * math.log(1 / constants.discount)))
        bound = constants.value_bound * (1 - constants.discount ** (horizon + 1))
        at = replace(
            constants,
            iterations=int(iterations),
            evaluators=math.ceil(iterations * math.log(iterations)),
            horizon=horizon,
            threshold=min(constants.threshold, bound),
            lipschitz=problem.link.inverse_lipschitz(bound),
        )
        measured = max(measured, math.sqrt(iterations) * bounds.theorem_1_gap(at))
    limit = bounds.corollary_constant(replace(constants, lipschitz=steepest))
    reason = (
        "sup over T of sqrt(T) times Theorem 1's bound, which is below the largest gap from "
        f"T = {(limit / constants.value_bound) ** 2:.0e} on"
    )
    return [Result("18", measured, limit, reason=reason)]


def one_step_shortfall(problem, policy, multiplier, count):
    r"""Sample :math:`\frac{1-\gamma}{\eta_1}E_\rho\log\hat Z - \Delta V_L(\rho)`.

    One step of NPGPD-HF, over and over. Lemma:nonmonotone (line 1878) says that it is at most
    :math:`(1+\bar\sigma_\lambda)\epsilon_A/(1-\gamma)`.

    Parameters
    ----------
    problem : Problem
        The process and the setting.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi^{(t)}`, positive everywhere.
    multiplier : float
        :math:`\lambda^{(t)}`.
    count : int
        Number of samples.

    Returns
    -------
    ndarray, float64, shape (count,)
        In units of value.
    """
    cmdp = problem.cmdp
    process = get_algorithm("npgpd_hf")(cmdp, problem.optimum, problem.setting)
    step = bounds.require_step("primal_step", process.primal_step) / (1 - cmdp.discount)
    estimates = sample_advantages(process, policy, count)
    estimates = estimates[:, 0] + multiplier * estimates[:, 1]
    logits = step * estimates + np.log(policy)
    gain = _lagrangian(cmdp, special.softmax(logits, axis=-1), multiplier)
    gain -= _lagrangian(cmdp, policy, multiplier)
    return special.logsumexp(logits, axis=-1) @ cmdp.initial / step - gain


def sample_advantages(process, policy, count):
    r"""Sample NPGPD-HF's estimates at a policy.

    Parameters
    ----------
    process : Algorithm
        NPGPD-HF, ready to iterate.
    policy : ndarray, float64, shape (S, A)
        Positive everywhere.
    count : int
        Number of samples.

    Returns
    -------
    ndarray, float64, shape (count, 2, S, A)
        :math:`\hat A_r` and :math:`\hat A_g`.
    """
    theta = process.initial_parameter(policy)
    bits = streams.bit_generator(
        purpose="theory", check="advantages", evaluators=process.setting.evaluators
    )
    words = (bits.random_raw(process.words_per_iteration) for _ in range(count))
    return np.stack([process.estimate(theta, word, np.empty(0))[0] for word in words])


def _lagrangian(cmdp, policies, multiplier):
    v_r, v_g = cmdp.evaluate(policies)
    return v_r + multiplier * v_g


def _run_result(key, samples, bound, trivial):
    mean, error = mean_error(samples)
    return Result(key, mean, bound, "runs", error, trivial=trivial)


def _theorem(problem, algorithm, item, limits):
    averages = problem.averages(algorithm)
    violation = averages["violation"].clip(lower=0)
    samples = averages["gap"], violation, violation
    trivial = problem.constants.value_bound, problem.cmdp.threshold, problem.cmdp.threshold
    return [
        _run_result(f"{item}{part}", *rest)
        for part, *rest in zip("abc", samples, limits, trivial, strict=True)
    ]


def _steps(problem, algorithm):
    process = get_algorithm(algorithm)(problem.cmdp, problem.optimum, problem.setting)
    return process.primal_step, process.dual_step


def _largest_gap(constants):
    """Largest gap of the Lagrangian."""
    return (1 + constants.multiplier_bound) * constants.value_bound
