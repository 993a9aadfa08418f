"""Copies of the project, each with an interpreter of its own, in which Snakemake runs."""

import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SMOKE = ("--configfile", "config/smoke.yaml")
LEFT_OUT = shutil.ignore_patterns(".*", "results", "figures", "studies", "tests")


class Project:
    """A copy of the project, or of another copy with its results."""

    def __init__(self, folder, origin=ROOT):
        self.folder = Path(folder)
        ignore = LEFT_OUT if origin == ROOT else None
        shutil.copytree(origin, self.folder, symlinks=True, ignore=ignore, dirs_exist_ok=True)
        self.python = install(self.folder / ".venv", self.folder / "src")

    def snakemake(self, *arguments, code=0, **how):
        """Run Snakemake, which has to end with an exit code; all that it said."""
        process = self.start(*arguments, **how)
        output, _ = process.communicate()
        assert process.returncode == code, output
        return output

    def start(self, *arguments, python=None, cwd=None, env=None):
        """Start Snakemake without modules of the working directory, as its command does."""
        return subprocess.Popen(
            [python or self.python, "-P", "-m", "snakemake", *map(str, arguments)],
            cwd=cwd or self.folder,
            env=os.environ | (env or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Where tests run in the background, interrupts are ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )

    def jobs(self, *arguments):
        """Jobs that a run would start: how many of each rule."""
        output = self.snakemake(*arguments, "--dry-run", "--quiet", "rules")
        lines = output.partition("Job stats:\n")[2].partition("\n\n")[0].splitlines()[2:]
        counts = {rule: int(count) for rule, count in map(str.split, lines)}
        return {rule: count for rule, count in counts.items() if rule not in ("total", "all")}

    def contents(self, folder="results/smoke"):
        """Bytes of tables, archives and figures; notebooks and logs hold times."""
        return {
            path.relative_to(self.folder / folder).as_posix(): path.read_bytes()
            for path in sorted((self.folder / folder).rglob("*"))
            if path.is_file() and not {"logs", "notebooks"} & {*path.parts}
        }


def install(folder, *places):
    """An interpreter with all packages of this interpreter, and with modules from some places."""
    venv.create(folder, symlinks=True)
    own = Path(sysconfig.get_path("purelib", vars={"base": str(folder)}))
    packages = [entry for entry in sys.path if entry.endswith("site-packages")]
    (own / "all.pth").write_text("\n".join([*map(str, places), *packages]))
    if not (folder / "share").exists():
        (folder / "share").symlink_to(Path(sys.prefix, "share"))  # templates of pages
    return folder / "bin/python"


@pytest.fixture
def project(tmp_path):
    """A project in which nothing has run."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def smoke(tmp_path_factory):
    """A project in which the smoke experiment has run, which no test changes."""
    project = Project(tmp_path_factory.mktemp("smoke"))
    return project, project.snakemake(*SMOKE, "--cores", "2")


@pytest.fixture
def finished(smoke, tmp_path):
    """A copy of that project, which the test may change."""
    return Project(tmp_path, smoke[0].folder)
