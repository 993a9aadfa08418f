"""Corrected theorems: formulas written again, limits, refusals, and every step of the proofs."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from pgpd_hf import random_cmdp, run, solve
from pgpd_hf.algorithms import Setting
from pgpd_hf.theory import bounds, lengths, seen, theorem_1, theorem_2
from pgpd_hf.theory.constants import OutsideAssumptions, make_constants
from pgpd_hf.theory.estimates import make_estimates, mixing
from pgpd_hf.theory.steps import check_steps
from pgpd_hf.theory.steps.ledger import Ledger

CMDP = random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.5)
BEST = solve(CMDP)
SETTING = Setting(evaluators=16, iterations=40, pairs=2, horizon=12)
NO_SLACK = replace(BEST, slack=0.0)
LONG = replace(SETTING, horizon=60)
CAP = 2 * CMDP.value_bound / BEST.slack


@pytest.fixture(scope="module")
def estimates():
    return make_estimates(CMDP, SETTING)


def test_every_step_of_the_proofs_holds_and_every_control_fails():
    table = check_steps(2)
    assert table["holds"].all(), table[~table["holds"]].to_string()
    steps, controls = (table[table["kind"] == kind] for kind in ("step", "control"))
    assert (steps["worst"] <= 1 + 1e-9).all()
    assert (controls["worst"] > 1).all()
    assert len(controls) >= 7
    assert table["step"].is_unique


def test_ledger_says_no_to_what_fails_and_to_what_was_not_checked():
    ledger = Ledger()
    ledger.declare("exact", {"good": "", "bad": "", "none": ""})
    ledger.declare("exact", {"control": ""}, "control")
    ledger.add("good", [0.5, 0.0], [1.0, 0.0])
    ledger.add("bad", [0.5, 1.1], 1.0)
    ledger.add("control", 0.9, 1.0)
    table = ledger.table().set_index("step")
    assert table["holds"].to_dict() == {
        "good": True, "bad": False, "none": False, "control": False,
    }  # fmt: skip
    assert table.loc["bad", "worst"] == 1.1
    with pytest.raises(KeyError, match="step other"):
        ledger.add("other", 0, 1)


def test_theorem_1_has_all_its_terms(estimates):
    e, eta_1, eta_2, length, g = estimates, 0.01, 0.02, 300.0, CMDP.discount
    bias = (g * e.mixing) ** 13 * e.span + 2 * e.bias
    v = (g * min(e.return_bound / 2, e.span / 2 / math.sqrt(1 - g * g)) + e.bias) ** 2 + e.variance
    w = (e.span + 2 * e.bias) ** 2 / 4 + v / 2
    z = 2 * eta_1 / (1 - g) * (1 + CAP) * e.largest
    phi = (math.exp(z) - 1 - z) / z**2
    curve = min(e.largest**2 / 2, phi * w) / (1 - g) ** 2
    first = math.log(2) / eta_1 / length + eta_1 * (1 + CAP) ** 2 * curve
    omega = (bias + 2 * math.sqrt(2 * e.largest**2 * (math.log(12) + 1) / 2)) ** 2
    drift = e.value_bound / (1 - g) * (1 / length + eta_2 * math.sqrt(e.excess_square))
    second = math.log(2) / eta_1 / length + drift
    second += eta_1 * (1 + CAP) ** 2 * omega / 8 / (1 - g) ** 3
    gap = min(first, second) + (1 + CAP) * bias / (1 - g) + eta_2 * e.excess_square / 2
    gap += CAP * (e.value_bound * g**13 + e.excess_bias)
    violation = gap + CAP**2 / (2 * eta_2 * length)
    violation += CAP / 2 * math.sqrt(e.excess_round_variance / (2 * length))
    found = theorem_1.theorem_1(e, eta_1, eta_2, length, CAP, BEST.multiplier)
    assert found.gap == pytest.approx(gap)
    assert found.violation == pytest.approx(violation / (CAP - BEST.multiplier))


def test_theorem_1_prime_solves_its_quadratic_and_minimizes_over_l(estimates):
    e, steps, length, star = replace(estimates, bias=0.0), (1e-4, 1e-3), 1e6, BEST.multiplier
    for way in theorem_1.primal_regrets(e, *steps, length, CAP):
        w = theorem_1.multiplier_distance(e, way, *steps, length, CAP, star)
        if w == max(CAP - star, star):
            continue
        constant, curve = way
        inner = steps[0] * curve * (1 + star + w) ** 2
        inner += (1 + star + w) * e.primal_bias / (1 - e.discount) + w * e.dual_bias
        right = star**2 + 2 * steps[1] * (constant + length * inner)
        right += steps[1] ** 2 * e.excess_square * length
        assert w**2 == pytest.approx(right)
    pair = theorem_1.theorem_1_prime(e, *steps, length, CAP, star)
    caps = np.linspace(star, CAP, 4001)[1:]
    smaller = min(theorem_1.theorem_1_prime(e, *steps, length, x, star).violation for x in caps)
    assert pair.violation <= smaller * (1 + 1e-6)


def test_bounds_fall_with_what_is_known_and_rise_with_what_is_not(estimates):
    at = partial(theorem_1.theorem_1, primal_step=0.01, dual_step=0.01, iterations=1e4, cap=CAP)
    known = make_estimates(CMDP, SETTING, known=True)
    assert known.span < estimates.span == CMDP.value_bound
    assert at(known, multiplier=BEST.multiplier).gap < at(estimates, multiplier=0.0).gap
    dearer = at(estimates, multiplier=2 * BEST.multiplier + 0.1)
    assert dearer.violation > at(estimates, multiplier=BEST.multiplier).violation


def test_everyone_asked_leaves_truncation_alone():
    exactly = make_estimates(CMDP, replace(SETTING, evaluators=None))
    assert (exactly.bias, exactly.variance, exactly.largest) == (0, 0, exactly.return_bound)
    assert exactly.dual_bias == pytest.approx(CMDP.value_bound * 0.7**13)
    tau, span = mixing(CMDP)
    rows = CMDP.transition.reshape(-1, 3)
    assert tau == max(np.abs(x - y).sum() / 2 for x in rows for y in rows)
    assert span <= CMDP.value_bound


def test_first_length_is_where_the_bound_crosses_the_level():
    assert theorem_1.first_length(lambda t: t**-0.5, 0.01) == pytest.approx(1e4, rel=0.02)
    assert theorem_1.first_length(lambda t: 0.5, 0.6) == 1
    assert theorem_1.first_length(lambda t: 0.5, 0.4) == math.inf


def test_best_steps_are_no_worse_than_the_rate_s(estimates):
    statement = partial(theorem_1.theorem_1, estimates, cap=CAP, multiplier=BEST.multiplier)
    for length in (1e3, 1e6):
        steps = theorem_1.rate_steps(estimates, length, CAP)
        _, found = theorem_1.best_steps(statement, length)
        assert found.worse <= statement(*steps, length).worse


def test_growth_is_continuous_and_overflows_to_infinity():
    z = np.array([0.0, 0.01 - 1e-9, 0.01 + 1e-9, 1.0, 1e4])
    found = theorem_1.growth(z)
    assert found[0] == 0.5
    assert found[1] == pytest.approx(found[2], rel=1e-8)
    assert found[3] == pytest.approx(math.e - 2)
    assert found[4] == math.inf


@pytest.mark.parametrize("evaluators", [16, None])
def test_watched_runs_are_the_runs(evaluators):
    setting = replace(SETTING, evaluators=evaluators, primal_step=0.1, dual_step=0.1)
    shown, (gap, violation) = seen.watch(CMDP, BEST, setting, 3)
    options = {"evaluators": evaluators, "primal_step": 0.1, "dual_step": 0.1}
    trace = run(CMDP, "npgpd_hf", seeds=[3], iterations=40, pairs=2, horizon=12, **options)
    last = trace.iloc[-1]
    assert shown.multipliers[0] == 0
    assert shown.owed == pytest.approx(last["multiplier"])
    # The theorems average iterates 0..T-1, the trace's last row 0..T.
    average = (41 * last["mean_optimality_gap"] - last["optimality_gap"]) / 40
    assert gap == pytest.approx(average)
    assert violation >= 0


def test_what_runs_show_bounds_them_and_every_part_is_needed():
    setting = replace(SETTING, iterations=400, estimator="unbiased", primal_step=0.05)
    setting = replace(setting, dual_step=0.1, multiplier_bound=CAP)
    e = make_estimates(CMDP, setting)
    shown, measured = zip(*(seen.watch(CMDP, BEST, setting, s) for s in range(6)), strict=True)
    mean = np.mean([seen.semi_a_priori(e, x) for x in shown], axis=0)
    assert (np.mean(measured, axis=0) <= mean).all()
    x = shown[0]
    steps = (math.log(2) / 400 + x.normalizer) / 0.05 + 0.05 * x.square
    reach = 1 + x.multipliers.mean()
    biases = reach * e.primal_bias / 0.3 + (reach - 1) * e.dual_bias
    assert seen.semi_a_priori(e, x).gap == pytest.approx(steps + biases)
    for single in (seen.single_run(e, x), seen.single_run(e, x, 0.5)):
        assert single.gap > seen.semi_a_priori(e, x).gap
    assert seen.single_run(e, x, 0.5).gap < seen.single_run(e, x, 0.05).gap


def test_algorithm_2t_stays_inside_and_perturbs_to_policies():
    radius = 0.2
    setting = replace(SETTING, perturbation=radius, directions="tangent", primal_step=0.05)
    algorithm = theorem_2.Interior(CMDP, BEST, setting)
    state, random = algorithm.initial_state(), np.random.default_rng(0)
    words = random.integers(0, 2**64, (30, algorithm.words_per_iteration), dtype=np.uint64)
    policies, _, state = algorithm.advance(state, words, random.standard_normal((30, 6)))
    least = theorem_2.margin(radius, 2)
    assert policies.min() >= least - 1e-12
    assert state.theta.min() == pytest.approx(least)  # it got there
    np.testing.assert_allclose(policies.sum(-1), 1)
    assert np.abs(np.array([1, -1]) / math.sqrt(2)).max() * radius <= least + 1e-12


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: theorem_1.theorem_1(e, 0.1, 0.1, 10, 1.0, 1.0), "multiplier_bound: a cap above"),
        (lambda e: theorem_2.make_curvature(CMDP, BEST, e, 5.0), "perturbation: a radius"),
        (
            lambda e: theorem_2.regret(theorem_2.Curvature(e, 0.1, 1.0), 9.0, 0.1, 9, 1.0, 0.1),
            "primal_step: at most",
        ),
        (
            lambda e: make_estimates(replace(CMDP, threshold=0.99), replace(SETTING, horizon=1)),
            "threshold: 0 <= b",
        ),
        (
            lambda e: lengths.lengths(CMDP, NO_SLACK, SETTING, [4], [1], [9], 1, range(2)),
            "slack: xi > 0",
        ),
        (
            lambda e: theorem_2.Interior(CMDP, BEST, replace(SETTING, perturbation=0.1)),
            "directions, parameterization: tangent",
        ),
    ],
)  # fmt: skip
def test_outside_the_assumptions_is_said(estimates, call, message):
    with pytest.raises(OutsideAssumptions, match=message):
        call(estimates)


def test_lengths_compare_printed_and_corrected_bounds():
    table, first = lengths.lengths(CMDP, BEST, LONG, [16, None], [1], [100, 10**6], 100, range(2))
    printed = table[table["statement"] == "printed"]
    assert set(printed["estimator"]) == {"plug-in"}
    constants = make_constants(CMDP, BEST, replace(LONG, pairs=1, iterations=100))
    row = printed[printed["evaluators"].eq(16) & printed["iterations"].eq(100)].iloc[0]
    assert row["gap"] == pytest.approx(bounds.theorem_1_gap(constants))
    assert table.loc[table["iterations"] == 100, "measured_gap"].notna().all()
    assert table.loc[table["iterations"] == 10**6, "measured_gap"].isna().all()
    measured = table.dropna(subset="measured_gap")
    assert (measured["measured_gap"] <= measured["gap"]).all()
    assert first.loc[first["iterations"] == math.inf, "reason"].str.len().gt(0).all()
    known = first[first["evaluators"].isna() & first["statement"].ne("printed")]
    assert np.isfinite(known.loc[known["level"] == "largest", "iterations"]).all()
    assert max(lengths.largest_values(CMDP, BEST)) <= CMDP.value_bound


def test_votes_that_cannot_be_read_without_bias_leave_an_empty_cell_with_the_reason():
    wide = random_cmdp(states=2, actions=2, scale="unit", instance=1, threshold=3.0)
    plan = [{"pairs": 1, "iterations": [5]}]
    table = seen.over_lengths(wide, solve(wide), Setting(None, 1, horizon=30), [4], plan, range(2))
    empty = table[table["iterations"].isna()]
    assert list(empty["estimator"]) == ["unbiased"]
    assert empty["reason"].str.startswith("estimator: plug-in expected").all()
