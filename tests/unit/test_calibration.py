"""Calibration: which steps are chosen, by which score, from which random numbers."""

import json

import numpy as np
import pytest

from pgpd_hf import random_cmdp, run
from pgpd_hf.studies import calibration

SETTING = {"evaluators": 16, "iterations": 50, "horizon": 10, "pairs": 1}
CANDIDATES = {"primal_step": [0.01, 1.0], "dual_step": [0.1, 0.5]}


@pytest.fixture(scope="module")
def table():
    return calibration.score(random_cmdp(), "npgpd_hf", SETTING, CANDIDATES, seeds=2)


def traces(row, purpose):
    """Runs with the steps of a row, where the score looks at them."""
    return run(
        random_cmdp(),
        "npgpd_hf",
        seeds=range(2),
        checkpoints=np.rint(np.linspace(0, 50, 101)).astype(int),
        purpose=purpose,
        primal_step=row["primal_step"],
        dual_step=row["dual_step"],
        **SETTING,
    )


def test_every_pair_has_a_score_and_the_smallest_is_chosen(table):
    pairs = list(zip(table["primal_step"], table["dual_step"], strict=True))
    assert pairs == [(0.01, 0.1), (0.01, 0.5), (1.0, 0.1), (1.0, 0.5)]
    assert table.loc[table["chosen"], "score"].tolist() == [table["score"].min()]


def test_score_is_mean_positive_gap_plus_mean_positive_violation(table):
    for _, row in table.iterrows():
        trace = traces(row, "calibration")
        gap = np.maximum(trace["optimality_gap"], 0).mean()
        violation = np.maximum(trace["constraint_violation"], 0).mean()
        assert row["positive_gap"] == pytest.approx(gap, abs=1e-15)
        assert row["positive_violation"] == pytest.approx(violation, abs=1e-15)
        assert row["score"] == pytest.approx(gap + violation, abs=1e-15)


def test_policies_that_are_safer_than_asked_for_are_not_punished():
    """Where every policy is safe, the violation counts nothing: only the gap chooses."""
    cmdp = random_cmdp(threshold=0.1)
    found = calibration.score(cmdp, "npgpd_hf", SETTING, CANDIDATES, seeds=1)
    assert (found["positive_violation"] == 0).all()
    assert (found["positive_gap"] > 0).all()
    assert found["score"].tolist() == found["positive_gap"].tolist()


def test_policies_that_earn_more_than_the_optimum_are_not_punished_for_that(table):
    """Without a dual step, runs end in the most rewarding policy, whose gap is negative."""
    steps = {"primal_step": [10.0], "dual_step": [0.0]}
    setting = SETTING | {"evaluators": None, "horizon": 200}
    row = calibration.score(random_cmdp(), "npg_pd", setting, steps, seeds=1).iloc[0]
    trace = run(
        random_cmdp(),
        "npg_pd",
        seeds=[0],
        checkpoints=np.arange(51),
        primal_step=10.0,
        dual_step=0.0,
        **setting,
    )
    assert trace["optimality_gap"].iloc[-1] < -0.02
    assert row["positive_gap"] == pytest.approx(trace["optimality_gap"].clip(lower=0).mean())
    assert row["positive_gap"] < trace["optimality_gap"].abs().mean() - 0.01


def test_first_of_several_equal_scores_is_chosen():
    steps = {"primal_step": [0.0], "dual_step": [0.1, 0.2, 0.3]}
    found = calibration.score(random_cmdp(), "npgpd_hf", SETTING, steps, seeds=1)
    assert found["score"].nunique() == 1  # nothing moves without a primal step
    assert found["chosen"].tolist() == [True, False, False]
    assert calibration.chosen_steps(found) == (0.0, 0.1)


def test_calibration_uses_no_random_number_of_a_reported_run(table):
    row = table.iloc[2]
    gap = np.maximum(traces(row, "run")["optimality_gap"], 0).mean()
    assert abs(row["positive_gap"] - gap) > 1e-6


def test_threads_change_no_score_and_another_purpose_does(table):
    options = (random_cmdp(), "npgpd_hf", SETTING, CANDIDATES)
    assert calibration.score(*options, seeds=2, threads=3).equals(table)
    other = calibration.score(*options, seeds=2, purpose="calibration, instance 3")
    assert (other["score"] != table["score"]).all()


def test_chosen_steps_are_those_of_the_smallest_score(table):
    best = table.loc[table["score"].idxmin()]
    assert calibration.chosen_steps(table) == (best["primal_step"], best["dual_step"])
    reordered = {**CANDIDATES, "primal_step": CANDIDATES["primal_step"][::-1]}
    again = calibration.score(random_cmdp(), "npgpd_hf", SETTING, reordered, seeds=2)
    assert again["score"].tolist() == table["score"].iloc[[2, 3, 0, 1]].tolist()
    assert calibration.chosen_steps(again) == calibration.chosen_steps(table)


def test_steps_in_the_setting_are_replaced():
    setting = SETTING | {"primal_step": "calibrated", "dual_step": "calibrated"}
    found = calibration.score(random_cmdp(), "npgpd_hf", setting, CANDIDATES, seeds=1)
    plain = calibration.score(random_cmdp(), "npgpd_hf", SETTING, CANDIDATES, seeds=1)
    assert found.equals(plain)


def test_chosen_steps_are_read_back(tmp_path):
    one, several = tmp_path / "one.json", tmp_path / "several.json"
    one.write_text(json.dumps({"primal_step": 0.3, "dual_step": 0.1}))
    several.write_text(
        json.dumps({str(k): {"dual_step": 0.1, "primal_step": k / 10} for k in (1, 12)})
    )
    assert calibration.read_steps(one) == {None: (0.3, 0.1)}
    assert calibration.read_steps(several) == {1: (0.1, 0.1), 12: (1.2, 0.1)}
