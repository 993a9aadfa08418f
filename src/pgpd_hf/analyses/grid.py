"""Grids: every combination of settings, on many random instances.

Where a sweep follows one axis on one process, a grid asks how results spread over processes: each
of its cases is run on each instance, for each seed. Instances have the size and the distribution
of the study's environment, and a threshold that binds in the same manner for all of them
(:func:`pgpd_hf.analyses.sweeps.draw_process`).
"""

import pandas as pd

from pgpd_hf import statistics
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.analyses import sweeps
from pgpd_hf.core.arguments import located

AXIS = "evaluators"  # along which cases of a curve lie
CELL = ("algorithm", "states", "actions", "iterations", "pairs", "horizon", "evaluators")
METRICS = ("gap", "violation", "late_gap", "late_violation", "late_priced_gap")


def run_block(options, algorithm, cases, instances, seeds):
    """Run all cases on some instances.

    Parameters
    ----------
    options : dict
        Keyword arguments of :func:`pgpd_hf.random_cmdp`.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    cases : list of pgpd_hf.analyses.sweeps.Case
        What to run.
    instances, seeds : iterable of int
        Which draws of the process, and which runs on each of them. No two share random numbers.

    Returns
    -------
    pandas.DataFrame
        A row per instance, case and seed: `instance`, and the columns of a sweep that a grid has.
    """
    tables = []
    for instance in instances:
        processes = {}
        for case in cases:
            size = tuple(case.size.items())
            if size not in processes:
                processes[size] = sweeps.draw_process(options, case.size, instance)
            table = sweeps.run_case(
                processes[size], algorithm, case, seeds, f"grid, instance {instance}"
            )
            table = table.drop(columns=["sweep", "curve", "axis", "value"])
            table.insert(1, "instance", instance)
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def summarize(runs):
    """Means over instances, the replicates; seeds of an instance are averaged first.

    Parameters
    ----------
    runs : pandas.DataFrame
        Rows of :func:`run_block`, in any order.

    Returns
    -------
    pandas.DataFrame
        A row per cell of the grid: :data:`CELL`, `instances`, `runs`, and each of
        :data:`METRICS` with the `_low` and `_high` end of its interval.
    """
    rows = []
    for cell, group in runs.groupby(list(CELL), dropna=False):
        means = group.sort_values(["instance", "seed"]).groupby("instance")[list(METRICS)].mean()
        row = dict(zip(CELL, cell, strict=True)) | {"instances": len(means), "runs": len(group)}
        for metric in METRICS:
            row[metric], row[f"{metric}_low"], row[f"{metric}_high"] = (
                float(number) for number in statistics.mean_interval(means[metric].to_numpy())
            )
        rows.append(row)
    columns = [*CELL, "instances", "runs"]
    columns += [metric + end for metric in METRICS for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=columns)


def check(config):
    """Refuse a grid that cannot be run.

    Parameters
    ----------
    config : dict
        A configuration that :func:`pgpd_hf.studies.configuration.check` has passed.

    Raises
    ------
    ValueError
        One line that names the algorithm and the key.
    """
    for algorithm, values in config["grid"]["algorithms"].items():
        with located(f"grid.algorithms.{algorithm}"):
            get_algorithm(algorithm).refuse_idle(values)
            if algorithm not in config["algorithms"]:
                raise ValueError(f"the study has no algorithm {algorithm!r}")
            discount = config["environment"]["discount"]
            sweeps.planned_cases(config, algorithm, AXIS, values, discount)
