"""Tools that print tables."""

import sys
from pathlib import Path

import pandas as pd
import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture
def compare_resources(monkeypatch):
    """The tool as a module."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield __import__("compare_resources")
    del sys.modules["compare_resources"]


def write_benchmark(path, name, seconds, megabytes, **asked):
    """A benchmark file as Snakemake writes it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    row = {"s": seconds, "max_rss": megabytes, "rule_name": name, "resources": repr(asked)}
    pd.DataFrame([row]).to_csv(path, sep="\t", index=False)


def test_largest_requests_and_uses_of_each_rule(tmp_path, compare_resources):
    write_benchmark(tmp_path / "runs/a.tsv", "simulate", 60.0, 300.0, runtime=5, mem_mb=1400)
    write_benchmark(tmp_path / "runs/b.tsv", "simulate", 30.0, 310.0, runtime=7, mem_mb=1400)
    write_benchmark(tmp_path / "sweep.tsv", "sweep", 6.0, 200.0, runtime=9, mem_mb=1500)
    write_benchmark(tmp_path / "local.tsv", "summary", 6.0, 200.0, tmpdir="x")
    table = compare_resources.compare(tmp_path)
    assert table.to_dict("records") == [
        {
            "rule": "simulate",
            "jobs": 2,
            "minutes_asked": 7,
            "minutes_used": 1.0,
            "mb_asked": 1400,
            "mb_used": 310.0,
        },
        {
            "rule": "sweep",
            "jobs": 1,
            "minutes_asked": 9,
            "minutes_used": 0.1,
            "mb_asked": 1500,
            "mb_used": 200.0,
        },
    ]


def test_study_without_requests_is_said_so(tmp_path, monkeypatch, compare_resources):
    monkeypatch.setattr(sys, "argv", ["compare_resources.py", str(tmp_path)])
    with pytest.raises(SystemExit, match="no benchmark files that say what was asked for"):
        compare_resources.main()
