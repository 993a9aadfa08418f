"""Verification: every altered number of the reference, of the code or of a result is named."""

import json
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgpd_hf
from pgpd_hf import statistics, verification
from pgpd_hf.figures import panels, style
from pgpd_hf.support import storage
from pgpd_hf.verification import Study, contents, platforms
from pgpd_hf.verification.contents import Content

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "reference"
DRAWS = range(4)
LONG = {
    "verdicts.csv": ["reading,claim,low,verdict", "unit,falls,0.5,reproduced"],
    "certificates.csv": [
        "case,algorithm,evaluators,seed,quantity,measured,holds",
        "study,npgpd_hf,16.0,0,gap,0.25,True",
    ],
    "slopes.csv": ["sweep,algorithm,curve,metric,slope", "length,npg_pd,M = ∞,gap,-0.5"],
    "slopes_means.csv": [
        "sweep,algorithm,curve,value,metric,mean",
        "length,npg_pd,M = ∞,1000.0,gap,0.25",
    ],
    "effects.csv": ["sweep,algorithm,curve,quantity,slope", "people,zpgpd_hf,μ = 1,excess,-1.5"],
    "effects_means.csv": [
        "sweep,algorithm,curve,value,metric,mean",
        "people,zpgpd_hf,μ = 1,16.0,gap,0.5",
    ],
    "schedules.csv": ["algorithm,schedule,metric,mean", "npgpd_hf,growing,late_gap,0.125"],
    "schedules_means.csv": ["algorithm,schedule,iteration,mean", "npgpd_hf,growing,3,0.75"],
}
RESULTS = [
    "environment.npz",
    "optimum.json",
    "calibration/npgpd_hf.csv",
    "calibration/npgpd_hf.json",
    "bounds/paper.csv",
    "runs/npgpd_hf/M16/seeds0000-0001.parquet",
    "runs/npgpd_hf/Minf/seeds0002-0002.parquet",
    "aggregate.parquet",
    "rates/npgpd_hf/study_steps/Minf/seeds0000-0001.parquet",
    "rates/npgpd_hf/study_steps/Minf/seeds0002-0002.parquet",
    "rates.csv",
    "bounds.csv",
    "claims.csv",
    "summary.txt",
    *LONG,
]
CODE = {
    "Snakefile": 'min_version("9.27")\n',
    "requirements.lock": "numpy==2.4.6\n",
    "config/config.yaml": "seeds: 20\n",
    "config/claims.yaml": "level: 0.05\n",
    "config/readings/unit.yaml": "threshold: 5.5\n",
    "notebooks/figure1.ipynb": '{"nbformat": 4}\n',
    "src/pgpd_hf/core/links.py": "CLIP = 0.01\n",
    "src/pgpd_hf/theory/bounds.py": "CONSTANT = 48\n",
    "workflow/rules/simulate.smk": "threads: 2\n",
    "workflow/scripts/simulate.py": "LAST = 10\n",
    "workflow/schemas/config.schema.yaml": "minimum: 1\n",
}


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A small project with a complete study and its reference."""
    root = tmp_path_factory.mktemp("project")
    for name, text in CODE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    study = Study(root)
    cmdp = pgpd_hf.random_cmdp(states=3, actions=2, instance=1, threshold=0.5)
    tables = {
        "calibration/npgpd_hf.csv": pd.DataFrame(
            {"primal_step": [0.1, 1.0], "dual_step": 0.1, "score": [0.25, 0.125]}
        ),
        "bounds/paper.csv": pd.DataFrame(
            {"item": ["1"], "part": ["a"], "setting": "paper", "bound": [0.7], "holds": [True]}
        ),
        "rates.csv": pd.DataFrame(
            [["npgpd_hf", "study", "inf", "gap", -0.51]],
            columns=["algorithm", "step_rule", "crowd", "metric", "slope"],
        ),
        "claims.csv": pd.DataFrame({"claim": ["falls"], "low": [0.3], "verdict": ["reproduced"]}),
    }
    for people, seeds in ((16, [0, 1]), (16, [2]), (None, [0, 1]), (None, [2])):
        name = f"runs/npgpd_hf/M{people or 'inf'}/seeds{seeds[0]:04d}-{seeds[-1]:04d}.parquet"
        options = {"evaluators": people, "seeds": seeds, "horizon": 10}
        tables[name] = pgpd_hf.run(cmdp, "npgpd_hf", iterations=12, **options)
    traces = pd.concat([table for name, table in tables.items() if name.startswith("runs")])
    tables["aggregate.parquet"] = statistics.aggregate(traces)
    for name in [name for name in RESULTS if name.startswith("rates/")]:
        first, last = int(name[-17:-13]), int(name[-12:-8])
        tables[name] = traces[traces["seed"].between(first, last)].assign(iterations=12)
    tables["bounds.csv"] = tables["bounds/paper.csv"]
    for name, table in tables.items():
        storage.write_table(study.results / name, table)
    cmdp.save(study.results / "environment.npz")
    storage.write_json(
        study.results / "optimum.json",
        {"reward_value": 0.5, "policy": [[0.25, 0.75]], "check": {"reward_value": 0.5}}
        | {"unconstrained": {"reward_value": 0.75}},
    )
    storage.write_json(study.results / "calibration/npgpd_hf.json", {"primal_step": 1.0})
    (study.results / "summary.txt").write_text("V_r* = 0.5\nlambda* = 0.125\n")
    for name, lines in LONG.items():
        (study.results / name).write_text("\n".join([*lines, ""]), encoding="utf-8")
    style.use_style()
    figure, axes = style.plt.subplots(figsize=(1, 1))
    axes.plot([0, 1])
    style.save(figure, study.figures, "figure1")
    style.plt.close(figure)
    verification.write_reference(study, study, root / "reference")
    return study


@pytest.fixture
def study(complete, tmp_path):
    """A copy of it that a test may alter."""
    shutil.copytree(complete.root, tmp_path, dirs_exist_ok=True)
    return Study(tmp_path)


def disagreeing(checks):
    """What checks name as different."""
    assert all(check.detail for check in checks if not check.agrees)
    return [line for check in checks if not check.agrees for line in check.detail]


def results_of(study, **options):
    return verification.check_study(study.root / "reference", study, **options)


def alter_text(path, random):
    """Replace one random digit of a file by another one."""
    text = path.read_text()
    place = random.choice([match.start() for match in re.finditer(r"\d", text)])
    digit = (int(text[place]) + random.integers(1, 10)) % 10
    path.write_text(f"{text[:place]}{digit}{text[place + 1 :]}")


def alter_result(path, random):
    """Change one random number of a result file as little as possible."""
    if path.suffix == ".npz":
        with np.load(path) as archive:
            arrays = dict(archive)
        name = random.choice([name for name in arrays if arrays[name].dtype == float])
        array = arrays[name].reshape(-1)
        place = random.integers(array.size)
        array[place] = np.nextafter(array[place], 2)
        np.savez(path, **{**arrays, name: array.reshape(arrays[name].shape)})
    elif path.suffix == ".parquet":
        table = pd.read_parquet(path)
        column = random.choice(table.select_dtypes("number").columns)
        row = random.integers(len(table))
        number = table.loc[row, column]
        if pd.isna(number):
            other = 0
        else:
            other = np.nextafter(number, 2) if isinstance(number, float) else number + 1
        table.loc[row, column] = other
        table.to_parquet(path, index=False)
    else:
        alter_text(path, random)


def test_untouched_study_agrees_with_its_own_reference(complete):
    checks = [
        *results_of(complete),
        *verification.check_digests(complete.root, reference(complete)),
    ]
    assert disagreeing(checks) == []
    named = {check.what for check in checks}
    assert {"environment.npz", "runs/npgpd_hf/Minf, seed 0", "rates.csv", "code"} <= named


def reference(study):
    return study.root / "reference"


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", RESULTS)
def test_altered_number_of_a_result_is_named(study, name, draw):
    alter_result(study.results / name, np.random.default_rng([draw, len(name)]))
    lines = disagreeing(results_of(study))
    assert lines
    folder = name.rsplit("/seeds")[0]
    assert all(line.startswith(f"results/paper/{folder}") for line in lines), lines


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize(
    "name", [*sorted({f"{item.name}.csv" for item in verification.ITEMS}), "platform.json"]
)
def test_altered_number_of_the_reference_is_named(study, name, draw):
    alter_text(reference(study) / name, np.random.default_rng([draw, len(name)]))
    lines = disagreeing(verification.check_digests(study.root, reference(study)))
    assert lines == [f"reference/{name}: differs from its digest"]
    if name.endswith(".csv"):
        # Even with a digest to match, it is not what the study gives.
        sums = reference(study) / "SHA256SUMS"
        sums.write_text(verification.list_digests(study, reference(study)))
        assert not disagreeing(verification.check_digests(study.root, reference(study)))
        assert disagreeing(results_of(study))


@pytest.mark.parametrize("name", CODE)
def test_altered_number_of_the_code_is_named(study, name):
    alter_text(study.root / name, np.random.default_rng(len(name)))
    lines = disagreeing(verification.check_digests(study.root, reference(study)))
    assert lines == [f"{name}: differs from its digest"]


def test_altered_digest_is_named(study):
    sums = reference(study) / "SHA256SUMS"
    lines = sums.read_text().splitlines()
    for line in lines:
        other = f"{'1' if line[0] == '0' else '0'}{line[1:]}"
        sums.write_text("\n".join([*(row for row in lines if row != line), other]))
        name = line.split("  ")[1]
        found = disagreeing(verification.check_digests(study.root, reference(study)))
        assert found == [f"{name}: differs from its digest"]


def test_file_outside_the_list_of_digests_is_named(study):
    sums = reference(study) / "SHA256SUMS"
    lines = sums.read_text().splitlines()
    sums.write_text("\n".join(line for line in lines if "rates.csv" not in line))
    found = disagreeing(verification.check_digests(study.root, reference(study)))
    assert found == ["reference/rates.csv: not in SHA256SUMS"]


def test_altered_figure_is_named(study):
    path = study.figures / "figure1.svg"
    path.write_text(path.read_text().replace("<path", "<path ", 1))
    found = disagreeing(verification.check_digests(study.root, reference(study)))
    assert found == ["figures/figure1.svg: differs from its digest"]


@pytest.mark.parametrize(
    ("broken", "content"),
    [
        ("aggregate.parquet", b"PAR1"),
        ("environment.npz", b"PK"),
        ("optimum.json", b"{"),
        ("calibration/npgpd_hf.csv", b'a,b\n1,"2\n'),
        ("bounds/paper.csv", b"item,part\n1\n"),
        ("runs/npgpd_hf/M16/seeds0002-0002.parquet", b""),
    ],
)
def test_broken_result_is_named(study, broken, content):
    path = study.results / broken
    path.write_bytes(content)
    lines = disagreeing(results_of(study, partial=True))
    assert any(broken in line for line in lines)
    assert all("\n" not in line for line in lines)


def test_missing_result_disagrees_unless_results_may_be_missing(study):
    (study.results / "rates.csv").unlink()
    shutil.rmtree(study.results / "runs/npgpd_hf/Minf")
    assert disagreeing(results_of(study, partial=True)) == []
    lines = disagreeing(results_of(study))
    assert len(lines) == 3
    assert lines[0] == "results/paper/runs/npgpd_hf/Minf, seed 0: missing"
    assert lines[2].endswith("rates.csv: missing")


@pytest.mark.parametrize(
    ("name", "before", "after", "detail"),
    [
        (
            "verdicts.csv",
            "reproduced",
            "contradicted",
            "unit: claim falls: verdict: expected reproduced, found contradicted",
        ),
        (
            "certificates.csv",
            "0.25",
            "0.26",
            "study, npgpd_hf: evaluators 16.0, seed 0, quantity gap: measured: "
            "expected 0.25, found 0.26",
        ),
        (
            "slopes.csv",
            "-0.5",
            "-0.6",
            "length: algorithm npg_pd, curve M = ∞, metric gap: slope: expected -0.5, found -0.6",
        ),
        (
            "slopes_means.csv",
            "0.25",
            "",
            "length: algorithm npg_pd, curve M = ∞, value 1000.0, metric gap: mean: "
            "expected 0.25, found nothing",
        ),
        (
            "effects.csv",
            "-1.5",
            "1.5",
            "people: algorithm zpgpd_hf, curve μ = 1, quantity excess: slope: "
            "expected -1.5, found 1.5",
        ),
        (
            "effects_means.csv",
            ",0.5",
            ",0.500001",
            "people: algorithm zpgpd_hf, curve μ = 1, value 16.0, metric gap: mean: "
            "expected 0.5, found 0.500001",
        ),
        (
            "schedules.csv",
            "0.125",
            "0.126",
            "npgpd_hf: schedule growing, metric late_gap: mean: expected 0.125, found 0.126",
        ),
        (
            "schedules_means.csv",
            "0.75",
            "nan",
            "npgpd_hf: schedule growing, iteration 3: mean: expected 0.75, found nan",
        ),
    ],
)
def test_altered_cell_of_a_long_table_is_named(study, name, before, after, detail):
    path = study.results / name
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), encoding="utf-8")
    for options in ({"partial": True}, {"exact": False}):
        assert disagreeing(results_of(study, **options)) == [f"results/paper/{name}, {detail}"]


def test_long_tables_may_be_missing_where_results_may(study):
    for name in LONG:
        (study.results / name).unlink()
    assert disagreeing(results_of(study, partial=True)) == []
    lines = disagreeing(results_of(study))
    assert lines == [f"results/paper/{name}: missing" for name in LONG]


def test_part_that_is_missing_in_a_file_disagrees(study):
    path = study.results / "verdicts.csv"
    path.write_text(path.read_text().replace("unit,", "more seeds,"))
    assert disagreeing(results_of(study, partial=True)) == [
        "results/paper/verdicts.csv, unit: missing",
        "results/paper/verdicts.csv, more seeds: not in the reference",
    ]


def test_missing_seed_disagrees(study):
    (study.results / "runs/npgpd_hf/M16/seeds0002-0002.parquet").unlink()
    lines = disagreeing(results_of(study, partial=True))
    assert lines == ["results/paper/runs/npgpd_hf/M16: 3 rows expected, 2 found"]


@pytest.mark.parametrize("place", ["runs/npgpd_hf/M16", "rates/npgpd_hf/study_steps/Minf"])
def test_blocks_of_seeds_make_no_difference(study, place):
    folder = study.results / place
    table = pd.concat(map(pd.read_parquet, sorted(folder.glob("*.parquet"))), ignore_index=True)
    table.to_parquet(folder / "seeds0000-0002.parquet", index=False)
    assert disagreeing(results_of(study)) == []


def test_additional_number_of_evaluators_disagrees(study):
    shutil.copytree(study.results / "runs/npgpd_hf/M16", study.results / "runs/npgpd_hf/M17")
    for path in (study.results / "runs/npgpd_hf/M17").glob("*.parquet"):
        pd.read_parquet(path).assign(evaluators=17).to_parquet(path, index=False)
    lines = disagreeing(results_of(study))
    assert "results/paper/runs/npgpd_hf/M17: not in the reference" in lines


def test_writing_the_reference_again_gives_the_same_bytes(complete, tmp_path):
    shutil.copytree(complete.root, tmp_path, dirs_exist_ok=True)
    home = Study(tmp_path)
    shutil.rmtree(reference(home))
    verification.write_reference(home, home, reference(home))
    names = sorted(path.name for path in reference(complete).iterdir())
    assert names == sorted(path.name for path in reference(home).iterdir())
    for name in names:
        assert (reference(home) / name).read_bytes() == (reference(complete) / name).read_bytes()


@pytest.fixture
def command(study, tmp_path, monkeypatch):
    """Run tools/verify.py without a workflow: what would be run gives the project's results."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    module = __import__("verify")
    asked = []

    def run_workflow(folder, cores, config, targets):
        shutil.copytree(study.results, Study(folder).results)
        shutil.copytree(study.figures, Study(folder).figures)
        asked.append(targets)
        return True

    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    monkeypatch.setattr(module, "ROOT", study.root)
    monkeypatch.setattr(module, "copy_project", lambda folder: None)
    monkeypatch.setattr(module, "run_workflow", run_workflow)
    monkeypatch.setattr(module.verification, "check_drawings", lambda *arguments: [])

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["verify.py", *options])
        module.main()
        return asked.pop()

    yield run
    del sys.modules["verify"]


@pytest.mark.parametrize("full", [False, True])
def test_long_tables_of_the_reference_are_written_only_in_full(study, command, full):
    names = ["rates.csv", *LONG]
    for name in names:
        (study.results / name).write_text((study.results / name).read_text().replace("5", "6"))
    before = {name: (reference(study) / name).read_bytes() for name in names}
    targets = command("--write", *["--full"] * full)
    assert targets == (("sample", "all", "claims", "theory") if full else ("sample", "all"))
    written = {name for name in names if (reference(study) / name).read_bytes() != before[name]}
    altered = {name for name in names if b"5" in before[name]}
    assert {"rates.csv", "slopes.csv"} < altered
    assert written == (altered if full else {"rates.csv"})
    # The list of digests has all files, whoever wrote them.
    listed = (reference(study) / "SHA256SUMS").read_text()
    assert all(f"  reference/{name}\n" in listed for name in names)
    assert disagreeing(verification.check_digests(study.root, reference(study))) == []


def test_only_the_full_verification_runs_what_is_long(study, command, capsys):
    assert command("--full") == ("sample", "all", "claims", "theory")
    again = capsys.readouterr().out.partition("Run again")[2].partition("Figures of this run")[0]
    assert all(f"  {name}" in again for name in ["rates.csv", *LONG])
    for name in LONG:
        (study.results / name).unlink()
    assert command() == ("sample",)
    output = capsys.readouterr().out
    assert "rates.csv" not in output.partition("Run again")[2].partition("In results")[0]
    assert not any(f"  {name}" in output for name in LONG)


def test_elsewhere_numbers_agree_within_the_tolerance_only(study):
    path = study.results / "runs/npgpd_hf/M16/seeds0000-0001.parquet"
    table = pd.read_parquet(path)

    def shifted(distance):
        table.assign(reward_value=table["reward_value"] + distance).to_parquet(path, index=False)
        return results_of(study, exact=False), disagreeing(results_of(study, exact=True))

    elsewhere, here = shifted(1e-10)
    assert disagreeing(elsewhere) == []
    assert here[0].startswith("results/paper/runs/npgpd_hf/M16, seed 0: iteration 0: reward_value")
    hows = {check.what: check.how for check in elsewhere}
    assert hows["runs/npgpd_hf/M16, seed 0"] == "to 1e-10"
    assert hows["runs/npgpd_hf/Minf, seed 0"] == "bits"
    elsewhere, _ = shifted(1e-7)
    lines = disagreeing(elsewhere)
    assert {line.split(":")[0] for line in lines} == {
        "results/paper/runs/npgpd_hf/M16, seed 0",
        "results/paper/runs/npgpd_hf/M16",
    }


def test_integers_words_and_verdicts_have_no_tolerance(study):
    path = study.results / "claims.csv"
    path.write_text(path.read_text().replace("reproduced", "contradicted"))
    lines = disagreeing(results_of(study, exact=False))
    assert lines == [
        "results/paper/claims.csv: claim falls: verdict: expected reproduced, found contradicted"
    ]


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_equal_text_means_equal_bits(numbers):
    content = contents.from_frame(pd.DataFrame({"x": np.array(numbers, dtype=float)}))
    back = np.array([float(cell) for (cell,) in content.rows])
    np.testing.assert_array_equal(back.view(np.int64), np.array(numbers).view(np.int64))


@given(st.floats(-1e6, 1e6), st.integers(1, 3))
def test_bits_are_compared_to_the_last_one(number, steps):
    other = number
    for _ in range(steps):
        other = np.nextafter(other, np.inf)
    first, second = ({"x": [value]} for value in (number, other))
    pair = [contents.from_frame(pd.DataFrame(table)) for table in (first, second)]
    assert contents.compare(*pair, ()).cells == 1
    assert contents.compare(*pair, (), 1e-9).cells == 0


@pytest.mark.parametrize(
    ("here", "there"), [("0.0", "-0.0"), ("1", ""), ("", "1"), ("a", "b"), ("1", "nan")]
)
def test_cells_that_are_not_equal_numbers_differ(here, there):
    pair = [Content(("x",), ((cell,),)) for cell in (here, there)]
    assert contents.compare(*pair, ()).cells == 1
    assert contents.compare(*pair, (), 1e-8).cells == (here != "0.0")


def test_first_difference_names_row_and_column():
    first = Content(("seed", "gap"), (("0", "1.5"), ("1", "2.5"), ("2", "3.5")))
    second = Content(("seed", "gap"), (("0", "1.5"), ("1", "2.75"), ("2", "")))
    difference = contents.compare(first, second, ["seed"])
    assert difference.first == "seed 1: gap: expected 2.5, found 2.75"
    assert difference.cells == 2


def test_elsewhere_pictures_agree_by_their_pixels(tmp_path):
    table = pd.read_csv(REFERENCE / "curves.csv").query("algorithm == 'npgpd_hf'")
    folders = {name: tmp_path / name for name in ("committed", "compressed", "raised")}
    style.use_style()
    for name in ("committed", "raised"):
        curve = [column for column in table if "optimality_gap" in column]
        table.loc[table["evaluators"] == 16, curve] += 0.002 * (name == "raised")
        panel = panels.panel(table, "npgpd_hf", "optimality_gap")
        style.save(panel, folders[name], "panel", ["png"])
        style.plt.close(panel)
    folders["compressed"].mkdir()
    pixels = style.plt.imread(folders["committed"] / "panel.png")
    style.plt.imsave(folders["compressed"] / "panel.png", pixels)
    answers = {
        name: verification.check_figures(folders[name], folders["committed"], exact=False)[0]
        for name in ("compressed", "raised")
    }
    assert (answers["compressed"].agrees, answers["compressed"].how) == (True, "pixels")
    assert answers["raised"].detail == ("committed/panel.png: another picture",)
    exact = verification.check_figures(folders["compressed"], folders["committed"])[0]
    assert "committed/panel.png: other bytes" in exact.detail


def test_figure_has_the_same_formats_on_both_sides(study, tmp_path):
    other = shutil.copytree(study.figures, tmp_path / "other")
    (other / "figure1.svg").unlink()
    checks = verification.check_figures(study.figures, other)
    assert disagreeing(checks) == ["other/figure1.svg: other bytes"]
    (study.figures / "figure1.svg").unlink()
    checks = verification.check_figures(study.figures, other)
    assert [(check.expected, check.agrees) for check in checks] == [("2 files", True)]


def test_platforms_differ_by_what_decides_about_bits():
    here = platforms.describe()
    assert platforms.differences(here, here) == []
    other = {**here, "processor": "486"}
    assert platforms.differences(here, other) == [
        f"processor: {here['processor']} recorded, 486 here"
    ]
    assert {"system", "C library", "numpy", "numba", "matplotlib"} <= set(here)
    assert json.loads(json.dumps(here)) == here


def test_table_fits_and_says_what_differs(study):
    (study.results / "rates.csv").write_text("algorithm\nnpgpd_hf\n")
    checks = results_of(study)
    table = verification.format_table([("Run again", checks)])
    lines = [line for line in table.splitlines() if not line.startswith("    ")]
    assert max(map(len, lines)) <= 100
    assert [line.split()[0] for line in lines if line.endswith("NO")] == ["rates.csv"]
    assert sum("yes, bits" in line for line in lines) == len(checks) - 1


def test_committed_reference_is_that_of_this_code_and_these_figures():
    checks = verification.check_digests(ROOT, REFERENCE)
    assert disagreeing(checks) == [], "run `make reference`"
