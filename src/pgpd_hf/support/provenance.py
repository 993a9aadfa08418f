"""With what a study was made: versions, machine, commit, and how long it took."""

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import llvmlite.binding
import pandas as pd

PACKAGES = (
    "pgpd-hf numpy scipy numba llvmlite pandas pyarrow matplotlib snakemake papermill nbconvert"
).split()


def versions():
    """Versions of Python and of the packages that results depend on.

    Returns
    -------
    dict of str to str
    """
    packages = {name: metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **packages}


def machine():
    """System and processor; `cpu` is the name by which code is compiled for it.

    Returns
    -------
    dict
    """
    return {
        "system": platform.platform(),
        "machine": platform.machine(),
        "cpu": llvmlite.binding.get_host_cpu_name(),
        "processors": os.cpu_count(),
    }


def commit(folder):
    """The commit that a folder is at.

    Parameters
    ----------
    folder : path-like
        Root of a git repository. What lies in some other repository has no commit of its own.

    Returns
    -------
    dict
        `commit`, and `dirty`: whether files differ from it; both None without a repository.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != Path(folder).resolve():
        return {"commit": None, "dirty": None}
    changes = _git(folder, "status", "--porcelain")
    return {"commit": _git(folder, "rev-parse", "HEAD"), "dirty": bool(changes)}


def wall_time(benchmarks):
    """Seconds and number of jobs per rule.

    Parameters
    ----------
    benchmarks : dict
        Snakemake's benchmark files by rule, one for each job; files that are missing do not count.

    Returns
    -------
    dict
        By rule: `jobs`, `seconds` (their sum) and `longest`.
    """
    totals = {}
    for rule, files in sorted(benchmarks.items()):
        seconds = [_seconds(file) for file in _present(files)]
        if seconds:
            total = round(sum(seconds), 3)
            totals[rule] = {"jobs": len(seconds), "seconds": total, "longest": max(seconds)}
    return totals


def period(benchmarks):
    """When the first job began and when the last one ended.

    Parameters
    ----------
    benchmarks : dict
        As for :func:`wall_time`; a benchmark file is written when its job ends.

    Returns
    -------
    dict
        `started` and `finished`, in ISO 8601, UTC, to the second.

    Raises
    ------
    ValueError
        If there is no benchmark file at all.
    """
    files = [file for group in benchmarks.values() for file in _present(group)]
    if not files:
        raise ValueError("no benchmark file of any job, so that it is unknown when they ran")
    ends = {file: file.stat().st_mtime for file in files}
    times = {
        "started": min(end - _seconds(file) for file, end in ends.items()),
        "finished": max(ends.values()),
    }
    return {
        name: datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
        for name, time in times.items()
    }


def _present(files):
    return [file for file in map(Path, files) if file.exists()]


def _seconds(file):
    return float(pd.read_csv(file, sep="\t")["s"].iloc[-1])


def _git(folder, *arguments):
    """Output of a git command, or None where it fails."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None
