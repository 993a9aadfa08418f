r"""What is known of the estimates before a run: biases, variances, largest values.

Signals take values in :math:`[0, c]`, so that values are at most :math:`B = c/(1-\gamma)` and
returns at most :math:`G = B(1-\gamma^{H+1})`. Nothing is assumed of the transitions.
"""

import math
from dataclasses import dataclass

import numpy as np
from audit import exact
from audit.printed import require

from pgpd_hf.evaluators import make_evaluators

_GRID = 801  # differences at which an answer's moments are computed


@dataclass(frozen=True, kw_only=True)
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
    bias: float  # beta, of answers about differences in [-G, G]
    variance: float  # S, likewise
    excess_bias: float  # beta_0, of answers about differences in [-b, G - b]
    excess_variance: float  # S_0, likewise
    largest: float  # X, the largest absolute value of an answer

    @property
    def truncation(self):  # eps_H = B - G
        return self.value_bound - self.return_bound

    @property
    def primal_bias(self):  # bound omega of the oscillation of an advantage's bias over actions
        return self.discount ** (self.horizon + 1) * self.value_bound + 2 * self.bias

    @property
    def dual_bias(self):  # beta_c, of the estimate of V_g - b
        return self.truncation + self.excess_bias

    @property
    def deviation(self):  # bound of a return's standard deviation
        mixed = self.value_bound / (2 * math.sqrt(1 - self.discount**2))
        return min(self.return_bound / 2, mixed)

    @property
    def round_variance(self):  # variance v of an advantage that is estimated in one round
        return (self.discount * self.deviation + self.bias) ** 2 + self.variance

    @property
    def excess_round_variance(self):  # v_0, of the estimate of V_g - b
        return (self.deviation + self.excess_bias) ** 2 + self.excess_variance

    @property
    def spread(self):  # W, the missing variance: that of advantages over actions
        return (self.value_bound + 2 * self.bias) ** 2 / 4 + self.round_variance / self.rounds

    @property
    def excess_square(self):  # second moment of the estimate of V_g - b
        mean = max(self.threshold, self.return_bound - self.threshold) + self.excess_bias
        return min(self.largest**2, mean**2 + self.excess_round_variance / self.rounds)


def make_estimates(cmdp, setting):
    """What is known of the estimates under a setting."""
    bound, threshold = cmdp.return_bound(setting.horizon), cmdp.threshold
    require(
        0 <= threshold <= bound,
        f"threshold: in [0, G(H)] = [0, {bound:g}] expected, got {threshold:g}",
    )
    require(cmdp.actions > 1, "actions: at least 2 expected, got 1")
    votes = setting.evaluators, setting.link, bound, setting.estimator
    bias, variance = _moments(-bound, bound, *votes)
    excess_bias, excess_variance = _moments(-threshold, bound - threshold, *votes)
    exactly = setting.evaluators is None
    table = [bound] if exactly else np.abs(make_evaluators(*votes).estimate)
    model = ("states", "actions", "discount", "value_bound", "threshold")
    return Estimates(
        **{name: getattr(cmdp, name) for name in model},
        **{name: getattr(setting, name) for name in ("rounds", "horizon")},
        return_bound=bound,
        bias=bias,
        variance=variance,
        excess_bias=excess_bias,
        excess_variance=excess_variance,
        largest=float(max(table)),
    )


def _moments(low, high, *votes):
    """Largest bias and largest variance of answers about differences between two numbers."""
    error = exact.feedback_error(np.linspace(low, high, _GRID), *votes)
    variance = (error.square - error.bias**2).max()
    return float(np.abs(error.bias).max()), float(max(variance, 0.0))
