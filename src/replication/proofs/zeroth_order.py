"""Steps 4.1 to 4.13: Algorithm 2T, and the CMDP on which the printed Theorem 2 fails."""

import math
from dataclasses import replace

import numpy as np

from pgpd_hf.core import optima
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.evaluators import make_evaluators
from pgpd_hf.core.links import get_link
from replication.proofs.small_cmdps import random_numbers, random_policy, small_cmdp, trajectories
from replication.proofs.votes import answer_moments
from replication.theory import bounds, exact, theorem_2
from replication.theory.constants import make_constants
from replication.theory.estimates import make_estimates
from replication.theory.problems import run_averages
from replication.theory.setting import Setting

_ANGLES = 48
_ROUNDING = 1e-9
_TINY = 1e-12


def check(ledger, cases):
    """Check these steps."""
    ledger.declare(
        "exact",
        {
            "4.1": "entries of a tangent unit vector <= sqrt(1 - 1/|A|)",
            "4.2": "norm of the tangent Hessian <= L'",
            "4.2b": "norm of the tangent gradient <= Gamma",
            "4.6": "price of the interior",
            "4.7": "values are linear along occupancies (relative error over 1e-9)",
            "4.7b": "|z - y|^2 <= alpha^2 D",
            "4.8": "E|y - theta+|^2 <= (1 - eta l)|y - theta|^2 + ..",
            "4.9": "E[f(u) - Phi(theta+)] <= (1 - alpha) G + ..",
            "4.10": "Phi - f <= (E Phi(theta+) - Phi + ..)/(2 eta l)",
        },
    )
    ledger.declare(
        "enumerated",
        {
            "4.3": "|E h - grad V| <= b_1",
            "4.4": "|E bias of people| <= beta min{1, ..}",
            "4.4b": "|tail(theta + mu v) - tail(theta)| <= eps_H min{1, ..}",
            "4.5": "E|h|^2 <= (1+lambda)^2 v_2",
        },
    )
    ledger.declare(
        "mean over runs",
        {"4.11": "Lagrangian's average gap <= A", "T2a": "Theorem 2, gap", "T2b": "violation"},
    )
    ledger.declare(
        "exact",
        {
            "4.12": "slope of the bound in T over -1/7, N = 1",
            "4.12b": "slope of the bound in N over -1/7",
            "4.12c": "slope of the bound in T over -1/5, N infinite",
            "4.12d": "slope of the regret in T over -1/6, multiplier fixed",
            "4.12e": "bound at T = 10^60 over the floor of people and truncation (error over 0.02)",
        },
    )
    ledger.declare(
        "mean over runs", {"4.13": "printed algorithm: |gap - 1/4| over four standard errors"}
    )
    ledger.declare(
        "exact", {"4.13b": "printed Theorem 2 at T = 10^40, over the gap of 1/4 that remains"}
    )
    ledger.declare(
        "enumerated",
        {
            "4.3 with d = |S||A|": "the printed factor on tangent directions",
            "4.5 without s^2/N": "second moment without the noise of one round",
        },
        "control",
    )
    for case in range(cases):
        _check_geometry(ledger, random_numbers("geometry", case))
        _check_estimates(ledger, random_numbers("directions", case), noisy=case == 0)
        _check_descent(ledger, random_numbers("descent", case), sharp=case % 2 == 0)
    for case in range(max(1, cases // 10)):
        _check_runs(ledger, random_numbers("interior", case), case)
    _check_rate(ledger)
    _check_failure(ledger)


def _norm(x):
    return math.sqrt((x**2).sum())


def _lagrangian(cmdp, theta, multiplier):
    return exact.value(cmdp, theta, cmdp.reward + multiplier * cmdp.utility)


def _curvature(cmdp, best, setting, radius):
    estimates = make_estimates(cmdp, setting, known=True)
    return theorem_2.make_curvature(cmdp, best, estimates, radius)


def _check_geometry(ledger, random):
    cmdp, best = small_cmdp(random)
    states, actions = cmdp.states, cmdp.actions
    largest = 1 / (actions * math.sqrt(1 - 1 / actions))
    radius = float(random.uniform(0.01, 0.9)) * largest
    known = replace(cmdp, threshold=0.0)
    constants = _curvature(known, best, Setting(evaluators=None, iterations=1, horizon=10), radius)
    span, delta = constants.estimates.span, constants.margin
    direction = exact.tangent(random.standard_normal((states, actions)))
    if random.random() < 0.3:  # attains the bound
        direction = np.zeros((states, actions))
        direction[0] = exact.tangent(np.eye(actions)[0])
    ledger.add("4.1", np.abs(direction).max() / _norm(direction), math.sqrt(1 - 1 / actions))
    theta = random_policy(random, cmdp)
    basis = np.kron(np.eye(states), np.eye(actions) - 1 / actions)
    for signal in (cmdp.reward, cmdp.utility):
        bent = basis @ exact.hessian(cmdp, theta, signal) @ basis
        ledger.add("4.2", np.abs(np.linalg.eigvalsh(bent)).max(), constants.smoothness)
        steep = _norm(exact.tangent(exact.gradient(cmdp, theta, signal)))
        ledger.add("4.2b", steep, constants.steepness)
    multiplier = float(random.choice([0.0, best.multiplier, 5.0]))
    inner = (1 - actions * delta) * best.policy + delta
    cost = _lagrangian(cmdp, best.policy, multiplier) - _lagrangian(cmdp, inner, multiplier)
    price = (1 + multiplier) * (actions - 1) * delta * span / (1 - cmdp.discount)
    ledger.add("4.6", max(cost, 0.0), price)
    start, weight = theorem_2.project_inside(theta, delta), random.random()
    first, second = (cmdp.state_occupancy(policy) for policy in (start, inner))
    mixed = (1 - weight) * first[:, None] * start + weight * second[:, None] * inner
    between = mixed / mixed.sum(-1, keepdims=True)
    ends = [_lagrangian(cmdp, policy, multiplier) for policy in (start, inner)]
    off = _lagrangian(cmdp, between, multiplier) - (1 - weight) * ends[0] - weight * ends[1]
    ledger.add("4.7", abs(off), _ROUNDING * (1 + multiplier) * cmdp.value_bound)
    ledger.add("4.7b", ((between - start) ** 2).sum(), weight**2 * constants.distance)
    ledger.add("4.7b", delta - between.min() + 1, 1 + _TINY)


def _check_estimates(ledger, random, noisy):
    """Two states and actions: the sphere is a circle, and everything can be enumerated."""
    cmdp, best = small_cmdp(random, states=2, actions=2)
    horizon, people = int(random.integers(1, 4)), int(random.choice([4, 16, 64]))
    cmdp = replace(cmdp, threshold=0.0)
    setting = Setting(evaluators=people, iterations=1, horizon=horizon)
    if cmdp.return_bound(horizon) < 1.5 and random.random() < 0.5:
        setting = replace(setting, estimator="unbiased")
    chances = random.uniform(0.1, 0.9, 2)
    theta = np.stack([chances, 1 - chances], axis=1)
    share = 0.01 if noisy else random.uniform(0.05, 0.95)
    radius = float(share * theta.min() * math.sqrt(2))
    constants = _curvature(cmdp, best, setting, radius)
    e, d = constants.estimates, constants.dimension
    answers = make_evaluators(people, get_link("logistic"), e.return_bound, setting.estimator)
    angles = 2 * np.pi * (np.arange(_ANGLES) + 0.5) / _ANGLES
    halves = np.stack([np.cos(angles), np.sin(angles)], axis=1) / math.sqrt(2)
    directions = halves[..., None] * [1, -1]  # (angles, 2, 2)
    moved = theta + radius * directions

    means, squares, wrong, products = _answer_means(cmdp, theta, moved, horizon, answers.estimate)
    reach = radius * math.sqrt(2)
    ledger.add("4.4", np.abs(wrong).max(), e.bias * min(1, (horizon + 1) * reach) + 1e-14)
    for k, signal in enumerate((cmdp.reward, cmdp.utility)):
        gradient = exact.tangent(exact.gradient(cmdp, theta, signal))
        estimate = (d / radius * means[k][:, None, None] * directions).mean(0)
        ledger.add("4.3", _norm(estimate - gradient), constants.bias)
        slopes = exact.value(cmdp, moved, signal) - exact.value(cmdp, theta, signal)
        short = [
            exact.finite_horizon_value(cmdp, policy, signal, horizon) for policy in (moved, theta)
        ]
        tail = reach / 2 * (horizon + 2 + cmdp.discount / (1 - cmdp.discount))
        change = np.abs(slopes - (short[0] - short[1])).max()
        ledger.add("4.4b", change, e.truncation * min(1, tail))
        # Without people and truncation nothing is left but smoothing, for a small radius.
        small = 1e-3 * radius
        near = exact.value(cmdp, theta + small * directions, signal)
        near = near - exact.value(cmdp, theta, signal)
        printed = (4 / small * near[:, None, None] * directions).mean(0)
        ledger.add("4.3 with d = |S||A|", _norm(printed - gradient), constants.smoothness * small)
    for rounds in (1, 10):
        at = replace(constants, estimates=replace(e, rounds=rounds))
        multiplier = 1.0
        one = squares[0] + multiplier**2 * squares[1] + 2 * multiplier * products
        mean = means[0] + multiplier * means[1]
        second = (d / radius) ** 2 * (mean**2 + (one - mean**2) / rounds).mean()
        ledger.add("4.5", second, (1 + multiplier) ** 2 * at.square)
        if rounds == 1:
            exactly = replace(at, estimates=replace(e, rounds=math.inf))
            ledger.add("4.5 without s^2/N", second, (1 + multiplier) ** 2 * exactly.square)


def _answer_means(cmdp, theta, moved, horizon, answers):
    """Means over trajectories and votes: of answers, squares and errors, and of products."""
    means, squares = np.zeros((2, _ANGLES)), np.zeros((2, _ANGLES))
    wrong, products = np.zeros((2, _ANGLES)), np.zeros(_ANGLES)
    for state, chance in enumerate(cmdp.initial):
        first = np.eye(2)[state]
        base_chances, base = trajectories(cmdp, theta, first, horizon)
        # Returns do not depend on the policy, their chances do.
        differences = [base[:, None, k] - base[None, :, k] for k in range(2)]
        moments = [answer_moments(answers, x) for x in differences]
        for j in range(_ANGLES):
            weight = chance * trajectories(cmdp, moved[j], first, horizon)[0]
            for k, (mean, variance) in enumerate(moments):
                means[k, j] += weight @ mean @ base_chances
                wrong[k, j] += weight @ (mean - differences[k]) @ base_chances
                squares[k, j] += weight @ (mean**2 + variance) @ base_chances
            products[j] += weight @ (moments[0][0] * moments[1][0]) @ base_chances
    return means, squares, wrong, products


def nearby_best(cmdp, theta, signal, ell, delta):
    """Maximize f(y) - l|y - theta|^2 over the interior, f the signal's value: a contraction."""
    best = np.array(theta)
    for _ in range(120):
        slope = exact.tangent(exact.gradient(cmdp, best, signal)) - 2 * ell * (best - theta)
        best = theorem_2.project_inside(best + slope / (3 * ell), delta)
    distance = ((best - theta) ** 2).sum((-1, -2))
    return best, exact.value(cmdp, best, signal) - ell * distance


def sharp_smoothness(cmdp, signal):
    """Smoothness along tangent directions with two states and actions, nearly the smallest."""
    ticks = np.linspace(0, 1, 15)
    basis = np.kron(np.eye(2), np.eye(2) - 0.5)
    policies = (np.array([[p, 1 - p], [q, 1 - q]]) for p in ticks for q in ticks)
    bent = (basis @ exact.hessian(cmdp, policy, signal) @ basis for policy in policies)
    return 1.02 * max(np.abs(np.linalg.eigvalsh(x)).max() for x in bent)


def _check_descent(ledger, random, sharp):
    """Any estimate will do; where the sphere is a circle, l is nearly the best possible."""
    size = 2 if sharp else None
    cmdp, best = small_cmdp(random, states=size, actions=size)
    actions, multiplier = cmdp.actions, float(random.choice([0.0, best.multiplier, 2.0]))
    known = replace(cmdp, threshold=0.0)
    setting = Setting(evaluators=None, iterations=1, horizon=10)
    ell = (1 + multiplier) * _curvature(known, best, setting, 1e-3).smoothness
    signal = cmdp.reward + multiplier * cmdp.utility
    if sharp:
        ell = sharp_smoothness(cmdp, signal)
        if ell < 1e-6 * cmdp.value_bound:
            return
    delta = float(random.choice([0.0, 0.05, 0.2])) / actions
    theta = theorem_2.project_inside(random_policy(random, cmdp), delta)
    inner = (1 - actions * delta) * best.policy + delta
    eta = float(random.choice([1.0, 0.3, 0.05])) / ell
    noise = exact.tangent(random.standard_normal((5, *theta.shape)))
    noise *= float(random.choice([0.0, 0.1, 1.0, 10.0])) * cmdp.value_bound
    gradient = exact.tangent(exact.gradient(cmdp, theta, signal))
    estimates = gradient * float(random.choice([1.0, 0.5])) + noise
    chances = random.dirichlet(np.ones(5))
    bias = ((np.tensordot(chances, estimates, 1) - gradient) ** 2).sum()
    square = chances @ (estimates**2).sum((1, 2))
    cost = eta * bias + ell * eta**2 * square
    after = theorem_2.project_inside(theta + eta * estimates, delta)
    near, best_here = nearby_best(cmdp, theta, signal, ell, delta)
    best_there = chances @ nearby_best(cmdp, after, signal, ell, delta)[1]
    distance = ((near - theta) ** 2).sum()
    left = chances @ ((near - after) ** 2).sum((1, 2))
    ledger.add("4.8", left, (1 - eta * ell) * distance + cost / ell + 1e-14)
    wanted, here = (_lagrangian(cmdp, policy, multiplier) for policy in (inner, theta))
    far = 2 * ((cmdp.state_occupancy(inner) / cmdp.initial) ** 2).sum()
    for weight in (eta * ell / 2, eta * ell / 20, eta * ell / 200):
        left = wanted - best_there - (1 - weight) * (wanted - best_here)
        ledger.add("4.9", left, 1.5 * cost + 3 * weight**2 * far / eta + _TINY)
    ledger.add("4.10", best_here - here, (best_there - best_here + cost) / (2 * eta * ell) + _TINY)


def _check_runs(ledger, random, case):
    cmdp, best = small_cmdp(random, 3, 2, (0.5,), "normalized")
    cap, length, horizon = 2 * best.multiplier + 0.5, 1000, 20
    radius = float(random.choice([0.02, 0.1]))
    setting = Setting(
        evaluators=[None, 64][case % 2],
        iterations=length,
        rounds=int(random.choice([1, 10])),
        horizon=horizon,
        multiplier_bound=cap,
        perturbation=radius,
        directions="tangent",
    )
    constants = _curvature(cmdp, best, setting, radius)
    eta_1 = float(random.choice([0.03, 0.3])) / ((1 + cap) * constants.smoothness)
    eta_2 = float(random.choice([0.003, 0.03]))
    setting = replace(setting, primal_step=eta_1, dual_step=eta_2)
    averages = run_averages(setting.run(theorem_2.Interior, cmdp, best), best, range(4))
    weights = eta_1 * (1 + cap) * constants.smoothness / 2 * np.geomspace(1e-6, 1, 60)
    regret = theorem_2.regret(constants, eta_1, eta_2, length, cap, weights).min()
    gap, violation = theorem_2.theorem_2(constants, eta_1, eta_2, length, cap, best.multiplier)
    ledger.add("4.11", max(averages["lagrangian"].mean(), 0.0), regret)
    ledger.add("T2a", max(averages["gap"].mean(), 0.0), gap)
    ledger.add("T2b", averages["violation"].clip(lower=0).mean(), violation)


def _check_rate(ledger):
    """Exponents without people and truncation, whose terms do not depend on T; then their floor."""
    cmdp, best = small_cmdp(random_numbers("exponent", 0), 3, 2, (0.5,), "normalized")
    cap = 2 * best.multiplier + 0.5
    silent = make_estimates(cmdp, Setting(evaluators=None, iterations=1, horizon=400), known=True)
    silent = replace(silent, return_bound=silent.value_bound)
    ell = (1 + cap) * theorem_2.make_curvature(cmdp, best, silent, 0.1).smoothness

    def gap(estimates, length, parameters):
        radius, *steps = parameters
        constants = theorem_2.make_curvature(cmdp, best, estimates, radius)
        return theorem_2.theorem_2(constants, *steps, length, cap, best.multiplier).gap

    def scheduled(rounds, length):
        estimates = replace(silent, rounds=rounds)
        return gap(estimates, length, theorem_2.rate_setting(estimates, length, cap))

    def endless(length):
        steps = 1e-3 * length ** (-2 / 5), length ** (-2 / 5) / ell, length ** (-4 / 5)
        return gap(replace(silent, rounds=math.inf), length, steps)

    def fixed(length):
        radius, eta_1 = 0.1 * length ** (-1 / 6), length ** (-2 / 3) / ell
        constants = theorem_2.make_curvature(cmdp, best, silent, radius)
        weights = eta_1 * ell / 2 * np.geomspace(1e-12, 1, 200)
        return theorem_2.regret(constants, eta_1, 0.0, length, cap, weights).min()

    for step, bound, ends, exponent in (
        ("4.12", lambda t: scheduled(1, t), (1e20, 1e24), 1 / 7),
        ("4.12b", lambda n: scheduled(n, 1e30), (1, 100), 1 / 7),
        ("4.12c", endless, (1e20, 1e24), 1 / 5),
        ("4.12d", fixed, (1e20, 1e24), 1 / 6),
    ):
        slope = math.log(bound(ends[1]) / bound(ends[0])) / math.log(ends[1] / ends[0])
        ledger.add(step, abs(slope / exponent + 1), 0.02)

    noisy = make_estimates(cmdp, Setting(evaluators=256, iterations=1, horizon=20), known=True)
    radius, *steps = theorem_2.rate_setting(noisy, 1e60, cap)
    constants = theorem_2.make_curvature(cmdp, best, noisy, radius)
    bias = (1 + cap) * math.sqrt(constants.dimension) * constants.slope_bias / radius
    floor = math.sqrt(21 * constants.distance) * bias + cap * noisy.dual_bias
    ledger.add("4.12e", abs(gap(noisy, 1e60, (radius, *steps)) / floor - 1), 0.02)


def _check_failure(ledger):
    """Check that the printed algorithm, with printed steps and radius, picks vertices by chance."""
    even, reward = np.full((2, 2, 2), 0.5), [[1.0, 0.5], [0.0, 0.0]]
    cmdp = CMDP(even, reward, np.ones((2, 2)), [0.5, 0.5], 0.5, 1.0, 1.0)
    best, seeds = optima.solve(cmdp), range(4)
    setting = Setting(evaluators=None, iterations=4000, horizon=60)
    gap = run_averages(setting.run("zpgpd_hf", cmdp, best), best, seeds)["gap"].mean()
    error = 0.25 / math.sqrt(len(seeds) * setting.iterations)  # gaps are 0 or 1/2, like fair coins
    ledger.add("4.13", abs(gap - 0.25), 4 * error)
    constants = replace(make_constants(cmdp, best, setting), iterations=10**40)
    ledger.add("4.13b", bounds.theorem_2_gap(constants), 0.25)
