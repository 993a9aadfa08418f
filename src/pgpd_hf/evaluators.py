r"""Simulated evaluators: link functions, votes, and the estimates that are made from votes.

Asked to compare two trajectories whose returns differ by :math:`\Delta`, each of M evaluators votes
for the first with probability :math:`\sigma(\Delta)`, independently. From k votes both algorithms
estimate :math:`\Delta` as :math:`\sigma^{-1}(\mathrm{clip}[k/M])` (Algorithm 1, lines 8-12, 15-17
and 19-20; Algorithm 2, lines 8-12, 14 and 15): one of M + 1 numbers, which are tabulated. The
question whether a trajectory is harmless compares :math:`R_g^H(\tau)` with b in the same way.

Assumption 2.1 of the paper asks for a continuous, strictly increasing :math:`\sigma` with
:math:`\sigma(0) = 1/2` whose inverse is Lipschitz on :math:`[\sigma(-B), \sigma(B)]`. All links
here are distribution functions of symmetric unimodal densities, so the Lipschitz constant is
:math:`1/\sigma'(B)`. Their inverses have power series in :math:`y = 2p - 1` with positive
coefficients, :math:`\sigma^{-1}((1 + y)/2) = c_1 y + c_3 y^3 + \dots` for :math:`|y| < 1`.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from pgpd_hf.arguments import require_integer, require_one_of
from pgpd_hf.compilation import njit
from pgpd_hf.streams import derived_word
from pgpd_hf.trajectories import Tables, make_tables

ESTIMATORS = ("plug-in", "unbiased")
_LOGISTIC, _PROBIT, _CAUCHY = range(3)
_INFINITELY_MANY = 0  # stands for None in kernels, which only know numbers
_MOST = 10**7  # evaluators: their table takes 80 MB
_HIGHEST_DEGREE = 255  # of the series of unbiased estimates
_NEGLIGIBLE = 1e-6  # remainder at which the series ends, as a share of the largest difference
_LARGEST_REMAINDER = 0.1  # share of the largest difference beyond which the estimator is refused
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Link:
    r"""A link function :math:`\sigma`, from a difference of returns to the chance of a vote."""

    name: str
    code: int  # in kernels
    inverse: Callable  # of shares of votes; infinite at 0 and 1
    density: Callable  # sigma', of a float
    series: Callable  # from a number of terms to the coefficients c_1, c_3, ...

    def inverse_lipschitz(self, bound):
        r"""Lipschitz constant L of the inverse on :math:`[\sigma(-B), \sigma(B)]`."""
        try:
            return 1 / self.density(bound)
        except (OverflowError, ZeroDivisionError):
            return math.inf


def _inverse_cauchy(share):
    ends = (share == 0) | (share == 1)
    return np.where(ends, np.copysign(np.inf, share - 0.5), np.tan(math.pi * (share - 0.5)))


def _logistic_series(terms):
    """Coefficients of 2 artanh(y)."""
    return 2 / np.arange(1, 2 * terms, 2)


def _probit_series(terms):
    r"""Coefficients of :math:`\sqrt2\,\mathrm{erf}^{-1}(y)`.

    For :math:`f(z) = \mathrm{erf}^{-1}(2z/\sqrt\pi) = \sum_k b_k z^{2k+1}/(2k+1)` the equation
    :math:`f'' = 2 f f'^2` gives :math:`b_k = \sum_{i<k} b_i b_{k-1-i} / ((i+1)(2i+1))`.
    """
    b, index = np.ones(terms), np.arange(terms)
    weight = 1 / ((index + 1) * (2 * index + 1))
    for k in range(1, terms):
        b[k] = (weight * b)[:k] @ b[k - 1 :: -1]
    degree = 2 * index + 1
    return math.sqrt(2) * b / degree * (math.sqrt(math.pi) / 2) ** degree


def _cauchy_series(terms):
    r"""Coefficients of :math:`\tan(\pi y/2)`: :math:`4/\pi` times the sum of 1/n^(j+1), n odd."""
    power = np.arange(2, 2 * terms + 1, 2)
    return 4 / math.pi * (1 - 0.5**power) * special.zeta(power)


_DENSITIES = (
    lambda x: 1 / (2 + 2 * math.cosh(x)),
    lambda x: math.exp(-x * x / 2) / math.sqrt(2 * math.pi),
    lambda x: 1 / (math.pi * (1 + x * x)),
)
LINKS = {
    "logistic": Link("logistic", _LOGISTIC, special.logit, _DENSITIES[0], _logistic_series),
    "probit": Link("probit", _PROBIT, special.ndtri, _DENSITIES[1], _probit_series),
    "cauchy": Link("cauchy", _CAUCHY, _inverse_cauchy, _DENSITIES[2], _cauchy_series),
}


@njit
def vote_probability(link, x):
    r"""Probability :math:`\sigma(x)` of a vote in favour; `link` is a link's code."""
    if link == _LOGISTIC:
        return 1 / (1 + math.exp(-x))
    if link == _PROBIT:
        return 0.5 * math.erfc(-x / math.sqrt(2))
    return 0.5 + math.atan(x) / math.pi


class Evaluators(NamedTuple):
    """M evaluators who vote alike."""

    number: int  # M; 0 stands for infinitely many
    link: int  # code of their link function
    random_answers: float  # share of answers at random; 2 stands for all answers reversed
    estimate: np.ndarray  # (M + 1,): the difference that is estimated from each number of votes


def make_evaluators(evaluators, link, bound, estimator="plug-in", random_answers=0.0):
    """Tabulate the estimates of M evaluators; B is where the plug-in estimator is clipped.

    An unbiased estimator whose bias may exceed a tenth of B is refused.
    """
    link = LINKS[require_one_of("link", link, LINKS)]
    if evaluators is None:
        return Evaluators(_INFINITELY_MANY, link.code, 0.0, np.zeros(1))
    evaluators = require_integer("evaluators", evaluators, 1, _MOST)
    if estimator == "plug-in":
        shares = np.arange(evaluators + 1) / evaluators
        estimate = np.clip(link.inverse(shares), -bound, bound)
    else:
        estimate, remainder = unbiased_estimates(evaluators, link, bound)
        if remainder > _LARGEST_REMAINDER * bound:
            raise ValueError(
                f"estimator: plug-in expected, since the unbiased one of {evaluators} evaluators "
                f"and the {link.name} link may have a bias of {remainder:.3g}"
            )
    return Evaluators(evaluators, link.code, random_answers, estimate)


def unbiased_estimates(evaluators, link, bound):
    r"""Tabulate estimates whose mean is the difference, up to the remainder of a series.

    Count votes as :math:`\pm 1`, with mean :math:`y = 2\sigma(\Delta) - 1`. The products of the
    votes of j evaluators have the mean :math:`y^j`, and so has their mean over all sets of j
    evaluators, the U-statistic :math:`U_j(k)`. So :math:`x_k = \sum_{j \le m} c_j U_j(k)`, over odd
    j, has the bias :math:`-\sum_{j > m} c_j y^j`, largest where :math:`\Delta = \pm B`.

    The degree m is the first at which this bias is below a millionth of B, and at most (M + 1)/2:
    since :math:`U_{M-j} = U_M U_j`, terms beyond repeat earlier ones with a random sign.

    The result is the estimates (M + 1,), not clipped, which would bias them again, and the largest
    bias.
    """
    degrees = np.arange(1, min((evaluators + 1) // 2, _HIGHEST_DEGREE) + 1, 2)
    coefficients = link.series(len(degrees))
    mean = 2 * vote_probability(link.code, bound) - 1
    remainders = bound - np.cumsum(coefficients * mean**degrees)
    enough = np.flatnonzero(remainders <= _NEGLIGIBLE * bound)
    last = enough[0] if len(enough) else len(degrees) - 1

    total = 2.0 * np.arange(evaluators + 1) - evaluators  # of the votes
    previous, current = np.ones(evaluators + 1), total / evaluators  # U_0 and U_1
    estimates = coefficients[0] * current
    for j in range(1, degrees[last]):
        following = (total * current - j * previous) / (evaluators - j)
        previous, current = current, following
        if j % 2 == 0:
            estimates += coefficients[j // 2] * current  # U_{j+1}
    return estimates, float(remainders[last])


def feedback_bias(evaluators, link, bound):
    r"""Bound of an estimate's bias, :math:`\beta = L\sqrt{2\log M/M} + 2B/M^2` (line 963).

    Zero for infinitely many evaluators; `link` is a :class:`Link`.
    """
    if evaluators is None:
        return 0.0
    root = math.sqrt(2 * math.log(evaluators) / evaluators)
    return link.inverse_lipschitz(bound) * root + 2 * bound / evaluators**2


@njit
def ask(evaluators, difference, word):
    """Put a question to all evaluators, and estimate the difference from their votes."""
    if evaluators.number == _INFINITELY_MANY:
        return difference
    chance = vote_probability(evaluators.link, difference)
    chance += evaluators.random_answers * (0.5 - chance)
    return evaluators.estimate[count_votes(evaluators.number, chance, word)]


@njit
def count_votes(number, chance, word):
    """Draw the number of votes in favour from a word: Binomial(M, chance).

    An evaluator votes in favour if a uniform number is less than the chance. Binary digits of these
    numbers are drawn one after the other, 64 evaluators in each further word, until they differ
    from those of the chance: half of the evaluators are decided with every digit.
    """
    if chance >= 1:
        return number
    digits = np.uint64(chance * 2.0**64)  # the next digit is the uppermost bit
    undecided, votes, index = number, 0, np.uint64(0)
    while undecided > 64 and digits != 0:
        ones = 0
        for first in range(0, undecided, 64):
            index += np.uint64(1)
            ones += _count_ones(derived_word(word, index) & _first_bits(undecided - first))
        zeros = undecided - ones
        digit = np.int64(digits >> np.uint64(63))
        votes += digit * zeros  # a smaller digit than that of the chance
        undecided = digit * ones + (1 - digit) * zeros
        digits <<= np.uint64(1)
    lanes, favourable = _first_bits(undecided), np.uint64(0)  # the last 64 have a bit each
    while lanes != 0 and digits != 0:
        for _ in range(4):  # digits that are not needed change nothing, and branches cost more
            index += np.uint64(1)
            digit = np.uint64(0) - (digits >> np.uint64(63))  # in all bits
            decided = lanes & (derived_word(word, index) ^ digit)
            favourable |= decided & digit
            lanes ^= decided
            digits <<= np.uint64(1)
    return votes + _count_ones(favourable)


@njit
def _first_bits(count):
    """Word in which the first bits are set: `count` of them, or all 64."""
    return _ALL >> np.uint64(64 - min(count, 64)) if count > 0 else np.uint64(0)


@njit
def _count_ones(word):
    """Number of bits that are set, by sums of neighbours."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


class Simulator(NamedTuple):
    """What kernels know of a run: a CMDP to sample from, evaluators, N, H and b."""

    tables: Tables
    evaluators: Evaluators
    rounds: int
    horizon: int
    threshold: float


def make_simulator(cmdp, evaluators, rounds, horizon, link, **options):
    """Simulator of a run; options are those of :func:`make_evaluators`."""
    panel = make_evaluators(evaluators, link, cmdp.return_bound(horizon), **options)
    return Simulator(make_tables(cmdp), panel, rounds, horizon, cmdp.threshold)
