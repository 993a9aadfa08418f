r"""Maximum likelihood of a signal from votes on trajectories, as in Safe RLHF.

A vote on question i is in favour with probability :math:`\sigma(x_i \cdot \theta + o_i)`. Here
:math:`\theta` is the reward or the utility of a step as a vector (S * A,), and :math:`x_i` has the
discounted visits of the trajectory that is voted for minus those of the other trajectory,
:math:`\sum_t \gamma^t (e_{(s_t, a_t)} - e_{(s'_t, a'_t)})`. Whether a single trajectory is harmless
enough is asked with its own visits as :math:`x_i`, and with :math:`o_i = -b`. With the logistic
link this is the model of Bradley and Terry (1952), a logistic regression. A ridge
:math:`\frac{\kappa}{2}\|\theta - \theta_0\|^2` is added, since comparisons leave directions of
:math:`\theta` open.

Arguments of all functions:

- `features`: x, (n, d), for `fit` also as scipy.sparse.csr_array;
- `votes` and `numbers`: votes in favour, and votes in all, at least one, (n,);
- `link`: a name of LINKS;
- `ridge` and `center`: kappa > 0, and theta_0, (d,);
- `offsets`: o, (n,), or one number.
"""

import math

import numpy as np
from scipy import optimize, sparse

from pgpd_hf.compilation import njit
from pgpd_hf.evaluators import LINKS, LOGISTIC, PROBIT, vote_probability

# The search ends at a gradient of at most the sum of two tolerances: one times the root of the
# number of votes (its deviation for features of size one), one times that number (rounding).
_TOLERANCES = 1e-6, 1e-7
_ROUNDING = 1e-12  # of the likelihood, as a share of it
_LEAST = 1e-300  # probability; a smaller one may be rounded to zero, which has no logarithm


def fit(features, votes, numbers, link, ridge, center, offsets):
    """Theta (d,) at which the likelihood of votes minus the ridge is largest.

    With sparse features the search takes products with the Hessian, not itself (Steihaug 1983).
    """
    code, numbers = LINKS[link].code, np.asarray(numbers, dtype=np.float64)
    shares = votes / numbers

    def negative(theta):
        total, score, _ = log_likelihood(code, features @ theta + offsets, shares, numbers)
        away = theta - center
        return ridge / 2 * away @ away - total, ridge * away - features.T @ score

    # The expected information in place of the Hessian: positive definite for any link.
    def hessian(theta):
        return information(features, numbers, theta, link, ridge, offsets)

    def product(theta, direction):
        curvature = _curvature(features, numbers, theta, link, offsets)
        return features.T @ (curvature * (features @ direction)) + ridge * direction

    search = {"method": "trust-exact", "hess": hessian}
    if sparse.issparse(features):
        search = {"method": "trust-ncg", "hessp": product}
    total = numbers.sum()
    enough = {"gtol": _TOLERANCES[0] * np.sqrt(total) + _TOLERANCES[1] * total}
    found = optimize.minimize(negative, center, jac=True, options=enough, **search)
    require_maximum(found)
    return found.x


def require_maximum(found):
    """Check that a search of SciPy has ended where the likelihood is largest.

    The gradient is as small as asked for, or a step of Newton would raise the likelihood by no more
    than its rounding.
    """
    if found.success:
        return
    if "hess" in found:
        gain = found.jac @ np.linalg.solve(found.hess, found.jac) / 2
        if 0 <= gain <= _ROUNDING * abs(found.fun):
            return
    what = "no maximum of the likelihood was found; a larger ridge or a smaller scale expected"
    raise ValueError(f"ridge: {what} ({found.message})")


def information(features, numbers, theta, link, ridge, offsets):
    r"""Fisher information (d, d) of votes about theta, with the ridge added to its diagonal.

    .. math:: \sum_i n_i \frac{\sigma'(z_i)^2}{\sigma(z_i)\,\sigma(-z_i)}\, x_i x_i^\top
    """
    curvature = _curvature(features, numbers, theta, link, offsets)
    return (features.T * curvature) @ features + ridge * np.eye(features.shape[1])


def _curvature(features, numbers, theta, link, offsets):
    """Information of each question about its difference, (n,)."""
    z, numbers = features @ theta + offsets, np.asarray(numbers, dtype=np.float64)
    return log_likelihood(LINKS[link].code, z, np.full(len(z), 0.5), numbers)[2]


@njit
def _density(code, x):
    r""":math:`\sigma'(x)`."""
    if code == LOGISTIC:
        return vote_probability(code, x) * vote_probability(code, -x)
    if code == PROBIT:
        return math.exp(-x * x / 2) / math.sqrt(2 * math.pi)
    return 1 / (math.pi * (1 + x * x))


@njit(allocates=True)
def log_likelihood(code, z, shares, numbers):
    r"""Log-likelihood of votes, and for each question its score and information, (n,).

    `code` is that of the link, z the differences (n,) that votes are about, `shares` those of votes
    in favour. The score is the derivative by z, the information its variance if votes follow the
    link: :math:`n\sigma'^2 / (\sigma\,(1-\sigma))`.
    """
    total = 0.0
    score, curvature = np.empty(len(z)), np.empty(len(z))
    for i in range(len(z)):
        p, q = max(vote_probability(code, z[i]), _LEAST), max(vote_probability(code, -z[i]), _LEAST)
        slope = _density(code, z[i])
        share = shares[i]
        if share > 0:
            total += numbers[i] * share * np.log(p)
        if share < 1:
            total += numbers[i] * (1 - share) * np.log(q)
        score[i] = numbers[i] * slope * (share / p - (1 - share) / q)
        curvature[i] = numbers[i] * slope * slope / (p * q)
    return total, score, curvature
