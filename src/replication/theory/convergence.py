r"""Checks of the statements about iterates: items 10 to 12 and 15 to 18.

Items 10 to 12, 16 and 17 bound averages along runs, item 15 one step from a policy; both are
measured with 95 % intervals. Item 18 follows from Theorem 1's bound by arithmetic. The function of
an item takes a :class:`~replication.theory.problems.Problem` and returns a list of
:class:`~replication.theory.problems.Result`, one for each part.
"""

import math
from dataclasses import replace

import numpy as np
from scipy import special

from pgpd_hf.core import streams
from pgpd_hf.core.policies import uniform_policy
from replication.theory import bounds
from replication.theory.problems import Result, averaged, mean_error
from replication.theory.records import sample_estimates

_ESTIMATES = 400


def dual_regret(problem):
    """Item 10, along runs of NPGPD-HF."""
    constants, algorithm = problem.constants, problem.algorithm("npgpd_hf")
    bound = bounds.dual_regret(constants, algorithm.dual_step)
    largest = constants.multiplier_bound * constants.value_bound
    return averaged("10", [problem.averages("npgpd_hf")["dual"]], [bound], [largest])


def zeroth_order_lagrangian(problem):
    """Item 11, along runs of ZPGPD-HF."""
    problem.require_theorem_steps()
    bound = bounds.zeroth_order_lagrangian(problem.constants)
    samples = problem.averages("zpgpd_hf")["lagrangian"]
    return averaged("11", [samples], [bound], [_largest_gap(problem.constants)])


def theorem_2(problem):
    """Item 12, along runs of ZPGPD-HF."""
    return _theorem(problem, 12, "zpgpd_hf", bounds.theorem_2_gap, bounds.theorem_2_violation)


def one_step(problem):
    """Item 15: mean over the estimates at a policy, at the uniform one and near the optimum."""
    c = problem.constants
    multiplier = min(problem.optimum.multiplier, c.multiplier_bound)
    uniform = uniform_policy(problem.cmdp.states, problem.cmdp.actions)
    policies = uniform, 0.9 * problem.optimum.policy + 0.1 * uniform
    mean, error = max(
        mean_error(one_step_shortfall(problem, policy, multiplier, _ESTIMATES))
        for policy in policies
    )
    trivial = (1 + multiplier) * (c.return_bound + c.value_bound)  # largest gain and largest loss
    return [Result("15", mean, bounds.one_step(c), "Monte Carlo", error, trivial=trivial)]


def average_performance(problem):
    """Item 16, along runs of NPGPD-HF."""
    constants, algorithm = problem.constants, problem.algorithm("npgpd_hf")
    steps = algorithm.primal_step, algorithm.dual_step
    limits = [bounds.natural_lagrangian(constants, *steps, corrected=it) for it in (False, True)]
    samples, trivial = problem.averages("npgpd_hf")["lagrangian"], _largest_gap(constants)
    return averaged(16, [samples] * 2, limits, [trivial] * 2)


def theorem_1(problem):
    """Item 17, along runs of NPGPD-HF."""
    return _theorem(problem, 17, "npgpd_hf", bounds.theorem_1_gap, bounds.theorem_1_violation)


def corollary(problem):
    r"""Item 18: Theorem 1's bound times :math:`\sqrt T`, its supremum over T."""
    constants = problem.constants
    measured = 0.0
    for iterations in np.unique(np.geomspace(3, 1e8, 40).astype(int)).tolist():
        evaluators, horizon = bounds.corollary_schedule(iterations, constants.discount)
        at = replace(constants, iterations=iterations, evaluators=evaluators, horizon=horizon)
        at = replace(at, threshold=min(at.threshold, at.return_bound))
        measured = max(measured, math.sqrt(iterations) * bounds.theorem_1_gap(at))
    limit = bounds.corollary_constant(constants)
    reason = (
        "sup over T of sqrt(T) times Theorem 1's bound, which is below the largest value from "
        f"T = {(limit / constants.value_bound) ** 2:.0e} on"
    )
    return [Result("18", measured, limit, reason=reason)]


def one_step_shortfall(problem, policy, multiplier, count):
    r"""Sample :math:`\frac{1-\gamma}{\eta_1}E_\rho\log\hat Z - \Delta V_L(\rho)`."""
    # Each sample is one step of NPGPD-HF from the same policy. Lemma:nonmonotone (line 1878) says
    # that the mean is at most (1 + sigma_lambda) eps_A/(1 - gamma).
    cmdp = problem.cmdp
    algorithm = problem.algorithm("npgpd_hf")
    step = bounds.require_step("primal_step", algorithm.primal_step) / (1 - cmdp.discount)
    estimates = sample_advantages(algorithm, policy, count)
    estimates = estimates[:, 0] + multiplier * estimates[:, 1]
    logits = step * estimates + np.log(policy)
    gain = _lagrangian(cmdp, special.softmax(logits, axis=-1), multiplier)
    gain -= _lagrangian(cmdp, policy, multiplier)
    return special.logsumexp(logits, axis=-1) @ cmdp.initial / step - gain


def sample_advantages(algorithm, policy, count):
    """Sample NPGPD-HF's estimated advantages, (count, 2, S, A), at a policy that is positive."""
    theta = algorithm.initial_parameter(policy)
    bits = streams.bit_generator(
        purpose="theory", check="advantages", evaluators=algorithm.algorithm.evaluators
    )
    return sample_estimates(algorithm, theta, bits, count)[0]


def _lagrangian(cmdp, policies, multiplier):
    v_r, v_g = cmdp.evaluate(policies)
    return v_r + multiplier * v_g


def _theorem(problem, item, algorithm, gap, violation):
    problem.require_theorem_steps()
    c = problem.constants
    limits = gap(c), violation(c), violation(c, complete=True)
    averages = problem.averages(algorithm)
    positive = averages["violation"].clip(lower=0)
    (most, worst), samples = problem.largest, (averages["gap"], positive, positive)
    return averaged(item, samples, limits, (most, worst, worst))


def _largest_gap(constants):
    """Largest gap of the Lagrangian."""
    return (1 + constants.multiplier_bound) * constants.value_bound
