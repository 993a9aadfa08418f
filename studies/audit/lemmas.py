"""Exact checks of the lemmas on values, returns and votes: items 1 to 4, 6, 7, 9 and 14.

Where a left side depends on the distribution of returns, it is replaced by an exact upper bound
over all distributions. Each function takes a :class:`~audit.problems.Problem` and returns a list of
results.
"""

import math

import numpy as np
from audit import exact
from audit.printed import require
from audit.problems import ROUNDING, Result

from pgpd_hf.optimum import maximize, mixture


def finite_horizon(problem):
    """Item 1: values of finite horizon, by recursion, against values from the linear solve."""
    cmdp, policies, horizon = problem.cmdp, problem.policies, problem.setting.horizon
    worst = np.zeros(3)
    for signal in problem.signals:
        values, action_values = exact.finite_horizon_values(cmdp, policies, signal, horizon)
        errors = values - cmdp.state_values(policies, signal)
        pair_errors = action_values - cmdp.action_values(policies, signal)
        largest = [np.abs(it).max() for it in (errors, pair_errors, errors @ cmdp.initial)]
        worst = np.maximum(worst, largest)
    bound, trivial = problem.constants.truncation, problem.constants.value_bound
    return [Result(f"1{part}", worst[k], bound, trivial=trivial) for k, part in enumerate("abc")]


def return_variance(problem):
    """Item 2: variance of a return, by recursion, divided by N; plus the squared bias."""
    mean, second = _utility_moments(problem)
    bias = mean - problem.cmdp.evaluate(problem.policies)[1]
    measured = ((second - mean**2) / problem.setting.rounds + bias**2).max()
    constants = problem.constants
    return [Result("2", measured, constants.sampling_square, trivial=constants.value_bound**2)]


def feedback(problem):
    """Item 3: moments of an answer's error, as binomial sums, on a grid of differences."""
    constants, results = problem.constants, []
    largest = constants.return_bound
    for parts, low, high in (("ab", -largest, largest), ("cd", *_excess_range(constants))):
        error = problem.feedback_error(low, high)
        furthest = largest + max(-low, high)  # answers are clipped to [-G(H), G(H)]
        first, second = (f"3{part}" for part in parts)
        results += [
            Result(first, error.absolute.max(), constants.feedback, trivial=furthest),
            Result(second, error.square.max(), constants.feedback_square, trivial=furthest**2),
        ]
    return results


def smoothness(problem):
    """Item 4: largest eigenvalue of the Hessian over many policies."""
    measured = max(
        np.abs(np.linalg.eigvalsh(exact.hessian(problem.cmdp, policy, signal))).max()
        for policy in problem.policies
        for signal in problem.signals
    )
    return [Result("4", measured, problem.constants.smoothness)]


def violation_from_gap(problem):
    """Item 6: many policies, among them mixtures of the optimum with unsafe policies."""
    cmdp, optimum, constants = problem.cmdp, problem.optimum, problem.constants
    least = 2 * optimum.multiplier
    unsafe = maximize(cmdp, cmdp.reward)
    edge = maximize(cmdp, cmdp.reward + optimum.multiplier * (1 - 1e-6) * cmdp.utility)
    weight = np.linspace(0.05, 1, 20)[:, None, None]  # the unsafe policy has this share
    mixed = [mixture(cmdp, other, optimum.policy, weight) for other in (unsafe, edge)]
    v_r, v_g = cmdp.evaluate(np.concatenate([problem.policies, *mixed]))
    violation = cmdp.threshold - v_g
    unsafe = violation > ROUNDING * constants.value_bound
    require(unsafe.any(), "threshold: no policy violates the constraint, nothing to bound")
    violation, gap = violation[unsafe], optimum.reward_value - v_r[unsafe]
    factors = {constants.multiplier_bound, least} - {0.0}
    limit = np.min([2 * (gap + factor * violation) / factor for factor in factors], axis=0)
    ratio = violation / limit
    # Many policies attain the maximum up to rounding; the first of them is reproducible.
    worst = np.argmax(ratio >= ratio.max() - ROUNDING)
    return [Result("6", violation[worst], limit[worst], trivial=cmdp.threshold)]


def excess_bias(problem):
    """Item 7: exact truncation error plus the largest bias of an answer."""
    cmdp, constants = problem.cmdp, problem.constants
    _, off = exact.truncation_biases(cmdp, problem.policies, problem.setting.horizon)
    measured = np.abs(off).max() + problem.answer_bias(*_excess_range(constants))
    furthest = max(cmdp.threshold, constants.value_bound - cmdp.threshold)
    trivial = constants.return_bound + furthest
    return [Result("7", measured, constants.excess_bias, "exact upper bound", trivial=trivial)]


def excess_square(problem):
    r"""Item 9: :math:`E\hat h_c^2 = E x^2/N + (1 - 1/N)(E x)^2` for answers x.

    Minkowski's inequality bounds E x^2 by the second moments of R - b and of the votes' error.
    """
    constants, threshold = problem.constants, problem.cmdp.threshold
    rounds = problem.setting.rounds
    mean, second = _utility_moments(problem)
    square = second - 2 * threshold * mean + threshold**2  # E (R - b)^2
    error = problem.feedback_error(*_excess_range(constants))
    answer_square = (np.sqrt(square) + math.sqrt(error.square.max())) ** 2
    answer_mean = np.abs(mean - threshold) + np.abs(error.bias).max()
    measured = (answer_square / rounds + (1 - 1 / rounds) * answer_mean**2).max()
    trivial = constants.return_bound**2
    return [Result("9", measured, constants.excess_square, "exact upper bound", trivial=trivial)]


def advantage_bias(problem):
    """Item 14: exact truncation error plus the largest bias of an answer."""
    constants = problem.constants
    largest = constants.return_bound
    worst, _ = exact.truncation_biases(problem.cmdp, problem.policies, problem.setting.horizon)
    measured = worst + problem.answer_bias(-largest, largest)
    trivial = largest + constants.value_bound
    return [Result("14", measured, constants.advantage_bias, "exact upper bound", trivial=trivial)]


def _utility_moments(problem):
    """First two moments of the utility's return from the initial distribution, (K,) each."""
    cmdp, horizon = problem.cmdp, problem.setting.horizon
    moments = exact.return_moments(cmdp, problem.policies, cmdp.utility, horizon)
    return [moment @ cmdp.initial for moment in moments]


def _excess_range(constants):
    """Smallest and largest value of R - b."""
    return -constants.threshold, constants.return_bound - constants.threshold
