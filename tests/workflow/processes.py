"""Watching a run: its jobs, and what it leaves."""

import time

import psutil

from replication.files import exclusive_run


def wait_for(condition, seconds=60):
    """Wait until something is the case; give back what the condition did."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.02)
    return found


def jobs_in(folder):
    """Processes of jobs in a folder."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(exclusive_run.MARK) == exclusive_run.mark(folder):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def contents(project, study="smoke", folder=None):
    """Bytes of all tables and figures of a study; notebooks and logs hold times."""
    folder = folder or project.folder
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.joinpath("results", study).rglob("*"))
        if path.is_file() and not {"logs", "benchmarks", "notebooks"} & {*path.parts}
    }
