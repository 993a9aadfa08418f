"""How the site is built in a folder of its own."""

import os
import shutil
import subprocess
import sys

import pandas as pd
from projects import ROOT

from pgpd_hf.support import storage

PACKAGES = ROOT / ".venv-site"


def write_results(folder):
    """Write what `make figures` leaves for the site, and the runs of one seed, from reference/."""
    results = folder / "results/paper"
    results.mkdir(parents=True)
    reference = folder / "reference"
    curves = storage.read_table(reference / "curves.csv").assign(seeds=20)
    storage.write_table(results / "aggregate.parquet", curves)
    shutil.copy(reference / "claims.csv", results)
    shutil.copy(folder / "config/config.yaml", results)
    optimum = pd.read_csv(reference / "optimum.csv", index_col="entry")["value"]
    values = {name: float(optimum[name]) for name in ("reward_value", "unconstrained.reward_value")}
    unconstrained = {"reward_value": values.pop("unconstrained.reward_value")}
    storage.write_json(results / "optimum.json", values | {"unconstrained": unconstrained})
    traces = storage.read_table(reference / "traces.csv")
    for (algorithm, people), runs in traces.groupby(["algorithm", "evaluators"]):
        place = results / f"full/runs/{algorithm}/M{people}"
        place.mkdir(parents=True)
        storage.write_table(place / "seeds0000-0000.parquet", runs)


def build(folder, configfile=""):
    """Call what `make site` calls; give what came of it."""
    command = [sys.executable, folder / "site/build.py", configfile]
    environment = {"PYTHONPATH": f"{PACKAGES}{os.pathsep}{ROOT / 'src'}", "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
