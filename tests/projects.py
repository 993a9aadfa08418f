"""Copies of the project, in which the workflow really runs."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from replication import analyses

ROOT = Path(__file__).parents[1]
PARTS = ("Snakefile", "config", "notebooks", "profiles", "src", "workflow")
PARTS += ("CITATION.cff", "LICENSE", "Makefile", "README.md")
PARTS += ("environment.yml", "pyproject.toml", "requirements.lock")
SCORES = "reference/races.csv"  # of the reference, all that results are made from


def rules(*names):
    """Names of rules as a set, each of which the workflow has: a check of absence needs that."""
    files = [ROOT / "Snakefile", *(ROOT / "workflow/rules").glob("*.smk")]
    pattern = re.compile(r"^(?:use rule \w+ as|rule) (\w+)", re.MULTILINE)
    known = {name for file in files for name in pattern.findall(file.read_text(encoding="utf-8"))}
    known |= {"figure"}.union(*({name, f"{name}_tables"} for name in analyses.find()))
    assert known >= set(names), set(names) - known
    return set(names)


def copy_project(folder):
    """Copy what the workflow needs."""
    for part in PARTS:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("*.egg-info"))
        else:
            shutil.copy(source, folder / part)
    (folder / "reference").mkdir()
    shutil.copy(ROOT / SCORES, folder / SCORES)


@cache
def preloaded():
    """A process that runs Snakemake in forks of itself."""
    command = [sys.executable, Path(__file__).with_name("preloaded.py")]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


class Project:
    """A copy of the project in a folder of its own, or of another one with all that it has made."""

    def __init__(self, folder, origin=None):
        self.folder = folder
        if origin is None:
            copy_project(folder)
        else:
            shutil.copytree(origin, folder, dirs_exist_ok=True)

    def environment(self):
        """Environment of a command with the package of this copy."""
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        own = {"PATH": path, "PYTHONPATH": str(self.folder / "src")}
        # The workflow sets numbers of threads itself, whatever the suite has set.
        given = {key: it for key, it in os.environ.items() if not key.endswith("_NUM_THREADS")}
        return {**given, **own}

    def start(self, command, cwd=None, environment=None, stdout=subprocess.PIPE):
        """Start a command with the package of this copy."""
        return subprocess.Popen(
            command,
            cwd=cwd or self.folder,
            env={**self.environment(), **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )

    def call(self, command, cwd=None, environment=None):
        """Run a command likewise; give back exit code and everything printed.

        Snakemake runs in a fork of a process that has loaded it, unless something in the
        environment differs, which libraries may read when they are loaded.
        """
        if command[0] == "snakemake" and not environment:
            return self._fork(command, cwd)
        process = self.start(command, cwd, environment)
        output, _ = process.communicate()
        return process.returncode, output

    def _fork(self, command, cwd):
        with tempfile.NamedTemporaryFile("r", errors="replace") as output:
            request = {
                "command": [str(part) for part in command],
                "cwd": str(cwd or self.folder),
                "environment": self.environment(),
                "output": output.name,
            }
            print(json.dumps(request), file=preloaded().stdin, flush=True)
            code = int(preloaded().stdout.readline())
            return code, output.read()

    def workflow(self, *options, configfile="config/smoke.yaml"):
        """Command that runs the smoke study, or another."""
        places = ["--snakefile", self.folder / "Snakefile", "--directory", self.folder]
        return ["snakemake", *options, *places, "--configfile", self.folder / configfile]

    def snakemake(self, *options, configfile="config/smoke.yaml", cwd=None, environment=None):
        """Run the smoke study, or another; give back exit code and everything printed."""
        return self.call(self.workflow(*options, configfile=configfile), cwd, environment)

    def planned(self, *options):
        """Number of jobs per rule that the smoke study still needs."""
        code, output = self.snakemake(*options, "--dry-run", "--quiet", "host")
        assert code == 0, output
        lines = [line.split() for line in output.splitlines()]
        return {line[0]: int(line[1]) for line in lines if len(line) == 2 and line[1].isdigit()}

    def results(self, *parts):
        """A path below the study's results."""
        return self.folder.joinpath("results", "smoke", *parts)
