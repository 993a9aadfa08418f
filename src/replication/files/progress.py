"""What the screen shows of a run: on a terminal a bar for each rule that has jobs running.

In files, and on clusters, it shows lines when a job starts and when it has ended. Whoever stops a
run is told how it goes on, not how its jobs died. Snakemake's log below `.snakemake` holds all.
"""

import logging
import shutil
import signal
import threading
import time
from collections import Counter
from contextlib import suppress

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

_WIDTH = 30  # of a bar
_TOTAL = "in all"
_EVENTS = {LogEvent.JOB_INFO, LogEvent.JOB_FINISHED, LogEvent.RUN_INFO}
_NOISE = ("Select jobs to execute...", "Execute ", "Finished jobid: ")
_NEWS = "Nothing to be done"


class Screen(logging.Filter):
    """Passes on what is to be shown as text, and may draw bars in place of the rest."""

    def __init__(self, stream, bars):
        super().__init__()
        self._stream, self._bars, self._drawn = stream, bars, 0
        self._lock, self._interrupted = threading.RLock(), False
        self._start, self._rules = time.monotonic(), {}  # of jobs that run
        self._begun = self._start
        self._all, self._ended = Counter(), Counter()

    def filter(self, record):
        """Whether a record is shown as text."""
        event, text = getattr(record, "event", None), str(record.msg)
        if self._interrupted or not self._bars:
            return not (self._interrupted or text.startswith(_NOISE))
        with self._lock:
            if record.levelno > logging.INFO or text.startswith(_NEWS):
                self._rules.pop(getattr(record, "jobid", None), None)  # it has failed
                self._draw([])
                return True
            if event in _EVENTS:
                self._count(event, record)
                running = dict.fromkeys(self._rules.values())
                left = self._all.total() - self._ended.total()
                self._draw([*running, _TOTAL] if left else [])
            if event is LogEvent.JOB_FINISHED and not left:
                seconds = time.monotonic() - self._start
                print(f"{self._all.total()} jobs in {seconds:.0f} s", file=self._stream)
        return False

    def interrupt(self, number, frame):
        """Say how the run goes on, in place of the errors of jobs that end with it."""
        if not self._interrupted:
            self._interrupted = True
            self._draw([])
            print("\nInterrupted. The same command goes on from here.", file=self._stream)
        signal.default_int_handler(number, frame)

    def _count(self, event, record):
        if event is LogEvent.RUN_INFO:
            self._begun = time.monotonic()
            self._all = Counter(record.stats)
            del self._all["total"]
        elif event is LogEvent.JOB_INFO:
            self._rules[record.jobid] = record.rule_name
        else:
            self._ended[self._rules.pop(record.job_id, "")] += 1

    def _draw(self, names):
        """Bars in place of those that were drawn last."""
        back = f"\033[{self._drawn}A\033[J" if self._drawn else ""
        lines = [self._bar(name) for name in names][-shutil.get_terminal_size().lines + 1 :]
        self._stream.write(back + "".join(f"{line}\n" for line in lines))
        self._stream.flush()
        self._drawn = len(lines)

    def _bar(self, name):
        counts = self._all, self._ended
        total, ended = (it.total() if name == _TOTAL else it[name] for it in counts)
        filled, left = round(_WIDTH * ended / total), ""
        if name == _TOTAL and ended:  # if those that are left take as long
            seconds = (time.monotonic() - self._begun) * (total - ended) / ended
            left = f", about {_in_words(seconds)} left"
        return f"{name[:26]:<26} {'█' * filled}{'░' * (_WIDTH - filled)} {ended} of {total}{left}"


def _in_words(seconds):
    """A duration in the largest unit of which there are two."""
    size, unit = next(it for it in [(3600, "h"), (60, "min"), (0, "s")] if seconds >= 2 * it[0])
    return f"{seconds / (size or 1):.0f} {unit}"


def show(bars):
    """Let Snakemake's screen show this from now on, with bars only if it is a terminal."""
    for handler in logger.handlers:
        has_one = any(isinstance(it, Screen) for it in handler.filters)
        if handler.name == "DefaultStreamHandler" and not has_one:
            screen = Screen(handler.stream, bars and handler.is_tty)
            handler.addFilter(screen)
            with suppress(ValueError):  # not in the main thread
                signal.signal(signal.SIGINT, screen.interrupt)
