"""Exact quantities that the lemmas bound, without sampling.

Moments of returns of a finite horizon follow from recursions over steps, moments of an answer from
binomial sums, gradient and Hessian of a value, a rational function of the policy, from linear
algebra.
"""

from typing import NamedTuple

import numpy as np
from scipy import stats

from pgpd_hf import LINKS
from pgpd_hf.evaluators import make_evaluators, vote_probability
from pgpd_hf.policies import project_rows

_FAR = 6  # times sqrt(M): farther from the mean votes have less than 1e-30 of the mass (Hoeffding)
_MOST_TERMS = 2**25  # of binomial sums in full


def finite_horizon_values(cmdp, policy, signal, horizon):
    """Expected returns of steps 0..H, (..., S), and those by first action, (..., S, A)."""
    values = np.zeros(policy.shape[:-1])
    for _ in range(horizon + 1):
        action_values = signal + cmdp.discount * _expect(cmdp, values)
        values = (policy * action_values).sum(-1)
    return values, action_values


def truncation_biases(cmdp, policy, horizon):
    """Biases due to truncation: the largest of advantages, and V_g^H - V_g, (...)."""
    largest = 0.0
    for signal in (cmdp.reward, cmdp.utility):
        values, action_values = finite_horizon_values(cmdp, policy, signal, horizon)
        error = action_values - values[..., None] - cmdp.advantages(policy, signal)
        largest = max(largest, np.abs(error).max())
    return float(largest), values @ cmdp.initial - cmdp.evaluate(policy)[1]


def return_moments(cmdp, policy, signal, horizon):
    """First two moments, (..., S), of the return of a trajectory that starts in a state."""
    discount = cmdp.discount
    mean, second = np.zeros((2, *policy.shape[:-1]))
    for _ in range(horizon + 1):
        after = _expect(cmdp, mean)
        square = signal**2 + 2 * discount * signal * after + discount**2 * _expect(cmdp, second)
        mean = (policy * (signal + discount * after)).sum(-1)
        second = (policy * square).sum(-1)
    return mean, second


def _expect(cmdp, values):
    """Expectation of a function of the next state: (..., S) to (..., S, A)."""
    return np.einsum("sat,...t->...sa", cmdp.transition, values)


class FeedbackError(NamedTuple):
    """Moments of the error of an answer, read from k votes of M."""

    bias: np.ndarray  # E x_k - Delta
    absolute: np.ndarray  # E|x_k - Delta|
    square: np.ndarray  # E(x_k - Delta)^2


def feedback_error(differences, evaluators, link, bound, estimator="plug-in"):
    """Moments of an answer's error at differences (D,), summed over the number of votes."""
    differences = np.asarray(differences, dtype=np.float64)
    if evaluators is None:
        return FeedbackError(*np.zeros((3, len(differences))))
    code = LINKS[link].code
    favour = np.array([vote_probability(code, difference) for difference in differences])[:, None]
    votes = np.arange(evaluators + 1)
    if favour.size * evaluators > _MOST_TERMS:
        away = _FAR * int(np.sqrt(evaluators))
        votes = np.rint(evaluators * favour).astype(int) + np.arange(-away, away + 1)
    mass = stats.binom.pmf(votes, evaluators, favour)  # (D, votes)
    votes = votes.clip(0, evaluators)
    answers = make_evaluators(evaluators, link, bound, estimator).estimate[votes]
    errors = answers - differences[:, None]
    moments = errors, np.abs(errors), errors**2
    return FeedbackError(*((mass * moment).sum(1) for moment in moments))


def gradient(cmdp, theta, signal):
    """Gradient of the value at parameters (..., S, A), direct parameterization: q(s) Q(s, a)."""
    _, occupancy, state_values = _solved(cmdp, theta, signal)
    return occupancy[..., None] * (signal + cmdp.discount * _expect(cmdp, state_values))


def hessian(cmdp, theta, signal):
    """Hessian of the value at one theta, (S A, S A).

    With W = P (I - gamma P_theta)^-1 its entry at (s,a), (z,b) is
    gamma q(s) W(s,a;z) Q(z,b) + gamma q(z) W(z,b;s) Q(s,a).
    """
    inverse, occupancy, state_values = _solved(cmdp, theta, signal)
    action_values = signal + cmdp.discount * _expect(cmdp, state_values)
    reach = cmdp.transition @ inverse
    half = cmdp.discount * np.einsum("s,saz,zb->sazb", occupancy, reach, action_values)
    half = half.reshape(theta.size, theta.size)
    return half + half.T


def resolvent(cmdp, theta):
    """The matrix (I - gamma P_theta)^-1, (..., S, S)."""
    kernel = np.einsum("...sa,sat->...st", theta, cmdp.transition)
    return np.linalg.inv(np.eye(cmdp.states) - cmdp.discount * kernel)


def _solved(cmdp, theta, signal):
    """The resolvent, the state occupancy and state values."""
    inverse = resolvent(cmdp, theta)
    state_values = (inverse @ (theta * signal).sum(-1)[..., None])[..., 0]
    return inverse, cmdp.initial @ inverse, state_values


def tangent(theta):
    """Projection on changes of a policy, whose rows have the sum zero."""
    return theta - theta.mean(-1, keepdims=True)


def projected(theta):
    """Euclidean projection of each row of (..., S, A) onto the simplex."""
    rows = np.array(theta, dtype=np.float64).reshape(-1, theta.shape[-1])
    project_rows(rows, rows)
    return rows.reshape(theta.shape)
