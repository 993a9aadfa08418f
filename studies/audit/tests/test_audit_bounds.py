"""Bounds against formulas and another implementation, exact quantities, a table that says no."""

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from audit import exact, iterates, printed, smoothing, theorem_1, theorem_2
from audit.check import CHECKS, check
from audit.estimates import make_estimates
from audit.lengths import lengths
from audit.printed import Constants, Setting, make_constants
from audit.problems import Problem, largest_values
from audit.statements import STATEMENTS

from pgpd_hf import NPGPDHF, ZPGPDHF, random_cmdp, run, solve
from pgpd_hf.evaluators import ask, make_evaluators
from pgpd_hf.tables import read_table
from pgpd_hf.theory import OutsideAssumptions, printed_bounds

FOLDER = Path(__file__).parents[1]
SMALL = random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.55)  # binds
BEST = solve(SMALL)
SETTING = Setting(evaluators=16, iterations=40, rounds=2, horizon=12)
CAP = iterates.cap_of(SMALL, BEST)
ESTIMATES = make_estimates(SMALL, SETTING)
USUAL = Setting(evaluators=64, iterations=60)
STUDIES = {
    "paper": (random_cmdp(instance=1), USUAL),
    "unit": (random_cmdp(instance=3, scale="unit", threshold=5.5), USUAL),
    "rounds": (
        random_cmdp(states=4, actions=3, instance=5, discount=0.8, threshold=0.5),
        replace(USUAL, evaluators=256, rounds=10, horizon=30),
    ),
}

# Printed bounds -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_bounds_of_both_theorems_are_those_of_the_library(name):
    cmdp, setting = STUDIES[name]
    optimum = solve(cmdp)
    c = make_constants(cmdp, optimum, setting)
    for kind, gap, violation, steps in (
        (NPGPDHF, printed.theorem_1_gap, printed.theorem_1_violation, c.theorem_1_steps),
        (ZPGPDHF, printed.theorem_2_gap, printed.theorem_2_violation, c.theorem_2_steps),
    ):
        algorithm = setting.algorithm(kind)
        found = printed_bounds(cmdp, optimum, algorithm, setting.iterations)
        assert (gap(c), violation(c)) == pytest.approx(tuple(found), rel=1e-12)
        assert violation(c, complete=True) == pytest.approx(violation(c) + 4 * c.excess_bias)
        assert steps == pytest.approx(algorithm.theorem_steps(cmdp, optimum, setting.iterations))


def test_what_the_statements_do_not_allow_is_refused():
    with pytest.raises(OutsideAssumptions, match="threshold: in "):
        make_constants(SMALL, BEST, replace(SETTING, horizon=0))


# Exact quantities -----------------------------------------------------------------------------


def trajectories(cmdp, policy, horizon, state, action):
    """Probability and return of utility of every trajectory."""
    if horizon == 0:
        yield 1.0, cmdp.utility[state, action]
        return
    for after, choice in np.ndindex(cmdp.states, cmdp.actions):
        chance = cmdp.transition[state, action, after] * policy[after, choice]
        for rest, total in trajectories(cmdp, policy, horizon - 1, after, choice):
            yield chance * rest, cmdp.utility[state, action] + cmdp.discount * total


@pytest.mark.parametrize("horizon", [0, 1, 3])
def test_moments_of_returns_agree_with_enumerating_all_trajectories(horizon):
    cmdp = random_cmdp(states=2, actions=2, instance=3, discount=0.7, threshold=0.3)
    policy = np.array([[0.3, 0.7], [0.8, 0.2]])
    values, action_values = exact.finite_horizon_values(cmdp, policy, cmdp.utility, horizon)
    moments = np.zeros((2, 2))
    for s, a in np.ndindex(2, 2):
        chance, returns = np.array([*trajectories(cmdp, policy, horizon, s, a)]).T
        assert action_values[s, a] == pytest.approx(chance @ returns)
        moments[:, s] += policy[s, a] * np.array([chance @ returns, chance @ returns**2])
    np.testing.assert_allclose(values, moments[0])
    found = exact.return_moments(cmdp, policy, cmdp.utility, horizon)
    np.testing.assert_allclose(found, moments)


@pytest.mark.parametrize("estimator", ["plug-in", "unbiased"])
def test_error_is_that_of_the_simulated_evaluators(estimator):
    difference, panel = 0.6, make_evaluators(8, "logistic", 1.0, estimator)
    words = np.random.default_rng(0).integers(0, 2**64, size=20000, dtype=np.uint64)
    errors = np.array([ask(panel, difference, word) for word in words]) - difference
    error = exact.feedback_error([difference], 8, "logistic", 1.0, estimator)
    assert abs(errors.mean() - error.bias[0]) < 5 * errors.std() / math.sqrt(len(errors))
    assert np.abs(errors).mean() == pytest.approx(error.absolute[0], rel=0.03)
    assert (errors**2).mean() == pytest.approx(error.square[0], rel=0.05)


def test_gradient_and_hessian_agree_with_finite_differences():
    policy, step = np.full((3, 2), 0.5), 1e-4
    gradient = exact.gradient(SMALL, policy, SMALL.reward)
    hessian = exact.hessian(SMALL, policy, SMALL.reward)
    for k, (s, a) in enumerate(np.ndindex(3, 2)):
        move = np.zeros((3, 2))
        move[s, a] = step
        ahead, behind = (
            SMALL.initial
            @ exact.resolvent(SMALL, theta)
            @ (theta * SMALL.reward).sum(-1)  # a rational function of theta, policy or not
            for theta in (policy + move, policy - move)
        )
        assert gradient[s, a] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)
        slopes = [exact.gradient(SMALL, policy + it, SMALL.reward).ravel() for it in (move, -move)]
        np.testing.assert_allclose(hessian[k], (slopes[0] - slopes[1]) / (2 * step), rtol=1e-5)


# The table ------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", STUDIES)
def test_every_bound_holds(name):
    cmdp, setting = STUDIES[name]
    table = check(cmdp, setting, range(3))
    assert [*(table["item"].astype(str) + table["part"])] == [*STATEMENTS]
    assert table["holds"].all(), table.to_string()
    np.testing.assert_allclose(table["ratio"], table["measured"] / table["bound"])
    theorems = table[table["item"].isin([12, 17, 19, 23])]
    assert theorems["reason"].str.startswith("vacuous").all()


# What the right side of each item is: a constant, or a function.
RIGHT_SIDES = {
    1: "truncation",
    2: "sampling_square",
    3: "feedback",
    4: "smoothness",
    7: "excess_bias",
    9: "excess_square",
    10: "dual_regret",
    11: "zeroth_order_lagrangian",
    12: "theorem_2_gap",
    14: "advantage_bias",
    15: "one_step",
    16: "natural_lagrangian",
    17: "theorem_1_gap",
}


@pytest.mark.parametrize(("item", "name"), RIGHT_SIDES.items())
def test_statement_fails_if_its_bound_is_too_small(monkeypatch, item, name):
    row = check(SMALL, SETTING, range(4), [item]).iloc[0]
    assert row["holds"]
    if hasattr(Constants, name):
        full, factor = getattr(Constants, name).fget, 0.9 * row["ratio"]
        monkeypatch.setattr(Constants, name, property(lambda self: factor * full(self)))
    else:
        too_small = row["low"] - 0.1 * abs(row["low"]) - 1e-6
        monkeypatch.setattr(printed, name, lambda *_, **__: too_small)
    assert not check(SMALL, SETTING, range(4), [item])["holds"].iloc[0]


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("factor", ["|S||A|", 1.01])
def test_smoothing_identity_needs_the_tangent_space_s_dimension(monkeypatch, name, factor):
    """With d = |S||A| the sphere's estimate is |A|/(|A|-1) times too long (line 1050)."""
    cmdp, setting = STUDIES[name]
    kind, full = smoothing.Sphere, cmdp.reward.size

    def with_another_factor(*given):
        return kind(*given[:-1], full if factor == "|S||A|" else factor * given[-1])

    monkeypatch.setattr(smoothing, "Sphere", with_another_factor)
    assert not check(cmdp, setting, range(2), [5])["holds"].iloc[0]


def test_smoothing_properties_fail_without_curvature(monkeypatch):
    """Then the value would be linear: only the linear part of property 4 is left."""
    monkeypatch.setattr(Constants, "smoothness", property(lambda self: 0.0))
    assert [*check(SMALL, SETTING, range(2), [5])["holds"]] == [True, False, False, True]


def test_bias_of_the_gradient_fails_if_it_is_ignored(monkeypatch):
    monkeypatch.setattr(Constants, "gradient_bias_at", lambda *_: 1e-3)
    assert not check(SMALL, SETTING, range(2), [8])["holds"].any()


def test_violation_lemma_is_tight_at_twice_the_multiplier():
    cmdp, setting = STUDIES["paper"]
    assert check(cmdp, setting, range(2), [6])["ratio"].item() == pytest.approx(1, abs=1e-6)


def test_averages_are_over_the_iterates_that_the_theorems_take():
    problem = Problem(SMALL, BEST, SETTING, [0, 4], make_constants(SMALL, BEST, SETTING))
    options = {"seeds": [0, 4], "iterations": 40, "checkpoints": [39]}
    trace = run(SMALL, SETTING.algorithm(NPGPDHF), **options)
    found = problem.natural
    np.testing.assert_allclose(found["gap"], trace["mean_optimality_gap"])
    np.testing.assert_allclose(found["violation"], trace["mean_constraint_violation"])
    np.testing.assert_allclose(found["lagrangian"], found["gap"] - found["dual"])


def test_largest_values_are_those_of_the_worst_deterministic_policies():
    rewards, utilities = SMALL.evaluate(np.eye(2)[[*itertools.product(range(2), repeat=3)]])
    expected = BEST.reward_value - rewards.min(), SMALL.threshold - utilities.min()
    assert largest_values(SMALL, BEST) == pytest.approx(expected)


# Corrected theorems ---------------------------------------------------------------------------


def dual_terms(e, eta_2, length, n, gap):
    """Both bounds from that of the Lagrangian's regret; here H = 12."""
    beta_c = SMALL.value_bound * SMALL.discount**13 + e.excess_bias
    gap = gap + eta_2 * e.excess_square / 2 + CAP * beta_c
    violation = gap + CAP**2 / (2 * eta_2 * length)
    violation += CAP / 2 * math.sqrt(e.excess_round_variance / (n * length))
    return gap, violation / (CAP - BEST.multiplier)


@pytest.mark.parametrize(("n", "length"), [(2, 300.0), (1e4, 1e5)])
def test_theorem_1_has_all_its_terms(n, length):
    e, eta_1, g = replace(ESTIMATES, rounds=n), 0.01, SMALL.discount
    B, G, X = SMALL.value_bound, SMALL.return_bound(12), e.largest
    omega = g**13 * B + 2 * e.bias
    v = (g * min(G / 2, B / 2 / math.sqrt(1 - g * g)) + e.bias) ** 2 + e.variance
    W = (B + 2 * e.bias) ** 2 / 4 + v / n  # the variance that the printed proof omits
    z = 2 * eta_1 / (1 - g) * (1 + CAP) * X
    curve = min(X**2 / 2, (math.exp(z) - 1 - z) / z**2 * W) / (1 - g) ** 2
    regret = math.log(2) / eta_1 / length + eta_1 * (1 + CAP) ** 2 * curve
    expected = dual_terms(e, 0.02, length, n, regret + (1 + CAP) * omega / (1 - g))
    found = theorem_1.theorem_1(e, eta_1, 0.02, length, CAP, BEST.multiplier)
    assert found == pytest.approx(expected)


def test_theorem_2_has_all_its_terms():
    """Three states and two actions: d = 3; N = 2, H = 12."""
    e, mu, eta_1, eta_2, length, g = ESTIMATES, 0.05, 1e-4, 0.02, 1e6, SMALL.discount
    c = theorem_2.make_curvature(SMALL, BEST, e, mu)
    B, delta = SMALL.value_bound, mu * math.sqrt(0.5)
    smooth, steep = 2 * g * B / (1 - g) ** 2, math.sqrt(2) * B / (2 * (1 - g))
    occupancy = SMALL.occupancy((1 - 2 * delta) * BEST.policy + delta)
    distance = 2 * sum(q**2 / r**2 for q, r in zip(occupancy, SMALL.initial, strict=True))
    tail = e.truncation * min(1, mu * math.sqrt(2) / 2 * (14 + g / (1 - g)))
    zeta = tail + e.bias * min(1, 13 * mu * math.sqrt(2))
    bias = (1 + CAP) * (smooth * mu + math.sqrt(3) * zeta / mu)
    answers = (2 * e.deviation + e.bias) ** 2 + e.variance
    square = 4 * 3 * steep**2 + (3 * smooth * mu) ** 2 + 2 * (3 * zeta / mu) ** 2
    square = (1 + CAP) ** 2 * (square + (3 / mu) ** 2 * answers / 2)
    ell, root = (1 + CAP) * smooth, math.sqrt(e.excess_square)
    assert eta_1 * ell <= 1

    def regret(alpha):
        total = 5 / (4 * alpha) * ((2 + CAP) * B / length + eta_2 * root * B)
        total += 7 / (4 * alpha) * (eta_1 * bias**2 + ell * eta_1**2 * square)
        return total + 3 * alpha * distance / eta_1 + (1 + CAP) * delta * B / (1 - g)

    best = min(map(regret, np.geomspace(1e-10, eta_1 * ell / 2, 20001)))
    expected = dual_terms(e, eta_2, length, 2, best)
    found = theorem_2.theorem_2(c, eta_1, eta_2, length, CAP, BEST.multiplier)
    assert found == pytest.approx(expected, rel=5e-3)  # alpha is chosen on a grid
    assert found.gap >= expected[0] * (1 - 1e-9)


def test_rate_steps_give_theorem_1_its_rate():
    """The noise counts with X^2/2, or from some T on with (e - 2) W where this is smaller."""
    e, reach = replace(ESTIMATES, largest=100.0), (1 + CAP) / (1 - SMALL.discount)
    few, many = 100**2 / 2, (math.e - 2) * e.spread
    late = 4 * 100**2 * math.log(2) / many
    for length, noise in ((late / 100, few), (late, many), (100 * late, many)):
        steps = theorem_1.rate_steps(e, length, CAP)
        gap, _ = theorem_1.theorem_1(e, *steps, length, CAP, BEST.multiplier)
        falling = 2 * reach * math.sqrt(math.log(2) * noise) + CAP / 2 * math.sqrt(e.excess_square)
        bias = reach * e.primal_bias + CAP * e.dual_bias
        assert gap <= (1 + 1e-9) * (falling / math.sqrt(length) + bias)


def test_first_length_is_where_the_bound_crosses_the_level():
    assert 1e4 <= theorem_1.first_length(lambda t: t**-0.5, 0.01) <= 1.012e4  # from above
    assert theorem_1.first_length(lambda t: 0.5, 0.6) == 1
    assert theorem_1.first_length(lambda t: 0.5, 0.4) == math.inf


def test_algorithm_2t_stays_inside_and_is_zpgpd_hf_where_nothing_is_cut_off():
    rows = theorem_2.project_inside(np.array([[0.5, 0.7], [2.0, -1.0]]), least=0.1)
    assert rows == pytest.approx(np.array([[0.4, 0.6], [0.9, 0.1]]))
    options = {"perturbation": 0.1, "primal_step": 1e-3, "dual_step": 0.1}
    given = {"seeds": [0], "iterations": 40, "return_policies": True}
    inside = run(SMALL, SETTING.algorithm(theorem_2.Interior, **options), **given)
    plain = run(SMALL, SETTING.algorithm(ZPGPDHF, directions="tangent", **options), **given)
    np.testing.assert_allclose(inside[1], plain[1], rtol=1e-12)
    wild = SETTING.algorithm(theorem_2.Interior, **options | {"primal_step": 10})
    policies = run(SMALL, wild, **given)[1]
    assert policies.min() == pytest.approx(0.1 * math.sqrt(0.5))


def test_committed_tables_have_every_statement_and_one_theorem_that_says_something():
    tables = {path.stem: read_table(path) for path in (FOLDER / "tables").glob("*.csv")}
    assert tables.keys() == {"bounds", "lengths", "first_lengths"}
    declared = yaml.safe_load((FOLDER / "config.yaml").read_text())
    assert len(tables["bounds"]) == len(STATEMENTS) * (1 + len(declared["settings"]))
    assert set(tables["bounds"]["item"]) == {*CHECKS}
    assert tables["bounds"]["holds"].all()
    first = tables["first_lengths"]
    says = first[np.isfinite(first["iterations"])]
    assert {*zip(says["statement"], says["estimator"], strict=True)} == {("Theorem 1", "unbiased")}
    problem = random_cmdp(instance=42), replace(USUAL, evaluators=16)
    again = lengths(*problem, [1], [100], 100, range(8))
    for found, name in zip(again, ("lengths", "first_lengths"), strict=True):
        table = tables[name].query("evaluators == 16 and rounds == 1")
        table = table.drop_duplicates(["statement", "estimator"]).reset_index(drop=True)  # T = 100
        pd.testing.assert_frame_equal(found, table, rtol=1e-3, check_dtype=False)
    runs = tables["lengths"].dropna(subset="measured_gap")
    assert (runs["measured_gap"] <= runs["gap"]).all()
    assert (runs["measured_violation"] <= runs["violation"]).all()
