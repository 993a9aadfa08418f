"""The study's workflow, with all its sweeps and schedules in seconds."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
FOLDER = Path(__file__).parents[1]
LAKE = {"gymnasium": "FrozenLake-v1", "cost": "holes", "at_most": 0.05}


def snakemake(folder, *words):
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", FOLDER / "Snakefile"]
    command += ["--directory", folder, "--cores", "1", *words]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def test_everything_in_seconds(tmp_path):
    code, output = snakemake(tmp_path, "--config", f"declared={FOLDER}/tests/smoke.yaml")
    assert code == 0, output
    made = tmp_path / "results/paper/effects"
    slopes, means = (read_table(made / f"{name}.csv") for name in ("slopes", "means"))
    assert {*slopes["sweep"]} == {*means["sweep"]}
    assert len(read_table(made / "schedules.csv")) == 2 * 3 * 6
    assert (made / "effects.png").exists()
    assert (made / "effects.html").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"algorithms": {"zpgpd_hf": None}, "rates": None}, "algorithms: npgpd_hf and zpgpd_hf"),
        ({"algorithms": {"npgpd_hf": {"dual_step": "theorem"}}}, "algorithms: npgpd_hf and zpgpd"),
        ({"environment": LAKE}, "environment: one whose discount stands in the configuration"),
    ],
)
def test_what_the_study_cannot_run_is_refused_in_one_line(tmp_path, changes, told):
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump({"name": "mine"} | changes))
    code, output = snakemake(tmp_path, "--dry-run", "--configfile", tmp_path / "mine.yaml")
    assert code != 0
    assert any(line.startswith(told) for line in output.splitlines()), output
