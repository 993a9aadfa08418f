"""What the screen shows of a run: on a terminal a bar, and the rules that have jobs running.

In files, and on clusters, it shows lines when a job starts and when it has ended. Whoever stops a
run is told how it goes on, not how its jobs died. Snakemake's log below `.snakemake` holds all.
"""

import logging
import signal
from contextlib import suppress
from threading import Lock

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent
from tqdm import tqdm

_NOISE = ("Select jobs to execute...", "Execute ", "Finished jobid: ")
_NEWS = "Nothing to be done"


class Screen(logging.Filter):
    """Passes on what is to be shown as text, and may draw a bar in place of the rest."""

    def __init__(self, stream, draws):
        super().__init__()
        self._stream, self._draws, self._bar = stream, draws, None
        self._rules = {}  # of jobs that run
        self._lock, self._interrupted = Lock(), False

    def filter(self, record):
        """Whether a record is shown as text."""
        text = str(record.msg)
        if self._interrupted or not self._draws:
            return not (self._interrupted or text.startswith(_NOISE))
        with self._lock:
            if record.levelno > logging.INFO or text.startswith(_NEWS):
                self._rules.pop(getattr(record, "jobid", None), None)  # it has failed
                self._clear()
                return True
            self._count(getattr(record, "event", None), record)
        return False

    def interrupt(self, number, frame):
        """Say how the run goes on, in place of the errors of jobs that end with it."""
        if not self._interrupted:
            self._interrupted = True
            self._clear()
            print("\nInterrupted. The same command goes on from here.", file=self._stream)
        signal.default_int_handler(number, frame)

    def _count(self, event, record):
        if event is LogEvent.RUN_INFO:
            options = {"file": self._stream, "unit": "job", "dynamic_ncols": True}
            self._bar = tqdm(total=record.stats["total"], **options)
        elif self._bar is None:  # `--quiet progress` keeps what it would need
            return
        elif event is LogEvent.JOB_INFO:
            self._rules[record.jobid] = record.rule_name
            self._bar.set_postfix_str(", ".join(sorted({*self._rules.values()})))
        elif event is LogEvent.JOB_FINISHED:
            self._rules.pop(record.job_id, None)
            self._bar.update()
            if self._bar.n == self._bar.total:
                self._bar.close()

    def _clear(self):
        """Leave the line to text; the bar comes back with the next job."""
        if self._bar is not None:
            self._bar.clear()


def show(bar):
    """Let Snakemake's screen show this from now on, with a bar only if it is a terminal."""
    for handler in logger.handlers:
        has_one = any(isinstance(it, Screen) for it in handler.filters)
        if handler.name == "DefaultStreamHandler" and not has_one:
            screen = Screen(handler.stream, bar and handler.is_tty)
            handler.addFilter(screen)
            with suppress(ValueError):  # not in the main thread
                signal.signal(signal.SIGINT, screen.interrupt)
