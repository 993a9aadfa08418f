r"""Whether ZPGPD-HF settles, predicted without a run.

The primal step follows estimates that are mostly noise. While the multiplier is frozen at
:math:`\lambda`, the policy therefore does not converge; it wanders, and its long-run distribution
is what a multiplier buys. Let :math:`y_r` and :math:`y_g` be the answers about reward and utility,
averaged over N rounds, with the covariance matrix C and the means :math:`c_r \Delta_r` and
:math:`c_g \Delta_g` for small differences of values; let d be the dimension of the sphere of
directions, :math:`\mu` its radius, n(:math:`\lambda`) the divisor of the option `normalize`, and
:math:`\Pi` the projection onto policies.

* *The drift is a gradient.* Over directions v, the mean of :math:`\frac{d}{\mu} y v` is c times the
  gradient of :math:`V^\mu(\theta) = E[V(\Pi(\theta + \mu u))]` with u uniform in the unit ball.
  This is the divergence theorem, for answers whose mean is linear.
* *The noise is nearly isotropic.* Each coordinate of a step has the variance
  :math:`\eta^2 d\,\sigma^2(\lambda)/\mu^2`, where :math:`\eta = \eta_1/n(\lambda)` and
  :math:`\sigma^2(\lambda) = C_{rr} + 2\lambda C_{rg} + \lambda^2 C_{gg}`. Reward and utility are
  asked about separately, so with few people C is nearly a multiple of the identity, and the
  variance grows like :math:`1 + \lambda^2`.
* *The law.* A diffusion with this drift and isotropic noise of this variance, reflected at the
  faces of the simplices, has the density

  .. math:: p(\theta) \propto \exp\frac{c_r V_r^\mu(\theta) + \lambda c_g V_g^\mu(\theta)}
     {\tau(\lambda)}, \qquad \tau(\lambda) = \frac{\eta_1 d\,\sigma^2(\lambda)}
     {2\mu^2 n(\lambda)},

  a Gibbs law of temperature :math:`\tau`. This is proved for the diffusion. That the chain of small
  steps is close to it is a limit, which tests check against exact chains.

As printed, the temperature grows like :math:`\lambda^2` and the pressure towards safety like
:math:`\lambda`. Beyond some :math:`\lambda` (1, if reward is the same for all policies) a larger
multiplier thus buys *less* utility, and as :math:`\lambda \to \infty` the law tends to the uniform
one. The dual step raises :math:`\lambda` wherever the mean utility value :math:`\bar V_g(\lambda)`
is below b. If it is below b for every :math:`\lambda`, there is no steady state, and the multiplier
runs away.

A fast multiplier may run away although some :math:`\lambda` are safe: it rises past them before the
policy has followed. Let v be the mean utility value, which relaxes to
:math:`\bar V_g(\lambda)` with the rate r of linear functions under the diffusion (their Rayleigh
quotient under the uniform law; :math:`\eta\tau` is the diffusion constant). The averaged dynamics
are

.. math:: \frac{dv}{dt} = r(\lambda) (\bar V_g(\lambda) - v), \qquad
   \frac{d\lambda}{dt} = \eta_2 (b - v), \qquad
   r(\lambda) = |A|(|A|+1) \frac{\eta_1}{n(\lambda)} \tau(\lambda),

from the uniform policy and the initial multiplier. Beyond the last safe :math:`\lambda`, while v is
below b, there is no return.

The rest is approximate, and not proved. The rows of a policy are taken as independent, each in the
linear field of the mean of the others (mean field), and :math:`\bar V_g` is the value of the mean
policy. C and c are those of the uniform policy, as is r, which is too small where the law is cold.
With many people C is mostly the noise of returns, which may be less or more under other policies:
with five actions in one state and 256 people :math:`\bar V_g` is .93 where .82 is predicted, so
that some settings which settle are predicted to break.

A prediction does not say how long it takes until the multiplier runs away, or comes back: with a
step divided by :math:`1 + \lambda^2` a fast one may stay where it has risen to for longer than any
run (docs/results.md). Otherwise predictions for the random environments of that page were wrong
only near the border, with :math:`\bar V_g - b` within about .02 of zero for values in [0, 1], or
.05 if the multiplier is fast. A setting that is predicted to settle may still be driven away by
chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pgpd_hf.algorithms.base import NORMALIZERS, Algorithm, normalizer
from pgpd_hf.core import optima
from pgpd_hf.core.arguments import shown
from pgpd_hf.core.cmdp import CMDP, Array
from pgpd_hf.core.evaluators import AS_ASSUMED, Evaluators, chance_of_vote
from pgpd_hf.core.policies import project_rows, uniform_policy

_PREDICTED = "zpgpd_hf"  # not its class, so that others need not depend on its file
# Options that must have these values, and what there is no prediction for where they have others.
_OUTSIDE = {
    "parameterization": ("direct", "softmax logits, which add up the noise,"),
    "step_decay": (0, "steps that fall"),
    "dual_regularization": (0, "a regularized multiplier"),
    **{
        name: (AS_ASSUMED[name], "people whose votes no reward explains")
        for name in ("recency", "peak_end", "disagreement", "semiorder")
    },
}
_POINTS, _SHIFTS = 3000, 200  # of a simplex, and of the ball around each
_ALONG_FACES = 0.4  # parameter of a Dirichlet distribution
_NEAREST = 1e-5  # distance of points from a corner
_NODES = 16  # of a quadrature over normal differences
_MULTIPLIERS = 24
_LARGEST_TRUNCATION = 0.01  # share of a value that trajectories may miss
_COLDEST = 1e-12  # temperature, as a share of the largest value
_SWEEPS, _CLOSE, _DAMPING = 100, 1e-4, 0.9
_STRIDE = 0.01  # share of 1 + lambda by which a multiplier moves in a step of its dynamics
_STILL = 1e-4  # share of the largest value that is no violation
_SLOWEST = 1e-30  # rate at which a mean value relaxes where there is no noise
_WORTH = 1000  # environment steps per entry of a law that make a prediction worth its time
_SHORTEST_RUN = 1000  # iterations in which a multiplier can run away
_SEED = 0  # of the points; no run shares them


class StabilityWarning(UserWarning):
    """The multiplier runs away, or is predicted to."""


@dataclass(frozen=True, eq=False)
class Stability:
    r"""What is predicted of a setting of ZPGPD-HF.

    Attributes
    ----------
    breaks : bool
        Whether the multiplier runs away: the mean utility value stays below b for every multiplier,
        or the averaged multiplier rises past `unstable`.
    peak : float
        Largest :math:`\bar V_g(\lambda) - b`, in units of value.
    stable, unstable : float or None
        Multipliers at which :math:`\bar V_g(\lambda) = b`: the smallest, to which the averaged
        multiplier returns, and the largest, beyond which it runs away; None where there is none.
        `stable` is 0 if the constraint is met without pressure.
    temperature : float
        :math:`\tau(0)`, in units of value.
    noise : ndarray, float64, shape (2, 2)
        C, the covariance matrix of the answers about reward and utility, averaged over N rounds.
    slopes : ndarray, float64, shape (2,)
        :math:`c_r, c_g`, by which mean answers grow with the differences.
    multipliers, rewards, utilities : ndarray, float64, shape (n,)
        :math:`\lambda` from 0 to its bound, and both mean values there.
    """

    breaks: bool
    peak: float
    stable: float | None
    unstable: float | None
    temperature: float
    noise: Array
    slopes: Array
    multipliers: Array
    rewards: Array
    utilities: Array


def predict_stability(
    cmdp: CMDP,
    algorithm: Algorithm,
    *,
    optimum: optima.Optimum | None = None,
    multipliers: ArrayLike | None = None,
) -> Stability:
    r"""Predict whether a setting of ZPGPD-HF settles, from the law of its noise.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    algorithm : ZPGPDHF
        The algorithm with its options; a primal step that is None is Theorem 2's. A dual step that
        is None is taken as slow, since Theorem 2's depends on T.
    optimum : Optimum, optional
        Of the CMDP, if it is known.
    multipliers : array_like, float, shape (n,), optional
        At which mean values are computed, increasing, in [0, bound of the multiplier]; by default
        a grid of this interval. Nothing is known of others: `breaks`, `peak`, `stable` and
        `unstable` are about these alone.

    Returns
    -------
    Stability

    Raises
    ------
    ValueError
        If there is no prediction: for other algorithms, for the softmax parameterization, for a
        primal step of zero, for steps that fall, for a regularized multiplier, and for
        trajectories that miss more than a hundredth of a value. About
        NPGPD-HF nothing is predicted: its logits add up the noise instead of forgetting it, so that
        no law of this kind describes it.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> setting = {"evaluators": 16, "primal_step": 0.001, "dual_step": 0.0003}
    >>> printed = pgpd_hf.predict_stability(cmdp, pgpd_hf.ZPGPDHF(**setting))
    >>> printed.breaks, round(printed.peak, 2)
    (True, -0.03)
    >>> divided = pgpd_hf.ZPGPDHF(**setting, normalize="quadratic")
    >>> pgpd_hf.predict_stability(cmdp, divided).breaks
    False
    """
    law = _Law.of(cmdp, algorithm, optimum)
    if multipliers is None:
        multipliers = _grid(law.multiplier_bound)
    multipliers = _checked(multipliers, law.multiplier_bound)
    rewards, utilities = law.values(multipliers)
    excess = utilities - cmdp.threshold
    stable, unstable = _crossings(multipliers, excess)
    return Stability(
        breaks=bool(excess.max() < 0) or law.outruns(multipliers, excess, unstable),
        peak=float(excess.max()),
        stable=stable,
        unstable=unstable,
        temperature=float(law.temperature(0.0)),
        noise=law.noise,
        slopes=law.slopes,
        multipliers=multipliers,
        rewards=rewards,
        utilities=utilities,
    )


def forecast(cmdp: CMDP, algorithm: Algorithm, optimum: optima.Optimum | None, steps: int) -> str:
    """Say in one line that a run is predicted to break, if it is, and if that costs little.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    algorithm : Algorithm
        Any algorithm; about most of them nothing is predicted.
    optimum : Optimum or None
        Of the CMDP, if it is known.
    steps : int
        Environment steps of the run. Short runs are not worth a prediction, which would take more
        than a tenth of their time.

    Returns
    -------
    str
        Empty if nothing has to be said.
    """
    size = cmdp.states * cmdp.actions * _number_of_points(cmdp.actions)
    if algorithm.name != _PREDICTED or steps < _WORTH * size:
        return ""
    try:
        found = predict_stability(cmdp, algorithm, optimum=optimum)
    except ValueError:  # there is no prediction
        return ""
    if not found.breaks:
        return ""
    if found.unstable is None:
        why = (
            f"the noise of its steps keeps the mean utility value {-found.peak:.2g} below the "
            "threshold at every multiplier"
        )
    else:
        why = f"its multiplier rises past {found.unstable:.2g}, beyond which none is safe"
    return (
        f"{algorithm.label} is predicted not to settle: {why} (predict_stability); "
        f"{_remedies(algorithm)}"
    )


def runaway(trace: pd.DataFrame, algorithm: Algorithm, optimum: optima.Optimum) -> str:
    """Say in one line that the multiplier runs away in a trace, if it does.

    It does if, on average over seeds, it rises over the last half of the run to more than twice the
    optimal one while the violation is positive and grows from the third quarter to the last one.

    Parameters
    ----------
    trace : pandas.DataFrame
        Made by :func:`pgpd_hf.run`, with rows at the half, at three quarters and at the end.
    algorithm : Algorithm
        The algorithm.
    optimum : Optimum
        Of the CMDP.

    Returns
    -------
    str
        Empty if nothing has to be said, as of runs of less than a thousand iterations.
    """
    last = int(trace["iteration"].max())
    marks = [round(last / 2), round(3 * last / 4), last]
    means = trace.groupby("iteration")[["multiplier", "mean_constraint_violation"]].mean()
    if last < _SHORTEST_RUN or not set(marks) <= set(means.index):
        return ""
    multipliers = means.loc[marks, "multiplier"].to_numpy()
    iterates = np.array(marks) + 1
    totals = iterates * means.loc[marks, "mean_constraint_violation"].to_numpy()
    third, fourth = np.diff(totals) / np.diff(iterates)
    rises = (np.diff(multipliers) > 0).all() and multipliers[-1] > 2 * optimum.multiplier
    if not (rises and fourth > third > 0):
        return ""
    return (
        f"the multiplier of {algorithm.label} runs away: it is {multipliers[-1]:.3g}, where "
        f"{optimum.multiplier:.3g} is optimal, and the violation does not fall: it is {third:.2g} "
        f"in the third quarter of the run and {fourth:.2g} in the last; {_remedies(algorithm)}"
    )


def _remedies(algorithm):
    options = algorithm.options()
    if "perturbation" in options and getattr(algorithm, "evaluators", 1) is None:
        return "give a larger perturbation, or divide the step (normalize)"
    if algorithm.normalize == "quadratic":
        return "take a smaller dual_step, or normalize: linear"
    more = "more rounds or " if "rounds" in options else ""
    return f"take {more}smaller steps, or divide the primal one (normalize: linear)"


def return_covariance(cmdp: CMDP, policy: Array) -> Array:
    r"""Covariance matrix of the two returns of a trajectory, given its first state.

    With the values :math:`V_i(s)`, the second moments solve :math:`M_{ij}(s) = E[r_i r_j +
    \gamma r_i V_j(s') + \gamma r_j V_i(s') + \gamma^2 M_{ij}(s')]`.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    policy : ndarray, float64, shape (S, A)
        The policy.

    Returns
    -------
    ndarray, float64, shape (2, 2)
        Mean over :math:`\rho` of the covariance of reward's and utility's return.
    """
    signals = cmdp.reward, cmdp.utility
    values = [cmdp.state_values(policy, signal) for signal in signals]
    ahead = [cmdp.discount * cmdp.transition @ value for value in values]  # (S, A) each
    moves = np.einsum("sa,sat->st", policy, cmdp.transition)
    balance = np.eye(cmdp.states) - cmdp.discount**2 * moves
    covariance = np.empty((2, 2))
    for i in range(2):
        for j in range(2):
            step = signals[i] * signals[j] + signals[i] * ahead[j] + ahead[i] * signals[j]
            moments = np.linalg.solve(balance, (policy * step).sum(1))
            covariance[i, j] = cmdp.initial @ (moments - values[i] * values[j])
    return covariance


def answer_moments(evaluators: Evaluators, variance: float) -> tuple[float, float]:
    r"""Slope and variance of an answer about a noisy difference.

    The difference of returns is :math:`\Delta + \epsilon`, with a normal :math:`\epsilon`, whose
    law is only approximately that of returns; the mean answer and its slope at :math:`\Delta = 0`
    are sums over the numbers of votes.

    Parameters
    ----------
    evaluators : Evaluators
        Who answers.
    variance : float
        Of :math:`\epsilon`.

    Returns
    -------
    slope, variance : float
        :math:`c = \partial E[y] / \partial\Delta` and Var y. With infinitely many people c = 1 and
        the variance is that of :math:`\epsilon`.
    """
    if evaluators.number == 0:
        return 1.0, float(variance)
    nodes, weights = np.polynomial.hermite_e.hermegauss(_NODES)
    weights = weights / weights.sum()
    nodes = math.sqrt(max(variance, 0.0)) * nodes
    step = 1e-4
    chances, above, below = (
        np.array([chance_of_vote(evaluators, node + moved) for node in nodes])
        for moved in (0.0, step, -step)
    )
    slopes = (above - below) / (2 * step)
    squares, derivatives = np.array(
        [_votes(evaluators.number, evaluators.estimate, chance) for chance in chances]
    ).T
    return float(weights @ (derivatives * slopes)), float(weights @ squares)  # the mean is 0


class _Law:
    """The Gibbs law of a setting: its noise, its temperature, and its mean values."""

    def __init__(self, cmdp, run):
        self.cmdp, self.run, self.multiplier_bound = cmdp, run, run.multiplier_bound
        self.uniform = uniform_policy(cmdp.states, cmdp.actions)
        spread = 2 * return_covariance(cmdp, self.uniform)  # of two trajectories
        people, rounds = run.simulator.evaluators, run.simulator.rounds
        moments = [answer_moments(people, spread[i, i]) for i in range(2)]
        self.slopes = np.array([slope for slope, _ in moments])
        noise = np.outer(self.slopes, self.slopes) * spread
        np.fill_diagonal(noise, [variance for _, variance in moments])
        self.noise = noise / rounds

    @classmethod
    def of(cls, cmdp, algorithm, optimum):
        optima.require_cmdp(cmdp)
        if not isinstance(algorithm, Algorithm) or algorithm.name != _PREDICTED:
            given = algorithm.name if isinstance(algorithm, Algorithm) else shown(algorithm)
            raise ValueError(
                "algorithm: an object of ZPGPDHF itself expected; for "
                f"{given} there is no prediction"
            )
        for name, (value, others) in _OUTSIDE.items():
            if getattr(algorithm, name) != value:
                raise ValueError(f"{name}: {value} expected; for {others} there is no prediction")
        if cmdp.actions == 1:
            raise ValueError("transition: at least two actions expected; with one, nothing moves")
        optimum = optima.given_optimum(cmdp, optimum)
        algorithm = replace(algorithm, dual_step=algorithm.dual_step or 0.0)  # 0 counts as slow
        run = algorithm.prepare(cmdp, optimum, 1)
        if run.primal_step == 0:
            raise ValueError("primal_step: a positive number expected; with 0, nothing moves")
        missed = cmdp.discount ** (run.horizon + 1)
        if missed > _LARGEST_TRUNCATION:
            raise ValueError(
                f"horizon: trajectories of {run.horizon + 1} steps miss {missed:.2g} of a value; "
                f"for a prediction, at most {_LARGEST_TRUNCATION}"
            )
        return cls(cmdp, run)

    def step(self, multiplier):
        """Primal step at a multiplier."""
        power = NORMALIZERS[self.run.algorithm.normalize]
        return self.run.primal_step / normalizer(power, float(multiplier))

    def temperature(self, multiplier):
        """Temperature at a multiplier."""
        weights, place = np.array([1.0, multiplier]), self.run.perturbation
        variance = weights @ self.noise @ weights
        return self.step(multiplier) * place.dimension * variance / (2 * place.radius**2)

    def outruns(self, multipliers, excess, unstable):
        """Whether the averaged multiplier rises past the last one that is safe."""
        cmdp, dual_step = self.cmdp, self.run.algorithm.dual_step
        if unstable is None or not dual_step:
            return False
        at, fell = self.run.algorithm.initial_multiplier, False
        above = cmdp.evaluate(self.uniform)[1] - cmdp.threshold
        while True:
            goal = np.interp(at, multipliers, excess)
            if at == 0 < above:
                if goal >= 0:
                    return False
                above = 0.0  # where it passes on its way to the goal
            if above < 0 and at > unstable:
                return True
            # Paths in this plane do not cross, so that the first rise is the highest.
            if (fell and above >= 0) or max(abs(above), abs(goal)) < _STILL * cmdp.value_bound:
                return False
            fell |= above < 0
            # In one step the multiplier hardly moves, and the mean value relaxes as if it did not.
            diffusion = self.step(at) * self.temperature(at)
            rate = max(cmdp.actions * (cmdp.actions + 1) * diffusion, _SLOWEST)
            stride = _STRIDE * (1 + at) / dual_step
            root = math.sqrt(above**2 + 2 * rate * abs(goal - above) * stride)
            time = 2 * stride / (abs(above) + root)
            share = -math.expm1(-rate * time)
            moved = dual_step * (goal * time + (above - goal) * share / rate)
            at = min(max(at - moved, 0.0), self.multiplier_bound)
            above += share * (goal - above)

    def values(self, multipliers):
        """Mean values of reward and utility at each multiplier, shape (2, n)."""
        cmdp, place = self.cmdp, self.run.perturbation
        points, images, logarithms = _cloud(
            place.radius, place.dimension, cmdp.actions, place.tangent
        )
        policies, field = [], self.uniform
        for multiplier in multipliers:
            signal = self.slopes[0] * cmdp.reward + multiplier * self.slopes[1] * cmdp.utility
            floor = _COLDEST * cmdp.value_bound
            temperature = max(self.temperature(multiplier), floor)
            for _ in range(_SWEEPS):
                # The gradient of the Lagrangian, at the mean of the perturbed policies.
                gradient = cmdp.state_occupancy(field)[:, None] * cmdp.advantages(field, signal)
                exponents = gradient @ images.T / temperature + logarithms
                exponents -= exponents.max(1, keepdims=True)
                chances = np.exp(exponents)
                chances /= chances.sum(1, keepdims=True)
                following = _normalized(chances @ images)
                close = np.abs(following - field).max() < _CLOSE
                mixed = _normalized((1 - _DAMPING) * field + _DAMPING * following)
                field = following if close else mixed  # where the next multiplier begins
                if close:
                    break
            policies.append(_normalized(chances @ points))
        return np.stack(cmdp.evaluate(np.array(policies)))


def _votes(number, estimate, chance):
    """Mean square of an answer, and the derivative of its mean by the chance."""
    mean, width = number * chance, 12 * math.sqrt(number * chance * (1 - chance)) + 12
    low, high = max(0, math.floor(mean - width)), min(number, math.ceil(mean + width))
    votes = np.arange(low, high + 1)
    share = _binomial(votes, number, chance)
    answers = estimate[low : high + 1]
    fewer = votes[votes < min(high, number)]  # votes of M - 1 people
    rises = estimate[fewer + 1] - estimate[fewer]
    slope = number * (_binomial(fewer, number - 1, chance) @ rises)
    return share @ answers**2, slope


def _binomial(votes, number, chance):
    from scipy.special import gammaln  # slow to import, and needed here only

    others = number - votes
    with np.errstate(divide="ignore", invalid="ignore"):
        logarithm = gammaln(number + 1) - gammaln(votes + 1) - gammaln(others + 1)
        # Without a vote on one side its chance does not matter, which may be rounded to zero.
        logarithm = logarithm + np.where(votes == 0, 0.0, votes * np.log(chance))
        logarithm = logarithm + np.where(others == 0, 0.0, others * np.log1p(-chance))
    return np.exp(logarithm)


@lru_cache(8)
def _cloud(radius, dimension, actions, tangent):
    """Points of a row's simplex, the means of their perturbed projections, and log weights."""
    random = np.random.default_rng(_SEED)
    points = np.concatenate([*_drawn_points(random, actions)])
    points = _normalized(np.maximum(points, 1e-300))
    row = _rows_of_ball(random, _SHIFTS // 2, dimension, actions, tangent)
    images, moved = np.zeros_like(points), np.empty_like(points)
    for shift in np.concatenate([row, -row]):
        project_rows(points + radius * shift, moved)
        images += moved / _SHIFTS
    return points, images, -_log_density(points)


def _rows_of_ball(random, count, dimension, actions, tangent):
    """One row of each of some uniform points of the unit ball.

    A uniform point is a normal vector over its norm, times a power of a uniform number. Of the
    other rows only the norm matters.
    """
    rows, free = random.standard_normal((count, actions)), actions
    if tangent:
        rows -= rows.mean(1, keepdims=True)
        free -= 1
    others = random.chisquare(dimension - free, count) if dimension > free else np.zeros(count)
    lengths = random.random(count) ** (1 / dimension) / np.sqrt((rows**2).sum(1) + others)
    return rows * lengths[:, None]


def _number_of_points(actions):
    return max(_POINTS, 500 * actions)


def _drawn_points(random, actions):
    """Points that are spread evenly, along the faces, and around every corner at all distances."""
    each = _number_of_points(actions) // 3
    yield random.dirichlet(np.ones(actions), each)
    yield random.dirichlet(np.full(actions, _ALONG_FACES), each)
    corners = np.arange(each) % actions
    distances = _NEAREST ** random.random(each)
    near = np.zeros((each, actions))
    others = np.ones_like(near, dtype=bool)
    others[np.arange(each), corners] = False
    near[others] = (distances[:, None] * random.dirichlet(np.ones(actions - 1), each)).ravel()
    near[~others] = 1 - distances
    yield near


def _log_density(points):
    """Of the mixture of all three kinds of points, up to a constant."""
    from scipy.special import gammaln  # slow to import, and needed here only

    actions = points.shape[1]
    even = np.full(len(points), gammaln(actions))
    along = gammaln(actions * _ALONG_FACES) - actions * gammaln(_ALONG_FACES)
    along = along + (_ALONG_FACES - 1) * np.log(points).sum(1)
    distances = np.maximum(points @ (1 - np.eye(actions)), 1e-300)  # from every corner
    around = gammaln(actions - 1) - (actions - 1) * np.log(distances) - np.log(actions)
    around -= np.log(-np.log(_NEAREST))
    around[distances < _NEAREST] = -np.inf
    return np.logaddexp.reduce(np.column_stack([even, along, around]), axis=1)


def _normalized(rows):
    return rows / rows.sum(1, keepdims=True)


def _grid(bound):
    """Multipliers from zero to their bound, evenly in their logarithm from where they matter."""
    if bound <= 0.1:
        return np.linspace(0, bound, 4) if bound > 0 else np.zeros(1)
    return np.append(0.0, np.geomspace(0.05, bound, _MULTIPLIERS - 1))


def _checked(multipliers, bound):
    """Increasing multipliers in their interval, as an array."""
    try:
        array = np.asarray(multipliers, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.array(math.nan)
    fits = array.ndim == 1 and len(array) and array[0] >= 0 and array[-1] <= bound
    if not (fits and (np.diff(array) > 0).all()):
        raise ValueError(
            f"multipliers: increasing numbers in [0, {bound:.6g}] expected, got "
            f"{shown(multipliers)}"
        )
    return array


def _crossings(multipliers, excess):
    """Where the excess rises through zero first, and where it falls below it for good."""
    signs = excess >= 0
    if not signs.any():
        return None, None
    first, last = np.argmax(signs), len(signs) - 1 - np.argmax(signs[::-1])
    stable = float(multipliers[0]) if first == 0 else _zero(multipliers, excess, first - 1)
    unstable = None if last == len(signs) - 1 else _zero(multipliers, excess, last)
    return stable, unstable


def _zero(x, y, k):
    """Zero of the line through two neighbouring points."""
    return float(x[k] - y[k] * (x[k + 1] - x[k]) / (y[k + 1] - y[k]))
