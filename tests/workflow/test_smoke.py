"""The whole workflow, run for real on the smoke study."""

import html
import json
import re

import nbformat
import numpy as np
import pandas as pd
import pytest
from projects import rules

from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.runs import traces
from pgpd_hf.runs.races import describe_race
from pgpd_hf.statistics import METRICS
from replication.analyses import slopes
from replication.files import storage
from replication.statements import report
from replication.study import summaries
from replication.study.cases import policy_array

FIGURES = [
    f"{stem}.{ending}"
    for stem in (
        "figure1",
        *(f"{algorithm}_{metric}" for algorithm in ("npgpd_hf", "zpgpd_hf") for metric in METRICS),
    )
    for ending in ("pdf", "svg", "png")
]


def test_summary_ends_on_the_screen(finished, tmp_path):
    project, output = finished
    from_elsewhere = project.snakemake("summary", "--cores", "1", cwd=tmp_path)
    assert from_elsewhere[0] == 0
    for printed in (output, from_elsewhere[1]):
        assert "Study smoke: V_r* = " in printed
        assert "ZPGPD-HF" in printed.split("Study smoke")[1]
        assert "Traceback" not in printed


def test_results_that_are_touched_but_were_never_made_are_not_shown(fresh):
    code, output = fresh.snakemake("summary", "--cores", "1", "--touch")
    assert code == 0, output
    assert "Traceback" not in output


def test_every_figure_exists_in_every_format(finished):
    project, _ = finished
    found = sorted(path.name for path in project.results("figures").iterdir())
    assert set(FIGURES) <= set(found)
    assert all(project.results("figures", name).stat().st_size > 2000 for name in FIGURES)


def test_traces_have_a_row_per_seed_and_checkpoint(finished):
    project, _ = finished
    trace = pd.concat(map(pd.read_parquet, project.results("runs").rglob("*.parquet")))
    assert list(trace.columns) == list(traces.COLUMNS)
    for (algorithm, _), group in trace.groupby(["algorithm", "evaluators"]):
        length = {"npgpd_hf": 60, "zpgpd_hf": 600}[algorithm]
        expected = {(seed, k) for seed in range(3) for k in traces.checkpoint_grid(length)}
        assert set(zip(group["seed"], group["iteration"], strict=True)) == expected
        assert len(group) == len(expected)
    assert len(trace.groupby(["algorithm", "evaluators"])) == 6


def test_policies_are_those_that_runs_end_with(finished):
    project, _ = finished
    cmdp = CMDP.load(project.results("environment.npz"))
    paths = list(project.results("policies").rglob("*.parquet"))
    assert len(paths) == 6
    for path in paths:
        trace = pd.read_parquet(project.results("runs", *path.parts[-3:]))
        last = trace[trace["iteration"] == trace["iteration"].max()].sort_values("seed")
        values = cmdp.evaluate(policy_array(pd.read_parquet(path)))
        assert values[0].tolist() == last["reward_value"].tolist()
        assert values[1].tolist() == last["utility_value"].tolist()


def test_aggregate_is_the_mean_over_seeds(finished):
    project, _ = finished
    trace = pd.concat(map(pd.read_parquet, project.results("runs").rglob("*.parquet")))
    table = pd.read_parquet(project.results("aggregate.parquet"))
    keys = ["algorithm", "evaluators", "iteration"]
    means = trace.groupby(keys)["optimality_gap"].mean()
    np.testing.assert_allclose(table.set_index(keys)["optimality_gap"], means, atol=1e-14)
    assert (table["optimality_gap_low"] <= table["optimality_gap"]).all()
    assert (table["seeds"] == 3).all()


def test_optimum_agrees_across_methods(finished):
    project, _ = finished
    optimum = storage.read_json(project.results("optimum.json"))
    assert optimum["method"] != optimum["check"]["method"]
    for key in ("reward_value", "utility_value", "multiplier"):
        assert optimum[key] == pytest.approx(optimum["check"][key], abs=1e-8)


def test_calibration_keeps_every_score_and_chooses_the_smallest(finished):
    project, _ = finished
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        scores = pd.read_csv(project.results("calibration", f"{algorithm}.csv"))
        steps = storage.read_json(project.results("calibration", f"{algorithm}.json"))
        best = scores[scores["standing"] == "chosen"].iloc[0]
        assert len(scores) >= 2  # the grid may have grown
        assert steps == {name: best[name] for name in ("primal_step", "dual_step")}


def test_page_and_summary_say_whether_it_reproduces_and_with_which_steps(finished):
    project, _ = finished
    verdicts = report.of_experiment(pd.read_csv(project.results("claims.csv")))
    assert len(verdicts) == 14
    text = project.results("summary.txt").read_text()
    page = html.unescape(project.results("notebooks", "figure1.html").read_text())
    assert f"Does it reproduce? {report.in_short(verdicts)}\nwith these seeds" in text
    assert len(text.splitlines()) <= 25
    assert report.in_short(verdicts) in page
    assert all("N = 2 for NPGPD-HF, N = 2 for ZPGPD-HF" in shown for shown in (text, page))
    assert "<title>The paper's figure – study smoke</title>" in page
    for _, row in verdicts.iterrows():
        assert row["statement"] in page
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        race = describe_race(pd.read_csv(project.results("calibration", f"{algorithm}.csv")))
        assert race.partition(";")[0] in text
        assert race in page


@pytest.mark.parametrize(
    "name", ["figure1", "rates", "bounds", "certificates", "slopes", "effects", "schedules"]
)
def test_notebook_is_executed_without_errors_and_shows_pictures(finished, name):
    project, _ = finished
    notebook = nbformat.read(project.results("notebooks", f"{name}.ipynb"), as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in cells)
    outputs = [output for cell in cells for output in cell.outputs]
    assert not [output for output in outputs if output.output_type in ("error", "stream")]
    assert any("image/png" in output.get("data", {}) for output in outputs)
    page = project.results("notebooks", f"{name}.html").read_text()
    pictures = re.findall(r"<img [^>]*>", page)
    assert pictures
    assert all(re.search(r'alt="\w[^"]{40,}"', picture) for picture in pictures)
    assert "No description" not in page
    assert page.count("Parameters of this run</summary>") == 1
    assert "celltag_parameters" not in page
    assert "celltag_injected-parameters" in page
    folded = re.findall(r"(?s)<details.*?</details>", page)
    assert len(folded) == len(cells) - 1
    assert "# Parameters" in folded[0]
    shown = re.sub(r"(?s)<details.*?</details>", "", page)
    assert '<div class="highlight' not in shown
    assert "results/smoke" not in shown


@pytest.mark.parametrize("name", ["figure1.html", "rates.ipynb"])
def test_altered_or_truncated_notebook_or_page_is_named(finished, name):
    project, _ = finished
    path = project.results("notebooks", name)
    whole = path.read_bytes()
    middle = len(whole) // 2
    try:
        for damaged in (whole[:middle], whole[:middle] + b"1" + whole[middle:]):
            path.write_bytes(damaged)
            assert storage.find_damaged(project.results()) == [path]
    finally:
        path.write_bytes(whole)
    assert storage.find_damaged(project.results()) == []


def test_provenance_names_versions_configuration_and_times(finished):
    project, _ = finished
    provenance = storage.read_json(project.results("provenance.json"))
    assert provenance["config"]["study"] == "smoke"
    assert provenance["config"]["environment"]["states"] == 10
    assert {"python", "numpy", "numba", "snakemake"} <= set(provenance["versions"])
    assert set(provenance["threads"].values()) == {"1"}
    jobs = {rule: entry["jobs"] for rule, entry in provenance["wall_time"].items()}
    assert jobs == {
        **{"environment": 1, "calibrate": 2, "run": 6, "run_block": 2, "bounds_by_setting": 3},
        **{"aggregate": 1, "figure": 1, "rates": 1, "bounds": 1, "verdicts": 1, "summary": 1},
        **{"lengths": 1, "rates_tables": 1, "bounds_tables": 1},
    }
    assert all(entry["seconds"] > 0 for entry in provenance["wall_time"].values())
    assert json.loads(json.dumps(provenance)) == provenance


def test_benchmarks_of_an_earlier_plan_are_not_counted(finished):
    project, _ = finished
    first = storage.read_json(project.results("provenance.json"))
    old = project.results("benchmarks", "runs", "npgpd_hf", "M16", "seeds0000-0001.tsv")
    old.write_text("s\th:m:s\n1000.0\t0:16:40\n")
    try:
        code, output = project.snakemake("--cores", "2", "--forcerun", "provenance", "provenance")
        assert code == 0, output
        assert storage.read_json(project.results("provenance.json")) == first
        assert project.planned("all", "theory", "grid") == {}
    finally:
        old.unlink()


def test_bounds_have_a_row_for_every_item_at_every_setting(finished):
    project, _ = finished
    table = pd.read_csv(project.results("bounds.csv"))
    assert (table.groupby("setting")["item"].nunique() == 25).all()
    assert table["setting"].nunique() == 3
    open_rows = table[table["holds"].isna()]
    assert open_rows["reason"].notna().all()


def test_certificates_hold_along_every_run(finished):
    project, _ = finished
    table = pd.read_csv(project.results("certificates.csv"))
    assert set(table["case"]) == {"study", "random"}
    assert table["holds"].all()


@pytest.mark.parametrize(
    ("sweep", "algorithm", "cases", "seeds"),
    [
        ("length", "npgpd_hf", 4 * 2 * 2, 2),
        ("length", "pg_pd", 4 * 2, 1),
        ("corollary", "npgpd_hf", 4 * 2, 2),
        ("people", "zpgpd_hf", 4 * 2, 2),
        ("horizon", "npgpd_hf", 3, 2),
        ("rounds", "zpgpd_hf", 3 * 3, 2),
        ("states", "npgpd_hf", 3, 2),
    ],
)
def test_sweep_has_a_run_per_case_and_seed(finished, sweep, algorithm, cases, seeds):
    analysis = "slopes" if sweep in slopes.SWEEPS else "effects"
    project, _ = finished
    table = summaries.averages(read_runs(project, analysis, algorithm))
    table = table[table["sweep"] == sweep]
    assert len(table.groupby(["curve", "value"])) == cases
    assert len(table) == cases * seeds
    assert table["priced_gap"].min() > -1e-9
    assert len(pd.read_csv(project.results("slopes_means.csv"))) > 0


def test_study_steps_of_sweeps_are_the_calibrated_ones(finished):
    project, _ = finished
    for algorithm, studied in (("npgpd_hf", "npgpd_hf"), ("npg_pd", "npgpd_hf")):
        steps = storage.read_json(project.results("calibration", f"{studied}.json"))
        table = read_runs(project, "slopes", algorithm)
        study = table[(table["sweep"] == "length") & (table["step_rule"] == "study")]
        assert set(study["primal_step"]) == {steps["primal_step"]}
        scale = study["dual_step"] * (study["iterations"] / 60) ** 0.5
        assert scale.to_numpy() == pytest.approx(steps["dual_step"])


def test_schedules_cost_the_same(finished):
    project, _ = finished
    table = read_runs(project, "schedules")
    last = table[table["iteration"] == table.groupby("algorithm")["iteration"].transform("max")]
    assert last["schedule"].nunique() == 5
    assert (last.groupby("algorithm")[["answers", "steps"]].nunique() == 1).all(axis=None)


def test_grid_has_a_row_per_setting_and_all_its_runs(finished):
    project, _ = finished
    table = pd.read_csv(project.results("grid.csv"))
    assert len(table) == 2 * 2 * 2 * 2
    assert (table["instances"] == 3).all()
    assert (table["runs"] == 3).all()
    assert table["late_priced_gap"].min() > -1e-9


def read_runs(project, *parts):
    """All runs of an analysis, or of one of its algorithms."""
    return pd.concat(map(pd.read_parquet, project.results(*parts).rglob("*-*.parquet")))


def test_another_look_at_sweeps_runs_none(finished):
    project, _ = finished
    source = project.folder / "src/replication/study/summaries.py"
    before = source.read_text()
    try:
        source.write_text(before + "\n# another line\n")
        planned = set(project.planned("theory"))
    finally:
        source.write_text(before)
    assert planned >= {"slopes", "effects", "schedules"}
    assert not planned & rules("run_block", "run", "calibrate")


def test_second_run_does_nothing(finished):
    project, _ = finished
    code, output = project.snakemake()
    assert code == 0
    assert "Nothing to be done" in output


def test_touching_the_plots_redraws_without_running(finished):
    project, _ = finished
    source = project.folder / "src/replication/figures/panels.py"
    before = source.read_text()
    try:
        source.write_text(before + "\n# another line\n")
        planned = set(project.planned())
    finally:
        source.write_text(before)
    assert "figure" in planned
    assert not planned & rules("environment", "calibrate", "run", "run_block", "aggregate")


def test_more_seeds_run_only_what_is_new(finished):
    project, _ = finished
    planned = project.planned("--config", "seeds=7")
    # Blocks of three: seeds 0-2 are there; 3-5 and 6 are not; for 2 algorithms and 3 M.
    assert planned["run"] == 2 * 6
    assert not set(planned) & rules("environment", "calibrate", "run_block")


def test_editing_one_algorithm_leaves_the_other_alone(finished):
    project, _ = finished
    source = project.folder / "src/pgpd_hf/algorithms/zpgpd_hf.py"
    before = source.read_text()
    try:
        source.write_text(before + "\n# another line\n")
        planned = project.planned()
    finally:
        source.write_text(before)
    assert planned["calibrate"] == 1
    assert planned["run"] == 3


@pytest.mark.long
def test_a_budget_that_pays_for_no_iteration_has_an_empty_cell_and_a_line(complete):
    table = pd.read_csv(complete.results("comparison.csv"))
    (cell,) = table.query("method == 'npgpd_hf' and budget == 100").to_dict("records")
    assert cell["units"] == "none: one iteration takes 324 answers"
    assert np.isnan([cell[name] for name in ("answers", "gap", "priced_gap", "violates_0")]).all()
    page = complete.results("notebooks/comparison.html").read_text(encoding="utf-8")
    assert "has no result for 100 answers: one iteration takes 324 answers." in page
