r"""The paper's lemmas, theorems and corollary as explicit numbers.

:data:`STATEMENTS` lists them in the order of the paper, each with its label and line; lemmas whose
bound is a constant with a name are properties of :class:`~pgpd_hf.theory.constants.Constants`, the
others are functions here. Where the audit (docs/audit.md) found a constant wrong, the function
gives what is printed unless asked for the corrected value.
"""

import math
from dataclasses import dataclass

from pgpd_hf.theory.constants import OutsideAssumptions


@dataclass(frozen=True)
class Statement:
    """A statement of the paper, or one part of it.

    Attributes
    ----------
    item : int
        Its number, 1 to 18.
    part : str
        Letter of the part.
    label : str
        The paper's label.
    line : int
        Line of the paper's source where it begins.
    text : str
        What it says, briefly.
    """

    item: int
    part: str
    label: str
    line: int
    text: str

    @property
    def key(self):
        """str: item and part."""
        return f"{self.item}{self.part}"

    @property
    def audit(self):
        """str: what docs/audit.md found.

        "sound", "proof" (its proof does not go through, or stands on one that does not), or
        "false" (as printed).
        """
        return _AUDIT.get(self.key, "sound")


_AUDIT = {
    "8": "proof",
    "11": "proof",
    "12a": "false",
    "12b": "proof",
    "12c": "proof",
    "15": "false",
    "16a": "proof",
    "16b": "proof",
    "17a": "proof",
    "17b": "proof",
    "17c": "proof",
    "18": "proof",
}

STATEMENTS = {
    statement.key: statement
    for statement in (
        Statement(1, "a", "Lemma:finite horizon value", 723, "|V^H - V| <= eps_V"),
        Statement(1, "b", "Lemma:RVRQ", 761, "|E R^H(tau(s,a)) - Q| <= eps_V"),
        Statement(1, "c", "Lemma:bias of fhr", 805, "|E mean R^H - V(rho)| <= eps_V"),
        Statement(2, "", "Lemma:var of fh", 868, "E|mean R^H - V_g(rho)|^2 <= sigma_1"),
        Statement(3, "a", "Lemma:human_feedback_bias_var", 963, "E|answer - Delta| <= beta"),
        Statement(
            3, "b", "Lemma:human_feedback_bias_var", 975, "E|answer - Delta|^2 <= 2L^2 log M/M + .."
        ),
        Statement(3, "c", "Lemma:sigmac", 994, "E|answer - (R - b)| <= beta"),
        Statement(3, "d", "Lemma:sigmac", 1004, "E|answer - (R - b)|^2 <= 2L^2 log M/M + .."),
        Statement(4, "", "Lemma:smoothness", 1034, "grad V is L'-Lipschitz"),
        Statement(
            5, "a", "Lemma:zeroth", 1050, "E[(d/mu)(V(theta+mu v) - V(theta)) v] = grad V^mu"
        ),
        Statement(5, "b", "Lemma:zeroth", 1055, "|V^mu - V| <= L' mu^2/2"),
        Statement(5, "c", "Lemma:zeroth", 1060, "|grad V^mu - grad V| <= mu L' d/2"),
        Statement(5, "d", "Lemma:zeroth", 1065, "E|(d/mu)(V(theta+mu v) - V) v|^2 <= 2d|grad|^2.."),
        Statement(
            6, "", "Lemma:constraint_violation", 1076, "V* - V + C[b - V_g]+ <= d => [.]+ <= 2d/C"
        ),
        Statement(7, "", "Lemma:bias hc", 1089, "|E[V_g - b - h_c]| <= eps_c"),
        Statement(8, "", "Lemma:overall", 1148, "|E[grad V - h]| <= eps_rg"),
        Statement(9, "", "Lemma:var hc", 1247, "E h_c^2 <= sigma_2^2"),
        Statement(
            10, "", "Lemma:lambda", 1280, "-avg E lambda (V_g* - V_g) <= sigma eps_c + eta2 s2^2/2"
        ),
        Statement(11, "", "Lemma:FLambda", 1369, "avg E gap of the Lagrangian <= 2DL/T^(1/4) + .."),
        Statement(12, "a", "thm2", 1637, "ZPGPD-HF: avg E gap <= .."),
        Statement(12, "b", "thm2", 1757, "ZPGPD-HF: E[b - avg V_g]+ <= .. (as printed)"),
        Statement(12, "c", "thm2", 1757, "ZPGPD-HF: E[b - avg V_g]+ <= .. + 4 eps_c"),
        Statement(13, "", "Lemma:performance diff", 1805, "V^pi - V^pi' = E_d A^pi'/(1 - gamma)"),
        Statement(14, "", "Lemma:bias advantage", 1817, "|E[A_hat - A]| <= eps_A"),
        Statement(
            15, "", "Lemma:nonmonotone", 1878, "(1-g)/eta1 E log Z - dV_L <= (1+sigma) eps_A/(1-g)"
        ),
        Statement(
            16, "a", "Lemma:bounded_avg_perf", 1953, "avg E gap of the Lagrangian <= .. (printed)"
        ),
        Statement(
            16, "b", "Lemma:bounded_avg_perf", 1953, "the same with the lost factor 1/(1 - gamma)"
        ),
        Statement(17, "a", "thm1", 2048, "NPGPD-HF: avg E gap <= .."),
        Statement(17, "b", "thm1", 2141, "NPGPD-HF: E[b - avg V_g]+ <= .. (as printed)"),
        Statement(17, "c", "thm1", 2141, "NPGPD-HF: E[b - avg V_g]+ <= .. + 4 eps_c"),
        Statement(18, "", "corollary", 491, "M = T log T, H = log T/(2 log 1/g) => O(1/sqrt(T))"),
    )
}


def dual_regret(constants, dual_step):
    r"""Bound of :math:`-\frac1T\sum_t E\lambda^{(t)}(V_g^\star - V_g^{(t)})` (Lemma:lambda, 1280).

    Parameters
    ----------
    constants : Constants
        The setting.
    dual_step : float
        :math:`\eta_2 > 0`.

    Returns
    -------
    float
        :math:`\bar\sigma_\lambda\epsilon_c + \eta_2\sigma_2^2/2`, in units of value.
    """
    dual_step = require_step("dual_step", dual_step)
    drift = dual_step * constants.excess_square / 2
    return constants.multiplier_bound * constants.excess_bias + drift


def zeroth_order_steps(constants):
    r"""Step sizes of Theorem 2 (line 546).

    Parameters
    ----------
    constants : Constants
        The setting.

    Returns
    -------
    primal_step, dual_step : float
        :math:`1/L_\theta` and :math:`(1-\gamma)^2D_\theta L_\theta/(2\sqrt T)`.
    """
    product = constants.distance * constants.curvature
    dual = (1 - constants.discount) ** 2 * product / (2 * math.sqrt(constants.iterations))
    return 1 / constants.curvature, dual


def zeroth_order_lagrangian(constants):
    r"""Bound of the Lagrangian's average gap under ZPGPD-HF (Lemma:FLambda, line 1369).

    Parameters
    ----------
    constants : Constants
        The setting.

    Returns
    -------
    float
        :math:`2D_\theta L_\theta/T^{1/4} + (1+\bar\sigma_\lambda)\sqrt{D_\theta}\epsilon_{rg}`.
    """
    c = constants
    optimisation = 2 * c.distance * c.curvature / c.iterations**0.25
    return optimisation + (1 + c.multiplier_bound) * math.sqrt(c.distance) * c.gradient_bias


def theorem_2_gap(constants):
    r"""Theorem 2's bound of the average optimality gap (thm2, line 1637).

    The sum of Lemma:FLambda and Lemma:lambda. Line 1658 replaces :math:`\epsilon_{rg}` by
    :math:`3\mu L'd/2`, which takes :math:`L' \ge 2`; this is the display before that.

    Parameters
    ----------
    constants : Constants
        The setting.

    Returns
    -------
    float
        In units of value.
    """
    _, dual_step = zeroth_order_steps(constants)
    return zeroth_order_lagrangian(constants) + dual_regret(constants, dual_step)


def theorem_2_violation(constants, complete=False):
    r"""Theorem 2's bound of :math:`E[b - \frac1T\sum_t V_g^{(t)}]_+` (thm2, line 1757).

    Parameters
    ----------
    constants : Constants
        The setting.
    complete : bool
        Add the :math:`4\epsilon_c` that lines 1723 and 1730 have and line 1748 drops.

    Returns
    -------
    float
        In units of value.
    """
    _, dual_step = zeroth_order_steps(constants)
    return _violation(constants, zeroth_order_lagrangian(constants), dual_step, complete)


def natural_steps(constants):
    r"""Step sizes of Theorem 1 (line 457).

    Parameters
    ----------
    constants : Constants
        The setting.

    Returns
    -------
    primal_step, dual_step : float
        :math:`2\log|A|` and :math:`(1-\gamma)/\sqrt T`.
    """
    c = constants
    return 2 * math.log(c.actions), (1 - c.discount) / math.sqrt(c.iterations)


def one_step(constants):
    r"""Slack of the one-step inequality (Lemma:nonmonotone, line 1878).

    Parameters
    ----------
    constants : Constants
        The setting.

    Returns
    -------
    float
        :math:`(1+\bar\sigma_\lambda)\epsilon_A/(1-\gamma)`, as printed.
    """
    return (1 + constants.multiplier_bound) * constants.advantage_bias / (1 - constants.discount)


def natural_lagrangian(constants, primal_step, dual_step, corrected=False):
    r"""Bound of the Lagrangian's average gap under NPGPD-HF (Lemma:bounded_avg_perf, line 1953).

    Parameters
    ----------
    constants : Constants
        The setting.
    primal_step, dual_step : float
        :math:`\eta_1, \eta_2 > 0`.
    corrected : bool
        Multiply the bias by the factor :math:`1/(1-\gamma)` that is lost between lines 2006 and
        2011, if Lemma:nonmonotone is inserted as it stands. (By the way of
        :func:`corrected_theorem_1_gap` the printed coefficient is right, and another term missing.)

    Returns
    -------
    float
        :math:`\frac{\log|A|}{\eta_1T} + \frac{B}{(1-\gamma)T} + \frac{2\eta_2B^2}{1-\gamma} +
        \frac{2(1+\bar\sigma_\lambda)\epsilon_A}{1-\gamma}`.
    """
    c = constants
    optimisation = _natural_optimisation(c, primal_step, dual_step, c.value_bound)
    bias = 2 * one_step(c)
    return optimisation + (bias / (1 - c.discount) if corrected else bias)


def theorem_1_gap(constants, corrected=False):
    r"""Theorem 1's bound of the average optimality gap (thm1, line 2048).

    Parameters
    ----------
    constants : Constants
        The setting.
    corrected : bool
        As in :func:`natural_lagrangian`.

    Returns
    -------
    float
        In units of value.
    """
    primal_step, dual_step = natural_steps(constants)
    lagrangian = natural_lagrangian(constants, primal_step, dual_step, corrected)
    return lagrangian + dual_regret(constants, dual_step)


def theorem_1_violation(constants, complete=False):
    r"""Theorem 1's bound of :math:`E[b - \frac1T\sum_t V_g^{(t)}]_+` (thm1, line 2141).

    Parameters
    ----------
    constants : Constants
        The setting.
    complete : bool
        Add the :math:`4\epsilon_c` that line 2107 has and line 2127 drops.

    Returns
    -------
    float
        In units of value.
    """
    primal_step, dual_step = natural_steps(constants)
    lagrangian = natural_lagrangian(constants, primal_step, dual_step)
    return _violation(constants, lagrangian, dual_step, complete)


def corollary_constant(constants):
    r"""A number C with :math:`\text{Theorem 1's gap} \le C/\sqrt T` (corollary, line 491).

    For every :math:`T \ge 3` with :math:`M = \lceil T\log T\rceil` and
    :math:`H = \lceil\log T/(2\log(1/\gamma))\rceil`: :math:`\gamma^H \le T^{-1/2}`, and as
    :math:`\log M/M` decreases, it is at most :math:`(1 + 1/e)/T`, because
    :math:`\log\log T/\log T \le 1/e`.

    Parameters
    ----------
    constants : Constants
        Its M, H and T play no part; its Lipschitz constant has to hold for every horizon, that is
        on :math:`[\sigma(-B), \sigma(B)]`.

    Returns
    -------
    float
        In units of value.
    """
    c = constants
    largest, stretch = c.value_bound, 1 / (1 - c.discount)
    rate = 2 * (1 + math.exp(-1))  # 2 log M / M <= rate / T
    feedback = c.lipschitz * math.sqrt(rate) + 2 * largest
    feedback_square = c.lipschitz**2 * rate + 4 * largest**2
    truncation = largest
    optimisation = 1 / 2 + largest * stretch + 2 * largest**2
    advantage = 2 * (1 + c.multiplier_bound) * stretch * (feedback + 2 * truncation)
    excess = c.multiplier_bound * (feedback + truncation)
    sampling_square = 2 * largest**2 / c.pairs + 2 * truncation**2
    square = 3 * (feedback_square + sampling_square + largest**2)
    return optimisation + advantage + excess + (1 - c.discount) * square / 2


def corrected_theorem_1_gap(constants, primal_step, dual_step, oscillation, biases=None):
    r"""Bound of NPGPD-HF's average gap with the variance term that Theorem 1's proof misses.

    :math:`\frac{\log|A|}{\eta_1T} + \frac{B}{(1-\gamma)T} + \frac{2\eta_2GB}{1-\gamma} +
    \frac{2(1+\bar\sigma_\lambda)}{1-\gamma}\beta_A + \frac{\eta_1}{8(1-\gamma)^3}
    \frac1T\sum_tE\max_s\mathrm{osc}(e^t(s,\cdot))^2 + \bar\sigma_\lambda\beta_c +
    \frac{\eta_2G^2}2`, with :math:`e = \hat A_L - A_L` and osc the largest minus the smallest
    entry. It follows from the corrected one-step inequality
    (:func:`pgpd_hf.theory.corrected.one_step`) where the paper uses Lemma:nonmonotone.

    Parameters
    ----------
    constants : Constants
        The setting.
    primal_step, dual_step : float
        :math:`\eta_1 > 0` and :math:`\eta_2 \ge 0`.
    oscillation : float
        :math:`\frac1T\sum_tE\max_s\mathrm{osc}(e^t(s,\cdot))^2`, measured.
    biases : tuple of float, optional
        :math:`\beta_A \ge \|E[\hat A_\diamond - A_\diamond|F_t]\|_\infty` and
        :math:`\beta_c \ge |E[\hat h_c - V_g + b|F_t]|`; by default :math:`\epsilon_A, \epsilon_c`.

    Returns
    -------
    float
        In units of value.
    """
    c = constants
    if biases is None:
        biases = c.advantage_bias, c.excess_bias
    total = _natural_optimisation(c, primal_step, dual_step, c.return_bound, allow_zero=True)
    total += primal_step / (8 * (1 - c.discount) ** 3) * oscillation
    return total + _from_biases(c, biases) + dual_step * c.return_bound**2 / 2


def semi_a_priori_gap(constants, primal_step, dual_step, oscillation, square, biases):
    r"""Bound of NPGPD-HF's average gap by what a run shows without knowing any value.

    :math:`\frac{\log|A|}{\eta_1T} + \frac{\eta_1}{8(1-\gamma)^2}\frac1T\sum_tE\max_s
    \mathrm{osc}(\hat A_L^t(s,\cdot))^2 + \frac{\eta_2}2\frac1T\sum_tE\hat h_c^2 +
    \frac{2(1+\bar\sigma_\lambda)}{1-\gamma}\beta_A + \bar\sigma_\lambda\beta_c`. It follows from
    the identity behind the certificate (:mod:`pgpd_hf.theory.certificates`) by Hoeffding's lemma,
    without a one-step inequality, so that neither :math:`B` nor its powers enter.

    Parameters
    ----------
    constants : Constants
        The setting.
    primal_step, dual_step : float
        :math:`\eta_1 > 0` and :math:`\eta_2 \ge 0`.
    oscillation : float
        :math:`\frac1T\sum_tE\max_s\mathrm{osc}(\hat A_L^t(s,\cdot))^2`, of people's advantages.
    square : float
        :math:`\frac1T\sum_tE\hat h_c^2`, of people's excesses.
    biases : tuple of float
        :math:`\beta_A` and :math:`\beta_c`, as in :func:`corrected_theorem_1_gap`.

    Returns
    -------
    float
        In units of value.
    """
    c = constants
    total = math.log(c.actions) / (require_step("primal_step", primal_step) * c.iterations)
    total += primal_step / (8 * (1 - c.discount) ** 2) * oscillation + dual_step / 2 * square
    return total + _from_biases(c, biases)


def predicted_violation(multiplier, dual_step, iterations):
    r"""Average violation that the dual step leaves behind, whatever M is.

    The violation's certificate is an identity while :math:`\lambda` stays inside its range: the
    average of :math:`b - V_g^{(t)}` is :math:`\lambda^{(T)}/(\eta_2T)` plus the mean error of
    :math:`\hat h_c`. Theorem 1's :math:`\eta_2` makes that :math:`\lambda^{(T)}/((1-\gamma)
    \sqrt T)`. With :math:`\lambda^\star` for :math:`\lambda^{(T)}` it is a prediction before the
    run, of the right order only: under Theorem 1's constant :math:`\eta_1` the multiplier swings
    around :math:`\lambda^\star`, with or without people, and does not settle.

    Parameters
    ----------
    multiplier : float
        :math:`\lambda^{(T)}`, or :math:`\lambda^\star` as its forecast.
    dual_step : float
        :math:`\eta_2 > 0`.
    iterations : int
        T.

    Returns
    -------
    float
        In units of value.
    """
    return multiplier / (require_step("dual_step", dual_step) * iterations)


def require_step(name, step):
    """Refuse a step size that a statement divides by, or that makes it empty.

    Parameters
    ----------
    name : str
        For the message.
    step : float
        The step size.

    Returns
    -------
    float
        `step`.

    Raises
    ------
    OutsideAssumptions
        Unless it is positive and finite.
    """
    if not 0 < step < math.inf:
        raise OutsideAssumptions(f"{name}: a positive step size expected, got {step}")
    return step


def _from_biases(c, biases):
    """What largest biases of advantages and of the excess add to NPGPD-HF's average gap."""
    advantage, excess = biases
    return 2 * (1 + c.multiplier_bound) / (1 - c.discount) * advantage + c.multiplier_bound * excess


def _natural_optimisation(c, primal_step, dual_step, excess, allow_zero=False):
    """What the exact method would leave; `excess` bounds the estimate of V_g - b."""
    require_step("primal_step", primal_step)
    if not (allow_zero and dual_step == 0):
        require_step("dual_step", dual_step)
    start = math.log(c.actions) / primal_step + c.value_bound / (1 - c.discount)
    drift = 2 * dual_step * excess * c.value_bound / (1 - c.discount)
    return start / c.iterations + drift


def _violation(c, lagrangian, dual_step, complete):
    """Violation lemma with C equal to the range of multipliers."""
    if not c.multiplier_bound > 0:
        raise OutsideAssumptions("multiplier_bound: a positive range of multipliers expected")
    distance = c.multiplier_bound**2 / (2 * require_step("dual_step", dual_step) * c.iterations)
    total = lagrangian + distance + dual_step * c.excess_square / 2
    printed = 2 / c.multiplier_bound * total
    return printed + 4 * c.excess_bias if complete else printed
