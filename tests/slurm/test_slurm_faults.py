"""What clusters do to jobs: each ends with the right bytes or with one clear message."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from cluster import wait_until
from slurm_project import FAULTS, HERE, LONG, PROFILE, TARGET, Project, computing

pytestmark = pytest.mark.slurm

LONGER = [*LONG, HERE / "longer.yaml"]  # than it takes to start Snakemake twice
OTHER = "results/cut/runs/zpgpd_hf/M16/seeds0002-0002.parquet"


def start(project, *options):
    """Start one long job through Slurm, and wait until it computes."""
    workflow = project.start(TARGET, *PROFILE, *options, config=LONG)
    wait_until(lambda: computing(project.folder), 120, "a job that computes")
    return workflow


def ending(project, workflow, expected):
    """Wait for the end of a workflow whose result shall be right."""
    code = workflow.wait()
    assert code == 0, workflow.text()
    assert (project.folder / TARGET).read_bytes() == expected


def record(done, workflow, moment, words, ended):
    """Put a line into the table of faults."""
    noticed = workflow.first(words)
    FAULTS.append((done, None if noticed is None else noticed - moment, ended))


@pytest.fixture(scope="module")
def accidents(cluster, tmp_path_factory):
    """Faults of single jobs, all at the same time; what became of each by its name."""

    def cancel(project):
        workflow = start(project)
        ((number, _),) = cluster.jobs(project.folder)
        cluster.ask("scancel", number)
        return workflow, time.monotonic()

    def kill(project):
        workflow = start(project)
        for number in computing(project.folder):
            os.kill(number, signal.SIGKILL)
        return workflow, time.monotonic()

    def exceed(project):
        limit = "run:mem_mb=450 * attempt * attempt"
        workflow = project.start(TARGET, *PROFILE, "--set-resources", limit, config=LONG)
        wait_until(lambda: cluster.jobs(project.folder), 120, "a job")
        return workflow, time.monotonic()

    def exceed_always(project):
        limit = ("--set-resources", "run:mem_mb=450", "--retries", "0")
        workflow = project.start(TARGET, *PROFILE, *limit, config=LONG)
        wait_until(lambda: cluster.jobs(project.folder), 120, "a job")
        return workflow, time.monotonic()

    def run(scenario):
        project = Project(tmp_path_factory.mktemp(scenario.__name__))
        workflow, moment = scenario(project)
        workflow.wait()
        return project, workflow, moment

    scenarios = [cancel, kill, exceed, exceed_always]
    with ThreadPoolExecutor(len(scenarios)) as pool:
        results = pool.map(run, scenarios)
    return dict(zip((scenario.__name__ for scenario in scenarios), results, strict=True))


@pytest.mark.parametrize(
    ("name", "done", "state"),
    [
        ("cancel", "running job cancelled (scancel)", "CANCELLED"),
        ("kill", "process of a job killed (SIGKILL)", "FAILED"),
        ("exceed", "job over its memory", "FAILED"),
    ],
)
def test_job_that_ends_early_is_run_again(cluster, undisturbed, accidents, name, done, state):
    project, workflow, moment = accidents[name]
    ending(project, workflow, undisturbed)
    states = [state for _, state in cluster.jobs(project.folder)]
    assert states == [state, "COMPLETED"]
    assert f"SLURM status is: '{state}'" in workflow.text()
    record(done, workflow, moment, "SLURM status is", "second job, same bytes")


def test_job_that_never_fits_names_its_log(cluster, accidents):
    project, workflow, moment = accidents["exceed_always"]
    text = workflow.text()
    assert workflow.process.returncode == 1
    assert [state for _, state in cluster.jobs(project.folder)] == ["FAILED"]
    assert "Error in rule run" in text
    assert "results/cut/logs/runs/zpgpd_hf/M16/seeds0000-0001.log" in text
    (log,) = project.folder.glob(".snakemake/slurm_logs/rule_run/*/*.log")
    assert str(log) in text
    assert "exceeded memory limit" in log.read_text()
    assert not (project.folder / TARGET).exists()
    record(
        "job always exceeds its memory, no retries",
        workflow,
        moment,
        "SLURM status is",
        "one error, names Slurm's log",
    )


def test_controller_that_restarts_changes_nothing(cluster, undisturbed, fresh):
    workflow = start(fresh)
    moment = time.monotonic()
    cluster.kill("slurmctld")
    time.sleep(20)
    cluster.start_controller()
    ending(fresh, workflow, undisturbed)
    assert [state for _, state in cluster.jobs(fresh.folder)] == ["COMPLETED"]
    record("controller stopped for 20 s", workflow, moment, "never said", "one job, same bytes")


def test_killed_workflow_never_runs_beside_its_own_jobs(cluster, fresh):
    # Five of eight processors each, so that the second job waits for the first.
    options = ("--set-resources", "run:cpus_per_task=5")
    targets = (TARGET, OTHER, *PROFILE)
    workflow = fresh.start(*targets, *options, config=LONGER)
    wait_until(lambda: computing(fresh.folder), 120, "a job that computes")
    wait_until(lambda: len(cluster.jobs(fresh.folder)) == 2, 60, "a job that waits")
    workflow.kill()

    code, output = fresh.snakemake(*targets, "--unlock", config=LONGER)
    assert code == 0, output
    again = fresh.start(*targets, config=LONGER)
    moment = time.monotonic()
    assert again.wait() == 1
    last = again.lines[-1][1]
    here = "error: jobs of an earlier run in this folder are still in the queue, 2 of them; "
    assert last.startswith(here)
    (first, _), (second, _) = cluster.jobs(fresh.folder)
    record("workflow killed (SIGKILL), started again", again, moment, "earlier run", "refused")

    # Wait for the first one, which counts, and cancel the other one as told. Until then that one is
    # held in the queue, because a job that is cancelled while it starts may end as FAILED.
    cluster.run("scontrol", "hold", second)
    wait_until(lambda: dict(cluster.jobs(fresh.folder))[first] == "COMPLETED", 240, "the first job")
    name = last.partition("--name=")[2].partition("`")[0]
    cluster.ask("scancel", f"--name={name}")
    wait_until(lambda: not cluster.ask("squeue", "-h"), 60, "an empty queue")
    (finished,) = (
        fresh.folder / name for name in (TARGET, OTHER) if (fresh.folder / name).exists()
    )
    written = finished.stat().st_mtime_ns
    code, output = fresh.snakemake(*targets, config=LONGER)
    assert code == 0, output
    assert finished.stat().st_mtime_ns == written
    assert all((fresh.folder / name).exists() for name in (TARGET, OTHER))
    states = [state for _, state in cluster.jobs(fresh.folder)]
    assert states == ["COMPLETED", "CANCELLED", "COMPLETED"]
    FAULTS.append(
        ("its jobs cancelled as the message says, started again", None, "only the rest is run")
    )
