"""Verification: altered numbers of the reference and of results are named, and altered code."""

import json
import os
import re
import shutil
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pgpd_hf
from pgpd_hf import statistics
from replication.figures import panels, style
from replication.files import provenance, storage
from replication.verify import checks, tables

ROOT = Path(__file__).parents[2]
REFERENCE = ROOT / "reference"
DRAWS = [0, *(pytest.param(draw, marks=pytest.mark.slow) for draw in (1, 2, 3))]
TEXTS = {  # by their files, seen from the results of the default study or of the hard case
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
    **{
        f"{name}.csv": [
            "statement,estimator,evaluators,rounds,iterations,quantity,level,bound",
            "Theorem 1,plug-in,16,1,100,gap,largest,0.25",
        ]
        for name in ("lengths", "first_lengths", "seen")
    },
    "comparison.csv": ["units,method,design,budget,gap", "20 seeds,zpg,its own,1000,0.25"],
    "comparison_answers.csv": [
        "units,method,design,target,answers",
        "20 seeds,zpg,its own,0.05,5000.0",
    ],
    "comparison_verdicts.csv": ["claim,unit,difference,verdict", "cheap,seeds,0.5,contradicted"],
    "comparison_settings.csv": ["key,setting,score,at_edge", '"zpg, its own, 1000",{},0.5,'],
    "comparison_order.csv": ["unit,budget,method,design,difference", "seeds,1000,zpg,its own,0.25"],
    "comparison_limit.csv": ["budget,priced_gap", "1000,0.25"],
    "comparison_deployment.csv": ["slack,level,answers", "0.001,0.9,inf"],
    "misspecification.csv": [
        "people,method,design,budget,gap",
        "probit link,zpg,its own,1000,0.25",
    ],
    "skipping_inference.csv": ["people,budget,difference,pays_off", "probit link,1000,0.5,no"],
    "splits.csv": ["algorithm,estimator,evaluators,rounds,gap", "npgpd_hf,plug-in,16,4,0.25"],
    "splits_variance.csv": [
        "estimator,evaluators,rounds,question,law",
        "plug-in,16,4,safety,0.25",
    ],
    "full/rates.csv": [
        "algorithm,step_rule,evaluators,metric,slope",
        "npgpd_hf,study,256,gap,-0.5",
    ],
    "controls.csv": ["claim,control,verdict,low", "falls,still,contradicted,0.5"],
    "ties.csv": ["algorithm,primal_step,dual_step,claim,low", "npgpd_hf,3.0,0.03,falls,0.5"],
    "../pilot/verdicts_power.csv": ["reading,claim,power", "unit,falls,0.75"],
    "../inference/inferred.csv": ["rounds,score", "1,24"],
    "../inference/verdicts.csv": ["reading,claim,verdict,low", "N = 2,falls,reproduced,0.5"],
    "../confirmation/verdicts.csv": ["reading,claim,verdict,low", "default,falls,reproduced,0.5"],
    "../environments/environments.csv": ["study,claim,verdict,low", "lake,falls,reproduced,0.5"],
    "../settled/settled.csv": ["algorithm,iterations,label", "npgpd_hf,2000,still moving"],
    "../settled/settled_moves.csv": [
        "algorithm,length,evaluators,curve,quarter,move",
        "npgpd_hf,100,16,multiplier,0,0.5",
    ],
    "settled.csv": ["algorithm,iterations,label", "npgpd_hf,2000,"],
    "settled_moves.csv": [
        "algorithm,length,evaluators,curve,quarter,move",
        "npgpd_hf,100,16,multiplier,0,0.25",
    ],
    "verdicts_power.csv": ["reading,claim,power,needed", "default,falls,0.9,135"],
    "instances.csv": ["algorithm,evaluators,iteration,mean", "npgpd_hf,16,3,0.75"],
    "axes.csv": [
        "discrimination,people,method,design,budget,gap",
        "0.1,as assumed,npgpd_hf,its own,1000,0.5",
    ],
    "axes_answers.csv": [
        "discrimination,people,method,design,target,answers",
        "0.1,as assumed,npgpd_hf,its own,0.05,1000",
    ],
    "axes_collapse.csv": ["method,design,largest", "npgpd_hf,its own,0.5"],
    "axes_hurt.csv": [
        "discrimination,people,method,design,answers_scaled,low",
        "0.1,peak and end,npgpd_hf,its own,1000,0.5",
    ],
    "axes_skipping.csv": ["discrimination,people,budget,low", "0.1,peak and end,1000,0.5"],
    "axes_sizes.csv": ["size,method,design,budget,gap", "40,npgpd_hf,its own,1000,0.5"],
    "axes_exponents.csv": ["method,design,target,exponent", "npgpd_hf,its own,0.1,1.5"],
    "axes_linear.csv": ["size,method,design,budget,gap", "40,npgpd_hf_without,its own,1000,0.5"],
    "axes_linear_exponents.csv": [
        "method,design,target,exponent",
        "npgpd_hf_without,its own,0.1,1.5",
    ],
    "axes_settings.csv": ["key,score", "npgpd_hf,0.5"],
    "stability.csv": ["variant,multiplier,mean", "as printed,2,0.5"],
    "stability_long.csv": ["instance,evaluators,variant,iteration,mean", "1,16,as printed,9,0.5"],
    "stability_fresh.csv": ["setting,instance,breaks,peak", "M = 16,2001,True,0.5"],
    "stability_cures.csv": ["method,gap", "as printed,0.5"],
    "stability_npgpd_hf.csv": ["instance,evaluators,setting,seed,gap", "1,16,raced steps,0,0.5"],
    "proof_steps.csv": ["step,worst,holds", "3.4,0.5,True"],
    "schedules.csv": ["algorithm,schedule,metric,mean", "npgpd_hf,growing,late_gap,0.125"],
    "schedules_means.csv": ["algorithm,schedule,iteration,mean", "npgpd_hf,growing,3,0.75"],
}


def of_hard(file):
    """Place of a file of the hard case, or of a study beside it, seen from the default study's."""
    return f"../hard-{file[3:]}" if file.startswith("../") else f"../hard/{file}"


FILES = {table.files for table in tables.TABLES}
LONG = {
    place: lines
    for file, lines in TEXTS.items()
    for place in (file, of_hard(file))
    if place in FILES
}
SHORT = [
    "environment.npz",
    "optimum.json",
    "calibration/npgpd_hf.csv",
    "calibration/npgpd_hf.json",
    "bounds/paper.csv",
    "runs/npgpd_hf/M16/seeds0000-0001.parquet",
    "runs/npgpd_hf/Minf/seeds0002-0002.parquet",
    "aggregate.parquet",
    "rates.csv",
    "bounds.csv",
    "claims.csv",
    "summary.txt",
]
RATES = ["rates/npgpd_hf/0000-0001.parquet", "rates/npgpd_hf/0002-0002.parquet"]
RESULTS = [*SHORT, *RATES, *map(of_hard, SHORT), *LONG]
NAMES = {table.files: table.name for table in tables.TABLES}
CODE = {
    "Snakefile": 'min_version("9.27")\n',
    "requirements.lock": "numpy==2.4.6\n",
    "config/config.yaml": "seeds: 20\n",
    "config/claims.yaml": "level: 0.05\n",
    "config/hard.yaml": "instance: 1\n",
    "config/analyses/bounds.yaml": "seeds: 8\n",
    "config/readings/unit.yaml": "threshold: 5.5\n",
    "notebooks/figure1.ipynb": '{"nbformat": 4}\n',
    "src/pgpd_hf/core/links.py": "CLIP = 0.01\n",
    "src/replication/theory/bounds.py": "CONSTANT = 48\n",
    "workflow/rules/figure1.smk": "threads: 2\n",
    "workflow/scripts/run.py": "LAST = 10\n",
    "workflow/schemas/config.schema.yaml": "minimum: 1\n",
}


class Project:
    """A folder with a reference, results and figures."""

    def __init__(self, root):
        self.root = root
        self.reference, self.figures = root / "reference", root / "figures"
        self.results = root / "results/paper"

    def write_reference(self):
        checks.write_reference(self.reference, self.results)

    def damaged(self):
        """Results of the default study and of the hard case that are not as they were written."""
        folders = self.results, self.results.with_name("hard")
        return [path for folder in folders for path in storage.find_damaged(folder)]

    def compare(self, **options):
        """All lines about results that differ."""
        answers = checks.check_tables(self.reference, self.results, **options)
        return [line for lines in answers.values() for line in lines]


@pytest.fixture(scope="module")
def complete(tmp_path_factory):
    """A small project with a complete study and its reference."""
    root = tmp_path_factory.mktemp("project")
    for name, text in CODE.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    study = Project(root)
    cmdp = pgpd_hf.random_cmdp(states=3, actions=2, instance=1, threshold=0.5)
    results = {
        "calibration/npgpd_hf.csv": pd.DataFrame(
            {"primal_step": [0.1, 1.0], "dual_step": 0.1, "score": [0.25, 0.125]}
        ),
        "bounds/paper.csv": pd.DataFrame(
            {"item": ["1"], "part": ["a"], "setting": "paper", "bound": [0.7], "holds": [True]}
        ),
        "rates.csv": pd.DataFrame(
            [["npgpd_hf", "study", 256, "gap", -0.51]],
            columns=["algorithm", "step_rule", "evaluators", "metric", "slope"],
        ),
        "claims.csv": pd.DataFrame({"claim": ["falls"], "low": [0.3], "verdict": ["reproduced"]}),
    }
    for evaluators, seeds in ((16, [0, 1]), (16, [2]), (None, [0, 1]), (None, [2])):
        name = f"runs/npgpd_hf/M{evaluators or 'inf'}/seeds{seeds[0]:04d}-{seeds[-1]:04d}.parquet"
        options = {"evaluators": evaluators, "seeds": seeds, "horizon": 10}
        results[name] = pgpd_hf.run(cmdp, "npgpd_hf", iterations=12, **options)
    traces = pd.concat([table for name, table in results.items() if name.startswith("runs")])
    results["aggregate.parquet"] = statistics.aggregate(traces)
    for name in RATES:
        first, last = int(name[-17:-13]), int(name[-12:-8])
        results[name] = traces[traces["seed"].between(first, last)].assign(
            step_rule="study", iterations=12
        )
    results["bounds.csv"] = results["bounds/paper.csv"]
    for name, table in results.items():
        storage.write(study.results / name, table)
    cmdp.save(study.results / "environment.npz")
    storage.write(
        study.results / "optimum.json",
        {"reward_value": 0.5, "policy": [[0.25, 0.75]], "check": {"reward_value": 0.5}}
        | {"unconstrained": {"reward_value": 0.75}},
    )
    storage.write(study.results / "calibration/npgpd_hf.json", {"primal_step": 1.0})
    (study.results / "summary.txt").write_text("V_r* = 0.5\nlambda* = 0.125\n")
    rates = shutil.ignore_patterns("rates")
    shutil.copytree(study.results, study.results / "../hard", ignore=rates)
    for name, lines in LONG.items():
        path = (study.results / name).resolve()  # some are beside the study's results
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    style.use_style()
    figure, axes = style.plt.subplots(figsize=(1, 1))
    axes.plot([0, 1])
    for place in (study.figures, study.figures / "hard"):
        style.save(figure, place, "figure1")
    style.plt.close(figure)
    study.write_reference()
    return study


@pytest.fixture
def study(complete, tmp_path):
    """A copy of it that a test may alter."""
    shutil.copytree(complete.root, tmp_path, dirs_exist_ok=True)
    return Project(tmp_path)


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
    answers = checks.check_tables(complete.reference, complete.results)
    assert dict(answers) == {table.name: [] for table in tables.TABLES}


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", RESULTS)
def test_altered_number_of_a_result_is_named(study, name, draw):
    alter_result(study.results / name, np.random.default_rng([draw, len(name)]))
    # Tables that are too large for the reference have a digest beside them.
    damaged = [os.path.relpath(path, study.results) for path in study.damaged()]
    lines = study.compare(tables=[it for it in tables.TABLES if fnmatch(name, it.files)]) or damaged
    assert lines
    assert all(fnmatch(name, line.split(":")[0]) for line in lines), lines


@pytest.mark.parametrize("draw", DRAWS)
@pytest.mark.parametrize("name", sorted({table.name for table in tables.TABLES}))
def test_altered_number_of_the_reference_is_named(study, name, draw):
    alter_text(study.reference / f"{name}.csv", np.random.default_rng([draw, len(name)]))
    assert study.compare(tables=[table for table in tables.TABLES if table.name == name])


@pytest.fixture
def repository(study):
    """The same in a git repository."""
    shutil.copy(ROOT / ".gitignore", study.root)
    identity = ["-c", "user.name=someone", "-c", "user.email=", "-c", "commit.gpgsign=false"]
    for arguments in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "message"]):
        subprocess.run(["git", *arguments], cwd=study.root, check=True)
    return study


def test_altered_and_new_files_of_the_code_are_named(repository):
    root = repository.root
    assert checks.check_files(root, *checks.CODE) == []
    (root / "src/pgpd_hf/__pycache__").mkdir()
    (root / "src/pgpd_hf/__pycache__/links.pyc").write_bytes(b"")
    (root / "config/mine.yaml").write_text("study: mine\n")
    (root / "reference/platform.json").write_text("")
    assert checks.check_files(root, *checks.CODE) == []
    for name in CODE:
        alter_text(root / name, np.random.default_rng(len(name)))
    (root / "src/pgpd_hf/new/deep").mkdir(parents=True)
    (root / "src/pgpd_hf/new/deep/module.py").write_text("")
    (root / "workflow/rules/figure1.smk").unlink()
    assert sorted(checks.check_files(root, *checks.CODE)) == sorted(
        [
            *(f"{name}: altered" for name in CODE if name != "workflow/rules/figure1.smk"),
            "src/pgpd_hf/new/deep/module.py: new",
            "workflow/rules/figure1.smk: missing",
        ]
    )


def test_what_git_is_told_to_pass_over_is_named(repository):
    root, links = repository.root, "src/pgpd_hf/core/links.py"

    def git(*arguments):
        subprocess.run(["git", *arguments], cwd=root, check=True)

    for hidden in ("assume-unchanged", "skip-worktree"):
        git("update-index", f"--{hidden}", links)
        (root / links).write_text("CLIP = 0.02\n")
        assert checks.check_files(root, *checks.CODE) == [f"{links}: altered"]
        assert provenance.commit(root).endswith("-dirty")
        (root / links).write_text(CODE[links])
        git("update-index", f"--no-{hidden}", links)
    (root / ".git/info/attributes").write_text("*.py filter=hide\n")
    git("config", "filter.hide.clean", f"git cat-file blob HEAD:{links}")
    (root / links).write_text("CLIP = 0.02\n")
    (root / ".git/info/exclude").write_text("*.py\n*.yaml\n")
    (root / "src/pgpd_hf/new.py").write_text("")
    (root / "elsewhere").mkdir()
    (root / "src/pgpd_hf/linked").symlink_to(root / "elsewhere")
    (root / "config/readings/new.yaml").write_text("")
    git("add", "--force", "config/readings/new.yaml")
    assert sorted(checks.check_files(root, *checks.CODE)) == [
        "config/readings/new.yaml: new",
        f"{links}: altered",
        "src/pgpd_hf/linked: new",
        "src/pgpd_hf/new.py: new",
    ]


def test_altered_missing_and_new_files_of_the_reference_and_figures_are_named(repository):
    root, places = repository.root, ("reference", "figures")
    assert checks.check_files(root, *places) == []
    alter_text(repository.reference / "rates.csv", np.random.default_rng(1))
    (repository.reference / "new.csv").write_text("")
    path = repository.figures / "figure1.svg"
    path.write_text(path.read_text().replace("<path", "<path ", 1))
    (repository.figures / "figure1.png").unlink()
    assert sorted(checks.check_files(root, *places)) == [
        "figures/figure1.png: missing",
        "figures/figure1.svg: altered",
        "reference/new.csv: new",
        "reference/rates.csv: altered",
    ]


def test_files_outside_a_repository_are_not_compared(study):
    assert checks.check_files(study.root).startswith("not a git repository ")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give files to another user")
def test_reason_why_git_does_not_answer_is_passed_on(repository):
    os.chown(repository.root, 12345, 12345)
    os.chown(repository.root / ".git", 12345, 12345)
    assert checks.check_files(repository.root, *checks.CODE) == (
        f"detected dubious ownership in repository at '{repository.root}'"
    )


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
    lines = study.compare(partial=True)
    named = broken if content[:4] != b"item" else "bounds/*.csv: columns differ: "
    assert any(named in line for line in lines)
    assert all("\n" not in line for line in lines)


def test_missing_result_disagrees_unless_tables_may_be_missing(study):
    (study.results / "rates.csv").unlink()
    assert study.compare(partial=True) == []
    assert study.compare() == ["rates.csv: missing"]
    shutil.rmtree(study.results / "runs/npgpd_hf/Minf")
    lines = study.compare(partial=True)
    place = "runs/*/*/*.parquet: algorithm npgpd_hf, evaluators -, seed 0"
    assert lines[0] == f"{place}, iteration 0: missing"
    assert all(line.endswith(": missing") for line in lines)


@pytest.mark.parametrize(
    ("name", "before", "after", "detail"),
    [
        (
            "verdicts.csv",
            "reproduced",
            "contradicted",
            "reading unit, claim falls: verdict: expected reproduced, found contradicted",
        ),
        (
            "../hard/certificates.csv",
            "0.25",
            "0.26",
            "case study, algorithm npgpd_hf, evaluators 16.0, seed 0, quantity gap: measured: "
            "expected 0.25, found 0.26",
        ),
        (
            "../hard/slopes.csv",
            "-0.5",
            "-0.6",
            "sweep length, algorithm npg_pd, curve M = ∞, metric gap: slope: "
            "expected -0.5, found -0.6",
        ),
        (
            "../hard/slopes_means.csv",
            "0.25",
            "",
            "sweep length, algorithm npg_pd, curve M = ∞, value 1000.0, metric gap: mean: "
            "expected 0.25, found nothing",
        ),
        (
            "../hard/effects.csv",
            "-1.5",
            "1.5",
            "sweep people, algorithm zpgpd_hf, curve μ = 1, quantity excess: slope: "
            "expected -1.5, found 1.5",
        ),
        (
            "../hard/effects_means.csv",
            ",0.5",
            ",0.500001",
            "sweep people, algorithm zpgpd_hf, curve μ = 1, value 16.0, metric gap: mean: "
            "expected 0.5, found 0.500001",
        ),
        (
            "../hard/schedules.csv",
            "0.125",
            "0.126",
            "algorithm npgpd_hf, schedule growing, metric late_gap: mean: "
            "expected 0.125, found 0.126",
        ),
        (
            "../hard/schedules_means.csv",
            "0.75",
            "nan",
            "algorithm npgpd_hf, schedule growing, iteration 3: mean: expected 0.75, found nan",
        ),
    ],
)
def test_altered_cell_of_a_long_table_is_named(study, name, before, after, detail):
    path = study.results / name
    text = path.read_text(encoding="utf-8")
    assert text.count(before) == 1
    path.write_text(text.replace(before, after), encoding="utf-8")
    for options in ({"partial": True}, {"exact": False}):
        assert study.compare(**options) == [f"{name}: {detail}"]


def test_long_tables_may_be_missing_where_results_may(study):
    for name in LONG:
        (study.results / name).unlink()
    assert study.compare(partial=True) == []
    compared = checks.check_tables(study.reference, study.results, partial=True)
    assert not {NAMES[name] for name in LONG} & set(compared)
    assert sorted(study.compare()) == sorted(f"{name}: missing" for name in LONG)


def test_worst_ratio_of_a_step_is_compared_by_its_bits_or_not_at_all():
    """It may be rounding; whether the step holds is compared everywhere."""
    (table,) = [table for table in tables.TABLES if table.name == "hard/proof_steps"]
    row = {"step": ["2.3"], "worst": [0.5], "holds": [True]}
    expected, other = (tables.as_text(pd.DataFrame(row | it)) for it in ({}, {"worst": [0.6]}))
    assert len(checks.compare(table, expected, other)) == 1
    assert checks.compare(table, expected, other, tolerance=1e-8) == []
    broken = other.assign(holds="False")
    assert len(checks.compare(table, expected, broken, tolerance=1e-8)) == 1


def test_row_that_is_missing_in_a_file_disagrees(study):
    path = study.results / "verdicts.csv"
    path.write_text(path.read_text().replace("unit,", "more seeds,"))
    assert study.compare(partial=True) == [
        "verdicts.csv: reading unit, claim falls: missing",
        "verdicts.csv: reading more seeds, claim falls: not in the reference",
    ]


def test_row_that_is_there_twice_disagrees(study):
    path = study.results / "claims.csv"
    header, row = path.read_text().splitlines()
    path.write_text(f"{header}\n{row}\n{row}\n")
    assert study.compare() == ["claims.csv: rows that are there twice"]


def test_column_that_is_missing_disagrees(study):
    path = study.results / "rates.csv"
    pd.read_csv(path).drop(columns="slope").to_csv(path, index=False)
    assert study.compare(partial=True) == ["rates.csv: columns differ: slope"]


def test_missing_seed_disagrees(study):
    (study.results / "runs/npgpd_hf/M16/seeds0002-0002.parquet").unlink()
    assert study.compare(partial=True) == [
        "runs/*/*/*.parquet: algorithm npgpd_hf, evaluators 16, seed 2: missing"
    ]


def test_traces_are_those_of_one_seed_and_ends_those_of_all(study):
    names = {it.name: it for it in tables.OF_STUDY}
    assert {*names["traces"].load(study.results)["seed"]} == {"0"}
    assert {*names["runs"].load(study.results)["seed"]} == {"0", "1", "2"}


def test_blocks_of_seeds_make_no_difference(study):
    folder = study.results / "runs/npgpd_hf/M16"
    table = pd.concat(map(pd.read_parquet, sorted(folder.glob("*.parquet"))), ignore_index=True)
    table.to_parquet(folder / "seeds0000-0002.parquet", index=False)
    assert study.compare() == []


def test_additional_number_of_evaluators_disagrees(study):
    shutil.copytree(study.results / "runs/npgpd_hf/M16", study.results / "runs/npgpd_hf/M17")
    for path in (study.results / "runs/npgpd_hf/M17").glob("*.parquet"):
        pd.read_parquet(path).assign(evaluators=17).to_parquet(path, index=False)
    row = "runs/*/*/*.parquet: algorithm npgpd_hf, evaluators 17, seed 2: not in the reference"
    assert row in study.compare()


def test_runs_of_an_earlier_plan_are_not_compared(study):
    """They stay beside those that the aggregate was made from."""
    folder = study.results / "runs/npgpd_hf"
    made = [path.relative_to(study.root) for path in study.results.glob("runs/*/*/*.parquet")]
    shutil.copytree(folder / "M16", folder / "M17")
    for path in (folder / "M17").glob("*.parquet"):
        pd.read_parquet(path).assign(evaluators=17).to_parquet(path, index=False)
    lines = ["0  aggregate.parquet", *(f"# 0  {name}" for name in made)]
    (study.results / ".aggregate.parquet.sha256").write_text("\n".join(lines) + "\n")
    traces, runs = (
        next(it for it in tables.OF_STUDY if it.name == name) for name in ("traces", "runs")
    )
    for table in (traces, runs):
        assert "17" not in {*table.load(study.results)["evaluators"]}
    (study.results / ".aggregate.parquet.sha256").unlink()
    assert "17" in {*runs.load(study.results)["evaluators"]}


def test_writing_the_reference_again_gives_the_same_bytes(complete, study):
    shutil.rmtree(study.reference)
    study.write_reference()
    names, again = (
        sorted(path.relative_to(it).as_posix() for path in it.rglob("*") if path.is_file())
        for it in (complete.reference, study.reference)
    )
    assert names == again
    assert {"rates.csv", "hard/rates.csv", "platform.json"} < {*names}
    for name in names:
        assert (study.reference / name).read_bytes() == (complete.reference / name).read_bytes()


@pytest.fixture
def command(repository, tmp_path_factory, monkeypatch):
    """Run tools/verify.py, as if what was run had given the project's results."""
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    module = __import__("verify")
    monkeypatch.setattr(module, "ROOT", repository.root)
    monkeypatch.setattr(module, "REFERENCE", repository.reference)
    monkeypatch.setattr(module.checks, "check_drawings", lambda *arguments: [])
    copy = tmp_path_factory.mktemp("copy")

    def run(*targets, redrawn=None, alone=None, without=()):
        copy.mkdir(exist_ok=True)
        studies = [alone] if alone else [path.name for path in repository.root.glob("results/*")]
        for name in {*studies} - {*without}:
            shutil.copytree(repository.root / "results" / name, copy / "results" / name)
        if not alone:
            shutil.copytree(repository.results, copy / "results/hard-races")
        if {"figures", "hard"} & {*targets}:
            shutil.copytree(repository.figures, copy / "figures")
        if redrawn:
            text = (copy / redrawn).read_text()
            (copy / redrawn).write_text(text.replace("<path", "<path ", 1))
        module.main(copy, f"config/{alone}.yaml" if alone else "", *targets)
        shutil.rmtree(copy)

    yield run
    del sys.modules["verify"]


@pytest.mark.parametrize("targets", [[], ["claims", "theory"], ["hard"]])
def test_only_the_tables_of_the_targets_are_written(study, targets):
    names = ["rates.csv", *LONG]
    for name in names:
        (study.results / name).write_text((study.results / name).read_text().replace("5", "6"))
    before = {NAMES[name]: (study.reference / f"{NAMES[name]}.csv").read_bytes() for name in names}
    targets = ["sample", "figures", *targets]
    command = [sys.executable, ROOT / "tools/record.py", "results/paper", *targets]
    subprocess.run(command, cwd=study.root, check=True)
    written = {
        name
        for name, text in before.items()
        if (study.reference / f"{name}.csv").read_bytes() != text
    }
    altered = {name for name, text in before.items() if b"5" in text}
    assert written == altered & {it.name for it in tables.TABLES if it.target in targets}
    assert {"rates", "first_lengths"} < written
    assert ("slopes" in written) == ("theory" in targets)
    assert ("hard/slopes" in written) == ("hard" in targets)


def test_platform_on_record_is_that_of_the_figure(study):
    place = study.reference / "platform.json"
    place.write_text("{}")
    for targets, kept in ((["theory"], True), (["sample", "figures"], False)):
        command = [sys.executable, ROOT / "tools/record.py", "results/paper", *targets]
        subprocess.run(command, cwd=study.root, check=True)
        assert (place.read_text() == "{}") == kept


def test_unknown_target_is_not_recorded(study):
    command = [sys.executable, ROOT / "tools/record.py", "results/paper", "claim"]
    refused = subprocess.run(command, cwd=study.root, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "argument target: invalid choice: 'claim' (choose from 'claims'," in refused.stderr


def test_target_whose_results_are_missing_is_not_recorded(study):
    (study.results / "verdicts.csv").unlink()
    command = [sys.executable, ROOT / "tools/record.py", "results/paper", "claims"]
    refused = subprocess.run(command, cwd=study.root, capture_output=True, text=True)
    assert (refused.returncode, refused.stderr) == (1, "error: verdicts.csv: missing\n")


def answers(output, heading):
    """What is said below a heading, by what was compared."""
    lines = output.partition(f"\n{heading}\n")[2].partition("\n\n")[0].splitlines()
    return {line.split()[0]: line.split(maxsplit=1)[1] for line in lines if line[:4] != " " * 4}


def figures_of(output):
    """What is said about figures, by what they were drawn from."""
    lines = output.partition("\nFigures of\n")[2].partition("\n\n")[0].splitlines()
    both = [line.rpartition(" ") for line in lines if line[:4] != " " * 4]
    return {what.strip(): answer for what, _, answer in both}


@pytest.mark.parametrize(
    ("redrawn", "named"),
    [
        ("figures/figure1.svg", "what was run"),
        ("figures/hard/figure1.svg", "hard: what was run"),
    ],
)
def test_figure_that_was_drawn_otherwise_is_named(command, capsys, redrawn, named):
    with pytest.raises(SystemExit, match=r"^what was run is in "):
        command("figures", "hard", redrawn=redrawn)
    output = capsys.readouterr().out
    assert answers(output, "Run again")["traces"] == "yes"  # those that figures are drawn from
    found = figures_of(output)
    assert found.pop(named) == "NO"
    assert set(found.values()) == {"yes"}


def test_what_was_not_run_again_is_compared_where_it_is_there(repository, command, capsys):
    command(*{table.target for table in tables.TABLES}, "raced")
    output = capsys.readouterr().out
    again = answers(output, "Run again")
    assert again == {table.name: "yes" for table in tables.TABLES} | {"races": "yes"}
    drawn = ["the reference", "what was run"]
    drawn += [f"hard: {it}" for it in drawn]
    assert figures_of(output) == dict.fromkeys(drawn, "yes")
    for name in LONG:
        (repository.results / name).unlink()
    command("sample")
    output = capsys.readouterr().out
    sample = {table.name for table in tables.TABLES if table.target == "sample"}
    assert answers(output, "Run again") == dict.fromkeys(sample, "yes")
    there = answers(output, "In results/paper")
    assert there.pop("files") == "as written         yes"
    assert set(there) == {table.name for table in tables.TABLES} - {NAMES[name] for name in LONG}
    skipped = output.partition("\nNeither run again nor in results/paper\n")[2]
    skipped = " ".join(skipped.partition("\n\n")[0].split()).split("make ")[1:]
    named = [it.strip().split(" not compared: ") for it in skipped]
    missing = {NAMES[name] for name in LONG}
    assert {(target, it) for target, names in named for it in names.split(", ")} == {
        (it.target, it.name) for it in tables.TABLES if it.name in missing
    }


def test_parts_that_run_other_studies_alone_are_compared_with_theirs(repository, command, capsys):
    """As by `make verify FULL=1 PARTS=hard`, which leaves no results/paper in the copy."""
    command("hard", "raced", without=["paper"])
    output = capsys.readouterr().out
    hard = {table.name for table in tables.TABLES if table.target == "hard"} | {"races"}
    again = answers(output, "Run again")
    assert {name for name, answer in again.items() if answer == "yes"} == hard
    assert answers(output, "In results/paper")["traces"] == "yes"  # of the project itself


def test_hard_case_alone_is_compared_with_its_own_reference(repository, command, capsys):
    """As by `make verify CONFIG=config/hard.yaml`."""
    command("sample", alone="hard")
    output = capsys.readouterr().out
    sample = {table.name for table in tables.OF_STUDY if table.target == "sample"}
    assert answers(output, "Run again") == dict.fromkeys(sample, "yes")
    assert figures_of(output) == {"the reference": "yes"}
    alter_text(repository.reference / "hard/optimum.csv", np.random.default_rng(1))
    with pytest.raises(SystemExit, match=r"^what was run is in "):
        command("sample", alone="hard")
    again = answers(capsys.readouterr().out, "Run again")
    assert {name for name, answer in again.items() if answer == "NO"} == {"optimum"}


def planned(*options):
    """The targets that `make verify` would run."""
    command = ["make", "--dry-run", "--assume-old=.venv/kernels", *options, "verify"]
    plan = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    (ran,) = re.findall(r"&& ran='(.*)'", plan.stdout)
    return {*ran.split()}


def test_only_the_full_verification_runs_what_is_long():
    recorded = {table.target for table in tables.TABLES} - {"sample"}
    assert planned() == planned("FULL=0") == {"sample"}
    assert planned("FULL=1") == recorded | {"raced"}
    assert planned("FULL=1", "PARTS=theory claims") == {"theory", "claims"}


@pytest.mark.parametrize("name", ["aggregate.parquet", "../hard/aggregate.parquet"])
def test_result_that_is_not_as_written_is_named_by_the_command(repository, command, capsys, name):
    path = (repository.results / name).resolve()
    table = pd.read_parquet(path)
    table["multiplier"] += 1  # which is in no figure, and so not in the reference
    table.to_parquet(path, index=False)
    with pytest.raises(SystemExit, match=r"^what was run is in "):
        command("sample")
    output = capsys.readouterr().out
    place = path.relative_to(repository.root).as_posix()
    assert f"\n    {place}: altered since it was written; delete it and run again\n" in output
    assert " agree, 1 do not.\n" in output


@pytest.mark.parametrize(
    ("name", "said"), [("src/pgpd_hf/new.py", ["NO", "yes"]), ("figures/new.svg", ["yes", "NO"])]
)
def test_altered_code_and_figures_are_named_by_the_command(repository, command, capsys, name, said):
    (repository.root / name).write_text("")
    with pytest.raises(SystemExit, match=r"^what was run is in "):
        command("sample")
    output = capsys.readouterr().out
    assert [it.split()[-1] for it in answers(output, "Files").values()] == said
    assert f"\n    {name}: new\n" in output
    assert " agree, 1 do not.\n" in output


def test_study_that_fails_is_not_verified(command):
    with pytest.raises(SystemExit, match=r"^the study failed; what was run is in "):
        command()


def test_altered_code_is_named_even_if_the_study_fails(repository, command, capsys):
    alter_text(repository.root / "workflow/scripts/run.py", np.random.default_rng(1))
    with pytest.raises(SystemExit, match=r"^the study failed; what was run is in "):
        command()
    output = capsys.readouterr().out
    assert "\n    workflow/scripts/run.py: altered\n" in output
    assert "Run again" not in output


def test_many_differences_are_counted_but_altered_files_are_all_named(study, capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    show = __import__("verify").show
    lines = [f"a.csv: seed {seed}: missing" for seed in range(9)]
    assert not show({"Run again": {"a": lines, "b": []}, "Skipped": {"c": "run it"}})
    assert capsys.readouterr().out.splitlines() == [
        *("", "Run again", "  a                        NO", *(f"    {line}" for line in lines[:5])),
        *("    and 4 more", "  b                        yes"),
        *("", "Skipped", "  c                        not compared: run it"),
        *("", "1 agree, 1 do not."),
    ]
    assert not show({"Files": {"code": lines}})
    assert capsys.readouterr().out.count("\n    ") == len(lines)
    del sys.modules["verify"]


def test_elsewhere_numbers_agree_within_the_tolerance_only(study):
    path = study.results / "runs/npgpd_hf/M16/seeds0000-0001.parquet"
    table = pd.read_parquet(path)

    def shifted(distance):
        table.assign(reward_value=table["reward_value"] + distance).to_parquet(path, index=False)
        return study.compare(exact=False), study.compare(exact=True)

    elsewhere, here = shifted(1e-10)
    assert elsewhere == []
    run = "algorithm npgpd_hf, evaluators 16, seed"
    assert here[0].startswith(f"runs/*/*/*.parquet: {run} 0, iteration 0: reward_value")
    elsewhere, _ = shifted(1e-7)
    assert {line.split(": ")[0] for line in elsewhere} == {"runs/*/*/*.parquet"}
    rows = {line.split(": ")[1] for line in elsewhere}
    assert rows >= {f"{run} 0, iteration 12", f"{run} 1"}


def test_integers_words_and_verdicts_have_no_tolerance(study):
    path = study.results / "claims.csv"
    path.write_text(path.read_text().replace("reproduced", "contradicted"))
    assert study.compare(exact=False) == [
        "claims.csv: claim falls: verdict: expected reproduced, found contradicted"
    ]


COLUMN = tables.Table("x", "seed", "figures", "x.csv")


def differ(here, there, tolerance=0.0):
    """Lines about two values in a table of one cell."""
    pair = [pd.DataFrame({"seed": ["0"], "x": [cell]}) for cell in (here, there)]
    return checks.compare(COLUMN, *pair, tolerance)


@given(st.lists(st.floats(allow_nan=False), min_size=1, max_size=20))
def test_equal_text_means_equal_bits(numbers):
    text = tables.as_text(pd.DataFrame({"x": np.array(numbers, dtype=float)}))
    back = np.array([float(cell) for cell in text["x"]])
    np.testing.assert_array_equal(back.view(np.int64), np.array(numbers).view(np.int64))


@given(st.floats(-1e6, 1e6), st.integers(1, 3))
def test_bits_are_compared_to_the_last_one(number, steps):
    other = number
    for _ in range(steps):
        other = np.nextafter(other, np.inf)
    first, second = (tables.as_text(pd.DataFrame({"x": [x]}))["x"][0] for x in (number, other))
    assert len(differ(first, second)) == 1
    assert differ(first, second, 1e-9) == []


@pytest.mark.parametrize(
    ("here", "there"),
    [
        *(("0.0", "-0.0"), ("1", ""), ("", "1"), ("a", "b"), ("1", "nan")),
        *(("inf", "5.0"), ("-inf", "inf"), ("5.0", "inf")),
    ],
)
def test_cells_that_are_not_equal_numbers_differ(here, there):
    assert len(differ(here, there)) == 1
    assert len(differ(here, there, 1e-8)) == (here != "0.0")


def test_tolerance_is_relative_above_one():
    assert differ("1000.0", "1000.000009", 1e-8) == []
    assert len(differ("1000.0", "1000.000011", 1e-8)) == 1
    assert len(differ("0.001", "0.00100002", 1e-8)) == 1
    assert differ("0.001", "0.001000009", 1e-8) == []
    assert differ("0.0", "0.000000009", 1e-8) == []


def test_each_difference_names_row_and_column():
    first = pd.DataFrame({"seed": ["0", "1", "2"], "gap": ["1.5", "2.5", "3.5"]})
    second = first.assign(gap=["1.5", "2.75", ""])
    assert checks.compare(COLUMN, first, second) == [
        "x.csv: seed 1: gap: expected 2.5, found 2.75",
        "x.csv: seed 2: gap: expected 3.5, found nothing",
    ]


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
    committed, raised = folders["committed"], ["committed/panel.png: another figure"]
    assert checks.check_figures(folders["compressed"], committed, exact=False) == []
    assert checks.check_figures(folders["compressed"], committed) == raised
    assert checks.check_figures(folders["raised"], committed, exact=False) == raised
    assert checks.check_figures(folders["raised"], tmp_path / "none", exact=False)


def test_figure_has_the_same_formats_on_both_sides(study, tmp_path):
    other = shutil.copytree(study.figures, tmp_path / "other")
    assert checks.check_figures(study.figures, other) == []
    (other / "figure1.svg").unlink()
    assert checks.check_figures(study.figures, other) == ["other/figure1.svg: another figure"]
    assert checks.check_figures(study.figures, other, exact=False) == [
        "other/figure1.svg: another figure"
    ]


@pytest.mark.parametrize("study", ["", "hard"])
def test_figure_is_drawn_again_from_the_curves_of_the_reference(study):
    assert checks.check_drawings(REFERENCE / study, ROOT / "figures" / study, exact=False) == []


@pytest.mark.parametrize(("table", "figure"), [("curves", "figure1"), ("instances", "instances")])
def test_table_that_is_not_what_is_drawn_is_named(tmp_path, table, figure):
    for name in ("curves", "instances"):
        content = pd.read_csv(REFERENCE / f"{name}.csv")
        content["optimality_gap"] += 0.02 * (name == table)
        content.to_csv(tmp_path / f"{name}.csv", index=False)
    found = checks.check_drawings(tmp_path, ROOT / "figures", exact=False)
    assert found == [f"figures/{figure}.png: another figure"]


def test_curves_that_cannot_be_drawn_are_named(study):
    (study.reference / "curves.csv").write_text("algorithm\nnpgpd_hf\n")
    (line,) = checks.check_drawings(study.reference, study.figures)
    assert line.startswith(f"{study.reference}/curves.csv: ")


def test_platforms_differ_by_what_decides_about_bits(tmp_path):
    here, path = checks.describe_platform(), tmp_path / "platform.json"
    path.write_text(json.dumps(here))
    assert checks.check_platform(tmp_path) == []
    path.write_text(json.dumps({**here, "processor": "486"}))
    assert checks.check_platform(tmp_path) == [f"processor: 486 recorded, {here['processor']} here"]
    assert {"system", "C library", "numpy", "numba", "matplotlib"} <= set(here)
