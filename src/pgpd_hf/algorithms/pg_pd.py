r"""PG-PD: projected policy gradient primal-dual method with exact gradients (Ding et al. 2022).

The limit of ZPGPD-HF for infinitely many people, rounds and steps and a vanishing perturbation:
:math:`\theta^{(t+1)} = P_\Theta(\theta^{(t)} + \eta_1 \nabla_\theta V_L^{\theta,\lambda}(\rho))`
with the policy gradient theorem's :math:`\partial V / \partial \pi(a|s) = q(s) Q(s, a)`.
"""

import numpy as np

from pgpd_hf.algorithms.base import Algorithm
from pgpd_hf.algorithms.zpgpd_hf import ZPGPDHF
from pgpd_hf.core.policies import project_rows


class PGPD(Algorithm):
    """Exact limit of Algorithm 2."""

    name = "pg_pd"
    label = "PG-PD (exact)"
    parameterizations = ("direct",)
    theorem_steps = staticmethod(ZPGPDHF.theorem_steps)

    def advance(self, theta, multiplier, words, normals):  # noqa: D102
        cmdp = self.cmdp
        policies = np.empty((len(words), *theta.shape))
        multipliers = np.empty(len(words))
        for t in range(len(words)):
            policies[t] = theta
            policy = policies[t]  # a copy: theta changes below
            multipliers[t] = multiplier
            lagrangian = cmdp.reward + multiplier * cmdp.utility
            action_values = cmdp.action_values(policy, lagrangian)
            gradient = cmdp.state_occupancy(policy)[:, None] * action_values
            project_rows(theta + self.primal_step * gradient, theta)
            excess = cmdp.evaluate(policy)[1] - cmdp.threshold
            multiplier = min(max(multiplier - self.dual_step * excess, 0.0), self.multiplier_bound)
        return policies, multipliers, multiplier
