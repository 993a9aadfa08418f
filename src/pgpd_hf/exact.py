r"""The exact limits of both algorithms, as M, N and H grow (Lemma 3.1 of the paper).

NPG-PD (Ding et al. 2020) is the limit of NPGPD-HF:
:math:`\theta^{(t+1)} = \theta^{(t)} + \frac{\eta_1}{1-\gamma} A_L^{(t)}`. PG-PD (Ding et al. 2022)
is that of ZPGPD-HF, as :math:`\mu` vanishes, too:
:math:`\theta^{(t+1)} = P_\Theta(\theta^{(t)} + \eta_1 \nabla_\theta V_L^{\theta,\lambda}(\rho))`
with :math:`\partial V / \partial \pi(a|s) = q(s) Q(s, a)`. In both
:math:`\lambda^{(t+1)} = P_\Lambda(\lambda^{(t)} - \eta_2 (V_g^{(t)}(\rho) - b))`.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pgpd_hf.npgpd_hf import NPGPDHF
from pgpd_hf.policies import project_rows
from pgpd_hf.primal_dual import PrimalDual
from pgpd_hf.zpgpd_hf import ZPGPDHF


@dataclass(frozen=True, kw_only=True, repr=False)
class NPGPD(PrimalDual):
    """Exact limit of Algorithm 1; options are those of :class:`~pgpd_hf.primal_dual.PrimalDual`."""

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


@dataclass(frozen=True, kw_only=True, repr=False)
class PGPD(PrimalDual):
    """Exact limit of Algorithm 2; options are those of :class:`~pgpd_hf.primal_dual.PrimalDual`."""

    name: ClassVar[str] = "pg_pd"
    label: ClassVar[str] = "PG-PD (exact)"
    parameterization: ClassVar[str] = "direct"

    theorem_steps = ZPGPDHF.theorem_steps

    def update(self, run, state):
        """Make one iteration."""
        cmdp, policy, theta = run.cmdp, state.theta, np.empty_like(state.theta)
        lagrangian = cmdp.reward + state.multiplier * cmdp.utility
        gradient = cmdp.occupancy(policy)[:, None] * cmdp.action_values(policy, lagrangian)
        project_rows(policy + run.primal_step(state.multiplier) * gradient, theta)
        excess = cmdp.evaluate(policy)[1] - cmdp.threshold
        return state.next(theta, run.dual_update(state.multiplier, excess))
