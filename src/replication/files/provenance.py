"""What a study was made with: versions, machine, commit, and the time it took."""

import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

import numba
import numpy as np
import pandas as pd
from llvmlite import binding

PACKAGES = (
    "pgpd-hf numpy scipy numba llvmlite pandas pyarrow matplotlib snakemake papermill nbconvert"
).split()


def versions():
    """Versions of Python and of the packages that results depend on, as dict of str to str."""
    packages = {name: metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **packages}


def machine():
    """Describe what decides about the last bits of a number, beside the versions of packages.

    Compiled code is made for the processor at hand, NumPy and the linear algebra choose their loops
    by it, and logarithms and exponentials come from the C library.

    Returns
    -------
    dict of str to str
        system, machine, C library, Python, processor (the compiler's name for it), instructions
        (that NumPy uses).
    """
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "C library": " ".join(platform.libc_ver()),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": numba.config.CPU_NAME or binding.get_host_cpu_name(),
        "instructions": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
    }


def changes(folder, *paths):
    """List files that differ from the commit, new ones included.

    Parameters
    ----------
    folder : path-like
        Root of a git repository.
    paths : str
        Where to look, relative to the folder; everywhere by default.

    Returns
    -------
    list of str or None
        Lines of `git status --porcelain`; None if the folder is not the root of a repository.
    """
    top = _git(folder, "rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != Path(folder).resolve():
        return None
    return _git(folder, "status", "--porcelain", "--untracked-files=all", "--", *paths).splitlines()


def commit(folder):
    """Name the commit that is checked out in a folder.

    Parameters
    ----------
    folder : path-like
        Root of a git repository.

    Returns
    -------
    str or None
        Ends in "-dirty" if files differ from it; None if the folder is not the root of a
        repository.
    """
    changed = changes(folder)
    if changed is None:
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    return f"{commit}-dirty" if changed else commit


def wall_time(benchmarks):
    """Sum the seconds that jobs took, rule by rule.

    Parameters
    ----------
    benchmarks : dict of str to list of path-like
        Snakemake's benchmark files, one for each job, by rule; missing files do not count.

    Returns
    -------
    dict of str to dict
        By rule: `jobs` (their number), `seconds` (their sum) and `longest`.
    """
    rules = _read(benchmarks).groupby("rule")["seconds"]
    return rules.agg(jobs="count", seconds="sum", longest="max").round(3).to_dict("index")


def period(benchmarks):
    """Find out when the first job started and the last one ended.

    Parameters
    ----------
    benchmarks : dict of str to list of path-like
        As for :func:`wall_time`; Snakemake writes a benchmark file when the job ends.

    Returns
    -------
    dict of str to str
        `started` and `finished`, in ISO 8601, UTC, to the second.

    Raises
    ------
    ValueError
        If no benchmark file exists.
    """
    jobs = _read(benchmarks)
    if jobs.empty:
        raise ValueError("no benchmark file of any job, so it is unknown when they ran")
    times = {"started": (jobs["end"] - jobs["seconds"]).min(), "finished": jobs["end"].max()}
    return {
        name: datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
        for name, time in times.items()
    }


def _read(benchmarks):
    """Rule, seconds and time of the end of every job whose benchmark file exists."""
    rows = [
        (rule, float(pd.read_csv(file, sep="\t")["s"].iloc[-1]), file.stat().st_mtime)
        for rule, files in sorted(benchmarks.items())
        for file in map(Path, files)
        if file.exists()
    ]
    return pd.DataFrame(rows, columns=["rule", "seconds", "end"])


def _git(folder, *arguments):
    """Output of a git command; None if it fails or git is missing."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip()
    except (OSError, subprocess.CalledProcessError):
        return None
