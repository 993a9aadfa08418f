"""Judge runs by the first edition of the criteria, with the code that it had.

The commit is the last one before the second edition (docs/claims.md). Its package and its
statements are taken from git, so that nobody has to believe a copy.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

ROOT = Path(__file__).resolve().parents[1]
COMMIT = "4a7dd54ec3d852f56dd232fe820951203acc9869"
PARTS = ("src", "config/claims.yaml", "workflow/schemas/claims.schema.yaml")
# Runs with the package of that commit: arguments are its folder, the environment, the table to be
# written, a group of instances or nothing, and the traces.
PROGRAM = """
import sys
from pathlib import Path
from pgpd_hf import claims, statistics
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.support import validation

folder, environment, output, group, *traces = sys.argv[1:]
schema = validation.read_yaml(Path(folder, "workflow/schemas/claims.schema.yaml"))
statements = claims.load_claims(Path(folder, "config/claims.yaml"), schema)
runs = statistics.read_traces(traces)
cmdp = CMDP.load(environment)
sizes = cmdp.value_bound, cmdp.states * cmdp.actions
if group:
    members = [
        claims.Member(its, *sizes, instance=number, group=group)
        for number, its in runs.groupby("instance")
    ]
    evidence = claims.Evidence(members, unit="instance")
else:
    evidence = claims.Evidence([claims.Member(runs, *sizes)])
claims.judge(statements, evidence).to_csv(output, index=False)
"""


def archive():
    """Package and statements of the commit, as bytes of a tar file.

    Raises
    ------
    ValueError
        If the repository does not have the commit.
    """
    found = subprocess.run(
        ["git", "archive", COMMIT, *PARTS], cwd=ROOT, capture_output=True, check=False
    )
    if found.returncode:
        raise ValueError(
            f"the commit {COMMIT[:7]} is needed: clone the repository with its history"
        )
    return found.stdout


def judge(traces, environment, group=""):
    """Judge runs by the first edition.

    Parameters
    ----------
    traces : sequence of path-like
        Files of runs, all on environments of one size and scale.
    environment : path-like
        File of one of them.
    group : str
        If the runs are on random instances, the name of their group.

    Returns
    -------
    pandas.DataFrame
        A row per statement, with its verdict.

    Raises
    ------
    ValueError
        If the repository does not have the commit.
    """
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["tar", "-x", "-C", folder], input=archive(), check=True)
        output = Path(folder, "claims.csv")
        command = [sys.executable, "-c", PROGRAM, folder, environment, output, group, *traces]
        source = os.environ | {"PYTHONPATH": str(Path(folder, "src"))}
        subprocess.run(list(map(str, command)), env=source, check=True)
        return pd.read_csv(output)
