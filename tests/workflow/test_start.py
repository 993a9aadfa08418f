"""However a run is started, it works or is refused in one line before Snakemake reads a file."""

import os
import subprocess

import pytest
from projects import Project

NAMELESS = ["unshare", "--user", "--map-user=54321", "--map-group=54321"]
ENVIRONMENT = "results/smoke/environment.npz"


def nobody_is_possible():
    """Whether a process may belong to a user who has no name."""
    try:
        return not subprocess.run([*NAMELESS, "true"], capture_output=True, check=False).returncode
    except OSError:
        return False


@pytest.mark.skipif(not nobody_is_possible(), reason="user namespaces are not allowed here")
@pytest.mark.parametrize("home", ["/", "/proc/nobody"])
def test_user_without_name_and_home_in_a_hostile_environment(fresh, home):
    hostile = {"HOME": home, "NUMBA_NUM_THREADS": "0", "PYTHONOPTIMIZE": "1"}
    without = [f"--unset={name}" for name in ("LOGNAME", "USER", "LNAME", "USERNAME")]
    command = [*NAMELESS, "env", *without, *fresh.workflow(ENVIRONMENT, "--cores", "1")]
    code, output = fresh.call(command, environment=hostile)
    assert code == 0, output
    assert (fresh.folder / ENVIRONMENT).exists()


def test_titles_that_python_drops_are_missed_in_one_line(fresh):
    code, output = fresh.snakemake("-n", environment={"PYTHONOPTIMIZE": "2"})
    assert code == 1
    assert output.splitlines()[1:] == [
        "error: PYTHONOPTIMIZE=2 drops docstrings, which hold titles; unset it"
    ]


def test_ascii_locale_in_a_folder_with_another_name(tmp_path):
    folder = tmp_path / "Übung"
    folder.mkdir()
    project = Project(folder)
    command = ["snakemake", "--configfile", "config/smoke.yaml", "--cores", "1", ENVIRONMENT]
    code, output = project.call([*command, "-n"], environment={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert code == 1
    assert output.splitlines()[1:] == [
        "error: this folder's name is not ASCII, but the locale is; set PYTHONUTF8=1"
    ]
    code, output = project.call(command, environment={"LC_ALL": "C"})
    assert code == 0, output


def test_target_that_is_taken_for_a_file_is_told_where_to_go(fresh):
    code, output = fresh.call(["snakemake", "--configfile", "config/smoke.yaml", "figure"])
    assert code == 1
    last = output.splitlines()[-1]
    assert last.startswith("error: figure: no such file here, in ")
    assert last.endswith(" (targets go before --configfile)")


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--config", "study"], "--config: name=value expected, got 'study'"),
        (["-n", "-C", "seeds=3", "a=1"], "--config: name=value expected, got 'a=1'"),
        (["-C", "evaluators=[16]"], "--config: evaluators: a list or table is for a file of "),
        (["--config", "rates={seeds: 3}"], "--config: rates: a list or table is for a file of "),
        (["-C", "seeds=3", "--config", "horizon=9"], "--config: stands twice, where it may "),
        (["--configfile=bad", "--configfile=latin"], "--configfile: stands twice, where it may "),
        (["--configfile", "none.yaml"], "none.yaml: no such file here, in "),
        (["--configfiles", "config/smoke.yaml", "config"], "config: Is a directory"),
        (["--configfile=pipe"], "pipe: a file expected, got a pipe"),
        (["--configfile=latin"], "latin: not YAML: 'utf-8' codec can't decode byte 0xfc in "),
        (["--configfile=bad"], "bad: a template (__use_yte__), where only data is allowed"),
    ],
)
def test_configuration_is_refused_before_snakemake_reads_it(fresh, options, line):
    os.mkfifo(fresh.folder / "pipe")
    (fresh.folder / "latin").write_bytes(b"study: \xfc")
    (fresh.folder / "bad").write_text("__use_yte__: true\nstudy: ?__import__('os').mkdir('made')\n")
    code, output = fresh.call(["snakemake", *options])
    assert code == 1
    first, last = output.splitlines()
    assert first.startswith("Using workflow specific profile profiles/default")
    assert last.startswith(f"error: {line}")
    assert not (fresh.folder / "made").exists()
