r"""Theorem 1 corrected, for NPGPD-HF as printed: every M, N, H, T, step size and way to read votes.

The printed proof bounds a mean under the next policy by a conditional mean (lines 1919 and 1930),
and so loses the variance W of the estimated advantages. Here it has a term of its own: for a cap
:math:`\bar\sigma > \lambda^\star` of the multiplier and with :math:`\phi(z) = (e^z - 1 - z)/z^2`,
:math:`z = 2\eta_1(1+\bar\sigma)X/(1-\gamma)`,

.. math::

    E\frac1T\sum_t(V_r^\star-V_r^t) \le R + \frac{\eta_2\bar h^2}{2} + \bar\sigma\beta_c, \qquad
    R = \frac{\log|A|}{\eta_1 T} + \eta_1\Big(\frac{1+\bar\sigma}{1-\gamma}\Big)^2
        \min\{X^2/2, \phi(z)W\} + \frac{(1+\bar\sigma)\omega}{1-\gamma} .

Step sizes, T and the bounds may be arrays of one shape.
"""

import math
from typing import NamedTuple

import numpy as np

LONGEST = 12  # so many decades of T are searched
_PRECISION = 0.005  # the search ends with so many decades between its ends
_GRID = np.linspace(-1, 1, 25)


class Bound(NamedTuple):
    """Bounds of the average gap and of the violation, in units of value."""

    gap: float
    violation: float

    @property
    def worse(self):
        """The larger of the two."""
        return np.maximum(self.gap, self.violation)


def growth(z):
    """Function phi(z), with phi(0) = 1/2, for z >= 0."""
    z = np.asarray(z, dtype=np.float64)
    small = z < 1e-2
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        large = (np.expm1(z) - z) / z**2
        large = np.where(np.isnan(large), np.inf, large)
    return np.where(small, 0.5 + z / 6 + z**2 / 24 + z**3 / 120, large)


def theorem_1(estimates, primal_step, dual_step, iterations, cap, multiplier):
    """Theorem 1, corrected, for a `multiplier` of lambda*, or an upper bound of it."""
    e, reach = estimates, (1 + cap) / (1 - estimates.discount)
    variance = growth(2 * primal_step * reach * e.largest) * e.spread
    regret = math.log(e.actions) / (primal_step * iterations) + reach * e.primal_bias
    regret = regret + primal_step * reach**2 * np.minimum(e.largest**2 / 2, variance)
    return bounds_from_regret(e, regret, dual_step, iterations, cap, multiplier)


def bounds_from_regret(estimates, regret, dual_step, iterations, cap, multiplier):
    """Both bounds that follow from that of the Lagrangian's average regret."""
    e = estimates
    gap = regret + dual_step * e.excess_square / 2 + cap * e.dual_bias
    fluctuation = cap / 2 * np.sqrt(e.excess_round_variance / (e.rounds * iterations))
    total = gap + cap**2 / (2 * dual_step * iterations) + fluctuation
    return Bound(gap, total / (cap - multiplier))


def rate_steps(estimates, iterations, cap):
    """Step sizes with which Theorem 1 has its rate: both fall as 1/sqrt(T)."""
    e, c = estimates, math.e - 2
    inverse = math.sqrt(2) / e.largest
    if iterations >= 4 * e.largest**2 * math.log(e.actions) / (c * e.spread):
        inverse = max(inverse, 1 / math.sqrt(c * e.spread))
    root = math.sqrt(math.log(e.actions) / iterations)
    primal_step = (1 - e.discount) * root * inverse / (1 + cap)
    return primal_step, cap / math.sqrt(e.excess_square * iterations)


def best_steps(statement, iterations):
    """Step sizes that make the larger of two bounds small, and the bounds with them.

    A grid is refined six times. Any steps give a bound that holds; these give nearly the smallest.
    """
    centre, width = np.array([-1.0, 0.0]), 5.0  # decades, of the steps times sqrt(T)
    for _ in range(7):
        exponents = centre[:, None] + width * _GRID
        primal, dual = np.meshgrid(*10**exponents / math.sqrt(iterations), indexing="ij")
        worse = statement(primal, dual, iterations).worse
        i, j = np.unravel_index(np.argmin(worse), worse.shape)
        centre, width = np.array([exponents[0, i], exponents[1, j]]), width / 4
    steps = float(primal[i, j]), float(dual[i, j])
    return steps, Bound(*map(float, statement(*steps, iterations)))


def first_length(bound, level):
    """First T, to 1.2 % from above, at which a falling bound is at most a level, or infinity."""
    low, high = 0.0, float(LONGEST)
    if bound(1.0) <= level:
        return 1.0
    if bound(10**high) > level:
        return math.inf
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if bound(10**middle) <= level else (middle, high)
    return 10**high
