"""Packages and commands: what the Makefile, the locks and `make verify` promise."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]


def make(*arguments, folder=ROOT, **variables):
    """Exit code of make and what it says; variables are the shell's."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    outside = {key: it for key, it in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "--no-print-directory", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=outside | variables, capture_output=True, text=True
    )
    return done.returncode, done.stdout


def locked(name):
    """Versions of a lock, by package; each has a digest."""
    text = (ROOT / name).read_text(encoding="utf-8")
    blocks = re.findall(r"^([a-z0-9-]+)==([^ ]+)(.*\n(?: .*\n)*)", text, re.M)
    assert all("--hash=sha256:" in block for *_, block in blocks)
    return {package: version for package, version, _ in blocks}


def test_locks_agree_and_name_no_index():
    users, developers = locked("requirements.lock"), locked("requirements-dev.lock")
    assert users.items() <= developers.items()
    assert {"pytest", "ruff"} <= developers.keys() - users.keys()
    assert "://" not in (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")


def test_library_alone_needs_five_packages():
    """Matplotlib, Snakemake and Gymnasium are extras."""
    needed = {it.name for it in map(Requirement, requires("pgpd-hf")) if it.marker is None}
    assert needed == {"numba", "numpy", "pandas", "scipy", "tqdm"}


def test_help_lists_all_commands():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (help (?:.*\\\n)*.*)", text, re.M)[1].replace("\\", "").split()
    _, shown = make("help")
    assert re.findall(r"^  make ([a-z-]+) +\d+  \w", shown, re.M) == phony


def test_settings_of_the_shell_stay_outside():
    odd = {"PYTHONPATH": "/odd", "PYTHONOPTIMIZE": "2", "PIP_USER": "1", "LC_ALL": "C"}
    code, shown = make("--eval=shown: ; env", "shown", "CONFIG=a b'c.yaml", **odd)
    assert code == 0
    assert "PYTHONPATH=" not in shown
    assert "PYTHONOPTIMIZE=" not in shown
    assert {"PIP_USER=0", "LC_ALL=C.UTF-8", "CONFIG=a b'c.yaml"} <= set(shown.splitlines())
    _, shown = make("--eval=shown: ; env", "shown", HOME="/dev/null/none")
    assert f"HOME={ROOT}/.snakemake/home" in shown.splitlines()


@pytest.mark.parametrize("setting", ["config=mine.yaml", "Study=verdicts", "CONFG=mine.yaml"])
def test_misspelt_setting_is_refused(setting):
    assert make("--question", "help", "CORES=1", "CONFIG=a b'c.yaml")[0] == 1
    assert make("--question", "help", setting)[0] == 2


@pytest.mark.parametrize("name", ["plain", "a b'c$d"])
def test_moved_clone_installs_again(tmp_path, name):
    folder = tmp_path / name
    (folder / ".venv/bin").mkdir(parents=True)
    for file in ("requirements.lock", "Makefile"):
        shutil.copy(ROOT / file, folder)
    (folder / ".venv/bin/python").symlink_to(sys.executable)
    (folder / ".venv/place").write_text(f"{folder.resolve()}\n")
    (folder / ".venv/locked").touch()
    question = ("--question", ".venv/locked")
    assert make(*question, folder=folder)[0] == 0
    moved = folder.rename(tmp_path / f"{name} moved")
    assert make(*question, folder=moved)[0] == 1
    moved.rename(folder)
    os.utime(folder / "requirements.lock", (2**32, 2**32))
    assert make(*question, folder=folder)[0] == 1
