"""Targets of the Makefile do the same whatever the shell tells Python, and install in turn."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Stands for Python: makes an environment whose Python is this as well, slowly, and keeps a record.
PYTHON = """\
#!/bin/sh
echo "$@" >>calls
sleep 0.3
case "$*" in
'-m venv'*)
    mkdir -p .venv/bin
    cp "$0" .venv/bin/python
    ;;
*'-e .')
    mkdir -p .venv/lib/python3/site-packages
    echo "$PWD/src" >.venv/lib/python3/site-packages/__editable__.pgpd_hf-0.1.0.pth
    ;;
esac
"""


def environment_of_recipes(**changes):
    """Environment of the recipes, given changes of the shell's."""
    command = ["make", "--no-print-directory", "--eval=show: ; @env -0", "show"]
    environment = {name: it for name, it in {**os.environ, **changes}.items() if it is not None}
    answer = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, check=True)
    lines = answer.stdout.decode().split("\0")
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def test_recipes_do_not_inherit_what_changes_python():
    names = ("OPTIMIZE", "STARTUP", "INSPECT", "PATH", "HOME", "WARNINGS", "DONTWRITEBYTECODE")
    changes = {f"PYTHON{name}": "2" for name in names}
    found = environment_of_recipes(**changes, PYTHONUTF8="0", NUMBA_NUM_THREADS="0", LC_ALL="C")
    assert {name for name in found if name.startswith(("PYTHON", "NUMBA"))} == {"PYTHONUTF8"}
    assert (found["PYTHONUTF8"], found["LC_ALL"]) == ("1", "C.UTF-8")


@pytest.mark.parametrize("home", [None, "/proc/nobody"])
def test_user_without_home_and_name_gets_both(home):
    found = environment_of_recipes(HOME=home, LOGNAME=None)
    assert found["HOME"] == str(ROOT / ".snakemake/home")
    assert found["LOGNAME"]
    own = environment_of_recipes(HOME=str(ROOT), LOGNAME="someone")
    assert (own["HOME"], own["LOGNAME"]) == (str(ROOT), "someone")


def calls(folder, *options):
    """What recipes call to install in a folder whose lock is empty."""
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("requirements.lock", "pyproject.toml"):
        (folder / name).write_text("")
    (folder / "python").write_text(PYTHON)
    (folder / "python").chmod(0o755)
    command = ["make", "PYTHON=./python", ".venv/kernels", *options]
    both = [subprocess.Popen(command, cwd=folder) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    return (folder / "calls").read_text().splitlines()


@pytest.mark.skipif(shutil.which("flock") is None, reason="there is no flock")
def test_two_installations_take_turns(tmp_path):
    found = calls(tmp_path)
    assert sum("venv --clear" in call for call in found) == 1
    assert found.count("tools/compile_kernels.py") == 1
    # Python reads this file in the locale's encoding, so the folder's own name is not in it.
    place = tmp_path / ".venv/lib/python3/site-packages/__editable__.pgpd_hf-0.1.0.pth"
    assert (place.parent / place.read_text().rstrip()).resolve() == tmp_path / "src"


@pytest.mark.skipif(shutil.which("flock") is None, reason="there is no flock")
@pytest.mark.parametrize(("code", "by_pip"), [(0, 0), (1, 3), (None, 3)])
def test_uv_installs_where_it_is_and_pip_where_it_is_not_or_fails(tmp_path, code, by_pip):
    if code is not None:
        (tmp_path / "uv").write_text(f'#!/bin/sh\necho uv "$@" >>calls\nexit {code}\n')
        (tmp_path / "uv").chmod(0o755)
    found = calls(tmp_path, "UV=./uv")
    assert sum("-m pip" in call for call in found) == by_pip
    by_uv = [call for call in found if call.startswith("uv")]
    assert len(by_uv) == (0 if code is None else 3)
    assert sum("--require-hashes" in call for call in by_uv) in (0, 2)


def listed():
    """Lines of `make help`, and minutes by group and target."""
    command = ["make", "--no-print-directory", "help"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, check=True, text=True)
    lines, groups, group = answer.stdout.splitlines(), {}, None
    for line in lines:
        if re.fullmatch(r"[a-z]+", line):
            group = groups[line] = {}
        elif found := re.fullmatch(r"  make ([a-z-]+) +(>?\d+)  \S.*", line):
            (group if group is not None else {})[found[1]] = found[2]
    return lines, groups


def test_help_has_every_target_in_a_group_with_its_minutes():
    lines, groups = listed()
    assert max(map(len, lines)) <= 80
    assert list(groups) == ["run", "judge", "publish", "check", "develop"]
    makefile = (ROOT / "Makefile").read_text()
    phony = makefile.partition(".PHONY:")[2].partition("\n\n")[0].replace("\\\n", " ").split()
    found = [target for group in groups.values() for target in group]
    assert sorted(found) == sorted({*phony} - {"help", "sample", "raced", "own-studies"})
    told = " ".join(lines).partition("settings, as in")[2]
    for name in re.findall(r"^([A-Z_]+) \?=", makefile, re.MULTILINE):
        assert name in told or name in ("UV", "IN_TURN", "LOCK_FLAGS")


@pytest.mark.parametrize("target", ["environments", "infer", "hard", "races", "reference", "smoke"])
def test_target_that_says_which_studies_it_runs_refuses_another(target):
    command = ["make", "--no-print-directory", "--dry-run", target, "CONFIG=config/mine.yaml"]
    answer = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    first = answer.stdout.partition(".venv")[0]  # before anything is installed
    assert f"error: CONFIG: make {target} has studies of its own" in first


def test_help_has_every_command_that_shows_a_finding():
    _, groups = listed()
    named = set(re.findall(r"`make ([a-z-]+)", (ROOT / "docs/results.md").read_text()))
    assert len(named) >= 10
    assert named <= {"help", *(target for group in groups.values() for target in group)}
