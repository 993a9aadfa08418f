"""Copies of the project, in which Snakemake runs through Slurm."""

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

from cluster import ACCOUNT
from projects import ROOT, copy_project

FREQUENT = Path(__file__).with_name("frequent.py")
STUDY = ROOT / "tests/slurm/study.yaml"
PROFILE = ("--profile", "profiles/slurm", "--latency-wait", "5")
FAULTS = []  # what was done, after how many seconds it was noticed, how it ended


class Project:
    """A copy of the project in a folder of its own."""

    def __init__(self, folder):
        self.folder = folder
        copy_project(folder)

    def start(self, *options, config=(), **variables):
        """Start Snakemake on the cut study."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(self.folder / "src")}
        environment |= {"SBATCH_PARTITION": "main", "SBATCH_ACCOUNT": ACCOUNT, **variables}
        environment = {name: value for name, value in environment.items() if value is not None}
        files = ("config/smoke.yaml", str(STUDY), *map(str, config))
        return Workflow(
            [sys.executable, FREQUENT, *options, "--configfile", *files],
            cwd=self.folder,
            env=environment,
        )

    def snakemake(self, *options, **more):
        """The same to its end: exit code and everything printed."""
        workflow = self.start(*options, **more)
        return workflow.wait(), workflow.text()

    def results(self, *parts):
        """A path below the study's results."""
        return self.folder.joinpath("results", "cut", *parts)

    def tables(self):
        """Contents of all tables, by their path."""
        return {
            str(path.relative_to(self.results())): path.read_bytes()
            for ending in ("parquet", "csv", "json", "npz")
            for path in sorted(self.results().rglob(f"*.{ending}"))
        }


class Workflow:
    """A Snakemake that runs, and what it has printed so far."""

    def __init__(self, command, **options):
        self.lines = []  # with the time at which each was printed
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            **options,
        )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self):
        """Collect lines as they come."""
        with self.process.stdout as lines:
            for line in lines:
                self.lines.append((time.monotonic(), line.rstrip("\n")))

    def wait(self):
        """Wait for the end; give back the exit code."""
        code = self.process.wait(timeout=400)
        self.reader.join(timeout=10)
        return code

    def kill(self):
        """Kill it, as a power failure would."""
        self.process.kill()
        self.wait()

    def text(self):
        """Everything printed."""
        return "\n".join(line for _, line in self.lines)

    def first(self, words):
        """When a line with these words was first printed; None if never."""
        return next((moment for moment, line in self.lines if words in line), None)
