"""The study's workflow in seconds."""

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
