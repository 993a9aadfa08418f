"""The study's workflow: what it plans, an experiment of one's own, and refusals in one line."""

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
ROOT = Path(__file__).parents[3]
T = {"npgpd_hf": [5, 10], "zpgpd_hf": [50, 100]}
TINY = {
    "name": "tiny",
    "seeds": 3,
    "horizon": 5,
    "algorithms": {"npgpd_hf": {"iterations": 40}, "zpgpd_hf": {"iterations": 300}},
    "rates": {"evaluators": [256], "seeds": 2, "iterations": T},
}


def snakemake(folder, *words):
    command = [sys.executable, "-P", "-m", "snakemake", "--directory", folder, "--cores", "1"]
    command += ["--snakefile", ROOT / "studies/verdicts/Snakefile", *words]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return found.returncode, found.stdout + found.stderr


def jobs(folder, *words):
    code, output = snakemake(folder, "--dry-run", *words)
    assert code == 0, output
    lines = output.rpartition("Job stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
    return {rule: int(count) for rule, count in map(str.split, lines)}


def test_the_default_experiment_has_all_tables_and_heights_none_of_their_runs(tmp_path):
    whole = jobs(tmp_path)
    assert (whole["verdicts_tables"], whole["runs"], whole["rates_runs"]) == (4, 180, 60)
    assert jobs(tmp_path, "heights").keys() == {"variant_runs", "heights", "total"}


def test_a_single_statement_runs_what_it_needs(tmp_path):
    asked = ("statement=zpgpd_gap_steady_state", "judged=12", "margin=0.2", "fresh=mine")
    output = snakemake(tmp_path, "--dry-run", "--printshellcmds", "--config", *asked)[1]
    assert output.count(" --purpose mine ") == output.count("rule runs:") == 12
    found = jobs(tmp_path, "--config", "statement=zpgpd_rate_gap_study", "judged=4")
    assert found["rates_runs"] == 4 and "runs" not in found


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["statement=gap"], "STATEMENT: one of npgpd_gap_falls_fast, "),
        (["statement=npgpd_gap_plateaus", "margin=nan"], "MARGIN: a number of at least 0 expected"),
        (["statement=npgpd_gap_most_gain_16_64", "margin=1"], "MARGIN: a STATEMENT that has a mar"),
        (["judged=few"], "SEEDS: a number of at least 1 expected, got 'few'"),
        (["fresh=rev1"], "FRESH: 1, or a word of small letters expected, got 'rev1'"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(tmp_path, words, told):
    code, output = snakemake(tmp_path, "--dry-run", "--config", *words)
    assert code != 0
    assert any(line.startswith(f"error: {told}") for line in output.splitlines())


def test_an_experiment_of_ones_own_has_its_own_unit_and_page(tmp_path):
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    settings = ("--configfile", tmp_path / "tiny.yaml")
    code, output = snakemake(tmp_path, *settings)
    assert code == 0, output
    results = tmp_path / "results/tiny/verdicts"
    table = read_table(results / "verdicts.csv")
    assert set(table["unit"]) == {"own"}
    assert table[table["verdict"] != "not asked"]["estimate"].notna().all()
    assert all((results / f"verdicts.{it}").exists() for it in ("png", "html"))
    assert all(name in output for name in table["statement"])
    code, output = snakemake(tmp_path, "results/tiny/verdicts/readings.csv", *settings)
    assert code != 0
    assert "only the default experiment has readings" in output
