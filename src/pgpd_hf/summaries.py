"""Summaries of sweeps and schedules over seeds: means, slopes, differences.

They are apart from what runs, so that another look at the runs does not repeat them.
"""

import math

import numpy as np
import pandas as pd

from pgpd_hf.statistics import (
    difference_interval,
    loglog_slope,
    mean_interval,
    power_with_floor,
)
from pgpd_hf.sweeps import METRICS, QUANTITIES

OUTCOMES = (*QUANTITIES, *(f"late_{name}" for name in QUANTITIES))
_CURVE = ["sweep", "algorithm", "curve"]


def means(table, metrics=METRICS):
    """Reduce runs over seeds.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.sweeps.run_case`, of any sweeps.
    metrics : sequence of str
        Columns to reduce.

    Returns
    -------
    pandas.DataFrame
        A row per case and metric: sweep, algorithm, curve, axis, value, metric, mean, low, high,
        seeds, and the queries and steps of one run.
    """
    rows = []
    keys = [*_CURVE, "axis", "value"]
    for key, group in table.groupby(keys, sort=False):
        cost = group["queries"].iloc[0], group["steps"].iloc[0]
        for metric in metrics:
            limits = map(float, mean_interval(group[metric]))
            rows.append((*key, metric, *limits, len(group), *cost))
    columns = [*keys, "metric", "mean", "low", "high", "seeds", "queries", "steps"]
    return pd.DataFrame(rows, columns=columns)


def excess(table, reference, keys, metrics=METRICS):
    """Subtract from each run the reference's run of the same seed.

    Streams are independent, so the noise of the reference is in the differences.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.sweeps.run_case`.
    reference : pandas.DataFrame
        Rows of the same kind, one per algorithm, seed and `keys`.
    keys : list of str
        Columns in which a run and its reference agree, beside algorithm and seed.
    metrics : sequence of str
        Columns to subtract.

    Returns
    -------
    pandas.DataFrame
        The rows of `table` that have a reference.
    """
    keys = ["algorithm", "seed", *keys]
    both = table.merge(
        reference[[*keys, *metrics]], on=keys, suffixes=("", "_reference"), validate="many_to_one"
    )
    for metric in metrics:
        both[metric] -= both.pop(f"{metric}_reference")
    return both


def slopes(table, metrics=METRICS, floor=False):
    """Slopes of log mean against the log of the axis, one per curve.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.sweeps.run_case`.
    metrics : sequence of str
        Columns to fit.
    floor : bool
        Also fit a floor plus a power.

    Returns
    -------
    pandas.DataFrame
        A row per curve and metric: slope, slope_low, slope_high (95 % bootstrap interval over
        seeds; NaN where a mean is not positive, so that it has no logarithm, or where there is one
        seed only); with `floor` also floor and power of a + c x^p, and their intervals.
        Infinity is no position on the axis, so such points are left out.
    """
    rows = []
    for key, group in table[table["value"] < math.inf].groupby(_CURVE, sort=False):
        values = sorted(group["value"].unique())
        for metric in metrics:
            samples = [group.loc[group["value"] == x, metric].to_numpy() for x in values]
            row = [*key, metric, *loglog_slope(values, samples)]
            if floor:
                row += [number for part in power_with_floor(values, samples) for number in part]
            rows.append(row)
    columns = [*_CURVE, "metric", "slope", "slope_low", "slope_high"]
    if floor:
        columns += ["floor", "floor_low", "floor_high", "power", "power_low", "power_high"]
    return pd.DataFrame(rows, columns=columns)


def outcomes(traces, multiplier, share=0.1):
    r"""What schedules achieve: the theorems' averages, and the end of the run.

    Parameters
    ----------
    traces : pandas.DataFrame
        Made by :func:`pgpd_hf.schedules.run_schedule`, with a column `schedule`.
    multiplier : float
        :math:`\lambda^\star`, the price of violation in the priced gap.
    share : float
        The late values are averages over this last part of the iterates.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, schedule and seed, with a column for each of :data:`OUTCOMES`, and the
        costs `queries` and `steps`.
    """
    rows = []
    for key, trace in traces.groupby(["algorithm", "schedule", "seed"], sort=False):
        trace = trace.set_index("iteration")
        length = trace.index.max()
        # Sums over iterates 0..t are (t + 1) times the running mean.
        first = trace.index[trace.index <= (1 - share) * length].max()
        row = dict(zip(["algorithm", "schedule", "seed"], key, strict=True))
        for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
            mean = trace[f"mean_{column}"]
            row[name] = mean[length - 1]
            late = length * mean[length - 1] - (first + 1) * mean[first]
            row[f"late_{name}"] = late / (length - 1 - first)
        for late in ("", "late_"):
            row[f"{late}priced_gap"] = row[f"{late}gap"] + multiplier * row[f"{late}violation"]
        rows.append({**row, **trace.loc[length, ["queries", "steps"]].to_dict()})
    return pd.DataFrame(rows)


def spent(traces, metric="priced_gap"):
    """Means over seeds along runs, with what has been spent.

    Parameters
    ----------
    traces : pandas.DataFrame
        Made by :func:`pgpd_hf.schedules.run_schedule`, with a column `schedule`.
    metric : str
        Column to reduce.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, schedule and iteration: queries, steps, mean, low, high.
    """
    keys = ["algorithm", "schedule", "iteration", "queries", "steps"]
    rows = [
        (*key, *map(float, mean_interval(group)))
        for key, group in traces.groupby(keys, sort=False)[metric]
    ]
    return pd.DataFrame(rows, columns=[*keys, "mean", "low", "high"])


def with_interval(table, name, digits=3):
    """Estimates and their intervals as text for people.

    Parameters
    ----------
    table : pandas.DataFrame
        With columns `name`, `name_low` and `name_high`.
    name : str
        The estimate; "mean" has its ends in `low` and `high`.
    digits : int
        After the point.

    Returns
    -------
    list of str
        Such as "-0.50  [-0.52, -0.48]"; a dash where there is no estimate.
    """
    ends = ["low", "high"] if name == "mean" else [f"{name}_low", f"{name}_high"]
    texts = []
    for estimate, low, high in table[[name, *ends]].to_numpy(dtype=float):
        text = "—" if math.isnan(estimate) else f"{estimate:.{digits}f}"
        known = not (math.isnan(estimate) or math.isnan(low))
        texts.append(text + (f"  [{low:.{digits}f}, {high:.{digits}f}]" if known else ""))
    return texts


def compare(results, reference):
    """Differences between schedules and a reference, with intervals over seeds.

    Parameters
    ----------
    results : pandas.DataFrame
        Made by :func:`outcomes`.
    reference : str
        Schedule that the others are compared to.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, schedule and metric: mean, low and high of the schedule; difference,
        difference_low and difference_high of its mean from the reference's (Student's t for
        independent samples of unequal variance).
    """
    rows = []
    for (algorithm, schedule), group in results.groupby(["algorithm", "schedule"], sort=False):
        base = results[(results["algorithm"] == algorithm) & (results["schedule"] == reference)]
        for metric in OUTCOMES:
            interval = map(float, mean_interval(group[metric]))
            difference = (
                (0.0, np.nan, np.nan)
                if schedule == reference
                else difference_interval(group[metric], base[metric])
            )
            rows.append((algorithm, schedule, metric, *interval, *difference))
    columns = ["algorithm", "schedule", "metric", "mean", "low", "high"]
    columns += ["difference", "difference_low", "difference_high"]
    return pd.DataFrame(rows, columns=columns)
