r"""Trajectories of :math:`H + 1` steps, sampled by a kernel that draws nothing itself.

Randomness comes in as 64-bit words, one per step: the upper half of a word chooses the action by
comparison with the cumulative probabilities of the policy, the lower half chooses the next state
from an alias table (Walker 1977; tables are built once, :math:`P` does not change). Probabilities
are therefore multiples of :math:`2^{-32}`.

A step waits for the state that the one before it has found. Two trajectories therefore go side by
side, in registers, and a state is known by the number of its first pair, :math:`s |A|`, so that
nothing has to be multiplied on the way from one state to the next (measured, ns per step: 3.2
instead of 5.1 with states in memory and a row of the table for each pair; four side by side: 2.9).
"""

from typing import NamedTuple

import numpy as np

from pgpd_hf.core.compilation import njit

_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
FREE = -1  # first action of a trajectory that starts from a state


class Tables(NamedTuple):
    """What the sampling kernels need to know of a process.

    Attributes
    ----------
    successors : ndarray, uint64, shape (S, S * A)
        Alias tables of the rows of P, side by side, made by :func:`alias_table` in units of A.
    starts : ndarray, uint64, shape (S, 1)
        Alias table of the initial distribution.
    signals : ndarray, float64, shape (S * A, 2)
        Reward and utility of a step.
    discount : float
        Discount factor.
    """

    successors: np.ndarray
    starts: np.ndarray
    signals: np.ndarray
    discount: float


def make_tables(cmdp):
    """Build the sampling tables of a process.

    Parameters
    ----------
    cmdp : CMDP
        The process.

    Returns
    -------
    Tables
    """
    rows = cmdp.transition.reshape(-1, cmdp.states)
    return Tables(
        successors=np.stack([alias_table(row, cmdp.actions) for row in rows], axis=1),
        starts=alias_table(cmdp.initial)[:, None],
        signals=np.stack([cmdp.reward.ravel(), cmdp.utility.ravel()], axis=1),
        discount=cmdp.discount,
    )


def alias_table(probability, unit=1):
    """Alias table of one distribution (Vose 1991).

    Parameters
    ----------
    probability : array_like, float, shape (n,)
        A distribution.
    unit : int
        What outcome 1 is called; outcome k is called k times as much.

    Returns
    -------
    ndarray, uint64, shape (n,)
        Entry k holds in its lower half the name of the alias of k, and in its upper half the
        probability, in units of 2^-32, of staying with k.
    """
    scaled = np.asarray(probability, dtype=np.float64) * len(probability)
    alias = np.arange(len(scaled))
    _share(scaled, alias)
    threshold = np.minimum(np.rint(scaled * 2.0**32), 2.0**32 - 1).astype(np.uint64)
    return (threshold << _HALF) | (alias * unit).astype(np.uint64)


@njit
def _share(scaled, alias):
    """Give each column of less than average probability an alias that fills it up."""
    small, large = [], []
    for k in range(len(scaled)):
        (small if scaled[k] < 1 else large).append(k)
    while len(small) > 0 and len(large) > 0:
        low, high = small.pop(), large[-1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    # What is left over has scaled probability one, up to rounding, and is its own alias.


@njit
def draw(tables, which, word, unit):
    """Draw from an alias table with the lower half of a word.

    Parameters
    ----------
    tables : ndarray, uint64, shape (n, laws)
        Each column made by :func:`alias_table` in the same unit.
    which : uint64
        Which of them. (A slice would cost more than the draw: it counts references.)
    word : uint64
        Random bits.
    unit : uint64
        What outcome 1 is called; outcome k is called k times as much.

    Returns
    -------
    uint64
        An outcome's name.
    """
    product = (word & _LOWER) * np.uint64(tables.shape[0])
    column = product >> _HALF
    entry = tables[column, which]
    # The product's lower half against the upper half of the entry, which need not be taken apart.
    stays = (product << _HALF | _LOWER) < entry
    return column * unit if stays else entry & _LOWER


@njit
def action_thresholds(policy, thresholds):
    """Write the cumulative probabilities of a policy, rounded to multiples of 2^-32.

    The last one is one whatever the rounding: an action cannot exceed A - 1.

    Parameters
    ----------
    policy : ndarray, float64, shape (S, A)
        The policy.
    thresholds : ndarray, uint64, shape (S, A)
        Overwritten.
    """
    last = policy.shape[1] - 1
    for s in range(policy.shape[0]):
        cumulative = 0.0
        for a in range(last):
            cumulative += policy[s, a]
            thresholds[s, a] = np.uint64(cumulative * 2.0**32 + 0.5)
        thresholds[s, last] = _LOWER + np.uint64(1)


@njit
def sample_returns(tables, thresholds, followed, start, first_action, words, returns):
    """Sample trajectories and sum their discounted rewards and utilities.

    Parameters
    ----------
    tables : Tables
        Of the process.
    thresholds : ndarray, uint64, shape (policies, S, A)
        Of the policies, made by :func:`action_thresholds`.
    followed : ndarray, uint64, shape (K,)
        Which policy each of the K trajectories follows.
    start : ndarray, uint64, shape (K,)
        First states.
    first_action : ndarray, int64, shape (K,)
        First actions, or `FREE` where the policy chooses.
    words : ndarray, uint64, shape (steps, K)
        Random bits, one word per step.
    returns : ndarray, float64, shape (K, 2)
        Overwritten with the discounted sums of reward and utility.
    """
    steps, trajectories = words.shape
    _, states, actions = thresholds.shape
    cuts = thresholds.reshape(-1)
    size = np.uint64(states * actions)
    for i in range(0, trajectories, 2):
        j = min(i + 1, trajectories - 1)  # an odd one out keeps itself company
        cuts_i, cuts_j = followed[i] * size, followed[j] * size
        at_i, at_j = start[i] * np.uint64(actions), start[j] * np.uint64(actions)
        at_i, r_i, g_i = _step(
            tables, cuts, actions, cuts_i, at_i, first_action[i], words[0, i], 1.0, 0.0, 0.0
        )
        at_j, r_j, g_j = _step(
            tables, cuts, actions, cuts_j, at_j, first_action[j], words[0, j], 1.0, 0.0, 0.0
        )
        weight = 1.0
        for t in range(1, steps):
            weight *= tables.discount
            at_i, r_i, g_i = _step(
                tables, cuts, actions, cuts_i, at_i, FREE, words[t, i], weight, r_i, g_i
            )
            at_j, r_j, g_j = _step(
                tables, cuts, actions, cuts_j, at_j, FREE, words[t, j], weight, r_j, g_j
            )
        returns[i, 0], returns[i, 1] = r_i, g_i
        returns[j, 0], returns[j, 1] = r_j, g_j


@njit
def _step(tables, cuts, actions, first_cut, state, forced, word, weight, reward, utility):
    """Take a step: the next state, and both sums with what it adds; states in units of A."""
    chance = word >> _HALF
    action = np.uint64(0)
    for cut in range(actions - 1):
        action += np.uint64(chance >= cuts[first_cut + state + np.uint64(cut)])
    if forced != FREE:
        action = np.uint64(forced)
    pair = state + action
    reward += weight * tables.signals[pair, 0]
    utility += weight * tables.signals[pair, 1]
    return draw(tables.successors, pair, word, np.uint64(actions)), reward, utility
