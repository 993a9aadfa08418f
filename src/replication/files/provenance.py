"""What a study was made with: versions, machine, commit, and the time it took."""

import hashlib
import json
import os
import platform
import re
import subprocess
from base64 import urlsafe_b64encode
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
# What running the code leaves beside it.
_MADE = re.compile(r"(^|/)(__pycache__|\.ipynb_checkpoints|[^/]+\.egg-info)(/|$)")


def versions():
    """Versions of Python and of the packages that results depend on, as dict of str to str."""
    packages = {name: metadata.version(name) for name in PACKAGES}
    return {"python": platform.python_version(), **packages}


def machine():
    """Describe what decides about the last bits of a number, beside the versions of packages."""
    # Compiled code is made for the processor at hand, NumPy and the linear algebra choose their
    # loops by it, and logarithms and exponentials come from the C library.
    return {
        "system": platform.system(),
        "machine": platform.machine(),
        "C library": " ".join(platform.libc_ver()),
        "Python": ".".join(platform.python_version_tuple()[:2]),
        "processor": numba.config.CPU_NAME or binding.get_host_cpu_name(),
        "instructions": " ".join(np.show_config(mode="dicts")["SIMD Extensions"].get("found", [])),
    }


def changes(folder, *paths):
    """Files that are "altered", "missing" or "new" against the commit checked out, by bytes."""
    # Git's own comparison passes over what it is told to ignore or to assume unchanged. With no
    # paths, these are all files of the commit, and no new ones.
    folder = Path(folder).resolve()
    top = _git(folder, "rev-parse", "--show-toplevel")
    if Path(top).resolve() != folder:
        raise OSError(f"not a git repository, but a folder in {top}")
    tree = _git(folder, "--no-replace-objects", "ls-tree", "-rz", "HEAD", "--", *paths)
    entries = [entry.partition("\t") for entry in tree.split("\0")[:-1]]
    found = {name: _compare(folder / name, *entry.split()) for entry, _, name in entries}
    for path in paths:
        for file in sorted(folder.joinpath(path).rglob("*")):
            name = file.relative_to(folder).as_posix()
            # A link may lead to a folder of code.
            if (file.is_symlink() or not file.is_dir()) and not _MADE.search(name):
                found.setdefault(name, "new")
    return {name: state for name, state in found.items() if state}


def _compare(path, mode, _, digest):
    """What has happened to a file since it was committed; None if nothing has."""
    if not path.is_file() and not path.is_symlink():
        return "missing"
    content = os.readlink(path).encode() if mode == "120000" else path.read_bytes()
    blob = b"blob %d\0" % len(content) + content
    same = digest == hashlib.new("sha1" if len(digest) == 40 else "sha256", blob).hexdigest()
    return None if same else "altered"


def commit(folder):
    """Name the commit checked out in a repository, with "-dirty" if files differ; else None."""
    try:
        dirty = changes(folder) or _git(folder, "status", "--porcelain")
        commit = _git(folder, "rev-parse", "HEAD")
    except OSError:
        return None
    return f"{commit}-dirty" if dirty else commit


def wall_time(benchmarks):
    """By rule, `jobs` of benchmark files that exist, their `seconds` in all and the `longest`."""
    seconds = [(rule, _seconds(file)) for rule, file in benchmarks if Path(file).exists()]
    rules = pd.DataFrame(seconds, columns=["rule", "seconds"]).groupby("rule")["seconds"]
    return rules.agg(jobs="count", seconds="sum", longest="max").round(3).to_dict("index")


def _seconds(file):
    try:
        return float(pd.read_csv(file, sep="\t")["s"].iloc[-1])
    except (KeyError, IndexError, ValueError):
        raise ValueError(f"{file}: not a whole benchmark; delete it and run again") from None


def period(files, records=".snakemake/metadata"):
    """When the first job that made some files `started` and the last `finished`, in ISO 8601."""
    # Snakemake's records say so, which a copy of the results may lack: then both are None. The
    # times of files change with every copy.
    paths = [Path(records, urlsafe_b64encode(str(it).encode()).decode()) for it in files]
    if not all(path.exists() for path in paths):
        return {"started": None, "finished": None}
    known = [json.loads(path.read_text(encoding="utf-8")) for path in paths]
    times = {
        "started": min(record["starttime"] for record in known),
        "finished": max(record["endtime"] for record in known),
    }
    return {
        name: datetime.fromtimestamp(time, UTC).isoformat(timespec="seconds")
        for name, time in times.items()
    }


def _git(folder, *arguments):
    """Output of a git command."""
    answer = subprocess.run(
        ["git", "-C", str(folder), *arguments],
        capture_output=True,
        text=True,
        errors="surrogateescape",
    )
    if answer.returncode:
        raise OSError(answer.stderr.partition("\n")[0].removeprefix("fatal: "))
    return answer.stdout.rstrip("\n")
