import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run
from pgpd_hf.analyses import instances
from pgpd_hf.studies import calibration, configuration

SETTING = {"iterations": 40, "pairs": 1}
STUDY = {
    "environment": {"file": None, "states": 4, "actions": 3, "discount": 0.8,
                    "concentration": 5, "threshold": 0.5, "scale": "normalized", "instance": 1},
    "evaluators": [8, None],
    "seeds": 2,
    "horizon": 10,
    "link": "logistic",
    "algorithms": {
        "npgpd_hf": SETTING | {"primal_step": "calibrated", "dual_step": "calibrated"}
    },
    "calibration": {
        "evaluators": 8,
        "seeds": 2,
        "grid": {"npgpd_hf": {"primal_step": [0.1, 1.0], "dual_step": [0.1, 0.3]}},
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def found():
    return instances.run_instance(STUDY, "npgpd_hf", 3)


def test_instance_is_run_with_the_steps_that_were_calibrated_on_it(found):
    scores, traces = found
    chosen = scores[scores["chosen"]].iloc[0]
    expected = pd.concat(
        run(
            random_cmdp(states=4, actions=3, discount=0.8, threshold=0.5, instance=3),
            "npgpd_hf",
            evaluators=people,
            seeds=range(2),
            horizon=10,
            primal_step=chosen["primal_step"],
            dual_step=chosen["dual_step"],
            purpose="instance 3",
            **SETTING,
        )
        for people in (8, None)
    )
    pd.testing.assert_frame_equal(traces, expected.reset_index(drop=True))


def test_no_two_instances_share_random_numbers(found, monkeypatch):
    """The same process under another number gives other runs and other scores."""
    process = configuration.instance(STUDY, 3)
    monkeypatch.setattr(configuration, "instance", lambda study, number: process)
    scores, traces = instances.run_instance(STUDY, "npgpd_hf", 4)
    last = traces.groupby(["evaluators", "seed"], dropna=False).tail(1)
    before = found[1].groupby(["evaluators", "seed"], dropna=False).tail(1)
    assert (last["multiplier"].to_numpy() != before["multiplier"].to_numpy()).all()
    assert (scores["score"] != found[0]["score"]).all()
    again = instances.run_instance(STUDY, "npgpd_hf", 3)
    pd.testing.assert_frame_equal(again[1], found[1])


def test_calibration_of_an_instance_uses_no_random_number_of_its_runs(monkeypatch):
    purposes = []

    def choose(cmdp, algorithm, study, threads, purpose):
        purposes.append(purpose)
        return calibration.score_grid(
            cmdp, algorithm, {"evaluators": 8, "horizon": 10, **SETTING},
            STUDY["calibration"]["grid"][algorithm], 1, threads, purpose
        ), (0.1, 0.1)  # fmt: skip

    monkeypatch.setattr(calibration, "choose", choose)
    instances.run_instance(STUDY, "npgpd_hf", 3)
    assert purposes == ["calibration, instance 3"]


def test_given_steps_are_not_calibrated():
    options = SETTING | {"primal_step": 0.5, "dual_step": 0.2}
    study = {**STUDY, "algorithms": {"npgpd_hf": options}}
    scores, traces = instances.run_instance(study, "npgpd_hf", 3)
    assert scores.empty
    assert np.isfinite(traces["optimality_gap"]).all()
