"""The verdicts on the paper's statements, run for real on the smoke study."""

import nbformat
import pandas as pd
import pytest
import yaml
from projects import Project, rules

from replication import analyses

CASES = ("", "full", "readings/positive-violation", "readings/tangent", "instances/binding")


@pytest.fixture(scope="module")
def judged(finished):
    """The finished project with its verdicts, and what was printed."""
    project, _ = finished
    code, output = project.snakemake("claims", "--cores", "2")
    assert code == 0, output
    return project, output


def test_table_of_verdicts_is_printed(judged):
    project, output = judged
    text = project.results("verdicts.txt").read_text()
    assert len(text.splitlines()) > 30
    assert all(line in output for line in text.splitlines())
    assert "A  default" in output


@pytest.mark.parametrize("case", CASES)
def test_every_case_has_a_row_per_statement(judged, case):
    project, _ = judged
    table = pd.read_csv(project.results(case, "claims.csv"))
    statements = yaml.safe_load((project.folder / "config/claims.yaml").read_text())["claims"]
    assert list(table["claim"]) == list(statements)
    assert set(table["verdict"]) <= {"reproduced", "contradicted", "inconclusive"}
    assert set(table["unit"]) == {"instance" if case.startswith("instances") else "seed"}


def test_rates_reach_the_verdicts(judged):
    project, _ = judged
    rates = pd.read_csv(project.results("full/rates.csv"))
    table = pd.read_csv(project.results("full/claims.csv")).set_index("claim")
    assert set(rates["seeds"]) == {3}  # claims.rates_seeds, where rates.seeds is 2
    compared = []
    for claim, name in (("npgpd-rate-violation", "violation"), ("npgpd-rate-gap", "priced_gap")):
        row = rates.query(
            f"algorithm == 'npgpd_hf' and step_rule == 'study' and evaluators == 256"
            f" and metric == '{name}'"
        ).iloc[0]
        if row[["slope", "low", "high"]].notna().all():
            assert table.loc[claim, "estimate"] == pytest.approx(row["slope"])
            assert table.loc[claim, "units"] == 3
            compared.append(claim)
    assert "npgpd-rate-gap" in compared  # a priced gap is positive


def test_study_knows_the_sweeps_only_where_claims_are_asked_for(judged):
    project, _ = judged
    quick = pd.read_csv(project.results("claims.csv")).set_index("claim")
    whole = pd.read_csv(project.results("verdicts.csv")).set_index(["reading", "claim"])
    whole = whole.loc["default"]
    pd.testing.assert_frame_equal(
        whole, pd.read_csv(project.results("full/claims.csv"), index_col=0)
    )
    why = "not asked by this run; `make claims` has it"
    asked = quick["why"].eq(why)
    assert {"npgpd-corollary-rate", "npgpd-rate-gap"} <= set(quick.index[asked])
    assert not whole["why"].eq(why).any()
    assert not rules("effects", "rates") & set(project.planned("results/smoke/claims.csv"))
    # With as many seeds, which the smoke study has, the other verdicts are the same.
    columns = [name for name in quick if name != "why"]
    pd.testing.assert_frame_equal(quick.loc[~asked, columns], whole.loc[~asked, columns])


def test_statements_are_judged_at_tied_steps_with_the_seeds_of_the_study(judged, tmp_path):
    project = Project(tmp_path, judged[0].folder)
    study = project.folder / "config/smoke.yaml"
    steps = pd.read_json(project.results("calibration/npgpd_hf.json"), typ="series")
    pair = [float(steps["primal_step"]), float(steps["dual_step"])]
    ties = f"claims:\n  ties: {{npgpd_hf: [{pair}]}}\n"
    study.write_text(study.read_text().replace("claims:\n", ties))
    code, output = project.snakemake("results/smoke/ties.csv", "--cores", "2")
    assert code == 0, output
    found = pd.read_csv(project.results("ties.csv")).set_index("claim")
    chosen = pd.read_csv(project.results("full/claims.csv")).set_index("claim").loc[found.index]
    assert len(found) > 5
    assert not found["statement"].str.contains("ZPGPD-HF: gap improves").any()
    # The tied pair is the chosen one here, so the runs are the same.
    for column in ("verdict", "estimate", "low", "high"):
        pd.testing.assert_series_equal(found[column], chosen[column])
    assert (found["verdict"] == found["chosen"]).all()


def test_matrix_exists_in_every_format(judged):
    project, _ = judged
    for ending in ("pdf", "svg", "png"):
        assert project.results("figures", f"claims.{ending}").stat().st_size > 2000


def test_notebook_is_executed_and_needs_no_network(judged):
    project, _ = judged
    notebook = nbformat.read(project.results("notebooks", "claims.ipynb"), as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    kinds = {output.output_type for cell in cells for output in cell.outputs}
    assert not kinds & {"error", "stream"}
    assert not any("$" in cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def test_all_that_is_judged_is_made(judged):
    project, _ = judged
    for name, analysis in analyses.find().items():
        if analysis.TARGET == "claims" and not any("{" in table for table in analysis.TABLES):
            for table in analysis.TABLES:
                assert project.results(table if "." in table else f"{table}.csv").exists(), table
            if analysis.PICTURES:
                assert project.results("notebooks", f"{name}.html").exists(), name


def test_asking_again_only_prints(judged):
    project, _ = judged
    assert set(project.planned("claims")) <= {"claims", "total"}


def test_only_what_a_reading_changes_is_run(judged):
    project, _ = judged
    assert not project.results("readings", "positive-violation", "runs").exists()
    assert not project.results("readings", "tangent", "runs", "npgpd_hf").exists()
    assert project.results("readings", "tangent", "runs", "zpgpd_hf").exists()
    smoke = project.folder / "config/smoke.yaml"
    before = smoke.read_text()
    try:
        changed = before.replace("[positive-violation", "[running-average, positive-violation")
        smoke.write_text(changed)
        planned = project.planned("claims")
    finally:
        smoke.write_text(before)
    assert planned["verdicts"] == 1
    untouched = rules("environment", "calibrate", "run", "run_block")
    assert not set(planned) & untouched


def test_bad_criterion_stops_before_any_job(judged):
    project, _ = judged
    path = project.folder / "config/claims.yaml"
    before = path.read_text()
    try:
        path.write_text(before.replace("column: optimality_gap", "column: optimality_gpa", 1))
        code, output = project.snakemake("claims", "--dry-run")
    finally:
        path.write_text(before)
    assert code == 1
    assert output.splitlines()[-1] == (
        "error: config/claims.yaml: claims.npgpd-gap-falls-fast.criterion.column: "
        "optimality_gap or constraint_violation expected, got 'optimality_gpa'"
    )
