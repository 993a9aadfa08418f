"""Sweeps: how they are spelt out, what their runs draw, and what is read off them."""

import copy
import json
import math

import numpy as np
import pandas as pd
import pytest
from checking import study

from pgpd_hf import environments, random_cmdp, run
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core import optima
from replication.study import summaries, sweeps
from replication.study.cases import run_cases

CONFIG = study("hard")
CONFIG["horizon"] = 20
CONFIG["environment"] |= {"states": 6, "actions": 3, "threshold": 0.5}
CONFIG["algorithms"]["npgpd_hf"] |= {"iterations": 100, "primal_step": 0.3, "dual_step": 0.2}
CONFIG["algorithms"]["zpgpd_hf"] |= {"iterations": 100, "directions": "tangent"}
SETTING = {
    "evaluators": None,
    "horizon": 20,
    "link": "logistic",
    "iterations": 100,
    "rounds": 1,
    "primal_step": 0.3,
    "dual_step": 0.2,
}
ENVIRONMENT = {key: value for key, value in CONFIG["environment"].items() if key != "file"}


def cases(axis="iterations", algorithm="npgpd_hf", **grid):
    return sweeps.make_cases(CONFIG, algorithm, axis, grid, "sweep test")


def run_seeds(made, seeds=range(3)):
    cmdp = environments.make(ENVIRONMENT)
    listed = [sweeps.for_seed(case, seed, ENVIRONMENT) for case in made for seed in seeds]
    return summaries.averages(run_cases(listed, cmdp, None))


def test_grid_is_spelt_out_curve_by_curve():
    made = cases(iterations=[10, 20], evaluators=[4, None], steps=["theorem", "study"])
    assert [(case.labels["curve"], case.labels["value"]) for case in made] == [
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
    assert {case.labels["axis"] for case in made} == {"iterations"}
    assert [case.labels["step_rule"] for case in made[:4]] == ["theorem"] * 2 + ["study"] * 2


def test_infinitely_many_evaluators_stand_at_infinity():
    made = cases("evaluators", evaluators=[4, None])
    assert [case.labels["value"] for case in made] == [4.0, math.inf]


def test_what_the_grid_leaves_out_is_as_in_the_study():
    (first, _) = cases("rounds", rounds=[1, 2])
    assert first.setting == SETTING
    assert first.factors == (1.0, 1.0)
    assert first.labels == {"step_rule": "study", "curve": "", "axis": "rounds", "value": 1.0}
    assert sweeps.size_of(first) == {}
    assert (first.seeds, first.environment, first.calibration) == ((), None, "")


def test_exact_limit_has_the_settings_of_its_algorithm():
    limit, own = (cases("rounds", name, rounds=[1, 2])[0] for name in ("pg_pd", "zpgpd_hf"))
    assert limit.setting == own.setting
    assert limit.setting["directions"] == "tangent"
    assert sweeps.studied("pg_pd") == sweeps.studied("zpgpd_hf") == "zpgpd_hf"
    assert sweeps.studied("npg_pd") == "npgpd_hf"


def test_perturbation_of_the_theorem_is_left_to_it():
    made = cases(algorithm="zpgpd_hf", iterations=[10, 20], perturbation=["theorem", 0.5])
    assert [case.setting["perturbation"] for case in made] == [None, None, 0.5, 0.5]


@pytest.mark.parametrize(
    ("rule", "steps", "factors"),
    [
        ("study", (0.3, 0.2), (1.0, 0.5)),
        ("falling", (0.3, 0.2), (0.5, 0.5)),
        ("theorem", (None, None), (1.0, 1.0)),
    ],
)
def test_step_rules(rule, steps, factors):
    first, last = cases(iterations=[100, 400], steps=rule)
    assert (last.setting["primal_step"], last.setting["dual_step"]) == steps
    assert last.factors == factors
    assert first.factors == (1.0, 1.0)


def test_dual_step_that_is_left_to_the_theorem_falls_by_itself():
    theorem = SETTING | {"primal_step": None, "dual_step": None, "iterations": 400}
    assert sweeps.scaled_steps(theorem, 100, "study") == (theorem, (1.0, 1.0))
    assert sweeps.scaled_steps(theorem, 100, "falling") == (theorem, (0.5, 1.0))


def test_dual_step_falls_with_the_root_of_t_in_the_runs():
    found = run_seeds(cases(iterations=[25, 100, 400], steps=["study", "falling"]), [0])
    study, falling = (found[found["step_rule"] == rule] for rule in ("study", "falling"))
    assert study["dual_step"].to_numpy() == pytest.approx([0.4, 0.2, 0.1])
    assert study["primal_step"].to_numpy() == pytest.approx([0.3] * 3)
    assert falling["dual_step"].to_numpy() == pytest.approx([0.4, 0.2, 0.1])
    assert falling["primal_step"].to_numpy() == pytest.approx([0.6, 0.3, 0.15])


def test_corollary_schedule():
    # T log T = 6907.755..., log T / (2 log(1/0.9)) = 32.78...
    made = cases(iterations=[500, 1000], evaluators="corollary", horizon="corollary")
    assert made[1].setting["evaluators"] == 6908
    assert made[1].setting["horizon"] == 33
    assert 0.9**33 <= 1 / math.sqrt(1000) < 0.9**32
    only = cases(iterations=[500, 1000], evaluators="corollary")[1]
    assert (only.setting["evaluators"], only.setting["horizon"]) == (6908, 20)


@pytest.mark.parametrize(
    ("axis", "grid", "message"),
    [
        ("iterations", {"evaluators": [1, 2]}, "iterations: the sweep varies it"),
        ("iterations", {"iterations": 10}, "iterations: the sweep varies it"),
        ("iterations", {"iterations": [10]}, "iterations: the sweep varies it"),
        ("iterations", {"iterations": [20, 10]}, "iterations: increasing order"),
        ("evaluators", {"evaluators": [None, 4]}, "evaluators: increasing order"),
    ],
)
def test_bad_grid_is_refused_in_one_line(axis, grid, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        cases(axis, **grid)


# What runs draw, and on which environment.


def old_name(setting, step_rule, **size):
    """Names that the first published results were drawn under."""
    names = {"pairs": setting["rounds"], "step_rule": step_rule, **setting, **size}
    del names["rounds"]
    return json.dumps(names, sort_keys=True)


@pytest.mark.parametrize(
    ("step_rule", "steps"),
    [
        ("study", {"primal_step": 0.3, "dual_step": 0.4}),
        ("theorem", {"primal_step": None, "dual_step": None}),
    ],
)
def test_streams_are_named_after_sweep_rule_and_setting(step_rule, steps):
    case = cases(iterations=[25, 50], evaluators=16, steps=step_rule)[0]
    setting = SETTING | {"iterations": 25, "evaluators": 16} | steps
    cmdp = environments.make(ENVIRONMENT)
    expected = run(
        cmdp,
        "npgpd_hf",
        seeds=[2],
        checkpoints=[0, 11, 24, 25],
        purpose=f"sweep test: {old_name(setting, step_rule)}",
        **setting,
    )
    found = run_cases([sweeps.for_seed(case, 2, ENVIRONMENT)], cmdp, None)
    assert found[list(expected)].equals(expected)


def test_sizes_are_runs_on_an_instance_of_the_seed_that_binds_midway():
    case = cases("states", states=[3, 5], actions=2)[1]
    found = run_cases([sweeps.for_seed(case, 7, ENVIRONMENT)], None, None)
    cmdp = random_cmdp(5, 2, 7, threshold="midway")
    expected = run(
        cmdp,
        "npgpd_hf",
        seeds=[7],
        checkpoints=[0, 49, 99, 100],
        purpose=f"sweep test: {old_name(SETTING, 'study', states=5, actions=2)}",
        **SETTING,
    )
    assert found[list(expected)].equals(expected)
    assert (found[["states", "actions"]] == [5, 2]).all(axis=None)


def test_other_axes_stay_on_the_environment_of_the_study():
    case = sweeps.for_seed(cases("rounds", rounds=[1, 2])[0], 7, ENVIRONMENT)
    assert (case.seeds, case.environment) == ((7,), None)
    moved = sweeps.on_instance(case, 3, ENVIRONMENT)
    assert moved.environment == ENVIRONMENT | {"instance": 3, "threshold": "midway"}


@pytest.mark.parametrize("size", [{"states": 4, "actions": 2}, {"states": 7}, {"actions": 5}])
@pytest.mark.parametrize("instance", range(3))
def test_constraint_of_an_instance_binds_midway(size, instance):
    axis = next(iter(size))
    grid = {key: [value, value + 1] if key == axis else value for key, value in size.items()}
    case = sweeps.on_instance(cases(axis, **grid)[0], instance, ENVIRONMENT)
    cmdp = environments.make(case.environment)
    assert (cmdp.states, cmdp.actions) == (size.get("states", 6), size.get("actions", 3))
    optimum, free = optima.solve(cmdp), optima.solve_unconstrained(cmdp)
    assert optimum.multiplier > 0
    assert optimum.slack == pytest.approx(cmdp.threshold - free.utility_value)


# Averages.


@pytest.fixture(scope="module")
def table():
    return run_seeds(cases(iterations=[11, 20], evaluators=[16, None]))


@pytest.mark.parametrize(("length", "half"), [(11, 5), (20, 10)])
def test_averages_are_over_all_and_over_the_later_half_of_the_iterates(table, length, half):
    cmdp = environments.make(ENVIRONMENT)
    row = table.query(f"seed == 1 and value == {length} and curve == 'M = 16'").iloc[0]
    dual = 0.2 * math.sqrt(100 / length)
    setting = SETTING | {"iterations": length, "evaluators": 16, "dual_step": dual}
    every = run(
        cmdp,
        "npgpd_hf",
        seeds=[1],
        checkpoints=range(length + 1),
        purpose=f"sweep test: {old_name(setting, 'study')}",
        **setting,
    )
    price = optima.solve(cmdp).multiplier
    gap, violation = every["optimality_gap"], every["constraint_violation"]
    for late, first in (("", 0), ("late_", half)):
        means = gap.iloc[first:length].mean(), violation.iloc[first:length].mean()
        assert row[f"{late}gap"] == pytest.approx(means[0], abs=1e-14)
        assert row[f"{late}violation"] == pytest.approx(means[1], abs=1e-14)
        priced = means[0] + price * means[1]
        assert row[f"{late}priced_gap"] == pytest.approx(priced, abs=1e-13)
    assert row["start_priced_gap"] == pytest.approx(gap[0] + price * violation[0], abs=1e-14)
    for name in ("multiplier", "answers", "steps"):
        assert row[name] == every[name].iloc[length]
    assert row["owed"] == pytest.approx(row["multiplier"] / (dual * length))
    assert row["misread"] == pytest.approx(row["violation"] - row["owed"])


def test_the_iterates_of_very_short_runs_are_late():
    """Of one iterate it is the only one, of two and of three the last half, rounded up."""
    found = run_seeds(cases(iterations=[1, 2, 3], evaluators=4), [0]).set_index("value")
    cmdp = environments.make(ENVIRONMENT)
    for length, first in ((1, 0), (2, 1), (3, 1)):
        dual = 0.2 * math.sqrt(100 / length)
        setting = SETTING | {"iterations": length, "evaluators": 4, "dual_step": dual}
        purpose = f"sweep test: {old_name(setting, 'study')}"
        every = run(cmdp, "npgpd_hf", seeds=[0], purpose=purpose, **setting)
        for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
            late = every[column].iloc[first:length].mean()
            assert found.loc[length, f"late_{name}"] == pytest.approx(late, abs=1e-13)
            mean = every[column].iloc[:length].mean()
            assert found.loc[length, name] == pytest.approx(mean, abs=1e-13)


def test_a_row_per_run_with_its_labels_and_description(table):
    assert len(table) == 2 * 2 * 3
    assert not table.duplicated(["curve", "value", "seed"]).any()
    described = ("algorithm", "axis", "step_rule", "iterations", "rounds", "horizon", "states")
    assert {*described, *summaries.METRICS, "perturbation", "optimal_multiplier"} <= set(table)
    assert table["iteration"].tolist() == table["iterations"].tolist()


def test_averages_do_not_depend_on_the_order_of_runs():
    """Runs of two algorithms come in files of their own, each with several lengths."""
    cmdp = environments.make(ENVIRONMENT)
    parts = [
        run_cases([sweeps.for_seed(case, 0, ENVIRONMENT)], cmdp, None)
        for case in cases(iterations=[10, 12, 16], evaluators=[4, None])
    ]
    together = summaries.averages(pd.concat(parts, ignore_index=True))
    backwards = summaries.averages(pd.concat(parts[::-1], ignore_index=True))
    keys = ["curve", "value"]
    pd.testing.assert_frame_equal(
        together.sort_values(keys, ignore_index=True),
        backwards.sort_values(keys, ignore_index=True),
    )


def test_sweeps_come_in_the_order_of_the_names():
    cmdp = environments.make(ENVIRONMENT)
    listed = []
    for name in ("b", "a", "c"):
        for case in cases(iterations=[10, 20]):
            case.labels["sweep"] = name
            listed.append(sweeps.for_seed(case, 0, ENVIRONMENT))
    found = summaries.averages(run_cases(listed, cmdp, None), ("a", "b", "c"))
    assert found["sweep"].tolist() == ["a", "a", "b", "b", "c", "c"]
    assert found["value"].tolist() == [10, 20] * 3


def test_violation_is_what_is_owed_and_what_was_misread():
    """Exact values misread nothing, so the multiplier keeps the whole account."""
    found = run_seeds(
        cases(algorithm="npg_pd", iterations=[50, 200], steps=["theorem", "study"]), [0]
    )
    owed = found["multiplier"] / found["dual_step"] / found["value"]
    assert found["owed"].to_numpy() == pytest.approx(owed.to_numpy())
    assert (found["violation"] > 0.005).all()
    assert found["misread"].to_numpy() == pytest.approx(np.zeros(4), abs=1e-12)


def test_short_trajectories_are_misread_by_their_tail():
    (case, _) = cases("horizon", horizon=[10, 20], rounds=50)
    row = run_seeds([case], [0]).iloc[0]
    tail = 0.9**11 * (0.5 - row["violation"])  # the utility that is left after 11 steps
    assert row["misread"] == pytest.approx(-tail, rel=0.1)


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
    gap = optimum.reward_value - v_r + optimum.multiplier * (cmdp.threshold - v_g)
    assert gap.min() > 0


def test_blocks_of_seeds_change_nothing(table):
    alone = run_seeds(cases(iterations=[11, 20], evaluators=[16, None])[3:], [2])
    within = table.query("seed == 2 and value == 20 and curve == 'M = ∞'")
    pd.testing.assert_frame_equal(alone, within.reset_index(drop=True))


# Plans and checks.


def test_plan_has_all_cases_of_all_sweeps_for_each_seed():
    plan = sweeps.plan(CONFIG, ("corollary", "length"))
    seeds = max(CONFIG["sweeps"][name]["seeds"] for name in ("corollary", "length"))
    assert list(plan) == ["npgpd_hf", "zpgpd_hf", "npg_pd", "pg_pd"]
    assert [seed for seed, _ in plan["npgpd_hf"]] == list(range(seeds))
    _, listed = plan["npgpd_hf"][3]
    assert {case.seeds for case in listed} == {(3,)}
    assert [case.labels["sweep"] for case in listed] == ["corollary"] * 10 + ["length"] * 24
    assert {case.purpose for case in listed} == {"sweep corollary", "sweep length"}


def test_exact_methods_run_once():
    plan = sweeps.plan(CONFIG, ("length",))
    for name in ("npg_pd", "pg_pd"):
        assert [seed for seed, _ in plan[name]] == [0]


def test_algorithms_can_have_seeds_of_their_own():
    config = copy.deepcopy(CONFIG)
    config["sweeps"]["length"]["seeds"] = {"npgpd_hf": 3, "zpgpd_hf": 2}
    sweeps.check(config, ("length",))
    plan = sweeps.plan(config, ("length",))
    seeds = {name: [seed for seed, _ in items] for name, items in plan.items()}
    assert seeds == {"npgpd_hf": [0, 1, 2], "zpgpd_hf": [0, 1], "npg_pd": [0], "pg_pd": [0]}
    del config["sweeps"]["length"]["seeds"]["zpgpd_hf"]
    with pytest.raises(ValueError, match=r"^sweeps\.length\.seeds: no number for zpgpd_hf$"):
        sweeps.check(config, ("length",))


def test_sweeps_that_a_study_has_not_are_passed_over():
    config = copy.deepcopy(CONFIG)
    del config["sweeps"]["states"]
    assert sweeps.plan(config, ("states",)) == {}
    sweeps.check(config, ("states", "rounds"))


def test_plan_takes_sizes_from_the_seed():
    plan = sweeps.plan(CONFIG, ("states",))
    for seed, listed in plan["npgpd_hf"]:
        assert {case.environment["instance"] for case in listed} == {seed}
        assert [case.environment["states"] for case in listed] == [5, 10, 20, 40]


def test_sweep_that_could_not_estimate_without_bias_is_refused():
    config = copy.deepcopy(CONFIG)
    config["algorithms"]["npgpd_hf"]["estimator"] = "unbiased"
    config["sweeps"]["people"]["algorithms"]["npgpd_hf"]["evaluators"] = [4, 64]
    sweeps.check(config, ["people"])
    config["link"] = "probit"
    with pytest.raises(
        ValueError, match=r"^sweeps\.people\.algorithms\.npgpd_hf: estimator: plug-in"
    ):
        sweeps.check(config, ["people"])


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"npgpd_hf": {"rounds": [2, 1]}}, "npgpd_hf: rounds: increasing order expected"),
        ({"npgpd_hf": {"horizon": [2, 1]}}, "npgpd_hf: rounds: the sweep varies it"),
        ({"sarsa": {"rounds": [1, 2]}}, "sarsa: algorithm: one of"),
        ({"npgpd_hf": {"rounds": [1, 2], "perturbation": 1}}, "npgpd_hf: perturbation: no option"),
    ],
)
def test_sweep_that_cannot_be_run_is_refused_unless_it_belongs_to_others(changes, message):
    config = copy.deepcopy(CONFIG)
    config["sweeps"]["rounds"]["algorithms"] = changes
    with pytest.raises(ValueError, match=rf"^sweeps\.rounds\.algorithms\.{message}"):
        sweeps.check(config, ("length", "rounds"))
    sweeps.check(config, ("length",))


def test_limit_of_an_algorithm_that_the_study_has_not_is_refused():
    config = copy.deepcopy(CONFIG)
    del config["algorithms"]["zpgpd_hf"]
    message = "^mine.algorithms.pg_pd: the study has no algorithm 'zpgpd_hf'$"
    with pytest.raises(ValueError, match=message):
        sweeps.check_grids(config, "mine", {"pg_pd": {"iterations": [10, 20]}}, "iterations")


def test_theorems_steps_need_a_theorem(monkeypatch):
    grids = {"npg_pd": {"iterations": [10, 20], "steps": ["study", "theorem"]}}
    sweeps.check_grids(CONFIG, "mine", grids, "iterations")
    monkeypatch.setattr(get_algorithm("npg_pd"), "has_theorem", lambda: False)
    with pytest.raises(ValueError, match=r"npg_pd: steps: 'theorem' is not possible without a"):
        sweeps.check_grids(CONFIG, "mine", grids, "iterations")


def test_sizes_of_an_environment_from_a_file_cannot_be_varied():
    config = copy.deepcopy(CONFIG)
    config["environment"] = {"file": "mine.npz"}
    grids = {"npgpd_hf": {"states": [4, 5]}}
    with pytest.raises(
        ValueError, match=r"npgpd_hf: states: cannot be changed, since the CMDP in mine\.npz"
    ):
        sweeps.check_grids(config, "mine", grids, "states")
