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

_LONGEST = 12.0  # So many decades of T are searched.
_PRECISION = 0.005  # The search ends with so many decades between its ends.
_GRID = np.linspace(-1, 1, 25)


class Bound(NamedTuple):
    """Bounds of the average gap and of the violation, infinite outside the assumptions."""

    gap: float
    violation: float

    @property
    def worse(self):
        """Float or ndarray: the larger of the two."""
        return np.maximum(self.gap, self.violation)


def growth(z):
    r""":math:`\phi(z) = (e^z - 1 - z)/z^2`, with :math:`\phi(0) = 1/2`, for z >= 0 (step 3.2)."""
    z = np.asarray(z, dtype=np.float64)
    small = z < 1e-2
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        large = (np.expm1(z) - z) / z**2
        large = np.where(np.isnan(large), np.inf, large)
    return np.where(small, 0.5 + z / 6 + z**2 / 24 + z**3 / 120, large)


def primal_regrets(estimates, primal_step, dual_step, iterations, cap):
    """K and C of both ways to bound the Lagrangian's regret (steps 3.3 and 3.5)."""
    # The expected sum of its gaps is at most K + eta_1 C sum_t E(1 + lambda^t)^2
    # + omega/(1 - gamma) sum_t E(1 + lambda^t).
    e, stretch = estimates, 1 / (1 - estimates.discount)
    exponent = 2 * primal_step * stretch * (1 + cap) * e.largest
    # Where nothing varies, the spread is zero, and the growth may be infinite.
    varied = growth(exponent) * e.spread if e.spread else np.zeros_like(exponent)
    first = stretch**2 * np.minimum(e.largest**2 / 2, varied)
    start = math.log(e.actions) / primal_step
    drift = 1 + dual_step * math.sqrt(e.excess_square) * iterations
    second = stretch**3 * e.error_square / 8
    return (start, first), (start + e.value_bound * stretch * drift, second)


def oscillations(run):
    r"""Oscillation :math:`\max_s \mathrm{osc}(e^t(s, \cdot))` of the advantages' errors, (T,)."""
    return np.ptp(run.errors(), axis=-1).max(-1)


def one_step(run, start):
    """Terms of the one-step inequality that replaces Lemma:nonmonotone (line 1878), each (T,)."""
    # It holds on every path and for every mu: gain + variance >= logarithm, which are
    # V_L^{t+1}(mu) - V_L^t(mu), eta_1/(8 (1 - gamma)^2) max_s osc(e^t(s, .))^2 and
    # (1 - gamma)/eta_1 E_mu log Z~ of A~ = A^_L - <pi^t, A^_L>. Pinsker's inequality bounds
    # <pi^{t+1} - pi^t, e> by the Kullback-Leibler divergence that the paper's proof drops.
    primal_step, cmdp = run.algorithm.primal_step, run.algorithm.cmdp
    stretch = 1 / (1 - cmdp.discount)
    signals = cmdp.reward, cmdp.utility
    values = [cmdp.state_values(run.policies, signal) @ start for signal in signals]
    gain = run.lagrangian([np.diff(value) for value in values])
    variance = primal_step * stretch**2 / 8 * oscillations(run) ** 2
    step = primal_step * stretch
    return gain, variance, run.log_normalizers(step) @ start / step


def theorem_1(estimates, primal_step, dual_step, iterations, cap, multiplier):
    """Theorem 1, corrected, for a `multiplier` of lambda*, or an upper bound of it."""
    e, stretch = estimates, 1 / (1 - estimates.discount)
    regret = np.minimum(
        *(
            constant / iterations + primal_step * (1 + cap) ** 2 * curvature
            for constant, curvature in primal_regrets(e, primal_step, dual_step, iterations, cap)
        )
    )
    regret = regret + (1 + cap) * e.primal_bias * stretch
    return bounds_from_regret(e, regret, dual_step, iterations, cap, multiplier)


def bounds_from_regret(estimates, regret, dual_step, iterations, cap, multiplier):
    """Both bounds that follow from one of the Lagrangian's average regret (steps 3.6 and 3.7)."""
    require_cap(cap, multiplier)
    e = estimates
    gap = regret + dual_step * e.excess_square / 2 + cap * e.dual_bias
    fluctuation = cap / 2 * np.sqrt(e.excess_round_variance / (e.rounds * iterations))
    total = gap + cap**2 / (2 * dual_step * iterations) + fluctuation
    return Bound(gap, total / (cap - multiplier))


def theorem_1_prime(estimates, primal_step, dual_step, iterations, cap, multiplier):
    r"""Theorem 1', in which :math:`\lambda^\star` takes the place of the cap (step 3.9)."""
    # Infinite where 2 eta_1 eta_2 T C >= 1.
    require_cap(cap, multiplier)
    ways = primal_regrets(estimates, primal_step, dual_step, iterations, cap)
    bounds = [
        _from_distance(estimates, way, primal_step, dual_step, iterations, cap, multiplier)
        for way in ways
    ]
    return Bound(*(np.minimum(*pair) for pair in zip(*bounds, strict=True)))


def multiplier_distance(estimates, way, primal_step, dual_step, iterations, cap, multiplier):
    r"""Bound :math:`\bar w` of the root of :math:`E(\lambda^t-\lambda^\star)^2` (step 3.9)."""
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
    slope = e.dual_bias + np.sqrt(e.excess_round_variance / (e.rounds * iterations)) / 2
    at = base + distance * e.dual_bias + multiplier * slope + multiplier**2 * quadratic
    room = np.minimum(np.sqrt(at / quadratic), cap - multiplier)
    violation = at / room + slope + 2 * multiplier * quadratic + quadratic * room
    return Bound(np.where(outside, np.inf, gap), np.where(outside, np.inf, violation))


def rate_steps(estimates, iterations, cap):
    """Step sizes with which Theorem 1 has its rate (step 3.8)."""
    # eta_1 = (1 - gamma) sqrt(log|A|/T)/(1 + cap) max{sqrt(2)/X, 1/sqrt((e - 2) W)}, the latter
    # only where its condition on T is met, and eta_2 = cap/(h sqrt(T)).
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
    """Bounds that hold for one run, both at once, with a probability of 1 - `error` (step 3.10)."""
    require_cap(cap, multiplier)
    e, stretch, x = estimates, 1 / (1 - estimates.discount), estimates.largest
    steps = math.log(e.actions) / (primal_step * iterations) + dual_step * x**2 / 2
    steps = steps + primal_step * ((1 + cap) * x * stretch) ** 2 / 2
    biases = (1 + cap) * e.primal_bias * stretch + cap * e.dual_bias
    range_ = 4 * (1 + cap) * x * stretch + 2 * cap * x
    gap = steps + biases + range_ * np.sqrt(math.log(3 / error) / (2 * e.rounds * iterations))
    return Bound(gap, (gap + cap**2 / (2 * dual_step * iterations)) / (cap - multiplier))


def best_steps(statement, iterations):
    """Step sizes that make the larger of two bounds small, and the bounds with them."""
    # A grid is refined six times. Any steps give a bound that holds; these give nearly the
    # smallest.
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
    """Refuse a cap that is not above the multiplier, as all bounds of the violation require."""
    if not cap > multiplier:
        raise OutsideAssumptions(
            f"multiplier_bound: a cap above lambda* = {multiplier:.6g} expected, got {cap:.6g}"
        )
