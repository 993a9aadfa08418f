"""The table of bounds: complete, able to say no, and silent outside the assumptions."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import CMDP, random_cmdp, run, solve
from pgpd_hf.core import optima
from replication.theory import bounds, convergence, exact, problems, smoothing
from replication.theory import table as bounds_table
from replication.theory.constants import Constants, make_constants
from replication.theory.problems import Problem, Result
from replication.theory.setting import Setting
from replication.theory.table import check_all

PAPER = Setting(evaluators=64, iterations=60, rounds=1, horizon=80)
STUDIES = {
    "paper": (random_cmdp(instance=1), PAPER),
    "unit": (random_cmdp(instance=3, scale="unit", threshold=5.5), replace(PAPER, evaluators=16)),
    "rounds": (
        random_cmdp(states=4, actions=3, instance=5, discount=0.8, threshold=0.5),
        replace(PAPER, evaluators=256, rounds=10, horizon=30),
    ),
}


@pytest.fixture(scope="module")
def small():
    return random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.5)


@pytest.fixture(scope="module")
def setting():
    return Setting(evaluators=16, iterations=30, rounds=2, horizon=12)


def problem_of(cmdp, setting):
    optimum = solve(cmdp)
    return Problem(cmdp, optimum, setting, [0, 1, 2], make_constants(cmdp, optimum, setting))


@pytest.mark.parametrize("name", STUDIES)
def test_table_has_every_item_and_every_bound_holds(name):
    cmdp, setting = STUDIES[name]
    table = check_all(cmdp, setting, seeds=range(3))
    assert list(table.columns) == list(bounds_table.COLUMNS)
    assert list(table["item"].unique()) == list(range(1, 26))
    assert len(table) == len(bounds.STATEMENTS)
    # Three runs may not decide about what runs show (item 22); actions change transitions (24).
    assert {24} <= set(table.loc[table["holds"].isna(), "item"]) <= {22, 24}
    assert table["holds"].fillna(True).all(), table.to_string()
    table = table[table["item"] != 24]
    assert np.isfinite(table[["measured", "bound"]]).all(axis=None)
    np.testing.assert_allclose(table["ratio"], table["measured"] / table["bound"])
    assert (table["evaluators"] == setting.evaluators).all()
    assert (table["horizon"] == setting.horizon).all()


def test_same_arguments_give_the_same_table(small, setting):
    first, second = (check_all(small, setting, seeds=range(2)) for _ in range(2))
    pd.testing.assert_frame_equal(first, second)


@pytest.mark.parametrize("name", STUDIES)
def test_bound_beyond_the_range_of_its_left_side_is_called_vacuous(name):
    cmdp, setting = STUDIES[name]
    table = check_all(cmdp, setting, seeds=range(2), items=[1, 2, 3, 7, 9, 14, 15])
    largest, answer = cmdp.value_bound, cmdp.return_bound(setting.horizon)
    excess = max(cmdp.threshold, largest - cmdp.threshold)
    multiplier = solve(cmdp).multiplier
    ranges = {
        "1a": largest,
        "1b": largest,
        "1c": largest,
        "2": largest**2,
        "3a": 2 * answer,
        "3b": 4 * answer**2,
        "3c": answer + max(cmdp.threshold, answer - cmdp.threshold),
        "7": answer + excess,
        "9": answer**2,
        "14": answer + largest,
        "15": (1 + multiplier) * (answer + largest),
    }
    ranges["3d"] = ranges["3c"] ** 2
    rows = table.set_index(table["item"].astype(str) + table["part"].fillna(""))
    assert set(rows.index) == set(ranges)
    for key, most in ranges.items():
        assert rows.loc[key, "measured"] <= most
        vacuous = rows.loc[key, "reason"].startswith("vacuous")
        assert vacuous == (rows.loc[key, "bound"] >= most), key
    assert not rows.loc[["1a", "1b", "1c"], "reason"].str.startswith("vacuous").any()
    assert rows.loc["15", "reason"].startswith("vacuous")


def test_corollary_says_from_which_length_on_it_bounds_anything():
    cmdp, setting = STUDIES["paper"]
    row = check_all(cmdp, setting, seeds=range(2), items=[18]).iloc[0]
    length = float(row["reason"].rsplit("T = ", 1)[1].removesuffix(" on"))
    assert row["bound"] / math.sqrt(length) == pytest.approx(cmdp.value_bound, rel=0.2)
    assert "the largest value" in row["reason"]  # the largest gap is smaller
    assert length > 1e8


def test_theorems_say_that_they_are_vacuous_at_the_paper_s_setting():
    cmdp, setting = STUDIES["paper"]
    table = check_all(cmdp, setting, seeds=range(2), items=[12, 17])
    assert table["reason"].str.startswith("vacuous").all()
    assert (table["bound"] > 100 * cmdp.value_bound).all()


# How to shrink the right side of each item until it is below what was measured.
SHRUNK_CONSTANTS = {
    1: "truncation",
    2: "sampling_square",
    3: "feedback",
    4: "smoothness",
    7: "excess_bias",
    9: "excess_square",
    14: "advantage_bias",
}
SHRUNK_FUNCTIONS = {
    10: "dual_regret",
    11: "zeroth_order_lagrangian",
    12: "theorem_2_gap",
    15: "one_step",
    16: "natural_lagrangian",
    17: "theorem_1_gap",
    18: "corollary_constant",
}


@pytest.mark.parametrize("item", SHRUNK_CONSTANTS)
def test_item_fails_when_its_constant_is_too_small(small, setting, monkeypatch, item):
    original = check_all(small, setting, seeds=range(2), items=[item])
    assert original["holds"].all()
    factor = 0.9 * original["ratio"].min()
    name = SHRUNK_CONSTANTS[item]
    full = getattr(Constants, name).fget
    monkeypatch.setattr(Constants, name, property(lambda self: factor * full(self)))
    table = check_all(small, setting, seeds=range(2), items=[item])
    assert not table["holds"].iloc[0]


@pytest.mark.parametrize("item", SHRUNK_FUNCTIONS)
def test_item_fails_when_its_bound_is_too_small(small, setting, monkeypatch, item):
    original = check_all(small, setting, seeds=range(4), items=[item])
    assert original["holds"].all()
    row = original.iloc[0]
    too_small = row["low"] - 0.1 * abs(row["low"]) - 1e-6
    monkeypatch.setattr(bounds, SHRUNK_FUNCTIONS[item], lambda *_, **__: too_small)
    table = check_all(small, setting, seeds=range(4), items=[item])
    assert not table["holds"].iloc[0]


@pytest.mark.parametrize(("part", "row"), [("b", 1), ("c", 2), ("d", 3)])
def test_smoothing_properties_fail_for_a_curvature_that_is_too_small(
    small, setting, monkeypatch, part, row
):
    # Without curvature the value would be linear: only the linear part of property 4 is left.
    monkeypatch.setattr(Constants, "smoothness", property(lambda self: 0.0))
    table = check_all(small, setting, seeds=range(2), items=[5])
    assert table["part"].iloc[row] == part
    linear_enough = part == "d"
    assert bool(table["holds"].iloc[row]) is linear_enough


@pytest.mark.parametrize("name", STUDIES)
@pytest.mark.parametrize("factor", ["|S||A|", 1.01])
def test_smoothing_identity_needs_the_tangent_space_s_dimension(monkeypatch, name, factor):
    """With d = |S||A| the sphere's estimate is |A|/(|A|-1) times too long (property 1)."""
    cmdp, setting = STUDIES[name]
    kind = smoothing.Sphere

    def with_another_factor(centre, directions, inside, radius, dimension):
        full = cmdp.states * cmdp.actions
        wrong = full if factor == "|S||A|" else factor * dimension
        return kind(centre, directions, inside, radius, wrong)

    monkeypatch.setattr(smoothing, "Sphere", with_another_factor)
    assert not check_all(cmdp, setting, seeds=range(2), items=[5])["holds"].iloc[0]


def test_directions_are_tangent_orthonormal_frames_that_keep_policies_policies(small, setting):
    problem = problem_of(small, replace(setting, perturbation=1.0))
    spheres = smoothing.tangent_spheres(problem, count=10)
    assert len(spheres) == 4
    for sphere in spheres:
        frames, dimension, states, actions = sphere.directions.shape
        assert frames * dimension >= 10
        assert dimension == sphere.dimension == states * (actions - 1)
        np.testing.assert_allclose(sphere.directions.sum(-1), 0, atol=1e-14)
        flat = sphere.directions.reshape(frames, dimension, -1)
        products = flat @ flat.swapaxes(1, 2)
        np.testing.assert_allclose(products, np.broadcast_to(np.eye(dimension), products.shape),
                                   atol=1e-12)  # fmt: skip
        lengths = np.sqrt((sphere.inside**2).sum((2, 3)))
        assert 0 < lengths.min() < lengths.max() <= 1 + 1e-12
        # As far as a policy can be moved in every direction: the worst one empties an entry.
        assert min(policies.min() for policies in sphere.around(sphere.directions)) > 0
        state, action = np.unravel_index(sphere.centre.argmin(), sphere.centre.shape)
        worst = np.full(actions, 1 / actions)
        worst[action] -= 1
        lowest = sphere.centre[state] + sphere.radius * worst / np.linalg.norm(worst)
        assert lowest[action] == pytest.approx(0, abs=1e-12)


def test_directions_are_uniform_on_the_sphere(small, setting):
    """Second moments of every coordinate, and fourth ones, which frames do not fix."""
    sphere = smoothing.tangent_spheres(problem_of(small, setting), count=30000)[0]
    flat = sphere.directions.reshape(len(sphere.directions), sphere.dimension, -1)
    projector = np.eye(flat.shape[-1]) - np.kron(np.eye(small.states), np.full((2, 2), 1 / 2))
    outer = np.einsum("fki,fkj->ij", flat, flat) / flat.shape[0]
    np.testing.assert_allclose(outer, projector, atol=1e-12)
    along = (flat[..., 0] * math.sqrt(2)) ** 4  # a coordinate of the tangent space
    fourth = 3 / (sphere.dimension * (sphere.dimension + 2))
    frames = along.mean(1)
    assert abs(frames.mean() - fourth) < 4 * frames.std() / math.sqrt(len(frames))
    odd = flat[:, 0, 0] * math.sqrt(2)
    assert abs(odd.mean()) < 4 * odd.std() / math.sqrt(len(odd))


def test_violation_lemma_is_tight_at_twice_the_multiplier():
    cmdp, setting = STUDIES["paper"]
    table = check_all(cmdp, setting, seeds=range(2), items=[6])
    assert table["ratio"].iloc[0] == pytest.approx(1, abs=1e-6)


def test_violation_lemma_names_a_worst_case_that_rounding_does_not_choose():
    cmdp, setting = STUDIES["paper"]
    noise = np.random.default_rng(0)
    worst = []
    for _ in range(5):
        rewards = cmdp.reward * (1 + 1e-15 * noise.standard_normal(cmdp.reward.shape))
        table = check_all(replace(cmdp, reward=rewards), setting, seeds=range(2), items=[6])
        worst.append(table["measured"].item())
    assert worst == pytest.approx([worst[0]] * 5, rel=1e-9)


def test_violation_lemma_needs_a_large_enough_factor():
    cmdp, setting = STUDIES["paper"]
    least = 2 * solve(cmdp).multiplier
    allowed, refused = (
        check_all(cmdp, replace(setting, multiplier_bound=x), seeds=range(2), items=[6])
        for x in (1.01 * least, 0.9 * least)
    )
    assert allowed["holds"].all()
    assert refused["holds"].isna().all()
    assert refused["reason"].str.contains("2 lambda").all()


def test_violation_lemma_has_nothing_to_bound_where_every_policy_is_safe(small, setting):
    table = check_all(replace(small, threshold=0.0), setting, seeds=range(2), items=[6])
    assert table["holds"].isna().all()
    assert table["reason"].str.contains("no policy violates").all()


def test_performance_difference_is_an_identity_up_to_rounding(small, setting, monkeypatch):
    table = check_all(small, setting, seeds=range(2), items=[13])
    assert table["holds"].all()
    true = CMDP.advantages

    def wrong(self, policy, signal):
        return 1.001 * true(self, policy, signal)

    monkeypatch.setattr(CMDP, "advantages", wrong)
    assert not check_all(small, setting, seeds=range(2), items=[13])["holds"].any()


def test_gradient_bias_fails_when_people_are_ignored(small, setting, monkeypatch):
    assert check_all(small, setting, seeds=range(2), items=[8])["holds"].all()
    monkeypatch.setattr(Constants, "gradient_bias_at", lambda *_: 1e-3)
    assert not check_all(small, setting, seeds=range(2), items=[8])["holds"].any()


def test_runs_are_those_of_the_engine(small, setting):
    """The averages are over iterates 0..T-1, as in the theorems."""
    algorithm = setting.run("npgpd_hf", small, solve(small))
    averages = problems.run_averages(algorithm, solve(small), [0, 4])
    last = setting.iterations - 1
    trace = run(
        small,
        "npgpd_hf",
        evaluators=setting.evaluators,
        seeds=[0, 4],
        iterations=setting.iterations,
        rounds=setting.rounds,
        horizon=setting.horizon,
        checkpoints=[last],
    )
    np.testing.assert_allclose(averages["gap"], trace["mean_optimality_gap"])
    np.testing.assert_allclose(averages["violation"], trace["mean_constraint_violation"])
    np.testing.assert_allclose(averages["lagrangian"], averages["gap"] - averages["dual"])


@pytest.mark.parametrize(("item", "algorithm"), [(12, "zpgpd_hf"), (17, "npgpd_hf")])
def test_theorems_are_about_the_gap_and_the_positive_part_of_the_violation(
    small, setting, item, algorithm
):
    safest = small.evaluate(optima.maximize(small, small.utility))[1]
    tight = replace(small, threshold=float(safest) - 0.02)
    instance = setting.run(algorithm, tight, solve(tight))
    averages = problems.run_averages(instance, solve(tight), [0, 1, 2])
    table = check_all(tight, setting, seeds=range(3), items=[item]).set_index("part")
    positive = np.maximum(averages["violation"], 0)
    assert positive.mean() > 0
    np.testing.assert_allclose(table.loc["a", "measured"], averages["gap"].mean())
    np.testing.assert_allclose(table.loc["b", "measured"], positive.mean())
    width = 4.302652729911275 * averages["gap"].std() / math.sqrt(3)  # Student's t, two degrees
    np.testing.assert_allclose(table.loc["a", "high"] - table.loc["a", "measured"], width)
    assert table.loc["c", "bound"] > table.loc["b", "bound"]


def test_variance_of_returns_is_divided_by_the_rounds(small, setting):
    longer = replace(setting, horizon=200)
    one, ten = (
        check_all(small, replace(longer, rounds=n), seeds=range(2), items=[2])["measured"].item()
        for n in (1, 10)
    )
    assert one > 1e-4
    assert one == pytest.approx(10 * ten)


def test_one_step_is_judged_by_the_worse_of_two_policies(small, setting, monkeypatch):
    def shortfall(problem, policy, multiplier, count):
        return np.linspace(0, 1, count) + np.ptp(policy)  # zero spread: the uniform policy

    monkeypatch.setattr(convergence, "one_step_shortfall", shortfall)
    row = check_all(small, setting, seeds=range(2), items=[15])
    best = solve(small).policy
    assert row["measured"].item() == pytest.approx(0.5 + 0.9 * np.ptp(best))


def test_gradient_bias_counts_people_s_largest_bias(small, setting):
    # The same radius for both, so that the same directions are averaged.
    near = replace(setting, perturbation=0.1)
    known, asked = (
        check_all(small, replace(near, evaluators=m), seeds=range(2), items=[8])["measured"].item()
        for m in (None, 16)
    )
    problem = problem_of(small, near)
    largest = small.return_bound(setting.horizon)
    grid = np.linspace(-largest, largest, 801)
    bias = np.abs(exact.feedback_error(grid, 16, problem.constants.link, largest).bias).max()
    dimension = small.states * (small.actions - 1)
    assert asked - known == pytest.approx(math.sqrt(dimension) / 0.1 * bias)


@pytest.mark.parametrize(
    ("error", "expected"), [(0.0, True), (0.05, True), (0.2, None), (5.0, None)]
)
def test_interval_around_the_bound_decides_nothing(small, setting, error, expected):
    constants = problem_of(small, setting).constants
    row = bounds_table._row(Result("10", 0.9, 1.0, "runs", error), constants, {})
    assert row["holds"] is (pd.NA if expected is None else expected)
    assert ("interval" in row["reason"]) == (expected is None)
    beyond = bounds_table._row(Result("10", 1.1, 1.0, "runs", 0.05), constants, {})
    assert beyond["holds"] is False


@pytest.mark.parametrize("item", [3, 7, 8, 9, 10, 11, 12, 14, 15, 16, 17])
def test_one_evaluator_is_no_silent_success(small, setting, item):
    table = check_all(small, replace(setting, evaluators=1), seeds=range(2), items=[item])
    assert table["holds"].isna().all()
    assert table["reason"].str.contains("M >= 2").all()
    assert table["measured"].isna().all()


def test_initial_distribution_without_full_support_is_no_silent_success(small, setting):
    pointed = CMDP(
        small.transition, small.reward, small.utility, [1.0, 0.0, 0.0], 0.7, 0.3, small.scale
    )
    table = check_all(pointed, setting, seeds=range(2), items=[11, 12, 16])
    outside = table["item"].isin([11, 12])
    assert table.loc[outside, "holds"].isna().all()
    assert table.loc[outside, "reason"].str.contains("rho > 0").all()
    assert table.loc[~outside, "holds"].all()  # Theorem 1 allows any rho


@pytest.mark.parametrize(
    ("steps", "items"), [({"primal_step": 0.0}, [15, 16]), ({"dual_step": 0.0}, [10, 16])]
)
def test_step_sizes_of_zero_are_no_silent_success(small, setting, steps, items):
    table = check_all(small, replace(setting, **steps), seeds=range(2), items=items)
    assert table["holds"].isna().all()
    assert table["reason"].str.contains("positive step size").all()


def test_theorems_are_for_their_own_step_sizes(small, setting):
    table = check_all(small, replace(setting, primal_step=0.1), seeds=range(2), items=[11, 12, 17])
    assert table["holds"].isna().all()
    assert table["reason"].str.contains("for its own step sizes").all()


def test_link_whose_inverse_is_too_steep_for_numbers_leaves_rows_empty(setting):
    """Assumption 1; the probit's inverse at a hundred standard deviations."""
    cmdp = random_cmdp(states=3, actions=2, discount=0.99, scale="unit", threshold=30.0)
    steep = replace(setting, link="probit", horizon=800)
    table = check_all(cmdp, steep)
    assert table["holds"].isna().all()
    assert table["reason"].str.contains(r"link: Assumption 2\.1.*probit").all()


def test_no_slack_is_an_error(small, setting):
    with pytest.raises(ValueError, match="slack"):
        check_all(replace(small, threshold=0.99), setting)


def test_one_seed_gives_no_interval(small, setting):
    with pytest.raises(ValueError, match="seeds: at least two"):
        check_all(small, setting, seeds=[0])


def test_one_action_leaves_no_direction(setting):
    cmdp = random_cmdp(states=3, actions=1, discount=0.7, threshold=0.2)
    table = check_all(cmdp, setting, seeds=range(2))
    undecided = set(table.loc[table["holds"].isna(), "item"])
    assert {5, 8, 19} <= undecided
    assert 4 not in undecided
    assert table["holds"].dropna().all()


def test_radius_of_zero_is_outside(setting):
    """Theorem 2's, where neither people nor truncation make an error."""
    cmdp = random_cmdp(states=3, actions=2, discount=0.0, threshold=0.3)
    everyone = replace(setting, evaluators=None)
    table = check_all(cmdp, everyone, seeds=range(2))
    rows = table[table["item"].isin([5, 8])]
    assert rows["holds"].isna().all()
    assert set(rows["reason"]) == {"perturbation: mu > 0 expected, got 0"}
    assert table["holds"].dropna().all()


def test_discount_zero_has_no_schedule_of_horizons(setting):
    cmdp = random_cmdp(states=3, actions=2, discount=0.0, threshold=0.3)
    table = check_all(cmdp, setting, seeds=range(2))
    assert set(table.loc[table["holds"].isna(), "item"]) <= {6, 18, 22, 23, 24}
    assert "discount: in (0, 1) expected" in table.loc[table["item"] == 18, "reason"].iloc[0]
    assert table["holds"].dropna().all()


def test_infinitely_many_people_are_within_the_statements(small, setting):
    table = check_all(small, replace(setting, evaluators=None), seeds=range(2))
    assert table["evaluators"].isna().all()
    rows = table[table["item"].isin([3, 7, 14])]
    assert rows["holds"].all()
    assert (rows.loc[rows["item"] == 3, "measured"] == 0).all()
    assert math.isnan(rows.loc[rows["item"] == 3, "ratio"].iloc[0])


def test_largest_values_are_those_of_the_worst_deterministic_policies(small):
    pure = np.eye(small.actions)[[*itertools.product(range(small.actions), repeat=small.states)]]
    rewards, utilities = small.evaluate(pure)
    optimum = solve(small)
    expected = optimum.reward_value - rewards.min(), small.threshold - utilities.min()
    assert problems.largest_values(small, optimum) == pytest.approx(expected)


@pytest.mark.parametrize("rounds", [1, 3])
def test_where_all_steps_are_worth_the_same_the_moments_are_known(small, rounds):
    """Of a return: no variance, and the bias of truncation; of an answer, by Minkowski."""
    even = replace(small, utility=np.full((3, 2), 0.2), threshold=0.5)
    setting = Setting(evaluators=16, iterations=30, rounds=rounds, horizon=3)
    table = check_all(even, setting, seeds=range(2), items=[2, 9]).set_index("item")["measured"]
    whole = 0.2 / 0.3
    reached = whole * (1 - 0.7**4)
    assert table[2] == pytest.approx((whole - reached) ** 2)
    error = problem_of(even, setting).feedback_error(-0.5, even.return_bound(3) - 0.5)
    square = (abs(reached - 0.5) + math.sqrt(error.square.max())) ** 2
    mean = abs(reached - 0.5) + np.abs(error.bias).max()
    assert table[9] == pytest.approx(square / rounds + (1 - 1 / rounds) * mean**2)


def test_slopes_of_the_sphere_are_those_of_steps_ahead_alone(small, setting):
    """Property 5d is about V(theta + mu v) - V(theta), not about a central difference."""
    problem = problem_of(small, setting)
    squares = []
    for sphere in smoothing.tangent_spheres(problem):
        ahead, _ = sphere.around(sphere.directions)
        for moved, base in zip(small.evaluate(ahead), small.evaluate(sphere.centre), strict=True):
            slopes = sphere.dimension / sphere.radius * (moved - base)
            squares.append((slopes**2).mean())
    measured = {result.key: result.measured for result in smoothing.smoothing(problem)}["5d"]
    assert min(abs(square / measured - 1) for square in squares) < 1e-9
