import fcntl
import os
import subprocess
import sys

import pytest

from replication.files import exclusive_run

HOLD = """
import sys
from replication.files import exclusive_run
exclusive_run.claim(sys.argv[1])
print("claimed", flush=True)
sys.stdin.read()
"""
SLEEP = [sys.executable, "-c", "import sys; print(flush=True); sys.stdin.read()"]


@pytest.fixture
def start():
    """Start processes, wait for their first line, and end them after the test."""
    processes = []

    def start(command, **options):
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, **options
        )
        processes.append(process)
        process.stdout.readline()
        return process

    yield start
    for process in processes:
        process.kill()
        process.communicate()


def test_second_run_is_told_which_is_the_first(tmp_path, start):
    holder = start([sys.executable, "-c", HOLD, str(tmp_path)])
    with pytest.raises(OSError, match=r".") as refusal:
        exclusive_run.claim(tmp_path)
    assert str(refusal.value) == (
        f"another run works in {tmp_path} (process {holder.pid}); wait until it ends, stop it, or "
        "give this one a folder of its own by --directory"
    )
    exclusive_run.claim(tmp_path.parent / "other")
    holder.kill()
    holder.wait()
    exclusive_run.claim(tmp_path)


def test_folder_without_locks_gives_a_warning(tmp_path, monkeypatch, capsys):
    def refuse(*arguments):
        raise OSError("no locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    exclusive_run.claim(tmp_path)
    assert capsys.readouterr().err == (
        f"note: {tmp_path} cannot be locked; start one run at a time\n"
    )


def test_orphans_of_this_folder_are_ended_and_no_other_process(tmp_path, start, monkeypatch):
    monkeypatch.setenv(exclusive_run.MARK, "")  # so that it is as before afterwards
    (tmp_path / "other").mkdir()
    mark = {**os.environ, exclusive_run.MARK: exclusive_run.mark(tmp_path)}
    other = {**os.environ, exclusive_run.MARK: exclusive_run.mark(tmp_path / "other")}
    orphan, stranger, unmarked = start(SLEEP, env=mark), start(SLEEP, env=other), start(SLEEP)
    exclusive_run.end_orphans(tmp_path)
    assert orphan.poll() is not None
    assert stranger.poll() is None
    assert unmarked.poll() is None
    # Jobs that are started from now on inherit the mark; this process itself is spared.
    child = start(SLEEP)
    exclusive_run.end_orphans(tmp_path)
    assert child.poll() is not None


def test_orphan_may_end_while_it_is_looked_for(tmp_path, start, monkeypatch):
    mark = exclusive_run.mark(tmp_path)
    monkeypatch.setenv(exclusive_run.MARK, "")
    orphans = [start(SLEEP, env={**os.environ, exclusive_run.MARK: mark}) for _ in range(2)]
    listed = exclusive_run.psutil.process_iter

    def list_late(names):
        found = [*listed(names)]
        orphans[0].kill()
        orphans[0].wait()
        return found

    monkeypatch.setattr(exclusive_run.psutil, "process_iter", list_late)
    exclusive_run.end_orphans(tmp_path)
    assert orphans[1].poll() is not None


def test_folders_that_swap_their_paths_keep_their_marks(tmp_path):
    first, second, aside = (tmp_path / name for name in ("first", "second", "aside"))
    first.mkdir(), second.mkdir()
    marks = exclusive_run.mark(first), exclusive_run.mark(second)
    first.rename(aside), second.rename(first), aside.rename(second)
    assert marks == (exclusive_run.mark(second), exclusive_run.mark(first))
    assert marks[0] != marks[1]
