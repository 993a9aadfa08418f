r"""Simulated evaluators: M binary votes per question, and the estimates made from them.

Asked to compare two trajectories whose returns differ by :math:`\Delta`, each evaluator
independently votes for the first with probability :math:`\sigma(\Delta)`. From k votes both
algorithms estimate :math:`\Delta` as :math:`\sigma^{-1}(\mathrm{clip}[k/M])` (Algorithm 1, lines
8-12, 15-17 and 19-20; Algorithm 2, lines 8-12, 14 and 15): one of M + 1 numbers, which are
tabulated. The question whether a trajectory is harmless compares :math:`R_g^H(\tau)` with
:math:`b` in the same way.

This is the plug-in estimator, and biased: the inverse link is not linear, and frequencies are
clipped. Another table of M + 1 numbers, :func:`unbiased_estimates`, has no bias but the remainder
of a power series.

People need not vote as the algorithms assume (:data:`AS_ASSUMED`): by another link, or at random or
the wrong way round in a share of answers; and four models of votes are such that no reward explains
them. Two are about what people remember of a trajectory (:class:`~pgpd_hf.core.sampling.Tables`),
two about how they compare (:func:`chance_of_preference`). Algorithms know nothing of this. Policies
are judged by the reward and the utility of the CMDP all the same: the pleasure and harm that were
felt, step by step, whatever is remembered of them; and the mean taste of people who differ.

A :class:`Simulator` is all that the kernels of a run know: evaluators, and a CMDP to sample from.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.links import get_link, probability
from pgpd_hf.core.sampling import Tables, make_tables
from pgpd_hf.core.streams import derived_word

_INFINITELY_MANY = 0  # stands for None in kernels, which only know numbers
_MOST = 10**7  # evaluators; with so many, the table takes 80 MB and a question 0.4 ms
_ALL = np.uint64(2**64 - 1)
ESTIMATORS = ("plug-in", "unbiased")
AS_ASSUMED = {  # options by which people may vote otherwise, and their values where they do not
    "true_link": None,
    "random_answers": 0.0,
    "flipped_answers": 0.0,
    "recency": None,
    "peak_end": 0.0,
    "disagreement": 0.0,
    "semiorder": 0.0,
}
MINORITY = 0.2  # share of the people whose taste differs most from the mean
_HIGHEST_DEGREE = 255  # of the series of unbiased estimates
# Remainders of the series, as shares of the largest difference: the first is small enough to end
# it, and above the second the estimator is refused.
_NEGLIGIBLE_REMAINDER = 1e-6
_LARGEST_REMAINDER = 0.1


def unlike_assumed(setting):
    """Options by which people vote otherwise than a setting assumes.

    Parameters
    ----------
    setting : object
        With the link and all options of :data:`AS_ASSUMED`, such as an algorithm.

    Returns
    -------
    list of str
        Their names.
    """
    same = AS_ASSUMED | ({"true_link": setting.link} if setting.true_link else {})
    return [name for name, value in same.items() if getattr(setting, name) != value]


def evaluators_text(evaluators):
    """M in plain text: in messages, criteria and names of files.

    Parameters
    ----------
    evaluators : int or None
        M; None for infinitely many.

    Returns
    -------
    str

    Examples
    --------
    >>> evaluators_text(16), evaluators_text(None)
    ('16', 'inf')
    """
    return "inf" if evaluators is None else str(evaluators)


def wide_values(cmdp):
    """Say in one line that people agree too much about a CMDP to tell by how much, if they do.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.

    Returns
    -------
    str
        Empty if values lie in [0, 1].

    Examples
    --------
    >>> import pgpd_hf
    >>> wide_values(pgpd_hf.random_cmdp())
    ''
    """
    bound = cmdp.value_bound
    if bound <= 1 + 1e-9:
        return ""
    return (
        f"values lie in [0, {bound:g}], where votes are almost unanimous and say little; divide "
        f"rewards, utilities, threshold and scale by {bound:g} for values in [0, 1]"
    )


class Evaluators(NamedTuple):
    """M evaluators who vote alike.

    Attributes
    ----------
    number : int
        M; 0 stands for infinitely many.
    link : int
        Code of the link function by which they vote.
    random_answers : float
        Share q of answers that are given at random, for and against with equal probabilities. An
        answer that says the opposite counts as two random ones, so q is in [0, 2].
    estimate : ndarray, float64, shape (M + 1,)
        For each number of votes k, the difference that is estimated from them.
    disagreement, semiorder : float
        At least 0, how people compare (:func:`chance_of_preference`).
    """

    number: int
    link: int
    random_answers: float
    estimate: np.ndarray
    disagreement: float = 0.0
    semiorder: float = 0.0


def make_evaluators(
    evaluators,
    link,
    bound,
    estimator="plug-in",
    true_link=None,
    random_answers=0.0,
    flipped_answers=0.0,
    disagreement=0.0,
    semiorder=0.0,
):
    r"""Tabulate the estimates of M evaluators.

    Parameters
    ----------
    evaluators : int or None
        M >= 1; None stands for infinitely many.
    link : Link
        How they are assumed to vote.
    bound : float
        :math:`B > 0`, the largest difference; in the paper :math:`G(H)`.
    estimator : {"plug-in", "unbiased"}
        The inverse link of the frequency, clipped to :math:`[\sigma(-B), \sigma(B)]`, as printed,
        or :func:`unbiased_estimates`.
    true_link : str, optional
        Name of the link by which they vote; by default the assumed one.
    random_answers : float
        In [0, 1], the share of answers that they give at random.
    flipped_answers : float
        In [0, 1], the share of the other answers that say the opposite.
    disagreement, semiorder : float
        At least 0, how they compare (:func:`chance_of_preference`).

    Returns
    -------
    Evaluators

    Raises
    ------
    ValueError
        If there are too many evaluators for a table, or if `estimator` is "unbiased" and the bias
        that remains exceeds a tenth of B.

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.core.evaluators import make_evaluators
    >>> make_evaluators(4, LINKS["logistic"], bound=2.0).estimate.round(3).tolist()
    [-2.0, -1.099, 0.0, 1.099, 2.0]
    >>> make_evaluators(16, LINKS["logistic"], 1.0, "unbiased").estimate[8:].round(3).tolist()
    [0.0, 0.235, 0.479, 0.738, 1.02, 1.343, 1.752, 2.352, 3.352]
    """
    if evaluators is None:
        return Evaluators(_INFINITELY_MANY, link.code, 0.0, np.zeros(1))
    evaluators = require_integer("evaluators", evaluators, 1, _MOST)
    code = link.code if true_link is None else get_link(true_link).code
    random_answers += 2 * flipped_answers * (1 - random_answers)
    if estimator == "plug-in":
        estimate = link.clipped_inverse(np.arange(evaluators + 1) / evaluators, bound)
        return Evaluators(evaluators, code, random_answers, estimate, disagreement, semiorder)
    estimate, remainder = unbiased_estimates(evaluators, link, bound)
    if remainder > _LARGEST_REMAINDER * bound:
        raise ValueError(
            f"estimator: plug-in expected, since with {evaluators} evaluators and the {link.name} "
            f"link the unbiased one may have a bias of {remainder:.3g}; at most "
            f"{_LARGEST_REMAINDER * bound:.3g}, a tenth of the largest difference, is allowed"
        )
    return Evaluators(evaluators, code, random_answers, estimate, disagreement, semiorder)


def unbiased_estimates(evaluators, link, bound):
    r"""Tabulate estimates whose mean is the difference, up to the remainder of a series.

    Count votes as :math:`\pm 1`; each has the mean :math:`y = 2\sigma(\Delta) - 1`. The product of
    the votes of j people has the mean :math:`y^j`, and so has :math:`U_j(k)`, the mean of these
    products over all sets of j of the M people (a U-statistic). With the series
    :math:`\sigma^{-1}((1+y)/2) = \sum_j c_j y^j` over odd j, the estimate

    .. math:: x_k = \sum_{j \le m,\ j\ \mathrm{odd}} c_j U_j(k)

    has the bias :math:`-\sum_{j > m} c_j y^j`. All :math:`c_j` are positive, so it is largest at
    the ends, :math:`\Delta = \pm B`, and falls with m, while the variance grows.

    The degree m is the first at which this bias is below a millionth of B, and at most (M + 1)/2:
    since :math:`U_{M-j} = U_M U_j`, terms beyond repeat earlier ones with a random sign. They would
    add much variance and take away little bias; the recurrence would not be stable there, either.

    Parameters
    ----------
    evaluators : int
        M >= 1.
    link : Link
        How they vote.
    bound : float
        :math:`B > 0`, the largest difference.

    Returns
    -------
    estimates : ndarray, float64, shape (M + 1,)
        :math:`x_k`, odd in k - M/2. They are not clipped, which would bias them again, so they
        exceed B where many agree.
    remainder : float
        The largest bias, :math:`\sum_{j>m} c_j (2\sigma(B) - 1)^j`.

    Raises
    ------
    ValueError
        If M is out of range, or the link has no series.

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.core.evaluators import unbiased_estimates
    >>> estimates, remainder = unbiased_estimates(5, LINKS["logistic"], bound=1.0)
    >>> estimates.round(3).tolist(), round(remainder, 3)
    ([-2.667, -1.067, -0.267, 0.267, 1.067, 2.667], 0.01)
    """
    evaluators = require_integer("evaluators", evaluators, 1, _MOST)
    if link.series is None:
        raise ValueError(
            f"estimator: plug-in expected, since the {link.name} link has no power series"
        )
    degrees = np.arange(1, min((evaluators + 1) // 2, _HIGHEST_DEGREE) + 1, 2)
    coefficients = link.series(len(degrees))
    mean = 2 * probability(link.code, bound) - 1
    remainders = bound - np.cumsum(coefficients * mean**degrees)
    enough = np.flatnonzero(remainders <= _NEGLIGIBLE_REMAINDER * bound)
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
    evaluators = require_integer("evaluators", evaluators, 1)
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
    chance = chance_of_vote(evaluators, difference)
    return evaluators.estimate[count_votes(evaluators.number, chance, word)]


@njit
def compare(evaluators, difference, other, word):
    """Ask all evaluators which of two trajectories is better, and estimate the difference.

    Parameters
    ----------
    evaluators : Evaluators
        The evaluators.
    difference, other : float
        Between the two returns of the signal that is asked about, and of the other signal.
    word : uint64
        Random bits.

    Returns
    -------
    float
        The estimate; with infinitely many evaluators, `difference` itself.
    """
    if evaluators.number == _INFINITELY_MANY:
        return difference
    chance = chance_of_preference(evaluators, difference, other)
    return evaluators.estimate[count_votes(evaluators.number, chance, word)]


@njit
def chance_of_preference(evaluators, difference, other):
    r"""Probability of a vote for the first of two trajectories.

    With a *semiorder* :math:`\epsilon` (Tversky 1969) differences below it are not noticed, and
    people vote by the other signal instead; majorities can then be intransitive. With a
    *disagreement* d a fifth of the people add 4 d times the difference of the other signal, and the
    rest subtract d times it: their mean taste is the signal that is asked about, but shares of
    votes are not those of the mean.

    Parameters
    ----------
    evaluators : Evaluators
        Who vote so.
    difference, other : float
        Between the two returns of the signal that is asked about, and of the other signal.

    Returns
    -------
    float
        In [0, 1]; that of :func:`chance_of_vote` if there is neither semiorder nor disagreement.

    Examples
    --------
    With :math:`\epsilon = 0.1` the first trajectory is preferred for a reward that is larger by
    0.12, but not for one that is larger by 0.06, if its utility is smaller.

    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.core.evaluators import chance_of_preference, make_evaluators
    >>> people = make_evaluators(1, LINKS["logistic"], bound=1.0, semiorder=0.1)
    >>> [round(chance_of_preference(people, x, -0.4), 2) for x in (0.12, 0.06)]
    [0.53, 0.4]
    """
    meant = other if abs(difference) < evaluators.semiorder else difference
    lean = evaluators.disagreement * other
    if lean == 0:
        return chance_of_vote(evaluators, meant)
    few = chance_of_vote(evaluators, meant + (1 - MINORITY) / MINORITY * lean)
    return MINORITY * few + (1 - MINORITY) * chance_of_vote(evaluators, meant - lean)


@njit
def chance_of_vote(evaluators, difference):
    r"""Probability of a vote in favour: :math:`(1 - q)\sigma(\Delta) + q/2`.

    Parameters
    ----------
    evaluators : Evaluators
        A share q of whose answers is random.
    difference : float
        :math:`\Delta`, between two returns, or between a return and the threshold.

    Returns
    -------
    float
        In [0, 1].
    """
    chance = probability(evaluators.link, difference)
    return chance + evaluators.random_answers * (0.5 - chance)


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


class Simulator(NamedTuple):
    """What the kernels of a run need to know of its CMDP and its setting.

    Attributes
    ----------
    tables : Tables
        Of the CMDP.
    evaluators : Evaluators
        M evaluators.
    rounds : int
        N.
    horizon : int
        H.
    threshold : float
        b.
    """

    tables: Tables
    evaluators: Evaluators
    rounds: int
    horizon: int
    threshold: float


def make_simulator(cmdp, evaluators, rounds, horizon, link="logistic", **people):
    """Build the simulator of a run.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    evaluators : int or None
        M.
    rounds, horizon : int
        N and H.
    link : str
        Name of the link by which people are assumed to vote.
    **people : str or float
        Further arguments of :func:`make_evaluators`, and `recency` and `peak_end` of
        :func:`~pgpd_hf.core.sampling.make_tables`.

    Returns
    -------
    Simulator
    """
    bound = cmdp.return_bound(horizon)
    memory = {name: people.pop(name) for name in ("recency", "peak_end") if name in people}
    people = make_evaluators(evaluators, get_link(link), bound, **people)
    return Simulator(make_tables(cmdp, horizon, **memory), people, rounds, horizon, cmdp.threshold)


def count_words(rounds, horizon, trajectories, questions):
    """Count the random words of one iteration.

    They are laid out in this order: one per step of its trajectories (time by time, trajectory by
    trajectory), one per first state that is drawn from the initial distribution, and one per
    question.

    Parameters
    ----------
    rounds, horizon : int
        N and H.
    trajectories, questions : int
        Numbers of both in one iteration.

    Returns
    -------
    int

    Examples
    --------
    >>> count_words(rounds=1, horizon=80, trajectories=51, questions=81)  # NPGPD-HF, N = 1
    4213
    """
    return trajectories * (horizon + 1) + rounds + questions
