r"""NPGPD-HF: natural policy gradient primal-dual method from human feedback.

Algorithm 1 of the paper, softmax parameterization. In each iteration evaluators compare, for every
pair :math:`(s, a)`, a trajectory that starts with it to one that starts in s; the inverse link of
their votes estimates the advantage. Line numbers in comments are those of Algorithm 1.
"""

import math

import numpy as np

from pgpd_hf.algorithms.base import PrimalDualHF, dual_update, step_sizes
from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import ask, compare
from pgpd_hf.core.policies import softmax
from pgpd_hf.core.sampling import (
    action_thresholds,
    draw,
    make_trajectories,
    require_words,
    sample_returns,
)


class NPGPDHF(PrimalDualHF):
    """Algorithm 1; step sizes of Theorem 1."""

    name = "npgpd_hf"
    label = "NPGPD-HF"
    rate = -1 / 2

    @staticmethod
    def effort(states, actions, rounds):  # noqa: D102
        return rounds * (states + states * actions + 1), rounds * (2 * states * actions + 1)

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):  # noqa: D102
        return theorem_1_steps(cmdp.actions, cmdp.discount, iterations)

    def estimate(self, run, theta, words, normals):  # noqa: D102
        estimates = np.empty((2, *theta.shape))
        trajectories = _trajectories(run.simulator.rounds, *theta.shape)
        excess = _estimate(run.simulator, run.policy(theta), words, estimates, trajectories)
        return estimates, excess

    def advance(self, run, state, words, normals):  # noqa: D102
        theta = state.theta.copy()  # the kernel updates it in place
        steps = run.steps._replace(primal=run.primal_step / (1 - run.cmdp.discount))
        policies, multipliers, multiplier = _advance(
            run.simulator, theta, state.multiplier, words, steps, state.iteration
        )
        iteration = state.iteration + len(words)
        state = state._replace(theta=theta, multiplier=multiplier, iteration=iteration)
        return policies, multipliers, state


def theorem_1_steps(actions, discount, iterations):
    r"""Step sizes of Theorem 1 (line 457).

    Parameters
    ----------
    actions : int
        :math:`|A|`.
    discount : float
        :math:`\gamma`.
    iterations : int or float
        T; theory also asks for lengths that only a float can hold.

    Returns
    -------
    primal_step, dual_step : float
        :math:`\eta_1 = 2\log|A|` and :math:`\eta_2 = (1-\gamma)/\sqrt T`.

    Examples
    --------
    >>> from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
    >>> primal, dual = theorem_1_steps(actions=4, discount=0.5, iterations=100)
    >>> round(primal, 4), dual
    (2.7726, 0.05)
    """
    actions = require_integer("actions", actions, 1)
    return 2 * math.log(actions), (1 - discount) / math.sqrt(iterations)


@njit
def _advance(simulator, theta, multiplier, words, steps, iteration):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    multipliers = np.empty(len(words))
    advantage = np.empty((2, states, actions))
    trajectories = _trajectories(simulator.rounds, states, actions)
    for t in range(len(words)):  # line 2
        softmax(theta, policies[t])
        multipliers[t] = multiplier
        # Lines 3-20: estimate both advantages from votes, and V_g - b.
        excess = _estimate(simulator, policies[t], words[t], advantage, trajectories)
        # Lines 21-22: natural policy gradient step on the Lagrangian.
        primal_step, dual_step = step_sizes(steps, multiplier, iteration + t)
        for s in range(states):
            for a in range(actions):
                lagrangian = advantage[0, s, a] + multiplier * advantage[1, s, a]
                theta[s, a] += primal_step * lagrangian
        # Line 23: projected dual step; as printed, without regularization.
        multiplier = dual_update(multiplier, excess, dual_step, steps)
    return policies, multipliers, multiplier


@njit(forceinline=True)
def _estimate(simulator, policy, words, advantage, trajectories):
    """Lines 3-20: write the estimates of both advantages, and return that of V_g - b."""
    states, actions = policy.shape
    tables, evaluators, rounds = simulator.tables, simulator.evaluators, simulator.rounds
    per_round = states + states * actions + 1
    steps = rounds * per_round * (simulator.horizon + 1)  # one word each; then first states, votes

    # Lines 4-7 and 13-14: trajectories from every s, from every (s, a), and from rho.
    require_words(words, steps + rounds + rounds * (2 * states * actions + 1))
    for n in range(rounds):
        first = draw(tables.starts, np.uint64(0), words[steps + n], np.uint64(1))
        trajectories.start[(n + 1) * per_round - 1] = first
    action_thresholds(policy, trajectories.thresholds[0])
    sample_returns(tables, trajectories, words, simulator.horizon)

    # Lines 8-12 and 15-20: votes, clipped frequencies, and the means of their inverse links.
    returns, vote = trajectories.returns, steps + rounds
    advantage.fill(0)
    excess = 0.0
    for n in range(rounds):
        from_state = n * per_round
        from_pair = from_state + states
        for s in range(states):
            for a in range(actions):
                reward = returns[from_pair, 0] - returns[from_state, 0]
                utility = returns[from_pair, 1] - returns[from_state, 1]
                answer = compare(evaluators, reward, utility, words[vote])
                advantage[0, s, a] += answer / rounds
                answer = compare(evaluators, utility, reward, words[vote + 1])
                advantage[1, s, a] += answer / rounds
                vote += 2
                from_pair += 1
            from_state += 1
        difference = returns[from_pair, 1] - simulator.threshold
        excess += ask(evaluators, difference, words[vote]) / rounds
        vote += 1
    return excess


@njit
def _trajectories(rounds, states, actions):
    """Lay out the trajectories; those of a round start from every s, every (s, a), and rho."""
    per_round = states + states * actions + 1
    trajectories = make_trajectories(rounds * per_round, states, actions)
    for n in range(rounds):
        for s in range(states):
            trajectories.start[n * per_round + s] = s
            for a in range(actions):
                k = n * per_round + states + s * actions + a
                trajectories.start[k] = s
                trajectories.first_action[k] = a
    return trajectories
