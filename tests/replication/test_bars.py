"""The screen shows bars on a terminal, lines elsewhere, and everything that goes wrong."""

import io
import logging
import signal

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

from replication.files import progress
from replication.files.progress import Screen


def record(event=None, text=None, level=logging.INFO, **about):
    """A record as Snakemake logs it."""
    made = logging.makeLogRecord({"msg": text, "levelno": level, **about})
    if event is not None:
        made.event = event
    return made


def start(job, rule):
    return record(LogEvent.JOB_INFO, jobid=job, rule_name=rule)


def end(job):
    return record(LogEvent.JOB_FINISHED, f"Finished jobid: {job}", job_id=job)


def screen_of(*records, bars=True):
    """The screen, what stands on it as a terminal shows it, and which records are text."""
    stream = io.StringIO()
    screen = Screen(stream, bars)
    passed = [it for it in records if screen.filter(it)]
    lines = []
    for part in stream.getvalue().split("\033["):
        if part.endswith("A"):  # up by so many lines
            del lines[-int(part[:-1]) :]
        else:
            lines += part.removeprefix("J").splitlines()
    return screen, [line.split() for line in lines if line], passed


STATS = record(LogEvent.RUN_INFO, "Job stats:", stats={"run": 4, "figure": 1, "total": 5})


def test_each_rule_with_running_jobs_has_a_bar():
    _, lines, passed = screen_of(STATS, start(1, "run"), start(2, "run"), end(1))
    assert [" ".join(line) for line in lines] == [
        f"run {'█' * 8}{'░' * 22} 1 of 4",
        f"in all {'█' * 6}{'░' * 24} 1 of 5, about 0 s left",
    ]
    assert passed == []


def test_bars_give_way_to_one_line():
    jobs = [start(1, "run"), end(1), start(2, "figure"), end(2)]
    stats = record(LogEvent.RUN_INFO, stats={"run": 1, "figure": 1, "total": 2})
    _, lines, _ = screen_of(stats, *jobs)
    assert [line[:3] for line in lines] == [["2", "jobs", "in"]]


@pytest.mark.parametrize("bars", [True, False])
def test_what_goes_wrong_is_text_until_the_user_stops_the_run(bars):
    failed = record(LogEvent.JOB_ERROR, "Error", logging.ERROR, jobid=1)
    nothing = record(text="Nothing to be done (all requested files are present)")
    screen, lines, passed = screen_of(STATS, start(1, "run"), failed, nothing, bars=bars)
    assert passed[-2:] == [failed, nothing]
    assert lines == []
    with pytest.raises(KeyboardInterrupt):
        screen.interrupt(signal.SIGINT, None)
    assert screen._stream.getvalue().endswith("Interrupted. The same command goes on from here.\n")
    assert not screen.filter(failed)


def test_without_bars_jobs_are_lines_and_what_says_nothing_is_left_out():
    told = [start(1, "run"), record(LogEvent.PROGRESS, done=1, total=5)]
    noise = [record(text="Select jobs to execute..."), record(text="Execute 1 jobs..."), end(1)]
    assert screen_of(*told, *noise, bars=False)[1:] == ([], told)


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(29, "116 s"), (31, "2 min"), (1799, "120 min"), (1801, "2 h")],
)
def test_time_that_is_left_is_told_from_the_jobs_that_have_ended(monkeypatch, seconds, told):
    moments = iter([0, 100, 100 + seconds])  # when the screen was made, the run begun, a job ended
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(moments))
    *_, last = screen_of(STATS, start(1, "run"), end(1))[1]
    assert " ".join(last[-7:]) == f"1 of 5, about {told} left"
    assert last[0] == "in"
