r"""Trajectories of :math:`H + 1` steps, sampled from random words that the caller supplies.

One 64-bit word decides one step: its upper half chooses the action, by comparison with the
cumulative probabilities of the policy; its lower half chooses the next state, from the alias table
of :math:`P(\cdot|s,a)` (Walker 1977). Probabilities are thereby rounded to multiples of
:math:`2^{-32}`. Alias tables are built once per CMDP, since :math:`P` does not change.

Three details are there for speed. A step has to wait for the state that the step before it found,
so two trajectories are followed side by side, in registers. A state is represented by the index of
its first state-action pair, :math:`s W`, which saves a multiplication per step. Together they save
a third of the time (measured: 3.7 instead of 5.6 ns per step). And the first three comparisons of a
chance with the policy's cumulative probabilities are written out (3.0 ns). Therefore every state
has :math:`W = \max(|A|, 4)` actions in the tables; those from :math:`|A|` on have probability
zero.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.core.compilation import njit

_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
_HEAVIEST = 690.0  # logarithm of the largest weight of a step; 10^5 of them add up to a number
FREE = -1  # in place of a first action: the policy chooses it
CUT_OFF = 2e-4  # largest share of a value that trajectories miss by default
_SHORTEST, LONGEST = 80, 10**5  # horizons by default; trajectories beyond exceed any memory


class Tables(NamedTuple):
    """A CMDP in the form that the sampling kernels read.

    Attributes
    ----------
    successors : ndarray, uint64, shape (S, S * W)
        Column s W + a is the alias table of P(.|s, a), whose entries are states times W.
    starts : ndarray, uint64, shape (S, 1)
        Alias table of the initial distribution.
    reward, utility : ndarray, float64, shape (S * W,)
        Of each state-action pair.
    discount : float
        Discount factor.
    absorbing : ndarray, bool, shape (S * W,)
        At s W, whether nothing changes any more in state s: it is its only successor, and all
        actions pay the same.
    ends : bool
        Whether there is such a state, and returns are discounted sums.
    recency : float
        By what the weight of each step is multiplied for the next one, as people see it.
    peak_end : float
        Weight of peak and end in what people remember of a trajectory.
    mass : float
        Sum of the weights of its steps, which peak and end are multiplied by.
    """

    successors: np.ndarray
    starts: np.ndarray
    reward: np.ndarray
    utility: np.ndarray
    discount: float
    absorbing: np.ndarray
    ends: bool
    recency: float
    peak_end: float
    mass: float


class Trajectories(NamedTuple):
    """K trajectories to sample, and where their returns go; arrays are reused by all iterations.

    Attributes
    ----------
    thresholds : ndarray, uint64, shape (policies, S, W)
        The policies that are followed, written by :func:`action_thresholds`.
    policy : ndarray, uint64, shape (K,)
        Index of the policy that each trajectory follows.
    start : ndarray, uint64, shape (K,)
        First states.
    first_action : ndarray, int64, shape (K,)
        First actions; :data:`FREE` where the policy chooses.
    returns : ndarray, float64, shape (K, 2)
        Discounted sums of reward and utility, or what people remember in their place
        (:func:`remembered`), written by :func:`sample_returns`.
    """

    thresholds: np.ndarray
    policy: np.ndarray
    start: np.ndarray
    first_action: np.ndarray
    returns: np.ndarray


def default_horizon(discount):
    r"""Horizon that cuts off as little of a return as the paper's does.

    Parameters
    ----------
    discount : float
        :math:`\gamma` in [0, 1).

    Returns
    -------
    int
        The paper's H = 80, or the smallest with :math:`\gamma^{H+1} \le` :data:`CUT_OFF` if that is
        longer: the share of the largest value that comes after H + 1 steps. At most
        :data:`LONGEST`, which cuts off more than that if :math:`\gamma` exceeds about 0.9999.

    Examples
    --------
    >>> from pgpd_hf.core.sampling import default_horizon
    >>> default_horizon(0.9), default_horizon(0.99)
    (80, 847)
    """
    if discount == 0:
        return _SHORTEST
    needed = math.ceil(math.log(CUT_OFF) / math.log(discount)) - 1
    return min(max(_SHORTEST, needed), LONGEST)


def cut_off(discount):
    r"""Say in one line that the default horizon misses much of a value, if it does.

    Parameters
    ----------
    discount : float
        :math:`\gamma` in [0, 1).

    Returns
    -------
    str
        Empty if at most :data:`CUT_OFF` is missed.

    Examples
    --------
    >>> from pgpd_hf.core.sampling import cut_off
    >>> cut_off(0.9), cut_off(0.99999)[:52]
    ('', 'horizon: the default, 100000, misses 0.37 of a value')
    """
    horizon = default_horizon(discount)
    missed = discount ** (horizon + 1)
    if missed <= 1.01 * CUT_OFF:
        return ""
    return (
        f"horizon: the default, {horizon}, misses {missed:.2g} of a value, so that returns are no "
        "estimates of it; a smaller discount factor expected"
    )


@njit
def require_words(words, needed):
    """Refuse to read beyond the random words of an iteration, which kernels do not notice.

    Parameters
    ----------
    words : ndarray, uint64, shape (words,)
        Random bits of the iteration.
    needed : int
        How many an estimate reads.

    Raises
    ------
    ValueError
        If there are fewer.
    """
    if len(words) < needed:
        raise ValueError(
            "words: fewer than the estimate reads; effort has to give its numbers of trajectories "
            "and questions"
        )


@njit
def make_trajectories(count, states, actions, policies=1):
    """Lay out trajectories that follow the first policy from the first state on.

    Parameters
    ----------
    count : int
        K.
    states, actions, policies : int
        Sizes of the policies, and their number.

    Returns
    -------
    Trajectories
        Without thresholds and returns, which are written later; the rest may be overwritten.
    """
    return Trajectories(
        np.empty((policies, states, table_width(actions)), np.uint64),
        np.zeros(count, np.uint64),
        np.zeros(count, np.uint64),
        np.full(count, FREE),
        np.empty((count, 2)),
    )


def make_tables(cmdp, horizon=0, recency=None, peak_end=0.0):
    r"""Build the sampling tables of a CMDP.

    People whose *recency* is q weigh step t by :math:`q^t` in place of :math:`\gamma^t`, times a
    factor with which constant signals have the same return. Beyond one, later steps weigh more.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    horizon : int
        H; only what people remember depends on it.
    recency : float, optional
        q, positive; by default :math:`\gamma`.
    peak_end : float
        In [0, 1], the weight of peak and end (:func:`remembered`).

    Returns
    -------
    Tables

    Raises
    ------
    ValueError
        If later steps outweigh any number.
    """
    weigh = cmdp.discount if recency is None else recency
    if weigh > 1 and horizon * math.log(weigh) > _HEAVIEST:
        most = math.exp(_HEAVIEST / horizon)
        raise ValueError(
            f"recency: at most {most:.6g} expected with H = {horizon}, beyond which the weight of "
            f"the last step is no number; got {recency:g}"
        )
    mass, usual = (float(sum(x**t for t in range(horizon + 1))) for x in (weigh, cmdp.discount))
    width = table_width(cmdp.actions)
    added = [(0, 0), (0, width - cmdp.actions)]  # actions that no policy takes
    successors = np.zeros((cmdp.states, cmdp.states, width), np.uint64)
    for s, a in np.ndindex(cmdp.states, cmdp.actions):
        successors[:, s, a] = alias_table(cmdp.transition[s, a], width)
    absorbing = absorbing_states(cmdp)
    return Tables(
        successors=successors.reshape(cmdp.states, -1),
        starts=alias_table(cmdp.initial)[:, None],
        reward=np.pad(cmdp.reward * (usual / mass), added).ravel(),
        utility=np.pad(cmdp.utility * (usual / mass), added).ravel(),
        discount=cmdp.discount,
        recency=weigh,
        absorbing=np.repeat(absorbing, width),
        ends=bool(absorbing.any()) and recency is None and peak_end == 0,
        peak_end=peak_end,
        mass=mass,
    )


def absorbing_states(cmdp):
    """Find the states in which trajectories end: all actions stay there, and pay the same.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.

    Returns
    -------
    ndarray, bool, shape (S,)
    """
    absorbing = np.diagonal(cmdp.transition.min(1)) == 1
    for signal in (cmdp.reward, cmdp.utility):
        absorbing &= np.ptp(signal, axis=1) == 0
    return absorbing


@njit
def table_width(actions):
    """Number of actions that a state has in the tables.

    Parameters
    ----------
    actions : int
        :math:`|A|`.

    Returns
    -------
    int
        W, at least 4.
    """
    return max(actions, 4)


def alias_table(probability, unit=1):
    """Alias table of a discrete distribution (Vose 1991).

    Parameters
    ----------
    probability : array_like, float, shape (n,)
        Probabilities of the outcomes 0, ..., n - 1.
    unit : int
        Outcomes are stored multiplied by this factor; :func:`draw` needs the same one.

    Returns
    -------
    ndarray, uint64, shape (n,)
        The upper half of entry k is the probability of keeping k, in units of 2^-32; the lower
        half is the alias of k, times `unit`, which is drawn otherwise.

    Examples
    --------
    >>> from pgpd_hf.core.sampling import alias_table
    >>> [(int(entry) >> 32, int(entry) % 2**32) for entry in alias_table([0.25, 0.75])]
    [(2147483648, 1), (4294967295, 1)]
    """
    scaled = np.asarray(probability, dtype=np.float64) * len(probability)
    alias = np.arange(len(scaled))
    _pair_columns(scaled, alias)
    threshold = np.minimum(np.rint(scaled * 2.0**32), 2.0**32 - 1).astype(np.uint64)
    return (threshold << _HALF) | (alias * unit).astype(np.uint64)


@njit
def _pair_columns(scaled, alias):
    """Fill every outcome of less than average probability up with a more probable one, its alias.

    Both arrays are changed in place; `scaled` holds n times the probabilities.
    """
    small, large = [], []
    for k in range(len(scaled)):
        (small if scaled[k] < 1 else large).append(k)
    while len(small) > 0 and len(large) > 0:
        low, high = small.pop(), large[-1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    # Any outcome left over has scaled probability one, up to rounding, and is its own alias.


@njit(forceinline=True)
def draw(tables, which, word, unit):
    """Draw an outcome from an alias table with the lower half of a word.

    Parameters
    ----------
    tables : ndarray, uint64, shape (n, tables)
        One alias table per column, made by :func:`alias_table`.
    which : uint64
        The column to draw from. (Passing a slice would cost more than the draw itself, since
        Numba counts references to arrays.)
    word : uint64
        Random bits.
    unit : uint64
        The factor with which the tables were made.

    Returns
    -------
    uint64
        The outcome, times `unit`.
    """
    product = (word & _LOWER) * np.uint64(tables.shape[0])
    column = product >> _HALF
    entry = tables[column, which]
    kept, alias = column * unit, entry & _LOWER
    # Compares the lower half of the product with the upper half of the entry.
    return kept if (product << _HALF | _LOWER) < entry else alias


@njit
def action_thresholds(policy, thresholds):
    """Write the cumulative probabilities of a policy in units of 2^-32.

    From the last action on they are 2^32 whatever the rounding, so that none exceeds A - 1.

    Parameters
    ----------
    policy : ndarray, float64, shape (S, A)
        The policy.
    thresholds : ndarray, uint64, shape (S, W)
        Overwritten.
    """
    last = policy.shape[1] - 1
    for s in range(policy.shape[0]):
        cumulative = 0.0
        for a in range(last):
            cumulative += policy[s, a]
            # By way of a signed number, which processors without AVX-512 convert faster.
            thresholds[s, a] = np.uint64(np.int64(cumulative * 2.0**32 + 0.5))
        for a in range(last, thresholds.shape[1]):
            thresholds[s, a] = _LOWER + np.uint64(1)


@njit
def sample_returns(tables, trajectories, words, horizon):
    """Sample trajectories and write their discounted sums, or what people remember of them.

    Two trajectories end together when both are in absorbing states; the rest is a geometric series.

    Parameters
    ----------
    tables : Tables
        Of the CMDP.
    trajectories : Trajectories
        K trajectories; `returns` is overwritten, nothing else is changed.
    words : ndarray, uint64, shape (words,)
        Random bits, of which the first (H + 1) K decide one step each, time by time.
    horizon : int
        H.
    """
    if tables.peak_end > 0:
        _sample_remembered(tables, trajectories, words, horizon)
        return
    thresholds, policy, start, first_action, returns = trajectories
    count = len(start)
    _, states, actions = thresholds.shape
    cuts = thresholds.reshape(-1)
    last = tables.discount ** (horizon + 1)
    size, width, stride = np.uint64(states * actions), np.uint64(actions), np.uint64(count)
    for i in range(0, count, 2):
        j = min(i + 1, count - 1)  # the last of an odd number is paired with itself
        cuts_i, cuts_j = policy[i] * size, policy[j] * size
        word_i, word_j = np.uint64(i), np.uint64(j)
        at_i, at_j = start[i] * width, start[j] * width
        pair = _choose(cuts, width, cuts_i, at_i, first_action[i], words[word_i])
        r_i, g_i = tables.reward[pair], tables.utility[pair]
        at_i = draw(tables.successors, pair, words[word_i], width)
        pair = _choose(cuts, width, cuts_j, at_j, first_action[j], words[word_j])
        r_j, g_j = tables.reward[pair], tables.utility[pair]
        at_j = draw(tables.successors, pair, words[word_j], width)
        weight = 1.0
        for _ in range(horizon):
            if tables.ends and tables.absorbing[at_i] and tables.absorbing[at_j]:
                rest = (weight * tables.discount - last) / (1 - tables.discount)
                r_i += rest * tables.reward[at_i]
                g_i += rest * tables.utility[at_i]
                r_j += rest * tables.reward[at_j]
                g_j += rest * tables.utility[at_j]
                break
            weight *= tables.recency
            word_i += stride
            pair = _choose(cuts, width, cuts_i, at_i, FREE, words[word_i])
            r_i += weight * tables.reward[pair]
            g_i += weight * tables.utility[pair]
            at_i = draw(tables.successors, pair, words[word_i], width)
            word_j += stride
            pair = _choose(cuts, width, cuts_j, at_j, FREE, words[word_j])
            r_j += weight * tables.reward[pair]
            g_j += weight * tables.utility[pair]
            at_j = draw(tables.successors, pair, words[word_j], width)
        returns[i, 0], returns[i, 1] = r_i, g_i
        returns[j, 0], returns[j, 1] = r_j, g_j


@njit
def _sample_remembered(tables, trajectories, words, horizon):
    """The same where peaks and ends count, one trajectory after the other."""
    thresholds, policy, start, first_action, returns = trajectories
    count = len(start)
    _, states, actions = thresholds.shape
    cuts = thresholds.reshape(-1)
    size, width = np.uint64(states * actions), np.uint64(actions)
    memory = np.empty((2, 3))
    for i in range(count):
        forget(memory)
        at, weight = start[i] * width, 1.0
        for t in range(horizon + 1):
            word = words[t * count + i]
            forced = first_action[i] if t == 0 else FREE
            pair = _choose(cuts, width, policy[i] * size, at, forced, word)
            memorize(tables, memory, pair, weight)
            at = draw(tables.successors, pair, word, width)
            weight *= tables.recency
        returns[i, 0], returns[i, 1] = remembered(tables, memory)


@njit
def sample_visits(tables, trajectories, words, horizon, visits):
    r"""Add up the discounted visits of the trajectories that :func:`sample_returns` samples.

    Parameters
    ----------
    tables : Tables
        Of the CMDP.
    trajectories : Trajectories
        K trajectories; stays as it is.
    words : ndarray, uint64, shape (words,)
        The same random bits.
    horizon : int
        H.
    visits : ndarray, float64, shape (K, S * W)
        :math:`\sum_{t \le H} \gamma^t e_{(s_t, a_t)}` is added to each row.
    """
    thresholds, policy, start, first_action, _ = trajectories
    count = len(start)
    _, states, actions = thresholds.shape
    cuts = thresholds.reshape(-1)
    size, width = np.uint64(states * actions), np.uint64(actions)
    for i in range(count):
        at, weight = start[i] * width, 1.0
        for t in range(horizon + 1):
            word = words[t * count + i]
            forced = first_action[i] if t == 0 else FREE
            pair = _choose(cuts, width, policy[i] * size, at, forced, word)
            visits[i, pair] += weight
            at = draw(tables.successors, pair, word, width)
            weight *= tables.discount


@njit
def forget(memory):
    """Prepare for a trajectory; rows of the memory are signals: sum, peak, end.

    Parameters
    ----------
    memory : ndarray, float64, shape (2, 3)
        Overwritten.
    """
    memory[:, 0], memory[0, 1], memory[1, 1] = 0.0, -np.inf, np.inf


@njit
def memorize(tables, memory, pair, weight):
    """Add a step to the memory of a trajectory.

    Parameters
    ----------
    tables : Tables
        Of the CMDP.
    memory : ndarray, float64, shape (2, 3)
        Changed in place.
    pair : uint64
        State and action, s W + a.
    weight : float
        Of the step.
    """
    reward, utility = tables.reward[pair], tables.utility[pair]
    memory[0, 0] += weight * reward
    memory[1, 0] += weight * utility
    memory[0, 1], memory[1, 1] = max(memory[0, 1], reward), min(memory[1, 1], utility)
    memory[0, 2], memory[1, 2] = reward, utility


@njit
def remembered(tables, memory):
    r"""What people remember of a trajectory (the peak-end rule: Kahneman et al. 1993).

    .. math:: (1 - w) \sum_t q^t x_t
        + w \sum_t q^t\, \frac{\text{peak} + x_H}{2}

    The peak is the best moment where helpfulness is asked about, and the most harmful one, the
    smallest utility, where harmlessness is.

    Parameters
    ----------
    tables : Tables
        Holds w (`peak_end`) and the sum of weights (`mass`).
    memory : ndarray, float64, shape (2, 3)
        Of all steps.

    Returns
    -------
    reward, utility : float
        The discounted sums if w is 0.
    """
    share, weight = 1 - tables.peak_end, tables.peak_end * tables.mass / 2
    return (
        share * memory[0, 0] + weight * (memory[0, 1] + memory[0, 2]),
        share * memory[1, 0] + weight * (memory[1, 1] + memory[1, 2]),
    )


@njit(forceinline=True)
def _choose(cuts, width, first_cut, state, forced, word):
    """Choose an action with the upper half of a word, unless it is forced; return the pair."""
    chance = word >> _HALF
    cut = first_cut + state
    action = np.uint64(chance >= cuts[cut])
    action += np.uint64(chance >= cuts[cut + np.uint64(1)])
    action += np.uint64(chance >= cuts[cut + np.uint64(2)])
    for further in range(np.uint64(3), width - np.uint64(1)):
        action += np.uint64(chance >= cuts[cut + further])
    if forced != FREE:
        action = np.uint64(forced)
    return state + action
