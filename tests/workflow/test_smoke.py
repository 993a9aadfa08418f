"""The smoke experiment: what it makes, and that it makes the same bytes however it is run."""

import getpass
import itertools
import json
import platform
import signal
import subprocess
import time
from hashlib import sha256
from pathlib import Path

import pytest

from conftest import SMOKE
from pgpd_hf import CMDP, NPGPDHF, run
from pgpd_hf.tables import read_table, read_traces

pytestmark = pytest.mark.workflow


def test_outputs_are_those_that_are_promised(smoke):
    project, output = smoke
    results = project.folder / "results/smoke"
    runs = {path.relative_to(results / "runs").as_posix() for path in results.glob("runs/*/*/*")}
    assert runs == {
        "npgpd_hf/M8/seeds0000-0009.csv",
        "npgpd_hf/M8/seeds0010-0011.csv",
        "zpgpd_hf/M8/seeds0000-0009.csv",
        "zpgpd_hf/M8/seeds0010-0011.csv",
        "npg_pd/Minf/seeds0000-0000.csv",
    }
    table = read_table(results / "aggregate.csv")
    assert [*table["algorithm"].unique()] == ["npgpd_hf", "zpgpd_hf", "npg_pd"]
    for metric in ("optimality_gap", "constraint_violation"):
        for ending in ("pdf", "svg", "png", "csv"):
            assert (results / f"figures/npg_pd_{metric}.{ending}").stat().st_size > 500
    rates = read_table(results / "rates.csv")[["algorithm", "step_rule"]]
    expected = itertools.product(("npgpd_hf", "zpgpd_hf"), ("study", "theorem"))
    assert {*rates.itertuples(index=False, name=None)} == {*expected}
    averages = read_table(results / "rates_averages.csv")
    bounded = averages["metric"].isin(["gap", "violation"]) & (averages["step_rule"] == "theorem")
    assert averages["bound"].notna().tolist() == bounded.tolist()
    summary = (results / "summary.txt").read_text()
    assert len(summary.splitlines()) <= 40
    assert summary in output
    pages = [path.stat().st_size for path in results.glob("notebooks/*.html")]
    assert max(pages) < 1.5e6  # Chromium shows no larger page of a report
    page = (results / "notebooks/figure1.html").read_text()
    assert "<title>figure1</title>" in page
    assert '<img alt="Panels of gap and violation' in page
    told = "HF has the default's primal_step and dual_step, found with other values of evaluators, "
    assert summary.count(told) == 2
    assert "\nH = 10 misses 31% of a value at discount 0.9: horizon: 80 misses " in summary
    assert not (project.folder / "figures").exists()


def test_make_shows_the_summary_where_nothing_is_left_to_do(finished):
    command = ["make", "--old-file", ".venv/kernels", "figures", "CONFIG=config/smoke.yaml"]
    done = subprocess.run(command, cwd=finished.folder, capture_output=True, text=True)
    assert "Nothing to be done" in done.stderr
    assert done.stdout.count((finished.folder / "results/smoke/summary.txt").read_text()) == 1


def test_runs_have_the_random_numbers_of_their_purposes(smoke):
    results = smoke[0].folder / "results/smoke"
    cmdp = CMDP.load(results / "environment.npz")
    steps = {"primal_step": 0.1, "dual_step": 0.1, "rounds": 1, "horizon": 10}
    found = read_traces([results / "runs/npgpd_hf/M8/seeds0010-0011.csv"])
    algorithm = NPGPDHF(evaluators=8, **steps)
    trace = run(cmdp, algorithm, seeds=[10, 11], iterations=40, purpose="typical")
    assert found.equals(trace)
    found = read_traces([results / "rates/npgpd_hf/Minf/study/seeds0000-0001.csv"])
    algorithm = NPGPDHF(evaluators=None, **steps | {"dual_step": 0.1 * 2})
    purpose = "typical: rates with the steps of the study, T = 10"
    options = {"seeds": [0, 1], "iterations": 10, "checkpoints": [9], "purpose": purpose}
    trace = run(cmdp, algorithm, **options)
    assert found[found["T"] == 10].drop(columns=["step_rule", "T"]).equals(trace)


def test_records_hold_nothing_private(smoke):
    project, _ = smoke
    record = (project.folder / "results/smoke/provenance.json").read_text()
    for private in (getpass.getuser(), platform.node(), str(Path.home()), str(project.folder)):
        assert f'"{private}' not in record
        assert private not in record or len(private) < 6
    content = json.loads(record)
    assert content["commit"] is None
    assert content["why"] == "no repository, or no git"
    assert content["config"]["name"] == "smoke"
    assert content["versions"]["numba"]
    table = (project.folder / "results/smoke/aggregate.csv").read_bytes()
    assert content["aggregate"] == sha256(table).hexdigest()


def test_interrupted_run_goes_on_and_ends_with_the_same_bytes(smoke, project):
    for cores, name in ((2, signal.SIGINT), (1, signal.SIGTERM)):
        process = project.start(*SMOKE, "--cores", cores)
        made = len([*project.folder.glob("results/smoke/r*/*/*/*")])
        while len([*project.folder.glob("results/smoke/r*/*/*/*")]) <= made:
            assert process.poll() is None, process.communicate()[0]
            time.sleep(0.05)
        process.send_signal(name)
        process.communicate()
        assert process.returncode != 0
    project.snakemake(*SMOKE, "--cores", "2")
    assert project.contents() == smoke[0].contents()


def test_page_that_fails_shows_the_end_of_the_error(finished):
    notebook = finished.folder / "notebooks/rates.ipynb"
    content = json.loads(notebook.read_text())
    content["cells"][2]["source"] = ["for k in range(99):\n    print(k)\n", "1 / 0"]
    notebook.write_text(json.dumps(content))
    page = "results/smoke/notebooks/rates.html"
    output = finished.snakemake(page, *SMOKE, "--cores", "1", code=1)
    log = (finished.folder / "results/smoke/logs/rates_page.log").read_text()
    assert log.endswith("ZeroDivisionError: division by zero\n")
    assert len(log.splitlines()) <= 20
    assert log in output
    assert not (finished.folder / page).exists()
