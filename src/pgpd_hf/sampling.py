r"""Trajectories of :math:`H + 1` steps, sampled by a kernel that draws nothing itself.

Randomness comes in as 64-bit words, one per step: the upper half of a word chooses the action by
comparison with the cumulative probabilities of the policy, the lower half chooses the next state
from an alias table (Walker 1977; tables are built once, :math:`P` does not change). Probabilities
are therefore multiples of :math:`2^{-32}`. Trajectories advance side by side, step by step, which
hides the latency of the look-ups.
"""

from typing import NamedTuple

import numpy as np

from pgpd_hf._compilation import njit

_HALF = np.uint64(32)
_LOWER = np.uint64(2**32 - 1)
FREE = -1  # first action of a trajectory that starts from a state


class Tables(NamedTuple):
    """What the sampling kernels need to know of a process.

    Attributes
    ----------
    successors : ndarray, uint64, shape (S * A, S)
        Alias tables of the rows of P: threshold in the upper half, alias in the lower.
    starts : ndarray, uint64, shape (1, S)
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
        successors=np.stack([alias_table(row) for row in rows]),
        starts=alias_table(cmdp.initial)[None],
        signals=np.stack([cmdp.reward.ravel(), cmdp.utility.ravel()], axis=1),
        discount=cmdp.discount,
    )


def alias_table(probability):
    """Alias table of one distribution (Vose 1991).

    Parameters
    ----------
    probability : array_like, float, shape (n,)
        A distribution.

    Returns
    -------
    ndarray, uint64, shape (n,)
        Entry k holds in its lower half the alias of k and in its upper half the probability, in
        units of 2^-32, of staying with k.
    """
    scaled = np.asarray(probability, dtype=np.float64) * len(probability)
    alias = np.arange(len(scaled))
    small = [k for k, p in enumerate(scaled) if p < 1]
    large = [k for k, p in enumerate(scaled) if p >= 1]
    while small and large:
        low, high = small.pop(), large[-1]
        alias[low] = high
        scaled[high] -= 1 - scaled[low]
        if scaled[high] < 1:
            small.append(large.pop())
    # What is left over has scaled probability one, up to rounding, and is its own alias.
    threshold = np.minimum(np.rint(scaled * 2.0**32), 2.0**32 - 1).astype(np.uint64)
    return (threshold << _HALF) | alias.astype(np.uint64)


@njit
def draw(tables, row, word):
    """Draw from an alias table with the lower half of a word.

    Parameters
    ----------
    tables : ndarray, uint64, shape (rows, n)
        Each row made by :func:`alias_table`.
    row : uint64
        Which of them. (A slice would cost more than the draw: it counts references.)
    word : uint64
        Random bits.

    Returns
    -------
    uint64
        In [0, n).
    """
    product = (word & _LOWER) * np.uint64(tables.shape[1])
    column = product >> _HALF
    entry = tables[row, column]
    return column if (product & _LOWER) < (entry >> _HALF) else entry & _LOWER


@njit
def action_thresholds(policy, thresholds):
    """Write the cumulative probabilities of a policy, rounded to multiples of 2^-32.

    The last one, which is one, is left out, so that rounding cannot make an action exceed A - 1.

    Parameters
    ----------
    policy : ndarray, float64, shape (S, A)
        The policy.
    thresholds : ndarray, uint64, shape (S, A - 1)
        Overwritten.
    """
    for s in range(policy.shape[0]):
        cumulative = 0.0
        for a in range(policy.shape[1] - 1):
            cumulative += policy[s, a]
            thresholds[s, a] = np.uint64(cumulative * 2.0**32 + 0.5)


@njit
def sample_returns(tables, thresholds, followed, start, first_action, words, state, returns):
    """Sample trajectories and sum their discounted rewards and utilities.

    Parameters
    ----------
    tables : Tables
        Of the process.
    thresholds : ndarray, uint64, shape (policies, S, A - 1)
        Of the policies, made by :func:`action_thresholds`.
    followed : ndarray, uint64, shape (K,)
        Which policy each of the K trajectories follows.
    start : ndarray, uint64, shape (K,)
        First states.
    first_action : ndarray, int64, shape (K,)
        First actions, or `FREE` where the policy chooses.
    words : ndarray, uint64, shape (steps, K)
        Random bits, one word per step.
    state : ndarray, uint64, shape (K,)
        Working space.
    returns : ndarray, float64, shape (K, 2)
        Overwritten with the discounted sums of reward and utility.
    """
    steps, trajectories = words.shape
    cuts = thresholds.shape[2]
    actions = np.uint64(cuts + 1)
    for k in range(trajectories):
        state[k] = start[k]
        returns[k, 0] = 0.0
        returns[k, 1] = 0.0
    weight = 1.0
    for t in range(steps):
        for k in range(trajectories):
            word = words[t, k]
            chance = word >> _HALF
            s = state[k]
            action = np.uint64(0)
            for cut in range(cuts):
                action += np.uint64(chance >= thresholds[followed[k], s, cut])
            if t == 0 and first_action[k] != FREE:
                action = np.uint64(first_action[k])
            pair = s * actions + action
            returns[k, 0] += weight * tables.signals[pair, 0]
            returns[k, 1] += weight * tables.signals[pair, 1]
            state[k] = draw(tables.successors, pair, word)
        weight *= tables.discount
