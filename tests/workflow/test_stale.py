"""What is made again: what depends on what has changed, and nothing else."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import ROOT, SMOKE

pytestmark = pytest.mark.workflow

AFTER_RUNS = {"aggregate": 1, "figure": 1, "provenance": 1, "summary": 1}
AFTER_RATES = {"rates_table": 1, "rates_page": 1, "provenance": 1, "summary": 1}
MINE = "class: mine.py:Mine, iterations: 9, primal_step: 1, dual_step: 1"
OWN = """
import pgpd_hf

class Mine(pgpd_hf.NPGPDHF):
    name = "mine"
    advance = pgpd_hf.NPGPDHF.advance
"""
EVERYTHING = AFTER_RUNS | AFTER_RATES | {"runs": 5, "rates_runs": 4}


def test_nothing_is_made_again_where_nothing_has_changed(finished):
    assert finished.jobs(*SMOKE) == {}
    for path in finished.folder.rglob("*"):
        if path.is_file():
            os.utime(path)
    assert finished.jobs(*SMOKE) == {}


@pytest.mark.parametrize(
    ("file", "jobs"),
    [
        ("workflow/scripts/aggregate.py", AFTER_RUNS),
        ("workflow/scripts/summary.py", {"summary": 1}),
        ("workflow/scripts/run.py", EVERYTHING),
        ("src/pgpd_hf/figures.py", {"figure": 1, "rates_page": 1, "provenance": 1, "summary": 1}),
        ("src/pgpd_hf/npgpd_hf.py", AFTER_RUNS | AFTER_RATES | {"runs": 3, "rates_runs": 2}),
        ("src/pgpd_hf/zpgpd_hf.py", AFTER_RUNS | AFTER_RATES | {"runs": 2, "rates_runs": 2}),
        ("src/pgpd_hf/environments.py", EVERYTHING | {"environment": 1}),
        ("notebooks/rates.ipynb", {"rates_page": 1, "provenance": 1, "summary": 1}),
        ("src/pgpd_hf/arguments.py", {}),
    ],
)
def test_edit_makes_again_what_depends_on_it_until_it_is_undone(finished, file, jobs):
    path = finished.folder / file
    before = path.read_bytes()
    path.write_bytes(before + b"\n")
    assert finished.jobs(*SMOKE) == jobs
    path.write_bytes(before)
    assert finished.jobs(*SMOKE) == {}


def test_runs_depend_on_all_that_they_import(finished):
    target = "results/smoke/runs/npgpd_hf/M8/seeds0010-0011.csv"
    output = finished.snakemake(target, *SMOKE, "--dry-run", "--force", "--quiet", "host")
    inputs = re.search(r"^rule runs:\n    input: (.*)$", output, re.M)[1].split(", ")
    # What only refuses arguments, or belongs to another algorithm, changes no bit of a run.
    needed, found = {"runs", "tables"}, {"arguments", "zpgpd_hf"}
    while needed:
        found.add(name := needed.pop())
        text = (ROOT / f"src/pgpd_hf/{name}.py").read_text()
        needed |= {*re.findall(r"^from pgpd_hf\.(\w+) import", text, re.M)} - found
        assert f"src/pgpd_hf/{name}.py" in inputs


@pytest.mark.parametrize(
    ("setting", "jobs"),
    [
        ("seeds: 14", AFTER_RUNS | {"runs": 2}),
        ("seeds: 25", AFTER_RUNS | {"runs": 4}),
        ("rates: {seeds: 12}", AFTER_RATES | {"rates_runs": 8}),
        ("rates: null", {"provenance": 1, "summary": 1}),
        ("link: probit", AFTER_RUNS | AFTER_RATES | {"runs": 4, "rates_runs": 4}),
        ("algorithms: {npg_pd: {dual_step: 1}}", AFTER_RUNS | {"runs": 1}),
        ("algorithms: {zpgpd_hf: null}", AFTER_RUNS | AFTER_RATES),
        (f"algorithms: {{mine: {{{MINE}}}}}", AFTER_RUNS | {"runs": 2}),
        ("environment: {instance: 1}", EVERYTHING | {"environment": 1}),
    ],
)
def test_setting_makes_again_what_depends_on_it(smoke, tmp_path, setting, jobs):
    (tmp_path / "mine.py").write_text(OWN)
    (tmp_path / "more.yaml").write_text(f"name: smoke\n{setting}\n")
    assert smoke[0].jobs(*SMOKE, tmp_path / "more.yaml") == jobs


def test_plan_says_which_settings_have_changed(smoke, tmp_path):
    (tmp_path / "more.yaml").write_text("name: smoke\nlink: probit\n")
    command = [smoke[0].python, ROOT / "tools/plan.py", *SMOKE, tmp_path / "more.yaml"]
    said = subprocess.run(command, cwd=smoke[0].folder, capture_output=True, text=True).stdout
    assert "\nparams have changed since last execution: rates_runs, runs\n" in said


def test_lost_files_are_made_again(finished):
    shutil.rmtree(finished.folder / "results/smoke/rates/npgpd_hf")
    assert finished.jobs("results/smoke/notebooks/rates.html", *SMOKE) == {}
    assert finished.jobs(*SMOKE) == AFTER_RATES | {"rates_runs": 2}
    (finished.folder / "results/smoke/aggregate.csv").unlink()  # without which no end is told
    finished.snakemake("results/smoke/optimum.json", *SMOKE, "--force", "--cores", "1")
    shutil.rmtree(finished.folder / "results/smoke/logs")
    (finished.folder / "results/smoke/logs").touch()
    told = "error: results/smoke/logs: a folder expected, got a file\n"
    assert told in finished.snakemake(*SMOKE, "--dry-run", code=1)
