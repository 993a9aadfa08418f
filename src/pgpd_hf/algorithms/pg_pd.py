r"""PG-PD: projected policy gradient primal-dual method with exact gradients (Ding et al. 2022).

The limit of ZPGPD-HF as evaluators, rounds and steps become infinitely many and the perturbation
vanishes:
:math:`\theta^{(t+1)} = P_\Theta(\theta^{(t)} + \eta_1 \nabla_\theta V_L^{\theta,\lambda}(\rho))`
with the policy gradient theorem's :math:`\partial V / \partial \pi(a|s) = q(s) Q(s, a)`.
"""

import numpy as np

from pgpd_hf.algorithms.base import PrimalDual, parameterized
from pgpd_hf.algorithms.zpgpd_hf import Theorem2Steps
from pgpd_hf.core.policies import project_rows


class PGPD(Theorem2Steps, PrimalDual):
    """Exact limit of Algorithm 2."""

    name = "pg_pd"
    label = "PG-PD (exact)"
    limit_of = "zpgpd_hf"

    parameterization: str = parameterized("direct")

    def update(self, run, state, policy, words, normals):  # noqa: D102
        cmdp, theta = run.cmdp, np.empty_like(state.theta)
        lagrangian = cmdp.reward + state.multiplier * cmdp.utility
        occupancy = cmdp.state_occupancy(policy)
        gradient = occupancy[:, None] * cmdp.action_values(policy, lagrangian)
        project_rows(state.theta + run.primal_step * gradient, theta)
        excess = cmdp.evaluate(policy)[1] - cmdp.threshold
        return state._replace(theta=theta, multiplier=run.dual_update(state.multiplier, excess))
