r"""NPGPD-HF: natural policy gradient primal-dual method from human feedback.

Algorithm 1 of the paper, softmax parameterization. In each iteration people compare, for every
pair :math:`(s, a)`, a trajectory that starts with it to one that starts in s; the inverse link of
their votes estimates the advantage. Line numbers in comments are those of Algorithm 1.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.algorithms.base import Algorithm
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import Crowd, ask, make_crowd
from pgpd_hf.core.links import get_link
from pgpd_hf.core.policies import softmax
from pgpd_hf.core.sampling import (
    FREE,
    Tables,
    action_thresholds,
    draw,
    make_tables,
    sample_returns,
)


class NPGPDHF(Algorithm):
    """Algorithm 1; step sizes of Theorem 1."""

    name = "npgpd_hf"
    label = "NPGPD-HF"
    parameterizations = ("softmax",)

    def __init__(self, cmdp, optimum, setting):
        super().__init__(cmdp, optimum, setting)
        bound = cmdp.return_bound(setting.horizon)
        self.survey = Survey(
            make_tables(cmdp),
            make_crowd(setting.evaluators, get_link(setting.link), bound),
            setting.pairs,
            setting.horizon,
            cmdp.threshold,
        )

    @staticmethod
    def effort(states, actions, pairs):  # noqa: D102
        return pairs * (states + states * actions + 1), pairs * (2 * states * actions + 1)

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):  # noqa: D102
        return 2 * math.log(cmdp.actions), (1 - cmdp.discount) / math.sqrt(iterations)

    def estimate(self, theta, words, normals):  # noqa: D102
        estimates = np.empty((2, *theta.shape))
        excess = _estimate(
            self.survey, self.policy(theta), words, estimates, _workspace(self.survey, *theta.shape)
        )
        return estimates, excess

    def advance(self, theta, multiplier, words, normals):  # noqa: D102
        step = self.primal_step / (1 - self.cmdp.discount)
        return _advance(
            self.survey, theta, multiplier, words, step, self.dual_step, self.multiplier_bound
        )


class Survey(NamedTuple):
    """Whom to ask, and about what.

    Attributes
    ----------
    tables : Tables
        Of the process.
    crowd : Crowd
        The evaluators.
    rounds : int
        N.
    horizon : int
        H.
    threshold : float
        b.
    """

    tables: Tables
    crowd: Crowd
    rounds: int
    horizon: int
    threshold: float


class Workspace(NamedTuple):
    """Arrays that iterations reuse; K trajectories per iteration, N times (S + S A + 1)."""

    thresholds: np.ndarray  # (1, S, A), uint64
    followed: np.ndarray  # (K,), uint64
    start: np.ndarray  # (K,), uint64
    first_action: np.ndarray  # (K,), int64
    returns: np.ndarray  # (K, 2), float64


@njit
def _advance(survey, theta, multiplier, words, step, dual_step, multiplier_bound):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    multipliers = np.empty(len(words))
    advantage = np.empty((2, states, actions))
    work = _workspace(survey, states, actions)
    for t in range(len(words)):  # line 2
        softmax(theta, policies[t])
        multipliers[t] = multiplier
        # Lines 3-20: people estimate both advantages and how far V_g exceeds b.
        excess = _estimate(survey, policies[t], words[t], advantage, work)
        # Lines 21-22: natural policy gradient step on the Lagrangian.
        for s in range(states):
            for a in range(actions):
                theta[s, a] += step * (advantage[0, s, a] + multiplier * advantage[1, s, a])
        # Line 23: projected dual step.
        multiplier = min(max(multiplier - dual_step * excess, 0.0), multiplier_bound)
    return policies, multipliers, multiplier


@njit
def _estimate(survey, policy, word, advantage, work):
    """Lines 3-20: write the advantages' estimates, return that of V_g - b."""
    states, actions = policy.shape
    rounds = survey.rounds
    per_round = states + states * actions + 1
    steps = rounds * per_round * (survey.horizon + 1)

    # Lines 4-7 and 13-14: trajectories from every s, from every (s, a), and from rho.
    for n in range(rounds):
        first = draw(survey.tables.starts, np.uint64(0), word[steps + n], np.uint64(1))
        work.start[(n + 1) * per_round - 1] = first
    action_thresholds(policy, work.thresholds[0])
    moves = word[:steps].reshape(survey.horizon + 1, rounds * per_round)
    sample_returns(
        survey.tables,
        work.thresholds,
        work.followed,
        work.start,
        work.first_action,
        moves,
        work.returns,
    )

    # Lines 8-12 and 15-20: votes, clipped frequencies, and the means of their inverse links.
    advantage[:] = 0.0
    excess = 0.0
    vote = steps + rounds
    for n in range(rounds):
        from_state = work.returns[n * per_round :]
        from_pair = from_state[states:]
        for s in range(states):
            for a in range(actions):
                for signal in range(2):
                    difference = from_pair[s * actions + a, signal] - from_state[s, signal]
                    advantage[signal, s, a] += ask(survey.crowd, difference, word[vote]) / rounds
                    vote += 1
        difference = from_pair[states * actions, 1] - survey.threshold
        excess += ask(survey.crowd, difference, word[vote]) / rounds
        vote += 1
    return excess


@njit
def _workspace(survey, states, actions):
    """Make the arrays; a round's trajectories start from every s, every (s, a), and rho."""
    per_round = states + states * actions + 1
    trajectories = survey.rounds * per_round
    start = np.zeros(trajectories, np.uint64)
    first_action = np.full(trajectories, FREE)
    for n in range(survey.rounds):
        for s in range(states):
            start[n * per_round + s] = s
            for a in range(actions):
                k = n * per_round + states + s * actions + a
                start[k] = s
                first_action[k] = a
    return Workspace(
        np.empty((1, states, actions), np.uint64),
        np.zeros(trajectories, np.uint64),
        start,
        first_action,
        np.empty((trajectories, 2)),
    )
