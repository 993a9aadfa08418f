r"""NPG-PD: natural policy gradient primal-dual method with exact values (Ding et al. 2020).

The limit of NPGPD-HF as evaluators, rounds and steps become infinitely many (Lemma 3.1 of the
paper): :math:`\theta^{(t+1)} = \theta^{(t)} + \frac{\eta_1}{1-\gamma} A_L^{(t)}` and
:math:`\lambda^{(t+1)} = P_\Lambda(\lambda^{(t)} - \eta_2 (V_g^{(t)}(\rho) - b))`.
"""

from pgpd_hf.algorithms.base import PrimalDual
from pgpd_hf.algorithms.npgpd_hf import NPGPDHF


class NPGPD(PrimalDual):
    """Exact limit of Algorithm 1."""

    name = "npg_pd"
    label = "NPG-PD (exact)"
    limit_of = "npgpd_hf"
    theorem_steps = staticmethod(NPGPDHF.theorem_steps)

    def update(self, run, state, policy, words, normals):  # noqa: D102
        cmdp = run.cmdp
        lagrangian = cmdp.reward + state.multiplier * cmdp.utility
        step = run.primal_step / (1 - cmdp.discount)
        theta = state.theta + step * cmdp.advantages(policy, lagrangian)
        excess = cmdp.evaluate(policy)[1] - cmdp.threshold
        return state._replace(theta=theta, multiplier=run.dual_update(state.multiplier, excess))
