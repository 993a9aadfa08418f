r"""The constants of the paper's lemmas, for one CMDP under one setting.

Rewards and utilities lie in [0, scale] here and in [0, 1] in the paper. Where a proof uses the size
of values, the largest value :math:`B = \mathrm{scale}/(1-\gamma)` enters, so that each bound is as
tight as its proof allows; with scale = 1 it is the paper's. The formulas that define the algorithms
(the range :math:`\bar\sigma_\lambda`, the step sizes, and :math:`L_\theta`, which is the inverse
of a step size) stay as printed, as they do in the runs. The statements hold for them, because
rewards in [0, scale] with scale :math:`\le 1` are a special case of rewards in [0, 1].
"""

import math
from dataclasses import dataclass

from pgpd_hf.algorithms.zpgpd_hf import theorem_2_steps, theorem_perturbation, visitation_mismatch
from pgpd_hf.core.evaluators import AS_ASSUMED, feedback_bias_bound, unlike_assumed
from pgpd_hf.core.links import Link, get_link

SIZES = ("evaluators", "rounds", "horizon", "iterations")  # M, N, H and T


class OutsideAssumptions(ValueError):
    """The setting violates an assumption of the statement; the message says which."""


def require_slack(slack):
    """Refuse a slack xi without which no policy exceeds the threshold (Assumption 2.2)."""
    if not slack > 0:
        raise OutsideAssumptions(f"slack: xi > 0 (Assumption 2.2, line 247) expected, got {slack}")


def require_radius(perturbation):
    """Refuse a radius mu with which policies are not perturbed at all."""
    # Theorem 2's is zero for infinitely many evaluators and a discount of zero.
    if not perturbation > 0:
        raise OutsideAssumptions(f"perturbation: mu > 0 expected, got {perturbation:.6g}")


def require_threshold(threshold, largest):
    """Refuse a threshold with which R - b may leave the range to which answers are clipped."""
    # The proofs use |R - b| <= G(H) and |V_g - b| <= B.
    if not 0 <= threshold <= largest:
        raise OutsideAssumptions(
            f"threshold: 0 <= b <= G(H) = {largest:.6g} expected, got {threshold}"
        )


def require_known_votes(setting):
    """Refuse people who do not vote as assumed: their preference model is known (line 148)."""
    if unlike_assumed(setting):
        raise OutsideAssumptions(
            f"{', '.join(AS_ASSUMED)}: people expected who vote by the assumed link alone; the "
            "statements are about a known preference model (line 148)"
        )


def require_as_printed(algorithm):
    """Refuse other steps, and multipliers that are regularized or do not begin at zero."""
    printed_values = {
        "normalize": "none",
        "step_decay": 0,
        "dual_regularization": 0,
        "initial_multiplier": 0,
    }
    for name, printed in printed_values.items():
        if (given := getattr(algorithm, name)) != printed:
            raise OutsideAssumptions(
                f"{name}: {printed} expected, got {given}; the statements are about the algorithms "
                "as printed"
            )


@dataclass(frozen=True)
class Constants:
    """Everything that the bounds depend on."""

    states: int
    actions: int
    discount: float
    scale: float  # largest reward or utility of a step
    threshold: float
    slack: float  # Slater's, xi > 0
    mismatch: float  # max of d*/rho; infinite unless rho has full support
    evaluators: int | None  # M; None for infinitely many
    rounds: int
    horizon: int
    iterations: int
    link: Link
    multiplier_bound: float
    perturbation: float  # mu

    def __post_init__(self):
        require_slack(self.slack)
        if self.scale > 1:
            raise OutsideAssumptions(
                f"scale: rewards and utilities in [0, 1] (line 103) expected, got {self.scale}"
            )

    @property
    def value_bound(self):
        r"""float: :math:`B`, the largest value; the paper's :math:`1/(1-\gamma)`."""
        return self.scale / (1 - self.discount)

    @property
    def return_bound(self):
        """float: the largest return, scale times G(H) (line 133)."""
        return self.value_bound * (1 - self.discount ** (self.horizon + 1))

    @property
    def lipschitz(self):
        r"""float: :math:`L`, of the inverse link on :math:`[\sigma(-G(H)), \sigma(G(H))]`."""
        return self.link.inverse_lipschitz(self.return_bound)

    @property
    def truncation(self):
        r"""float: :math:`\epsilon_V(H) = B\gamma^H` (line 723)."""
        return self.value_bound * self.discount**self.horizon

    @property
    def feedback(self):
        r"""float: :math:`\beta = L\sqrt{2\log M/M} + 2G(H)/M^2` (line 963)."""
        self._require_evaluators()
        return feedback_bias_bound(self.evaluators, self.link, self.return_bound)

    @property
    def feedback_square(self):
        r"""float: :math:`2L^2\log M/M + 4G(H)^2/M^2` (line 975)."""
        self._require_evaluators()
        m = self.evaluators
        if m is None:
            return 0.0
        return 2 * self.lipschitz**2 * math.log(m) / m + 4 * self.return_bound**2 / m**2

    @property
    def sampling_square(self):
        r"""float: :math:`\sigma_1(H, N) = 2G(H)^2/N + 2\epsilon_V^2` (line 868)."""
        return 2 * self.return_bound**2 / self.rounds + 2 * self.truncation**2

    @property
    def excess_bias(self):
        r"""float: :math:`\epsilon_c = \epsilon_V + \beta` (line 1089)."""
        return self.truncation + self.feedback

    @property
    def excess_square(self):
        r"""float: :math:`\sigma_2^2(H, M, N)` (line 1247)."""
        require_threshold(self.threshold, self.return_bound)
        return 3 * (self.feedback_square + self.sampling_square + self.value_bound**2)

    @property
    def advantage_bias(self):
        r"""float: :math:`\epsilon_A = \beta + 2\epsilon_V` (line 1817)."""
        return self.feedback + 2 * self.truncation

    @property
    def smoothness(self):
        r"""float: :math:`L' = 2\gamma|A|/(1-\gamma)^3` times scale (line 1034)."""
        return 2 * self.scale * self.discount * self.actions / (1 - self.discount) ** 3

    @property
    def dimension(self):
        """int: d (line 541)."""
        return self.states * self.actions

    @property
    def gradient_bias(self):
        r"""float: :math:`\epsilon_{rg}` (line 1148)."""
        return self.gradient_bias_at(self.perturbation, self.dimension)

    def gradient_bias_at(self, perturbation, dimension):
        r""":math:`\epsilon_{rg} = \mu L'd/2 + 2d\epsilon_V/\mu + d\beta/\mu` (line 1148)."""
        require_radius(perturbation)
        noise = (2 * self.truncation + self.feedback) / perturbation
        return dimension * (perturbation * self.smoothness / 2 + noise)

    @property
    def distance(self):
        r"""float: :math:`D_\theta = 8|S|\,\|d^\star/\rho\|_\infty^2/(1-\gamma)^2` (line 1383)."""
        if not math.isfinite(self.mismatch):
            raise OutsideAssumptions(
                "initial: rho > 0 in every state (line 1372) expected; ||d*/rho|| is infinite"
            )
        return 8 * self.states * self.mismatch**2 / (1 - self.discount) ** 2

    @property
    def theorem_2_steps(self):
        r"""Tuple of float: :math:`\eta_1, \eta_2` of Theorem 2 (line 546), as printed."""
        return theorem_2_steps(
            self.states, self.actions, self.discount, self.slack, self.mismatch, self.iterations
        )

    @property
    def curvature(self):
        r"""float: :math:`L_\theta = 1/\eta_1 = 2|A|(1+2/\xi)/(1-\gamma)^4` (line 1385)."""
        return 1 / self.theorem_2_steps[0]

    def _require_evaluators(self):
        if self.evaluators is not None and self.evaluators < 2:
            raise OutsideAssumptions(
                "evaluators: M >= 2 expected; log 1 = 0 removes the error of a vote from the bound"
            )


def make_constants(cmdp, optimum, setting):
    """Constants of a CMDP under a setting, with the paper's cap and radius if it has none."""
    require_slack(optimum.slack)
    require_known_votes(setting)
    require_as_printed(setting)
    link, bound = get_link(setting.link), cmdp.return_bound(setting.horizon)
    if not math.isfinite(link.inverse_lipschitz(bound)):
        raise OutsideAssumptions(
            f"link: Assumption 2.1 (line 178) requires the inverse link to be Lipschitz; for "
            f"{setting.link} the constant overflows at the largest return, {bound:.6g}"
        )
    perturbation = setting.perturbation
    if perturbation is None:
        perturbation = theorem_perturbation(
            cmdp.discount, setting.horizon, setting.evaluators, link, bound
        )
    multiplier_bound = setting.multiplier_bound
    if multiplier_bound is None:
        multiplier_bound = 2 / ((1 - cmdp.discount) * optimum.slack)
    full = (cmdp.initial > 0).all()
    model = ("states", "actions", "discount", "scale", "threshold")
    return Constants(
        **{name: getattr(cmdp, name) for name in model},
        **{name: getattr(setting, name) for name in SIZES},
        slack=optimum.slack,
        mismatch=float(visitation_mismatch(cmdp, optimum.policy)) if full else math.inf,
        link=link,
        multiplier_bound=multiplier_bound,
        perturbation=perturbation,
    )
