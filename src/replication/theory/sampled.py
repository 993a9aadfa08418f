r"""Sampled NPGPD-HF: a regret bound for a multiplier that moves at any pace (steps D1 to D3).

In state s the mean of its step is Algorithm 1's, times the weight w(s) of
:mod:`pgpd_hf.algorithms.sampled_npgpd_hf`, which no iterate changes. So mirror descent in each
state, divided by w(s) and weighted by the optimal policy's occupancies, bounds the regret of the
Lagrangian; what follows from that is as in :mod:`~replication.theory.theorem_1`.
"""

import math

import numpy as np

from replication.theory.constants import OutsideAssumptions
from replication.theory.theorem_1 import bounds_from_regret, growth

_ROUNDING = 1e-12  # an occupancy below it is zero


def visits_and_weights(cmdp, exploration):
    """Means over h of P_h(s), and of gamma^h P_h(s)/|A|, under uniform actions, each (S,)."""
    at, chances = np.array(cmdp.initial), []
    for _ in range(exploration + 1):
        chances.append(at)
        at = at @ cmdp.transition.mean(axis=1)
    discounts = cmdp.discount ** np.arange(exploration + 1)
    return np.mean(chances, axis=0), discounts @ chances / len(chances) / cmdp.actions


def answer_square(estimates):
    """Bound of an answer's mean square (step D2)."""
    e = estimates
    return min(e.largest**2, (e.return_bound + e.bias) ** 2 + e.variance)


def sampled(cmdp, optimum, exploration, estimates, primal_step, dual_step, iterations, cap):
    """Bounds of the average gap and of the violation (step D3)."""
    e, kappa = estimates, primal_step / (1 - cmdp.discount)
    if exploration > e.horizon:
        raise OutsideAssumptions(f"horizon: at least {exploration} expected, to reach all states")
    visits, weights = visits_and_weights(cmdp, exploration)
    occupancy = cmdp.state_occupancy(optimum.policy)
    goes = occupancy > _ROUNDING
    if not weights[goes].all():
        raise OutsideAssumptions("exploration: enough steps to reach all of pi*'s states expected")
    share = occupancy[goes] / weights[goes]
    noisy = share @ visits[goes] / e.actions
    square = (1 + cap) ** 2 * answer_square(e)
    regret = share.sum() * math.log(e.actions) / (kappa * iterations)
    regret = regret + kappa * growth(kappa * (1 + cap) * e.largest) * square * noisy
    regret = regret + (1 + cap) * (2 * e.bias + e.truncation) * noisy
    return bounds_from_regret(e, regret, dual_step, iterations, cap, optimum.multiplier)
