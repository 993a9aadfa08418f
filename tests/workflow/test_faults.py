"""What goes wrong from outside: the workflow says so in a line, and believes no broken file."""

import os
import shutil
import signal
import subprocess
import sys

import pytest
from processes import contents, jobs_in, wait_for
from projects import Project

from replication.files import storage

TARGET = "results/smoke/runs/npgpd_hf/M16/seeds0000-0002.parquet"
IS_ROOT = os.geteuid() == 0


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory):
    """A project with an environment, one calibration and one block of runs, and its results."""
    project = Project(tmp_path_factory.mktemp("calibrated"))
    code, output = project.snakemake(TARGET, "--cores", "2")
    assert code == 0, output
    return project, contents(project)


@pytest.fixture
def mounted(tmp_path):
    """Mount folders, and unmount them after the test."""
    folders = []

    def mount(*arguments):
        folders.append(arguments[-1])
        subprocess.run(["mount", *map(str, arguments)], check=True)

    yield mount
    for folder in reversed(folders):
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def can_mount():
    """Whether this user may mount file systems: root outside of most containers."""
    if not IS_ROOT or shutil.which("unshare") is None:
        return False
    command = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    return subprocess.run(command, capture_output=True).returncode == 0


needs_mount = pytest.mark.skipif(not can_mount(), reason="only root can mount a small disk")


def test_damaged_results_are_named_and_made_again(calibrated):
    project, whole = calibrated
    names = ["calibration/npgpd_hf.csv", "environment.npz", "optimum.json"]
    paths = [project.results(name) for name in names]
    paths[0].write_bytes(paths[0].read_bytes().replace(b"0.1", b"0.2", 1))
    paths[1].write_bytes(paths[1].read_bytes()[:-100])
    paths[2].write_bytes(b"")
    code, output = project.snakemake(TARGET)
    assert code == 1
    assert output.splitlines()[-3:] == [
        f"error: results/smoke/{name}: altered since it was written; delete it and run again"
        for name in names
    ]
    for path in paths:
        path.unlink()
    targets = [str(path.relative_to(project.folder)) for path in paths]
    code, output = project.snakemake(TARGET, *targets, "--cores", "2")
    assert code == 0, output
    assert contents(project) == whole


def test_damaged_table_of_other_studies_is_named(fresh):
    name = "results/environments/environments.csv"
    storage.write(fresh.folder / name, "study,claim\n")
    command = fresh.workflow("results/paper/optimum.json", "--dry-run")[:-2]  # of the default study
    assert fresh.call(command)[0] == 0
    (fresh.folder / name).write_text("study,claim\nlake,falls\n")
    code, output = fresh.call(command)
    assert code == 1
    assert output.splitlines()[-1] == (
        f"error: {name}: altered since it was written; delete it and run again"
    )


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("aggregate.parquet", "aggregate"),
        ("optimum.json", "environment"),
        ("calibration/zpgpd_hf.csv", "calibrate"),
        ("runs/npgpd_hf/M16/seeds0000-0002.parquet", "run"),
    ],
)
def test_result_that_was_deleted_is_made_again_by_the_same_command(finished, name, rule):
    project, _ = finished
    path = project.results(name)
    aside = path.rename(path.with_name("aside"))
    try:
        assert project.planned()[rule] == 1
    finally:
        aside.rename(path)


def test_run_without_a_core_is_refused_where_it_would_wait_for_ever(fresh):
    code, output = fresh.snakemake("results/smoke/environment.npz", "--cores", "0")
    assert code == 1
    assert output.splitlines()[-1].startswith("error: --cores 0: at least one core is needed")


def test_second_run_says_so_and_harms_nothing(fresh, calibrated):
    _, whole = calibrated
    first = fresh.start(fresh.workflow(TARGET, "--cores", "2"))
    wait_for(lambda: jobs_in(fresh.folder))
    first.send_signal(signal.SIGSTOP)  # so that it is there however long the second one takes
    try:
        code, output = fresh.snakemake(TARGET, "--cores", "2")
    finally:
        first.send_signal(signal.SIGCONT)
    assert code == 1
    assert output.splitlines()[-1] == (
        f"error: another run works in {fresh.folder} (process {first.pid}); "
        "wait until it ends, stop it, or give this one a folder of its own by --directory"
    )
    assert "Traceback" not in output
    output, _ = first.communicate()
    assert first.returncode == 0, output
    assert contents(fresh) == whole


def test_run_goes_on_after_it_was_killed_and_its_jobs_do_not(fresh, calibrated):
    _, whole = calibrated
    first = fresh.start(fresh.workflow(TARGET, "--cores", "2"))
    orphans = wait_for(lambda: jobs_in(fresh.folder))
    for orphan in orphans:  # so that they are there when the next run starts
        orphan.send_signal(signal.SIGSTOP)
    first.kill()
    first.wait()
    first.stdout.close()
    partial = fresh.results(".optimum.json.1.partial.json")
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.write_text("half of it")
    code, output = fresh.snakemake(TARGET, "--cores", "2")
    assert code == 0, output
    assert contents(fresh) == whole
    assert not any(orphan.is_running() for orphan in orphans)
    assert jobs_in(fresh.folder) == []


@needs_mount
def test_disk_that_fills_up_is_an_error_and_no_file_is_believed(tmp_path, mounted, calibrated):
    _, whole = calibrated
    mounted("-t", "tmpfs", "-o", "size=40m", "tmpfs", tmp_path)
    project = Project(tmp_path)
    run = project.start(project.workflow(TARGET, "--cores", "2"))
    wait_for(lambda: jobs_in(project.folder))
    ballast = tmp_path / "ballast"
    with open(ballast, "wb", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
    output, _ = run.communicate()
    assert run.returncode == 1
    assert "No space left on device" in output
    assert not project.results("optimum.json").exists()
    assert list(project.results().rglob(".*.partial*")) == []
    # While it is full, a run does not even start.
    code, output = project.snakemake(TARGET)
    assert code == 1
    assert output.splitlines()[-1] == (
        f"error: {tmp_path}/.snakemake: its disk is full: 0 MiB are free, a study needs 32 MiB"
    )
    ballast.unlink()
    code, output = project.snakemake(TARGET, "--cores", "2")
    assert code == 0, output
    assert contents(project) == whole


@pytest.mark.skipif(IS_ROOT and not can_mount(), reason="root writes everywhere, but may not mount")
@pytest.mark.parametrize("part", ["", "results"])
def test_read_only_folder_is_refused(fresh, mounted, part):
    folder = fresh.folder / part
    folder.mkdir(exist_ok=True)
    if IS_ROOT:  # permissions do not bind root, but a file system does
        mounted("--bind", folder, folder)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
    else:
        folder.chmod(0o555)
    code, output = fresh.snakemake(TARGET)
    assert code == 1
    assert output.splitlines()[-1] == (
        f"error: {folder}: cannot be written to; a study needs a folder of your own"
    )
    assert "Traceback" not in output
    folder.chmod(0o755) if not IS_ROOT else None


@pytest.mark.parametrize("what", ["files", "nothing"])
def test_cache_that_cannot_be_written_costs_only_time(tmp_path, what):
    file = tmp_path / "file"
    file.write_text("no folder")
    blocked = {name: str(file) for name in ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "HOME")}
    code = (
        "from pgpd_hf import random_cmdp\n"
        "from pgpd_hf.core import compilation\n"
        "print(compilation.CACHE_FOLDER, random_cmdp(2, 2, 1).evaluate([[0.5, 0.5]] * 2)[0])"
    )
    if what == "nothing":  # no folder can be made anywhere
        refusal = "def refuse(*_, **__):\n    raise PermissionError\n"
        code = f"import pathlib\n{refusal}pathlib.Path.mkdir = refuse\n{code}"
    environment = {**os.environ, **blocked, "TMPDIR": str(tmp_path)}
    answer = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    folder, value = answer.stdout.split()
    assert answer.stderr == ""
    assert folder == "None" if what == "nothing" else folder.startswith(str(tmp_path))
    assert 0 < float(value) < 1
