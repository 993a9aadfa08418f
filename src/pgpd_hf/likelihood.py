r"""Maximum likelihood of a signal from votes on pairs of trajectories, as in Safe RLHF.

A vote on question i is in favour with probability :math:`\sigma(x_i \cdot \theta + o_i)`. For the
signal of a step, :math:`\theta` is r or g as a vector (S * A,), and :math:`x_i` has the discounted
visits of the trajectory that is voted for minus those of the other one, :math:`\sum_t \gamma^t
(e_{(s_t, a_t)} - e_{(s'_t, a'_t)})`. Whether one trajectory is harmless enough is asked with its
visits as :math:`x_i`, and with :math:`o_i = -b`. With the logistic link this is the model of
Bradley and Terry (1952), a logistic regression. A ridge
:math:`\frac{\kappa}{2}\|\theta - \theta_0\|^2` is added, since comparisons leave directions of
:math:`\theta` open.

Arguments of all functions, in this order:

- `features`: x, dense (n, d) or scipy.sparse.csr_array;
- `votes` and `numbers`: votes in favour and votes in all, (n,);
- `theta`: where a function is taken, (d,);
- `link`: a name of LINKS; `ridge`: kappa > 0; `offsets`: o, (n,), zero by default.

`fit` finds theta, (d,). `standard_errors` tells how far linear functionals of it may be off. What
both are made of is public as well: `log_likelihood` (score and information of each question) and
`information` (their sum, d x d).
"""

import math

import numpy as np
from scipy import linalg, optimize, sparse

from pgpd_hf.arguments import require_number, require_one_of
from pgpd_hf.compilation import njit
from pgpd_hf.evaluators import LINKS, vote_probability

_LOGISTIC, _PROBIT = (LINKS[name].code for name in ("logistic", "probit"))

# The search ends where the gradient is small: beside its standard deviation for features of size
# one, which is the root of the number of votes; or beside the error that rounding of the likelihood
# causes, which is proportional to that number.
_TOLERANCES = 1e-6, 1e-7
_ROUNDING = 1e-14  # of the likelihood, as a share of it
_LEAST = 1e-300  # probability; a smaller one may be rounded to zero, which has no logarithm


def fit(
    features, votes, numbers, link="logistic", ridge=1.0, center=None, offsets=None, start=None
):
    r"""Maximise the likelihood of votes minus a ridge around `center` (zero by default).

    With sparse features the Hessian is never formed: the search takes its products with directions
    (Steihaug 1983), which is much faster if d is thousands. `start` is where the search begins;
    by default at the center.

    Of 1000 evaluators, 731 prefer the first of two trajectories: it is better by one.

    >>> fit(np.ones((1, 1)), np.array([731]), np.array([1000]), ridge=1e-6).round(3).tolist()
    [1.0]
    """
    code = LINKS[require_one_of("link", link, LINKS)].code
    ridge = require_number("ridge", ridge, above=0)
    numbers = np.asarray(numbers, dtype=np.float64)
    if not (np.less_equal(0, votes) & np.less_equal(votes, numbers)).all():
        raise ValueError("votes: from 0 to the number of votes expected for each question")
    shares = np.divide(votes, numbers, out=np.zeros_like(numbers), where=numbers > 0)
    center = np.zeros(features.shape[1]) if center is None else center
    offsets = _zeros(features) if offsets is None else offsets

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

    if sparse.issparse(features):
        search = {"method": "trust-ncg", "hessp": product}
    else:
        search = {"method": "trust-exact", "hess": hessian}
    total = max(1.0, numbers.sum())
    enough = _TOLERANCES[0] * np.sqrt(total) + _TOLERANCES[1] * total
    start = center if start is None else start
    found = optimize.minimize(negative, start, jac=True, **search, options={"gtol": enough})
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


def information(features, numbers, theta, link="logistic", ridge=0.0, offsets=None):
    r"""Fisher information (d, d) of votes, with the ridge added to its diagonal.

    .. math:: \sum_i n_i \frac{\sigma'(z_i)^2}{\sigma(z_i)\,\sigma(-z_i)}\, x_i x_i^\top
    """
    curvature = _curvature(features, numbers, theta, link, offsets)
    return (features.T * curvature) @ features + ridge * np.eye(features.shape[1])


def standard_errors(
    functionals, features, numbers, theta, link="logistic", ridge=1.0, offsets=None
):
    r"""Standard errors (k,) of linear functionals (k, d) of theta: :math:`\sqrt{c^\top H^{-1} c}`.

    H is :func:`information` with the ridge, so it takes one solve. This is the standard deviation
    that remains of :math:`c \cdot \theta` after the votes, if the ridge is a normal prior.
    """
    functionals = np.atleast_2d(functionals)
    curved = information(features, numbers, theta, link, ridge, offsets)
    solved = linalg.solve(curved, functionals.T, assume_a="pos")
    return np.sqrt(np.einsum("kd,dk->k", functionals, solved))


def _zeros(features):
    return np.zeros(features.shape[0])


def _curvature(features, numbers, theta, link, offsets):
    """Information about each z."""
    z = features @ theta + (_zeros(features) if offsets is None else offsets)
    numbers = np.asarray(numbers, dtype=np.float64)
    return log_likelihood(LINKS[link].code, z, np.full(len(z), 0.5), numbers)[2]


@njit
def _density(code, x):
    r""":math:`\sigma'(x)`."""
    if code == _LOGISTIC:
        return vote_probability(code, x) * vote_probability(code, -x)
    if code == _PROBIT:
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
