r"""Right sides of Theorems 1 and 2 as printed, with every constant of their proofs.

Lines are those of the paper's LaTeX source; in its PDF the theorems are 3.1 and 4.1. Rewards and
utilities lie in [0, scale] here and in [0, 1] in the paper: where a proof uses the size of values,
the largest value B = scale / (1 - gamma) enters. What defines the algorithms (cap of the
multiplier, step sizes, :math:`\mu`, and :math:`L_\theta`, the inverse of a step size) stays as
printed. Names are the paper's symbols.
"""

import math
from typing import NamedTuple

from pgpd_hf.evaluators import LINKS, feedback_bias
from pgpd_hf.npgpd_hf import NPGPDHF
from pgpd_hf.zpgpd_hf import ZPGPDHF, OutsideAssumptions, visitation_mismatch

RATES = {"npgpd_hf": -1 / 2, "zpgpd_hf": -1 / 4}  # exponents of T in the theorems
_PRINTED = {"normalize": "none", "estimator": "plug-in", "random_answers": 0}


class Bounds(NamedTuple):
    """Bounds of the averages over the first T iterates, in units of values."""

    gap: float  # of the average optimality gap
    violation: float  # of the positive part of the average violation


def printed_bounds(cmdp, optimum, algorithm, iterations):
    """Bounds of Theorem 1 for NPGPD-HF, and of Theorem 2 for ZPGPD-HF, after T iterations.

    The bounds of the gap are those of lines 2048 and 1637, of the violation of lines 2141 and 1757.
    Step sizes of None are the theorem's; the theorems are about no others.
    """
    if type(algorithm) not in (NPGPDHF, ZPGPDHF):
        raise OutsideAssumptions(f"algorithm: NPGPDHF or ZPGPDHF expected, got {algorithm!r}")
    setting = algorithm.prepare(cmdp, optimum, iterations)
    horizon, M, N, T = setting.simulator.horizon, algorithm.evaluators, algorithm.rounds, iterations
    G, link = cmdp.return_bound(horizon), LINKS[algorithm.link]
    _require_assumptions(cmdp, algorithm, setting, G)
    eta_1, eta_2, _, sigma_lambda = setting.steps  # the last is the cap of the multiplier

    B, stretch = cmdp.value_bound, 1 / (1 - cmdp.discount)
    eps_V = B * cmdp.discount**horizon  # line 723
    beta = feedback_bias(M, link, G)  # line 963
    beta_square = 0.0  # line 975
    if M is not None:
        L = link.inverse_lipschitz(G)
        beta_square = 2 * L**2 * math.log(M) / M + 4 * G**2 / M**2
    sigma_1_square = 2 * G**2 / N + 2 * eps_V**2  # line 868
    sigma_2_square = 3 * (beta_square + sigma_1_square + B**2)  # line 1247
    eps_c = eps_V + beta  # line 1089

    # The average gap of the Lagrangian.
    if isinstance(algorithm, NPGPDHF):  # line 1953
        eps_A = beta + 2 * eps_V  # line 1817
        lagrangian = (math.log(cmdp.actions) / eta_1 + B * stretch) / T + 2 * eta_2 * B**2 * stretch
        lagrangian += 2 * ((1 + sigma_lambda) * eps_A / (1 - cmdp.discount))
    else:  # line 1369
        d, mu = cmdp.states * cmdp.actions, setting.perturbation.radius
        L_prime = 2 * cmdp.scale * cmdp.discount * cmdp.actions / (1 - cmdp.discount) ** 3
        eps_rg = d * (mu * L_prime / 2 + (2 * eps_V + beta) / mu)  # line 1148
        mismatch = float(visitation_mismatch(cmdp, optimum.policy))
        D_theta = 8 * cmdp.states * mismatch**2 / (1 - cmdp.discount) ** 2  # line 1383
        L_theta = 1 / algorithm.theorem_steps(cmdp, optimum, T)[0]  # line 1385
        lagrangian = 2 * D_theta * L_theta / T**0.25
        lagrangian += (1 + sigma_lambda) * math.sqrt(D_theta) * eps_rg
    drift = eta_2 * sigma_2_square / 2
    gap = lagrangian + (sigma_lambda * eps_c + drift)  # line 1280
    violation = 2 / sigma_lambda * (lagrangian + sigma_lambda**2 / (2 * eta_2 * T) + drift)  # 1076
    return Bounds(float(gap), float(violation))


def _require_assumptions(cmdp, algorithm, setting, G):
    eta_1, eta_2, _, cap = setting.steps
    for name, value in {"primal_step": eta_1, "dual_step": eta_2, "multiplier_bound": cap}.items():
        if not value > 0:
            raise OutsideAssumptions(f"{name}: a positive number expected, got {value:g}")
    if cmdp.scale > 1:
        raise OutsideAssumptions(f"scale: at most 1 (line 103) expected, got {cmdp.scale:g}")
    if not 0 <= cmdp.threshold <= G:
        told = f"in [0, G(H)] = [0, {G:g}] expected, got {cmdp.threshold:g}"
        raise OutsideAssumptions(f"threshold: {told}")
    if not math.isfinite(LINKS[algorithm.link].inverse_lipschitz(G)):
        raise OutsideAssumptions(f"link: its inverse is not Lipschitz up to {G:g} (line 178)")
    own = {"parameterization": type(algorithm).parameterization, "directions": "sphere"}
    for name, value in (_PRINTED | own).items():
        if getattr(algorithm, name, value) != value:
            raise OutsideAssumptions(f"{name}: {value}, as printed, expected")
    if isinstance(algorithm, ZPGPDHF) and not (cmdp.initial > 0).all():
        raise OutsideAssumptions("initial: positive in every state (line 1372) expected")
