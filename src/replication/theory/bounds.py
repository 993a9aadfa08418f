r"""The right sides of the paper's lemmas, theorems and corollary, as numbers.

:data:`STATEMENTS` lists the statements in the paper's order, with label and line, and behind them
the corrected theorems, whose bounds are in :mod:`~replication.theory.theorem_1`,
:mod:`~replication.theory.constant_step`, :mod:`~replication.theory.theorem_2`,
:mod:`~replication.theory.sampled` and :mod:`~replication.theory.seen`. Where a printed bound is
one of the paper's named constants it is a property of
:class:`~replication.theory.constants.Constants`; all other bounds are functions in this module.
Where the audit (docs/audit.md) found a printed constant to be wrong, the function returns the
printed bound unless it is asked for the corrected one.
"""

import itertools
import math
from dataclasses import dataclass

from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from pgpd_hf.core.arguments import require_integer
from replication.theory.constants import OutsideAssumptions


@dataclass(frozen=True)
class Statement:
    """A statement of the paper, or one part of it."""

    # Its number in bounds.csv (corrected ones follow the paper's 18) and its part's letter.
    key: str
    label: str  # in the paper's LaTeX source
    line: int  # of the source where it begins; of a corrected one, that of the printed theorem
    text: str  # the statement in short
    # The finding of docs/audit.md. "proof": the proof has a gap, or relies on a statement whose
    # proof has one; "false": the statement is false as printed.
    audit: str = "sound"

    @property
    def item(self):
        """int: the number, such as 12 of "12a"."""
        return int(self.key.rstrip("abcd"))

    @property
    def part(self):
        """str: the letter, such as "a" of "12a"; empty if there is one part only."""
        return self.key.lstrip("0123456789")


_STATEMENTS = [
    ("1a", "Lemma:finite horizon value", 723, "|V^H - V| <= eps_V"),
    ("1b", "Lemma:RVRQ", 761, "|E R^H(tau(s,a)) - Q| <= eps_V"),
    ("1c", "Lemma:bias of fhr", 805, "|E mean R^H - V(rho)| <= eps_V"),
    ("2", "Lemma:var of fh", 868, "E|mean R^H - V_g(rho)|^2 <= sigma_1"),
    ("3a", "Lemma:human_feedback_bias_var", 963, "E|answer - Delta| <= beta"),
    ("3b", "Lemma:human_feedback_bias_var", 975, "E|answer - Delta|^2 <= 2L^2 log M/M + .."),
    ("3c", "Lemma:sigmac", 994, "E|answer - (R - b)| <= beta"),
    ("3d", "Lemma:sigmac", 1004, "E|answer - (R - b)|^2 <= 2L^2 log M/M + .."),
    ("4", "Lemma:smoothness", 1034, "grad V is L'-Lipschitz"),
    ("5a", "Lemma:zeroth", 1050, "E[(d/mu)(V(theta+mu v) - V(theta)) v] = grad V^mu"),
    ("5b", "Lemma:zeroth", 1055, "|V^mu - V| <= L' mu^2/2"),
    ("5c", "Lemma:zeroth", 1060, "|grad V^mu - grad V| <= mu L' d/2"),
    ("5d", "Lemma:zeroth", 1065, "E|(d/mu)(V(theta+mu v) - V) v|^2 <= 2d|grad|^2.."),
    ("6", "Lemma:constraint_violation", 1076, "V* - V + C[b - V_g]+ <= d => [.]+ <= 2d/C"),
    ("7", "Lemma:bias hc", 1089, "|E[V_g - b - h_c]| <= eps_c"),
    ("8", "Lemma:overall", 1148, "|E[grad V - h]| <= eps_rg", "proof"),
    ("9", "Lemma:var hc", 1247, "E h_c^2 <= sigma_2^2"),
    ("10", "Lemma:lambda", 1280, "-avg E lambda (V_g* - V_g) <= sigma eps_c + eta2 s2^2/2"),
    ("11", "Lemma:FLambda", 1369, "avg E gap of the Lagrangian <= 2DL/T^(1/4) + ..", "proof"),
    ("12a", "thm2", 1637, "ZPGPD-HF: avg E gap <= ..", "false"),
    ("12b", "thm2", 1757, "ZPGPD-HF: E[b - avg V_g]+ <= .. (as printed)", "proof"),
    ("12c", "thm2", 1757, "ZPGPD-HF: E[b - avg V_g]+ <= .. + 4 eps_c", "proof"),
    ("13", "Lemma:performance diff", 1805, "V^pi - V^pi' = E_d A^pi'/(1 - gamma)"),
    ("14", "Lemma:bias advantage", 1817, "|E[A_hat - A]| <= eps_A"),
    (
        "15",
        "Lemma:nonmonotone",
        1878,
        "(1-g)/eta1 E log Z - dV_L <= (1+sigma) eps_A/(1-g)",
        "false",
    ),
    ("16a", "Lemma:bounded_avg_perf", 1953, "avg E gap of the Lagrangian <= .. (printed)", "proof"),
    ("16b", "Lemma:bounded_avg_perf", 1953, "the same with the lost factor 1/(1 - gamma)", "proof"),
    ("17a", "thm1", 2048, "NPGPD-HF: avg E gap <= ..", "proof"),
    ("17b", "thm1", 2141, "NPGPD-HF: E[b - avg V_g]+ <= .. (as printed)", "proof"),
    ("17c", "thm1", 2141, "NPGPD-HF: E[b - avg V_g]+ <= .. + 4 eps_c", "proof"),
    ("18", "corollary", 491, "M = T log T, H = log T/(2 log 1/g) => O(1/sqrt(T))", "proof"),
    ("19a", "thm1", 457, "Theorem 1 corrected: avg E gap <= .."),
    ("19b", "thm1", 457, "Theorem 1 corrected: E[b - avg V_g]+ <= .."),
    ("20a", "thm1", 457, "Theorem 1', lambda* for sigma: avg E gap <= .."),
    ("20b", "thm1", 457, "Theorem 1', lambda* for sigma: E[b - avg V_g]+ <= .."),
    ("21a", "thm1", 457, "Theorem 1 for one run: avg gap <= .."),
    ("21b", "thm1", 457, "Theorem 1 for one run: [b - avg V_g]+ <= .."),
    ("22a", "thm1", 457, "from what runs show: avg E gap <= .."),
    ("22b", "thm1", 457, "from what runs show: E[b - avg V_g]+ <= .."),
    ("23a", "thm2", 546, "Theorem 2 corrected: avg E gap <= .."),
    ("23b", "thm2", 546, "Theorem 2 corrected: E[b - avg V_g]+ <= .."),
    ("24", "thm1", 457, "constant step, P free of actions: avg E priced gap <= .."),
    ("25a", "thm2", 546, "sampled NPGPD-HF: avg E gap <= .."),
    ("25b", "thm2", 546, "sampled NPGPD-HF: E[b - avg V_g]+ <= .."),
]
STATEMENTS = {s.key: s for s in itertools.starmap(Statement, _STATEMENTS)}


def dual_regret(constants, dual_step):
    r"""Bound of :math:`-\frac1T\sum_t E\lambda^t(V_g^\star - V_g^t)` (Lemma:lambda, line 1280)."""
    dual_step = require_step("dual_step", dual_step)
    drift = dual_step * constants.excess_square / 2
    return constants.multiplier_bound * constants.excess_bias + drift


def zeroth_order_lagrangian(constants):
    """Bound of the Lagrangian's average gap under ZPGPD-HF (Lemma:FLambda, line 1369)."""
    c = constants
    optimisation = 2 * c.distance * c.curvature / c.iterations**0.25
    return optimisation + (1 + c.multiplier_bound) * math.sqrt(c.distance) * c.gradient_bias


def theorem_2_gap(constants):
    """Theorem 2's bound of the average optimality gap (thm2, line 1637)."""
    # The paper goes on to replace eps_rg by 3 mu L'd/2, which requires L' >= 2 (line 1658); this is
    # the display before that step.
    lagrangian = zeroth_order_lagrangian(constants)
    return lagrangian + dual_regret(constants, constants.theorem_2_steps[1])


def theorem_2_violation(constants, complete=False):
    r"""Theorem 2's bound of :math:`E[b - \frac1T\sum_t V_g^{(t)}]_+` (thm2, line 1757)."""
    # The complete one has 4 eps_c, which is in lines 1723 and 1730 and missing from line 1748 on.
    lagrangian = zeroth_order_lagrangian(constants)
    return _violation(constants, lagrangian, constants.theorem_2_steps[1], complete)


def one_step(constants):
    """Error term of the one-step inequality (Lemma:nonmonotone, line 1878)."""
    return (1 + constants.multiplier_bound) * constants.advantage_bias / (1 - constants.discount)


def natural_lagrangian(constants, primal_step, dual_step, corrected=False):
    """Bound of the Lagrangian's average gap under NPGPD-HF (Lemma:bounded_avg_perf, line 1953)."""
    # The corrected one has the factor 1/(1 - gamma) of the bias, which is lost between lines 2006
    # and 2011. (With the inequality that replaces Lemma:nonmonotone, `theorem_1.one_step`, another
    # term is missing instead.)
    c, stretch = constants, 1 / (1 - constants.discount)
    require_step("primal_step", primal_step)
    require_step("dual_step", dual_step)
    start = (math.log(c.actions) / primal_step + c.value_bound * stretch) / c.iterations
    drift = 2 * dual_step * c.value_bound**2 * stretch
    return start + drift + 2 * one_step(c) * (stretch if corrected else 1)


def theorem_1_gap(constants):
    """Theorem 1's bound of the average optimality gap (thm1, line 2048)."""
    steps = theorem_1_steps(constants.actions, constants.discount, constants.iterations)
    lagrangian = natural_lagrangian(constants, *steps)
    return lagrangian + dual_regret(constants, steps[1])


def theorem_1_violation(constants, complete=False):
    r"""Theorem 1's bound of :math:`E[b - \frac1T\sum_t V_g^{(t)}]_+` (thm1, line 2141)."""
    # The complete one has 4 eps_c, which is in line 2107 and missing from line 2127 on.
    steps = theorem_1_steps(constants.actions, constants.discount, constants.iterations)
    lagrangian = natural_lagrangian(constants, *steps)
    return _violation(constants, lagrangian, steps[1], complete)


def corollary_schedule(iterations, discount):
    r"""M and H of the corollary of Theorem 1 (line 491), with :math:`\gamma^H \le 1/\sqrt T`."""
    iterations = require_integer("iterations", iterations, 2)
    if not 0 < discount < 1:
        raise OutsideAssumptions(f"discount: in (0, 1) expected, got {discount!r}")
    length = math.log(iterations)
    return math.ceil(iterations * length), math.ceil(length / (2 * math.log(1 / discount)))


def corollary_constant(constants):
    r"""C with which Theorem 1's bound of the gap is at most :math:`C/\sqrt T` (line 491)."""
    # For every T >= 3 with M and H of `corollary_schedule`: log M/M, which decreases in M, is at
    # most (1 + 1/e)/T because log log T/log T <= 1/e. L is taken on [sigma(-B), sigma(B)], so that
    # it holds for every horizon.
    c = constants
    largest, stretch = c.value_bound, 1 / (1 - c.discount)
    rate = 2 * (1 + math.exp(-1))  # 2 log M / M <= rate / T
    lipschitz = c.link.inverse_lipschitz(largest)
    feedback = lipschitz * math.sqrt(rate) + 2 * largest
    feedback_square = lipschitz**2 * rate + 4 * largest**2
    truncation = largest
    optimisation = 1 / 2 + largest * stretch + 2 * largest**2
    advantage = 2 * (1 + c.multiplier_bound) * stretch * (feedback + 2 * truncation)
    excess = c.multiplier_bound * (feedback + truncation)
    sampling_square = 2 * largest**2 / c.rounds + 2 * truncation**2
    square = 3 * (feedback_square + sampling_square + largest**2)
    return optimisation + advantage + excess + (1 - c.discount) * square / 2


def predicted_violation(multiplier, dual_step, iterations):
    """Average violation that the dual step leaves after T iterations, whatever M is."""
    # While lambda is not projected, the average of b - V_g is this for lambda^(T), plus the mean
    # error of the estimated constraint. With lambda* in its place it is a forecast, which has the
    # right order of magnitude only: at Theorem 1's constant step the multiplier oscillates around
    # lambda* and does not converge, for finite and infinite M alike.
    return multiplier / (require_step("dual_step", dual_step) * iterations)


def require_step(name, step):
    """Refuse a step size that is not positive and finite, as the statements require; return it."""
    if not 0 < step < math.inf:
        raise OutsideAssumptions(f"{name}: a positive step size expected, got {step}")
    return step


def _violation(c, lagrangian, dual_step, complete):
    """Lemma:constraint_violation with C equal to the range of multipliers."""
    if not c.multiplier_bound > 0:
        raise OutsideAssumptions("multiplier_bound: a positive range of multipliers expected")
    distance = c.multiplier_bound**2 / (2 * require_step("dual_step", dual_step) * c.iterations)
    total = lagrangian + distance + dual_step * c.excess_square / 2
    printed = 2 / c.multiplier_bound * total
    return printed + 4 * c.excess_bias if complete else printed
