r"""Whether ZPGPD-HF settles, predicted without a run.

The primal step follows estimates that are mostly noise: at a frozen multiplier :math:`\lambda` the
policy wanders. Let the answers about reward and utility, averaged over N rounds, have the
covariance matrix C and, for small differences of values, the slopes :math:`c_r` and :math:`c_g`.
Let d be the dimension of the sphere of directions, :math:`\mu` its radius, :math:`\eta` the primal
step, divided as `normalize` says, and :math:`\Pi` the projection onto policies.

* The mean of a step is :math:`\eta` times the gradient of
  :math:`c_r V_r^\mu + \lambda c_g V_g^\mu`, where
  :math:`V^\mu(\theta) = E[V(\Pi(\theta + \mu u))]` with u uniform in the unit ball.
* The noise is nearly isotropic: each coordinate of a step has the variance
  :math:`\eta^2 d\,\sigma^2/\mu^2`, :math:`\sigma^2 = C_{rr} + 2\lambda C_{rg} + \lambda^2 C_{gg}`.
* A diffusion with this drift and noise, reflected at the faces of the simplices, has the density
  proportional to :math:`\exp((c_r V_r^\mu + \lambda c_g V_g^\mu)/\tau)`, a Gibbs law of temperature
  :math:`\tau(\lambda) = \eta d\,\sigma^2(\lambda)/(2\mu^2)`.

As printed, :math:`\tau` grows like :math:`\lambda^2` and the pressure towards safety like
:math:`\lambda`: beyond some :math:`\lambda` a larger multiplier buys *less* utility. The multiplier
runs away if the mean :math:`\bar V_g(\lambda)` is below b everywhere, or if it rises past all safe
values before the policy has followed, by the averaged dynamics

.. math:: \frac{dv}{dt} = |A|(|A|+1)\,\eta\,\tau(\lambda) (\bar V_g(\lambda) - v), \qquad
   \frac{d\lambda}{dt} = \eta_2 (b - v),  \qquad v(0) = V_g(\mathrm{uniform}).

The law is proved for the diffusion. The rest is approximate: steps are small, the rows of states
are independent, each in the linear field of the mean of the others, and C and c are those of the
uniform policy. On random environments with values in [0, 1] predictions were wrong only for
:math:`\bar V_g - b` within .02 of zero (.05 if the multiplier is fast). Noise of the multiplier is
left out: by chance it can become so large that divided steps all but stop.
"""

from __future__ import annotations  # help() shows names of types

import math
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import integrate, special

from pgpd_hf.arguments import require_instance, require_number, shown
from pgpd_hf.arrays import require_array
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.evaluators import INFINITELY_MANY, vote_probability
from pgpd_hf.optimum import proportional, solve
from pgpd_hf.policies import project_rows
from pgpd_hf.primal_dual import PrimalDual, normalizer
from pgpd_hf.runs import make_algorithm

_MOST_STATES, _MOST_ACTIONS = 200, 10  # beyond: minutes, and too few points of a simplex
_MOST_MISSED = 0.01  # share of a value that trajectories may miss
_SIMPLEX_POINTS, _BALL_POINTS = 3000, 200
_ALONG_FACES = 0.4  # parameter of the Dirichlet distribution of points near faces
_NEAREST = 1e-5  # least distance of a point from a corner
_QUADRATURE_NODES, _GRID_SIZE = 16, 23
_COLDEST = 1e-12  # least temperature, as a share of the largest value
_NO_VIOLATION = 1e-4  # smaller violations, as a share of the largest value, count as none
_MOST_SWEEPS, _CLOSE, _DAMPING = 100, 1e-4, 0.9  # of the iteration to the mean field


@dataclass(frozen=True, eq=False)
class Stability:
    """What is predicted of a setting of ZPGPD-HF.

    `breaks`: whether the multiplier runs away. `peak`: the largest mean V_g, minus b. `stable`: the
    smallest multiplier whose mean V_g is b, to which it returns. `unstable`: the largest, beyond
    which it runs away; both may be None. `multipliers` (n,): by default from 0 to their bound;
    `rewards` and `utilities` (n,) are mean values there.
    """

    breaks: bool
    peak: float
    stable: float | None
    unstable: float | None
    multipliers: Array = field(repr=False)
    rewards: Array = field(repr=False)
    utilities: Array = field(repr=False)


def predict_stability(
    cmdp: CMDP, algorithm: PrimalDual | str, *, multipliers: ArrayLike | None = None, **options: Any
) -> Stability:
    r"""Predict whether a setting of ZPGPD-HF settles, from the law of its noise.

    Parameters
    ----------
    cmdp : CMDP
        With at most 200 states and 10 actions.
    algorithm, **options
        ZPGPD-HF, as for :func:`pgpd_hf.run`. A dual step of None or 0 is taken as slow: that of
        Theorem 2 depends on T.
    multipliers : array_like, float, shape (n,), optional
        Increasing, up to the bound of the multiplier: those that the prediction is about.

    Raises
    ------
    ValueError
        If there is no prediction: for NPGPD-HF and the softmax parameterization, whose logits add
        up the noise instead of forgetting it, and for a CMDP that is too large.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> setting = {"evaluators": 16, "primal_step": 0.001, "dual_step": 0.0003}
    >>> pgpd_hf.predict_stability(cmdp, "zpgpd_hf", **setting)
    Stability(breaks=True, peak=-0.031132..., stable=None, unstable=None)
    >>> pgpd_hf.predict_stability(cmdp, "zpgpd_hf", normalize="quadratic", **setting)
    Stability(breaks=False, peak=0.0997..., stable=1.37..., unstable=None)
    """
    require_instance("cmdp", cmdp, CMDP)
    law = _Law(cmdp, _prepared(cmdp, make_algorithm(algorithm, options)))
    multipliers = _multipliers(multipliers, min(law.steps.multiplier_bound, 1e100))
    rewards, utilities = law.values(multipliers)
    excess = utilities - cmdp.threshold
    stable, unstable = _crossings(multipliers, excess)
    breaks = bool(excess.max() < 0)
    if unstable is not None and law.steps.dual > 0:
        breaks = law.outruns(multipliers, excess, unstable)
    return Stability(breaks, float(excess.max()), stable, unstable, multipliers, rewards, utilities)


def _prepared(cmdp, algorithm):
    """The algorithm, ready to iterate, if there is a prediction for it."""
    if algorithm.name != "zpgpd_hf" or algorithm.parameterization != "direct":
        told = "zpgpd_hf, direct parameterization, expected, since others add up their noise"
        raise ValueError(f"algorithm: {told}, got {algorithm}")
    if not 2 <= cmdp.actions <= _MOST_ACTIONS or cmdp.states > _MOST_STATES:
        sizes = f"2 to {_MOST_ACTIONS} actions and at most {_MOST_STATES} states"
        raise ValueError(f"cmdp: {sizes} expected for a prediction, got {cmdp}")
    setting = replace(algorithm, dual_step=algorithm.dual_step or 0.0).prepare(cmdp, solve(cmdp), 1)
    require_number("primal_step", setting.steps.primal, above=0)
    missed = cmdp.discount ** (setting.simulator.horizon + 1)
    require_number("horizon, too short: share of a value missed", missed, at_most=_MOST_MISSED)
    return setting


class _Law:
    """The Gibbs law of a setting: its noise, its temperature, and its mean values."""

    def __init__(self, cmdp, setting):
        self.cmdp, self.steps, self.perturbation = cmdp, setting.steps, setting.perturbation
        self.uniform = np.full_like(cmdp.reward, 1 / cmdp.actions)
        spread = 2 * return_covariance(cmdp, self.uniform)  # of two trajectories
        moments = [answer_moments(setting.simulator.evaluators, spread[i, i]) for i in range(2)]
        self.slopes, variances = np.array(moments).T
        noise = np.outer(self.slopes, self.slopes) * spread
        np.fill_diagonal(noise, variances)
        self.noise = noise / setting.simulator.rounds

    def step(self, multiplier):
        return self.steps.primal / normalizer(self.steps.power, float(multiplier))

    def temperature(self, multiplier):
        weights, how = np.array([1.0, multiplier]), self.perturbation
        variance = weights @ self.noise @ weights
        return self.step(multiplier) * how.dimension * variance / (2 * how.radius**2)

    def outruns(self, multipliers, excess, unstable):
        """Whether the averaged multiplier rises past the last safe one.

        It rises while the mean value is x > 0 below b. So x is followed along the multiplier, not
        along time, as x^2 / 2 until it is zero. Paths do not cross, and so the first rise is the
        highest.
        """
        below = self.cmdp.threshold - self.cmdp.evaluate(self.uniform)[1]
        if below <= 0 <= excess[0]:
            return False
        factor = self.cmdp.actions * (self.cmdp.actions + 1) / self.steps.dual

        def change(at, half):
            rate = factor * self.step(at) * self.temperature(at)
            goal = np.interp(at, multipliers, excess)
            return -rate * (goal + np.sqrt(2 * np.maximum(half, 0)))

        def safe(_, half):
            return half[0] - (_NO_VIOLATION * self.cmdp.value_bound) ** 2 / 2

        safe.terminal, safe.direction = True, -1
        start, how = [max(below, 0.0) ** 2 / 2], {"rtol": 1e-8, "atol": 1e-14}
        path = integrate.solve_ivp(change, (0, unstable), start, "LSODA", events=safe, **how)
        if path.status < 0:
            raise ValueError(f"dual_step: a larger one expected, since {path.message}")
        return path.status == 0  # the end is reached

    def values(self, multipliers):
        """Mean values of reward and utility at each multiplier, shape (2, n)."""
        cmdp, field, policies = self.cmdp, self.uniform, []
        points, images, log_weights = _cloud(self.perturbation, cmdp.actions)
        for multiplier in multipliers:
            signal = self.slopes[0] * cmdp.reward + multiplier * self.slopes[1] * cmdp.utility
            temperature = max(self.temperature(multiplier), _COLDEST * cmdp.value_bound)
            for _ in range(_MOST_SWEEPS):
                # The gradient of the Lagrangian, at the mean of the perturbed policies.
                gradient = cmdp.occupancy(field)[:, None] * cmdp.advantages(field, signal)
                exponents = gradient @ images.T / temperature + log_weights
                chances = np.exp(exponents - exponents.max(1, keepdims=True))
                following = proportional(chances @ images)
                if np.abs(following - field).max() < _CLOSE:
                    break
                field = proportional((1 - _DAMPING) * field + _DAMPING * following)
            field = following  # where the next multiplier begins
            policies.append(proportional(chances @ points))
        return np.stack(cmdp.evaluate(np.array(policies)))


def return_covariance(cmdp, policy):
    """Covariance (2, 2) of a trajectory's returns given its first state, averaged over rho."""
    signals = np.stack([cmdp.reward, cmdp.utility])
    values = np.stack([cmdp.state_values(policy, signal) for signal in signals])  # (2, S)
    ahead = cmdp.discount * np.einsum("saz,iz->isa", cmdp.transition, values)
    # E r_i r_j + r_i ahead_j + ahead_i r_j, to which second moments of the rest are added.
    both, rest = (np.einsum("sa,isa,jsa->sij", policy, it, it) for it in (signals + ahead, ahead))
    moves = np.einsum("sa,saz->sz", policy, cmdp.transition)
    balance = np.eye(cmdp.states) - cmdp.discount**2 * moves
    moments = np.linalg.solve(balance, (both - rest).reshape(-1, 4)).reshape(-1, 2, 2)
    return np.einsum("s,sij->ij", cmdp.initial, moments - np.einsum("is,js->sij", values, values))


def answer_moments(evaluators, variance):
    """Slope of the mean answer, and variance, about a normal difference of mean 0."""
    if evaluators.number == INFINITELY_MANY:
        return 1.0, variance
    nodes, weights = np.polynomial.hermite_e.hermegauss(_QUADRATURE_NODES)
    nodes, step = math.sqrt(max(variance, 0.0)) * nodes, 1e-4

    def mean(difference, power):
        chance = vote_probability(evaluators.link, difference)
        chance += evaluators.random_answers * (0.5 - chance)
        expected, most = evaluators.number * chance, evaluators.number
        width = 12 * math.sqrt(expected * (1 - chance)) + 12
        low, high = math.floor(expected - width), math.ceil(expected + width)
        votes = np.arange(max(0, low), min(most, high) + 1)
        shares = np.diff(special.bdtr(votes, most, chance), prepend=0.0)
        return shares @ evaluators.estimate[votes] ** power

    slopes = [(mean(node + step, 1) - mean(node - step, 1)) / (2 * step) for node in nodes]
    squares = [mean(node, 2) for node in nodes]  # the mean is 0
    return weights @ slopes / weights.sum(), weights @ squares / weights.sum()


@lru_cache(8)
def _cloud(how, actions):
    """Points of a row's simplex, the means of their perturbed projections, and log weights.

    The points are spread evenly, along the faces, and around every corner at all distances.
    """
    random = np.random.default_rng(0)  # no run shares its numbers
    each = max(_SIMPLEX_POINTS, 500 * actions) // 3
    even = random.dirichlet(np.ones(actions), each)
    along = random.dirichlet(np.full(actions, _ALONG_FACES), each)
    distances = _NEAREST ** random.random(each)
    others = np.arange(each)[:, None] % actions != np.arange(actions)
    around = np.where(others, 0.0, 1 - distances[:, None])
    around[others] = (distances[:, None] * random.dirichlet(np.ones(actions - 1), each)).ravel()
    points = proportional(np.maximum(np.concatenate([even, along, around]), 1e-300))
    rows = _rows_of_ball(random, _BALL_POINTS // 2, actions, how)
    images, moved = np.zeros_like(points), np.empty_like(points)
    for shift in np.concatenate([rows, -rows]):
        project_rows(points + how.radius * shift, moved)
        images += moved / _BALL_POINTS
    # The density of the mixture of all three kinds, up to a constant.
    gammaln, distances = special.gammaln, np.maximum(points @ (1 - np.eye(actions)), 1e-300)
    along = gammaln(actions * _ALONG_FACES) - actions * gammaln(_ALONG_FACES)
    along = along + (_ALONG_FACES - 1) * np.log(points).sum(1)
    around = gammaln(actions - 1) - (actions - 1) * np.log(distances)
    around -= np.log(-actions * np.log(_NEAREST))  # of each corner
    around[distances < _NEAREST] = -np.inf
    kinds = np.column_stack([np.full_like(along, gammaln(actions)), along, around])
    return points, images, -np.logaddexp.reduce(kinds, axis=1)


def _rows_of_ball(random, count, actions, how):
    """One row of each of some uniform points of the unit ball in the space of directions.

    A point is a normal vector over its norm, times a power of a uniform number.
    """
    rows, free = random.standard_normal((count, actions)), actions - how.tangent
    if how.tangent:
        rows -= rows.mean(1, keepdims=True)
    rest = how.dimension - free
    others = random.chisquare(rest, count) if rest else np.zeros(count)
    lengths = random.random(count) ** (1 / how.dimension)
    return rows * (lengths / np.sqrt((rows**2).sum(1) + others))[:, None]


def _multipliers(multipliers, bound):
    """Multipliers up to their bound; by default they are even in their logarithm."""
    if multipliers is None:
        even = np.geomspace(0.05, bound, _GRID_SIZE) if bound > 0.1 else np.linspace(0, bound, 4)
        return np.unique(np.append(0.0, even))
    checked = require_array("multipliers", multipliers, (None,))
    if len(checked) == 0 or checked[0] < 0 or checked[-1] > bound or (np.diff(checked) <= 0).any():
        told = f"increasing numbers in [0, {bound:g}] expected"
        raise ValueError(f"multipliers: {told}, got {shown(multipliers)}")
    return checked.copy()


def _crossings(multipliers, excess):
    """Where the excess rises through zero first, and where it falls below it for good."""
    safe = np.flatnonzero(excess >= 0)
    if len(safe) == 0:
        return None, None
    rise, fall = slice(max(safe[0] - 1, 0), safe[0] + 1), slice(safe[-1], safe[-1] + 2)
    stable = float(np.interp(0.0, excess[rise], multipliers[rise]))
    known = safe[0] > 0 or multipliers[0] == 0
    unstable = float(np.interp(0.0, -excess[fall], multipliers[fall]))
    return stable if known else None, None if safe[-1] == len(excess) - 1 else unstable
