"""Grids: every combination, on many instances; seeds are averaged, instances are the replicates."""

import copy

import pandas as pd
import pytest
from checking import study

from pgpd_hf import random_cmdp, run, statistics
from replication.analyses import grid
from replication.study import summaries
from replication.study.cases import run_cases
from replication.study.readings import overlay

CONFIG = study("hard")
SETTING = {"iterations": 40, "primal_step": 0.3, "dual_step": 0.2}
SMALL = overlay(
    CONFIG,
    {
        "environment": {"states": 4, "actions": 3},
        "algorithms": {"npgpd_hf": SETTING},
        "grid": {"instances": 3, "seeds": 2},
    },
)
SMALL["grid"]["algorithms"] = {
    "npgpd_hf": {"evaluators": [4, None], "rounds": [1, 2], "horizon": [5, 10]}
}


@pytest.fixture(scope="module")
def runs():
    (items,) = grid.plan(SMALL).values()
    return run_cases([case for _, cases in items for case in cases], None, None)


def test_plan_has_every_case_on_every_instance_and_an_item_per_instance():
    plan = grid.plan(SMALL)
    assert list(plan) == ["npgpd_hf"]
    assert [number for number, _ in plan["npgpd_hf"]] == [0, 1, 2]
    for instance, cases in plan["npgpd_hf"]:
        assert len(cases) == 8
        for case in cases:
            assert case.seeds == (0, 1)
            assert case.labels["instance"] == case.environment["instance"] == instance
            assert case.environment["threshold"] == "midway"
            assert case.calibration == ""  # step sizes are those of the study


def test_steps_are_calibrated_on_the_environment_of_the_study():
    case = grid.plan(CONFIG)["npgpd_hf"][1][1][0]
    assert case.is_calibrated
    assert case.calibration == ""


def test_a_row_per_instance_case_and_seed(runs):
    table = summaries.averages(runs)
    assert len(table) == 3 * 8 * 2
    assert not table.duplicated(["instance", "rounds", "horizon", "evaluators", "seed"]).any()
    assert not table["late_gap"].duplicated().any()


def test_blocks_of_instances_change_nothing(runs):
    (_, cases) = grid.plan(SMALL)["npgpd_hf"][2]
    part = run_cases(cases, None, None)
    same = runs[runs["instance"] == 2].reset_index(drop=True)
    assert part.equals(same)


def test_runs_are_those_of_the_instance_under_the_name_of_case_and_instance(runs):
    cmdp = random_cmdp(4, 3, 1, threshold="midway")
    expected = run(
        cmdp,
        "npgpd_hf",
        seeds=[1],
        checkpoints=[39],
        purpose=(
            'sweep grid, instance 1: {"dual_step": 0.2, "evaluators": 4, "horizon": 5, '
            '"iterations": 40, "link": "logistic", "pairs": 1, "primal_step": 0.3, '
            '"step_rule": "study"}'
        ),
        evaluators=4,
        rounds=1,
        horizon=5,
        **SETTING,
    )
    row = summaries.averages(runs).query(
        "instance == 1 and seed == 1 and rounds == 1 and horizon == 5 and evaluators == 4"
    )
    assert row["gap"].item() == expected["mean_optimality_gap"].item()


def test_table_averages_seeds_before_instances(runs):
    parts = [runs[runs["instance"] == instance] for instance in (2, 0, 1)]
    summary = grid.tabulate(pd.concat(parts, ignore_index=True))
    assert len(summary) == 8
    assert list(summary)[:11] == [*grid.CELL, "instances", "runs"]
    assert (summary[["instances", "runs"]] == [3, 6]).all(axis=None)
    table = summaries.averages(runs)
    for _, row in summary.iterrows():
        infinite = pd.isna(row["evaluators"])
        same = table["evaluators"].isna() if infinite else table["evaluators"].eq(4).fillna(False)
        same = same & (table["rounds"] == row["rounds"]) & (table["horizon"] == row["horizon"])
        for metric in grid.METRICS:
            means = table[same].groupby("instance")[metric].mean().to_numpy()
            expected = statistics.mean_interval(means)
            found = tuple(row[[metric, f"{metric}_low", f"{metric}_high"]])
            assert found == pytest.approx(expected)


def test_no_two_settings_are_averaged():
    """Neither two radii nor two rules for the step."""
    config = copy.deepcopy(SMALL)
    options = {"evaluators": [4, 16], "horizon": 3, "perturbation": [0.1, 3.0]}
    config["algorithms"]["zpgpd_hf"] |= {**SETTING, "iterations": 5}
    config["grid"]["algorithms"] = {"zpgpd_hf": {**options, "steps": ["study", "falling"]}}
    grid.check(config)
    (items,) = grid.plan(config).values()
    ran = run_cases([case for _, cases in items for case in cases], None, None)
    table = grid.tabulate(ran)
    assert len(table) == len(table[["evaluators", "perturbation", "step_rule"]].drop_duplicates())
    assert len(table) == 8
    assert (table[["instances", "runs"]] == [3, 6]).all(axis=None)


def test_grid_without_runs_is_a_table_without_rows():
    summary = grid.tabulate(pd.DataFrame())
    assert list(summary) == grid.CELL
    assert summary.empty


def test_default_grid_passes():
    grid.check(CONFIG)


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        (
            {"npgpd_hf": {"evaluators": [4], "rounds": [1, 2]}},
            "grid.algorithms.npgpd_hf: evaluators: the sweep varies it",
        ),
        (
            {"sarsa": {"evaluators": [4, 8]}},
            "grid.algorithms.sarsa: algorithm: one of",
        ),
        (
            {"npgpd_hf": {"evaluators": [4, 8], "perturbation": 1}},
            "grid.algorithms.npgpd_hf: perturbation: no option of npgpd_hf",
        ),
    ],
)
def test_grid_that_cannot_be_run_is_refused(algorithms, message):
    config = copy.deepcopy(CONFIG)
    config["grid"]["algorithms"] = algorithms
    with pytest.raises(ValueError, match=r".") as refusal:
        grid.check(config)
    assert str(refusal.value).startswith(message)


def test_grid_of_an_algorithm_that_the_study_has_not_is_refused():
    config = copy.deepcopy(CONFIG)
    del config["algorithms"]["npgpd_hf"]
    message = r"^grid\.algorithms\.npgpd_hf: the study has no algorithm 'npgpd_hf'$"
    with pytest.raises(ValueError, match=message):
        grid.check(config)
