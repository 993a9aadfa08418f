r"""Simulated evaluators: link functions, votes, and the estimates that are made from votes.

Each of M evaluators votes for the second of two trajectories with probability
:math:`\sigma(\Delta)`, independently; :math:`\Delta` is its return less that of the first, or less
b where a single one is judged. From k votes both algorithms estimate :math:`\Delta` as
:math:`\sigma^{-1}(\mathrm{clip}[k/M])` (Algorithm 1, lines 8-12, 15-17 and 19-20; Algorithm 2,
lines 8-12, 14 and 15). These M + 1 numbers are tabulated.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special

from pgpd_hf.compilation import njit
from pgpd_hf.streams import derived_word
from pgpd_hf.trajectories import Tables, make_tables

ESTIMATORS = ("plug-in", "unbiased")
LOGISTIC, PROBIT, _CAUCHY = range(3)  # codes of links, in kernels
INFINITELY_MANY = 0  # in kernels, instead of None
MOST_EVALUATORS = 10**7  # their table takes 80 MB
# Unbiased estimates are a series. Shares of the largest difference: a remainder at which the
# series may end, and a remainder at which the estimator is refused.
_HIGHEST_DEGREE, _NEGLIGIBLE, _LARGEST_REMAINDER = 255, 1e-6, 0.1
_ALL = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class Link:
    r"""A link function :math:`\sigma`, from a difference of returns to the chance of a vote."""

    code: int  # in kernels
    inverse: Callable  # of shares of votes; infinite, or nearly, at 0 and 1
    density: Callable  # sigma', of a float

    def inverse_lipschitz(self, bound):
        r"""Lipschitz constant L of the inverse on :math:`[\sigma(-B), \sigma(B)]` (Assumption 2.1).

        It is :math:`1/\sigma'(B)`, since densities of all links are symmetric and unimodal.
        """
        try:
            return 1 / self.density(bound)
        except (OverflowError, ZeroDivisionError):
            return math.inf


LINKS = {
    "logistic": Link(LOGISTIC, special.logit, lambda x: 1 / (2 + 2 * math.cosh(x))),
    "probit": Link(PROBIT, special.ndtri, lambda x: math.exp(-x * x / 2) / math.sqrt(math.tau)),
    "cauchy": Link(
        _CAUCHY, lambda p: np.tan(math.pi * (p - 0.5)), lambda x: 1 / (math.pi * (1 + x * x))
    ),
}


@njit
def vote_probability(link, x):
    r"""Probability :math:`\sigma(x)` of a vote in favour; `link` is a link's code."""
    if link == LOGISTIC:
        return 1 / (1 + math.exp(-x))
    if link == PROBIT:
        return 0.5 * math.erfc(-x / math.sqrt(2))
    return 0.5 + math.atan(x) / math.pi


class Evaluators(NamedTuple):
    """M evaluators who vote alike."""

    number: int  # M; 0 stands for infinitely many
    link: int  # code of their link function
    random_answers: float  # share of answers at random; 2 stands for all answers reversed
    estimate: np.ndarray  # (M + 1,): the difference that is estimated from each number of votes


def make_evaluators(evaluators, link, bound, estimator="plug-in", random_answers=0.0):
    """Tabulate the estimates of M evaluators; plug-in estimates are clipped at the bound B.

    `link` is a key of :data:`LINKS`; an unbiased estimator whose bias may be large is refused.
    """
    chosen = LINKS[link]
    if evaluators is None:
        return Evaluators(INFINITELY_MANY, chosen.code, 0.0, np.zeros(1))
    shares = np.arange(evaluators + 1) / evaluators
    estimate = np.clip(chosen.inverse(shares), -bound, bound)
    if estimator == "unbiased":
        if link != "logistic":
            raise ValueError(f"estimator: plug-in expected with the {link} link")
        estimate, remainder = unbiased_estimates(evaluators, bound)
        if remainder > _LARGEST_REMAINDER * bound:
            told = f"with M = {evaluators} the other may have a bias of {remainder:.3g}"
            raise ValueError(f"estimator: plug-in expected, since {told}")
    return Evaluators(evaluators, chosen.code, random_answers, estimate)


def unbiased_estimates(evaluators, bound):
    r"""Tabulate estimates (M + 1,) without bias from logistic votes, and the bias that remains.

    Over odd j, :math:`\Delta = \sum_j 2 y^j / j` with :math:`y = 2\sigma(\Delta) - 1`. The mean
    :math:`U_j(k)` over all sets of j evaluators of the product of their votes, counted as
    :math:`\pm 1`, estimates :math:`y^j` without bias: :math:`x_k = \sum_{j \le m} 2 U_j(k) / j`
    (publication/note.typ, Lemma 5.1). The degree m is the first at which the rest of the series is
    below a millionth of B, at most 255, and at most (M + 1)/2: since :math:`U_{M-j} = U_M U_j`,
    further terms repeat earlier ones with a random sign.
    """
    degrees = np.arange(1, min((evaluators + 1) // 2, _HIGHEST_DEGREE) + 1, 2)
    coefficients = 2 / degrees
    mean = 2 * vote_probability(LOGISTIC, bound) - 1
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
    r"""Bound of an estimate's bias, :math:`\beta = L\sqrt{2\log M/M} + 2B/M^2`.

    Line 963 of the paper's LaTeX source. It is zero for infinitely many evaluators; `link` is a
    :class:`Link`.
    """
    if evaluators is None:
        return 0.0
    if evaluators == 1:  # the logarithm is zero, whatever L is
        return 2 * bound
    root = math.sqrt(2 * math.log(evaluators) / evaluators)
    return link.inverse_lipschitz(bound) * root + 2 * bound / evaluators**2


@njit
def ask(evaluators, difference, word):
    """Put a question to all evaluators, and estimate the difference from their votes."""
    if evaluators.number == INFINITELY_MANY:
        return difference
    chance = vote_probability(evaluators.link, difference)
    chance += evaluators.random_answers * (0.5 - chance)
    return evaluators.estimate[count_votes(evaluators.number, chance, word)]


@njit
def count_votes(number, chance, word):
    """Draw the number of votes in favour, Binomial(M, chance), from a word of 64 random bits.

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
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


class Simulator(NamedTuple):
    """What kernels know of a run: a CMDP to sample from, evaluators, N, H and b."""

    tables: Tables
    evaluators: Evaluators
    rounds: int
    horizon: int
    threshold: float


def make_simulator(cmdp, rounds, horizon, evaluators, link, *options):
    """Simulator of a run; `options` are estimator and random_answers, for make_evaluators."""
    bound = cmdp.return_bound(horizon)
    panel = make_evaluators(evaluators, link, bound, *options)
    return Simulator(make_tables(cmdp), panel, rounds, horizon, cmdp.threshold)
