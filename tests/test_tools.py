"""Commands in tools/: what they write and say."""

import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import aggregate, random_cmdp, run
from pgpd_hf.tables import read_table, write_json, write_table

ROOT = Path(__file__).parents[1]
CHECKS = runpy.run_path(str(ROOT / "workflow/scripts/configuration.py"))
SETTING = {"iterations": 9, "horizon": 3, "evaluators": 4, "primal_step": 0.1, "dual_step": 0.1}


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """A function that calls a tool in an empty folder; what it says is returned."""
    monkeypatch.chdir(tmp_path)

    def call(tool, *arguments):
        monkeypatch.setattr(sys, "argv", [tool, *map(str, arguments)])
        runpy.run_path(str(ROOT / "tools" / tool), run_name="__main__")
        return capsys.readouterr().out

    return call


@pytest.mark.parametrize("purpose", ["typical", "other"])
def test_overlay_pairs_the_seeds_that_both_experiments_have(tmp_path, call, purpose):
    """In another family of random streams no seed is the same: there are two samples."""
    ends = {}
    for name, family, seeds in (("mine", "typical", 3), ("yours", purpose, 5)):
        trace = run(random_cmdp(), "npgpd_hf", seeds=range(seeds), purpose=family, **SETTING)
        ends[name] = 10 * trace.query("iteration == 9")["optimality_gap"].to_numpy()
        path = tmp_path / f"results/{name}/runs/npgpd_hf/M4/seeds0000-000{seeds - 1}.csv"
        path.parent.mkdir(parents=True)
        write_table(trace, path)
        write_table(aggregate(trace), tmp_path / f"results/{name}/aggregate.csv")
        write_table(trace[:9], path.with_stem("seeds0000-0000"))  # of a shorter experiment
        algorithms = {"npgpd_hf": {"rounds": seeds}, name: {"rounds": 1}}
        config = {"algorithms": algorithms, "purpose": family}
        config |= {"environment": {"instance": 42}, "horizon": 3, "link": "logistic"}
        write_json({"config": config}, tmp_path / f"results/{name}/provenance.json")
        units = {"reward_unit": 10.0, "cost_unit": 2.0}
        write_json({"units": units}, tmp_path / f"results/{name}/optimum.json")
    first, second = ends.values()
    if paired := purpose == "typical":
        second = second[:3]
        interval = (0.0, 0.0, 0.0)  # the same runs
    else:
        interval = stats.ttest_ind(second, first, equal_var=False).confidence_interval()
        interval = (second.mean() - first.mean(), *interval)
    said = call("overlay.py", "mine", "yours")
    table = read_table(tmp_path / "results/overlay/mine-yours.csv")
    row = table.set_index("metric").loc["optimality_gap"]
    assert row[["algorithm", "evaluators", "paired"]].tolist() == ["npgpd_hf", 4, paired]
    assert row[["first_seeds", "second_seeds"]].tolist() == [3, 3 if paired else 5]
    means = row[["first", "second", "difference", "low", "high"]].tolist()
    assert means == pytest.approx([first.mean(), second.mean(), *interval], rel=1e-12, abs=1e-15)
    assert table.shape == (2, 11)
    assert said.split()[:8] == "algorithm M metric mine yours difference low high".split()
    assert "\nSettings that differ:\n  algorithms.mine.rounds: 1, None\n" in said
    assert "\n  algorithms.npgpd_hf.rounds: 3, 5\n" in said
    assert ("\n  purpose: typical, other\n" in said) != paired
    assert ("over the 3 seeds that both have" in said) == paired
    made = {path.suffix for path in (tmp_path / "results/overlay").iterdir()}
    assert made == {".csv", ".pdf", ".svg", ".png"}
    with pytest.raises(SystemExit, match="^error: EXPERIMENTS: names of .* expected, got 'none'$"):
        call("overlay.py", "mine", "none")
    next(tmp_path.glob("results/yours/runs/*/*/*04.csv")).unlink()
    with pytest.raises(SystemExit, match="^error: .*No such file .*results/yours/runs/"):
        call("overlay.py", "mine", "yours")
    with pytest.raises(SystemExit, match="^error: EXPERIMENTS: two names expected, got 'mine'$"):
        call("overlay.py", "mine")


@pytest.mark.workflow
def test_plan_adds_up_what_jobs_ask_for(tmp_path, call):
    smoke = ("--snakefile", ROOT / "Snakefile", "--configfile", ROOT / "config/smoke.yaml")
    lines = call("plan.py", *smoke, "--config", "horizon=99999").splitlines()
    rows = {line.split()[0]: line.split()[1:] for line in lines[2:]}
    assert rows["runs"] == ["5", "30", "2000", "102", "10000"]  # 10, and T * (H + 1) / 10^6
    numbers = [[int(it.replace("-", "0")) for it in row] for row in rows.values()]
    *jobs, total = np.array(numbers)[:, [0, 3, 4]].tolist()
    assert np.sum(jobs, axis=0).tolist() == total
    with pytest.raises(SystemExit, match="seeds: got 0; expected: number of seeds"):
        call("plan.py", *smoke, "--config", "seeds=0")


def test_steps_are_lines_of_a_configuration(tmp_path, call):
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nevaluators: [4]\nhorizon: 5\nenvironment: {instance: 3}\n"
        "algorithms:\n  npgpd_hf: {iterations: 30, rounds: 2}\n  zpgpd_hf: null\n"
        "  npg_pd: {iterations: 9, primal_step: 0.00001, dual_step: theorem}\n"
    )
    said = call("steps.py", "mine.yaml", "--cores", "1")
    (tmp_path / "again.yaml").write_text(f"name: again\n{said}")
    config, _ = CHECKS["check_files"](["again.yaml"])
    found = config["algorithms"]["npgpd_hf"]
    assert (found["iterations"], found["rounds"]) == (30, 2)
    exact = {"iterations": 9, "primal_step": 0.00001, "dual_step": "theorem"}
    assert config["algorithms"] == {"npgpd_hf": found, "npg_pd": exact}
    with pytest.raises(SystemExit, match="^error: none.yaml: .* No such file"):
        call("steps.py", "none.yaml")


def test_steps_that_hardly_learn_are_told(tmp_path, call):
    """What choose_steps warns of stands above its steps."""
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nevaluators: [4]\nhorizon: 5\n"
        "algorithms: {npgpd_hf: {iterations: 1}, zpgpd_hf: null}\n"
    )
    said = call("steps.py", "mine.yaml", "--cores", "1")
    assert "\n  # iterations: more expected, since " in said


def test_record_copies_what_a_study_has_made_and_else_keeps_what_there_is(tmp_path):
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    tables, made = tmp_path / "studies/mine/tables", tmp_path / "results/paper/mine"
    tables.mkdir(parents=True)
    (tables / "old.csv").write_text("a\n")
    command = [sys.executable, "tools/record.py", "mine"]
    refused = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert refused.stderr.endswith("mine: no tables; make study STUDY=mine makes them\n")
    assert (tables / "old.csv").exists()
    made.mkdir(parents=True)
    for name in ("new.csv", "asked.csv", "mine.png"):
        (made / name).write_text(name)
    subprocess.run(command, cwd=tmp_path, check=True)
    found = {path.name for path in tables.parent.rglob("*") if path.is_file()}
    assert found == {"new.csv", "mine.png"}


def test_verification_finds_differences_of_a_table(tmp_path):
    recorded = pd.DataFrame({"seed": ["0", "1"], "gap": ["0.1", ""], "sha256": ["ab", "cd"]})
    write_table(recorded, tmp_path / "recorded.csv")

    def told(table, **how):
        write_table(table, tmp_path / "here.csv")
        difference = runpy.run_path(str(ROOT / "tools/verify.py"))["difference"]
        return difference(tmp_path / "recorded.csv", tmp_path / "here.csv", **how)

    assert told(recorded) == ""
    assert told(recorded[:1], one_seed=True) == ""
    near = recorded.assign(gap=["0.100000001", ""], sha256="ef")
    assert told(near, exact=False) == ""
    column = '(column name="gap") are different: '
    assert column in told(near)
    assert column in told(recorded.assign(gap=["0.10000002", ""]), exact=False)
    assert column in told(recorded.assign(gap=["0.1", "0"]), exact=False)
    assert "are different" in told(recorded[:1], exact=False)
    assert "are different" in told(recorded.drop(columns="gap"), exact=False)


def test_verification_ends_with_an_error_where_a_number_differs(tmp_path, monkeypatch, capsys):
    names = runpy.run_path(str(ROOT / "tools/verify.py"))["main"].__globals__
    monkeypatch.setattr(sys, "argv", ["verify.py"])
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    recorded, made = (ROOT / "reference/rates.csv", tmp_path / "rates.csv")
    names |= {"run": lambda *told: None, "tables": lambda *told: {recorded: made}}
    monkeypatch.setenv("OPENBLAS_CORETYPE", "another")  # it decides the last bits of a linear solve
    made.write_text(recorded.read_text())
    names["main"]()
    said = capsys.readouterr().out
    assert "OpenBLAS another" in said
    assert said.endswith("yes\nAll agrees for seed 0; FULL=1 compares the rest.\n")
    made.write_text(recorded.read_text().replace("-0.73", "-0.74"))
    with pytest.raises(SystemExit, match="^Not all agrees; what was run is in "):
        names["main"]()
    assert "NO: DataFrame" in capsys.readouterr().out
