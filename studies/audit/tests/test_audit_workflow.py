"""The study's workflow: what it plans, an experiment of one's own, and a refusal in one line."""

import pytest

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
TINY = {
    "name": "tiny",
    "environment": {"states": 3, "actions": 2, "instance": 1, "threshold": 0.5},
    "evaluators": [4, 8, None],
    "horizon": 20,
    "algorithms": {"npgpd_hf": {"iterations": 150, "rounds": 1}},
}


def test_the_default_experiment_has_three_settings_and_all_m(jobs):
    planned = jobs()
    assert (planned["check"], planned["lengths"], planned["audit_page"]) == (3, 3, 1)


def test_an_experiment_of_ones_own_has_its_own_bounds(snakemake, tmp_path):
    code, output = snakemake(config=TINY)
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


def test_without_npgpd_hf_there_is_nothing_to_audit(snakemake):
    without = TINY | {"algorithms": {"npgpd_hf": None}}
    code, output = snakemake("--dry-run", config=without)
    assert code != 0
    told = "algorithms: npgpd_hf expected, "
    assert any(line.startswith(f"error: {told}") for line in output.splitlines())
