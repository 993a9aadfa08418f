r"""Exact checks of the lemmas on values, returns and votes: items 1 to 4, 6, 7, 9, 13 and 14.

Left sides are computed exactly: expectations by recursion, votes by binomial sums, curvature from
the Hessian. Where a left side depends on the distribution of returns, it is replaced by an exact
upper bound over all distributions. Each function takes a
:class:`~replication.theory.problems.Problem` and returns a list of
:class:`~replication.theory.problems.Result`, one for each part of its item.
"""

import math

import numpy as np

from pgpd_hf.core import optima
from replication.theory import exact
from replication.theory.constants import OutsideAssumptions, require_threshold
from replication.theory.problems import ROUNDING, Result


def finite_horizon(problem):
    """Item 1: values of finite horizon, by recursion, against values from the linear solve."""
    cmdp, policies, horizon = problem.cmdp, problem.policies(), problem.setting.horizon
    worst = np.zeros(3)
    for signal in problem.signals:
        values, action_values = exact.finite_horizon_values(cmdp, policies, signal, horizon)
        errors = values - cmdp.state_values(policies, signal)
        pair_errors = action_values - cmdp.action_values(policies, signal)
        largest = [np.abs(x).max() for x in (errors, pair_errors, errors @ cmdp.initial)]
        worst = np.maximum(worst, largest)
    bound, trivial = problem.constants.truncation, problem.constants.value_bound
    return [Result(f"1{part}", worst[k], bound, trivial=trivial) for k, part in enumerate("abc")]


def return_variance(problem):
    """Item 2: variance of a return, by recursion, divided by N; plus the squared bias."""
    cmdp, policies = problem.cmdp, problem.policies()
    mean, second = _utility_moments(problem, policies)
    bias = mean - cmdp.evaluate(policies)[1]
    measured = ((second - mean**2) / problem.setting.rounds + bias**2).max()
    constants = problem.constants
    return [Result("2", measured, constants.sampling_square, trivial=constants.value_bound**2)]


def feedback(problem):
    """Item 3: moments of an answer's error, as binomial sums, on a grid of differences."""
    constants = problem.constants
    largest = constants.return_bound
    bound = constants.feedback, constants.feedback_square
    results = []
    for parts, low, high in (("ab", -largest, largest), ("cd", *_excess_range(constants))):
        error = problem.feedback_error(low, high)
        worst = error.absolute.max(), error.square.max()
        furthest = largest + max(-low, high)  # answers are clipped to [-G(H), G(H)]
        trivial = furthest, furthest**2
        results += [
            Result(f"3{part}", worst[k], bound[k], trivial=trivial[k])
            for k, part in enumerate(parts)
        ]
    return results


def smoothness(problem):
    """Item 4: largest eigenvalue of the Hessian over many policies."""
    measured = max(
        np.abs(np.linalg.eigvalsh(exact.hessian(problem.cmdp, policy, signal))).max()
        for policy in problem.policies()
        for signal in problem.signals
    )
    return [Result("4", measured, problem.constants.smoothness)]


def violation_from_gap(problem):
    """Item 6: many policies, among them mixtures of the optimum with unsafe policies."""
    cmdp, optimum, constants = problem.cmdp, problem.optimum, problem.constants
    least = 2 * optimum.multiplier
    if constants.multiplier_bound < least * (1 - ROUNDING):
        raise OutsideAssumptions(
            f"multiplier_bound: C >= 2 lambda* = {least:.6g} expected, "
            f"got {constants.multiplier_bound:.6g}"
        )
    unsafe = optima.maximize(cmdp, cmdp.reward)
    edge = optima.maximize(cmdp, cmdp.reward + optimum.multiplier * (1 - 1e-6) * cmdp.utility)
    weight = np.linspace(0.05, 1, 20)[:, None, None]  # The unsafe policy has this share.
    mixed = [optima.mixtures(cmdp, other, optimum.policy, weight) for other in (unsafe, edge)]
    policies = [problem.policies(), *mixed]
    v_r, v_g = cmdp.evaluate(np.concatenate(policies))
    violation = cmdp.threshold - v_g
    unsafe = violation > ROUNDING * constants.value_bound
    if not unsafe.any():
        raise OutsideAssumptions("threshold: no policy violates the constraint, nothing to bound")
    violation, gap = violation[unsafe], optimum.reward_value - v_r[unsafe]
    limits = [
        2 * (gap + factor * violation) / factor
        for factor in {constants.multiplier_bound, least} - {0.0}
    ]
    limit = np.min(limits, axis=0)
    ratio = violation / limit
    # Many policies attain the maximum up to rounding; the first of them is reproducible.
    worst = np.argmax(ratio >= ratio.max() - ROUNDING)
    return [Result("6", violation[worst], limit[worst], trivial=cmdp.threshold)]


def excess_bias(problem):
    """Item 7: exact truncation error plus the largest bias of an answer."""
    cmdp, constants, policies = problem.cmdp, problem.constants, problem.policies()
    _, off = exact.truncation_biases(cmdp, policies, problem.setting.horizon)
    bias = problem.answer_bias(*_excess_range(constants))
    furthest = max(cmdp.threshold, constants.value_bound - cmdp.threshold)
    trivial, measured = constants.return_bound + furthest, np.abs(off).max() + bias
    return [Result("7", measured, constants.excess_bias, "exact upper bound", trivial=trivial)]


def excess_square(problem):
    r"""Item 9: :math:`E\hat h_c^2 = E x^2/N + (1 - 1/N)(E x)^2` for answers x."""
    # Minkowski's inequality bounds E x^2 by the second moments of R - b and of the votes' error.
    cmdp, constants = problem.cmdp, problem.constants
    threshold, rounds = cmdp.threshold, problem.setting.rounds
    mean, second = _utility_moments(problem, problem.policies())
    square = second - 2 * threshold * mean + threshold**2  # E (R - b)^2
    error = problem.feedback_error(*_excess_range(constants))
    answer_square = (np.sqrt(square) + math.sqrt(error.square.max())) ** 2
    answer_mean = np.abs(mean - threshold) + np.abs(error.bias).max()
    measured = (answer_square / rounds + (1 - 1 / rounds) * answer_mean**2).max()
    trivial = constants.return_bound**2
    return [Result("9", measured, constants.excess_square, "exact upper bound", trivial=trivial)]


def performance_difference(problem):
    """Item 13: an identity, checked from every initial state for consecutive policies."""
    cmdp, policies = problem.cmdp, problem.policies()
    others = np.roll(policies, 1, axis=0)
    worst = 0.0
    for signal in problem.signals:
        left = cmdp.state_values(policies, signal) - cmdp.state_values(others, signal)
        advantage = (policies * cmdp.advantages(others, signal)).sum(-1)  # (K, S)
        right = (exact.resolvent(cmdp, policies) @ advantage[..., None])[..., 0]
        worst = max(worst, np.abs(left - right).max())
    bound = ROUNDING * problem.constants.value_bound
    return [Result("13", worst, bound, reason="an identity; the bound is rounding")]


def advantage_bias(problem):
    """Item 14: exact truncation error plus the largest bias of an answer."""
    cmdp, constants, policies = problem.cmdp, problem.constants, problem.policies()
    largest = constants.return_bound
    worst, _ = exact.truncation_biases(cmdp, policies, problem.setting.horizon)
    bias = problem.answer_bias(-largest, largest)
    bound, trivial = constants.advantage_bias, largest + constants.value_bound
    return [Result("14", worst + bias, bound, "exact upper bound", trivial=trivial)]


def _utility_moments(problem, policies):
    """First two moments of the utility's return from the initial distribution, shape (K,)."""
    cmdp = problem.cmdp
    moments = exact.return_moments(cmdp, policies, cmdp.utility, problem.setting.horizon)
    return [moment @ cmdp.initial for moment in moments]


def _excess_range(constants):
    """Smallest and largest value of R - b."""
    require_threshold(constants.threshold, constants.return_bound)
    return -constants.threshold, constants.return_bound - constants.threshold
