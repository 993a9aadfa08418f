"""Every combination of settings on many random instances, for a cluster.

Where a sweep follows one axis on one environment, a grid asks how results spread over environments:
each of its cases is run on each instance, for each seed. Instances have the size and the
distribution of the study's environment, and a threshold that binds in the same manner for all of
them.
"""

from dataclasses import replace

import pandas as pd

from pgpd_hf import statistics
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration, summaries, sweeps

TARGET = "grid"
TABLES = {"grid": Table("Means of the grid over instances (table)")}
READS = ("runs",)
LOCAL = True
why_not = configuration.why_single
CELL = ["algorithm", "states", "actions", "iterations", "rounds", "horizon", "evaluators"]
CELL += ["perturbation", "step_rule"]
METRICS = ["gap", "violation", "late_gap", "late_violation", "late_priced_gap"]


def plan(config):
    options = config["grid"]
    seeds = tuple(range(options["seeds"]))
    work = {}
    for algorithm, values in options["algorithms"].items():
        cases = sweeps.make_cases(config, algorithm, "evaluators", values, "sweep grid")
        work[algorithm] = [
            (instance, [_on_instance(case, instance, seeds, config) for case in cases])
            for instance in range(options["instances"])
        ]
    return work


def check(config):
    sweeps.check_grids(config, "grid", config["grid"]["algorithms"], "evaluators")


def tables(runs):
    return {"grid": tabulate(storage.read_tables(runs))}


def tabulate(runs):
    """Means over instances, the replicates; seeds of an instance are averaged first."""
    if runs.empty:
        return pd.DataFrame(columns=CELL)
    rows = []
    for cell, group in summaries.averages(runs).groupby(CELL, dropna=False):
        means = group.sort_values(["instance", "seed"]).groupby("instance")[METRICS].mean()
        row = dict(zip(CELL, cell, strict=True)) | {"instances": len(means), "runs": len(group)}
        rows.append(row | statistics.named_intervals(means, METRICS))
    return pd.DataFrame(rows)


def _on_instance(case, instance, seeds, config):
    case = sweeps.on_instance(case, instance, config["environment"])
    labels = case.labels | {"instance": instance}
    return replace(case, seeds=seeds, purpose=f"sweep grid, instance {instance}", labels=labels)
