r"""Questions about pairs of trajectories, and the answers.

Methods that infer reward and utility can ask before they have a policy. A design says in advance
which pairs of trajectories are compared; a method that looks at earlier answers names the policies
that make them. Evaluators answer the paper's three questions about each pair: which
one is more helpful, which one is more harmless, and is the first one harmless enough? What an
answer depends on is linear in :math:`r` and :math:`g`, by the discounted visits
:math:`\phi(\tau) = \sum_{t \le H} \gamma^t e_{(s_t, a_t)}`.
"""

from typing import NamedTuple

import numpy as np
import scipy  # imports its parts when they are used

from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import chance_of_preference, chance_of_vote, count_votes
from pgpd_hf.core.sampling import action_thresholds, draw, forget, memorize, remembered
from pgpd_hf.core.streams import derived_word

# Two trajectories of the uniform policy; of two random deterministic policies; or NPGPD-HF's own:
# a trajectory that begins with (s, a) beside one that begins in s, all pairs (s, a) in turn.
DESIGNS = ("uniform", "deterministic", "state-action")
_GIVEN, _DETERMINISTIC, _STATE_ACTION = -1, 1, 2
_HALF = np.uint64(32)
_MOST_DENSE = 2**25  # entries of dense visits: 256 MiB; a trajectory visits few of many pairs


class Answers(NamedTuple):
    r"""Pairs of trajectories, and what evaluators said about them.

    Attributes
    ----------
    visits : ndarray or scipy.sparse.csr_array, float64, shape (2 n, S * A)
        :math:`\phi` of the first and of the second trajectory of each pair, in turn; sparse if
        dense ones of one iteration would take more than 256 MiB.
    shares : ndarray, float64, shape (n, questions)
        Shares of votes for the first one's reward, for its utility, and, if that is asked, for its
        being harmless enough.
    weights : ndarray, float64, shape (n,)
        Votes that a share counts for: M, or 1 for infinitely many evaluators.
    steps : ndarray, float64, shape (S, A, S)
        How often each transition was seen.
    """

    visits: np.ndarray
    shares: np.ndarray
    weights: np.ndarray
    steps: np.ndarray


def no_answers(states, actions, questions):
    """Make the answers before the first question.

    Parameters
    ----------
    states, actions : int
        Size of the CMDP.
    questions : int
        About each pair: 2 for comparisons alone, 3 with the absolute one.

    Returns
    -------
    Answers
    """
    steps = np.zeros((states, actions, states))
    return Answers(np.empty((0, states * actions)), np.empty((0, questions)), np.empty(0), steps)


def ask_about(simulator, design, actions, words, before, policies=()):
    """Sample N pairs of trajectories, put questions about each, and append the answers.

    Parameters
    ----------
    simulator : Simulator
        Supplies the CMDP, M, N, H and the threshold.
    design : str
        One of :data:`DESIGNS`.
    actions : int
        Number of actions.
    words : ndarray, uint64, shape (words,)
        Random bits: one word per step, pair and question.
    before : Answers
        All answers so far; stays as it is.
    policies : array_like, float64, shape (K, 2, S, A), optional
        The two policies of a pair, in turn; they take the place of the design.

    Returns
    -------
    Answers

    Examples
    --------
    Two pairs of trajectories of four steps, about each of which ten people answer three questions.

    >>> import numpy as np
    >>> from pgpd_hf import random_cmdp
    >>> from pgpd_hf.core.evaluators import count_words, make_simulator
    >>> simulator = make_simulator(random_cmdp(3, 2), evaluators=10, rounds=2, horizon=3)
    >>> words = np.random.default_rng(0).integers(2**64, size=count_words(2, 3, 4, 6), dtype="u8")
    >>> answers = ask_about(simulator, "uniform", 2, words, no_answers(3, 2, 3))
    >>> answers.shares.tolist(), answers.steps.sum().item()
    ([[0.7, 0.3, 0.1], [0.6, 0.4, 0.5]], 16.0)
    """
    tables, rounds = simulator.tables, simulator.rounds
    states = tables.starts.shape[0]
    width = tables.successors.shape[1] // states
    taken = np.empty((2 * rounds, simulator.horizon + 1), np.int64)
    steps = np.zeros((states * width, states))
    shares = np.empty((rounds, before.shares.shape[1]))
    first = len(before.weights)
    cuts = np.empty((2 * len(policies), states, actions), np.uint64)
    for policy, thresholds in zip(np.reshape(policies, cuts.shape), cuts, strict=True):
        action_thresholds(policy, thresholds)
    kind = DESIGNS.index(design) if len(policies) == 0 else _GIVEN
    _ask(simulator, kind, cuts, actions, first, words, taken, steps, shares)
    visits = _discounted_visits(taken, tables.discount, states * actions)
    weights = np.full(rounds, float(max(1, simulator.evaluators.number)))
    return Answers(
        stacked(before.visits, visits),
        np.concatenate([before.shares, shares]),
        np.concatenate([before.weights, weights]),
        before.steps + steps.reshape(states, width, states)[:, :actions],
    )


def require_differences(answers):
    """Refuse answers from which nothing follows, since all pairs are equal.

    Parameters
    ----------
    answers : Answers
        All answers so far.

    Raises
    ------
    ValueError
        If the two trajectories of every pair have the same visits.
    """
    if abs(compared(answers)).max() == 0:
        raise ValueError(
            f"design: both trajectories are equal in all {len(answers.weights)} pairs, so that "
            "answers tell nothing; more pairs, a longer horizon or another design expected"
        )


def compared(answers):
    r"""Differences of visits, :math:`\phi` of the first trajectory minus that of the second.

    Parameters
    ----------
    answers : Answers
        All answers so far.

    Returns
    -------
    ndarray or scipy.sparse.csr_array, float64, shape (n, S * A)
    """
    return answers.visits[::2] - answers.visits[1::2]


def stacked(first, second):
    """Rows of two arrays, one below the other.

    Parameters
    ----------
    first, second : ndarray or scipy.sparse.csr_array, float64, shape (..., d)
        The arrays.

    Returns
    -------
    ndarray or scipy.sparse.csr_array
        Sparse if one of the two is.
    """
    if scipy.sparse.issparse(first) or scipy.sparse.issparse(second):
        return scipy.sparse.vstack([first, second], format="csr")
    return np.concatenate([first, second])


def _discounted_visits(taken, discount, pairs):
    """Discounted visits, from the pairs (s, a) of each step of trajectories."""
    trajectories, length = taken.shape
    known = np.cumprod(np.append(1.0, np.full(length - 1, discount)))
    ends = np.arange(0, taken.size + 1, length)
    shape = trajectories, pairs
    visits = scipy.sparse.csr_array((np.tile(known, trajectories), taken.ravel(), ends), shape)
    if trajectories * pairs <= _MOST_DENSE:
        return visits.toarray()
    visits.sum_duplicates()
    return visits


@njit
def _ask(simulator, design, cuts, actions, first_pair, words, taken, steps, shares):
    tables, rounds, horizon = simulator.tables, simulator.rounds, simulator.horizon
    states = tables.starts.shape[0]
    width = np.uint64(tables.successors.shape[1] // states)
    count = 2 * rounds
    returns, memory = np.empty((2, 2)), np.empty((2, 3))
    for n in range(rounds):
        source = words[count * (horizon + 1) + n]  # of first states and of policies
        for i in range(2):
            k = 2 * n + i
            forced = -1
            if design == _STATE_ACTION:
                pair = (first_pair + n) % (states * actions)
                state = np.uint64(pair // actions)
                if i == 0:
                    forced = pair % actions
            else:
                word = derived_word(source, np.uint64(1 + i))
                state = draw(tables.starts, np.uint64(0), word, np.uint64(1))
            at, weight = state * width, 1.0  # what people weigh steps by
            forget(memory)
            for t in range(horizon + 1):
                word = words[t * count + k]
                chance = word >> _HALF
                if design == _DETERMINISTIC:
                    place = 3 + i * states + np.int64(at // width)
                    chance = derived_word(source, np.uint64(place)) >> _HALF
                action = (chance * np.uint64(actions)) >> _HALF
                if design == _GIVEN:
                    action = np.uint64(0)
                    for cut in cuts[k % len(cuts), at // width, :-1]:
                        action += np.uint64(chance >= cut)
                if t == 0 and forced >= 0:
                    action = np.uint64(forced)
                here = at + action
                taken[k, t] = (at // width) * np.uint64(actions) + action
                memorize(tables, memory, here, weight)
                at = draw(tables.successors, here, word, width)
                steps[here, at // width] += 1
                weight *= tables.recency
            returns[i, 0], returns[i, 1] = remembered(tables, memory)
        people, questions = simulator.evaluators, shares.shape[1]
        reward, utility = returns[0, 0] - returns[1, 0], returns[0, 1] - returns[1, 1]
        chances = (
            chance_of_preference(people, reward, utility),
            chance_of_preference(people, utility, reward),
            chance_of_vote(people, returns[0, 1] - simulator.threshold),
        )
        for question in range(questions):
            vote = words[count * (horizon + 1) + rounds + questions * n + question]
            shares[n, question] = _share(people, chances[question], vote)


@njit
def _share(evaluators, chance, word):
    """Share of votes in favour; with infinitely many evaluators, its mean."""
    if evaluators.number == 0:
        return chance
    return count_votes(evaluators.number, chance, word) / evaluators.number
