"""The screen shows a bar on a terminal, lines elsewhere, and everything that goes wrong."""

import io
import logging
import signal

import pytest
from snakemake_interface_logger_plugins.common import LogEvent

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


def screen_of(*records, draws=True):
    """The screen, the bar as it stands last or an empty line, and which records are text."""
    stream = io.StringIO()
    screen = Screen(stream, draws)
    passed = [it for it in records if screen.filter(it)]
    return screen, stream.getvalue().split("\r")[-1].strip(), passed


STATS = record(LogEvent.RUN_INFO, "Job stats:", stats={"run": 4, "figure": 1, "total": 5})


def test_bar_counts_jobs_and_names_the_rules_that_run():
    _, bar, passed = screen_of(STATS, start(1, "run"), end(1), start(2, "figure"), start(3, "run"))
    assert bar.startswith("20%|")
    assert " 1/5 [" in bar
    assert bar.endswith(", figure, run]")
    assert passed == []


def test_bar_stays_when_all_is_done():
    stats = record(LogEvent.RUN_INFO, stats={"run": 1, "figure": 1, "total": 2})
    screen, _, _ = screen_of(stats, start(1, "run"), end(1), start(2, "figure"), end(2))
    last = screen._stream.getvalue().split("\r")[-1]
    assert last.startswith("100%|")
    assert " 2/2 [" in last
    assert last.endswith("\n")


@pytest.mark.parametrize("draws", [True, False])
def test_what_goes_wrong_is_text_until_the_user_stops_the_run(draws):
    failed = record(LogEvent.JOB_ERROR, "Error", logging.ERROR, jobid=1)
    nothing = record(text="Nothing to be done (all requested files are present)")
    screen, bar, passed = screen_of(STATS, start(1, "run"), failed, nothing, draws=draws)
    assert passed[-2:] == [failed, nothing]
    assert bar == ""
    with pytest.raises(KeyboardInterrupt):
        screen.interrupt(signal.SIGINT, None)
    assert screen._stream.getvalue().endswith("Interrupted. The same command goes on from here.\n")
    assert not screen.filter(failed)


def test_nothing_is_drawn_before_jobs_are_known():
    failed = record(None, "Error", logging.ERROR)
    assert screen_of(failed)[1:] == ("", [failed])


def test_nothing_is_drawn_if_the_number_of_jobs_is_kept_quiet():
    assert screen_of(start(1, "run"))[1:] == ("", [])


def test_without_a_bar_jobs_are_lines_and_what_says_nothing_is_left_out():
    told = [start(1, "run"), record(LogEvent.PROGRESS, done=1, total=5)]
    noise = [record(text="Select jobs to execute..."), record(text="Execute 1 jobs..."), end(1)]
    assert screen_of(*told, *noise, draws=False)[1:] == ("", told)
