r"""Simulated evaluators: M binary votes per question, and the estimates made from them.

Asked to compare two trajectories whose returns differ by :math:`\Delta`, each evaluator
independently votes for the first with probability :math:`\sigma(\Delta)`. From k votes both
algorithms estimate :math:`\Delta` as :math:`\sigma^{-1}(\mathrm{clip}[k/M])` (Algorithm 1, lines
8-12, 15-17 and 19-20; Algorithm 2, lines 8-12, 14 and 15): one of M + 1 numbers, which are
tabulated. The question whether a trajectory is harmless compares :math:`R_g^H(\tau)` with
:math:`b` in the same way.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.links import probability
from pgpd_hf.core.streams import derived_word

_INFINITELY_MANY = 0  # as a number of evaluators in kernels, which know no None
_MOST = 10**7  # evaluators: their table takes 80 MB, a question to them 0.4 ms
_ALL = np.uint64(2**64 - 1)


class Evaluators(NamedTuple):
    """M evaluators who share a link function.

    Attributes
    ----------
    number : int
        M; 0 stands for infinitely many.
    link : int
        Code of the link function.
    estimate : ndarray, float64, shape (M + 1,)
        For each number of votes k, the inverse link of the clipped frequency k / M.
    """

    number: int
    link: int
    estimate: np.ndarray


def make_evaluators(evaluators, link, bound):
    r"""Tabulate the estimates of M evaluators.

    Parameters
    ----------
    evaluators : int or None
        M >= 1; None stands for infinitely many.
    link : Link
        How they vote.
    bound : float
        Frequencies are clipped to :math:`[\sigma(-B), \sigma(B)]`; the paper's B is :math:`G(H)`.

    Returns
    -------
    Evaluators

    Raises
    ------
    ValueError
        If there are too many evaluators for a table.

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.core.evaluators import make_evaluators
    >>> make_evaluators(4, LINKS["logistic"], bound=2.0).estimate.round(3).tolist()
    [-2.0, -1.099, 0.0, 1.099, 2.0]
    """
    if evaluators is None:
        return Evaluators(_INFINITELY_MANY, link.code, np.zeros(1))
    require_integer("evaluators", evaluators, 1, _MOST)
    estimate = link.clipped_inverse(np.arange(evaluators + 1) / evaluators, bound)
    return Evaluators(evaluators, link.code, estimate)


def feedback_bias_bound(evaluators, link, bound):
    r"""Bound of the bias of estimates from M votes: :math:`L\sqrt{2\log M/M} + 2B/M^2` (line 963).

    Parameters
    ----------
    evaluators : int or None
        M >= 1; None stands for infinitely many.
    link : Link
        Its inverse has the Lipschitz constant :math:`L` on :math:`[\sigma(-B), \sigma(B)]`.
    bound : float
        Where estimates are clipped; the paper's B is :math:`G(H)`.

    Returns
    -------
    float
        The paper's :math:`\beta`, in units of return; 0 for infinitely many evaluators.

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.core.evaluators import feedback_bias_bound
    >>> round(feedback_bias_bound(256, LINKS["logistic"], bound=1.0), 4)
    1.0587
    >>> feedback_bias_bound(None, LINKS["logistic"], bound=1.0)
    0.0
    """
    if evaluators is None:
        return 0.0
    root = math.sqrt(2 * math.log(evaluators) / evaluators)
    return link.inverse_lipschitz(bound) * root + 2 * bound / evaluators**2


@njit
def ask(evaluators, difference, word):
    """Put one question to all evaluators and estimate the difference from their votes.

    Parameters
    ----------
    evaluators : Evaluators
        The evaluators.
    difference : float
        Between two returns, or between a return and the threshold.
    word : uint64
        Random bits.

    Returns
    -------
    float
        The estimate; with infinitely many evaluators, `difference` itself.
    """
    if evaluators.number == _INFINITELY_MANY:
        return difference
    chance = probability(evaluators.link, difference)
    return evaluators.estimate[count_votes(evaluators.number, chance, word)]


@njit
def count_votes(evaluators, chance, word):
    """Draw the number of votes in favour.

    An evaluator votes in favour if a uniform number is less than the chance. Their binary digits
    are drawn one after the other, 64 evaluators in each random word, only for those whose digits
    have all been equal to those of the chance: half of them are decided with every digit. This
    needs about log2(M) + 2 words up to M = 64, and M / 32 beyond, whatever the chance (measured for
    M = 64: less than half of the time that inversion takes).

    Parameters
    ----------
    evaluators : int
        M >= 1.
    chance : float
        Probability of a vote in favour; used to 64 binary digits.
    word : uint64
        Random bits, from which further ones are derived.

    Returns
    -------
    int
        In [0, M]; Binomial(M, chance) if the bits are uniform.
    """
    if chance >= 1:
        return evaluators
    digits = np.uint64(chance * 2.0**64)  # the next one is the uppermost bit
    undecided, votes, index = evaluators, 0, np.uint64(0)
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
    # The last 64 have a lane each.
    lanes, favourable = _first_bits(undecided), np.uint64(0)
    while lanes != 0 and digits != 0:
        index += np.uint64(1)
        digit = np.uint64(0) - (digits >> np.uint64(63))  # in all lanes
        decided = lanes & (derived_word(word, index) ^ digit)
        favourable |= decided & digit
        lanes ^= decided
        digits <<= np.uint64(1)
    return votes + _count_ones(favourable)


@njit
def _first_bits(count):
    """Word in which the first bits are set: `count` of them, or all 64 if there are no more."""
    return _ALL >> np.uint64(64 - min(count, 64)) if count > 0 else np.uint64(0)


@njit
def _count_ones(word):
    """Number of bits that are set, by sums of neighbours; the compiler knows the pattern."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))
