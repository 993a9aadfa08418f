r"""Exact quantities that the lemmas bound, without sampling.

Trajectories have a finite horizon, so the moments of their returns follow from recursions over
steps. Votes are binomial, so the moments of an answer's error are finite sums. The value is a
rational function of the policy, so its gradient and Hessian come from linear algebra.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.core.evaluators import make_evaluators
from pgpd_hf.core.links import probability
from pgpd_hf.core.policies import project_rows

_MOST_TERMS = 2**25  # of binomial sums, all of them: a quarter of a gigabyte


def finite_horizon_values(cmdp, policy, signal, horizon):
    """Expected returns of steps 0..H, (..., S), and those by first action, (..., S, A)."""
    values = np.zeros(policy.shape[:-1])  # (..., S)
    for _ in range(horizon + 1):
        action_values = signal + cmdp.discount * _expect(cmdp, values)  # (..., S, A)
        values = (policy * action_values).sum(-1)
    return values, action_values


def finite_horizon_advantages(cmdp, policy, signal, horizon):
    r"""Advantages of trajectories of steps 0..H, :math:`Q^{\pi,H}(s,a) - V^{\pi,H}(s)`."""
    values, action_values = finite_horizon_values(cmdp, policy, signal, horizon)
    return action_values - values[..., None]


def finite_horizon_value(cmdp, policy, signal, horizon):
    """Expected return of trajectories of steps 0..H from the initial distribution."""
    return finite_horizon_values(cmdp, policy, signal, horizon)[0] @ cmdp.initial


def truncation_biases(cmdp, policy, horizon):
    """Biases due to truncation: the largest of advantages, and :math:`V_g^H - V_g`, (...)."""
    errors = [
        finite_horizon_advantages(cmdp, policy, signal, horizon) - cmdp.advantages(policy, signal)
        for signal in (cmdp.reward, cmdp.utility)
    ]
    value = finite_horizon_value(cmdp, policy, cmdp.utility, horizon)
    return float(np.abs(errors).max()), value - cmdp.evaluate(policy)[1]


def return_moments(cmdp, policy, signal, horizon):
    """First two moments, (..., S), of the return of a trajectory that starts in a state."""
    # With k steps to go, m_2(s) = sum_a pi(a|s) [f^2 + 2 gamma f P m_1' + gamma^2 P m_2'], where m'
    # belong to one step fewer.
    discount = cmdp.discount
    mean = np.zeros(policy.shape[:-1])
    second = np.zeros(policy.shape[:-1])
    for _ in range(horizon + 1):
        after = _expect(cmdp, mean)
        square = signal**2 + 2 * discount * signal * after + discount**2 * _expect(cmdp, second)
        mean = (policy * (signal + discount * after)).sum(-1)
        second = (policy * square).sum(-1)
    return mean, second


def _expect(cmdp, values):
    """Expectation of a function of the next state: (..., S) to (..., S, A)."""
    rows = cmdp.transition.reshape(-1, cmdp.states)  # (S * A, S)
    return (values @ rows.T).reshape(*values.shape[:-1], cmdp.states, cmdp.actions)


class FeedbackError(NamedTuple):
    """Moments of the error of an answer :math:`x_k`, read from k votes of M."""

    bias: np.ndarray  # E x_k - Delta
    absolute: np.ndarray  # E|x_k - Delta|
    square: np.ndarray  # E(x_k - Delta)^2


def feedback_error(differences, evaluators, link, bound, estimator="plug-in"):
    """Moments of an answer's error at differences (D,), summed over the number of votes."""
    from scipy import stats  # slow to import, and needed here only

    differences = np.asarray(differences, dtype=np.float64)
    if evaluators is None:
        return FeedbackError(*np.zeros((3, len(differences))))
    votes = np.arange(evaluators + 1)
    favour = np.array([probability(link.code, difference) for difference in differences])
    if favour.size * evaluators > _MOST_TERMS:
        # So far from the mean there is less than 1e-30 of the mass (Hoeffding).
        away = 6 * math.isqrt(evaluators)
        votes = np.rint(evaluators * favour[:, None]).astype(int) + np.arange(-away, away + 1)
    mass = stats.binom.pmf(votes, evaluators, favour[:, None])  # (D, M + 1)
    votes = votes.clip(0, evaluators)
    answers = make_evaluators(evaluators, link, bound, estimator).estimate[votes]
    errors = answers - differences[:, None]
    return FeedbackError(
        (mass * errors).sum(1), (mass * np.abs(errors)).sum(1), (mass * errors**2).sum(1)
    )


def answer_variance(differences, evaluators, link, bound, estimator):
    """Variance of one answer, (D,), from draws (draws, D) of the differences it is about."""
    # The law of total variance: that of the answer's mean, and the mean of its variance over votes.
    error = feedback_error(differences.ravel(), evaluators, link, bound, estimator)
    mean = differences + error.bias.reshape(differences.shape)
    within = (error.square - error.bias**2).reshape(differences.shape)
    return mean.var(0, ddof=1) + within.mean(0)


def value(cmdp, theta, signal):
    """Value, (...), under direct parameterization (..., S, A), extended beyond the simplex."""
    # A rational function of theta: rho' (I - gamma P_theta)^-1 r_theta.
    return (cmdp.initial * _solve(cmdp, theta, signal)[2]).sum(-1)


def gradient(cmdp, theta, signal):
    r"""Gradient of :func:`value`: :math:`\partial V/\partial \theta_{s,a} = q(s) Q(s, a)`."""
    _, occupancy, state_values = _solve(cmdp, theta, signal)
    action_values = signal + cmdp.discount * _expect(cmdp, state_values)
    return occupancy[..., None] * action_values


def hessian(cmdp, theta, signal):
    """Hessian of :func:`value` at one theta, (S A, S A)."""
    # With W = P (I - gamma P_theta)^-1, one row for each pair, its entry at (s,a), (z,b) is
    # gamma q(s) W(s,a;z) Q(z,b) + gamma q(z) W(z,b;s) Q(s,a).
    inverse, occupancy, state_values = _solve(cmdp, theta, signal)
    action_values = signal + cmdp.discount * _expect(cmdp, state_values)
    reach = cmdp.transition @ inverse  # (S, A, S): W
    half = cmdp.discount * np.einsum("s,saz,zb->sazb", occupancy, reach, action_values)
    size = cmdp.states * cmdp.actions
    half = half.reshape(size, size)
    return half + half.T


def _solve(cmdp, theta, signal):
    """Inverse of I - gamma P, state occupancy and state values."""
    inverse = resolvent(cmdp, theta)
    state_values = (inverse @ (theta * signal).sum(-1)[..., None])[..., 0]
    return inverse, cmdp.initial @ inverse, state_values


def resolvent(cmdp, theta):
    r""":math:`(I - \gamma P_\theta)^{-1}`, (..., S, S)."""
    kernel = np.einsum("...sa,sat->...st", theta, cmdp.transition)
    return np.linalg.inv(np.eye(cmdp.states) - cmdp.discount * kernel)


def visitation(cmdp, policy):
    r"""Discounted visitation distribution :math:`d_\rho^\pi`, (..., S), with sum 1 (line 121)."""
    return (1 - cmdp.discount) * cmdp.state_occupancy(policy)


def tangent(theta):
    """Projection on changes of a policy, whose rows have the sum zero."""
    return theta - theta.mean(-1, keepdims=True)


def projected(theta):
    """Euclidean projection of each row of (..., S, A) onto the simplex."""
    rows = np.array(theta, dtype=np.float64).reshape(-1, theta.shape[-1])
    project_rows(rows, rows)
    return rows.reshape(theta.shape)
