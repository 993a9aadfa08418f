"""The study's workflow: what it plans, an experiment of one's own, and refusals in one line."""

import pytest

from pgpd_hf.tables import read_table

pytestmark = pytest.mark.workflow
T = {"npgpd_hf": [5, 10], "zpgpd_hf": [50, 100]}
TINY = {
    "name": "tiny",
    "seeds": 3,
    "horizon": 5,
    "algorithms": {"npgpd_hf": {"iterations": 40}, "zpgpd_hf": {"iterations": 300}},
    "rates": {"evaluators": [256], "seeds": 2, "iterations": T},
}


def test_the_default_experiment_has_all_tables_and_heights_none_of_their_runs(jobs):
    whole = jobs()
    assert (whole["verdicts_tables"], whole["runs"], whole["rates_runs"]) == (4, 180, 60)
    assert jobs("heights").keys() == {"variant_runs", "heights", "total"}


def test_a_single_statement_runs_what_it_needs(snakemake, jobs):
    asked = ("statement=zpgpd_gap_steady_state", "judged=12", "margin=0.2", "fresh=mine")
    output = snakemake("--dry-run", "--printshellcmds", "--config", *asked)[1]
    assert output.count(" --purpose mine ") == output.count("rule runs:") == 12
    found = jobs("--config", "statement=zpgpd_rate_gap_study", "judged=4")
    assert found["rates_runs"] == 4 and "runs" not in found


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["statement=gap"], "STATEMENT: one of npgpd_gap_falls_fast, "),
        (["statement=npgpd_gap_plateaus", "margin=nan"], "MARGIN: a number of at least 0 expected"),
        (["statement=npgpd_gap_most_gain_16_64", "margin=1"], "MARGIN: a STATEMENT that has a mar"),
        (["margin=1"], "MARGIN: a STATEMENT that has a margin (npgpd_gap_falls_fast, "),
        (["judged=few"], "SEEDS: a number from 1 to 10000 expected, got 'few'"),
        (["judged=10001"], "SEEDS: a number from 1 to 10000 expected, got 10001"),
        (["fresh=rev1"], "FRESH: 1, or a word of small letters expected, got 'rev1'"),
    ],
)
def test_what_cannot_be_judged_is_refused_in_one_line(snakemake, words, told):
    code, output = snakemake("--dry-run", "--config", *words)
    assert code != 0
    assert any(line.startswith(f"error: {told}") for line in output.splitlines())


def test_an_experiment_of_ones_own_has_its_own_unit_and_page(snakemake, tmp_path):
    code, output = snakemake(config=TINY)
    assert code == 0, output
    results = tmp_path / "results/tiny/verdicts"
    table = read_table(results / "verdicts.csv")
    assert set(table["unit"]) == {"own"}
    assert table[table["verdict"] != "not asked"]["estimate"].notna().all()
    assert all((results / f"verdicts.{it}").exists() for it in ("png", "html"))
    assert all(name in output for name in table["statement"])
    code, output = snakemake("results/tiny/verdicts/readings.csv", config=TINY)
    assert code != 0
    assert "only the default experiment has readings" in output
