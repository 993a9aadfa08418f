"""The study's workflow: what it plans, an experiment of one's own, and a refusal in one line."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
ROOT = Path(__file__).parents[3]
TINY = {
    "name": "tiny",
    "environment": {"states": 3, "actions": 2, "instance": 1, "threshold": 0.5},
    "evaluators": [4, 8, None],
    "horizon": 20,
    "algorithms": {"npgpd_hf": {"iterations": 150, "rounds": 1}},
}


def snakemake(folder, experiment, *words):
    (folder / "own.yaml").write_text(yaml.safe_dump(experiment))
    command = [sys.executable, "-P", "-m", "snakemake", "--cores", "2", "--directory", folder]
    command += ["--snakefile", "studies/audit/Snakefile", *words]
    if experiment:
        command += ["--configfile", folder / "own.yaml"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def test_the_default_experiment_has_three_settings_and_all_m(tmp_path):
    code, output = snakemake(tmp_path, {}, "--dry-run", "--quiet", "rules")
    assert code == 0, output
    lines = output.rpartition("Job stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
    jobs = {rule: int(count) for rule, count in map(str.split, lines)}
    assert (jobs["check"], jobs["lengths"], jobs["audit_page"]) == (3, 3, 1)


def test_an_experiment_of_ones_own_has_its_own_bounds(tmp_path):
    code, output = snakemake(tmp_path, TINY)
    assert code == 0, output
    results = tmp_path / "results/tiny/audit"
    bounds, lengths = (read_table(results / f"{name}.csv") for name in ("bounds", "lengths"))
    assert set(bounds["setting"]) == {"experiment"}
    assert set(bounds["evaluators"]) == {8}
    assert bounds["holds"].all()
    assert [*lengths["evaluators"].unique()] == [4, 8]
    short = lengths["rounds"] * lengths["iterations"] <= 150
    assert [*lengths["measured_gap"].notna()] == [*short]
    assert {it.suffix for it in results.glob("audit.*")} > {".png", ".html", ".ipynb"}


def test_without_npgpd_hf_there_is_nothing_to_audit(tmp_path):
    code, output = snakemake(tmp_path, TINY | {"algorithms": {"npgpd_hf": None}}, "--dry-run")
    assert code != 0
    told = "algorithms: npgpd_hf expected, "
    assert any(line.startswith(f"error: {told}") for line in output.splitlines())
