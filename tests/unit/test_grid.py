"""Grids: every combination, on many instances; seeds are averaged, instances are the replicates."""

import copy
from pathlib import Path

import pytest
import yaml

from pgpd_hf import run, statistics
from pgpd_hf.analyses import grid, sweeps

CONFIG = yaml.safe_load((Path(__file__).parents[2] / "config/config.yaml").read_text())
OPTIONS = {key: value for key, value in CONFIG["environment"].items() if key != "file"}
OPTIONS |= {"states": 4, "actions": 3}
SETTING = {
    "evaluators": None,
    "iterations": 40,
    "pairs": 1,
    "horizon": 10,
    "link": "logistic",
    "primal_step": 0.3,
    "dual_step": 0.2,
}
CASES = sweeps.make_cases(
    grid.AXIS, {"evaluators": [4, None], "pairs": [1, 2], "horizon": [5, 10]}, SETTING, 0.9
)


@pytest.fixture(scope="module")
def table():
    return grid.run_block(OPTIONS, "npgpd_hf", CASES, range(3), range(2))


def test_a_row_per_instance_case_and_seed(table):
    keys = ["instance", "pairs", "horizon", "evaluators", "seed"]
    assert len(table) == 3 * 8 * 2
    assert not table.duplicated(keys).any()
    assert not table["late_gap"].duplicated().any()


def test_blocks_of_instances_and_seeds_change_nothing(table):
    part = grid.run_block(OPTIONS, "npgpd_hf", CASES, [2], [1])
    same = table[(table["instance"] == 2) & (table["seed"] == 1)].reset_index(drop=True)
    assert part.equals(same)


def test_runs_are_those_of_the_instance(table):
    process = sweeps.draw_process(OPTIONS, {}, 1)
    case = CASES[0]
    trace = run(
        process,
        "npgpd_hf",
        seeds=[1],
        checkpoints=[39],
        purpose=f"sweep grid, instance 1: {case.name}",
        **case.setting,
    )
    row = table.query(
        "instance == 1 and seed == 1 and pairs == 1 and horizon == 5 and evaluators == 4"
    )
    assert row["gap"].item() == trace["mean_optimality_gap"].item()


def test_summary_averages_seeds_before_instances(table):
    summary = grid.summarize(table.sample(frac=1, random_state=0))
    assert len(summary) == len(CASES)
    assert (summary[["instances", "runs"]] == [3, 6]).all(axis=None)
    row = summary[summary["evaluators"].isna() & (summary["pairs"] == 2)].iloc[0]
    runs = table[
        table["evaluators"].isna() & (table["pairs"] == 2) & (table["horizon"] == row["horizon"])
    ]
    means = runs.groupby("instance")["gap"].mean().to_numpy()
    expected = statistics.mean_interval(means)
    assert tuple(row[["gap", "gap_low", "gap_high"]]) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("algorithms", "message"),
    [
        (
            {"npgpd_hf": {"evaluators": [4], "pairs": [1, 2]}},
            "grid.algorithms.npgpd_hf: evaluators: the sweep varies it",
        ),
        (
            {"npg_pd": {"evaluators": [4, 8]}},
            "grid.algorithms.npg_pd: the study has no algorithm 'npg_pd'",
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
