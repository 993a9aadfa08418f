"""Who takes part, and how they are asked to run something."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parent.parent
PEERS_PYTHON = ROOT / ".venv-bench" / "bin" / "python"  # what benchmarks/requirements.lock installs
_ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}


class Contestant(NamedTuple):
    """A program that does the work."""

    label: str  # its name in the table
    module: str  # in this folder
    step: float  # seconds that it takes for a step, about: only to choose how long it is timed
    iteration: float = 0.0  # those for an iteration beside its steps
    python: Path = Path(sys.executable)  # the interpreter that has what it needs
    seeds_matter: bool = True  # whether its cost per step depends on the number of seeds
    complete: bool = True  # whether it is the whole program, whose results can be compared

    def iterations(self, task, seeds, budget):
        """Choose a length that takes about as many seconds as the budget allows, at least one."""
        seconds = self.iteration + self.step * seeds * task.steps_per_iteration
        return max(1, int(budget / seconds))


ENGINE = Contestant("engine", "engine", 6e-9)
PEERS = (
    Contestant("limit", "peers.limit", 3e-9, complete=False),
    Contestant("C", "peers.c_loop", 30e-9),
    Contestant("JAX", "peers.jax_scan", 30e-9, 60e-6, PEERS_PYTHON),
    Contestant("NumPy", "peers.numpy_seeds", 100e-9, 1.3e-3),
    Contestant("Python", "peers.python_loop", 16e-6, seeds_matter=False),
)


class Absent(Exception):
    """A contestant cannot run here; the message says why."""


class Running:
    """A contestant in a process of its own, with a number of cores that it may use."""

    def __init__(self, contestant, cores):
        self.contestant = contestant
        self.cores = cores
        if not contestant.python.exists():
            raise Absent("its packages are not installed")
        self._process = subprocess.Popen(
            [str(contestant.python), "-m", "benchmarks.worker", contestant.module, str(cores)],
            cwd=ROOT,
            env={**os.environ, **_ONE_THREAD},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, path, seeds, iterations):
        """Do the task of an archive, for each seed: seconds, and the summary of each run.

        Seconds are of processor time on one core, else of wall time, without the start of the
        process. :class:`Absent` is raised if the contestant ends instead of answering.
        """
        request = {"task": str(path), "seeds": list(seeds), "iterations": iterations}
        try:
            print(json.dumps(request), file=self._process.stdin, flush=True)
            answer = json.loads(self._process.stdout.readline())
        except (BrokenPipeError, json.JSONDecodeError):
            lines = self._process.communicate()[1].strip().splitlines()
            raise Absent(lines[-1] if lines else "it ended without a word") from None
        return answer["seconds"], np.array(answer["summary"])

    def close(self):
        """End the process."""
        self._process.communicate()
