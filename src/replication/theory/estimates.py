r"""What is known of Algorithm 1's estimates before a run: biases, variances, largest values.

Steps 2.1 to 2.7 of the article's appendix. Signals take values in :math:`[0, c]`, so that values
are at most :math:`B = c/(1-\gamma)` and returns at most :math:`G = B(1-\gamma^{H+1})`. Of the
transitions only Dobrushin's coefficient :math:`\tau` is used; if nothing is known of them,
take :math:`\tau = 1`; everything stays true.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from pgpd_hf.core.evaluators import make_evaluators
from pgpd_hf.core.links import get_link
from replication.theory import exact
from replication.theory.constants import (
    require_as_printed,
    require_known_votes,
    require_threshold,
)

_GRID = 801  # differences at which an answer's moments are computed


@dataclass(frozen=True)
class Estimates:
    """Everything that the corrected bounds need of the estimates."""

    states: int
    actions: int
    discount: float
    value_bound: float  # B
    return_bound: float  # G
    threshold: float  # 0 <= b <= G
    rounds: float
    horizon: int
    mixing: float  # tau, in [0, 1]
    span: float  # J <= B, a bound of the span of action values (step 2.2)
    bias: float  # beta, of answers about differences in [-G, G]
    variance: float  # S, likewise
    excess_bias: float  # beta_0, of answers about differences in [-b, G - b]
    excess_variance: float  # S_0, likewise
    largest: float  # X, the largest absolute value of an answer

    @property
    def truncation(self):
        r"""float: :math:`\epsilon_H = B - G`."""
        return self.value_bound - self.return_bound

    @property
    def primal_bias(self):
        r"""float: :math:`\omega = (\gamma\tau)^{H+1}J + 2\beta` (step 2.4)."""
        forgotten = (self.discount * self.mixing) ** (self.horizon + 1)
        return forgotten * self.span + 2 * self.bias

    @property
    def dual_bias(self):
        r"""float: :math:`\beta_c = \epsilon_H + \beta_0` (step 2.4)."""
        return self.truncation + self.excess_bias

    @property
    def deviation(self):
        r"""float: :math:`\varsigma`, bound of a return's standard deviation (step 2.5)."""
        mixed = self.span / (2 * math.sqrt(1 - self.discount**2))
        return min(self.return_bound / 2, mixed)

    @property
    def round_variance(self):
        r"""float: :math:`v = (\gamma\varsigma+\beta)^2 + S`, of an advantage (step 2.6)."""
        return (self.discount * self.deviation + self.bias) ** 2 + self.variance

    @property
    def excess_round_variance(self):
        r"""float: :math:`v_0 = (\varsigma+\beta_0)^2 + S_0`, of the dual step (step 2.7)."""
        return (self.deviation + self.excess_bias) ** 2 + self.excess_variance

    @property
    def spread(self):
        r"""float: :math:`W = (J+2\beta)^2/4 + v/N`, the variance over actions (step 2.6)."""
        return (self.span + 2 * self.bias) ** 2 / 4 + self.round_variance / self.rounds

    @property
    def excess_square(self):
        r"""float: :math:`\bar h^2`, bound of :math:`E\hat h_c^2` (step 2.7)."""
        mean = max(self.threshold, self.return_bound - self.threshold) + self.excess_bias
        return min(self.largest**2, mean**2 + self.excess_round_variance / self.rounds)

    @property
    def error_square(self):
        r"""float: :math:`\Omega`, of the advantages' errors (step 3.5)."""
        tail = math.log(2 * self.states * self.actions) + 1
        return (self.primal_bias + 2 * math.sqrt(2 * self.largest**2 * tail / self.rounds)) ** 2


def make_estimates(cmdp, setting, known=False):
    """What is known of the estimates under a setting, and of the transitions if that is `known`."""
    require_known_votes(setting)
    require_as_printed(setting)
    bound, threshold = cmdp.return_bound(setting.horizon), cmdp.threshold
    require_threshold(threshold, bound)
    link = get_link(setting.link)
    votes = setting.evaluators, link, bound, setting.estimator
    bias, variance = _moments(-bound, bound, *votes)
    excess_bias, excess_variance = _moments(-threshold, bound - threshold, *votes)
    tau, span = mixing(cmdp) if known else (1.0, cmdp.value_bound)
    exactly = setting.evaluators is None
    table = [bound] if exactly else np.abs(make_evaluators(*votes).estimate)
    model = ("states", "actions", "discount", "value_bound", "threshold")
    return Estimates(
        **{name: getattr(cmdp, name) for name in model},
        **{name: getattr(setting, name) for name in ("rounds", "horizon")},
        bias=bias,
        variance=variance,
        excess_bias=excess_bias,
        excess_variance=excess_variance,
        return_bound=bound,
        mixing=tau,
        span=span,
        largest=float(max(table)),
    )


@cache  # N, T and what is known of the transitions do not matter
def _moments(low, high, *votes):
    """Largest bias and largest variance of answers about differences between two numbers."""
    error = exact.feedback_error(np.linspace(low, high, _GRID), *votes)
    variance = (error.square - error.bias**2).max()
    return float(np.abs(error.bias).max()), float(max(variance, 0.0))


def mixing(cmdp):
    """Dobrushin's coefficient tau of the transitions, and J, the bound of spans that follows."""
    rows = cmdp.transition.reshape(-1, cmdp.states)
    tau = min(1.0, max(float(np.abs(rows - row).sum(-1).max()) / 2 for row in rows))
    largest = max(float(np.ptp(cmdp.reward)), float(np.ptp(cmdp.utility)))
    return tau, largest / (1 - cmdp.discount * tau)
