r"""Exact quantities that the lemmas bound, without sampling.

Trajectories have a finite horizon, so the moments of their returns follow from recursions over
steps. Votes are binomial, so the moments of an answer's error are finite sums. The value is a
rational function of the policy, so its gradient and Hessian come from linear algebra.
"""

from typing import NamedTuple

import numpy as np

from pgpd_hf.core.evaluators import make_evaluators
from pgpd_hf.core.links import probability
from pgpd_hf.core.policies import project_rows


def finite_horizon_values(cmdp, policy, signal, horizon):
    r"""Expected returns of trajectories of steps 0..H.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    policy : ndarray, float64, shape (..., S, A)
        :math:`\pi(a|s)`.
    signal : ndarray, float64, shape (S, A)
        Reward or utility of a step.
    horizon : int
        :math:`H \ge 0`; a trajectory has :math:`H + 1` steps.

    Returns
    -------
    state_values : ndarray, float64, shape (..., S)
        :math:`V^{\pi,H}(s)`.
    action_values : ndarray, float64, shape (..., S, A)
        Expected return of :math:`\tau(s, a)`, whose first action is :math:`a`.
    """
    values = np.zeros(policy.shape[:-1])  # (..., S)
    for _ in range(horizon + 1):
        action_values = signal + cmdp.discount * _expect(cmdp, values)  # (..., S, A)
        values = (policy * action_values).sum(-1)
    return values, action_values


def finite_horizon_advantages(cmdp, policy, signal, horizon):
    r"""Advantages of trajectories of steps 0..H, :math:`Q^{\pi,H}(s,a) - V^{\pi,H}(s)`.

    Parameters
    ----------
    cmdp, policy, signal, horizon
        As for :func:`finite_horizon_values`.

    Returns
    -------
    ndarray, float64, shape (..., S, A)
    """
    values, action_values = finite_horizon_values(cmdp, policy, signal, horizon)
    return action_values - values[..., None]


def finite_horizon_value(cmdp, policy, signal, horizon):
    r"""Expected return of trajectories of steps 0..H from the initial distribution.

    Parameters
    ----------
    cmdp, policy, signal, horizon
        As for :func:`finite_horizon_values`.

    Returns
    -------
    ndarray, float64, shape (...)
        :math:`V^{\pi,H}(\rho)`.

    Examples
    --------
    >>> import numpy as np
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> uniform = np.full((cmdp.states, cmdp.actions), 1 / cmdp.actions)
    >>> float(finite_horizon_value(cmdp, uniform, cmdp.reward, horizon=10).round(4))
    0.297
    >>> float(cmdp.evaluate(uniform)[0].round(4))  # of endless trajectories
    0.4329
    """
    return finite_horizon_values(cmdp, policy, signal, horizon)[0] @ cmdp.initial


def truncation_biases(cmdp, policy, horizon):
    r"""Biases of both kinds of estimates due to truncation.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    policy : ndarray, float64, shape (..., S, A)
        :math:`\pi(a|s)`.
    horizon : int
        H.

    Returns
    -------
    primal : float
        :math:`\max_{s,a} |A^H - A|`, the largest of reward and utility and of all policies.
    dual : ndarray, float64, shape (...)
        :math:`V_g^H(\rho) - V_g(\rho) \le 0`.

    Examples
    --------
    >>> import numpy as np
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> uniform = np.full((cmdp.states, cmdp.actions), 1 / cmdp.actions)
    >>> float(truncation_biases(cmdp, uniform, horizon=10)[1].round(4))  # V_g seems this much lower
    -0.1221
    """
    errors = [
        finite_horizon_advantages(cmdp, policy, signal, horizon) - cmdp.advantages(policy, signal)
        for signal in (cmdp.reward, cmdp.utility)
    ]
    value = finite_horizon_value(cmdp, policy, cmdp.utility, horizon)
    return float(np.abs(errors).max()), value - cmdp.evaluate(policy)[1]


def return_moments(cmdp, policy, signal, horizon):
    r"""First two moments of the return of a trajectory that starts in a state.

    With k steps to go, :math:`m_2(s) = \sum_a \pi(a|s) [f^2 + 2 \gamma f\, P m_1' + \gamma^2 P
    m_2']`, where :math:`m'` belong to one step fewer.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    policy : ndarray, float64, shape (..., S, A)
        :math:`\pi(a|s)`.
    signal : ndarray, float64, shape (S, A)
        :math:`f`.
    horizon : int
        :math:`H`.

    Returns
    -------
    mean, second : ndarray, float64, shape (..., S)
        :math:`E R^H(\tau(s))` and :math:`E R^H(\tau(s))^2`.

    Examples
    --------
    >>> import numpy as np
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> uniform = np.full((cmdp.states, cmdp.actions), 1 / cmdp.actions)
    >>> mean, second = return_moments(cmdp, uniform, cmdp.reward, horizon=80)
    >>> np.sqrt(second - mean**2).round(3)  # standard deviation of a return, from each state
    array([0.058, 0.061, 0.058, 0.06 , 0.056, 0.064, 0.059, 0.057, 0.06 ,
           0.062])
    """
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
    r"""Moments of the error of an answer :math:`x_k`, read from k votes of M.

    As printed, :math:`x_k = \sigma^{-1}(\mathrm{clip}[k/M])`.

    Attributes
    ----------
    bias : ndarray, float64
        :math:`B_M(\Delta) = E x_k - \Delta`.
    absolute : ndarray, float64
        :math:`E|x_k - \Delta|`.
    square : ndarray, float64
        :math:`S_M(\Delta) = E(x_k - \Delta)^2`.
    """

    bias: np.ndarray
    absolute: np.ndarray
    square: np.ndarray


def feedback_error(differences, evaluators, link, bound, estimator="plug-in"):
    r"""Moments of an answer's error, summed over the binomial number of votes.

    Parameters
    ----------
    differences : array_like, float, shape (D,)
        :math:`\Delta`, the difference of two returns, or of a return and the threshold.
    evaluators : int or None
        :math:`M`; None for infinitely many, whose answers have no error.
    link : Link
        :math:`\sigma`.
    bound : float
        Largest difference, to which the printed answers are clipped; the paper's :math:`G(H)`.
    estimator : {"plug-in", "unbiased"}
        How answers are read from votes: :func:`~pgpd_hf.core.evaluators.make_evaluators`.

    Returns
    -------
    FeedbackError
        Arrays of shape (D,).

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> error = feedback_error([0.0, 0.5], 64, LINKS["logistic"], bound=1.0)
    >>> error.square.round(3)  # close to 4/M
    array([0.065, 0.064])
    """
    from scipy import stats  # slow to import, and needed here only

    differences = np.asarray(differences, dtype=np.float64)
    if evaluators is None:
        return FeedbackError(*np.zeros((3, len(differences))))
    votes = np.arange(evaluators + 1)
    favour = np.array([probability(link.code, difference) for difference in differences])
    mass = stats.binom.pmf(votes, evaluators, favour[:, None])  # (D, M + 1)
    answers = make_evaluators(evaluators, link, bound, estimator).estimate
    errors = answers - differences[:, None]
    return FeedbackError(
        (mass * errors).sum(1), (mass * np.abs(errors)).sum(1), (mass * errors**2).sum(1)
    )


def answer_variance(differences, evaluators, link, bound, estimator):
    r"""Variance of one answer, split into the variance of trajectories and that of votes.

    By the law of total variance :math:`Var x = Var\,m(\Delta) + E\,v(\Delta)`, where :math:`\Delta`
    is the difference that people are asked about, and :math:`m` and :math:`v` are mean and variance
    of the answer to it, finite sums over the number of votes. The mean of N answers has a variance
    N times smaller.

    Parameters
    ----------
    differences : ndarray, float64, shape (draws, D)
        Draws of the differences that D questions are about.
    evaluators : int
        M.
    link : Link
        How people vote.
    bound : float
        Largest difference.
    estimator : {"plug-in", "unbiased"}
        How answers are read from votes.

    Returns
    -------
    ndarray, float64, shape (D,)

    Examples
    --------
    >>> import numpy as np
    >>> from pgpd_hf import LINKS
    >>> always_zero = np.zeros((2, 1))
    >>> answer_variance(always_zero, 64, LINKS["logistic"], 1.0, "unbiased").round(3)  # about 4/64
    array([0.063])
    """
    error = feedback_error(differences.ravel(), evaluators, link, bound, estimator)
    mean = differences + error.bias.reshape(differences.shape)
    within = (error.square - error.bias**2).reshape(differences.shape)
    return mean.var(0, ddof=1) + within.mean(0)


def value(cmdp, theta, signal):
    r"""Value under direct parameterization, extended beyond the simplex.

    :math:`V^\theta(\rho) = \rho^\top (I - \gamma P_\theta)^{-1} r_\theta` with
    :math:`P_\theta = \sum_a \theta_{s,a} P(\cdot|s,a)` is a rational function of :math:`\theta`.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    theta : ndarray, float64, shape (..., S, A)
        A policy, or a matrix near one.
    signal : ndarray, float64, shape (S, A)
        Reward or utility.

    Returns
    -------
    ndarray, float64, shape (...)
    """
    return (cmdp.initial * _solve(cmdp, theta, signal)[2]).sum(-1)


def gradient(cmdp, theta, signal):
    r"""Gradient of :func:`value`: :math:`\partial V/\partial \theta_{s,a} = q(s) Q(s, a)`.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    theta : ndarray, float64, shape (..., S, A)
        As in :func:`value`.
    signal : ndarray, float64, shape (S, A)
        Reward or utility.

    Returns
    -------
    ndarray, float64, shape (..., S, A)
    """
    _, occupancy, state_values = _solve(cmdp, theta, signal)
    action_values = signal + cmdp.discount * _expect(cmdp, state_values)
    return occupancy[..., None] * action_values


def hessian(cmdp, theta, signal):
    r"""Hessian of :func:`value`.

    With :math:`W = P (I - \gamma P_\theta)^{-1}`, one row for each pair, its entry at
    :math:`(s,a), (z,b)` is :math:`\gamma q(s) W(s,a;z) Q(z,b) + \gamma q(z) W(z,b;s) Q(s,a)`.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    theta : ndarray, float64, shape (S, A)
        As in :func:`value`.
    signal : ndarray, float64, shape (S, A)
        Reward or utility.

    Returns
    -------
    ndarray, float64, shape (S * A, S * A)
    """
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
    r"""Compute :math:`(I - \gamma P_\theta)^{-1}`.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    theta : ndarray, float64, shape (..., S, A)
        As in :func:`value`.

    Returns
    -------
    ndarray, float64, shape (..., S, S)
    """
    kernel = np.einsum("...sa,sat->...st", theta, cmdp.transition)
    return np.linalg.inv(np.eye(cmdp.states) - cmdp.discount * kernel)


def visitation(cmdp, policy):
    r"""Discounted visitation distribution :math:`d_\rho^\pi` (line 121 of the paper).

    Parameters
    ----------
    cmdp : CMDP
        The model.
    policy : ndarray, float64, shape (..., S, A)
        :math:`\pi(a|s)`.

    Returns
    -------
    ndarray, float64, shape (..., S)
        Sums to one.

    Examples
    --------
    >>> import numpy as np
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> uniform = np.full((cmdp.states, cmdp.actions), 1 / cmdp.actions)
    >>> visitation(cmdp, uniform).round(3)
    array([0.103, 0.11 , 0.098, 0.099, 0.098, 0.093, 0.102, 0.093, 0.108,
           0.095])
    """
    return (1 - cmdp.discount) * cmdp.state_occupancy(policy)


def projected(theta):
    """Euclidean projection of each row onto the simplex.

    Parameters
    ----------
    theta : ndarray, float64, shape (..., S, A)
        Real numbers.

    Returns
    -------
    ndarray, float64, shape (..., S, A)

    Examples
    --------
    >>> import numpy as np
    >>> projected(np.array([[0.5, 0.7], [2.0, -1.0]]))
    array([[0.4, 0.6],
           [1. , 0. ]])
    """
    rows = np.array(theta, dtype=np.float64).reshape(-1, theta.shape[-1])
    project_rows(rows, rows)
    return rows.reshape(theta.shape)
