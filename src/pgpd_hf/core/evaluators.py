r"""Simulated people: M evaluators, one bit each, and what the algorithms make of their votes.

Asked about two trajectories whose returns differ by :math:`\Delta`, each evaluator independently
votes for the first with probability :math:`\sigma(\Delta)`. The number of votes in favour is
Binomial(M, :math:`\sigma(\Delta)`), and is drawn as such from one random word by inversion. The
algorithms read :math:`\sigma^{-1}(\mathrm{clip}[k/M])` from the k votes in favour (lines 8-12,
15-17 and 19-20 of Algorithm 1; 8-12, 14 and 15 of Algorithm 2), which is a table of M + 1 numbers.
The absolute question compares :math:`R_g^H(\tau)` with :math:`b` in the same way.
"""

from typing import NamedTuple

import numpy as np
from scipy import special

from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.links import probability

_ALL = 0  # evaluators = infinity: the difference itself is known
_MOST = 10**7  # evaluators whose votes have a table: 160 MB


class Crowd(NamedTuple):
    """M evaluators who share a link function.

    Attributes
    ----------
    size : int
        M, or 0 for infinitely many.
    link : int
        Code of the link function.
    log_choose : ndarray, float64, shape (M + 1,)
        Logarithms of the binomial coefficients.
    estimate : ndarray, float64, shape (M + 1,)
        Inverse link of the clipped frequency k / M, for each number k of votes in favour.
    """

    size: int
    link: int
    log_choose: np.ndarray
    estimate: np.ndarray


def make_crowd(evaluators, link, bound):
    r"""Gather M evaluators.

    Parameters
    ----------
    evaluators : int or None
        M >= 1; None stands for infinitely many.
    link : Link
        How they vote.
    bound : float
        Frequencies are clipped to :math:`[\sigma(-B), \sigma(B)]`; the paper's :math:`G(H)`.

    Returns
    -------
    Crowd

    Raises
    ------
    ValueError
        If there are too many evaluators for a table.
    """
    if evaluators is None:
        return Crowd(_ALL, link.code, np.zeros(1), np.zeros(1))
    require_integer("evaluators", evaluators, 1, _MOST)
    votes = np.arange(evaluators + 1)
    log_choose = -np.log(evaluators + 1) - special.betaln(evaluators - votes + 1, votes + 1)
    return Crowd(evaluators, link.code, log_choose, link.clipped_inverse(votes / evaluators, bound))


@njit
def ask(crowd, difference, word):
    """Put one question to all evaluators and estimate the difference from their votes.

    Parameters
    ----------
    crowd : Crowd
        Who is asked.
    difference : float
        Of the two returns, or of a return and the threshold.
    word : uint64
        Random bits.

    Returns
    -------
    float
        The estimate; `difference` itself if infinitely many are asked.
    """
    if crowd.size == _ALL:
        return difference
    return crowd.estimate[count_votes(crowd, probability(crowd.link, difference), word)]


@njit
def count_votes(crowd, chance, word):
    """Draw the number of votes in favour by inversion.

    The outcomes are laid out from the most probable one outwards, so that about as many terms are
    summed as the standard deviation is wide.

    Parameters
    ----------
    crowd : Crowd
        Of finite size M.
    chance : float
        Probability of a vote in favour, in [0, 1].
    word : uint64
        Random bits.

    Returns
    -------
    int
        In [0, M], Binomial(M, chance) if the bits are uniform.
    """
    size = crowd.size
    if chance <= 0:
        return 0
    if chance >= 1:
        return size
    odds = chance / (1 - chance)
    mode = int((size + 1) * chance)
    left = np.float64(word >> np.uint64(11)) * 2.0**-53  # probability still to be spent
    mass = np.exp(
        crowd.log_choose[mode] + mode * np.log(chance) + (size - mode) * np.log1p(-chance)
    )
    left -= mass
    below = above = mode
    mass_below = mass_above = mass
    while left >= 0 and (below > 0 or above < size):
        if above < size:
            mass_above *= odds * (size - above) / (above + 1)
            above += 1
            left -= mass_above
            if left < 0:
                return above
        if below > 0:
            mass_below *= below / (odds * (size - below + 1))
            below -= 1
            left -= mass_below
            if left < 0:
                return below
    return mode
