r"""Theorem 1 corrected, for NPGPD-HF as printed: every M, N, H, T, step size and way to read votes.

The printed proof bounds a mean under the next policy by a conditional mean, and so loses the
variance of the estimated advantages (docs/audit.md). Here that variance is a term of its own: v/N
in :math:`C_1`, or :math:`\Omega` in :math:`C_2`. Proofs are in the article's appendix, under the
steps that the docstrings name; :mod:`replication.proofs` checks each of them numerically.

Step sizes, T and the bounds may be arrays of one shape. Bounds are pairs: of the average gap
:math:`E\frac1T\sum_t(V_r^\star-V_r^{(t)})`, and of the violation
:math:`E[b-\frac1T\sum_tV_g^{(t)}]_+`, in units of value.
"""

import math
from typing import NamedTuple

import numpy as np

from replication.theory.constants import OutsideAssumptions

_LONGEST = 12.0  # decades of T that are searched
_PRECISION = 0.005  # of them
_GRID = np.linspace(-1, 1, 25)


class Bound(NamedTuple):
    """Bounds of the average gap and of the violation.

    Attributes
    ----------
    gap, violation : float or ndarray
        In units of value; infinite outside the statement's assumptions.
    """

    gap: float
    violation: float

    @property
    def worse(self):
        """Float or ndarray: the larger of the two."""
        return np.maximum(self.gap, self.violation)


def growth(z):
    r"""Compute :math:`\phi(z) = (e^z - 1 - z)/z^2`, with :math:`\phi(0) = 1/2` (step 3.2).

    Parameters
    ----------
    z : array_like, float
        At least zero.

    Returns
    -------
    ndarray, float64
        Infinite where it overflows.

    Examples
    --------
    >>> growth([0, 1]).round(4)  # 1/2 and e - 2
    array([0.5   , 0.7183])
    """
    z = np.asarray(z, dtype=np.float64)
    small = z < 1e-2
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        large = (np.expm1(z) - z) / z**2
        large = np.where(np.isnan(large), np.inf, large)
    return np.where(small, 0.5 + z / 6 + z**2 / 24 + z**3 / 120, large)


def primal_regrets(estimates, primal_step, dual_step, iterations, cap):
    r"""Both ways to bound the Lagrangian's regret (steps 3.3 and 3.5).

    :math:`E\sum_t\mathrm{gap}_L^t \le K + \eta_1C\sum_tE(1+\lambda^t)^2 +
    \frac\omega{1-\gamma}\sum_tE(1+\lambda^t)`.

    Parameters
    ----------
    estimates : Estimates
        What is known of the estimates.
    primal_step, dual_step, iterations : array_like, float
        :math:`\eta_1, \eta_2, T`, positive.
    cap : float
        :math:`\bar\sigma`, the largest multiplier.

    Returns
    -------
    tuple of tuple of ndarray, float64
        :math:`(K, C)` of the one and of the other way.
    """
    e, stretch = estimates, 1 / (1 - estimates.discount)
    exponent = 2 * primal_step * stretch * (1 + cap) * e.largest
    # Where nothing varies, the spread is zero, and the growth may be infinite.
    varied = growth(exponent) * e.spread if e.spread else np.zeros_like(exponent)
    first = stretch**2 * np.minimum(e.largest**2 / 2, varied)
    start = math.log(e.actions) / primal_step
    drift = 1 + dual_step * math.sqrt(e.excess_square) * iterations
    second = stretch**3 * e.error_square / 8
    return (start, first), (start + e.value_bound * stretch * drift, second)


def theorem_1(estimates, primal_step, dual_step, iterations, cap, multiplier):
    r"""Theorem 1, corrected.

    Parameters
    ----------
    estimates, primal_step, dual_step, iterations, cap
        As for :func:`primal_regrets`.
    multiplier : float
        :math:`\lambda^\star`, or an upper bound of it, below the cap.

    Returns
    -------
    Bound

    Examples
    --------
    >>> import pgpd_hf
    >>> from replication.theory.estimates import make_estimates
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> setting = pgpd_hf.algorithms.Setting(evaluators=64, iterations=1000)
    >>> estimates = make_estimates(cmdp, setting)
    >>> steps = rate_steps(estimates, 10**6, cap=2.0)
    >>> bound = theorem_1(estimates, *steps, 10**6, cap=2.0, multiplier=0.51)
    >>> round(float(bound.gap), 2)  # mostly from the answers' bias, which falls with M
    6.37
    """
    require_cap(cap, multiplier)
    e, stretch = estimates, 1 / (1 - estimates.discount)
    regret = np.minimum(
        *(
            constant / iterations + primal_step * (1 + cap) ** 2 * curvature
            for constant, curvature in primal_regrets(e, primal_step, dual_step, iterations, cap)
        )
    )
    regret = regret + (1 + cap) * e.primal_bias * stretch
    gap = regret + dual_step * e.excess_square / 2 + cap * e.dual_bias
    fluctuation = cap / 2 * np.sqrt(e.excess_round_variance / (e.pairs * iterations))
    total = gap + cap**2 / (2 * dual_step * iterations) + fluctuation
    return Bound(gap, total / (cap - multiplier))


def theorem_1_prime(estimates, primal_step, dual_step, iterations, cap, multiplier):
    r"""Theorem 1', in which :math:`\lambda^\star` takes the place of the cap (step 3.9).

    Parameters
    ----------
    estimates, primal_step, dual_step, iterations, cap, multiplier
        As for :func:`theorem_1`.

    Returns
    -------
    Bound
        Infinite where :math:`2\eta_1\eta_2TC \ge 1`.
    """
    require_cap(cap, multiplier)
    ways = primal_regrets(estimates, primal_step, dual_step, iterations, cap)
    bounds = [
        _from_distance(estimates, way, primal_step, dual_step, iterations, cap, multiplier)
        for way in ways
    ]
    return Bound(*(np.minimum(*pair) for pair in zip(*bounds, strict=True)))


def multiplier_distance(estimates, way, primal_step, dual_step, iterations, cap, multiplier):
    r"""Bound :math:`\bar w` of the root of :math:`E(\lambda^t-\lambda^\star)^2` (step 3.9).

    Parameters
    ----------
    estimates, primal_step, dual_step, iterations, cap, multiplier
        As for :func:`theorem_1`.
    way : tuple of ndarray
        One of :func:`primal_regrets`.

    Returns
    -------
    ndarray, float64
        At most the distance between :math:`\lambda^\star` and the ends of the range.
    """
    e, (constant, curvature) = estimates, way
    bias, near = e.primal_bias / (1 - e.discount), 1 + multiplier
    rate, noise = 2 * dual_step * iterations, primal_step * curvature
    with np.errstate(divide="ignore", invalid="ignore"):
        square = 1 - rate * noise
        linear = rate * (2 * noise * near + bias + e.dual_bias)
        rest = (
            multiplier**2 + 2 * dual_step * constant + dual_step**2 * e.excess_square * iterations
        )
        rest = rest + rate * (noise * near**2 + near * bias)
        root = (linear + np.sqrt(linear**2 + 4 * square * rest)) / (2 * square)
    return np.where(square > 0, np.minimum(root, max(cap - multiplier, multiplier)), np.inf)


def _from_distance(e, way, primal_step, dual_step, iterations, cap, multiplier):
    found = multiplier_distance(e, way, primal_step, dual_step, iterations, cap, multiplier)
    outside = np.isinf(found)
    distance = np.where(outside, 0.0, found)  # infinity times a bias of zero is not a number
    constant, curvature = way
    reach = 1 + multiplier + distance
    base = constant / iterations + primal_step * curvature * reach**2
    base = base + reach * e.primal_bias / (1 - e.discount) + dual_step * e.excess_square / 2
    gap = base + (multiplier + distance) * e.dual_bias
    # Minimize {base + (l + distance) beta_c + l^2/(2 eta_2 T) + l f}/(l - multiplier) over l.
    quadratic = 1 / (2 * dual_step * iterations)
    slope = e.dual_bias + np.sqrt(e.excess_round_variance / (e.pairs * iterations)) / 2
    at = base + distance * e.dual_bias + multiplier * slope + multiplier**2 * quadratic
    room = np.minimum(np.sqrt(at / quadratic), cap - multiplier)
    violation = at / room + slope + 2 * multiplier * quadratic + quadratic * room
    return Bound(np.where(outside, np.inf, gap), np.where(outside, np.inf, violation))


def rate_steps(estimates, iterations, cap):
    r"""Step sizes with which Theorem 1 has its rate (step 3.8).

    Parameters
    ----------
    estimates : Estimates
        What is known of the estimates.
    iterations : float
        T.
    cap : float
        :math:`\bar\sigma`.

    Returns
    -------
    primal_step, dual_step : float
        :math:`\eta_1 = \frac{(1-\gamma)\sqrt{\log|A|/T}}{1+\bar\sigma}
        \max\{\frac{\sqrt2}X, \frac1{\sqrt{(e-2)W}}\}`, the latter only where its condition on T is
        met, and :math:`\eta_2 = \bar\sigma/(\bar h\sqrt T)`.

    Raises
    ------
    OutsideAssumptions
        If there is one action only: then :math:`\eta_1` is zero, and nothing is learned.

    Examples
    --------
    >>> import pgpd_hf
    >>> from replication.theory.estimates import make_estimates
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> setting = pgpd_hf.algorithms.Setting(evaluators=64, iterations=1000)
    >>> estimates = make_estimates(cmdp, setting)
    >>> primal_step, dual_step = rate_steps(estimates, iterations=10**6, cap=2.0)
    >>> round(primal_step, 7), round(dual_step, 5)
    (5.55e-05, 0.00252)
    """
    e, c = estimates, math.e - 2
    if e.actions == 1:
        raise OutsideAssumptions("actions: |A| >= 2 expected, got 1")
    inverse = math.sqrt(2) / e.largest
    if e.spread and iterations >= 4 * e.largest**2 * math.log(e.actions) / (c * e.spread):
        inverse = max(inverse, 1 / math.sqrt(c * e.spread))
    root = math.sqrt(math.log(e.actions) / iterations)
    primal_step = (1 - e.discount) * root * inverse / (1 + cap)
    return primal_step, cap / math.sqrt(e.excess_square * iterations)


def high_probability(estimates, primal_step, dual_step, iterations, cap, multiplier, error=0.05):
    r"""Bounds that hold for one run, both at once, up to a probability (step 3.10).

    Parameters
    ----------
    estimates, primal_step, dual_step, iterations, cap, multiplier
        As for :func:`theorem_1`.
    error : float
        :math:`\delta \in (0, 1)`.

    Returns
    -------
    Bound
        Bounds of :math:`V_r^\star-\bar V_r` and :math:`[b-\bar V_g]_+` of the run; they hold with
        probability at least :math:`1-\delta`.
    """
    require_cap(cap, multiplier)
    e, stretch, x = estimates, 1 / (1 - estimates.discount), estimates.largest
    steps = math.log(e.actions) / (primal_step * iterations) + dual_step * x**2 / 2
    steps = steps + primal_step * ((1 + cap) * x * stretch) ** 2 / 2
    biases = (1 + cap) * e.primal_bias * stretch + cap * e.dual_bias
    range_ = 4 * (1 + cap) * x * stretch + 2 * cap * x
    gap = steps + biases + range_ * np.sqrt(math.log(3 / error) / (2 * e.pairs * iterations))
    return Bound(gap, (gap + cap**2 / (2 * dual_step * iterations)) / (cap - multiplier))


def best_steps(statement, iterations):
    r"""Step sizes that make the larger of two bounds small, and the bounds with them.

    Parameters
    ----------
    statement : callable
        Takes :math:`\eta_1, \eta_2` (arrays) and T, and returns a :class:`Bound`.
    iterations : float
        T.

    Returns
    -------
    steps : tuple of float
        :math:`\eta_1` and :math:`\eta_2`, by a grid that is refined six times. Any steps give a
        bound that holds; these give nearly the smallest.
    bound : Bound
        With them.

    Examples
    --------
    >>> def statement(primal_step, dual_step, length):
    ...     gap = 1 / (primal_step * length) + primal_step
    ...     return Bound(gap, 1 / (dual_step * length) + 4 * dual_step)
    >>> _, bound = best_steps(statement, 100)
    >>> round(float(bound.worse), 4)  # the second bound is 0.4 at best
    0.4
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
    """First T at which a bound is at most a level.

    Parameters
    ----------
    bound : callable
        From T to a number that does not increase with T.
    level : float
        In units of value.

    Returns
    -------
    float
        T, to 1.2 % from above; infinite if the bound is above the level at T = 10^12.

    Examples
    --------
    >>> import math
    >>> round(first_length(lambda length: 10 / math.sqrt(length), level=0.1))  # 10^4, from above
    10045
    """
    low, high = 0.0, _LONGEST
    if bound(1.0) <= level:
        return 1.0
    if bound(10**high) > level:
        return math.inf
    while high - low > _PRECISION:
        middle = (low + high) / 2
        low, high = (low, middle) if bound(10**middle) <= level else (middle, high)
    return 10**high


def require_cap(cap, multiplier):
    """Check that the cap is above the multiplier, as all bounds of the violation require.

    Parameters
    ----------
    cap, multiplier : float
        The largest multiplier of the runs, and the optimal one.

    Raises
    ------
    OutsideAssumptions
        Unless it is.
    """
    if not cap > multiplier:
        raise OutsideAssumptions(
            f"multiplier_bound: a cap above lambda* = {multiplier:.6g} expected, got {cap:.6g}"
        )
