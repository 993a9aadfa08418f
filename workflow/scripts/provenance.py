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


def commit():
    """The commit that is checked out, and whether files differ from it; or why there is none."""
    # The repository of the clone, whoever owns it, and none in which the clone may lie.
    command = ["git", f"--git-dir={CLONE}/.git", f"--work-tree={CLONE}"]
    try:
        head, changes = (
            subprocess.run([*command, *arguments], capture_output=True, check=True).stdout
            for arguments in (["rev-parse", "HEAD"], ["status", "--porcelain", "-uno"])
        )
    except (OSError, subprocess.CalledProcessError):
        return {"commit": None, "why": "no repository, or no git"}
    return {"commit": head.decode().strip(), "changed": bool(changes)}


with one_line():
    versions = {name: version(name) for name in PACKAGES.split()}
    record = {
        "versions": {"python": platform.python_version()} | versions,
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
