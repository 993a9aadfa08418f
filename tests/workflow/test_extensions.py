"""What a new capability takes: a file and an entry each, and nothing that is there runs again.

New algorithms: test_new_algorithm.py.
"""

import html
import json
import os
import re

import nbformat
import pandas as pd
import pytest
import yaml
from projects import rules

from replication.files import storage
from replication.study.readings import overlay

# A study whose jobs take a moment.
TINY = {
    "study": "tiny",
    "evaluators": [4, 16],
    "horizon": 5,
    "seeds": 2,
    "algorithms": {
        "npgpd_hf": {"iterations": 20, "primal_step": 0.3, "dual_step": 0.1},
        "zpgpd_hf": {"iterations": 40, "primal_step": 0.01, "dual_step": 0.01},
    },
    "claims": {
        "own_seeds": 2,
        "seeds": 2,
        "readings": [],
        "instances": {"groups": {"binding": {"numbers": []}}},
    },
}
FIGURE_1 = rules("environment", "calibrate", "run", "aggregate", "figure")

# The five places of an analysis.
ANALYSIS = '''
"""Answers under other links than the study's."""

from replication.analyses import Table
from replication.study.cases import Case, run_setting
from pgpd_hf.core.links import get_link
from replication.files import storage

TARGET = "theory"
TABLES = {"answers": Table("Gap at the end, by link (table)", "link")}
READS = ("runs",)


def plan(config):
    options = config["answers"]
    return {
        "npgpd_hf": [
            (seed, [case(config, link, seed) for link in options["links"]])
            for seed in range(options["seeds"])
        ]
    }


def case(config, link, seed):
    setting = run_setting(config, "npgpd_hf", 16) | {"link": link}
    return Case("npgpd_hf", setting, (seed,), "answers", labels={"link": link})


def check(config, schema):
    for link in config["answers"]["links"]:
        get_link(link)


def arguments(config):
    return {"links": config["answers"]["links"]}


def tables(runs, links):
    runs = storage.read_tables(runs)
    last = runs[runs["iteration"] == runs["iterations"]]
    means = last.groupby("link", as_index=False)["optimality_gap"].mean()
    return {"answers": means.set_index("link").loc[links].reset_index()}
'''
CELLS = [
    'results = "results/paper"',
    'from replication.files import storage\nstorage.read_table(f"{results}/answers.csv")',
]
SCHEMA = """\
description: Other links.
type: object
additionalProperties: false
required: [seeds, links]
properties:
  seeds: {description: Number of seeds., type: integer, minimum: 1}
  links: {description: Their names., type: array, items: {type: string}}
"""
SETTINGS = "seeds: 3\nlinks: [logistic, probit]\n"
CAPTION = "Links: {{ snakemake.config.answers.links | join(', ') }}.\n"

ENVIRONMENT = '''
"""Two rooms: in the first nothing happens, in the second there is a reward, which has its price."""

import numpy as np

from pgpd_hf.core.cmdp import CMDP


def make(stay=0.9, threshold=0.5):
    """Make them.

    Parameters
    ----------
    stay : float
        Probability that an action that leaves a room fails.
    threshold : float
        That of the utility.

    Returns
    -------
    CMDP
    """
    transition = np.empty((2, 2, 2))
    for room in range(2):
        transition[room, 0] = np.eye(2)[room]
        transition[room, 1] = stay * np.eye(2)[room] + (1 - stay) * np.eye(2)[1 - room]
    return CMDP(
        transition=transition,
        reward=np.array([[0.0, 0.0], [0.1, 0.1]]),
        utility=np.array([[0.1, 0.1], [0.0, 0.05]]),
        initial=np.array([0.5, 0.5]),
        discount=0.9,
        threshold=threshold,
        scale=0.1,
    )
'''
READING = """\
title: short trajectories
about: Trajectories are shorter than in the study.
violation: positive
config:
  horizon: 3
"""
STATEMENT = """\
claims:
  npgpd-safer-with-more:
    source: "nowhere"
    quote: "16 evaluators are safer than 4"
    statement: "NPGPD-HF: 16 safer than 4"
    criterion:
      test: improves
      algorithm: npgpd_hf
      column: constraint_violation
      statistic: last_quarter
      evaluators: [4, 16]
      margin: 0
"""


def write(project, name, text):
    """Write a file of a project."""
    (project.folder / name).write_text(text, encoding="utf-8")


def run(project, *targets, **study):
    """Run targets of a small study; give back what was printed."""
    write(project, "config/tiny.yaml", yaml.safe_dump(overlay(TINY, study)))
    code, output = project.snakemake("--cores", "2", *targets, configfile="config/tiny.yaml")
    assert code == 0, output
    return output


def plan(project, *targets, **study):
    """Plan targets of a study likewise."""
    return run(project, "--dry-run", *targets, **study)


def table(project, name):
    """A table of the small study."""
    return storage.read_table(project.folder / "results/tiny" / name)


@pytest.fixture
def with_analysis(fresh):
    """A project with one more analysis."""
    write(fresh, "src/replication/analyses/answers.py", ANALYSIS.lstrip())
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, CELLS)))
    notebook.cells[0].metadata["tags"] = ["parameters"]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.metadata["kernelspec"] = kernel
    write(fresh, "notebooks/answers.ipynb", nbformat.writes(notebook))
    write(fresh, "workflow/schemas/analyses/answers.schema.yaml", SCHEMA)
    write(fresh, "config/analyses/answers.yaml", SETTINGS)
    write(fresh, "workflow/report/answers.rst", CAPTION)
    return fresh


def test_analysis_is_five_places(with_analysis):
    project = with_analysis
    # Its own target and the one that it names know it, and no other.
    job = "answers: npgpd_hf, 0000 to 0002"
    assert job in plan(project, "answers")
    planned = plan(project, "theory")
    assert job in planned
    assert "Answers under other links than the study's" in planned
    assert job not in plan(project, "all", "grid")

    output = run(project, "answers", "--report", "report.html", "--report-after-run")
    assert "WARNING/" not in output  # of the caption's markup
    made = table(project, "answers.csv")
    assert list(made["link"]) == ["logistic", "probit"]
    assert made["optimality_gap"].notna().all()
    runs = table(project, "answers/npgpd_hf/0000-0002.parquet")
    assert set(zip(runs["seed"], runs["link"], strict=True)) == {
        (seed, link) for seed in range(3) for link in ("logistic", "probit")
    }
    assert (project.folder / "results/tiny/notebooks/answers.html").exists()
    assert "Links: logistic, probit." in (project.folder / "report.html").read_text()


def test_entry_of_an_analysis_is_checked_before_any_job(with_analysis):
    content = overlay(TINY, {"answers": {"links": ["logistic", "cosine"]}})
    write(with_analysis, "config/tiny.yaml", yaml.safe_dump(content))
    code, output = with_analysis.snakemake("answers", "--dry-run", configfile="config/tiny.yaml")
    assert code == 1
    assert output.splitlines()[-1].startswith("error: ")
    assert "cosine" in output.splitlines()[-1]


def test_incomplete_analysis_is_named(fresh):
    write(fresh, "src/replication/analyses/half.py", ANALYSIS.lstrip().replace("TARGET", "AIM"))
    code, output = fresh.snakemake("--dry-run")
    assert code != 0
    assert "analyses/half.py: TARGET expected, see analyses/__init__.py" in output


@pytest.mark.parametrize("name", ["rates", "schedules", "comparison"])
def test_edit_of_an_analysis_runs_nothing_of_figure_1(finished, name):
    """Its file, its notebook and its entry of the configuration at once."""
    project, _ = finished
    paths = [f"src/replication/analyses/{name}.py", f"notebooks/{name}.ipynb", "config/smoke.yaml"]
    before = {path: (project.folder / path).read_text(encoding="utf-8") for path in paths}
    notebook = json.loads(before[paths[1]])
    notebook["cells"][-1]["source"] += ["\n"]
    study = yaml.safe_load(before[paths[2]])
    study[name]["seeds"] = 3
    try:
        write(project, paths[0], before[paths[0]] + "\n# another line\n")
        write(project, paths[1], json.dumps(notebook))
        write(project, paths[2], yaml.safe_dump(study, sort_keys=False))
        planned = set(project.planned("all", "theory", "claims", "grid", "compare"))
    finally:
        for path, text in before.items():
            write(project, path, text)
    assert planned >= {name, "run_block"}
    assert not planned & FIGURE_1


def test_environment_is_a_file_and_an_entry(fresh):
    write(fresh, "src/pgpd_hf/environments/two_rooms.py", ENVIRONMENT.lstrip())
    environment = {"name": "two_rooms", "stay": 0.8}
    own = {"environment": environment, "algorithms": {"zpgpd_hf": {"perturbation": 1}}}
    planned = plan(fresh, "figure", "claims", **own)
    assert "npgpd_hf, M = 16, seeds 0000 to 0001" in planned
    assert "The matrix of verdicts, and what it says" in planned
    left = [line for line in planned.splitlines() if line.startswith("note: ")]
    assert any("(the CMDP two_rooms is a single one" in line for line in left)
    assert "note: scale: values lie in [0, 1]" in left
    runs = [f"runs/{name}/M16/seeds0000-0001.parquet" for name in TINY["algorithms"]]
    run(fresh, *(f"results/tiny/{name}" for name in runs), **own)
    for name in runs:
        assert set(table(fresh, name)["seed"]) == {0, 1}
    optimum = json.loads((fresh.folder / "results/tiny/optimum.json").read_text())
    assert len(optimum["policy"]) == 2


@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"name": "three_rooms"}, "name: one of "),
        ({"name": "two_rooms", "walls": 3}, "walls: not an option of the environment 'two_rooms'"),
        ({"name": "two_rooms", "threshold": 2}, "threshold: 2"),
    ],
)
def test_environment_that_cannot_be_made_is_refused(fresh, environment, message):
    write(fresh, "src/pgpd_hf/environments/two_rooms.py", ENVIRONMENT.lstrip())
    write(fresh, "config/tiny.yaml", yaml.safe_dump(overlay(TINY, {"environment": environment})))
    code, output = fresh.snakemake("--dry-run", configfile="config/tiny.yaml")
    assert code == 1
    assert output.splitlines()[-1].startswith(f"error: environment: {message}")


LAKE = """
from gymnasium.envs.registration import register
from gymnasium.envs.toy_text.frozen_lake import FrozenLakeEnv

register("Lake-v0", lambda **options: FrozenLakeEnv(is_slippery=True, **options))
"""


def test_edited_environment_of_a_module_of_ones_own_is_made_again(fresh):
    environment = {"gymnasium": "lake:Lake-v0", "cost": "holes", "at_most": 0.05, "discount": 0.9}
    write(fresh, "lake.py", LAKE)
    write(fresh, "config/tiny.yaml", yaml.safe_dump(overlay(TINY, {"environment": environment})))
    command = fresh.workflow(
        "results/tiny/optimum.json", "--cores", "1", configfile="config/tiny.yaml"
    )
    path = {"PYTHONPATH": f"{fresh.folder}{os.pathsep}{fresh.environment()['PYTHONPATH']}"}
    for text, done in ((LAKE, False), (LAKE, True), (LAKE.replace("True", "False"), False)):
        write(fresh, "lake.py", text)
        code, output = fresh.call(command, environment=path)
        assert code == 0, output
        assert ("Nothing to be done" in output) == done


@pytest.mark.slow
def test_study_of_a_gymnasium_environment_is_run(fresh):
    """It starts in one state, and its threshold is beyond any return of six steps."""
    environment = {"gymnasium": "FrozenLake-v1", "cost": "holes", "at_most": 0.05, "discount": 0.9}
    lengths = {"npgpd_hf": [5, 10], "zpgpd_hf": [10, 20]}
    rates = {"evaluators": [1, 16], "seeds": 2, "iterations": lengths}
    targets = ("figure", "summary", "policies", "rates")
    run(fresh, *targets, environment=environment, rates=rates)
    results = fresh.folder / "results/tiny"
    left = "eft out, since the CMDP FrozenLake-v1 is a single one, not a random family"
    assert f"\nl{left} from: " in (results / "summary.txt").read_text()
    page = (results / "notebooks/figure1.html").read_text()
    assert f"<p>L{left} from: " in page
    assert "<title>The paper's figure – study tiny</title>" in html.unescape(page)
    for number in (4, 16):
        picture = fresh.folder / f"results/tiny/figures/policies_M{number}.png"
        assert picture.stat().st_size > 2000
    found = table(fresh, "rates.csv")
    rules = found.groupby("algorithm")["step_rule"].unique().map(set)
    assert rules["zpgpd_hf"] == {"study"}
    assert rules["npgpd_hf"] == {"study", "theorem"}
    page = (fresh.folder / "results/tiny/notebooks/rates.html").read_text()
    assert "outside the assumptions. NPGPD-HF: threshold: 0 &lt;= b &lt;= G(H)" in page
    assert "No runs of ZPGPD-HF with its theorem" in page


@pytest.mark.long
def test_smallest_study_says_that_it_has_no_intervals(fresh):
    """One seed, one evaluator, trajectories of two steps and one iteration."""
    steps = {"iterations": 1, "primal_step": 0.3, "dual_step": 0.1}
    study = {"seeds": 1, "evaluators": [1], "horizon": 1}
    study["algorithms"] = dict.fromkeys(["npgpd_hf", "zpgpd_hf"], steps)
    lengths = {name: [1, 2] for name in study["algorithms"]}
    study["rates"] = {"evaluators": [1], "seeds": 1, "iterations": lengths}
    run(fresh, "figure", "summary", "rates", **study)
    summary = (fresh.folder / "results/tiny/summary.txt").read_text()
    assert "NPGPD-HF             1   +0.2725 (no interval)" in summary
    assert "\nValues of one seed: intervals take" in summary
    assert "\nDoes it reproduce? None of the 14 statements is judged (for one, " in summary
    assert "not run with M = 16" in summary
    assert "not confirmed" not in summary
    for page in ("figure1", "rates"):
        text = (fresh.folder / f"results/tiny/notebooks/{page}.html").read_text()
        output = re.sub(r"(?s)<(script|style|details).*?</\1>", "", text)
        assert not re.search(r"\bnan\b", output)


def test_reading_and_statement_are_files_of_ones_own(fresh):
    write(fresh, "config/readings/short.yaml", READING)
    write(fresh, "config/mine.yaml", STATEMENT)
    own = {"readings": ["short"], "statements": ["config/mine.yaml"]}
    run(fresh, "results/tiny/readings/short/claims.csv", claims=own)
    runs = pd.concat(
        pd.read_parquet(path)
        for path in (fresh.folder / "results/tiny/readings/short/runs").rglob("*.parquet")
    )
    # Horizon 3: four steps of each trajectory, whose number does not depend on the reading.
    ends = runs[(runs["algorithm"] == "npgpd_hf") & (runs["iteration"] == 20)]
    assert ends["steps"].nunique() == 1
    assert ends["steps"].iloc[0] % (20 * 4) == 0
    verdicts = table(fresh, "readings/short/claims.csv").set_index("claim")
    mine = verdicts.loc["npgpd-safer-with-more"]
    assert mine["verdict"] in {"reproduced", "contradicted", "inconclusive"}
    assert pd.notna(mine["estimate"])
    assert "short trajectories" not in plan(fresh, "all", claims={"readings": ["short"]})


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_bounds_are_computed_again_when_their_algorithms_change(finished, name):
    project, _ = finished
    source = project.folder / f"src/pgpd_hf/algorithms/{name}.py"
    before = source.read_text(encoding="utf-8")
    try:
        source.write_text(before + "\n# another line\n", encoding="utf-8")
        planned = project.planned("all", "theory")
    finally:
        source.write_text(before, encoding="utf-8")
    assert planned["bounds_by_setting"] == 3
    assert planned["certificates_by_algorithm"] >= 1
    assert planned["run"] == 3


LIMITS = {"npgpd_hf": "npg_pd", "zpgpd_hf": "pg_pd"}


def dropping(project, dropped):
    """The smoke study without one of its algorithms."""
    study = yaml.safe_load((project.folder / "config/smoke.yaml").read_text(encoding="utf-8"))
    steps = {"primal_step": "calibrated", "dual_step": "calibrated"}
    algorithms = {name: {"iterations": 20, **steps} for name in LIMITS} | {dropped: None}
    return {**study, "study": "tiny", "algorithms": algorithms}


@pytest.mark.parametrize("dropped", LIMITS)
def test_study_that_drops_an_algorithm_is_planned(fresh, dropped):
    (kept,) = set(LIMITS) - {dropped}
    planned = plan(fresh, "all", "theory", "claims", "grid", **dropping(fresh, dropped))
    lines = [line for line in planned.splitlines() if line.startswith("note: ")]
    assert lines[0] == f"note: left out: all that is about {dropped} (the study has none)"
    assert [line.split(": ")[1] for line in lines[1:]] == [kept]  # whose step sizes race
    assert f"{kept}, M = 16, seeds 0000 to 0002" in planned
    jobs = [line for line in planned.splitlines() if line.startswith("Job ")]
    assert len(jobs) > 20
    assert not [line for line in jobs if re.search(rf"\b({dropped}|{LIMITS[dropped]})\b", line)]


@pytest.mark.slow
@pytest.mark.parametrize("dropped", LIMITS)
def test_study_that_drops_an_algorithm_is_run(fresh, dropped):
    (kept,) = set(LIMITS) - {dropped}
    run(fresh, "all", "theory", "claims", "grid", **dropping(fresh, dropped))
    assert set(table(fresh, "aggregate.parquet")["algorithm"]) == {kept}
    verdicts = table(fresh, "claims.csv")
    about = verdicts["claim"].str.startswith(dropped.replace("_hf", "-"))
    assert about.any()
    assert set(verdicts.loc[about, "verdict"]) == {"inconclusive"}


def test_many_short_jobs_are_planned(fresh):
    planned = plan(fresh, "figure", "--quiet", "rules", seeds=300, block=1)
    jobs = dict(line.split() for line in planned.splitlines() if len(line.split()) == 2)
    assert jobs["run"] == str(2 * 2 * 300)
    assert jobs["aggregate"] == jobs["figure"] == "1"


def test_inputs_do_not_have_to_fit_into_a_command(fresh):
    """Names of all inputs together are longer than the longest argument that a shell can take."""
    files, study = 600, 50 * "long"
    results = f"results/{study}"
    run(fresh, f"{results}/runs/npgpd_hf/M4/seeds0000-0000.parquet", study=study, block=1)
    folder = fresh.folder / results / "runs/npgpd_hf/M4"
    first = pd.read_parquet(folder / "seeds0000-0000.parquet")
    first = first[first["iteration"].isin([0, 20])]
    for seed in range(files):
        first.assign(seed=seed).to_parquet(folder / f"seeds{seed:04d}-{seed:04d}.parquet")
    (folder / ".seeds0000-0000.parquet.sha256").unlink()
    names = sorted(folder.glob("*.parquet"))
    assert len(" ".join(str(name.relative_to(fresh.folder)) for name in names)) > 2**17
    options = {"study": study, "seeds": files, "block": 1, "evaluators": [4]}
    options["algorithms"] = {"zpgpd_hf": None}
    target = f"{results}/aggregate.parquet"
    run(fresh, target, "--allowed-rules", "aggregate", **options)
    assert set(storage.read_table(fresh.folder / target)["seeds"]) == {files}
