"""The smoke study, cut to a job or more of every rule that runs something, through Slurm."""

import re

import pandas as pd
import pytest
import yaml
from slurm_project import PROFILE, TARGET, Project, submitted

pytestmark = pytest.mark.slurm

FILES = """
    aggregate.parquet grid.csv
    rates/npgpd_hf/0000-0001.parquet effects/zpgpd_hf/0000-0001.parquet
    slopes/npg_pd/0000-0000.parquet schedules/npgpd_hf/0000-0001.parquet
    bounds/short-horizon.csv certificates/npgpd_hf.csv
    instances/binding/claims.csv
    comparison/seeds/pessimistic_safe_rlhf/deterministic/pessimistic_safe_rlhf/0000-0001.parquet
"""
TARGETS = [f"results/cut/{name}" for name in FILES.split()]
RUNNING = {"calibrate", "run", "run_block", "bounds_by_setting", "certificates_by_algorithm"}


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """The study on this machine alone."""
    project = Project(tmp_path_factory.mktemp("local"))
    code, output = project.snakemake(*TARGETS, "--cores", "2")
    assert code == 0, output
    return project


@pytest.fixture(scope="module")
def remote(cluster, tmp_path_factory):
    """The study through Slurm, and what was printed meanwhile."""
    project = Project(tmp_path_factory.mktemp("remote"))
    code, output = project.snakemake(*TARGETS, *PROFILE, "--jobs", "4")
    assert code == 0, output
    return project, output


def test_every_job_that_runs_something_was_a_job_of_slurm(cluster, remote):
    project, output = remote
    stats = re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)
    planned = {name: int(count) for name, count in stats}
    assert RUNNING <= set(planned)
    jobs = submitted(output)
    for rule in RUNNING:
        assert sum(name == rule for _, name, _ in jobs) == planned[rule], rule
    states = cluster.jobs(project.folder)
    assert sorted(number for number, _ in states) == sorted(number for number, *_ in jobs)
    assert {state for _, state in states} == {"COMPLETED"}


def test_tables_are_those_of_the_local_run(local, remote):
    project, _ = remote
    here, there = local.tables(), project.tables()
    assert set(here) == set(there)
    assert [name for name in here if here[name] != there[name]] == []
    assert len(here) > len(TARGETS)


def test_nothing_is_left_to_do(remote):
    project, _ = remote
    code, output = project.snakemake(*TARGETS, *PROFILE)
    assert code == 0, output
    assert "Nothing to be done" in output


def test_jobs_used_less_than_they_asked_for(remote):
    project, _ = remote
    files = list(project.results("benchmarks").rglob("*.tsv"))
    assert files
    for file in files:
        row = pd.read_csv(file, sep="\t").iloc[-1]
        asked = yaml.safe_load(row["resources"])
        assert row["s"] < 60 * asked.get("runtime", 60), file
        assert row["max_rss"] < asked["mem_mb"], file


def test_folder_may_have_a_name_that_shells_and_schedulers_read(cluster, tmp_path):
    steps = {"iterations": 200, "primal_step": 0.001, "dual_step": 0.001}
    study = {"block": 2, "algorithms": {"zpgpd_hf": steps}}
    (tmp_path / "short.yaml").write_text(yaml.safe_dump(study))
    made = []
    for name, options in (("plain", ("--cores", "1")), ('a "b" (é) {c} & $HOME\'s', PROFILE)):
        folder = tmp_path / name
        folder.mkdir()
        project = Project(folder)
        code, output = project.snakemake(TARGET, *options, config=[tmp_path / "short.yaml"])
        assert code == 0, output
        made.append((folder / TARGET).read_bytes())
    assert made[0] == made[1]
    assert len(cluster.jobs(folder)) == 1
