r"""NPGPD-HF, Algorithm 1 of the paper: natural policy gradient primal-dual from human feedback.

Softmax parameterization. In each iteration evaluators compare, for every pair (s, a), a trajectory
that starts with it to a trajectory that starts in s; the inverse link of their votes estimates the
advantage. Its exact limit is NPG-PD,
:math:`\theta^{(t+1)} = \theta^{(t)} + \frac{\eta_1}{1-\gamma} A_L^{(t)}`. Comments and
kernels name lines of Algorithm 1, other docstrings lines of the LaTeX source.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pgpd_hf.compilation import njit
from pgpd_hf.evaluators import ask
from pgpd_hf.policies import softmax
from pgpd_hf.primal_dual import Answers, HumanFeedback, PrimalDual, State, dual_update, normalizer
from pgpd_hf.trajectories import action_thresholds, draw_start, make_trajectories, sample_returns


@dataclass(frozen=True, kw_only=True)
class NPGPDHF(HumanFeedback):
    """Algorithm 1, by default with the step sizes of Theorem 1.

    Its options are those of :class:`pgpd_hf.HumanFeedback` and :class:`pgpd_hf.PrimalDual`.
    """

    name: ClassVar[str] = "npgpd_hf"
    label: ClassVar[str] = "NPGPD-HF"

    def effort(self, cmdp):
        """Trajectories from each s, each (s, a) and rho; two questions on each (s, a), and one."""
        pairs = cmdp.states * cmdp.actions
        return self.rounds * (cmdp.states + pairs + 1), self.rounds * (2 * pairs + 1)

    def theorem_steps(self, cmdp, optimum, iterations):
        r""":math:`\eta_1 = 2\log|A|` and :math:`\eta_2 = (1-\gamma)/\sqrt T` (line 457)."""
        return 2 * math.log(cmdp.actions), (1 - cmdp.discount) / math.sqrt(iterations)

    def estimate(self, setting, theta, words, normals):
        """Estimate both advantages, and V_g - b, from the answers of one iteration: `run.ask`."""
        advantage, simulator = np.empty((2, *theta.shape)), setting.simulator
        trajectories = _lay_out(self.rounds, *theta.shape)
        excess = _estimate(simulator, self.policy(theta), words, advantage, trajectories)
        return Answers(*advantage, excess)

    def advance(self, setting, state, words, normals):
        """Make as many iterations as there are rows of random words."""
        theta, given = state.theta.copy(), (setting.simulator, setting.steps)
        trajectories = _lay_out(self.rounds, *theta.shape)
        *iterates, multiplier = _advance(*given, theta, state.multiplier, words, trajectories)
        return *iterates, State(theta, multiplier)


@dataclass(frozen=True, kw_only=True)
class NPGPD(PrimalDual):
    """Exact limit of Algorithm 1 (Ding et al. 2020), as M, N and H grow (Lemma 3.1).

    Its options are those of :class:`pgpd_hf.PrimalDual`.
    """

    name: ClassVar[str] = "npg_pd"
    label: ClassVar[str] = "NPG-PD (exact)"

    theorem_steps = NPGPDHF.theorem_steps

    def update(self, run, state):
        """Make one iteration."""
        cmdp, policy = run.cmdp, self.policy(state.theta)
        lagrangian = cmdp.reward + state.multiplier * cmdp.utility
        step = run.primal_step(state.multiplier) / (1 - cmdp.discount)
        theta = state.theta + step * cmdp.advantages(policy, lagrangian)
        excess = cmdp.evaluate(policy)[1] - cmdp.threshold
        return state.next(theta, run.dual_update(state.multiplier, excess))


@njit(allocates=True)
def _advance(simulator, steps, theta, multiplier, words, trajectories):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    multipliers = np.empty(len(words))
    advantage = np.empty((2, states, actions))
    for t in range(len(words)):  # line 2
        softmax(theta, policies[t])
        multipliers[t] = multiplier
        # Lines 3-20: estimate both advantages from votes, and V_g - b.
        excess = _estimate(simulator, policies[t], words[t], advantage, trajectories)
        # Lines 21-22: natural policy gradient step on the Lagrangian.
        primal_step = steps.primal / (1 - simulator.tables.discount)
        primal_step /= normalizer(steps.power, multiplier)
        for s in range(states):
            for a in range(actions):
                lagrangian = advantage[0, s, a] + multiplier * advantage[1, s, a]
                theta[s, a] += primal_step * lagrangian
        # Line 23: projected dual step.
        multiplier = dual_update(multiplier, excess, steps)
    return policies, multipliers, multiplier


@njit(forceinline=True)
def _estimate(simulator, policy, words, advantage, trajectories):
    """Lines 3-20: write the estimates of both advantages, and return that of V_g - b."""
    states, actions = policy.shape
    tables, evaluators, rounds = simulator.tables, simulator.evaluators, simulator.rounds
    per_round = states + states * actions + 1
    of_steps = rounds * per_round * (simulator.horizon + 1)  # words; then of first states, votes

    # Lines 4-7 and 13-14: trajectories from every s, from every (s, a), and from rho.
    for n in range(rounds):
        trajectories.start[(n + 1) * per_round - 1] = draw_start(tables, words[of_steps + n])
    action_thresholds(policy, trajectories.thresholds[0])
    sample_returns(tables, trajectories, words, simulator.horizon)

    # Lines 8-12 and 15-20: votes, and the means of their clipped inverse links.
    returns, vote = trajectories.returns, of_steps + rounds
    advantage[:] = 0.0
    excess = 0.0
    for n in range(rounds):
        from_state = n * per_round
        from_pair = from_state + states
        for s in range(states):
            for a in range(actions):
                reward = returns[from_pair, 0] - returns[from_state, 0]
                utility = returns[from_pair, 1] - returns[from_state, 1]
                advantage[0, s, a] += ask(evaluators, reward, words[vote]) / rounds
                advantage[1, s, a] += ask(evaluators, utility, words[vote + 1]) / rounds
                vote += 2
                from_pair += 1
            from_state += 1
        difference = returns[from_pair, 1] - simulator.threshold
        excess += ask(evaluators, difference, words[vote]) / rounds
        vote += 1
    return excess


def _lay_out(rounds, states, actions):
    """Trajectories of an iteration: in each round from every s, from every (s, a), and from rho."""
    pairs = states * actions
    trajectories = make_trajectories(rounds * (states + pairs + 1), states, actions, 1)
    starts = trajectories.start.reshape(rounds, -1)
    starts[:, :states] = np.arange(states)
    starts[:, states:-1] = np.repeat(np.arange(states), actions)
    first_actions = trajectories.first_action.reshape(rounds, -1)
    first_actions[:, states:-1] = np.tile(np.arange(actions), states)
    return trajectories
