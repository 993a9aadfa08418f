"""Runs that are killed at random moments, and then go on: `make test-faults KILLS=20`."""

import os
import random
import time

import pytest
from conftest import Project
from processes import contents, jobs_in, wait_for

KILLS = int(os.environ.get("KILLS", "4"))
COMMAND = ("figures", "summary", "--cores", "2")
STUDY = """
study: small
evaluators: [16]
horizon: 20
seeds: 2
block: 1
algorithms:
  npgpd_hf: {iterations: 60}
  zpgpd_hf: {iterations: 600, primal_step: 0.01, dual_step: 0.01}
calibration:
  seeds: 1
  grid:
    npgpd_hf: {primal_step: [0.1, 1], dual_step: [0.1]}
claims:
  readings: []
  instances:
    groups:
      binding: {numbers: []}
      slack: {numbers: []}
      small: {numbers: []}
      large: {numbers: []}
"""


def draw_kills(number):
    """Moments, as shares of an undisturbed run, and whom to kill then: the same every time."""
    chance = random.Random("kills")
    return [(chance.random(), ("workflow", "job")[k % 2], chance) for k in range(number)]


def make_project(folder):
    project = Project(folder)
    (folder / "config/small.yaml").write_text(STUDY)
    return project


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """How long a run takes, and what it leaves."""
    project = make_project(tmp_path_factory.mktemp("undisturbed"))
    start = time.monotonic()
    code, output = project.snakemake(*COMMAND, configfile="config/small.yaml")
    assert code == 0, output
    return time.monotonic() - start, contents(project, "small")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("share", "victim", "chance"),
    draw_kills(KILLS),
    ids=[f"{victim} at {share:.0%}" for share, victim, _ in draw_kills(KILLS)],
)
def test_killed_run_ends_like_an_undisturbed_one(tmp_path, undisturbed, share, victim, chance):
    duration, whole = undisturbed
    project = make_project(tmp_path)
    run = project.start(project.workflow(*COMMAND, configfile="config/small.yaml"))
    time.sleep(share * duration)
    if victim == "workflow":
        run.kill()
        run.wait()
        run.stdout.close()
    else:
        job = wait_for(lambda: jobs_in(project.folder) or run.poll() is not None)
        if job is not True:
            chance.choice(job).kill()
        run.communicate()
    code, output = project.snakemake(*COMMAND, configfile="config/small.yaml")
    assert code == 0, output
    assert contents(project, "small") == whole
    assert jobs_in(project.folder) == []
