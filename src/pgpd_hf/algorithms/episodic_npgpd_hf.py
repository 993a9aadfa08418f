r"""Episodic NPGPD-HF: natural steps from all that an answer is about; not of the paper.

Algorithm 1 reads an answer about two trajectories as a statement about one action, the one with
which the first of them begins. But the policy chose all the other actions, too, and an answer is
about the sums of what they all bring. With the policy's advantages A and the scores
:math:`\psi_t = e_{(s_t, a_t)} - \sum_a \pi(a|s_t) e_{(s_t, a)}`, the return of a trajectory is

.. math:: R(\tau) = V(s_0) + \sum_t \gamma^t \langle \psi_t, A \rangle + \varepsilon,\qquad
    \varepsilon = \sum_t \gamma^{t+1} (V(s_{t+1}) - E[V(s_{t+1}) | s_t, a_t]),

where neither :math:`V(s_0)` nor :math:`\varepsilon` is correlated with
:math:`z = \sum_t \gamma^t \psi_t`. So :math:`E[z R] = E[z z^\top] A`: the regression of returns on
z has the advantages as its solution, up to a number for each state, which changes no softmax
policy. This is the episodic natural actor-critic (Peters and Schaal 2008), with votes in the place
of returns.

In each round :math:`\tau_1` and :math:`\tau_0` start from :math:`\rho` and follow
:math:`\pi^{(t)}`. Votes on :math:`R(\tau_1) - R(\tau_0)` are read as x, those on
:math:`R_g(\tau_1) - b` give the dual step, and with the mean over the N rounds of an iteration

.. math:: \hat A = \left(\overline{z z^\top} + \kappa I\right)^{-1} \overline{z x},\qquad
    z = z(\tau_1) - z(\tau_0),

takes the place of Algorithm 1's estimates. Trajectories that start in every state and action are
not needed.

**What an answer is worth.** Votes are far noisier than returns, so what counts is :math:`E|z|^2`,
the information of one answer in all:

.. math:: 2 \sum_{t \le H} \gamma^{2t} E\Big[1 - \sum_a \pi(a|s_t)^2\Big],

7.9 for :math:`\gamma = 0.9` and four actions that are equally likely. In Algorithm 1 it is one.

**Bias.** The ridge :math:`\kappa` draws the estimates of rare actions towards zero, so that they
wait for more answers. :math:`\overline{z z^\top}` comes from the same trajectories as x, which
makes a bias of the order 1/N. Truncation puts the advantages of the steps that are left in the
place of A.
"""

import numpy as np

from pgpd_hf.algorithms.base import PrimalDualHF, option
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import ask, compare
from pgpd_hf.core.sampling import (
    action_thresholds,
    draw,
    make_trajectories,
    require_words,
    sample_returns,
    sample_visits,
    table_width,
)
from pgpd_hf.core.streams import derived_word


class EpisodicNPGPDHF(PrimalDualHF):
    """Algorithm 1's step, by regression of votes on scores; three questions per round."""

    name = "episodic_npgpd_hf"
    label = "NPGPD-HF (episodic)"

    ridge: float = option(
        0.03, "Ridge kappa of the regression, in units of squared visits per round.", above=0
    )

    def estimate(self, run, theta, words, normals):  # noqa: D102
        scores, answers, excess = ask_about_policy(run.simulator, run.policy(theta), words)
        information = scores.T @ scores / run.simulator.rounds
        information[np.diag_indices_from(information)] += self.ridge
        estimates = np.linalg.solve(information, scores.T @ answers / run.simulator.rounds)
        return estimates.T.reshape(2, *theta.shape), excess


def ask_about_policy(simulator, policy, words):
    r"""Ask N times about two trajectories of a policy, and read the answers.

    Parameters
    ----------
    simulator : Simulator
        Supplies the CMDP, M, N, H and the threshold.
    policy : ndarray, float64, shape (S, A)
        The policy.
    words : ndarray, uint64, shape (words,)
        Random bits: one word per step, round and question.

    Returns
    -------
    scores : ndarray, float64, shape (N, S * A)
        z, the difference of the sums of discounted scores.
    answers : ndarray, float64, shape (N, 2)
        Differences of reward and of utility, as read from votes.
    excess : float
        The estimate of :math:`V_g - b`.
    """
    states, actions = policy.shape
    rounds = simulator.rounds
    visits = np.zeros((2 * rounds, states, table_width(actions)))
    answers = np.empty((rounds, 2))
    excess = _ask(simulator, policy, words, visits.reshape(2 * rounds, -1), answers)
    scores = visits[::2, :, :actions] - visits[1::2, :, :actions]
    scores -= policy * scores.sum(axis=2, keepdims=True)
    return scores.reshape(rounds, -1), answers, excess


@njit
def _ask(simulator, policy, words, visits, answers):
    """Write discounted visits and answers, and return the estimate of V_g - b."""
    tables, people, horizon = simulator.tables, simulator.evaluators, simulator.horizon
    rounds = simulator.rounds
    states, actions = policy.shape
    trajectories = make_trajectories(2 * rounds, states, actions)
    action_thresholds(policy, trajectories.thresholds[0])
    starts = 2 * rounds * (horizon + 1)  # one word per step; then first states and votes
    require_words(words, starts + rounds + 3 * rounds)
    for k in range(2 * rounds):
        word = derived_word(words[starts + k // 2], np.uint64(1 + k % 2))
        trajectories.start[k] = draw(tables.starts, np.uint64(0), word, np.uint64(1))
    sample_returns(tables, trajectories, words, horizon)
    sample_visits(tables, trajectories, words, horizon, visits)

    excess = 0.0
    for n in range(rounds):
        vote = starts + rounds + 3 * n
        first, second = trajectories.returns[2 * n], trajectories.returns[2 * n + 1]
        reward, utility = first[0] - second[0], first[1] - second[1]
        answers[n, 0] = compare(people, reward, utility, words[vote])
        answers[n, 1] = compare(people, utility, reward, words[vote + 1])
        excess += ask(people, first[1] - simulator.threshold, words[vote + 2]) / rounds
    return excess
