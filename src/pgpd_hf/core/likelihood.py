r"""Maximum likelihood from votes, and the Fisher information of the votes.

A vote about :math:`x` is in favour with probability :math:`\sigma(x \cdot \theta + o)`; with the
logistic link this is the model of Bradley and Terry (1952), a logistic regression. A ridge
:math:`\frac{\kappa}{2}\|\theta - \theta_0\|^2` is added, since comparisons leave a direction of
:math:`\theta` open: a constant in all state-action pairs.
"""

import numpy as np
import scipy  # imports its parts when they are used

from pgpd_hf.core.arguments import located
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.links import derivative, probability

# The search ends where the gradient is small: beside its standard deviation for features of size
# one, which is the root of the number of votes; or beside the error that rounding of the likelihood
# causes, which is proportional to that number.
_TOLERANCES = 1e-6, 1e-7
NOT_FOUND = "no maximum of the likelihood was found; a higher one or a smaller scale may help"
_ROUNDING = 1e-14  # of the likelihood, as a share of it
_LEAST = 1e-300  # probability; a smaller one may be rounded to zero, which has no logarithm


def fit(features, offsets, shares, weights, link, ridge, center, start=None):
    r"""Maximise the likelihood of votes minus a ridge.

    Parameters
    ----------
    features : ndarray or scipy.sparse.csr_array, float64, shape (n, d)
        x of each question. With sparse ones the Hessian is never formed: the search takes its
        products with directions (Steihaug 1983), which is much faster if d is thousands.
    offsets : ndarray, float64, shape (n,)
        o of each question.
    shares : ndarray, float64, shape (n,)
        Shares of votes in favour, in [0, 1].
    weights : ndarray, float64, shape (n,)
        Numbers of votes.
    link : Link
        :math:`\sigma`.
    ridge : float
        :math:`\kappa > 0`.
    center : ndarray, float64, shape (d,)
        :math:`\theta_0`.
    start : ndarray, float64, shape (d,), optional
        Where the search begins; by default :math:`\theta_0`.

    Returns
    -------
    ndarray, float64, shape (d,)

    Raises
    ------
    ValueError
        If the search does not converge.

    Examples
    --------
    Of 1000 people, 731 prefer the first of two trajectories; by the logistic link, it is better by
    one.

    >>> import numpy as np
    >>> from pgpd_hf import LINKS
    >>> one, nothing = np.ones((1, 1)), np.zeros(1)
    >>> share, people = np.array([0.731]), np.array([1000.0])
    >>> fit(one, nothing, share, people, LINKS["logistic"], 1e-6, nothing).round(3).tolist()
    [1.0]
    """
    from scipy.optimize import minimize  # slow to import, and needed here only

    def negative(theta):
        total, score, _ = log_likelihood(link.code, features @ theta + offsets, shares, weights)
        away = theta - center
        return ridge / 2 * away @ away - total, ridge * away - features.T @ score

    # The expected information in place of the Hessian: positive definite for any link.
    def hessian(theta):
        return information(features, offsets, weights, link, theta, ridge)

    def product(theta, direction):
        curvature = _curvature(features, offsets, weights, link, theta)
        return features.T @ (curvature * (features @ direction)) + ridge * direction

    if scipy.sparse.issparse(features):
        search = {"method": "trust-ncg", "hessp": product}
    else:
        search = {"method": "trust-exact", "hess": hessian}
    total = max(1.0, weights.sum())
    enough = _TOLERANCES[0] * np.sqrt(total) + _TOLERANCES[1] * total
    start = center if start is None else start
    with located(f"ridge: {NOT_FOUND}"):
        found = minimize(negative, start, jac=True, **search, options={"gtol": enough})
        require_maximum(found)
    return found.x


def require_maximum(found):
    """Check that a search has ended where the likelihood is largest.

    Parameters
    ----------
    found : scipy.optimize.OptimizeResult
        Of the search for the smallest negative likelihood.

    Raises
    ------
    ValueError
        If the gradient is larger than what was asked for, and a step of Newton would raise the
        likelihood by more than its rounding.
    """
    if found.success:
        return
    if "hess" in found:
        gain = found.jac @ np.linalg.solve(found.hess, found.jac) / 2
        if 0 <= gain <= _ROUNDING * abs(found.fun):
            return
    raise ValueError(found.message)


def information(features, offsets, weights, link, theta, ridge=0.0):
    r"""Fisher information of votes.

    .. math:: \sum_i w_i \frac{\sigma'(z_i)^2}{\sigma(z_i)\,\sigma(-z_i)}\, x_i x_i^\top

    Parameters
    ----------
    features, offsets, weights, link, ridge
        As for :func:`fit`; the ridge is added to the diagonal.
    theta : ndarray, float64, shape (d,)
        Where it is taken.

    Returns
    -------
    ndarray, float64, shape (d, d)
    """
    curvature = _curvature(features, offsets, weights, link, theta)
    return (features.T * curvature) @ features + ridge * np.eye(features.shape[1])


def _curvature(features, offsets, weights, link, theta):
    """Information about each z."""
    z = features @ theta + offsets
    return log_likelihood(link.code, z, np.full(len(z), 0.5), weights)[2]


@njit
def log_likelihood(code, z, shares, weights):
    r"""Logarithm of the likelihood of votes, and its derivatives.

    Parameters
    ----------
    code : int
        Code of the link :math:`\sigma`.
    z : ndarray, float64, shape (n,)
        Differences that the votes are about.
    shares, weights : ndarray, float64, shape (n,)
        As for :func:`fit`.

    Returns
    -------
    total : float
    score : ndarray, float64, shape (n,)
        Derivatives by z.
    information : ndarray, float64, shape (n,)
        Variances of these, if votes follow the link: :math:`w_i\sigma'^2 / (\sigma\,(1-\sigma))`.
    """
    total = 0.0
    score, curvature = np.empty(len(z)), np.empty(len(z))
    for i in range(len(z)):
        p, q = max(probability(code, z[i]), _LEAST), max(probability(code, -z[i]), _LEAST)
        slope = derivative(code, z[i])
        share = shares[i]
        if share > 0:
            total += weights[i] * share * np.log(p)
        if share < 1:
            total += weights[i] * (1 - share) * np.log(q)
        score[i] = weights[i] * slope * (share / p - (1 - share) / q)
        curvature[i] = weights[i] * slope * slope / (p * q)
    return total, score, curvature
