r"""ZPG: zeroth-order policy gradient from human feedback, without a constraint.

The parent of ZPGPD-HF (Zhang and Ying 2024, arXiv 2409.17401): evaluators compare the rewards of
trajectories of the policy and of a perturbed one, and the inverse link of their votes times the
direction estimates the gradient. Softmax parameterization; the multiplier stays zero, and nobody is
asked about utility.
"""

import numpy as np

from pgpd_hf.algorithms.base import Algorithm, option, parameterized, step_sizes
from pgpd_hf.algorithms.zpgpd_hf import ZPGPDHF, paired_trajectories, sample_pairs, unit_direction
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import compare
from pgpd_hf.core.policies import softmax


class ZPG(ZPGPDHF):
    """Algorithm 2 without a constraint."""

    name = "zpg"
    label = "ZPG"
    theorem_steps = staticmethod(Algorithm.theorem_steps)
    estimate = Algorithm.estimate

    parameterization: str = parameterized("softmax")
    dual_step: float | None = option(0.0, "Not used: there is no constraint.", at_least=0)
    initial_multiplier: float = option(0.0, "Zero: there is no constraint.", at_least=0, at_most=0)
    dual_regularization: float = option(0.0, "Zero: there is no constraint.", at_least=0, at_most=0)

    @staticmethod
    def effort(states, actions, rounds):  # noqa: D102
        return 2 * rounds, rounds

    def advance(self, run, state, words, normals):  # noqa: D102
        theta = state.theta.copy()  # the kernel updates it in place
        policies = _advance(
            run.simulator, run.perturbation, theta, words, normals, run.steps, state.iteration
        )
        multipliers = np.full(len(words), state.multiplier)
        state = state._replace(theta=theta, iteration=state.iteration + len(words))
        return policies, multipliers, state


@njit
def _advance(simulator, perturbation, theta, words, normals, steps, iteration):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    direction = np.empty((states, actions))
    perturbed = np.empty((states, actions))
    rounds = simulator.rounds
    trajectories = paired_trajectories(rounds, states, actions)
    scale = perturbation.dimension / perturbation.radius
    for t in range(len(words)):
        policy = policies[t]
        softmax(theta, policy)
        unit_direction(normals[t], perturbation.tangent, direction)
        vote = sample_pairs(
            simulator, perturbation, theta, policy, direction, words[t], perturbed, trajectories
        )
        slope = 0.0
        for n in range(rounds):
            base, other = trajectories.returns[2 * n], trajectories.returns[2 * n + 1]
            reward, utility = other[0] - base[0], other[1] - base[1]
            slope += compare(simulator.evaluators, reward, utility, words[t, vote + n]) / rounds
        step, _ = step_sizes(steps, 0.0, iteration + t)
        for s in range(states):
            for a in range(actions):
                theta[s, a] += step * scale * slope * direction[s, a]
    return policies
