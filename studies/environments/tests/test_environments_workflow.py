"""The study's workflow in seconds, and refusals in one line."""

from pathlib import Path

import pytest
import yaml

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
FOLDER = Path(__file__).parents[1]
KEPT = {
    "search": ["zpgpd_hf-16", "safe_rlhf-16_1e5"],
    "runs": ["zpgpd_hf-256", "safe_rlhf-16_1e5"],
}


def small():
    """The study's own settings, so small that they take seconds."""
    declared = yaml.safe_load((FOLDER / "config.yaml").read_text())
    for given in declared["environments"].values():
        for name in ("npgpd_hf", "zpgpd_hf"):
            given[name]["iterations"] = 5
    sepsis = declared["sepsis"] | {"horizon": 50}
    for part, names in KEPT.items():
        sepsis[part] = {it: sepsis[part][it] | {"answers": 9600, "seeds": 1} for it in names}
    return declared | {"evaluators": [16], "seeds": 12, "sepsis": sepsis}


def test_everything_in_seconds(snakemake, tmp_path):
    pytest.importorskip("gymnasium")
    code, output = snakemake(declared=small())
    assert code == 0, output
    table = read_table(tmp_path / "results/paper/environments/environments.csv")
    assert [*table["environment"]] == 2 * ["ding"] + 2 * ["frozen-lake"]
    assert set(table["seeds"]) == {12}
    assert (tmp_path / "results/paper/environments/environments.html").exists()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"seeds": 0}, "seeds: 0 is less than the minimum of 1"),
        ({"evaluators": ["many"]}, "evaluators.0: 'many' is not of type 'integer'"),
        ({"sepsis": {"share": 1}}, "sepsis: 'purpose' is a required property"),
        ({"runs": 3}, "configuration: unknown key 'runs'"),
    ],
)
def test_what_the_study_cannot_run_is_refused_in_one_line(snakemake, changes, told):
    code, output = snakemake("--dry-run", declared=small() | changes)
    assert code != 0
    assert any(f"declared.yaml: {told}" in line for line in output.splitlines()), output
