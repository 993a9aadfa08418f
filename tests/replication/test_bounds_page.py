"""The page of bounds is made for every study, and has a row for each M, N and T of runs."""

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pages import make_page, texts

from pgpd_hf import random_cmdp, run, solve
from replication.files import storage
from replication.theory import lengths
from replication.theory.setting import Setting

ROOT = Path(__file__).parents[2]
SMALL = random_cmdp(3, 2, threshold=0.3)
STEPS = {"primal_step": 0.001, "dual_step": 0.01}


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Texts of the page of a study with short runs, and the rows of its table of runs."""

    def make(cmdp, algorithms, rates=(), horizon=20):
        cmdp.save(tmp_path / "environment.npz")
        best, setting = solve(cmdp), Setting(evaluators=None, iterations=1, horizon=horizon)
        found = lengths.lengths(cmdp, best, setting, [16], [1, 10], [100, 1000], 0, ())
        names = ("lengths", "first_lengths")
        for name, table in zip(names, found, strict=True):
            storage.write(tmp_path / f"{name}.csv", table)
        runs = []
        for name, own in [*((name, {}) for name in algorithms), *rates]:
            options = {"seeds": [0, 1], "iterations": 20, "horizon": 20, **STEPS}
            m = None if own else 16
            runs.append(tmp_path / f"{len(runs)}.parquet")
            traces = run(cmdp, name, evaluators=m, **options)
            storage.write(runs[-1], traces.assign(**own))
        shown, names = make_page(
            monkeypatch,
            "bounds",
            results=str(ROOT / "reference"),
            environment=str(tmp_path / "environment.npz"),
            **{name: str(tmp_path / f"{name}.csv") for name in names},
            traces=list(map(str, runs)),
            rates_runs=[],
            study={"algorithms": algorithms, "horizon": horizon, "link": "logistic"},
        )
        return texts(shown), names["found"], shown

    return make


BOTH = {"npgpd_hf": {"rounds": 1}, "zpgpd_hf": {"rounds": 1}}
RATES = [("npgpd_hf", {"step_rule": "study", "iterations": 20, "rounds": 1})]


def test_runs_of_figure_and_rates_have_a_row_for_each_m(page):
    texts, found, shown = page(SMALL, BOTH, RATES)
    assert list(found["algorithm"]) == ["npgpd_hf", "npgpd_hf", "zpgpd_hf"]
    assert found["evaluators"].fillna(0).tolist() == [16, 0, 16]
    assert found[["printed", "corrected", "best"]].notna().all().all()
    assert "of 9 bounds are below it (✓)." in texts[0]
    tables = [it.to_html() for it in shown if isinstance(it, pd.io.formats.style.Styler)]
    firsts = [table for table in tables if "First T with bounds below" in table]
    assert len(firsts) == 3
    assert all("M = ∞" in table and "N = 10" in table for table in firsts)


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_one_algorithm_without_rates(page, name):
    _, found, _ = page(SMALL, {name: {"rounds": 1}})
    assert list(found["algorithm"]) == [name]
    assert list(found["iterations"]) == [20]


def test_algorithms_without_a_theorem_leave_the_bounds(page):
    texts, found, _ = page(SMALL, {"npg_pd": {}})
    assert found.empty
    assert "0 of 0 bounds" in texts[0]


def test_threshold_beyond_what_trajectories_return_leaves_the_measured_with_the_reason(page):
    texts, found, _ = page(replace(SMALL, threshold=0.31), BOTH, RATES, horizon=2)
    assert found["measured"].notna().all()
    assert found[["printed", "corrected", "best"]].isna().all().all()
    assert texts[-1].startswith("Left out: threshold: 0 <= b <= G(H)")
