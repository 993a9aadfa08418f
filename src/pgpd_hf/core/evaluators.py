r"""Simulated evaluators: M binary votes per question, and the estimates made from them.

Asked to compare two trajectories whose returns differ by :math:`\Delta`, each evaluator
independently votes for the first with probability :math:`\sigma(\Delta)`, so that the number of
votes for it is Binomial(M, :math:`\sigma(\Delta)`). It is drawn as such, by inversion of one random
word. From k votes both algorithms estimate :math:`\Delta` as
:math:`\sigma^{-1}(\mathrm{clip}[k/M])` (Algorithm 1, lines 8-12, 15-17 and 19-20; Algorithm 2,
lines 8-12, 14 and 15): one of M + 1 numbers, which are tabulated. The question whether a
trajectory is harmless compares :math:`R_g^H(\tau)` with :math:`b` in the same way.
"""

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.links import probability

_INFINITELY_MANY = 0  # as a number of evaluators in kernels, which know no None
_MOST = 10**7  # evaluators: their tables take 160 MB


class Evaluators(NamedTuple):
    """M evaluators who share a link function.

    Attributes
    ----------
    number : int
        M; 0 stands for infinitely many.
    link : int
        Code of the link function.
    log_choose : ndarray, float64, shape (M + 1,)
        Logarithms of the binomial coefficients.
    estimate : ndarray, float64, shape (M + 1,)
        For each number of votes k, the inverse link of the clipped frequency k / M.
    """

    number: int
    link: int
    log_choose: np.ndarray
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
        return Evaluators(_INFINITELY_MANY, link.code, np.zeros(1), np.zeros(1))
    require_integer("evaluators", evaluators, 1, _MOST)
    votes = np.arange(evaluators + 1)
    log_choose = -np.log(evaluators + 1) - special.betaln(evaluators - votes + 1, votes + 1)
    estimate = link.clipped_inverse(votes / evaluators, bound)
    return Evaluators(evaluators, link.code, log_choose, estimate)


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
    return evaluators.estimate[count_votes(evaluators, chance, word)]


@njit
def count_votes(evaluators, chance, word):
    """Draw the number of votes in favour by inversion.

    Inversion starts at the most probable number and goes outwards, so that the number of terms
    summed is about the standard deviation.

    Parameters
    ----------
    evaluators : Evaluators
        Finitely many.
    chance : float
        Probability of a vote in favour, in [0, 1].
    word : uint64
        Random bits.

    Returns
    -------
    int
        In [0, M]; Binomial(M, chance) if the bits are uniform.
    """
    size = evaluators.number
    if chance <= 0:
        return 0
    if chance >= 1:
        return size
    odds = chance / (1 - chance)
    mode = int((size + 1) * chance)
    left = np.float64(word >> np.uint64(11)) * 2.0**-53  # uniform, less the probabilities passed
    mass = np.exp(
        evaluators.log_choose[mode] + mode * np.log(chance) + (size - mode) * np.log1p(-chance)
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
