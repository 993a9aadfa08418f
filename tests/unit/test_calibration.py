import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run
from pgpd_hf.studies import calibration

SETTING = {"evaluators": 16, "iterations": 50, "horizon": 10, "pairs": 1}
GRID = {"primal_step": [0.01, 1.0], "dual_step": [0.1, 0.5]}


@pytest.fixture(scope="module")
def table():
    return calibration.score_grid(random_cmdp(), "npgpd_hf", SETTING, GRID, seeds=2)


def test_every_pair_has_a_score_and_the_smallest_is_chosen(table):
    pairs = set(zip(table["primal_step"], table["dual_step"], strict=True))
    assert pairs == {(0.01, 0.1), (0.01, 0.5), (1.0, 0.1), (1.0, 0.5)}
    assert table.loc[table["chosen"], "score"].tolist() == [table["score"].min()]


def test_score_is_mean_positive_gap_plus_mean_positive_violation(table):
    checkpoints = np.rint(np.linspace(0, 50, 101)).astype(int)
    for _, row in table.iterrows():
        steps = {"primal_step": row["primal_step"], "dual_step": row["dual_step"]}
        trace = run(
            random_cmdp(),
            "npgpd_hf",
            seeds=range(2),
            checkpoints=checkpoints,
            purpose="calibration",
            **SETTING,
            **steps,
        )
        gap = np.maximum(trace["optimality_gap"], 0).mean()
        violation = np.maximum(trace["constraint_violation"], 0).mean()
        assert row["score"] == pytest.approx(gap + violation, abs=1e-15)


def test_calibration_uses_no_random_number_of_a_reported_run(table):
    trace = run(
        random_cmdp(), "npgpd_hf", seeds=range(2), primal_step=1.0, dual_step=0.1, **SETTING
    )
    gap = np.maximum(trace["optimality_gap"], 0).mean()
    row = table[(table["primal_step"] == 1.0) & (table["dual_step"] == 0.1)]
    assert abs(row["positive_gap"].item() - gap) > 1e-6


def test_study_takes_the_step_sizes_of_the_smallest_score(table):
    grid = {**GRID, "primal_step": GRID["primal_step"][::-1]}  # the smallest score is not first
    options = {"iterations": 50, "pairs": 1}
    options |= {"primal_step": "calibrated", "dual_step": "calibrated"}
    study = {
        "horizon": 10,
        "link": "logistic",
        "algorithms": {"npgpd_hf": options},
        "calibration": {"evaluators": 16, "seeds": 2, "grid": {"npgpd_hf": grid}},
    }
    scores, steps = calibration.choose(random_cmdp(), "npgpd_hf", study)
    pd.testing.assert_frame_equal(scores, table.loc[[2, 3, 0, 1]].reset_index(drop=True))
    best = table.loc[table["score"].idxmin()]
    assert steps == (best["primal_step"], best["dual_step"])
