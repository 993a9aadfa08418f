"""Record what a study was made with: versions, machine, commit, configuration, wall time."""

import argparse
import json
import os
import platform
import subprocess
from importlib import metadata
from pathlib import Path

import pandas as pd
import yaml

from pgpd_hf import storage

PACKAGES = (
    "pgpd-hf numpy scipy numba llvmlite pandas pyarrow matplotlib snakemake papermill nbconvert"
).split()
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def git(*arguments):
    """Output of a git command, or None outside a repository."""
    try:
        answer = subprocess.run(["git", *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return answer.stdout.strip()


def wall_time(benchmarks):
    """Seconds and number of jobs per rule, from Snakemake's benchmark files."""
    folder = Path(benchmarks)
    totals = {}
    for file in sorted(folder.rglob("*.tsv")):
        rule = file.relative_to(folder).parts[0].removesuffix(".tsv")
        entry = totals.setdefault(rule, {"jobs": 0, "seconds": 0.0, "longest": 0.0})
        seconds = float(pd.read_csv(file, sep="\t")["s"].iloc[-1])
        entry["jobs"] += 1
        entry["seconds"] = round(entry["seconds"] + seconds, 3)
        entry["longest"] = max(entry["longest"], seconds)
    return totals


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", required=True, help="the resolved configuration, as JSON")
    parser.add_argument("--benchmarks", required=True, help="folder of Snakemake's benchmark files")
    parser.add_argument("--resolved", required=True, help="YAML file to write")
    parser.add_argument("--output", required=True, help="JSON file to write")
    arguments = parser.parse_args()

    config = json.loads(arguments.config)
    commit, changes = git("rev-parse", "HEAD"), git("status", "--porcelain")
    content = {
        "versions": {
            "python": platform.python_version(),
            **{name: metadata.version(name) for name in PACKAGES},
        },
        "platform": {
            "system": platform.platform(),
            "machine": platform.machine(),
            "processors": os.cpu_count(),
        },
        "threads": {name: os.environ.get(name) for name in THREADS},
        "git": {"commit": commit, "dirty": None if changes is None else bool(changes)},
        "config": config,
        "wall_time": wall_time(arguments.benchmarks),
    }
    with storage.recording(arguments.resolved) as partial:
        partial.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    storage.write_json(arguments.output, content)


if __name__ == "__main__":
    main()
