"""The study's workflow: what it plans, all of it in a small size, and refusals in one line."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
ROOT = Path(__file__).parents[3]
LONG = ["printed-slow", "quadratic-slow", "ten-rounds"]
LAKE = {"gymnasium": "FrozenLake-v1", "cost": "holes", "at_most": 0.05}
SHORT = {"iterations": 500, "seeds": 2}
SMALL = {
    "evaluators": 8,
    "settings": {
        "printed-slow": {"dual_step": 0.0003},
        "quadratic-slow": {"dual_step": 0.0003, "normalize": "quadratic"},
        "ten-rounds": {"rounds": 10},
    },
    "unsafe": {"violation": 0.02, "share": 0.25},
    "parts": {
        "frozen": {"settings": LONG[:1], "instances": [1], "multipliers": [2], **SHORT},
        "long": {"settings": LONG, "instances": [1, 42], **SHORT},
        "fresh": {"settings": LONG[1:2], "instances": [3, 1], **SHORT},
    },
}


def snakemake(folder, *words):
    command = [sys.executable, "-P", "-m", "snakemake", "--directory", folder, "--cores", "1"]
    command += ["--snakefile", ROOT / "studies/stability/Snakefile", *words]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def configure(folder, declared=SMALL, **changes):
    """Options with which the study runs, on an experiment with short trajectories."""
    experiment = {"name": "tiny", "horizon": 45} | changes
    (folder / "tiny.yaml").write_text(yaml.safe_dump(experiment))
    (folder / "small.yaml").write_text(yaml.safe_dump(declared))
    return "--configfile", folder / "tiny.yaml", "--config", f"declared={folder}/small.yaml"


def test_the_study_plans_each_setting_once_and_nothing_of_the_figure(tmp_path):
    code, output = snakemake(tmp_path, "--dry-run", "--quiet", "rules")
    assert code == 0, output
    lines = output.partition("Job stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
    planned = {rule: int(number) for rule, number in map(str.split, lines)}
    others = dict.fromkeys(("stability", "stability_page", "stability_tables"), 1)
    assert planned == others | {"stability_runs": 66, "total": 69}


def test_a_small_study_has_its_tables_its_page_and_its_picture(tmp_path):
    code, output = snakemake(tmp_path, *configure(tmp_path))
    assert code == 0, output
    results = tmp_path / "results/tiny/stability"
    tables = {path.stem: read_table(path) for path in results.glob("*.csv")}
    assert [*tables["frozen"]["multiplier"]] == [2]
    assert len(tables["ends"]) == 2 * 3 * 2
    assert [*tables["fresh"]["instance"]] == [1, 1, 3, 3]
    assert tables["long"].groupby("setting")["answers"].max().nunique() == 1
    assert {path.suffix for path in results.glob("stability.*")} > {".png", ".html", ".ipynb"}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"algorithms": {"zpgpd_hf": None}, "rates": None}, "algorithms: zpgpd_hf expected"),
        ({"algorithms": {"zpgpd_hf": {"dual_step": "theorem"}}}, "algorithms: zpgpd_hf expected"),
        ({"environment": LAKE}, "environment: random instances expected"),
        ({"declared": SMALL | {"settings": {"own": {}}}}, "settings: some of own expected, got "),
        ({"declared": SMALL | {"setting": {}}}, "small.yaml: configuration: unknown key 'setting'"),
    ],
)
def test_what_the_study_cannot_be_about_is_refused_in_one_line(tmp_path, changes, told):
    code, output = snakemake(tmp_path, "--dry-run", *configure(tmp_path, **changes))
    assert code != 0
    assert any(told in line for line in output.splitlines())
