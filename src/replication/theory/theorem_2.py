r"""Theorem 2 corrected, for Algorithm 2T: tangent directions in the interior of the simplices.

The printed Theorem 2 is false (docs/audit.md). Algorithm 2T differs from the printed one in that
directions v are tangent to the simplex and that parameters are projected on :math:`\Theta_\delta =
\{\theta: \theta_{s,a}\ge\delta\}`, :math:`\delta = \mu\sqrt{1-1/|A|}`, so that every
:math:`\theta+\mu v` is a policy. Steps 4.1 to 4.12 of the article's appendix.
"""

import math
from dataclasses import dataclass

import numpy as np

from pgpd_hf.algorithms.zpgpd_hf import ZPGPDHF
from replication.theory import exact
from replication.theory.constants import OutsideAssumptions
from replication.theory.estimates import Estimates
from replication.theory.theorem_1 import Bound, require_cap


@dataclass(frozen=True)
class Curvature:
    """What Theorem 2 needs besides :class:`~replication.theory.estimates.Estimates`."""

    estimates: Estimates
    radius: float  # mu, at most 1/(|A| sqrt(1 - 1/|A|))
    # D = 2 sum_s (q^u(s)/rho(s))^2, with u the optimum moved into the interior (step 4.7).
    distance: float

    @property
    def dimension(self):
        """int: d = |S|(|A| - 1)."""
        return self.estimates.states * (self.estimates.actions - 1)

    @property
    def margin(self):
        r"""float: :math:`\delta`, the least probability of an action."""
        return margin(self.radius, self.estimates.actions)

    @property
    def smoothness(self):
        r"""float: :math:`L'` of a value on policies, along tangent directions (step 4.2)."""
        e = self.estimates
        chain = e.discount * e.mixing
        return chain * e.actions * e.span / ((1 - e.discount) * (1 - chain))

    @property
    def steepness(self):
        r"""float: :math:`\Gamma`, bound of a tangent gradient's norm (step 4.2)."""
        e = self.estimates
        return math.sqrt(e.actions) * e.span / (2 * (1 - e.discount))

    @property
    def slope_bias(self):
        r"""float: :math:`\zeta(\mu)`, bias of an answer about a perturbation (step 4.4)."""
        e = self.estimates
        moved = self.radius * math.sqrt(e.actions)  # largest change of a row, in the L1 norm
        tail = moved / 2 * (e.horizon + 2 + e.discount / (1 - e.discount))
        return e.truncation * min(1, tail) + e.bias * min(1, (e.horizon + 1) * moved)

    @property
    def bias(self):
        r"""float: :math:`b_1`, of an estimated gradient (step 4.3)."""
        noise = math.sqrt(self.dimension) * self.slope_bias / self.radius
        return self.smoothness * self.radius + noise

    @property
    def square(self):
        r"""float: :math:`v_2`, second moment of an estimated gradient (step 4.5)."""
        e, d, scale = self.estimates, self.dimension, self.dimension / self.radius
        answers = (2 * e.deviation + e.bias) ** 2 + e.variance
        slopes = 4 * d * self.steepness**2 + (d * self.smoothness * self.radius) ** 2
        return slopes + scale**2 * (2 * self.slope_bias**2 + answers / e.rounds)


def margin(radius, actions):
    r"""Least probability of an action, :math:`\mu\sqrt{1-1/|A|}`, with room for perturbations."""
    return radius * math.sqrt(1 - 1 / actions)


def make_curvature(cmdp, optimum, estimates, radius):
    """Constants of Theorem 2 for one CMDP at a radius mu."""
    # The largest radius, that of `rate_setting` for N T = 1, may be beyond by rounding.
    if cmdp.actions == 1 or not 0 < cmdp.actions * margin(radius, cmdp.actions) <= 1 + 1e-9:
        raise OutsideAssumptions(
            f"perturbation: a radius expected that leaves |A| = {cmdp.actions} actions a "
            f"probability of mu sqrt(1 - 1/|A|) <= 1/|A| each, got {radius:.6g}"
        )
    if not (cmdp.initial > 0).all():
        raise OutsideAssumptions("initial: rho > 0 in every state (line 1372) expected")
    delta = margin(radius, cmdp.actions)
    inner = (1 - cmdp.actions * delta) * optimum.policy + delta
    distance = 2 * float(((cmdp.state_occupancy(inner) / cmdp.initial) ** 2).sum())
    return Curvature(estimates, radius, distance)


def regret(curvature, primal_step, dual_step, iterations, cap, weight):
    r"""Theorem 2's bound of the Lagrangian's average gap, for weights :math:`\le \eta_1\ell/2`."""
    c, e = curvature, curvature.estimates
    ell = (1 + cap) * c.smoothness
    if not 0 < primal_step * ell <= 1 + 1e-9:
        raise OutsideAssumptions(
            f"primal_step: at most 1/l = {1 / ell:.6g} expected, got {primal_step:.6g}"
        )
    moving = (2 + cap) * e.value_bound / iterations
    moving += dual_step * math.sqrt(e.excess_square) * e.value_bound
    noise = primal_step * ((1 + cap) * c.bias) ** 2
    noise += ell * primal_step**2 * (1 + cap) ** 2 * c.square
    interior = (1 + cap) * (e.actions - 1) * c.margin * e.span / (1 - e.discount)
    total = (1.25 * moving + 1.75 * noise) / weight + 3 * weight * c.distance / primal_step
    return total + interior


def theorem_2(curvature, primal_step, dual_step, iterations, cap, multiplier):
    """Theorem 2, corrected, with the best of 200 weights."""
    require_cap(cap, multiplier)
    e = curvature.estimates
    most = primal_step * (1 + cap) * curvature.smoothness / 2
    weights = most * np.geomspace(1e-12, 1, 200)
    steps = primal_step, dual_step, iterations
    gap = float(regret(curvature, *steps, cap, weights).min())
    gap += dual_step * e.excess_square / 2 + cap * e.dual_bias
    fluctuation = cap / 2 * math.sqrt(e.excess_round_variance / (e.rounds * iterations))
    total = gap + cap**2 / (2 * dual_step * iterations) + fluctuation
    return Bound(gap, total / (cap - multiplier))


def rate_setting(estimates, iterations, cap):
    r""":math:`\mu, \eta_1, \eta_2` with which Theorem 2 has its rate (step 4.12)."""
    # They fall as (NT)^(-1/7), N (NT)^(-4/7) and N (NT)^(-6/7).
    if estimates.actions == 1:
        raise OutsideAssumptions("actions: |A| >= 2 expected, got 1")
    if not estimates.discount > 0:
        raise OutsideAssumptions(f"discount: in (0, 1) expected, got {estimates.discount}")
    n, total = estimates.rounds, estimates.rounds * iterations
    room = 1 / (estimates.actions * math.sqrt(1 - 1 / estimates.actions))
    smoothness = Curvature(estimates, room, 1.0).smoothness
    ell = (1 + cap) * smoothness
    primal_step = min(1.0, n * total ** (-4 / 7)) / ell
    dual_step = cap / math.sqrt(estimates.excess_square) * n * total ** (-6 / 7)
    return room * total ** (-1 / 7), primal_step, dual_step


class Interior(ZPGPDHF):
    """Algorithm 2T: ZPGPD-HF with tangent directions in the interior of the simplices."""

    name = "interior"
    streams = "zpgpd_hf"

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        return run.having(margin=margin(run.perturbation.radius, cmdp.actions))

    def update(self, run, state, policy, words, normals):  # noqa: D102
        (reward, utility), excess = run.estimate(state.theta, words, normals)
        moved = state.theta + run.primal_step * (reward + state.multiplier * utility)
        theta = project_inside(moved, run.margin)
        return state._replace(theta=theta, multiplier=run.dual_update(state.multiplier, excess))


def project_inside(theta, least):
    """Project each row on the probability vectors whose entries are at least a number."""
    room = 1 - theta.shape[-1] * least
    if room <= 0:
        return np.full_like(theta, 1 / theta.shape[-1])
    return least + room * exact.projected((theta - least) / room)
