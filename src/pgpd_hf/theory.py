r"""Right sides of Theorems 1 and 2 as printed, with every constant of their proofs.

Lines are those of the paper's LaTeX source; in its PDF the theorems are 3.1 and 4.1. Rewards and
utilities lie in [0, scale] here and in [0, 1] in the paper: where a proof uses the size of values,
the largest value B = scale / (1 - gamma) enters. What defines the algorithms (cap of the
multiplier, step sizes, :math:`\mu`, and :math:`L_\theta`, the inverse of a step size) stays as
printed.
"""

import math
from typing import NamedTuple

from pgpd_hf.arguments import require_instance
from pgpd_hf.cmdp import CMDP
from pgpd_hf.evaluators import LINKS, feedback_bias
from pgpd_hf.npgpd_hf import NPGPDHF
from pgpd_hf.optimum import given_optimum
from pgpd_hf.zpgpd_hf import ZPGPDHF, visitation_mismatch

RATES = {"npgpd_hf": -1 / 2, "zpgpd_hf": -1 / 4}  # exponents of T in the theorems


class Bounds(NamedTuple):
    """Bounds of the averages over the first T iterates, in units of values."""

    gap: float  # of the average optimality gap
    violation: float  # of the positive part of the average violation


class OutsideAssumptions(ValueError):
    """A setting that violates an assumption of a theorem; the message says which."""


def printed_bounds(cmdp, optimum, algorithm, iterations):
    """Bounds of Theorem 1 for NPGPD-HF, and of Theorem 2 for ZPGPD-HF.

    The bounds of the gap are those of lines 2048 and 1637, of the violation of lines 2141 and 1757.
    The theorems are about their own step sizes.

    Parameters
    ----------
    cmdp : CMDP
    optimum : Optimum
        Of the CMDP; None: it is found.
    algorithm : NPGPDHF or ZPGPDHF
        Step sizes of None are the theorem's.
    iterations : int
        T.

    Returns
    -------
    Bounds
        Of the averages over T iterates.

    Raises
    ------
    OutsideAssumptions
        If the setting violates an assumption.
    """
    require_instance("cmdp", cmdp, CMDP)
    if type(algorithm) not in (NPGPDHF, ZPGPDHF):
        raise OutsideAssumptions(f"algorithm: NPGPDHF or ZPGPDHF expected, got {algorithm!r}")
    optimum = given_optimum(cmdp, optimum)
    setting = algorithm.prepare(cmdp, optimum, iterations)
    horizon, cap = setting.simulator.horizon, setting.steps.multiplier_bound
    _require_assumptions(cmdp, algorithm, horizon)
    primal, dual = setting.steps.primal, setting.steps.dual
    largest, link = cmdp.return_bound(horizon), LINKS[algorithm.link]
    for name, value in {"primal_step": primal, "dual_step": dual, "multiplier_bound": cap}.items():
        if not value > 0:
            raise OutsideAssumptions(f"{name}: a positive number expected, got {value:g}")
    truncation = cmdp.value_bound * cmdp.discount**horizon  # eps_V (line 723)
    feedback = feedback_bias(algorithm.evaluators, link, largest)  # beta (line 963)
    feedback_square, m = 0.0, algorithm.evaluators
    if m is not None:  # line 975
        lipschitz = link.inverse_lipschitz(largest)
        feedback_square = 2 * lipschitz**2 * math.log(m) / m + 4 * largest**2 / m**2
    sampling = 2 * largest**2 / algorithm.rounds + 2 * truncation**2  # sigma_1 (line 868)
    excess_bias = truncation + feedback  # eps_c (line 1089)
    excess_square = 3 * (feedback_square + sampling + cmdp.value_bound**2)  # sigma_2^2 (line 1247)

    if isinstance(algorithm, NPGPDHF):
        lagrangian = _natural(cmdp, primal, dual, iterations, cap, feedback + 2 * truncation)
    else:
        noise = (2 * truncation + feedback) / algorithm.radius(cmdp, horizon)
        lagrangian = _zeroth_order(cmdp, optimum, algorithm, iterations, cap, horizon, noise)
    drift = dual * excess_square / 2
    gap = lagrangian + (cap * excess_bias + drift)  # line 1280
    violation = 2 / cap * (lagrangian + cap**2 / (2 * dual * iterations) + drift)  # line 1076
    return Bounds(float(gap), float(violation))


def _natural(cmdp, primal, dual, iterations, cap, bias):
    """Average gap of the Lagrangian under NPGPD-HF (line 1953); the bias is eps_A (line 1817)."""
    stretch, largest = 1 / (1 - cmdp.discount), cmdp.value_bound
    start = (math.log(cmdp.actions) / primal + largest * stretch) / iterations
    drift = 2 * dual * largest**2 * stretch
    return start + drift + 2 * ((1 + cap) * bias / (1 - cmdp.discount))


def _zeroth_order(cmdp, optimum, algorithm, iterations, cap, horizon, noise):
    """Average gap of the Lagrangian under ZPGPD-HF (line 1369)."""
    dimension, radius = cmdp.states * cmdp.actions, algorithm.radius(cmdp, horizon)
    smoothness = 2 * cmdp.scale * cmdp.discount * cmdp.actions / (1 - cmdp.discount) ** 3  # L'
    bias = dimension * (radius * smoothness / 2 + noise)  # eps_rg (line 1148)
    mismatch = float(visitation_mismatch(cmdp, optimum.policy))
    distance = 8 * cmdp.states * mismatch**2 / (1 - cmdp.discount) ** 2  # D_theta (line 1383)
    curvature = 1 / algorithm.theorem_steps(cmdp, optimum, iterations)[0]  # L_theta (line 1385)
    optimisation = 2 * distance * curvature / iterations**0.25
    return optimisation + (1 + cap) * math.sqrt(distance) * bias


def _require_assumptions(cmdp, algorithm, horizon):
    largest = cmdp.return_bound(horizon)
    if cmdp.scale > 1:
        raise OutsideAssumptions(f"scale: at most 1 (line 103) expected, got {cmdp.scale:g}")
    if not 0 <= cmdp.threshold <= largest:
        raise OutsideAssumptions(
            f"threshold: in [0, G(H)] = [0, {largest:g}] expected, got {cmdp.threshold:g}"
        )
    if algorithm.evaluators == 1:
        raise OutsideAssumptions("evaluators: M >= 2 expected, since log 1 = 0 hides an error")
    if not math.isfinite(LINKS[algorithm.link].inverse_lipschitz(largest)):
        raise OutsideAssumptions(f"link: its inverse is not Lipschitz up to {largest:g} (line 178)")
    printed = {"normalize": "none", "estimator": "plug-in", "random_answers": 0}
    printed |= {"parameterization": algorithm.__class__.parameterization, "directions": "sphere"}
    for name, value in printed.items():
        if getattr(algorithm, name, value) != value:
            raise OutsideAssumptions(f"{name}: {value}, as printed, expected")
    if isinstance(algorithm, ZPGPDHF) and not (cmdp.initial > 0).all():
        raise OutsideAssumptions("initial: positive in every state (line 1372) expected")
