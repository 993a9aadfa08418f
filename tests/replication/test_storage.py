import errno
import hashlib
import json
import os
import subprocess
import sys

import pandas as pd
import pytest

from replication.files import storage

TABLE = pd.DataFrame({"a": [1, 2, 3], "b": [0.1, 0.2, 0.3]})


def test_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "folder" / "table.json"

    def fail():
        with storage.replacing(path) as partial:
            partial.write_text("half of it")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert list(path.parent.iterdir()) == []
    with storage.replacing(path) as partial:
        partial.write_text("all of it")
        assert not path.exists()
    assert path.read_text() == "all of it"
    assert list(path.parent.iterdir()) == [path]


def test_json_keeps_every_bit_and_refuses_what_json_cannot_say(tmp_path):
    number = 0.1 + 0.2
    storage.write(tmp_path / "a.json", {"x": number})
    assert storage.read_json(tmp_path / "a.json")["x"] == number
    with pytest.raises(ValueError, match="not JSON compliant"):
        storage.write(tmp_path / "b.json", float("nan"))
    assert not (tmp_path / "b.json").exists()


def test_truncated_json_is_named(tmp_path):
    path = tmp_path / "steps.json"
    path.write_text(json.dumps({"primal_step": 1})[:-3])
    with pytest.raises(OSError, match=r"steps\.json: not a whole file; delete it and run again"):
        storage.read_json(path)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "steps.json"])
def test_any_changed_byte_of_a_result_is_noticed_and_named(tmp_path, name):
    path = tmp_path / "below" / name
    if name.endswith("json"):
        storage.write(path, {"a": 1.5})
        read = storage.read_json
    else:
        storage.write(path, TABLE)
        read = storage.read_table
    whole = path.read_bytes()
    read(path)
    assert storage.find_damaged(tmp_path) == []
    for at in range(0, len(whole), 7):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert storage.find_damaged(tmp_path) == [path]
        with pytest.raises(OSError, match=r".") as refusal:
            read(path)
        assert str(refusal.value) == (
            f"{path}: altered since it was written; delete it and run again"
        )
    path.unlink()
    assert storage.find_damaged(tmp_path) == []


RECORDS = {
    "garbage": lambda record: record.write_bytes(bytes(range(128, 256))),
    "empty": lambda record: record.write_bytes(b""),
    "folder": lambda record: (record.unlink(), record.mkdir()),
    "pipe": lambda record: (record.unlink(), os.mkfifo(record)),
}


@pytest.mark.parametrize("kind", RECORDS)
def test_what_is_no_digest_shows_that_a_result_was_altered(tmp_path, kind):
    path = tmp_path / "table.csv"
    storage.write(path, TABLE)
    RECORDS[kind](tmp_path / ".table.csv.sha256")
    assert storage.find_damaged(tmp_path) == [path]
    with pytest.raises(OSError, match="altered since it was written; delete it and run again"):
        storage.read_table(path)


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_file_is_no_result(tmp_path, kind):
    path = tmp_path / "table.csv"
    storage.write(path, TABLE)
    RECORDS[kind](path)
    assert storage.find_damaged(tmp_path) == [path]
    (tmp_path / ".table.csv.sha256").unlink() if kind == "pipe" else None
    with pytest.raises(OSError, match="altered since it was written; delete it and run again"):
        storage.read_table(path)


def test_results_behind_links_are_compared(tmp_path):
    moved, results = tmp_path / "moved", tmp_path / "results"
    storage.write(moved / "deep/table.csv", TABLE)
    results.mkdir()
    (results / "runs").symlink_to(moved)
    (moved / "deep/back").symlink_to(results)
    assert storage.find_damaged(results) == []
    (moved / "deep/table.csv").write_text("a,b\n")
    assert storage.find_damaged(results) == [results / "runs/deep/table.csv"]


def test_what_cannot_be_read_is_named(tmp_path, monkeypatch):
    def refuse(path):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    path = tmp_path / "table.csv"
    storage.write(path, TABLE)
    with monkeypatch.context() as patch:
        patch.setattr(storage.Path, "read_bytes", refuse)
        with pytest.raises(OSError, match=r".") as refusal:
            storage.find_damaged(tmp_path)
    assert str(refusal.value) == f"{path}: cannot be read: Permission denied"
    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(OSError, match=r".") as refusal:
        storage.find_damaged(tmp_path)
    assert str(refusal.value) == f"{tmp_path}: cannot be read: Permission denied"


def test_digest_is_one_that_sha256sum_reads(tmp_path):
    storage.write(tmp_path / "table.csv", TABLE)
    digest = hashlib.sha256((tmp_path / "table.csv").read_bytes()).hexdigest()
    assert (tmp_path / ".table.csv.sha256").read_text() == f"{digest}  table.csv\n"


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_table_without_a_digest_is_believed_if_it_is_one(tmp_path, name):
    storage.write(tmp_path / name, TABLE)
    (tmp_path / f".{name}.sha256").unlink()
    pd.testing.assert_frame_equal(storage.read_table(tmp_path / name), TABLE)
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(OSError, match="not a whole file; delete it"):
        storage.read_table(tmp_path / name)


def test_what_a_killed_writer_left_is_removed(tmp_path):
    storage.write(tmp_path / "runs" / "table.csv", TABLE)
    kept = sorted(tmp_path.rglob("*"))
    (tmp_path / "runs" / ".table.csv.123.partial.csv").write_text("a,b\n1,")
    storage.remove_partial(tmp_path)
    assert sorted(tmp_path.rglob("*")) == kept


def test_folder_without_room_is_refused(tmp_path):
    storage.require_room(tmp_path / "new" / "folder", 1)
    assert not (tmp_path / "new").exists()
    with pytest.raises(OSError, match=r".") as refusal:
        storage.require_room(tmp_path / "new", 2**70)
    assert str(refusal.value).startswith(f"{tmp_path}: its disk is full: ")
    assert str(refusal.value).endswith(" MiB are free, a study needs 1125899906842624 MiB")


def test_failure_to_write_names_the_file_and_the_reason(tmp_path):
    path = tmp_path / "table.csv"
    with pytest.raises(OSError, match=r".") as failure, storage.recording(path):
        raise OSError(errno.ENOSPC, "No space left on device", "some other file")
    assert str(failure.value) == f"{path}: cannot be written: No space left on device"
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"file/table\.csv: cannot be written: "):
        storage.write(tmp_path / "file" / "table.csv", TABLE)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file"]


JOB = """
import os, subprocess, sys
from replication.files import storage

class Snakemake:
    log, input, params = sys.argv[2:], [], {}

with storage.job(Snakemake):
    print("μ printed")
    subprocess.run(["sh", "-c", "echo child; echo complaint >&2"], check=True)
    exec(sys.argv[1])
"""
# What a job does at last, its exit code, and the end of what it prints.
ENDS = {
    "pass": (0, "complaint"),
    "raise OSError('a.csv: cannot be written')": (1, "error: a.csv: cannot be written"),
    "raise KeyError('a mistake')": (1, "KeyError: 'a mistake'"),
}


@pytest.mark.parametrize(
    ("last", "logs"),
    [*((last, ["job.log"]) for last in ENDS), ("pass", ["messages.log", "notebook.ipynb"])],
)
def test_job_writes_everything_to_its_log_and_file_errors_in_one_line(tmp_path, last, logs):
    (tmp_path / logs[0]).write_text("what an earlier try has left, longer than the new log\n" * 99)
    job = subprocess.run(
        [sys.executable, "-c", JOB, last, *logs],
        cwd=tmp_path,
        env={**os.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        text=True,
    )
    code, end = ENDS[last]
    assert (job.returncode, job.stdout, job.stderr) == (code, "", "")
    log = (tmp_path / logs[0]).read_text(encoding="utf-8")
    assert log.startswith("μ printed\nchild\ncomplaint\n")
    assert log.endswith(f"{end}\n")
    assert ("Traceback" in log) == ("KeyError" in end)
    assert [path.name for path in tmp_path.iterdir()] == [logs[0]]


class Job:
    """A job as Snakemake describes it."""

    def __init__(self, output, files, **params):
        self.output, self.input, self.params = [output], files, params


@pytest.fixture
def given(tmp_path, monkeypatch):
    """A job, from code and a file of data, with its result."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "source.py").write_text("CLIP = 1")
    (tmp_path / "data.csv").write_text("a")
    job = Job("table.csv", ["data.csv"], seeds=3, options={"a": (1, None)})
    storage.digest.cache_clear()
    monkeypatch.setattr(storage, "_PROJECT", tmp_path)
    monkeypatch.setattr(storage, "loaded_code", lambda: ["source.py"])
    monkeypatch.setattr(storage, "_STARTED", os.stat("source.py").st_ctime)
    monkeypatch.setattr(storage, "_made_from", storage.ingredients(job))
    storage.note_code(storage.loaded_code())
    storage.digest.cache_clear()  # as in the next run
    return job


CHANGES = {
    "nothing": (lambda job: None, set()),
    "code": (lambda job: open("source.py", "w").close(), {"code: source.py"}),
    "code that is gone": (lambda job: os.unlink("source.py"), {"code: source.py"}),
    "more code": (lambda job: open("new.py", "w").close(), set()),
    "data": (lambda job: open("data.csv", "w").close(), {"data.csv"}),
    "less data": (lambda job: job.input.remove("data.csv"), {"data.csv"}),
    "more data": (lambda job: job.input.append("more.csv"), {"more.csv"}),
    "a parameter": (lambda job: job.params.update(seeds=4), {"parameters"}),
}


def test_code_that_was_edited_before_a_job_loaded_it_is_not_trusted(given, monkeypatch):
    times = os.stat("source.py").st_mtime_ns
    monkeypatch.setattr(storage, "_made_from", storage.ingredients(given))
    monkeypatch.setattr(storage, "_STARTED", os.stat("source.py").st_ctime - 1)
    os.utime("source.py", ns=(times, times))  # as a tool may that keeps times
    storage.write("table.csv", TABLE)
    assert storage.differences(given) == {"code: source.py"}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_result_is_made_from_is_taken_when_its_job_starts(given, change):
    alter, expected = CHANGES[change]
    alter(given)  # while the job runs
    storage.write("table.csv", TABLE)
    assert storage.differences(given) == expected
    assert storage.find_damaged(".") == []


def test_traces_are_sorted_whatever_the_order_of_files_and_rows(tmp_path):
    """As where seeds 10 to 19 are in a file before that of seed 2."""
    rows = [("b", 4, 10, 0), ("b", 4, 2, 5), ("b", 4, 2, 0), ("a", 16, 3, 0), ("a", 4, 3, 0)]
    table = pd.DataFrame(rows, columns=["algorithm", "evaluators", "seed", "iteration"])
    storage.write(tmp_path / "1.parquet", table[:2])
    storage.write(tmp_path / "2.parquet", table[2:])
    found = storage.read_traces([tmp_path / "2.parquet", tmp_path / "1.parquet"])
    assert [*found.itertuples(index=False, name=None)] == sorted(rows)
