"""Copies of the project, in which Snakemake runs through Slurm."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

from cluster import ACCOUNT
from projects import copy_project

HERE = Path(__file__).parent
CUT = ("config/smoke.yaml", HERE / "study.yaml")
LONG = [HERE / "long.yaml"]
TARGET = "results/cut/runs/zpgpd_hf/M16/seeds0000-0001.parquet"  # one of its two jobs
PROFILE = ("--profile", "profiles/slurm", "--latency-wait", "5")
FAULTS = []  # what was done, after how many seconds it was noticed, how it ended
COSTS = []  # lines about what jobs asked for and used, and what a large study takes


def submitted(output):
    """Number, rule and wildcards (joined by _) of each job of Slurm that Snakemake tells of."""
    words = r"submitted with SLURM jobid (\d+) \(log: \S*/rule_(\w+)/(\S+)/\d+\.log\)"
    return re.findall(words, output)


def computing(folder):
    """Process ids of the scripts that run in a folder."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            command = (path / "cmdline").read_bytes()
            script = command.split(b"\0")[1:2]  # a copy that Snakemake makes of it
            if script and script[0].endswith(b".run.py") and (path / "cwd").readlink() == folder:
                found.append(int(path.name))
        except OSError:  # it has just ended
            continue
    return found


class Project:
    """A copy of the project in a folder of its own, and a study by its name and its files."""

    def __init__(self, folder, study="cut", files=CUT):
        self.folder, self.study, self.files = folder, study, files
        copy_project(folder)

    def start(self, *options, config=(), **variables):
        """Start Snakemake on the study, with more files of configuration."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(self.folder / "src")}
        environment |= {"SBATCH_PARTITION": "main", "SBATCH_ACCOUNT": ACCOUNT, **variables}
        environment = {name: value for name, value in environment.items() if value is not None}
        return Workflow(
            [sys.executable, HERE / "frequent.py", *options, "--configfile", *self.files, *config],
            cwd=self.folder,
            env=environment,
        )

    def snakemake(self, *options, **more):
        """The same to its end: exit code and everything printed."""
        workflow = self.start(*options, **more)
        return workflow.wait(), workflow.text()

    def results(self, *parts):
        """A path below the study's results."""
        return self.folder.joinpath("results", self.study, *parts)

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
        code = self.process.wait(timeout=450)
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
