"""Packages and commands: what the Makefile, the locks and `make verify` promise."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def make(*arguments, folder=ROOT, **variables):
    """Exit code of make and what it says; variables are the shell's."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    outside = {key: it for key, it in os.environ.items() if not key.startswith("MAKE")}
    how = {"cwd": folder, "env": outside | variables, "capture_output": True, "text": True}
    done = subprocess.run(["make", "--no-print-directory", *arguments], **how)
    return done.returncode, done.stdout + done.stderr


def test_locks_agree_and_name_no_index():
    texts = [(ROOT / f"requirements{it}.lock").read_text(encoding="utf-8") for it in ("", "-dev")]
    users, developers = (dict(re.findall(r"^([a-z0-9-]+)==([^ ]+)", it, re.M)) for it in texts)
    assert {name: users.get(name, developers[name]) for name in developers} == developers
    assert "pytest" in developers.keys() - users.keys()
    assert "://" not in texts[0] + texts[1]


def test_help_lists_all_commands():
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (help (?:.*\\\n)*.*)", text, re.M)[1].replace("\\", "").split()
    _, shown = make("help")
    assert re.findall(r"^  make ([a-z-]+) +\d+  \w", shown, re.M) == phony


def test_settings_of_the_shell_stay_outside():
    odd = {"PYTHONPATH": "/odd", "PYTHONOPTIMIZE": "2", "PIP_USER": "1", "LC_ALL": "C"}
    code, shown = make("--eval=shown: ; env", "shown", "PGPD_HF_X=a b'c", **odd)
    assert code == 0
    assert "PYTHONPATH=" not in shown
    assert "PYTHONOPTIMIZE=" not in shown
    assert {"PIP_USER=0", "LC_ALL=C.UTF-8", "PGPD_HF_X=a b'c"} <= set(shown.splitlines())
    _, shown = make("--eval=shown: ; env", "shown", HOME="/dev/null/none")
    assert f"HOME={ROOT}/.snakemake/home" in shown.splitlines()


@pytest.mark.parametrize(
    ("goal", "setting", "refused"),
    [
        ("plan", "CONFIG=a b'c.yaml", False),
        ("lint", "CONFIG=mine.yaml", True),
        ("study STUDY=verdicts", "SEEDS=3", False),
        ("study STUDY=audit", "SEEDS=3", True),
        ("report", "STUDY=audit", False),
        ("help", "STUDY=audit", True),
        ("verify", "CONFIG=mine.yaml", True),
        ("report", "STATEMENT=npgpd_gap_plateaus", True),
        ("report", "SEDES=3", True),
        ("help", "config=mine.yaml", True),
        ("help", "Study=verdicts", True),
    ],
)
def test_setting_that_a_goal_does_not_have_is_refused(goal, setting, refused):
    code, said = make("--dry-run", *goal.split(), "CORES=1", setting)
    told = f"{setting.split('=')[0]}: no setting of make {goal.split()[0]}, which has C"
    assert (code, told in said) == ((2, True) if refused else (0, False))


@pytest.mark.parametrize(("cores", "code"), [("all", 0), ("12", 0), ("0", 2), ("-1", 2), ("", 2)])
def test_number_of_cores_is_checked_since_snakemake_waits_for_ever_with_none(cores, code):
    found, said = make("--dry-run", "figures", f"CORES={cores}")
    assert (found, "CORES: all, or a number of at least 1, expected" in said) == (code, code == 2)


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
