"""The page of rates is made for every study that is run, and says which bounds it lacks."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pages import make_page, texts

from pgpd_hf import random_cmdp
from replication import analyses
from replication.analyses import rates
from replication.files import storage
from replication.study import admission, configuration, readings
from replication.study.cases import run_cases

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)
RACED = {"primal_step": 0.001, "dual_step": 0.01, "perturbation": 1.0}
SMALL = random_cmdp(3, 2, threshold=0.3)


def rescaled(factor):
    """The small process with other units of reward and utility."""
    return replace(
        SMALL,
        reward=factor * SMALL.reward,
        utility=factor * SMALL.utility,
        threshold=factor * SMALL.threshold,
        scale=factor * SMALL.scale,
    )


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Texts of the page of a study, and its table of bounds; the runs are as long as can be."""

    def make(cmdp=None, **own):
        lengths = {"npgpd_hf": [2, 4], "zpgpd_hf": [3, 6]}
        own["rates"] = {"seeds": 2, "iterations": lengths, "evaluators": [1, 16], **own["rates"]}
        if cmdp is not None:
            cmdp.save(tmp_path / "mine.npz")
            own["environment"] = {"file": str(tmp_path / "mine.npz")}
            own["algorithms"] = {"zpgpd_hf": {"perturbation": "calibrated"}}  # Theorem 2's is wide
        config, _ = admission.admit(
            readings.overlay(CONFIG, own), ROOT, own, CONFIG, analyses.find()
        )
        cmdp = configuration.environment(config)
        cmdp.save(tmp_path / "environment.npz")
        cases = [case for work in rates.plan(config).values() for _, it in work for case in it]
        runs = tmp_path / "runs.parquet"
        storage.write(runs, run_cases(cases, cmdp, RACED))
        storage.write(tmp_path / "rates.csv", rates.tables([runs])["rates"])
        places = {"results": str(tmp_path), "environment": str(tmp_path / "environment.npz")}
        given = {**places, "runs": [str(runs)], **rates.parameters(config)}
        shown, names = make_page(monkeypatch, "rates", **given)
        return texts(shown), names["own"]

    return make


def test_all_bounds_of_the_default_environment_are_there(page):
    texts, table = page(rates={"evaluators": [16, None]})
    assert texts == ["The largest possible value is 1; 16 of 16 bounds are not below it."]
    assert np.isfinite(table["bound"]).all()


def test_radius_that_races_is_not_the_theorems(page):
    candidates = {"zpgpd_hf": {"perturbation": [0.3, 1.0]}}
    texts, table = page(
        algorithms={"zpgpd_hf": {"perturbation": "calibrated"}},
        calibration={"candidates": candidates},
        rates={"evaluators": [16, None]},
    )
    assert texts[1:] == [
        "No bound in 8 rows, outside the assumptions. ZPGPD-HF: perturbation: the theorem is for "
        "its own radius."
    ]
    assert (table["bound"].isna() == (table["algorithm"] == "ZPGPD-HF")).all()


@pytest.mark.parametrize(
    ("cmdp", "said"),
    [
        (
            replace(SMALL, initial=[1, 0, 0], threshold=0.2),
            "No runs of ZPGPD-HF with its theorem's steps: the dual one is infinite, since the",
        ),
        (rescaled(20), "NPGPD-HF: scale: rewards and utilities in [0, 1] (line 103) expected, got"),
        (rescaled(700), "NPGPD-HF: scale: rewards and utilities in [0, 1] (line 103) expected, g"),
        (replace(SMALL, threshold=-1e-300), "NPGPD-HF: threshold: 0 <= b <= G(H)"),
        (SMALL, "NPGPD-HF: evaluators: M >= 2 expected"),
    ],
    ids=["one first state", "scale 2", "scale 70", "threshold below zero", "one person"],
)
def test_bounds_outside_the_assumptions_are_left_out_with_the_reason(page, cmdp, said):
    texts, table = page(cmdp, rates={})
    assert [text for text in texts if said in text], texts
    assert table["bound"].isna().any()
    assert table["mean"].notna().all()


def test_threshold_beyond_what_trajectories_return(page):
    """As on the lake: b is below the largest value, but not below that of three steps."""
    texts, _ = page(SMALL, horizon=2, rates={})
    assert [text for text in texts if "NPGPD-HF: threshold: 0 <= b <= G(H)" in text], texts
