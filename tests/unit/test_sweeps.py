import math

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run
from pgpd_hf.analyses import summaries, sweeps
from pgpd_hf.core import optima

SETTING = {
    "evaluators": None,
    "iterations": 100,
    "pairs": 1,
    "horizon": 20,
    "link": "logistic",
    "primal_step": 0.3,
    "dual_step": 0.2,
}


def cases(axis="iterations", discount=0.9, **grid):
    return sweeps.make_cases(axis, grid, SETTING, discount)


def test_grid_is_spelt_out_curve_by_curve():
    made = cases(iterations=[10, 20], evaluators=[4, None], steps=["theorem", "study"])
    assert [(case.curve, case.value) for case in made] == [
        (curve, value)
        for curve in (
            "M = 4, theorem steps",
            "M = 4, study steps",
            "M = ∞, theorem steps",
            "M = ∞, study steps",
        )
        for value in (10, 20)
    ]
    assert [case.setting["evaluators"] for case in made] == [4] * 4 + [None] * 4
    assert len({case.name for case in made}) == len(made)


def test_what_the_grid_leaves_out_is_as_in_the_study():
    (first, _) = cases("pairs", pairs=[1, 2])
    assert first.setting == SETTING
    assert (first.curve, first.size, first.step_rule) == ("", {}, "study")


@pytest.mark.parametrize(
    ("rule", "primal", "dual"),
    [("study", 0.3, 0.1), ("falling", 0.15, 0.1), ("theorem", None, None)],
)
def test_step_rules(rule, primal, dual):
    case = cases(iterations=[100, 400], steps=rule)[1]
    assert case.setting["primal_step"] == primal
    assert case.setting["dual_step"] == dual


def test_theorem_steps_can_be_scaled_once_they_are_numbers():
    cmdp = random_cmdp()
    open_setting = {**SETTING, "primal_step": None, "dual_step": None}
    with pytest.raises(ValueError, match="steps: 'falling' scales"):
        sweeps.scaled_steps(open_setting, 400, "falling")
    numbers = sweeps.with_numbers(cmdp, "npgpd_hf", open_setting)
    assert numbers["primal_step"] == pytest.approx(2 * math.log(4))
    assert numbers["dual_step"] == pytest.approx(0.1 / 10)
    assert sweeps.with_numbers(cmdp, "npgpd_hf", SETTING) == SETTING


def test_corollary_schedule():
    # T log T = 6907.755..., log T / (2 log(1/0.9)) = 32.78...
    made = cases(iterations=[500, 1000], evaluators="corollary", horizon="corollary")
    assert made[1].setting["evaluators"] == 6908
    assert made[1].setting["horizon"] == 33
    assert 0.9**33 <= 1 / math.sqrt(1000) < 0.9**32


@pytest.mark.parametrize(
    ("axis", "grid", "named"),
    [
        ("colour", {}, "varies: one of"),
        ("iterations", {"colour": 1}, "colour: not a key"),
        ("iterations", {"evaluators": [1, 2]}, "iterations: the sweep varies it"),
        ("iterations", {"iterations": [20, 10]}, "iterations: increasing order"),
        ("evaluators", {"evaluators": [None, 4]}, "evaluators: increasing order"),
        ("iterations", {"iterations": [10, 20], "steps": "none"}, "steps: one of"),
    ],
)
def test_bad_grid_is_refused_in_one_line(axis, grid, named):
    with pytest.raises(ValueError, match=named):
        sweeps.make_cases(axis, grid, SETTING, 0.9)


@pytest.fixture(scope="module")
def table():
    cmdp = random_cmdp()
    made = cases(iterations=[11, 20], evaluators=[16, None])
    tables = [sweeps.run_case(cmdp, "npgpd_hf", case, range(3), "test") for case in made]
    return pd.concat(tables, ignore_index=True)


def test_averages_are_over_all_and_over_the_later_half_of_the_iterates(table):
    case = cases(iterations=[11, 20], evaluators=[16, None])[0]
    every = run(
        random_cmdp(),
        "npgpd_hf",
        seeds=[1],
        checkpoints=range(12),
        purpose=f"sweep test: {case.name}",
        **case.setting,
    )
    row = table.query("seed == 1 and value == 11 and curve == 'M = 16'").iloc[0]
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        assert row[name] == pytest.approx(every[column].iloc[:11].mean(), abs=1e-14)
        assert row[f"late_{name}"] == pytest.approx(every[column].iloc[5:11].mean(), abs=1e-14)
    assert row["multiplier"] == every["multiplier"].iloc[11]
    assert (row["queries"], row["steps"]) == (every["queries"].iloc[11], every["steps"].iloc[11])


def test_violation_is_what_is_owed_and_what_was_misread():
    """Exact values misread nothing, so the multiplier keeps the whole account."""
    made = cases(iterations=[50, 200], steps=["theorem", "study"])
    for case in made:
        row = sweeps.run_case(random_cmdp(), "npg_pd", case, [0], "test").iloc[0]
        assert row["owed"] == pytest.approx(row["multiplier"] / row["dual_step"] / row["value"])
        assert row["violation"] > 0.02
        assert row["misread"] == pytest.approx(0, abs=1e-12)


def test_short_trajectories_are_misread_by_their_tail():
    (case, _) = cases("horizon", horizon=[10, 20], pairs=50)
    row = sweeps.run_case(random_cmdp(), "npgpd_hf", case, [0], "test").iloc[0]
    tail = 0.9**11 * (0.55 - row["violation"])  # the utility that is left after 11 steps
    assert row["misread"] == pytest.approx(-tail, rel=0.1)


def test_excess_is_over_the_run_of_the_same_seed(table):
    rest = summaries.excess(
        table[table["curve"] == "M = 16"], table[table["curve"] == "M = ∞"], ["value"], ["gap"]
    )
    row = rest.query("seed == 2 and value == 20")["gap"].item()
    both = table.query("seed == 2 and value == 20").set_index("curve")["gap"]
    assert row == pytest.approx(both["M = 16"] - both["M = ∞"])
    assert len(rest) == 6


def test_priced_gap_is_negative_for_no_policy():
    cmdp = random_cmdp()
    optimum = optima.solve(cmdp)
    random = np.random.default_rng(3)
    # Mixtures with the policy that earns most, which is unsafe.
    policies = random.dirichlet(np.full(4, 0.2), size=(500, 10))
    share = random.random((500, 1, 1)) ** 2
    policies = share * policies + (1 - share) * optima.solve_unconstrained(cmdp).policy
    v_r, v_g = cmdp.evaluate(policies)
    assert (v_r > optimum.reward_value).any()
    gap = sweeps.priced(optimum.reward_value - v_r, cmdp.threshold - v_g, optimum)
    assert gap.min() > 0
    at_optimum = sweeps.priced(
        optimum.reward_value - cmdp.evaluate(optimum.policy)[0],
        cmdp.threshold - cmdp.evaluate(optimum.policy)[1],
        optimum,
    )
    assert at_optimum == pytest.approx(0, abs=1e-12)


def test_blocks_of_seeds_change_nothing(table):
    case = cases(iterations=[11, 20], evaluators=[16, None])[3]
    alone = sweeps.run_case(random_cmdp(), "npgpd_hf", case, [2], "test")
    within = table.query("seed == 2 and value == 20 and curve == 'M = ∞'")
    pd.testing.assert_frame_equal(alone, within.reset_index(drop=True))


def test_means_and_slopes_have_a_row_per_case_and_per_curve(table):
    means = summaries.means(table, ["gap", "late_gap"])
    assert len(means) == 4 * 2
    assert set(means["seeds"]) == {3}
    one = means.query("curve == 'M = 16' and value == 20 and metric == 'gap'").iloc[0]
    chosen = table.query("curve == 'M = 16' and value == 20")
    assert one["mean"] == pytest.approx(chosen["gap"].mean())
    assert one["queries"] == 16 * 81 * 20
    slopes = summaries.slopes(table, ["gap", "late_gap"])
    assert list(slopes["curve"]) == ["M = 16", "M = 16", "M = ∞", "M = ∞"]


def test_slope_of_an_exact_power_and_infinity_is_no_position():
    rows = [
        {"sweep": "s", "algorithm": "a", "curve": "", "value": value, "seed": seed, "gap": gap}
        for value, gap in ((1, 8.0), (4, 4.0), (16, 2.0), (64, 1.0), (math.inf, 0.5))
        for seed in range(2)
    ]
    slopes = summaries.slopes(pd.DataFrame(rows), ["gap"], floor=True).iloc[0]
    assert slopes["slope"] == pytest.approx(-0.5)
    assert slopes["power"] == pytest.approx(-0.5, abs=0.01)
    assert slopes["floor"] == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize("size", [{"states": 4, "actions": 2}, {"states": 7}, {"actions": 6}])
@pytest.mark.parametrize("instance", range(3))
def test_drawn_process_binds_midway(size, instance):
    options = {"states": 5, "actions": 3, "threshold": 9.0, "discount": 0.8}
    cmdp = sweeps.draw_process(options, size, instance)
    assert (cmdp.states, cmdp.actions) == (size.get("states", 5), size.get("actions", 3))
    optimum = optima.solve(cmdp)
    free = optima.solve_unconstrained(cmdp)
    assert optimum.multiplier > 0
    assert optimum.slack == pytest.approx(cmdp.threshold - free.utility_value)


def test_exact_limit_takes_the_settings_but_not_the_options_of_its_algorithm():
    case = sweeps.make_cases("iterations", {"iterations": [10, 20]}, SETTING, 0.9)[0]
    tangent = {**SETTING, "perturbation": 0.5, "directions": "tangent"}
    other = sweeps.make_cases("iterations", {"iterations": [10, 20]}, tangent, 0.9)[0]
    columns = ["gap", "violation", "priced_gap", "multiplier"]
    ours, theirs = (sweeps.run_case(random_cmdp(), "pg_pd", c, [0], "test") for c in (case, other))
    assert ours[columns].equals(theirs[columns])
