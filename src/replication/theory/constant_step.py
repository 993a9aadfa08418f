r"""Theorem 1 with a constant step of the policy: what noise does to the priced gap of one process.

The corrected bounds keep a term of the order :math:`\eta_1/N` for ever (theorem_1.py). For a fixed
process whose transitions do not depend on actions that term is not there (Theorem A of the
article's appendix): the softmax of a sum of noisy advantages sees their average, and the multiplier
returns to :math:`\lambda^\star`. For other processes this is proved from a number of rounds on,
:func:`rounds_needed`, which is a bound in principle only. No bound of the gap itself can be free of
:math:`\lambda^\star` (Proposition L).
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.core import optima
from replication.theory.constants import OutsideAssumptions

_ROUNDING = 1e-8  # relative to the largest value: two actions are tied


class Ties(NamedTuple):
    r"""The policies that are best at :math:`\lambda^\star`, and the actions that are not."""

    shortfall: np.ndarray  # Delta(s, a) = -A*(s, a) at lambda*, (S, A); zero where a is best
    boldest: np.ndarray  # of the best policies one that has the smallest utility value, (S, A)
    safest: np.ndarray  # and one that has the largest
    margin: float  # m, half the distance of these values from b; without `boldest` if lambda* = 0

    @property
    def smallest(self):
        """float: Delta, the smallest positive shortfall; infinite if all actions are best."""
        return float(self.shortfall[self.shortfall > 0].min(initial=math.inf))


def find_ties(cmdp, optimum):
    """Find the ties at the multiplier, which has to be the only one, as for nearly every b."""
    multiplier, largest = optimum.multiplier, cmdp.value_bound
    weighted = cmdp.reward + multiplier * cmdp.utility
    shortfall = -cmdp.advantages(optima.maximize(cmdp, weighted), weighted)
    shortfall[shortfall < _ROUNDING * (1 + multiplier) * largest] = 0
    never = -3 * largest * (shortfall > 0)  # what follows an action is worth at most B
    boldest, safest = (optima.maximize(cmdp, x + never) for x in (-cmdp.utility, cmdp.utility))
    room = [cmdp.evaluate(safest)[1] - cmdp.threshold]
    if multiplier > _ROUNDING:
        room.append(cmdp.threshold - cmdp.evaluate(boldest)[1])
    if min(room) < _ROUNDING * largest:
        raise OutsideAssumptions("threshold: one at which lambda* is the only multiplier expected")
    return Ties(shortfall, boldest, safest, float(min(room)) / 2)


def priced_gap(cmdp, optimum, estimates, primal_step, dual_step, iterations, cap):
    """Theorem A: bound of the average priced gap, where no action changes a transition."""
    e, ties = estimates, find_ties(cmdp, optimum)
    if e.actions == 1:
        raise OutsideAssumptions("actions: |A| >= 2 expected, got 1")
    if np.ptp(cmdp.transition, axis=1).max() > 0:
        needed = rounds_needed(cmdp, ties, e, primal_step, cap)
        raise OutsideAssumptions(
            "transitions: the same for all actions expected; for others the statement is proved "
            f"for unbiased answers and from {needed:.1e} rounds on, in principle only"
        )
    margin, bias = ties.margin, e.dual_bias
    if not 2 * bias < margin:
        raise OutsideAssumptions(
            f"horizon: a bias of V_g - b below {margin / 2:.3g} expected, got {bias:.3g}"
        )
    kappa = primal_step / (1 - cmdp.discount)
    # The largest oscillation of the summed errors, and that of the multiplier's sum (A3).
    sums = 4 * math.sqrt(e.actions * e.round_variance * iterations / e.rounds)
    noise = (1 + cap) * (sums + 2 * e.bias * iterations)
    reach = max(optimum.multiplier, cap - optimum.multiplier)
    swing = (noise / (1 - cmdp.discount) + math.log(e.actions) / primal_step) / margin
    swing += 2 * reach + reach**2 / (dual_step * margin)
    square = (margin / 2 + bias) ** 2 + e.excess_round_variance / e.rounds
    swing += dual_step * iterations * square / (margin - 2 * bias)
    each = np.ptp(cmdp.utility, axis=1, keepdims=True) * swing + noise
    each = each + 2 * ties.shortfall + 1 / kappa
    visits = cmdp.state_occupancy(optimum.policy)  # the same for all policies
    return float(visits @ np.where(ties.shortfall > 0, each, 0).sum(axis=1)) / iterations


def rounds_needed(cmdp, ties, estimates, primal_step, cap):
    """N_0 of Theorem C, from which on there is no floor whatever the transitions are."""
    stretch, tail = 1 / (1 - cmdp.discount), math.log(2 * cmdp.states * cmdp.actions) + 1
    square = ((1 + cap) * estimates.largest * stretch) ** 2
    return 2 * error_weight(cmdp, ties) * primal_step * square * tail / ties.smallest


def error_weight(cmdp, ties):
    """a_0 of Theorem C: what a unit of the summed logarithms does to the policy's exponent."""
    stretch = 1 / (1 - cmdp.discount)
    return 2 * cmdp.value_bound * stretch**2 / ties.margin + 2 * stretch
