"""Corrected theorems: formulas written again, limits, refusals, and every step of the proofs."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import random_cmdp, run, solve
from pgpd_hf.core.links import LINKS
from replication.proofs import check_steps
from replication.proofs.ledger import Ledger
from replication.theory import bounds, corrections, lengths, seen, theorem_1, theorem_2
from replication.theory.constants import OutsideAssumptions, make_constants
from replication.theory.estimates import make_estimates, mixing
from replication.theory.exact import feedback_error
from replication.theory.setting import Setting
from replication.theory.table import check_all

CMDP = random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.55)  # binds
BEST = solve(CMDP)
SETTING = Setting(evaluators=16, iterations=40, rounds=2, horizon=12)
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
    assert len(controls) >= 8
    assert table.set_index("step").loc["3.13", "cases"] == 50
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
    for left, right in (([np.nan, 0.5], 1.0), ([5.0, np.nan], 1.0), (0.5, np.nan)):
        for kind in ("step", "control"):
            unknown = Ledger()
            unknown.declare("exact", {"it": ""}, kind)
            unknown.add("it", left, right)
            unknown.add("it", 2.0 if kind == "control" else 0.5, 1.0)
            assert not unknown.table()["holds"].any()
    with pytest.raises(KeyError, match="step other"):
        ledger.add("other", 0, 1)


@pytest.mark.parametrize(("n", "eta_2", "length"), [(2, 0.02, 300.0), (1e4, 1e-4, 1e5)])
def test_theorem_1_has_all_its_terms(estimates, n, eta_2, length):
    """With few rounds the first way to bound the regret is the better one, with many the second."""
    e, eta_1, g = replace(estimates, rounds=n), 0.01, CMDP.discount
    bias = (g * e.mixing) ** 13 * e.span + 2 * e.bias
    v = (g * min(e.return_bound / 2, e.span / 2 / math.sqrt(1 - g * g)) + e.bias) ** 2 + e.variance
    w = (e.span + 2 * e.bias) ** 2 / 4 + v / n
    z = 2 * eta_1 / (1 - g) * (1 + CAP) * e.largest
    phi = (math.exp(z) - 1 - z) / z**2
    curve = min(e.largest**2 / 2, phi * w) / (1 - g) ** 2
    first = math.log(2) / eta_1 / length + eta_1 * (1 + CAP) ** 2 * curve
    omega = (bias + 2 * math.sqrt(2 * e.largest**2 * (math.log(12) + 1) / n)) ** 2
    drift = e.value_bound / (1 - g) * (1 / length + eta_2 * math.sqrt(e.excess_square))
    second = math.log(2) / eta_1 / length + drift
    second += eta_1 * (1 + CAP) ** 2 * omega / 8 / (1 - g) ** 3
    assert (first < second) == (n == 2)
    gap = min(first, second) + (1 + CAP) * bias / (1 - g) + eta_2 * e.excess_square / 2
    gap += CAP * (e.value_bound * g**13 + e.excess_bias)
    violation = gap + CAP**2 / (2 * eta_2 * length)
    violation += CAP / 2 * math.sqrt(e.excess_round_variance / (n * length))
    found = theorem_1.theorem_1(e, eta_1, eta_2, length, CAP, BEST.multiplier)
    assert found.gap == pytest.approx(gap)
    assert found.violation == pytest.approx(violation / (CAP - BEST.multiplier))


def test_theorem_1_prime_solves_its_quadratic_and_minimizes_over_l(estimates):
    e, steps, star = replace(estimates, bias=0.0), (1e-4, 1e-3), 0.4
    short = 1e4  # with which both roots are finite; a far cap does not cut them off
    for way in theorem_1.primal_regrets(e, *steps, short, CAP):
        w = theorem_1.multiplier_distance(e, way, *steps, short, 1e9, star)
        constant, curve = way
        inner = steps[0] * curve * (1 + star + w) ** 2
        inner += (1 + star + w) * e.primal_bias / (1 - e.discount) + w * e.dual_bias
        right = star**2 + 2 * steps[1] * (constant + short * inner)
        right += steps[1] ** 2 * e.excess_square * short
        assert np.isfinite(w)
        assert w**2 == pytest.approx(right)
        near = theorem_1.multiplier_distance(e, way, *steps, short, 1.1 * star, star)
        assert near == star < w  # multipliers may be zero
        found = theorem_1._from_distance(e, way, *steps, short, 1e9, star)
        gap = constant / short + inner + steps[1] * e.excess_square / 2 + star * e.dual_bias
        assert found.gap == pytest.approx(gap)
        to = star + np.geomspace(1e-3, 1e3, 100001)
        slope = e.dual_bias + math.sqrt(e.excess_round_variance / (2 * short)) / 2
        total = gap + (to - star) * e.dual_bias + to**2 / (2 * steps[1] * short)
        total += to * (slope - e.dual_bias)
        assert found.violation == pytest.approx((total / (to - star)).min())


def test_theorem_1_prime_is_infinite_or_a_number_where_nothing_is_biased(estimates):
    exactly = replace(estimates, mixing=0.0, bias=0.0)
    assert exactly.primal_bias == 0
    steps = np.array([1e-4, 1e3])  # the second leaves the theorem's assumptions
    found = theorem_1.theorem_1_prime(exactly, steps, steps, 1e3, CAP, BEST.multiplier)
    for bound in found:
        assert np.isfinite(bound[0])
        assert bound[1] == math.inf
    statement = partial(theorem_1.theorem_1_prime, exactly, cap=CAP, multiplier=BEST.multiplier)
    assert np.isfinite(theorem_1.best_steps(statement, 1e4)[1].worse)


def test_an_upper_bound_of_the_multiplier_may_stand_in_its_place(estimates):
    e, steps, length = replace(estimates, bias=0.0), (1e-3, 1e-3), 1e4
    uppers = np.linspace(BEST.multiplier, 0.99 * CAP, 12)
    pairs = [theorem_1.theorem_1_prime(e, *steps, length, CAP, upper) for upper in uppers]
    for side in zip(*pairs, strict=True):
        assert (np.diff(side) >= -1e-12).all()


def test_bounds_fall_with_what_is_known_and_rise_with_what_is_not(estimates):
    at = partial(theorem_1.theorem_1, primal_step=0.01, dual_step=0.01, iterations=1e4, cap=CAP)
    known = make_estimates(CMDP, SETTING, known=True)
    assert known.span < estimates.span == CMDP.value_bound
    assert known.deviation == pytest.approx(known.span / math.sqrt(1 - 0.7**2) / 2)
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
    ranges = np.ptp(CMDP.reward), np.ptp(CMDP.utility)
    for swapped in (CMDP, replace(CMDP, reward=CMDP.utility, utility=CMDP.reward)):
        assert mixing(swapped)[1] == pytest.approx(max(ranges) / (1 - 0.7 * tau))


def test_first_length_is_where_the_bound_crosses_the_level():
    assert 1e4 <= theorem_1.first_length(lambda t: t**-0.5, 0.01) <= 1.012e4  # from above
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
    trace = run(CMDP, "npgpd_hf", seeds=[3], iterations=40, rounds=2, horizon=12, **options)
    last = trace.iloc[-1]
    assert shown.multipliers[0] == 0
    assert shown.owed == pytest.approx(last["multiplier"])
    # The theorems average iterates 0..T-1, the trace's last row 0..T.
    average = (41 * last["mean_optimality_gap"] - last["optimality_gap"]) / 40
    assert gap == pytest.approx(average)
    assert violation >= 0


def test_high_probability_has_all_its_terms(estimates):
    e, eta_1, eta_2, length, x, delta = estimates, 0.01, 0.02, 300.0, estimates.largest, 0.05
    gap = math.log(2) / (eta_1 * length) + eta_1 * ((1 + CAP) * x) ** 2 / (2 * 0.3**2)
    gap += (1 + CAP) * e.primal_bias / 0.3 + eta_2 * x**2 / 2 + CAP * e.dual_bias
    gap += (4 * (1 + CAP) * x / 0.3 + 2 * CAP * x) * math.sqrt(math.log(3 / delta) / (4 * length))
    violation = (gap + CAP**2 / (2 * eta_2 * length)) / (CAP - BEST.multiplier)
    found = theorem_1.high_probability(e, eta_1, eta_2, length, CAP, BEST.multiplier, delta)
    assert found == pytest.approx((gap, violation))


def test_theorem_2_has_all_its_terms(estimates):
    """Three states and two actions: d = 3; N = 2, H = 12; tau = 1, so that J = B."""
    e, mu, eta_1, eta_2, length, g = estimates, 0.05, 1e-4, 0.02, 1e6, CMDP.discount
    c = theorem_2.make_curvature(CMDP, BEST, e, mu)
    value, delta = e.value_bound, mu * math.sqrt(0.5)
    smooth, steep = 2 * g * value / (1 - g) ** 2, math.sqrt(2) * value / (2 * (1 - g))
    inner = (1 - 2 * delta) * BEST.policy + delta
    moves = (CMDP.transition * inner[..., None]).sum(1)
    occupancy = np.linalg.solve((np.eye(3) - g * moves).T, CMDP.initial)
    distance = 2 * sum(q**2 / r**2 for q, r in zip(occupancy, CMDP.initial, strict=True))
    tail = e.truncation * min(1, mu * math.sqrt(2) / 2 * (14 + g / (1 - g)))
    zeta = tail + e.bias * min(1, 13 * mu * math.sqrt(2))
    bias = (1 + CAP) * (smooth * mu + math.sqrt(3) * zeta / mu)
    answers = (2 * e.deviation + e.bias) ** 2 + e.variance
    square = 4 * 3 * steep**2 + (3 * smooth * mu) ** 2 + 2 * (3 * zeta / mu) ** 2
    square = (1 + CAP) ** 2 * (square + (3 / mu) ** 2 * answers / 2)
    ell, root = (1 + CAP) * smooth, math.sqrt(e.excess_square)
    assert eta_1 * ell <= 1

    def regret(alpha):
        total = 5 / (4 * alpha) * ((2 + CAP) * value / length + eta_2 * root * value)
        total += 7 / (4 * alpha) * (eta_1 * bias**2 + ell * eta_1**2 * square)
        return total + 3 * alpha * distance / eta_1 + (1 + CAP) * delta * value / (1 - g)

    given = eta_1, eta_2, length, CAP
    for alpha in (1e-6, eta_1 * ell / 2):
        assert theorem_2.regret(c, *given, alpha) == pytest.approx(regret(alpha))
    best = min(map(regret, np.geomspace(1e-10, eta_1 * ell / 2, 20001)))
    gap = best + eta_2 * e.excess_square / 2 + CAP * e.dual_bias
    violation = gap + CAP**2 / (2 * eta_2 * length)
    violation += CAP / 2 * math.sqrt(e.excess_round_variance / (2 * length))
    violation /= CAP - BEST.multiplier
    found = theorem_2.theorem_2(c, *given, BEST.multiplier)
    assert found == pytest.approx((gap, violation), rel=5e-3)  # alpha is chosen on a grid
    assert found.gap >= gap * (1 - 1e-9)


@pytest.mark.parametrize(
    ("bound", "people", "interior"),
    [
        (1, 1, False),
        (1, 16, False),
        (1, 256, False),
        (5, 16, True),
        (5, 34, False),
        (10, 256, True),
    ],
)
def test_clipped_votes_are_most_biased_at_the_ends_if_people_are_many(bound, people, interior):
    """Step 3.11; 10 is nearly G(H) of the unit scale."""
    differences, link = np.linspace(-bound, bound, 401), LINKS["logistic"]
    bias = np.abs(feedback_error(differences, people, link, bound).bias)
    assert (bias.max() > 2 * bias[-1]) == interior
    assert interior or bias.max() == pytest.approx(bias[-1])


@pytest.mark.parametrize(("share", "people"), [(0.2, 16), (0.8, 16), (0.8, 256)])
def test_constraint_s_estimates_are_bounded_on_either_side_of_the_threshold(share, people):
    """From -b to G - b, whichever is further from zero; 256 people are most biased in between."""
    bound, setting = CMDP.return_bound(SETTING.horizon), replace(SETTING, evaluators=people)
    e = make_estimates(replace(CMDP, threshold=share * bound), setting)
    asked = np.linspace(-share * bound, (1 - share) * bound, 4001)
    bias = np.abs(feedback_error(asked, people, LINKS["logistic"], bound).bias).max()
    assert e.excess_bias == pytest.approx(bias, rel=1e-3)
    mean = max(share, 1 - share) * bound + e.excess_bias
    square = min(e.largest**2, mean**2 + e.excess_round_variance / SETTING.rounds)
    assert e.excess_square == pytest.approx(square)


def test_room_for_perturbations_costs_every_other_action_its_share():
    """Of A actions, A - 1 lose up to delta each; here A = 4, and nothing moves in a long run."""
    cmdp = random_cmdp(states=3, actions=4, instance=1, discount=0.7, threshold=0.5)
    e = make_estimates(cmdp, SETTING)
    c = theorem_2.make_curvature(cmdp, solve(cmdp), e, 0.05)
    far = theorem_2.regret(c, 1e-9, 1e-300, 1e300, CAP, 1e-9)
    delta = 0.05 * math.sqrt(3 / 4)
    other = 1.75 * (1e-9 * ((1 + CAP) * c.bias) ** 2)
    other += 1.75 * (1 + CAP) * c.smoothness * 1e-18 * (1 + CAP) ** 2 * c.square
    other = other / 1e-9 + 3 * c.distance
    assert far - other == pytest.approx((1 + CAP) * 3 * delta * e.span / 0.3, rel=1e-6)


def test_projection_leaves_every_action_its_least_probability():
    rows = theorem_2.project_inside(np.array([[0.5, 0.7], [2.0, -1.0]]), least=0.1)
    assert rows == pytest.approx(np.array([[0.4, 0.6], [0.9, 0.1]]))


def test_floor_of_theorem_2_grows_with_the_horizon(estimates):
    """Step 4.12: the floor of people is O(H / sqrt(M)), not O(1 / sqrt(M))."""
    floors = []
    for horizon in (20, 200):
        e = replace(estimates, horizon=horizon, bias=1e-5, excess_bias=0.0)
        e = replace(e, return_bound=e.value_bound)  # so that nothing is truncated
        radius, *steps = theorem_2.rate_setting(e, 1e60, CAP)
        constants = theorem_2.make_curvature(CMDP, BEST, e, radius)
        found = theorem_2.theorem_2(constants, *steps, 1e60, CAP, BEST.multiplier)
        floors.append(found.gap)
    assert floors[1] / floors[0] == pytest.approx(201 / 21, rel=1e-2)


def test_bounds_from_what_runs_show_have_all_their_terms():
    setting = replace(SETTING, iterations=400, estimator="unbiased", primal_step=0.05)
    setting = replace(setting, dual_step=0.1, multiplier_bound=CAP)
    e = make_estimates(CMDP, setting)
    shown, measured = zip(*(seen.watch(CMDP, BEST, setting, s) for s in range(6)), strict=True)
    mean = np.mean([seen.semi_a_priori(e, x) for x in shown], axis=0)
    assert (np.mean(measured, axis=0) <= mean).all()
    x = shown[0]
    gap = (math.log(2) / 400 + x.normalizer) / 0.05 + 0.05 * x.square
    reach = 1 + x.multipliers.mean()
    gap += reach * e.primal_bias / 0.3 + (reach - 1) * e.dual_bias
    owed = x.owed / (0.1 * 400) + e.dual_bias
    noise = math.sqrt(e.excess_round_variance / (2 * 400)) / 2
    assert seen.semi_a_priori(e, x) == pytest.approx((gap, owed + noise))

    # Step 3.13, with the x and y that would be best if the multiplier were one throughout.
    v, v_0, length = math.sqrt(e.round_variance), math.sqrt(e.excess_round_variance), math.log(40)

    def bracket(guess, ranges, deviations):
        theta = math.sqrt(2 * 2 * length / (400 * guess**2))
        total = length / theta
        for width, deviation in zip(ranges, deviations, strict=True):
            z = theta * width / 2
            total += theta / 2 * (math.exp(z) - 1 - z) / z**2 * deviation**2
        return total / 400

    ranges = [4 * (1 + lam) * e.largest / 0.3 + 2 * lam * e.largest for lam in x.multipliers]
    deviations = [2 * (1 + lam) * v / 0.3 + lam * v_0 for lam in x.multipliers]
    gap += bracket(4 * v / 0.3 + v_0, ranges, deviations)
    owed += bracket(v_0, [2 * e.largest] * 400, [v_0] * 400)
    assert seen.single_run(e, x, 0.05) == pytest.approx((gap, owed))


def test_the_bound_of_one_run_has_its_level_in_a_thousand_runs():
    """At most 5 % of runs exceed it, but for an error of 1e-6; so do few coins, but not none."""
    most = stats.binom.ppf(1 - 1e-6, 1000, 0.05)
    setting = replace(SETTING, iterations=30, estimator="unbiased", primal_step=0.2)
    setting = replace(setting, dual_step=0.4, multiplier_bound=CAP)
    e, exceeds = make_estimates(CMDP, setting), 0
    for seed in range(1000):
        shown, measured = seen.watch(CMDP, BEST, setting, seed, purpose="level")
        exceeds += (np.array(measured) > seen.single_run(e, shown)).any()
    assert exceeds <= most
    # What makes the level, alone: means of 400 coins, a martingale for which it is nearly sharp.
    coins = np.random.default_rng(3).choice((-1.0, 1.0), (1000, 400)).mean(axis=1)
    alike = np.ones(400)
    assert 0 < (coins > seen._freedman(alike, 2 * alike, 1.0, 1, 400, 0.05)).sum() <= most


def test_bounds_of_single_runs_are_told_by_the_largest_and_by_how_often_they_fail(monkeypatch):
    """Of four runs one is above its own bound of the gap, and two of the violation."""
    measured = [(0.5, 0.1), (0.2, 0.3), (0.1, 0.3), (0.0, 0.0)]
    limits = dict(enumerate([(0.4, 0.2), (0.3, 0.2), (0.3, 0.2), (0.9, 0.7)]))
    monkeypatch.setattr(seen, "_pilot", lambda *_: 1.0)
    monkeypatch.setattr(seen, "watch", lambda cmdp, best, at, seed: (seed, measured[seed]))
    monkeypatch.setattr(seen, "semi_a_priori", lambda e, seed: (1.0, 1.0))
    monkeypatch.setattr(seen, "single_run", lambda e, seed: limits[seed])
    plan = [{"rounds": 1, "iterations": [9]}]
    table = seen.over_lengths(CMDP, BEST, SETTING, [16], plan, range(4)).iloc[:2]
    assert table["run_bound"].tolist() == [0.9, 0.7]
    assert table["run_exceeds"].tolist() == [0.25, 0.5]


@pytest.mark.parametrize("violations", [[-0.1, 0.2, 0.1], [-0.3, -0.1, -0.2]])
def test_the_bound_of_one_run_is_held_against_the_worst_run(monkeypatch, violations):
    """The worst by gap and the worst by violation may be two runs."""
    averages = pd.DataFrame({"gap": [0.3, -0.2, 0.1], "violation": violations})
    monkeypatch.setattr(corrections, "run_averages", lambda *_: averages)
    table = check_all(CMDP, SETTING, seeds=range(3), items=[21])
    assert table["measured"].tolist() == [0.3, max(0, *violations)]
    it = lengths.bounds_at(CMDP, BEST, SETTING, ["one run (probability 0.95)"], [16], [2], [40])
    assert table["bound"].tolist() == pytest.approx([it.gap[0], it.violation[0]])


@pytest.mark.parametrize(("mean", "width", "refuted"), [(1.0, 2.0, False), (2.0, 1.0, True)])
def test_bound_is_refuted_only_by_a_whole_interval_above_zero(monkeypatch, mean, width, refuted):
    monkeypatch.setattr(seen, "mean_error", lambda samples: (mean, width))
    plan = [{"rounds": 1, "iterations": [5]}]
    table = seen.over_lengths(CMDP, BEST, SETTING, [16], plan, range(2))
    assert set(table["refuted"].dropna()) == {refuted}


def test_algorithm_2t_stays_inside_and_perturbs_to_policies():
    radius = 0.2
    setting = replace(SETTING, perturbation=radius, directions="tangent", primal_step=0.05)
    algorithm = setting.run(theorem_2.Interior, CMDP, BEST)
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
            lambda e: theorem_2.rate_setting(replace(e, actions=1), 10, 1.0),
            r"actions: \|A\| >= 2",
        ),
        (
            lambda e: make_constants(CMDP, BEST, LONG).gradient_bias_at(0.0, 6),
            "perturbation: mu > 0",
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
            lambda e: make_estimates(CMDP, replace(SETTING, random_answers=0.1)),
            "true_link, random_answers, flipped_answers, .*: people expected who vote",
        ),
        (
            lambda e: make_estimates(CMDP, replace(SETTING, normalize="linear")),
            "normalize: none expected",
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
    constants = make_constants(CMDP, BEST, replace(LONG, rounds=1, iterations=100))
    row = printed[printed["evaluators"].eq(16) & printed["iterations"].eq(100)].iloc[0]
    assert row["gap"] == pytest.approx(bounds.theorem_1_gap(constants))
    assert table.loc[table["iterations"] == 100, "measured_gap"].notna().all()
    assert table.loc[table["iterations"] == 10**6, "measured_gap"].isna().all()
    measured = table.dropna(subset="measured_gap")
    assert (measured["measured_gap"] <= measured["gap"]).all()
    assert first.loc[first["iterations"] == math.inf, "reason"].str.len().gt(0).all()
    only = {"one run (probability 0.95)", "printed Theorem 2", "Theorem 2", "Theorem D"}
    assert set(first["statement"]) - set(table["statement"]) == only
    both = first[first["statement"].isin({"printed Theorem 2", "Theorem 2"})]
    assert (both["iterations"] == math.inf).all()
    known = first[first["evaluators"].isna() & first["statement"].str.startswith("Theorem 1")]
    assert np.isfinite(known.loc[known["level"] == "largest", "iterations"]).all()
    assert max(lengths.largest_values(CMDP, BEST)) <= CMDP.value_bound


def test_runs_beside_a_bound_have_its_cap_and_its_steps(monkeypatch):
    ran = []

    def measure(run, optimum, seeds):
        ran.append((run.multiplier_bound, run.primal_step, run.dual_step))
        return {}

    monkeypatch.setattr(lengths, "_measure", measure)
    table, _ = lengths.lengths(CMDP, BEST, LONG, [16], [1], [9], 9, range(2))
    printed = make_constants(CMDP, BEST, replace(LONG, rounds=1)).multiplier_bound
    assert printed > 1.1 * CAP
    caps = [printed if name == "printed" else CAP for name in table["statement"]]
    steps = table[["primal_step", "dual_step"]].itertuples(index=False)
    assert ran == [(cap, *pair) for cap, pair in zip(caps, steps, strict=True)]


def test_what_is_measured_is_limited_by_n_times_t():
    table, first = lengths.lengths(CMDP, BEST, LONG, [16], [1, 4], [25, 100], 100, range(2))
    for row in table.itertuples():
        assert math.isnan(row.measured_gap) == (row.rounds * row.iterations > 100)
    # Both bounds are informative only below the smaller one of the largest gap and violation.
    most = first.loc[first["level"] == "largest", "value"]
    assert set(most) == {min(lengths.largest_values(CMDP, BEST))}


@pytest.mark.parametrize("actions", [2, 3, 4, 7, 9])
def test_theorem_2_has_a_bound_for_every_number_of_actions(actions):
    cmdp = random_cmdp(states=2, actions=actions, instance=1, discount=0.5, threshold=0.1)
    best, lists = solve(cmdp), ([None], [1], [100])
    table = lengths.bounds_at(cmdp, best, LONG, ["Theorem 2"], *lists)
    assert table["reason"].eq("").all(), table["reason"].tolist()
    assert np.isfinite(table["gap"]).all()


def test_threshold_beyond_any_return_leaves_cells_with_the_reason_alone():
    """Long delays make such environments: b is a value, and the answers are about H + 1 steps."""
    beyond = replace(CMDP, threshold=0.9 * CMDP.return_bound(80)), replace(LONG, horizon=0)
    table, first = lengths.lengths(beyond[0], BEST, beyond[1], [16], [1], [100], 100, range(2))
    plan = [{"rounds": 1, "iterations": [5]}]
    shown = seen.over_lengths(beyond[0], BEST, beyond[1], [16], plan, range(2))
    for cells in (table, shown):
        assert cells["iterations"].isna().all()
        assert cells["reason"].str.startswith("threshold: 0 <= b <= G(H)").all()
    assert first.empty
    assert list(first)[:4] == list(table)[:4] == ["statement", "estimator", "evaluators", "rounds"]


@pytest.mark.parametrize("actions", [1, 2])
def test_actions_that_do_not_differ_leave_cells_with_the_reason(actions):
    even, signal = np.full((2, actions, 2), 0.5), np.full((2, actions), 0.2)
    flat = type(CMDP)(even, signal, signal, [0.5, 0.5], 0.5, 0.1, 0.5)
    plan, setting = (
        [{"rounds": 1, "iterations": [5]}],
        Setting(evaluators=None, iterations=1, horizon=20),
    )
    table = seen.over_lengths(flat, solve(flat), setting, [None], plan, range(2))
    assert table["iterations"].isna().all()
    assert table["reason"].str.startswith("actions: estimates that differ").all()


def test_where_nothing_varies_the_bounds_are_their_limits():
    """Signals that are the same everywhere, exact answers, and mixing that is known: no spread."""
    same = np.full_like(CMDP.reward, 0.3)
    cmdp = replace(CMDP, reward=same / 2, utility=same, threshold=0.5)
    setting = replace(SETTING, evaluators=None)
    estimates = make_estimates(cmdp, setting, known=True)
    assert estimates.spread == 0
    found = []
    for e in (estimates, replace(estimates, span=1e-9)):
        steps = theorem_1.rate_steps(e, 10**6, CAP)
        statements = theorem_1.theorem_1, theorem_1.theorem_1_prime
        found.append([*steps, *(it(e, *steps, 10**6, CAP, 0.0) for it in statements)])
    for limit, near in zip(*found, strict=True):
        np.testing.assert_allclose(limit, near, rtol=1e-6)
    table, _ = lengths.lengths(cmdp, solve(cmdp), setting, [None], [1], [1000], 0, [0, 1])
    known = table[table["statement"] == "Theorem 1', mixing known"]
    assert np.isfinite(known[["primal_step", "dual_step", "gap", "violation"]]).all(axis=None)


def test_votes_that_cannot_be_read_without_bias_leave_an_empty_cell_with_the_reason():
    wide = random_cmdp(states=2, actions=2, scale="unit", instance=1, threshold=3.0)
    plan = [{"rounds": 1, "iterations": [5]}]
    table = seen.over_lengths(
        wide, solve(wide), Setting(evaluators=None, iterations=1, horizon=30), [4], plan, range(2)
    )
    empty = table[table["iterations"].isna()]
    assert list(empty["estimator"]) == ["unbiased"]
    assert empty["reason"].str.startswith("estimator: plug-in expected").all()
