"""The study's workflow in seconds, and what it refuses."""

import subprocess
import sys
from pathlib import Path

import pytest

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
FOLDER = Path(__file__).parents[1]


def snakemake(folder, *words):
    command = [sys.executable, "-P", "-m", "snakemake", "--snakefile", FOLDER / "Snakefile"]
    command += ["--directory", folder, "--cores", "1", *words]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def test_everything_in_seconds(tmp_path):
    pytest.importorskip("gymnasium")
    code, output = snakemake(tmp_path, "--config", f"declared={FOLDER}/tests/smoke.yaml")
    assert code == 0, output
    made = tmp_path / "results/paper/environments"
    table = read_table(made / "environments.csv")
    assert [*table["environment"]] == ["ding", "ding", "frozen-lake"]
    assert set(table["seeds"]) == {12}
    assert (made / "environments.png").exists()
    assert (made / "environments.html").exists()


def test_a_file_that_is_not_there_is_refused_in_one_line(tmp_path):
    code, output = snakemake(tmp_path, "--dry-run", "--config", "declared=none.yaml")
    assert code != 0
    assert "declared: a file with environments expected, got none.yaml" in output
