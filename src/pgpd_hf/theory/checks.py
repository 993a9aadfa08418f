r"""Each of the paper's statements against what it bounds.

Wherever possible the left side is exact, or an exact upper bound of it that holds whatever the law
of the returns is: expectations by recursion, votes by binomial sums, curvature by the Hessian.
Smoothing (items 5 and 8) needs a mean over directions, and items 10 to 12 and 15 to 17 speak about
the random iterates; there the mean has a 95 % interval, and a statement holds if the whole interval
does. Directions are tangent to the simplex, and as long as the policy stays a policy: beyond it the
paper's objects are not defined (docs/audit.md).
"""

import math
from dataclasses import asdict, dataclass, field, replace

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf import optima, runs, streams
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.links import get_link
from pgpd_hf.policies import uniform_policy
from pgpd_hf.statistics import mean_interval
from pgpd_hf.theory import bounds, exact
from pgpd_hf.theory.bounds import STATEMENTS
from pgpd_hf.theory.constants import Constants, OutsideAssumptions, make_constants

COLUMNS = (
    "item",
    "part",
    "label",
    "line",
    "statement",
    "instance",
    "scale",
    "discount",
    "evaluators",
    "pairs",
    "horizon",
    "iterations",
    "method",
    "measured",
    "low",
    "high",
    "bound",
    "ratio",
    "holds",
    "reason",
)
_ROUNDING = 1e-9  # relative to the largest value: linear solves, and the LP's multiplier
_DIRECTIONS = 2000
_ESTIMATES = 400
_GRID = 801


@dataclass(frozen=True)
class Result:
    """One part of a statement, measured.

    Attributes
    ----------
    key : str
        Of :data:`~pgpd_hf.theory.bounds.STATEMENTS`.
    measured : float
        The left side, exactly or on average.
    bound : float
        The right side.
    method : str
        "exact", "exact upper bound", "Monte Carlo" or "runs".
    error : float
        Half width of the 95 % interval of `measured`.
    reason : str
        What a reader has to know about this row.
    trivial : float
        Largest value that `measured` could take at all; a bound above it says nothing.
    """

    key: str
    measured: float
    bound: float
    method: str = "exact"
    error: float = 0.0
    reason: str = ""
    trivial: float = math.inf


@dataclass
class Problem:
    """A process under a setting, with what several checks share.

    Attributes
    ----------
    cmdp : CMDP
        The process.
    optimum : Optimum
        Its optimum.
    setting : Setting
        The setting.
    seeds : list of int
        Of the runs.
    constants : Constants
        Those of the bounds.
    """

    cmdp: object
    optimum: object
    setting: object
    seeds: list
    constants: Constants
    _averages: dict = field(default_factory=dict)

    @property
    def link(self):
        """Link: that of the setting."""
        return get_link(self.setting.link)

    @property
    def signals(self):
        """Tuple of ndarray: reward and utility."""
        return self.cmdp.reward, self.cmdp.utility

    def random(self, purpose):
        """Return the generator of one check."""
        return np.random.Generator(streams.bit_generator(purpose="theory", check=purpose))

    def policies(self):
        """ndarray, float64, shape (K, S, A): uniform, optimal, random and deterministic ones."""
        shape = self.cmdp.states, self.cmdp.actions
        random = self.random("policies")
        mixed = random.dirichlet(np.ones(shape[1]), size=(30, shape[0]))
        pure = np.eye(shape[1])[random.integers(shape[1], size=(10, shape[0]))]
        named = np.stack([uniform_policy(*shape), self.optimum.policy])
        return np.concatenate([named, mixed, pure])

    def averages(self, algorithm):
        """DataFrame: averages over the iterates of each seed's run, one row per seed."""
        if algorithm not in self._averages:
            process = get_algorithm(algorithm)(self.cmdp, self.optimum, self.setting)
            self._averages[algorithm] = run_averages(process, self.optimum, self.seeds)
        return self._averages[algorithm]

    def require_theorem_steps(self):
        """Refuse a setting with its own step sizes."""
        if self.setting.primal_step is not None or self.setting.dual_step is not None:
            raise OutsideAssumptions(
                "primal_step, dual_step: the theorem is for its own step sizes"
            )


def run_averages(process, optimum, seeds):
    r"""Averages over iterates 0..T-1 of runs, as the theorems take them.

    Parameters
    ----------
    process : Algorithm
        Ready to iterate.
    optimum : Optimum
        Of its process.
    seeds : iterable of int
        One run each.

    Returns
    -------
    pandas.DataFrame
        Columns gap (:math:`V_r^\star - V_r`), violation (:math:`b - V_g`), lagrangian
        (:math:`V_r^\star - V_r + \lambda(V_g^\star - V_g)`) and dual
        (:math:`-\lambda(V_g^\star - V_g)`), in units of value; one row per seed.
    """
    rows = []
    for seed in seeds:
        chunks = list(runs.iterates(process, seed))[:-1]
        policies = np.concatenate([chunk[0] for chunk in chunks])
        multipliers = np.concatenate([chunk[1] for chunk in chunks])
        v_r, v_g = process.cmdp.evaluate(policies)
        gap = optimum.reward_value - v_r
        weighted = multipliers * (optimum.utility_value - v_g)
        rows.append(
            {
                "gap": gap.mean(),
                "violation": (process.cmdp.threshold - v_g).mean(),
                "lagrangian": (gap + weighted).mean(),
                "dual": -weighted.mean(),
            }
        )
    return pd.DataFrame(rows)


def check_all(cmdp, setting, *, seeds=range(8), instance=None, items=None):
    """Check the statements on one process under one setting.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    setting : Setting
        M, N, H, T and link. Step sizes of the theorems, unless it has its own.
    seeds : iterable of int
        Of the short runs behind items 10, 11, 12, 16 and 17; at least two.
    instance : object, optional
        Name of the process, copied into the table.
    items : iterable of int, optional
        Which statements; by default all 18.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`; one row for each part of each statement. `ratio` is measured /
        bound. `holds` is <NA>, with the reason, where the setting is outside the statement's
        assumptions or the interval of a statistical measurement contains the bound.

    Raises
    ------
    ValueError
        If the process has no Slater slack, or there are fewer than two seeds.
    """
    seeds = list(seeds)
    if len(seeds) < 2:
        raise ValueError("seeds: at least two expected, for an interval")
    optimum = optima.solve(cmdp)
    problem = Problem(cmdp, optimum, setting, seeds, make_constants(cmdp, optimum, setting))
    columns = {
        "instance": instance,
        "scale": cmdp.scale,
        "discount": cmdp.discount,
        **{name: asdict(setting)[name] for name in ("evaluators", "pairs", "horizon")},
        "iterations": setting.iterations,
    }
    rows = []
    for item in CHECKS if items is None else items:
        try:
            results = CHECKS[item](problem)
            rows += [_row(result, problem.constants, columns) for result in results]
        except OutsideAssumptions as error:
            parts = [statement for statement in STATEMENTS.values() if statement.item == item]
            rows += [_empty_row(statement, columns, str(error)) for statement in parts]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"holds": "boolean", "evaluators": "Int64"})


def _row(result, constants, columns):
    low, high = result.measured - result.error, result.measured + result.error
    bound, reason = float(result.bound), result.reason
    tolerance = _ROUNDING * max(abs(bound), constants.value_bound)
    if high <= bound + tolerance:
        holds = True
    elif low > bound + tolerance:
        holds = False
    else:
        holds, reason = pd.NA, "the 95 % interval contains the bound"
    if holds is True and bound >= result.trivial:
        reason = f"vacuous: the largest possible value is {result.trivial:.3g}"
    return {
        **_statement_columns(STATEMENTS[result.key]),
        **columns,
        "method": result.method,
        "measured": float(result.measured),
        "low": low,
        "high": high,
        "bound": bound,
        "ratio": result.measured / bound if bound > 0 else math.nan,
        "holds": holds,
        "reason": reason,
    }


def _empty_row(statement, columns, reason):
    return {**_statement_columns(statement), **columns, "holds": pd.NA, "reason": reason}


def _statement_columns(statement):
    names = ("item", "part", "label", "line")
    return {**{name: getattr(statement, name) for name in names}, "statement": statement.text}


def _finite_horizon(problem):
    """Item 1: recursion over steps against the linear solve."""
    cmdp, policies = problem.cmdp, problem.policies()
    worst = np.zeros(3)
    for signal in problem.signals:
        values, action_values = exact.finite_horizon_values(
            cmdp, policies, signal, problem.setting.horizon
        )
        off = np.abs(values - cmdp.state_values(policies, signal))
        off_pairs = np.abs(action_values - cmdp.action_values(policies, signal))
        off_start = np.abs((values - cmdp.state_values(policies, signal)) @ cmdp.initial)
        worst = np.maximum(worst, [off.max(), off_pairs.max(), off_start.max()])
    bound = problem.constants.truncation
    return [Result(f"1{part}", worst[k], bound) for k, part in enumerate("abc")]


def _return_variance(problem):
    """Item 2: variance of a return by recursion, divided by N, and squared bias."""
    cmdp, policies = problem.cmdp, problem.policies()
    mean, second = exact.return_moments(cmdp, policies, cmdp.utility, problem.setting.horizon)
    mean, second = mean @ cmdp.initial, second @ cmdp.initial
    bias = mean - cmdp.evaluate(policies)[1]
    measured = ((second - mean**2) / problem.setting.pairs + bias**2).max()
    return [Result("2", measured, problem.constants.sampling_square)]


def _feedback(problem):
    """Item 3: binomial sums over a grid of differences."""
    constants = problem.constants
    largest = constants.return_bound
    bound = constants.feedback, constants.feedback_square
    results = []
    for parts, low, high in (("ab", -largest, largest), ("cd", *_excess_range(constants))):
        error = _feedback_error(problem, low, high)
        worst = error.absolute.max(), error.square.max()
        results += [Result(f"3{part}", worst[k], bound[k]) for k, part in enumerate(parts)]
    return results


def _feedback_error(problem, low, high):
    grid = np.linspace(low, high, _GRID)
    largest = problem.constants.return_bound
    return exact.feedback_error(grid, problem.setting.evaluators, problem.link, largest)


def _excess_range(constants):
    constants.require_threshold()
    return -constants.threshold, constants.return_bound - constants.threshold


def _smoothness(problem):
    """Item 4: largest curvature at policies; the set of policies is convex."""
    measured = max(
        np.abs(np.linalg.eigvalsh(exact.hessian(problem.cmdp, policy, signal))).max()
        for policy in problem.policies()
        for signal in problem.signals
    )
    return [Result("4", measured, problem.constants.smoothness)]


@dataclass
class Sphere:
    """Directions tangent to the simplex around the uniform policy.

    Attributes
    ----------
    centre : ndarray, float64, shape (S, A)
        The uniform policy.
    directions, inside : ndarray, float64, shape (K, S, A)
        Uniform on the unit sphere and in the unit ball of the tangent space.
    radius : float
        Largest perturbation up to that of the setting that leaves policies policies.
    dimension : int
        |S|(|A| - 1).
    """

    centre: np.ndarray
    directions: np.ndarray
    inside: np.ndarray
    radius: float
    dimension: int

    @property
    def note(self):
        """str: what was measured where."""
        return f"tangent directions, dimension {self.dimension}, mu = {self.radius:.3g}"


def tangent_sphere(problem, count=_DIRECTIONS):
    """Sample directions in which a perturbed uniform policy stays a policy.

    Parameters
    ----------
    problem : Problem
        Supplies the process and the perturbation.
    count : int
        Number of directions.

    Returns
    -------
    Sphere
    """
    states, actions = problem.cmdp.states, problem.cmdp.actions
    if actions == 1:
        raise OutsideAssumptions("actions: with one action there is no direction to perturb in")
    random = problem.random("sphere")
    normals = random.standard_normal((count, states, actions))
    normals -= normals.mean(-1, keepdims=True)
    directions = normals / np.sqrt((normals**2).sum((1, 2), keepdims=True))
    dimension = states * (actions - 1)
    shrink = random.random((count, 1, 1)) ** (1 / dimension)
    # An entry of a tangent unit vector is at most sqrt(1 - 1/A).
    room = 1 / (actions * math.sqrt(1 - 1 / actions))
    radius = min(problem.constants.perturbation, room)
    centre = uniform_policy(states, actions)
    return Sphere(centre, directions, shrink * directions[::-1], radius, dimension)


def _smoothing(problem):
    """Item 5: the sphere's estimate against the ball's gradient, and their distances."""
    sphere, smoothness = tangent_sphere(problem), problem.constants.smoothness
    radius, dimension = sphere.radius, sphere.dimension
    moves = {"method": "Monte Carlo", "reason": sphere.note}
    worst = {}
    for signal in problem.signals:
        cmdp = problem.cmdp
        steepest = _tangent(exact.gradient(cmdp, sphere.centre, signal))
        value = exact.value(cmdp, sphere.centre, signal)
        ahead = exact.value(cmdp, sphere.centre + radius * sphere.directions, signal) - value
        behind = exact.value(cmdp, sphere.centre - radius * sphere.directions, signal) - value
        # E[(d/mu) <grad, mu v> v] is the gradient: only what is not linear needs sampling.
        linear = radius * (steepest * sphere.directions).sum((1, 2))
        bent = dimension / radius * ((ahead - behind) / 2 - linear)[:, None, None]
        sphere_part = bent * sphere.directions
        around = [
            _tangent(exact.gradient(cmdp, sphere.centre + sign * radius * sphere.inside, signal))
            for sign in (1, -1)
        ]
        ball_part = sum(around) / 2 - steepest
        difference, noise = _mean_norm(sphere_part, ball_part)
        smoothed = [
            exact.value(cmdp, sphere.centre + sign * radius * sphere.inside, signal) - value
            for sign in (1, -1)
        ]
        shift, shift_error = _mean_error(sum(smoothed) / 2)
        bend, bend_noise = _mean_norm(ball_part)
        squares, squares_error = _mean_error((dimension / radius * ahead) ** 2)
        steepness = 2 * dimension * (steepest**2).sum()
        found = {
            # The two means differ by chance only: three standard errors.
            "5a": Result("5a", difference, 3 * noise, **moves),
            "5b": Result("5b", abs(shift), smoothness * radius**2 / 2, error=shift_error, **moves),
            "5c": Result(
                "5c", bend, radius * smoothness * dimension / 2, error=2 * bend_noise, **moves
            ),
            "5d": Result(
                "5d",
                squares,
                steepness + (radius * smoothness * dimension) ** 2 / 2,
                error=squares_error,
                **moves,
            ),
        }
        for key, result in found.items():
            # 0 <= 0 where the value is linear in the policy
            harder = result.measured / result.bound if result.bound > 0 else result.measured
            if key not in worst or harder > worst[key][0]:
                worst[key] = harder, result
    return [result for _, result in worst.values()]


def _tangent(gradients):
    """Part of a gradient that keeps rows' sums."""
    return gradients - gradients.mean(-1, keepdims=True)


def _mean_error(samples):
    """Mean and half width of its 95 % interval."""
    mean, _, high = mean_interval(samples)
    return float(mean), float(high - mean)


def _mean_norm(*samples):
    """Norm of the (difference of) means of arrays, and the standard error of that norm."""
    means = [sample.mean(0) for sample in samples]
    noise = sum(sample.var(0, ddof=1).sum() / len(sample) for sample in samples)
    difference = means[0] - means[1] if len(means) == 2 else means[0]
    return float(np.sqrt((difference**2).sum())), float(np.sqrt(noise))


def _violation(problem):
    """Item 6: many policies, among them mixtures towards the unsafe optimum."""
    cmdp, optimum, constants = problem.cmdp, problem.optimum, problem.constants
    least = 2 * optimum.multiplier
    if constants.multiplier_bound < least * (1 - _ROUNDING):
        raise OutsideAssumptions(
            f"multiplier_bound: C >= 2 lambda* = {least:.6g} expected, "
            f"got {constants.multiplier_bound:.6g}"
        )
    unsafe = optima.maximize(cmdp, cmdp.reward)
    edge = optima.maximize(cmdp, cmdp.reward + optimum.multiplier * (1 - 1e-6) * cmdp.utility)
    policies = [problem.policies()]
    for other in (unsafe, edge):
        weight = np.linspace(0.05, 1, 20)[:, None, None]
        occupancy = [cmdp.state_occupancy(p)[:, None] * p for p in (optimum.policy, other)]
        mixed = (1 - weight) * occupancy[0] + weight * occupancy[1]
        visits = mixed.sum(-1, keepdims=True)
        fallback = np.full_like(mixed, 1 / cmdp.actions)
        policies.append(np.divide(mixed, visits, out=fallback, where=visits > 0))
    v_r, v_g = cmdp.evaluate(np.concatenate(policies))
    violation = cmdp.threshold - v_g
    unsafe = violation > _ROUNDING * constants.value_bound
    if not unsafe.any():
        raise OutsideAssumptions("threshold: no policy violates the constraint, nothing to bound")
    violation, gap = violation[unsafe], optimum.reward_value - v_r[unsafe]
    limits = [
        2 * (gap + factor * violation) / factor
        for factor in {constants.multiplier_bound, least} - {0.0}
    ]
    limit = np.min(limits, axis=0)
    ratio = violation / limit
    # Along an edge all policies are equally tight: take the first, not one that rounding picks.
    worst = np.argmax(ratio >= ratio.max() - _ROUNDING)
    return [Result("6", violation[worst], limit[worst])]


def _excess_bias(problem):
    """Item 7: exact truncation error plus people's largest bias."""
    constants = problem.constants
    _, off = _utility_values(problem)
    bias = np.abs(_feedback_error(problem, *_excess_range(constants)).bias).max()
    return [Result("7", np.abs(off).max() + bias, constants.excess_bias, "exact upper bound")]


def _utility_values(problem):
    """V_g^H(rho) and its distance from V_g(rho), for all policies."""
    cmdp, policies = problem.cmdp, problem.policies()
    horizon = problem.setting.horizon
    values, _ = exact.finite_horizon_values(cmdp, policies, cmdp.utility, horizon)
    short = values @ cmdp.initial
    return short, short - cmdp.evaluate(policies)[1]


def _gradient_bias(problem):
    r"""Item 8: smoothing and truncation over directions, and people's largest bias.

    With :math:`|f| \le c`, :math:`\|E f(v) v\| \le c\,E|\langle v, u\rangle| \le c/\sqrt d`.
    """
    cmdp, constants, sphere = problem.cmdp, problem.constants, tangent_sphere(problem)
    scale = sphere.dimension / sphere.radius
    largest = constants.return_bound
    bias = np.abs(_feedback_error(problem, -largest, largest).bias).max()
    worst = 0.0, 0.0
    for signal in problem.signals:
        steepest = _tangent(exact.gradient(cmdp, sphere.centre, signal))
        linear = sphere.radius * (steepest * sphere.directions).sum((1, 2))
        returns = [
            exact.finite_horizon_values(
                cmdp,
                sphere.centre + sign * sphere.radius * sphere.directions,
                signal,
                problem.setting.horizon,
            )[0]
            @ cmdp.initial
            for sign in (1, -1)
        ]
        odd = (returns[0] - returns[1]) / 2  # what is even in v has mean zero
        worst = max(worst, _mean_norm(scale * (odd - linear)[:, None, None] * sphere.directions))
    return [
        Result(
            "8",
            worst[0] + scale * bias / math.sqrt(sphere.dimension),
            constants.gradient_bias_at(sphere.radius, sphere.dimension),
            "Monte Carlo",
            2 * worst[1],
            sphere.note,
        )
    ]


def _excess_square(problem):
    r"""Item 9: :math:`E\hat h_c^2 = E x^2/N + (1 - 1/N)(E x)^2` for answers x.

    Minkowski's inequality bounds :math:`E x^2` by the moments of R - b and of people's error.
    """
    cmdp, constants = problem.cmdp, problem.constants
    policies, pairs = problem.policies(), problem.setting.pairs
    mean, second = exact.return_moments(cmdp, policies, cmdp.utility, problem.setting.horizon)
    mean, second = mean @ cmdp.initial, second @ cmdp.initial
    threshold = cmdp.threshold
    square = second - 2 * threshold * mean + threshold**2  # E (R - b)^2
    error = _feedback_error(problem, *_excess_range(constants))
    answer_square = (np.sqrt(square) + math.sqrt(error.square.max())) ** 2
    answer_mean = np.abs(mean - threshold) + np.abs(error.bias).max()
    measured = (answer_square / pairs + (1 - 1 / pairs) * answer_mean**2).max()
    return [Result("9", measured, constants.excess_square, "exact upper bound")]


def _run_result(key, samples, bound, trivial):
    mean, error = _mean_error(samples)
    return Result(key, mean, bound, "runs", error, trivial=trivial)


def _steps(problem, algorithm):
    process = get_algorithm(algorithm)(problem.cmdp, problem.optimum, problem.setting)
    return process.primal_step, process.dual_step


def _dual_regret(problem):
    """Item 10, along runs of NPGPD-HF."""
    bound = bounds.dual_regret(problem.constants, _steps(problem, "npgpd_hf")[1])
    largest = problem.constants.multiplier_bound * problem.constants.value_bound
    return [_run_result("10", problem.averages("npgpd_hf")["dual"], bound, largest)]


def _zeroth_order_lagrangian(problem):
    """Item 11, along runs of ZPGPD-HF."""
    problem.require_theorem_steps()
    bound = bounds.zeroth_order_lagrangian(problem.constants)
    samples = problem.averages("zpgpd_hf")["lagrangian"]
    return [_run_result("11", samples, bound, _largest_gap(problem.constants))]


def _largest_gap(constants):
    """Largest gap of the Lagrangian."""
    return (1 + constants.multiplier_bound) * constants.value_bound


def _theorem_2(problem):
    """Item 12, along runs of ZPGPD-HF."""
    problem.require_theorem_steps()
    constants = problem.constants
    limits = (
        bounds.theorem_2_gap(constants),
        bounds.theorem_2_violation(constants),
        bounds.theorem_2_violation(constants, complete=True),
    )
    return _theorem(problem, "zpgpd_hf", 12, limits)


def _theorem(problem, algorithm, item, limits):
    averages = problem.averages(algorithm)
    violation = averages["violation"].clip(lower=0)
    samples = averages["gap"], violation, violation
    trivial = problem.constants.value_bound, problem.cmdp.threshold, problem.cmdp.threshold
    return [
        _run_result(f"{item}{part}", *rest)
        for part, *rest in zip("abc", samples, limits, trivial, strict=True)
    ]


def _performance_difference(problem):
    """Item 13: an identity, from every first state, between all pairs of neighbours."""
    cmdp, policies = problem.cmdp, problem.policies()
    others = np.roll(policies, 1, axis=0)
    worst = 0.0
    for signal in problem.signals:
        left = cmdp.state_values(policies, signal) - cmdp.state_values(others, signal)
        advantage = (policies * cmdp.advantages(others, signal)).sum(-1)  # (K, S)
        kernel = np.einsum("ksa,sat->kst", policies, cmdp.transition)
        resolvent = np.linalg.inv(np.eye(cmdp.states) - cmdp.discount * kernel)
        right = (resolvent @ advantage[..., None])[..., 0]
        worst = max(worst, np.abs(left - right).max())
    bound = _ROUNDING * problem.constants.value_bound
    return [Result("13", worst, bound, reason="an identity; the bound is rounding")]


def _advantage_bias(problem):
    """Item 14: exact truncation error plus people's largest bias."""
    cmdp, constants, policies = problem.cmdp, problem.constants, problem.policies()
    largest = constants.return_bound
    worst = 0.0
    for signal in problem.signals:
        values, action_values = exact.finite_horizon_values(
            cmdp, policies, signal, problem.setting.horizon
        )
        advantages = action_values - values[..., None]
        worst = max(worst, np.abs(advantages - cmdp.advantages(policies, signal)).max())
    bias = np.abs(_feedback_error(problem, -largest, largest).bias).max()
    return [Result("14", worst + bias, constants.advantage_bias, "exact upper bound")]


def _one_step(problem):
    """Item 15: the mean over estimates, at the uniform policy and near the optimum."""
    bound = bounds.one_step(problem.constants)
    multiplier = min(problem.optimum.multiplier, problem.constants.multiplier_bound)
    uniform = uniform_policy(problem.cmdp.states, problem.cmdp.actions)
    policies = uniform, 0.9 * problem.optimum.policy + 0.1 * uniform
    shortfalls = [
        _mean_error(one_step_shortfall(problem, policy, multiplier, _ESTIMATES))
        for policy in policies
    ]
    mean, error = max(shortfalls)
    return [Result("15", mean, bound, "Monte Carlo", error)]


def one_step_shortfall(problem, policy, multiplier, count):
    r"""Sample :math:`\frac{1-\gamma}{\eta_1}E_\rho\log\hat Z - \Delta V_L(\rho)`.

    One step of NPGPD-HF, over and over. Lemma:nonmonotone (line 1878) says that it is at most
    :math:`(1+\bar\sigma_\lambda)\epsilon_A/(1-\gamma)`.

    Parameters
    ----------
    problem : Problem
        The process and the setting.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi^{(t)}`, positive everywhere.
    multiplier : float
        :math:`\lambda^{(t)}`.
    count : int
        Number of samples.

    Returns
    -------
    ndarray, float64, shape (count,)
        In units of value.
    """
    cmdp = problem.cmdp
    process = get_algorithm("npgpd_hf")(cmdp, problem.optimum, problem.setting)
    step = bounds.require_step("primal_step", process.primal_step) / (1 - cmdp.discount)
    estimates = sample_advantages(process, policy, count)
    estimates = estimates[:, 0] + multiplier * estimates[:, 1]
    logits = step * estimates + np.log(policy)
    gain = _lagrangian(cmdp, special.softmax(logits, axis=-1), multiplier)
    gain -= _lagrangian(cmdp, policy, multiplier)
    return special.logsumexp(logits, axis=-1) @ cmdp.initial / step - gain


def sample_advantages(process, policy, count):
    r"""Sample NPGPD-HF's estimates at a policy.

    Parameters
    ----------
    process : Algorithm
        NPGPD-HF, ready to iterate.
    policy : ndarray, float64, shape (S, A)
        Positive everywhere.
    count : int
        Number of samples.

    Returns
    -------
    ndarray, float64, shape (count, 2, S, A)
        :math:`\hat A_r` and :math:`\hat A_g`.
    """
    theta = process.initial_parameter(policy)
    bits = streams.bit_generator(
        purpose="theory", check="advantages", evaluators=process.setting.evaluators
    )
    words = (bits.random_raw(process.words_per_iteration) for _ in range(count))
    return np.stack([process.estimate(theta, word, np.empty(0))[0] for word in words])


def _lagrangian(cmdp, policies, multiplier):
    v_r, v_g = cmdp.evaluate(policies)
    return v_r + multiplier * v_g


def _average_performance(problem):
    """Item 16, along runs of NPGPD-HF."""
    steps = _steps(problem, "npgpd_hf")
    limits = [
        bounds.natural_lagrangian(problem.constants, *steps, corrected=corrected)
        for corrected in (False, True)
    ]
    samples = problem.averages("npgpd_hf")["lagrangian"]
    trivial = _largest_gap(problem.constants)
    return [_run_result(f"16{part}", samples, limits[k], trivial) for k, part in enumerate("ab")]


def _theorem_1(problem):
    """Item 17, along runs of NPGPD-HF."""
    problem.require_theorem_steps()
    constants = problem.constants
    limits = (
        bounds.theorem_1_gap(constants),
        bounds.theorem_1_violation(constants),
        bounds.theorem_1_violation(constants, complete=True),
    )
    return _theorem(problem, "npgpd_hf", 17, limits)


def _corollary(problem):
    """Item 18: Theorem 1's bound times sqrt(T) along the corollary's schedule of M and H."""
    constants = problem.constants
    if not 0 < constants.discount < 1:
        raise OutsideAssumptions("discount: log(1/gamma) is infinite at gamma = 0")
    steepest = problem.link.inverse_lipschitz(constants.value_bound)
    measured = 0.0
    for iterations in np.unique(np.geomspace(3, 1e8, 40).astype(int)):
        horizon = math.ceil(math.log(iterations) / (2 * math.log(1 / constants.discount)))
        bound = constants.value_bound * (1 - constants.discount ** (horizon + 1))
        at = replace(
            constants,
            iterations=int(iterations),
            evaluators=math.ceil(iterations * math.log(iterations)),
            horizon=horizon,
            threshold=min(constants.threshold, bound),
            lipschitz=problem.link.inverse_lipschitz(bound),
        )
        measured = max(measured, math.sqrt(iterations) * bounds.theorem_1_gap(at))
    limit = bounds.corollary_constant(replace(constants, lipschitz=steepest))
    return [Result("18", measured, limit, reason="sup over T of sqrt(T) times Theorem 1's bound")]


CHECKS = {
    1: _finite_horizon,
    2: _return_variance,
    3: _feedback,
    4: _smoothness,
    5: _smoothing,
    6: _violation,
    7: _excess_bias,
    8: _gradient_bias,
    9: _excess_square,
    10: _dual_regret,
    11: _zeroth_order_lagrangian,
    12: _theorem_2,
    13: _performance_difference,
    14: _advantage_bias,
    15: _one_step,
    16: _average_performance,
    17: _theorem_1,
    18: _corollary,
}
