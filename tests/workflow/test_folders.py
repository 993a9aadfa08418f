"""A study comes out the same wherever the project lies, and wherever its results go."""

import os
import re
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest
import yaml
from processes import contents
from projects import ROOT, Project

from replication.study import readings

ODD = 'My "odd" (é) {a} & $HOME\'s'
TINY = {
    "study": "tiny",
    "seeds": 2,
    "evaluators": [8],
    "algorithms": {
        "npgpd_hf": {"iterations": 20, "primal_step": 0.3, "dual_step": 0.1},
        "zpgpd_hf": None,
    },
    "rates": {"seeds": 2, "iterations": {"npgpd_hf": [10, 20]}},
}


def place(folder):
    """A project with the file of a study that takes seconds."""
    folder.mkdir()
    project = Project(folder)
    (folder / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    return project


def run(project, *targets, folder=None, python="python"):
    """Run the study with an interpreter, its results going into a folder."""
    command = [python, "-m", *project.workflow(*targets, "--cores", "2", configfile="tiny.yaml")]
    if folder is not None:
        command[command.index("--directory") + 1] = folder
    process = project.start(command, cwd=folder)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    return output


def with_interpreter(project):
    """An interpreter in the folder of a project, with all packages."""
    venv.create(project.folder / ".venv", symlinks=True)
    packages = project.folder / ".venv" / Path(os.__file__).relative_to(sys.base_prefix).parent
    (packages / "site-packages/all.pth").write_text(str(Path(yaml.__file__).parents[1]))
    (project.folder / ".venv/share").symlink_to(Path(sys.prefix, "share"))
    return project.folder / ".venv/bin/python"


@pytest.fixture(scope="module")
def ordinary(tmp_path_factory):
    """A project in which the study has run."""
    project = place(tmp_path_factory.mktemp("ordinary") / "project")
    run(project, "figure")
    return project


@pytest.mark.long
@pytest.mark.faults
def test_folder_of_the_project_may_have_any_name(ordinary, tmp_path):
    project = place(tmp_path / ODD)
    run(project, "all", "crate", python=with_interpreter(project))
    found, expected = contents(project, "tiny"), contents(ordinary, "tiny")
    assert {name: found.get(name) for name in expected} == expected
    assert project.folder.joinpath("results/tiny/crate.zip").is_file()


# Schedulers that run each job at once: commands of a profile, and programs with names of Slurm's.
AT_ONCE = 'run() (sh "$1" >>submitted.log 2>&1; echo 1); run'
GENERIC = ("--profile", "profiles/generic", "--cluster-generic-submit-cmd", AT_ONCE)
GENERIC += ("--cluster-generic-status-cmd", "ask() (echo success); ask")
GENERIC += ("--seconds-between-status-checks", "1", "--latency-wait", "1")
SLURM = ("--profile", "profiles/slurm", "--slurm-init-seconds-before-status-checks", "1")
NOT_FOR = 'case "$*" in *{}*) exit ;; esac\n'
PROGRAMS = {
    "sbatch": f"{NOT_FOR.format('--test-only')}sh >>submitted.log 2>&1\necho $$ | tee -a ids",
    "squeue": f"{NOT_FOR.format('--me')}sed 's/$/|COMPLETED/' ids",
    "srun": 'while [ "$1" != sh ]; do shift; done\nexec "$@"',
    **dict.fromkeys(["sacct", "sacctmgr"], "exit 1"),  # there are no accounts
    "sinfo": "exit 0",  # nor partitions
    "scontrol": "echo MinJobAge = 300 sec",
}


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "options"), [("My (é) {a} & it's", GENERIC), (ODD, SLURM)], ids=["generic", "slurm"]
)
def test_folder_may_have_any_name_on_a_cluster_too(ordinary, tmp_path, monkeypatch, name, options):
    project, programs = place(tmp_path / name), tmp_path / "bin"
    programs.mkdir()
    for program, text in PROGRAMS.items():
        (programs / program).write_text(f"#!/bin/sh\n{text}\n")
        (programs / program).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}{os.pathsep}{os.environ['PATH']}")
    run(project, "aggregate", *options, "--retries", "0", python=with_interpreter(project))
    found, expected = contents(project, "tiny"), contents(ordinary, "tiny")
    made = {name for name in found if name.endswith(".parquet")}
    assert len(made) > 2
    assert {name: found[name] for name in made} == {name: expected[name] for name in made}
    assert "(Rule: run)" in (project.folder / "submitted.log").read_text()


@pytest.mark.parametrize(("character", "executor"), [("$", "cluster-generic"), ("%", "slurm")])
def test_folder_from_which_no_job_could_be_submitted_is_refused(tmp_path, character, executor):
    project = place(tmp_path / f"a{character}b")
    options = GENERIC if executor == "cluster-generic" else SLURM
    code, output = project.snakemake("aggregate", *options, configfile="tiny.yaml")
    assert code == 1
    needed = f"a folder without {character} is needed by {executor}"
    assert f"error: {project.folder}: {needed}" in output.splitlines()
    assert not (project.folder / "submitted.log").exists()


@pytest.mark.long
@pytest.mark.faults
def test_results_may_lie_elsewhere_and_come_back(ordinary, tmp_path):
    project, scratch = place(tmp_path / "project"), tmp_path / "scratch"
    before = {path: path.stat().st_mtime_ns for path in project.folder.rglob("*")}
    scratch.mkdir()
    run(project, "figure", folder=scratch)
    found = contents(project, "tiny", scratch)
    assert found == contents(ordinary, "tiny")  # and their records
    after = {path: path.stat().st_mtime_ns for path in project.folder.rglob("*")}
    assert {path for path in after if "__pycache__" not in path.parts} <= before.keys()
    shutil.copytree(scratch / "results", project.folder / "results")
    assert "Nothing to be done" in run(project, "figure")


OUTER = """
import yaml

module votes:
    snakefile: "{project}/Snakefile"
    config: yaml.safe_load(open("{project}/tiny.yaml"))
    prefix: "votes"

use rule * from votes as votes_*

rule mine:
    default_target: True
    input: "votes/results/tiny/aggregate.parquet", page=rules.votes_figure.output.page
    output: "mine.txt"
    shell: "wc {{input}} >{{output}}"
"""


@pytest.mark.long
@pytest.mark.faults
def test_module_with_a_prefix_makes_the_same(ordinary, tmp_path):
    project, outer = place(tmp_path / "project"), tmp_path / "outer"
    outer.mkdir()
    (outer / "Snakefile").write_text(OUTER.format(project=project.folder))
    command = ["snakemake", "--cores", "2"]
    code, output = project.call(command, cwd=outer)
    assert code == 0, output
    found, expected = contents(project, "tiny", outer / "votes"), contents(ordinary, "tiny")
    # Records name what a result was made from, which is in another place.
    assert found.keys() == expected.keys()
    made = {name for name in expected if not name.endswith(".sha256")}
    assert {name: found[name] for name in made} == {name: expected[name] for name in made}
    assert "Nothing to be done" in project.call(command, cwd=outer)[1]
    (outer / "Snakefile").write_text(OUTER.format(project=project.folder).replace("wc", "wc -c"))
    assert "rule mine:" in project.call([*command, "--dry-run"], cwd=outer)[1]


# As `snakedeploy deploy-workflow` writes it, into workflow/Snakefile, beside a copy of config/.
DEPLOYED = """
configfile: "config/config.yaml"

module pgpd_hf:
    snakefile: "{project}/workflow/Snakefile"
    config: config

use rule * from pgpd_hf
"""


@pytest.mark.long
def test_deployment_whose_configuration_was_changed_makes_the_same(ordinary, tmp_path):
    project, deployed = place(tmp_path / "project"), tmp_path / "deployed"
    shutil.copytree(project.folder / "config", deployed / "config")
    (deployed / "workflow").mkdir()
    (deployed / "workflow/Snakefile").write_text(DEPLOYED.format(project=project.folder))
    own = readings.overlay(yaml.safe_load((ROOT / "config/config.yaml").read_text()), TINY)
    (deployed / "config/config.yaml").write_text(yaml.safe_dump(own))
    code, output = project.call(["snakemake", "--cores", "2", "figure"], cwd=deployed)
    assert code == 0, output
    found, expected = contents(project, "tiny", deployed), contents(ordinary, "tiny")
    assert found.keys() == expected.keys()
    made = {name for name in expected if not name.endswith(".sha256")}
    assert {name: found[name] for name in made} == {name: expected[name] for name in made}


def test_catalog_of_workflows_is_told_what_it_asks_for():
    told = yaml.safe_load((ROOT / ".snakemake-workflow-catalog.yml").read_text())
    ways = {"conda", "apptainer", "apptainer+conda"}
    assert told.keys() == {"usage"}
    assert told["usage"].keys() == {"mandatory-flags", "software-stack-deployment", "report"}
    assert told["usage"]["mandatory-flags"].keys() == {"desc", "flags"}
    assert told["usage"]["software-stack-deployment"] == dict.fromkeys(ways, False)
    files = [path.read_text() for path in [ROOT / "Snakefile", *(ROOT / "workflow").rglob("*.smk")]]
    assert not any(re.search(r"^\s*(conda|container):", text, re.M) for text in files)
    assert (ROOT / "config/README.md").is_file()
    assert {"snakemake", "workflow"} <= set(
        re.findall(r"\w+", (ROOT / "README.md").read_text().lower())
    )


def test_module_without_a_clone_is_refused(tmp_path):
    commit = ["git", "-C", ROOT, "rev-parse", "HEAD"]
    if subprocess.run(commit, capture_output=True).returncode:
        pytest.skip("needs a git checkout")
    (tmp_path / "Snakefile").write_text(
        f'module votes:\n    snakefile: "git+file://{ROOT}/Snakefile@HEAD"\n'
        "use rule * from votes as votes_*\n"
    )
    code, output = place(tmp_path / "project").call(["snakemake", "--dry-run"], cwd=tmp_path)
    assert code == 1
    assert output.splitlines()[-1].endswith(
        ": a clone of the project expected, whose files are read"
    )


def test_package_of_another_clone_is_refused(fresh):
    """Edits of the scripts would not be noticed, and those of the package have no effect."""
    command = fresh.workflow("--dry-run")
    code, output = fresh.call(command, environment={"PYTHONPATH": str(ROOT / "src")})
    assert code == 1
    reason = f"its own package expected, got {ROOT / 'src'}; activate its .venv"
    assert output.splitlines()[-1] == f"error: {fresh.folder}: {reason}"
    assert not (fresh.folder / "results").exists()


def test_brace_in_the_path_of_a_project_elsewhere_is_refused(tmp_path):
    project = place(tmp_path / "{a}")
    command = ["snakemake", "--snakefile", project.folder / "Snakefile", "--dry-run"]
    code, output = project.call(command, cwd=tmp_path)
    assert code == 1
    reason = "a project with a brace in its path runs only in its own folder"
    assert output.splitlines()[-1] == f"error: {project.folder}: {reason}"
