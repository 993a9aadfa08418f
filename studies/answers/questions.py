r"""Questions about pairs of trajectories that are chosen in advance, and the answers.

Safe RLHF and trajectory DPO ask before they have a policy. Both trajectories of a pair follow the
uniform policy, or each follows a random deterministic policy of its own. Evaluators say which of
the two is more helpful and which is more harmless, and, if asked, whether the first is harmless
enough: the paper's three questions. What an answer depends on is linear in r and g, by the
discounted visits :math:`\phi(\tau) = \sum_{t \le H} \gamma^t e_{(s_t, a_t)}`.
"""

from typing import NamedTuple

import numpy as np

from pgpd_hf.compilation import njit
from pgpd_hf.evaluators import count_votes, make_simulator, vote_probability
from pgpd_hf.streams import derived_word, draw_words, word_stream
from pgpd_hf.trajectories import draw

_HALF = np.uint64(32)


class Answers(NamedTuple):
    """Pairs of trajectories, and what M evaluators said about them."""

    visits: np.ndarray  # (2 n, S * A): of the first and of the second trajectory of each pair
    votes: np.ndarray  # (n, questions): for the first one's reward, utility, and harmlessness
    evaluators: int

    @property
    def differences(self):
        """Visits of the first trajectory of each pair minus those of the second, (n, S * A)."""
        return self.visits[::2] - self.visits[1::2]

    @property
    def numbers(self):
        """Votes about each pair, (n,)."""
        return np.full(len(self.votes), self.evaluators)


def ask(cmdp, design, pairs, evaluators, questions, *, horizon, random_answers, **axes):
    """Sample pairs of trajectories, and put two or three questions about each to M evaluators.

    Further arguments are the axes of the random stream.
    """
    simulator = make_simulator(
        cmdp, pairs, horizon, evaluators, "logistic", "plug-in", random_answers
    )
    # One word for each step, for each pair's first states and policies, and for each question.
    words = np.empty(2 * pairs * (horizon + 1) + pairs + questions * pairs, np.uint64)
    draw_words(word_stream(kind="words", evaluators=evaluators, **axes), words)
    visits = np.zeros((2 * pairs, cmdp.states * cmdp.actions))
    votes = np.empty((pairs, questions), np.int64)
    _ask(simulator, design == "deterministic", cmdp.actions, words, visits, votes)
    if not (visits[::2] - visits[1::2]).any():
        raise ValueError(
            f"most_pairs: both trajectories are equal in all {pairs} pairs; more expected"
        )
    return Answers(visits, votes, evaluators)


@njit(allocates=True)
def _ask(simulator, deterministic, actions, words, visits, votes):
    tables, panel, horizon = simulator.tables, simulator.evaluators, simulator.horizon
    states, pairs, questions = tables.starts.shape[0], votes.shape[0], votes.shape[1]
    width = np.uint64(tables.successors.shape[1] // states)
    count = 2 * pairs
    returns = np.empty((2, 2))
    for n in range(pairs):
        source = words[count * (horizon + 1) + n]  # of first states and of policies
        for i in range(2):
            word = derived_word(source, np.uint64(1 + i))
            at = draw(tables.starts, np.uint64(0), word, np.uint64(1)) * width
            weight, reward, utility = 1.0, 0.0, 0.0
            for t in range(horizon + 1):
                word = words[t * count + 2 * n + i]
                chance = word >> _HALF
                if deterministic:  # the action depends on the pair, on the trajectory and on s
                    place = 3 + i * states + np.int64(at // width)
                    chance = derived_word(source, np.uint64(place)) >> _HALF
                here = at + ((chance * np.uint64(actions)) >> _HALF)
                visits[2 * n + i, here // width * np.uint64(actions) + here % width] += weight
                reward += weight * tables.reward[here]
                utility += weight * tables.utility[here]
                at = draw(tables.successors, here, word, width)
                weight *= tables.discount
            returns[i, 0], returns[i, 1] = reward, utility
        for question in range(questions):
            if question < 2:
                difference = returns[0, question] - returns[1, question]
            else:
                difference = returns[0, 1] - simulator.threshold
            chance = vote_probability(panel.link, difference)
            chance += panel.random_answers * (0.5 - chance)
            word = words[count * (horizon + 1) + pairs + questions * n + question]
            votes[n, question] = count_votes(panel.number, chance, word)
