"""Runs that are killed at random moments, and then go on: `make test-faults KILLS=20`.

A run is started, and killed after a random time, and started again by the same command, until it
ends before it is killed. Then its files are compared with those of an undisturbed run, and another
study begins, until as many kills as asked for have hit.
"""

import os
import random
import shutil
import subprocess
import time

import psutil
import pytest
from processes import contents, jobs_in
from projects import Project

KILLS = int(os.environ.get("KILLS", "4"))
COMMAND = ("figure", "summary", "--cores", "2")
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
  candidates:
    npgpd_hf: {primal_step: [0.1, 1], dual_step: [0.1]}
claims:
  readings: []
  instances:
    groups:
      binding: {numbers: []}
"""


def kill(run, jobs, victim, chance):
    """Kill the workflow or one process of its jobs; give back whether there was one to kill."""
    if run.poll() is not None or (victim == "job" and not jobs):
        return False
    try:
        (run if victim == "workflow" else chance.choice(jobs)).kill()
    except psutil.NoSuchProcess:  # it has ended just now
        return False
    return True


@pytest.mark.slow
@pytest.mark.faults
def test_killed_runs_end_like_an_undisturbed_one(tmp_path):
    project = Project(tmp_path)
    (tmp_path / "config/small.yaml").write_text(STUDY)
    command = project.workflow(*COMMAND, configfile="config/small.yaml")
    start = time.monotonic()
    code, output = project.call(command)
    assert code == 0, output
    duration = time.monotonic() - start
    whole = contents(project, "small")
    assert {"results/small/aggregate.parquet", "results/small/figures/figure1.pdf"} <= set(whole)

    chance = random.Random("kills")
    kills, completed = {"workflow": 0, "job": 0}, 0
    shutil.rmtree(tmp_path / "results")
    while sum(kills.values()) < KILLS:
        # What jobs of a killed run hold open would keep a pipe from ending.
        run = project.start(command, stdout=subprocess.DEVNULL)
        moment = chance.uniform(0, duration)
        victim = min(kills, key=kills.get)
        time.sleep(moment)
        hit = kill(run, jobs_in(tmp_path), victim, chance)
        kills[victim] += hit
        print(f"{moment:.1f} of {duration:.1f} s: {victim}: {'killed' if hit else 'none'}")
        code = run.wait()
        assert hit or code == 0
        if code == 0:  # it had ended, or the process that was killed was not missed
            assert contents(project, "small") == whole
            completed += 1
            shutil.rmtree(tmp_path / "results")
    code, output = project.call(command)
    assert code == 0, output
    assert contents(project, "small") == whole
    assert jobs_in(tmp_path) == []
    print(f"killed: {kills}; completed: {completed + 1}")
