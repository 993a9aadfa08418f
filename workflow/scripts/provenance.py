"""Record what an experiment was made with.

Versions, kind of machine, commit, configuration, and digests of results and own algorithms.
"""

import argparse
import json
import platform
import subprocess
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

from pgpd_hf.compilation import machine
from pgpd_hf.tables import one_line, write_json

CLONE = Path(__file__).resolve().parents[2]
PACKAGES = "pgpd-hf numpy scipy numba llvmlite pandas matplotlib snakemake papermill nbconvert"

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--config", required=True, type=json.loads, help="as JSON")
parser.add_argument("--files", nargs="*", type=Path, help="of algorithms of one's own")
parser.add_argument("--aggregate", required=True, type=Path, help="CSV file")
parser.add_argument("--record", required=True, help="JSON file that is written")
options = parser.parse_args()


def git(*arguments):
    """What git says of the clone, whoever owns it, and of no repository in which it may lie."""
    command = ["git", f"--git-dir={CLONE}/.git", f"--work-tree={CLONE}", *arguments]
    return subprocess.run(command, capture_output=True, check=True, text=True).stdout.strip()


with one_line():
    try:
        changed = bool(git("status", "--porcelain", "-uno"))
        commit = {"commit": git("rev-parse", "HEAD"), "changed": changed}
    except (OSError, subprocess.CalledProcessError):
        commit = {"commit": None, "why": "no repository, or no git"}
    versions = {name: version(name) for name in PACKAGES.split()}
    versions["python"] = platform.python_version()
    digests = {it.name: sha256(it.read_bytes()).hexdigest() for it in options.files}
    record = {"versions": versions, "machine": machine(), **commit, "files": digests}
    record["aggregate"] = sha256(options.aggregate.read_bytes()).hexdigest()
    record["config"] = options.config
    write_json(record, options.record)
