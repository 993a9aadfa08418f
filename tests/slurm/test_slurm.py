"""Both profiles on a real Slurm of one node, which slurm.sh starts and stops: `make test-slurm`."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest
import yaml

pytestmark = pytest.mark.slurm

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
SMOKE = ROOT / "config/smoke.yaml"
PROGRAMS = "munged", "sbatch", "slurmctld", "slurmd"
# Options that look at the queue more often than a real cluster would like.
PROFILES = {
    "slurm": ["--slurm-init-seconds-before-status-checks", "1"],
    "generic": ["--seconds-between-status-checks", "2"],
}
# An experiment with one job, which is long enough to be cancelled or interrupted.
EXPERIMENT = {
    "name": "long",
    "evaluators": [8],
    "seeds": 1,
    "horizon": 10,
    "algorithms": {"npgpd_hf": None, "zpgpd_hf": {"iterations": 1_000_000}},
    "rates": None,
}
TABLES = [Path("results/smoke/aggregate.csv"), Path("results/smoke/rates.csv")]
LONG = Path("results/long/runs/zpgpd_hf/M8/seeds0000-0000.csv")
LOG = Path("results/long/logs/runs/zpgpd_hf_M8_0000-0000.log")
STARTED = []  # every Snakemake, so that an interrupt of the tests leaves none


def obstacle():
    """Why no Slurm can be started here; None if one can."""
    if not all(map(shutil.which, PROGRAMS)):
        return "not installed: apt-get install --no-install-recommends munge slurmctld slurmd"
    if os.geteuid() != 0:
        return "a Slurm of its own needs root"
    if os.path.lexists("/etc/slurm/slurm.conf"):
        return "/etc/slurm/slurm.conf belongs to another Slurm"
    return None


@pytest.fixture(scope="session", autouse=True)
def slurm():
    """A Slurm that runs; its daemons are stopped afterwards."""
    if reason := obstacle():
        pytest.skip(reason)
    # A suite in the background of a shell ignores SIGINT, and so would all that it starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    folder = Path(tempfile.mkdtemp(prefix="slurm-"))  # munge refuses pytest's private folders
    try:
        code, output = manage("up", folder)
        assert code == 0, output
        yield
    finally:
        for workflow in STARTED:
            workflow.kill()
        code, output = manage("down", folder)
        shutil.rmtree(folder)
        assert code == 0, output


def manage(action, folder):
    """Exit code of slurm.sh, and what it says."""
    log = folder / "slurm.sh.log"
    with open(log, "a") as file:  # daemons would hold a pipe open
        options = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": file}
        code = subprocess.run(["bash", HERE / "slurm.sh", action, folder], **options).returncode
    return code, log.read_text()


@pytest.fixture(params=PROFILES)
def profile(request):
    """Options of a profile."""
    return ["--profile", ROOT / "profiles" / request.param, *PROFILES[request.param]]


@pytest.fixture(scope="session")
def experiment(tmp_path_factory):
    """File of the experiment with a long job."""
    path = tmp_path_factory.mktemp("experiment") / "long.yaml"
    path.write_text(yaml.safe_dump(EXPERIMENT))
    return path


@pytest.fixture(scope="session")
def local(tmp_path_factory, experiment):
    """Folder with results of both experiments, made without Slurm."""
    folder = tmp_path_factory.mktemp("local")
    for arguments in ([SMOKE, *TABLES], [experiment, LONG]):
        code, output = run(folder, *arguments)
        assert code == 0, output
    return folder


def start(folder, experiment, *arguments):
    """Start Snakemake in a folder; output.txt there has what it says."""
    command = [sys.executable, "-m", "snakemake", *arguments]
    command += ["--snakefile", ROOT / "Snakefile", "--configfile", experiment]
    with open(folder / "output.txt", "w") as output:
        streams = {"stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
        STARTED.append(subprocess.Popen(command, cwd=folder, **streams))
    return STARTED[-1]


def run(folder, experiment, *arguments):
    """Exit code of Snakemake, and what it says."""
    code = start(folder, experiment, *arguments).wait(timeout=400)
    return code, (folder / "output.txt").read_text()


def wait_for(condition, seconds=120):
    """Wait until a condition holds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(0.1)


def jobs(folder):
    """Number and state of the jobs that were submitted from a folder, in their order."""
    command = ["squeue", "--states=all", "--noheader", "--sort=i", "--format=%i %T %Z"]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    rows = [line.split(maxsplit=2) for line in answer.splitlines()]
    return {number: state for number, state, place in rows if place == str(folder)}


def start_long(folder, experiment, *arguments):
    """Start the long job, and wait until it computes."""
    workflow = start(folder, experiment, LONG, *arguments)
    wait_for((folder / LOG).exists)
    return workflow


def contents(folder):
    """Contents of all files in a folder, by their names."""
    return {it.relative_to(folder): it.read_bytes() for it in folder.rglob("*") if it.is_file()}


def test_results_have_the_bytes_of_a_local_run(profile, local, tmp_path):
    code, output = run(tmp_path, SMOKE, *TABLES, *profile)
    assert code == 0, output
    assert set(jobs(tmp_path).values()) == {"COMPLETED"}
    here, there = contents(local / "results/smoke"), contents(tmp_path / "results/smoke")
    assert set(there) == set(here)
    assert [name for name in here if there[name] != here[name]] == []


def test_failing_job_is_told_in_a_line_with_its_log(profile, local, experiment, tmp_path):
    shutil.copytree(local / "results/long", tmp_path / "results/long")
    (tmp_path / "results/long/optimum.json").write_text("{")
    code, output = run(tmp_path, experiment, LONG, *profile, "--retries", "0")
    assert code == 1
    assert set(jobs(tmp_path).values()) == {"FAILED"}
    (line,) = (tmp_path / LOG).read_text().splitlines()
    assert line.startswith("error: ")
    assert f"log: {LOG}" in output
    assert line in output.splitlines()


def test_cancelled_job_is_submitted_again(profile, local, experiment, tmp_path):
    workflow = start_long(tmp_path, experiment, *profile)
    (running,) = jobs(tmp_path)
    subprocess.run(["scancel", running], check=True)
    assert workflow.wait(timeout=400) == 0, (tmp_path / "output.txt").read_text()
    assert [*jobs(tmp_path).values()] == ["CANCELLED", "COMPLETED"]
    assert (tmp_path / LONG).read_bytes() == (local / LONG).read_bytes()


def test_interrupt_cancels_jobs_and_the_same_command_goes_on(profile, local, experiment, tmp_path):
    workflow = start_long(tmp_path, experiment, *profile)
    workflow.send_signal(signal.SIGINT)
    assert workflow.wait(timeout=60) == 1
    wait_for(lambda: [*jobs(tmp_path).values()] == ["CANCELLED"])
    assert not (tmp_path / LONG).exists()
    code, output = run(tmp_path, experiment, LONG, *profile)
    assert code == 0, output
    assert "1 of 1 steps" in output
    assert (tmp_path / LONG).read_bytes() == (local / LONG).read_bytes()
