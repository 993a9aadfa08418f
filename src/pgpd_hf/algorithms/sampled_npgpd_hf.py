r"""Sampled NPGPD-HF: Algorithm 1's natural steps with Algorithm 2's questions; not of the paper.

Algorithm 1 asks about every state and action, so it has to start trajectories in any of them.
Algorithm 2 only follows trajectories from :math:`\rho`, two in a round, but pays for it with a
zeroth-order estimate whose noise grows as its bias shrinks. This method asks what Algorithm 2 asks
(the paper's reader may call it Algorithm 2E) and steps as Algorithm 1 does.

In each round :math:`s_0 \sim \rho`, and h is uniform on :math:`0, \dots, \bar h`. From
:math:`s_0` the trajectory :math:`\tau_1` takes uniform actions at the steps :math:`0, \dots, h` and
follows :math:`\pi^{(t)}` from then on, while :math:`\tau_0` follows :math:`\pi^{(t)}` throughout.
Votes on :math:`R(\tau_1) - R(\tau_0)` are read as :math:`x_r` and :math:`x_g`, those on
:math:`R_g(\tau_0) - b` give the dual step, and

.. math:: \theta(s_h, a_h) \leftarrow
    \theta(s_h, a_h) + \tfrac{\eta_1}{1-\gamma}(x_r + \lambda x_g),

averaged over rounds. **What it estimates.** Let :math:`P_j(s)` be the probability of
:math:`s_j = s` under uniform actions. Given :math:`h = j`, :math:`s_j = s` and :math:`a_j = a`, the
mean of :math:`R(\tau_1)` is a past plus :math:`\gamma^j Q^{(t)}(s, a)`. As :math:`a_j` is drawn
apart, neither the past nor :math:`R(\tau_0)` depends on it. So the mean of the increment is

.. math:: w(s) Q^{(t)}(s, a) + \text{(a number of the state)},\qquad
    w(s) = \frac{1}{(\bar h + 1)|A|} \sum_{j \le \bar h} \gamma^j P_j(s),

up to truncation and the bias of votes, and numbers of a state do not change a softmax policy. This
is Algorithm 1's step, with :math:`\eta_1 w(s)` in state s.

**Why it has a rate.** Since w does not depend on t, each state is an online linear problem of its
own, whatever the multiplier does: mirror descent bounds
:math:`w(s) \sum_t E\langle \pi^\star - \pi^{(t)}, Q^{(t)} \rangle(s)` by
:math:`O(\log|A|/\eta_1 + \eta_1 T)`. Divided by w(s) and summed with the optimal policy's
occupancies, this is the regret of the Lagrangian, so that the average gap and violation are
:math:`O(T^{-1/2})` for step sizes of that order. It takes :math:`w(s) > 0` wherever the optimal
policy goes, which the default of :math:`\bar h` provides.
"""

import numpy as np

from pgpd_hf.algorithms.base import PrimalDualHF, option
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import ask, compare
from pgpd_hf.core.sampling import (
    FREE,
    action_thresholds,
    draw,
    make_trajectories,
    require_words,
    sample_returns,
    table_width,
)


class SampledNPGPDHF(PrimalDualHF):
    """Algorithm 1's step, estimated from two trajectories and three questions per round."""

    name = "sampled_npgpd_hf"
    label = "NPGPD-HF (sampled)"

    exploration: int | None = option(
        None,
        "Last step at which actions may be uniform; by default the first by which uniform actions "
        "can have reached every state.",
        at_least=0,
    )

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        exploration = reaching_step(cmdp) if self.exploration is None else self.exploration
        if exploration > run.horizon:
            raise ValueError(
                f"exploration: at most the horizon, {run.horizon}, expected, got {exploration}"
            )
        if self.peak_end > 0:
            raise ValueError(
                f"peak_end: 0 expected, got {self.peak_end:g}, since {self.name} samples a "
                "trajectory in two parts"
            )
        return run.having(exploration=exploration)

    def estimate(self, run, theta, words, normals):  # noqa: D102
        estimates = np.zeros((2, *theta.shape))
        excess = _estimate(run.simulator, run.exploration, run.policy(theta), words, estimates)
        return estimates, excess


def reaching_step(cmdp):
    r"""Find the first step by which uniform actions can have reached all that can be reached.

    Parameters
    ----------
    cmdp : CMDP
        Supplies :math:`\rho` and the transitions.

    Returns
    -------
    int
        At most :math:`|S| - 1`; zero if :math:`\rho` is positive everywhere.

    Examples
    --------
    >>> from pgpd_hf import media_streaming, random_cmdp
    >>> from pgpd_hf.algorithms.sampled_npgpd_hf import reaching_step
    >>> reaching_step(random_cmdp()), reaching_step(media_streaming())
    (0, 10)
    """
    follows = cmdp.transition.max(axis=1) > 0  # (S, S')
    reached, step = cmdp.initial > 0, 0
    while (more := reached | follows[reached].any(axis=0)).sum() > reached.sum():
        reached, step = more, step + 1
    return step


@njit
def _estimate(simulator, exploration, policy, words, estimates):
    """Add the estimates of both signals' directions to zeros, and return that of V_g - b."""
    tables, people, horizon = simulator.tables, simulator.evaluators, simulator.horizon
    rounds, half = simulator.rounds, np.uint64(32)
    states, actions = policy.shape
    width = np.uint64(table_width(actions))
    trajectory = make_trajectories(1, states, actions)
    action_thresholds(policy, trajectory.thresholds[0])
    starts = 2 * rounds * (horizon + 1)  # one word per step; then first states and votes
    require_words(words, starts + rounds + 3 * rounds)
    excess = 0.0
    for n in range(rounds):
        # The lower half of a word chooses a state, the upper half h or an action.
        word = words[starts + n]
        first = draw(tables.starts, np.uint64(0), word, np.uint64(1))
        last = np.int64((word >> half) * np.uint64(exploration + 1) >> half)  # h

        place = 2 * n * (horizon + 1)
        trajectory.start[0], trajectory.first_action[0] = first, FREE
        sample_returns(tables, trajectory, words[place : place + horizon + 1], horizon)
        base_reward, base_utility = trajectory.returns[0]

        place += horizon + 1
        end = place + horizon + 1
        state, weight, reward, utility = first, 1.0, 0.0, 0.0
        for _ in range(last):
            action = (words[place] >> half) * np.uint64(actions) >> half
            pair = state * width + action
            reward += weight * tables.reward[pair]
            utility += weight * tables.utility[pair]
            state = draw(tables.successors, pair, words[place], width) // width
            weight *= tables.recency
            place += 1
        action = (words[place] >> half) * np.uint64(actions) >> half
        trajectory.start[0], trajectory.first_action[0] = state, np.int64(action)
        sample_returns(tables, trajectory, words[place:end], horizon - last)
        reward += weight * trajectory.returns[0, 0]
        utility += weight * trajectory.returns[0, 1]

        vote = starts + rounds + 3 * n
        at = np.int64(state), np.int64(action)
        reward, utility = reward - base_reward, utility - base_utility
        estimates[0][at] += compare(people, reward, utility, words[vote]) / rounds
        estimates[1][at] += compare(people, utility, reward, words[vote + 1]) / rounds
        excess += ask(people, base_utility - simulator.threshold, words[vote + 2]) / rounds
    return excess
