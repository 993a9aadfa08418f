r"""NPG-PD: natural policy gradient primal-dual method with exact values (Ding et al. 2020).

The limit of NPGPD-HF for infinitely many people, rounds and steps (Lemma 3.1 of the paper):
:math:`\theta^{(t+1)} = \theta^{(t)} + \frac{\eta_1}{1-\gamma} A_L^{(t)}` and
:math:`\lambda^{(t+1)} = P_\Lambda(\lambda^{(t)} - \eta_2 (V_g^{(t)}(\rho) - b))`.
"""

import numpy as np

from pgpd_hf.algorithms.base import Algorithm
from pgpd_hf.algorithms.npgpd_hf import NPGPDHF


class NPGPD(Algorithm):
    """Exact limit of Algorithm 1."""

    name = "npg_pd"
    label = "NPG-PD (exact)"
    parameterizations = ("softmax",)
    theorem_steps = staticmethod(NPGPDHF.theorem_steps)

    def advance(self, theta, multiplier, words, normals):  # noqa: D102
        cmdp = self.cmdp
        policies = np.empty((len(words), *theta.shape))
        multipliers = np.empty(len(words))
        for t in range(len(words)):
            policy = policies[t] = self.policy(theta)
            multipliers[t] = multiplier
            lagrangian = cmdp.reward + multiplier * cmdp.utility
            theta += self.primal_step / (1 - cmdp.discount) * cmdp.advantages(policy, lagrangian)
            excess = cmdp.evaluate(policy)[1] - cmdp.threshold
            multiplier = min(max(multiplier - self.dual_step * excess, 0.0), self.multiplier_bound)
        return policies, multipliers, multiplier
