r"""The right sides of the paper's statements: constants of the lemmas, and bounds made of them.

Rewards and utilities lie in [0, scale] here and in [0, 1] in the paper: where a proof uses the size
of values, the largest value :math:`B = \mathrm{scale}/(1-\gamma)` enters. What defines the
algorithms (:math:`\bar\sigma_\lambda`, step sizes, :math:`L_\theta`) stays as printed. Numbers in
brackets are lines of the paper's source.
"""

import math
from dataclasses import dataclass

from pgpd_hf import LINKS
from pgpd_hf.evaluators import Link, feedback_bias
from pgpd_hf.theory import OutsideAssumptions
from pgpd_hf.zpgpd_hf import visitation_mismatch


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Options that both algorithms share, and T."""

    evaluators: int | None
    iterations: int
    rounds: int = 1
    horizon: int = 80
    link: str = "logistic"
    estimator: str = "plug-in"

    def algorithm(self, kind, **options):
        """Algorithm of a class with these options; its steps are by default its theorem's."""
        names = ("evaluators", "rounds", "horizon", "link", "estimator")
        return kind(**{name: getattr(self, name) for name in names} | options)


def require(condition, message):
    """Refuse a setting that violates an assumption."""
    if not condition:
        raise OutsideAssumptions(message)


@dataclass(frozen=True, kw_only=True)
class Constants:
    """Everything that the printed bounds depend on."""

    states: int
    actions: int
    discount: float
    scale: float
    threshold: float
    slack: float  # xi
    mismatch: float  # max of d*/rho
    evaluators: int | None  # M
    rounds: int
    horizon: int
    iterations: int
    link: Link
    multiplier_bound: float  # sigma, the cap of multipliers

    @property
    def value_bound(self):  # B, the largest value
        return self.scale / (1 - self.discount)

    @property
    def return_bound(self):  # largest return, scale times G(H) (133)
        return self.value_bound * (1 - self.discount ** (self.horizon + 1))

    @property
    def lipschitz(self):  # L of the inverse link (178), on the range to which answers are clipped
        return self.link.inverse_lipschitz(self.return_bound)

    @property
    def truncation(self):  # eps_V (723)
        return self.value_bound * self.discount**self.horizon

    @property
    def feedback(self):  # beta (963)
        return feedback_bias(self.evaluators, self.link, self.return_bound)

    @property
    def feedback_square(self):  # bound of an answer's squared error (975)
        m = self.evaluators
        if m is None:
            return 0.0
        return 2 * self.lipschitz**2 * math.log(m) / m + 4 * self.return_bound**2 / m**2

    @property
    def sampling_square(self):  # sigma_1 (868)
        return 2 * self.return_bound**2 / self.rounds + 2 * self.truncation**2

    @property
    def excess_bias(self):  # eps_c (1089)
        return self.truncation + self.feedback

    @property
    def excess_square(self):  # sigma_2^2 (1247)
        return 3 * (self.feedback_square + self.sampling_square + self.value_bound**2)

    @property
    def advantage_bias(self):  # eps_A (1817)
        return self.feedback + 2 * self.truncation

    @property
    def smoothness(self):  # L' (1034)
        return 2 * self.scale * self.discount * self.actions / (1 - self.discount) ** 3

    @property
    def dimension(self):  # d (541)
        return self.states * self.actions

    @property
    def perturbation(self):  # mu (554)
        return math.sqrt(max(2 * self.discount**self.horizon / (1 - self.discount), self.feedback))

    def gradient_bias_at(self, perturbation, dimension):  # eps_rg (1148)
        require(perturbation > 0, "perturbation: mu > 0 expected, got 0")
        noise = (2 * self.truncation + self.feedback) / perturbation
        return dimension * (perturbation * self.smoothness / 2 + noise)

    @property
    def gradient_bias(self):  # eps_rg (1148)
        return self.gradient_bias_at(self.perturbation, self.dimension)

    @property
    def distance(self):  # D_theta (1383)
        return 8 * self.states * self.mismatch**2 / (1 - self.discount) ** 2

    @property
    def curvature(self):  # L_theta (1385), the inverse of Theorem 2's first step
        return 2 * self.actions * (1 + 2 / self.slack) / (1 - self.discount) ** 4

    @property
    def theorem_1_steps(self):  # eta_1 and eta_2 of Theorem 1 (457)
        return 2 * math.log(self.actions), (1 - self.discount) / math.sqrt(self.iterations)

    @property
    def theorem_2_steps(self):  # eta_1 and eta_2 of Theorem 2 (546)
        dual = 4 * self.states * self.curvature * self.mismatch**2
        return 1 / self.curvature, dual / math.sqrt(self.iterations)


def make_constants(cmdp, optimum, setting):
    """Constants of a CMDP under a setting; what the statements do not allow is refused."""
    largest, link = cmdp.return_bound(setting.horizon), LINKS[setting.link]
    require(cmdp.scale <= 1, f"scale: at most 1 (line 103) expected, got {cmdp.scale:g}")
    require(
        0 <= cmdp.threshold <= largest,
        f"threshold: in [0, G(H)] = [0, {largest:g}] expected, got {cmdp.threshold:g}",
    )
    require(
        math.isfinite(link.inverse_lipschitz(largest)),
        f"link: its inverse is not Lipschitz up to {largest:g} (line 178)",
    )
    model = ("states", "actions", "discount", "scale", "threshold")
    sizes = ("evaluators", "rounds", "horizon", "iterations")
    return Constants(
        **{name: getattr(cmdp, name) for name in model},
        **{name: getattr(setting, name) for name in sizes},
        slack=optimum.slack,
        mismatch=float(visitation_mismatch(cmdp, optimum.policy)),
        link=link,
        multiplier_bound=2 / ((1 - cmdp.discount) * optimum.slack),
    )


def dual_regret(constants, dual_step):
    """Bound of the average of -lambda (V_g* - V_g) (Lemma:lambda, 1280)."""
    drift = dual_step * constants.excess_square / 2
    return constants.multiplier_bound * constants.excess_bias + drift


def zeroth_order_lagrangian(constants):
    """Bound of the Lagrangian's average gap under ZPGPD-HF (Lemma:FLambda, 1369)."""
    c = constants
    optimisation = 2 * c.distance * c.curvature / c.iterations**0.25
    return optimisation + (1 + c.multiplier_bound) * math.sqrt(c.distance) * c.gradient_bias


def theorem_2_gap(constants):
    """Theorem 2's bound of the average gap, before eps_rg is replaced by a simpler term (1637)."""
    lagrangian = zeroth_order_lagrangian(constants)
    return lagrangian + dual_regret(constants, constants.theorem_2_steps[1])


def theorem_2_violation(constants, complete=False):
    """Theorem 2's bound of the violation (1757); complete: with 4 eps_c, lost after line 1730."""
    lagrangian = zeroth_order_lagrangian(constants)
    return _violation(constants, lagrangian, constants.theorem_2_steps[1], complete)


def one_step(constants):
    """Error term of the one-step inequality (Lemma:nonmonotone, 1878)."""
    return (1 + constants.multiplier_bound) * constants.advantage_bias / (1 - constants.discount)


def natural_lagrangian(constants, primal_step, dual_step):
    """Bound of the Lagrangian's average gap under NPGPD-HF (Lemma:bounded_avg_perf, 1953)."""
    c, stretch = constants, 1 / (1 - constants.discount)
    start = (math.log(c.actions) / primal_step + c.value_bound * stretch) / c.iterations
    drift = 2 * dual_step * c.value_bound**2 * stretch
    return start + drift + 2 * one_step(c)


def theorem_1_gap(constants):
    """Theorem 1's bound of the average gap (2048)."""
    steps = constants.theorem_1_steps
    return natural_lagrangian(constants, *steps) + dual_regret(constants, steps[1])


def theorem_1_violation(constants, complete=False):
    """Theorem 1's bound of the violation (2141); complete: with 4 eps_c, lost after line 2107."""
    steps = constants.theorem_1_steps
    lagrangian = natural_lagrangian(constants, *steps)
    return _violation(constants, lagrangian, steps[1], complete)


def _violation(c, lagrangian, dual_step, complete):
    """Lemma:constraint_violation (1076) with C equal to the cap of multipliers."""
    distance = c.multiplier_bound**2 / (2 * dual_step * c.iterations)
    total = lagrangian + distance + dual_step * c.excess_square / 2
    printed = 2 / c.multiplier_bound * total
    return printed + 4 * c.excess_bias if complete else printed
