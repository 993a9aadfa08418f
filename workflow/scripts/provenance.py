"""Record what an experiment was made with: versions, kind of machine, commit, configuration."""

import argparse
import json
import platform
import subprocess
from importlib.metadata import version
from pathlib import Path

from llvmlite import binding

from pgpd_hf.tables import one_line, write_json

CLONE = Path(__file__).resolve().parents[2]
PACKAGES = "pgpd-hf numpy scipy numba llvmlite pandas matplotlib snakemake papermill nbconvert"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--config", required=True, type=json.loads, help="as JSON")
parser.add_argument("--record", required=True, help="JSON file that is written")
options = parser.parse_args()


def git(*arguments):
    """Output of a git command in the clone."""
    command = ["git", "-C", str(CLONE), *arguments]
    answer = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if answer.returncode:
        foreign = "dubious ownership" in answer.stderr
        raise ValueError("git refuses a clone of another user" if foreign else "no repository")
    return answer.stdout.strip()


def commit():
    """The commit that is checked out, and whether files differ from it; or why there is none."""
    try:
        if Path(git("rev-parse", "--show-toplevel")) != CLONE:
            raise ValueError("no repository")
        return {"commit": git("rev-parse", "HEAD"), "changed": bool(git("status", "--porcelain"))}
    except ValueError as error:
        return {"commit": None, "why": str(error)}
    except FileNotFoundError:
        return {"commit": None, "why": "git is not installed"}


with one_line():
    python = {"python": platform.python_version()}
    record = {
        "versions": python | {name: version(name) for name in PACKAGES.split()},
        "machine": {
            "system": platform.system(),
            "architecture": platform.machine(),
            "C library": " ".join(platform.libc_ver()),
            "processor": binding.get_host_cpu_name(),
        },
        **commit(),
        "config": options.config,
    }
    write_json(record, options.record)
