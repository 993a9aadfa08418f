r"""Trajectories of :math:`H + 1` steps and their returns, sampled from random words.

A word of 64 bits decides one step: its upper half chooses the action, by comparison with the
cumulative probabilities of the policy; its lower half chooses the next state, from the alias table
of :math:`P(\cdot|s,a)` (Walker 1977; Vose 1991). Probabilities are thereby rounded to multiples of
:math:`2^{-32}`.

For speed, several trajectories are followed side by side. In the tables every state has
:math:`W = \max(|A|, 4)` actions, which have probability zero from :math:`|A|` on, and a state is
represented by the number of its first state-action pair, :math:`s W`.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.compilation import njit

FREE = -1  # in place of a first action: the policy chooses it
LONGEST_HORIZON = 10**5
_CUT_OFF = 2e-4  # largest share of a value that trajectories of the default horizon miss
_HALF, _LOWER = np.uint64(32), np.uint64(2**32 - 1)
_ZERO, _ONE, _TWO, _THREE, _FOUR = (np.uint64(k) for k in range(5))


class Tables(NamedTuple):
    """A CMDP as the sampling kernels read it."""

    successors: np.ndarray  # (S, S * W), uint64: column s W + a is the alias table of P(.|s, a)
    starts: np.ndarray  # (S, 1), uint64: alias table of rho
    reward: np.ndarray  # (S * W,)
    utility: np.ndarray  # (S * W,)
    discount: float
    absorbing: np.ndarray  # (S * W,), bool: at s W, whether nothing changes any more in state s
    ends: bool  # whether there is such a state


class Trajectories(NamedTuple):
    """K trajectories to sample, of one policy, or of two in turn; for all iterations of a run."""

    thresholds: np.ndarray  # (policies, S, W), uint64: written by `action_thresholds`
    start: np.ndarray  # (K,), uint64: first states
    first_action: np.ndarray  # (K,), int64: first actions; FREE where the policy chooses
    returns: np.ndarray  # (K, 2): discounted sums of reward and utility, written by sampling


class Walk(NamedTuple):
    """A trajectory on its way."""

    cut: int  # place of the first threshold of its policy
    state: int
    reward: float  # sums so far
    utility: float


def default_horizon(discount):
    """H that misses at most 2e-4 of a value: 80 as in the paper, or more, but at most 10^5."""
    if discount == 0:
        return 80
    needed = math.ceil(math.log(_CUT_OFF) / math.log(discount)) - 1
    return min(max(80, needed), LONGEST_HORIZON)


def horizon_caution(discount, horizon):
    """Sentence about an H that misses more than a hundredth of a value; else nothing."""
    if (missed := discount ** (horizon + 1)) <= 0.01:
        return ""
    told = f"H = {horizon} misses {missed:.0%} of a value at discount {discount:g}"
    return f"{told}: horizon: {default_horizon(discount)} misses next to nothing."


def make_tables(cmdp):
    """Tables of a CMDP."""
    width = table_width(cmdp.actions)
    added = [(0, 0), (0, width - cmdp.actions)]
    successors = np.zeros((cmdp.states, cmdp.states, width), np.uint64)
    for s, a in np.ndindex(cmdp.states, cmdp.actions):
        successors[:, s, a] = alias_table(cmdp.transition[s, a], width)
    absorbing = absorbing_states(cmdp)
    return Tables(
        successors=successors.reshape(cmdp.states, -1),
        starts=alias_table(cmdp.initial)[:, None],
        reward=np.pad(cmdp.reward, added).ravel(),
        utility=np.pad(cmdp.utility, added).ravel(),
        discount=cmdp.discount,
        absorbing=np.repeat(absorbing, width),
        ends=bool(absorbing.any()),
    )


def absorbing_states(cmdp):
    """Which states (S,) trajectories end in: all actions stay there, and pay the same."""
    absorbing = np.diagonal(cmdp.transition.min(1)) == 1
    for signal in (cmdp.reward, cmdp.utility):
        absorbing &= np.ptp(signal, axis=1) == 0
    return absorbing


def alias_table(probability, unit=1):
    """Alias table of a distribution (n,), as uint64 (n,), whose outcomes are counted in `unit`.

    The upper half of entry k is the probability of keeping k, in units of 2^-32; the lower half is
    what is drawn otherwise.
    """
    scaled = np.asarray(probability, dtype=np.float64) * len(probability)
    alias = np.arange(len(scaled))
    _pair_columns(scaled, alias)
    threshold = np.minimum(np.rint(scaled * 2.0**32), 2.0**32 - 1).astype(np.uint64)
    return (threshold << _HALF) | (alias * unit).astype(np.uint64)


@njit(allocates=True)
def _pair_columns(scaled, alias):
    """Give each outcome of less than average probability an alias that fills its column up."""
    small, large = np.empty(len(scaled), np.int64), np.empty(len(scaled), np.int64)
    smalls = larges = 0
    for k in range(len(scaled)):
        if scaled[k] < 1:
            small[smalls] = k
            smalls += 1
        else:
            large[larges] = k
            larges += 1
    while smalls > 0 and larges > 0:
        smalls -= 1
        low, high = small[smalls], large[larges - 1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            larges -= 1
            small[smalls] = high
            smalls += 1


def table_width(actions):
    """Number W of actions that a state has in the tables."""
    return max(actions, 4)


def make_trajectories(count, states, actions, policies):
    """Lay out K trajectories; they begin in state 0, and the policy chooses the first action."""
    return Trajectories(
        np.empty((policies, states, table_width(actions)), np.uint64),
        np.zeros(count, np.uint64),
        np.full(count, FREE),
        np.empty((count, 2)),
    )


@njit(forceinline=True)
def draw(tables, which, word, unit):
    """Draw an outcome, times `unit`, from a column of alias tables with a word's lower half."""
    product = (word & _LOWER) * np.uint64(tables.shape[0])
    column = product >> _HALF
    entry = tables[column, which]
    kept, alias = column * unit, entry & _LOWER
    return kept if (product << _HALF | _LOWER) < entry else alias


@njit
def draw_start(tables, word):
    """Draw a first state from rho."""
    return draw(tables.starts, _ZERO, word, _ONE)


@njit
def action_thresholds(policy, thresholds):
    """Write the cumulative probabilities of a policy (S, A), in units of 2^-32, into (S, W)."""
    last = policy.shape[1] - 1
    for s in range(policy.shape[0]):
        cumulative = 0.0
        for a in range(last):
            cumulative += policy[s, a]
            thresholds[s, a] = np.uint64(np.int64(cumulative * 2.0**32 + 0.5))
        for a in range(last, thresholds.shape[1]):
            thresholds[s, a] = _LOWER + _ONE


@njit
def sample_returns(tables, trajectories, words, horizon):
    """Sample K trajectories and write their discounted sums.

    The first (H + 1) K words decide a step each, time by time, trajectory by trajectory.
    """
    width = np.uint64(trajectories.thresholds.shape[2])
    if tables.ends or width > _FOUR:
        _follow_two(tables, trajectories, words, horizon, width, tables.ends)
    elif len(trajectories.start) < 3:  # the compiler makes use of constants
        _follow_two(tables, trajectories, words, horizon, _FOUR, False)
    else:
        _follow_four(tables, trajectories, words, horizon)


@njit
def _follow_four(tables, trajectories, words, horizon):
    """Follow four trajectories side by side, of a CMDP with W = 4 that never ends."""
    cuts, returns = trajectories.thresholds.reshape(-1), trajectories.returns
    count = np.uint64(len(returns))
    for first in range(0, len(returns), 4):  # short of four, the last is repeated
        i, j = np.uint64(first), min(np.uint64(first + 1), count - _ONE)
        k, m = min(i + _TWO, count - _ONE), min(i + _THREE, count - _ONE)
        one = _first_step(tables, trajectories, cuts, words, i, _FOUR)
        two = _first_step(tables, trajectories, cuts, words, j, _FOUR)
        three = _first_step(tables, trajectories, cuts, words, k, _FOUR)
        four = _first_step(tables, trajectories, cuts, words, m, _FOUR)
        weight, place = 1.0, np.uint64(0)
        for _ in range(horizon):
            weight *= tables.discount
            place += count
            one = _step(tables, cuts, one, words[place + i], weight, _FOUR)
            two = _step(tables, cuts, two, words[place + j], weight, _FOUR)
            three = _step(tables, cuts, three, words[place + k], weight, _FOUR)
            four = _step(tables, cuts, four, words[place + m], weight, _FOUR)
        returns[i, 0], returns[i, 1] = one.reward, one.utility
        returns[j, 0], returns[j, 1] = two.reward, two.utility
        returns[k, 0], returns[k, 1] = three.reward, three.utility
        returns[m, 0], returns[m, 1] = four.reward, four.utility


@njit(forceinline=True)
def _follow_two(tables, trajectories, words, horizon, width, ends):
    """Follow two trajectories side by side, of any CMDP, until both are in absorbing states."""
    cuts, returns = trajectories.thresholds.reshape(-1), trajectories.returns
    count = np.uint64(len(returns))
    for first in range(0, len(returns), 2):
        i, j = np.uint64(first), min(np.uint64(first + 1), count - _ONE)
        one = _first_step(tables, trajectories, cuts, words, i, width)
        two = _first_step(tables, trajectories, cuts, words, j, width)
        weight, place, rest = 1.0, np.uint64(0), 0.0
        for _ in range(horizon):
            if ends and tables.absorbing[one.state] and tables.absorbing[two.state]:
                beyond = tables.discount ** (horizon + 1)
                rest = (weight * tables.discount - beyond) / (1 - tables.discount)
                break
            weight *= tables.discount
            place += count
            one = _step(tables, cuts, one, words[place + i], weight, width)
            two = _step(tables, cuts, two, words[place + j], weight, width)
        returns[i, 0] = one.reward + rest * tables.reward[one.state]
        returns[i, 1] = one.utility + rest * tables.utility[one.state]
        returns[j, 0] = two.reward + rest * tables.reward[two.state]
        returns[j, 1] = two.utility + rest * tables.utility[two.state]


@njit(forceinline=True)
def _first_step(tables, trajectories, cuts, words, i, width):
    """Trajectory i after its first step."""
    policies = np.uint64(len(trajectories.thresholds))
    cut = (i & (policies - _ONE)) * (np.uint64(cuts.size) // policies)
    state, word = trajectories.start[i] * width, words[i]
    pair = _choose(cuts, width, cut, state, word)
    if trajectories.first_action[i] != FREE:
        pair = state + np.uint64(trajectories.first_action[i])
    following = draw(tables.successors, pair, word, width)
    return Walk(cut, following, tables.reward[pair], tables.utility[pair])


@njit(forceinline=True)
def _step(tables, cuts, walk, word, weight, width):
    """A trajectory after a further step."""
    pair = _choose(cuts, width, walk.cut, walk.state, word)
    reward = walk.reward + weight * tables.reward[pair]
    utility = walk.utility + weight * tables.utility[pair]
    return Walk(walk.cut, draw(tables.successors, pair, word, width), reward, utility)


@njit(forceinline=True)
def _choose(cuts, width, first_cut, state, word):
    """Choose an action with a word's upper half; the result is a state-action pair."""
    chance, cut = word >> _HALF, first_cut + state
    action = np.uint64(chance >= cuts[cut])
    action += np.uint64(chance >= cuts[cut + _ONE])
    action += np.uint64(chance >= cuts[cut + _TWO])
    if width > _FOUR:
        further = _THREE
        while chance >= cuts[cut + further]:  # the last threshold is never reached
            further += _ONE
        action += further - _THREE
    return state + action
