"""Commands in tools/: what they write and say."""

import runpy
import shutil
import sys
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import aggregate, random_cmdp, run
from pgpd_hf.tables import read_table, write_json, write_table

ROOT = Path(__file__).parents[1]
CHECKS = runpy.run_path(str(ROOT / "workflow/scripts/configuration.py"))
UNITS = 10.0, 2.0, 1.0, 1.0
SETTING = {"iterations": 9, "horizon": 3, "primal_step": 0.1, "dual_step": 0.1}


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """A function that calls a tool in an empty folder; what it says is returned."""
    monkeypatch.chdir(tmp_path)

    def call(tool, *arguments):
        monkeypatch.setattr(sys, "argv", [tool, *map(str, arguments)])
        runpy.run_path(str(ROOT / "tools" / tool), run_name="__main__")
        return capsys.readouterr().out

    return call


def finish(folder, purpose, seeds, others=()):
    """What an experiment leaves in its folder, in units of its own; gaps at its ends for M = 4."""
    options = SETTING | {"seeds": range(seeds), "purpose": purpose, "primal_step": seeds / 10}
    traces = [run(random_cmdp(), "npgpd_hf", evaluators=M, **options) for M in (4, *others)]
    for M, trace in zip((4, *others), traces, strict=True):
        runs = folder / f"runs/npgpd_hf/M{M or 'inf'}"
        runs.mkdir(parents=True)
        write_table(trace, runs / f"seeds0000-000{seeds - 1}.csv")
        write_table(trace[:9], runs / "seeds0000-0000.csv")  # of a shorter experiment
    write_table(aggregate(pd.concat(traces)), folder / "aggregate.csv")
    replace(random_cmdp(instance=len(purpose)), units=UNITS).save(folder / "environment.npz")
    algorithms = {"npgpd_hf": {"primal_step": seeds / 10}, folder.name: {"iterations": 9}}
    config = {"algorithms": algorithms, "purpose": purpose, "rates": {"seeds": seeds}}
    config |= {"environment": {"instance": len(purpose)}, "horizon": 3, "link": "logistic"}
    digest = sha256((folder / "aggregate.csv").read_bytes()).hexdigest()
    write_json({"config": config, "aggregate": digest}, folder / "provenance.json")
    optimum = {"reward_value": 0.7, "threshold": 0.02, "slack": 0.1, "unconstrained": {}}
    optimum["unconstrained"]["reward_value"] = 0.8
    write_json(optimum, folder / "optimum.json")
    return 10 * traces[0].query("iteration == 9")["optimality_gap"].to_numpy()


@pytest.mark.parametrize("purpose", ["typical", "other"])
def test_overlay_pairs_the_seeds_that_both_experiments_have(tmp_path, call, purpose):
    """In another family of random streams no seed is the same: there are two samples."""
    first = finish(tmp_path / "results/mine", "typical", 3)
    second = finish(tmp_path / "results/yours", purpose, 5, others=[None])
    differing = "  algorithms.npgpd_hf.primal_step: 0.3, 0.5\n"
    if paired := purpose == "typical":
        second = second[:3]
        tested = stats.ttest_rel(second, first)
    else:
        tested = stats.ttest_ind(second, first, equal_var=False)
        differing += '  environment.instance: 7, 5\n  purpose: "typical", "other"\n'
    expected = [first.mean(), second.mean(), second.mean() - first.mean()]
    expected += tested.confidence_interval()
    said = call("overlay.py", "mine", "yours")
    row = read_table(tmp_path / "results/overlay/mine-yours.csv").iloc[0]
    named = ["algorithm", "evaluators", "metric", "paired", "first_seeds", "second_seeds"]
    assert row[named].tolist() == ["npgpd_hf", 4, "optimality_gap", paired, 3, len(second)]
    means = row[["first", "second", "difference", "low", "high"]].tolist()
    assert means == pytest.approx(expected, rel=1e-9)
    assert f"\nSettings that differ:\n{differing}results/" in said
    assert ("; paired by seed, 3 that both have.\n" in said) == paired
    assert ("; 3 and 5 seeds, not paired.\n" in said) != paired
    assert "\nOnly in yours: npgpd_hf with M = inf\n" in said and "Only in mine" not in said
    assert ("\nEnvironments differ:\n" in said) != paired
    assert ("cost at most -0.1, units: reward 10, cost 2>; best safe reward 8\n" in said) != paired
    assert "\nGaps and violations are in units of the reward and of the cost.\n" in said
    made = {path.suffix for path in (tmp_path / "results/overlay").iterdir()}
    assert made == {".csv", ".pdf", ".svg", ".png"}
    tool = runpy.run_path(str(ROOT / "tools/overlay.py"))
    traces, optimum, *_ = tool["read"]("mine")
    curves = tool["means"](traces, optimum)
    assert curves["constraint_violation_high"].max() == 0.02  # of what a policy can have
    random_cmdp().save(tmp_path / "results/yours/environment.npz")
    said = call("overlay.py", "mine", "yours")
    assert "\nGaps and violations are in stored units, " in said
    assert said.count("; best safe reward 0.7\n") == 2
    assert [tool["signed"](number) for number in (0.12345, -12345.6)] == ["+0.123", "-12,346"]
    row = read_table(tmp_path / "results/overlay/mine-yours.csv").iloc[0]
    assert row["difference"] == pytest.approx(expected[2] / 10)  # not in the units of one of them


def test_overlay_without_two_finished_experiments_is_refused(tmp_path, call):
    for name in ("mine", "yours"):
        finish(tmp_path / "results" / name, "typical", 3)
    path = tmp_path / "results/mine/runs/npgpd_hf/M4/seeds0000-0002.csv"
    table = read_table(path)
    write_table(table.assign(multiplier=0.5), path)  # other runs than those of the aggregate
    with pytest.raises(SystemExit, match="^error: mine: changed since"):
        call("overlay.py", "mine", "yours")
    path.unlink()
    for names in (["none", "mine"], ["mine"], ["mine", "mine"]):
        told = rf"two different names .* \(mine, yours\) expected, got '{' '.join(names)}'$"
        with pytest.raises(SystemExit, match=f"^error: EXPERIMENTS: {told}"):
            call("overlay.py", *names)
    with pytest.raises(SystemExit, match="mine: changed since make figures has finished it; run "):
        call("overlay.py", "mine", "yours")


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
    """What choose_steps warns of stands above its steps."""
    (tmp_path / "mine.yaml").write_text(
        "name: mine\nevaluators: [4]\nhorizon: 5\nenvironment: {instance: 3}\n"
        "algorithms:\n  npgpd_hf: {iterations: 1, rounds: 2, dual_step: theorem}\n"
        "  zpgpd_hf: null\n  npg_pd: {iterations: 9, primal_step: 0.00001, dual_step: theorem}\n"
    )
    said = call("steps.py", "mine.yaml", "--cores", "1")
    assert ": iterations: more expected, since " in said
    (tmp_path / "again.yaml").write_text(f"name: again\n{said}")
    config, _ = CHECKS["check_files"](["again.yaml"])
    found = config["algorithms"]["npgpd_hf"]
    assert (found["iterations"], found["rounds"]) == (1, 2)
    assert found["dual_step"] != "theorem"
    exact = {"iterations": 9, "primal_step": 0.00001, "dual_step": "theorem"}
    assert config["algorithms"] == {"npgpd_hf": found, "npg_pd": exact}
    with pytest.raises(SystemExit, match="^error: none.yaml: .* No such file"):
        call("steps.py", "none.yaml")


def test_record_copies_what_a_study_has_made_and_else_keeps_what_there_is(
    tmp_path, call, monkeypatch
):
    tools = shutil.copytree(ROOT / "tools", tmp_path / "tools")
    monkeypatch.syspath_prepend(tools)
    tables, made = tmp_path / "studies/mine/tables", tmp_path / "results/paper/mine"
    tables.mkdir(parents=True)
    (tables / "old.csv").write_text("a\n")
    with pytest.raises(SystemExit, match="mine: no tables; make study STUDY=mine makes them$"):
        call(tools / "record.py", "mine")
    assert (tables / "old.csv").exists()
    made.mkdir(parents=True)
    for name in ("new.csv", "asked.csv", "mine.png"):
        (made / name).write_text(name)
    call(tools / "record.py", "mine")
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
    (tmp_path / "studies/mine").mkdir(parents=True)
    (tmp_path / "studies/mine/Snakefile").touch()
    monkeypatch.setattr(sys, "argv", ["verify.py", "--study", "mine"])
    missing = {tmp_path / "sepsis_runs.csv": tmp_path / "none.csv"}
    names |= {"CLONE": tmp_path, "tables": lambda *told: missing, "find_spec": lambda name: None}
    names["main"]()
    assert "All agrees. But icu-sepsis is not installed" in capsys.readouterr().out
    others = {tmp_path / "runs.csv": tmp_path / "none.csv"}
    for wrong in ({"find_spec": lambda name: True}, {"tables": lambda *told: others}):
        names |= wrong
        with pytest.raises(FileNotFoundError):
            names["main"]()
        names["find_spec"] = lambda name: None
