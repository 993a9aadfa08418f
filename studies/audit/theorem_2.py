r"""Theorem 2 corrected, for Algorithm 2T: tangent directions in the interior of the simplices.

The printed Theorem 2 is false. Algorithm 2T differs from the printed one in that directions v are
tangent to the simplex and that parameters are projected on :math:`\Theta_\delta =
\{\theta: \theta_{s,a}\ge\delta\}`, :math:`\delta = \mu\sqrt{1-1/|A|}`, so that every
:math:`\theta+\mu v` is a policy. Its bound has the second moment of the estimated gradient, which
the first step of the printed proof (line 1433) leaves out.
"""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from audit import exact
from audit.estimates import Estimates
from audit.printed import require
from audit.theorem_1 import LONGEST, bounds_from_regret

from pgpd_hf import ZPGPDHF

_WEIGHTS = np.geomspace(1e-12, 1, 200)  # alpha of the proof, in units of the largest one


@dataclass(frozen=True)
class Curvature:
    """What Theorem 2 needs besides the estimates."""

    estimates: Estimates
    radius: float  # mu, at most 1/(|A| sqrt(1 - 1/|A|))
    distance: float  # D = 2 sum_s (q^u(s)/rho(s))^2, u: the optimum moved into the interior

    @property
    def dimension(self):  # d = |S|(|A| - 1)
        return self.estimates.states * (self.estimates.actions - 1)

    @property
    def smoothness(self):  # L' along tangent directions: half of line 1034's
        e = self.estimates
        return e.discount * e.actions * e.value_bound / (1 - e.discount) ** 2

    @property
    def steepness(self):  # bound of a tangent gradient's norm
        e = self.estimates
        return math.sqrt(e.actions) * e.value_bound / (2 * (1 - e.discount))

    @property
    def slope_bias(self):  # zeta, the bias of an answer about a perturbation
        e = self.estimates
        moved = self.radius * math.sqrt(e.actions)  # largest change of a row, in the L1 norm
        tail = moved / 2 * (e.horizon + 2 + e.discount / (1 - e.discount))
        return e.truncation * min(1, tail) + e.bias * min(1, (e.horizon + 1) * moved)

    @property
    def bias(self):  # b_1, of an estimated gradient
        noise = math.sqrt(self.dimension) * self.slope_bias / self.radius
        return self.smoothness * self.radius + noise

    @property
    def square(self):  # v_2, the second moment of an estimated gradient
        e, d, scale = self.estimates, self.dimension, self.dimension / self.radius
        answers = (2 * e.deviation + e.bias) ** 2 + e.variance
        slopes = 4 * d * self.steepness**2 + (d * self.smoothness * self.radius) ** 2
        return slopes + scale**2 * (2 * self.slope_bias**2 + answers / e.rounds)


def margin(radius, actions):
    """Least probability delta of an action, with room for perturbations of a radius."""
    return radius * math.sqrt(1 - 1 / actions)


def make_curvature(cmdp, optimum, estimates, radius):
    """Constants of Theorem 2 for one CMDP at a radius mu."""
    require((cmdp.initial > 0).all(), "initial: positive in every state (line 1372) expected")
    delta = margin(radius, cmdp.actions)
    inner = (1 - cmdp.actions * delta) * optimum.policy + delta
    distance = 2 * float(((cmdp.occupancy(inner) / cmdp.initial) ** 2).sum())
    return Curvature(estimates, radius, distance)


def mean_regret(curvature, primal_step, dual_step, iterations, cap, weight):
    """Bound of the Lagrangian's average regret, for weights of at most eta_1 l / 2."""
    c, e = curvature, curvature.estimates
    ell = (1 + cap) * c.smoothness
    moving = (2 + cap) * e.value_bound / iterations
    moving += dual_step * math.sqrt(e.excess_square) * e.value_bound
    noise = primal_step * ((1 + cap) * c.bias) ** 2
    noise += ell * primal_step**2 * (1 + cap) ** 2 * c.square
    delta = margin(c.radius, e.actions)
    interior = (1 + cap) * (e.actions - 1) * delta * e.value_bound / (1 - e.discount)
    total = (1.25 * moving + 1.75 * noise) / weight + 3 * weight * c.distance / primal_step
    return total + interior


def theorem_2(curvature, primal_step, dual_step, iterations, cap, multiplier):
    """Theorem 2, corrected, with the best of 200 weights, for a primal step of at most 1/l."""
    weights = primal_step * (1 + cap) * curvature.smoothness / 2 * _WEIGHTS
    regret = mean_regret(curvature, primal_step, dual_step, iterations, cap, weights).min()
    estimates = curvature.estimates
    return bounds_from_regret(estimates, float(regret), dual_step, iterations, cap, multiplier)


def rate_setting(estimates, iterations, cap):
    """Radius and steps with which Theorem 2 has its rate (NT)^(-1/7).

    They fall as (NT)^(-1/7), N (NT)^(-4/7) and N (NT)^(-6/7).
    """
    e = estimates
    require(e.discount > 0, "discount: above 0 expected")
    n, total = e.rounds, e.rounds * iterations
    room = 1 / (e.actions * math.sqrt(1 - 1 / e.actions))
    ell = (1 + cap) * Curvature(e, room, 1.0).smoothness
    primal_step = min(1.0, n * total ** (-4 / 7)) / ell
    dual_step = cap / math.sqrt(e.excess_square) * n * total ** (-6 / 7)
    return room * total ** (-1 / 7), primal_step, dual_step


def best_setting(cmdp, optimum, estimates, cap):
    """Function from T to the best radius and steps of those rates for any T, and their bounds."""
    choices = []
    for length in np.geomspace(1, 10**LONGEST, 25):
        radius, *steps = rate_setting(estimates, length, cap)
        choices.append((make_curvature(cmdp, optimum, estimates, radius), steps))

    def best(iterations):
        found = [
            ((it.radius, *steps), theorem_2(it, *steps, iterations, cap, optimum.multiplier))
            for it, steps in choices
        ]
        return min(found, key=lambda pair: pair[1].worse)

    return best


@dataclass(frozen=True, kw_only=True, repr=False)
class Interior(ZPGPDHF):
    """Algorithm 2T: ZPGPD-HF with tangent directions in the interior of the simplices."""

    name: ClassVar[str] = "interior"
    label: ClassVar[str] = "ZPGPD-HF, interior"
    streams: ClassVar[str] = "zpgpd_hf"

    directions: str = "tangent"

    def update(self, run, state):
        """Make an iteration."""
        answers = run.ask(state.theta)
        moved = answers.reward + state.multiplier * answers.utility
        moved = state.theta + run.primal_step(state.multiplier) * moved
        least = margin(run.setting.perturbation.radius, run.cmdp.actions)
        multiplier = run.dual_update(state.multiplier, answers.excess)
        return state.next(project_inside(moved, least), multiplier)


def project_inside(theta, least):
    """Project each row on the probability vectors whose entries are at least a number."""
    room = 1 - theta.shape[-1] * least
    if room <= 0:
        return np.full_like(theta, 1 / theta.shape[-1])
    return least + room * exact.projected((theta - least) / room)
