"""The profile for other schedulers, whose three commands are those of Slurm here."""

import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import yaml
from cluster import wait_until
from projects import ROOT
from slurm_project import FAULTS, HERE, LONG, TARGET, Project, computing

pytestmark = pytest.mark.slurm

PROFILE = ("--profile", "profiles/generic", "--latency-wait", "5")
FREQUENT = ("--seconds-between-status-checks", "2")
SETTINGS = yaml.safe_load((ROOT / "profiles/generic/config.yaml").read_text())
STATUS = SETTINGS["cluster-generic-status-cmd"]
# Makes a file whenever it has got an answer. While Snakemake asks, Ctrl-C cancels no job.
NOTED = f'{STATUS.removesuffix("ask")} noted() {{ ask "$1"; touch asked; }}; noted'
SELDOM = ("--seconds-between-status-checks", "10", "--cluster-generic-status-cmd", NOTED)
ENDLESS = [*LONG, HERE / "endless.yaml"]


@pytest.fixture(scope="module")
def accidents(cluster, tmp_path_factory):
    """A long job for each accident, all at the same time; what became of each by its name."""

    def cancel(project, workflow):
        ((number, _),) = cluster.jobs(project.folder)
        cluster.ask("scancel", number)
        return workflow

    def interrupt(project, workflow):
        asked = project.folder / "asked"
        asked.unlink(missing_ok=True)
        wait_until(asked.exists, 60, "an answer about the job")
        time.sleep(1)
        workflow.process.send_signal(signal.SIGINT)
        return workflow

    def kill(project, workflow):
        workflow.kill()
        return project.start(TARGET, *PROFILE, *FREQUENT, config=LONG)

    def states(project):
        return [state for _, state in cluster.jobs(project.folder)]

    def run(accident):
        project = Project(tmp_path_factory.mktemp(accident.__name__))
        options, config = (SELDOM, ENDLESS) if accident is interrupt else (FREQUENT, LONG)
        workflow = project.start(TARGET, *PROFILE, *options, config=config)
        wait_until(lambda: computing(project.folder), 120, "a job that computes")
        workflow = accident(project, workflow)
        moment = time.monotonic()
        workflow.wait()
        wait_until(lambda: not {"RUNNING", "COMPLETING"} & set(states(project)), 60, "all jobs")
        return project, workflow, moment, states(project)

    # A suite in the background of a shell ignores SIGINT, and so would the workflow.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with ThreadPoolExecutor(3) as pool:
        results = pool.map(run, (cancel, interrupt, kill))
    return dict(zip(("cancel", "interrupt", "kill"), results, strict=True))


def test_cancelled_job_is_run_again(undisturbed, accidents):
    project, workflow, moment, states = accidents["cancel"]
    assert workflow.process.returncode == 0, workflow.text()
    assert (project.folder / TARGET).read_bytes() == undisturbed
    assert states == ["CANCELLED", "COMPLETED"]
    noticed = workflow.first("Error in rule run") - moment
    FAULTS.append(("generic: running job cancelled", noticed, "second job, same bytes"))


def test_interrupted_workflow_cancels_its_job(accidents):
    project, workflow, _, states = accidents["interrupt"]
    assert workflow.process.returncode == 1, workflow.text()
    assert states == ["CANCELLED"]
    assert not (project.folder / TARGET).exists()
    FAULTS.append(("generic: workflow interrupted (SIGINT)", None, "its job cancelled"))


def test_killed_workflow_ends_with_the_right_bytes_though_two_jobs_write_them(
    undisturbed, accidents
):
    project, workflow, _, states = accidents["kill"]
    assert workflow.process.returncode == 0, workflow.text()
    assert (project.folder / TARGET).read_bytes() == undisturbed
    # Either job may remove what the other has just written, which is then run once more; but what
    # the first has finished before the second start looks is used.
    assert "Nothing to be done" in workflow.text() or len(states) > 1
    assert states[-1] == "COMPLETED"
    FAULTS.append(("generic: workflow killed, started again", None, "job run again, same bytes"))
