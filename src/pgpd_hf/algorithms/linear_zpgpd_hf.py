r"""ZPGPD-HF with features: Algorithm 2 with a softmax parameter of d numbers; not of the paper.

The policy is the softmax of :math:`\Phi \theta` with :math:`\theta \in \mathbb{R}^d`, and
directions are uniform on the sphere of :math:`\mathbb{R}^d`. The state holds the table
:math:`\Phi \theta`, whose direction is :math:`\Phi v`.
"""

import numpy as np

from pgpd_hf.algorithms.base import Algorithm, option, parameterized
from pgpd_hf.algorithms.zpgpd_hf import ZPGPDHF


class LinearZPGPDHF(ZPGPDHF):
    """Algorithm 2 in as many dimensions as there are features."""

    name = "linear_zpgpd_hf"
    label = "ZPGPD-HF (features)"
    theorem_steps = staticmethod(Algorithm.theorem_steps)

    parameterization: str = parameterized("softmax")
    directions: str = option("sphere", "Perturb in all directions.", one_of=("sphere",))

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        dimension = cmdp.feature_matrix.shape[1]
        perturbation = run.perturbation._replace(dimension=dimension)
        return run.having(normals_per_iteration=dimension, perturbation=perturbation)

    def _direction(self, run, normals):
        direction = run.cmdp.feature_matrix @ (normals / np.linalg.norm(normals))
        return direction.reshape(run.cmdp.states, run.cmdp.actions)

    def update(self, run, state, policy, words, normals):  # noqa: D102
        (reward, utility), excess = self.estimate(run, state.theta, words, normals)
        theta = state.theta + run.primal_step * (reward + state.multiplier * utility)
        return state._replace(theta=theta, multiplier=run.dual_update(state.multiplier, excess))
