"""Summaries of sweeps and schedules over seeds: means, slopes, differences.

No job that runs cases imports this file, so an edit here does not repeat any run.
"""

import math

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.statistics import difference_interval, intervals, loglog_slope, power_with_floor
from replication.sweeps import METRICS, QUANTITIES, averages

FASTER = ("at least as fast", "slower")  # a slope beside a promised exponent
LOWER = ("lower", "higher")  # a difference beside zero
OUTCOMES = (*QUANTITIES, *(f"late_{name}" for name in QUANTITIES))
CURVE = ["sweep", "algorithm", "curve"]


def means(table, metrics=METRICS, keys=(*CURVE, "axis", "value")):
    """Reduce runs over seeds.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.sweeps.averages`, of any sweeps.
    metrics : sequence of str
        Columns to reduce.
    keys : sequence of str
        Columns that tell cases apart.

    Returns
    -------
    pandas.DataFrame
        A row per case and metric: the keys, metric, mean, low, high, seeds, and the queries and
        steps of one run.
    """
    costs = ["queries", "steps"]  # the same for all runs of a case
    found = intervals(table, [*keys, *costs], metrics)
    return found[[*keys, "metric", "mean", "low", "high", "seeds", *costs]]


def excess(table, reference, keys, metrics=METRICS):
    """Subtract from each run the reference's run of the same seed.

    Streams are independent, so a difference has the noise of both runs.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.sweeps.averages`.
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


def slopes(table, metrics=METRICS, floor=False, keys=CURVE):
    """Slopes of log mean against the log of the axis, one per curve.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.sweeps.averages`.
    metrics : sequence of str
        Columns to fit.
    floor : bool
        Also fit a floor plus a power.
    keys : list of str
        Columns that tell curves apart.

    Returns
    -------
    pandas.DataFrame
        A row per curve and metric: slope, slope_low, slope_high (95 % bootstrap interval over
        seeds; NaN where a mean is not positive, so that it has no logarithm, or where there is one
        seed only); with `floor` also floor and power of a + c x^p, and their intervals; seeds (the
        number of runs at the position that has fewest).
        Infinity is no position on the axis, so such points are left out.
    """
    rows = []
    finite = table[table["value"] < math.inf]
    for key, group in finite.groupby(keys, sort=False, dropna=False):
        values = sorted(group["value"].unique())
        for metric in metrics:
            samples = [group.loc[group["value"] == x, metric].to_numpy() for x in values]
            row = [*key, metric, *loglog_slope(values, samples)]
            if floor:
                row += [number for part in power_with_floor(values, samples) for number in part]
            rows.append([*row, min(map(len, samples))])
    columns = [*keys, "metric", "slope", "slope_low", "slope_high"]
    if floor:
        columns += ["floor", "floor_low", "floor_high", "power", "power_low", "power_high"]
    return pd.DataFrame(rows, columns=[*columns, "seeds"])


def local_slopes(table, means, digits=2):
    """Slopes between neighbouring positions, whose spread a fitted slope hides.

    Where means oscillate, a fitted slope depends on the phase at which the positions lie. All seeds
    oscillate alike, so an interval over seeds does not show this.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`slopes`.
    means : pandas.DataFrame
        Made by :func:`means`, of the same runs.
    digits : int
        After the point.

    Returns
    -------
    list of str
        For each row of `table` the slopes along the axis, such as "-0.78, -1.03, 0.95"; a dash
        where one of the two means is not positive.
    """
    keys = [*CURVE, "metric"]
    lines = dict(iter(means[means["value"] < math.inf].groupby(keys, sort=False)))
    texts = []
    for key in table[keys].itertuples(index=False, name=None):
        line = lines[key].sort_values("value")
        heights = np.log(line["mean"].where(line["mean"] > 0).to_numpy())
        found = np.diff(heights) / np.diff(np.log(line["value"].to_numpy()))
        texts.append(", ".join("—" if np.isnan(x) else f"{x:.{digits}f}" for x in found))
    return texts


def scale_slopes(table, scale):
    """Slopes of a function of the axis, fitted where the runs are.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.sweeps.averages`.
    scale : callable
        Positive function of an array of positions, such as M.

    Returns
    -------
    list of float
        One per curve, in the order of :func:`slopes`.
    """
    found = []
    for _, group in table[table["value"] < math.inf].groupby(CURVE, sort=False):
        values = np.array(sorted(group["value"].unique()))
        found.append(loglog_slope(values, scale(values)[:, None])[0])
    return found


def verdict(low, high, edge, words=FASTER):
    """Say on which side of a value an interval lies.

    Parameters
    ----------
    low, high : float
        The interval, not NaN.
    edge : float
        The value.
    words : tuple of str
        For an interval that lies wholly at or below the value, and for one wholly above.

    Returns
    -------
    str
        One of `words`, or "open" if the interval decides neither way.
    """
    if high <= edge:
        return words[0]
    return words[1] if low > edge else "open"


def slope_verdicts(table, promised, words=FASTER):
    """Compare slopes with promised exponents.

    A verdict is about the range of positions that was run, and allows for the noise of seeds only.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`slopes`.
    promised : float or sequence of float
        For all rows, or for each.
    words : tuple of str
        As for :func:`verdict`.

    Returns
    -------
    list of str
        The verdict, or why there is none.
    """
    texts = []
    rows = table[["algorithm", "slope", "slope_low", "slope_high"]].itertuples(index=False)
    for row, edge in zip(rows, np.broadcast_to(promised, len(table)), strict=True):
        if math.isnan(row.slope):
            texts.append("no slope: a mean ≤ 0")
        elif not math.isnan(row.slope_low):
            texts.append(verdict(row.slope_low, row.slope_high, edge, words))
        elif get_algorithm(row.algorithm).limit_of:
            texts.append("no interval: exact")
        else:
            texts.append("no interval: one seed, or a resampled mean ≤ 0")
    return texts


def difference_verdicts(table):
    """Compare differences with zero.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`compare`.

    Returns
    -------
    list of str
        One of :data:`LOWER`, or "open"; a dash for the reference, or where there is one seed only.
    """
    ends = table[["difference_low", "difference_high"]].to_numpy(dtype=float)
    return [
        "—" if math.isnan(low) or math.isnan(high) else verdict(low, high, 0, LOWER)
        for low, high in ends
    ]


def outcomes(traces, share=0.1):
    r"""What schedules achieve: the theorems' averages, and the end of the run.

    Parameters
    ----------
    traces : pandas.DataFrame
        Traces of the runs of :mod:`replication.analyses.schedules`.
    share : float
        The late values are averages over the iterates after the first (1 - share) T steps, or from
        the last checkpoint before them, and over one at least. With T = 1000 and a share of 0.1
        they are iterates 901 to 999.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, schedule and seed, with a column for each of :data:`OUTCOMES`, the
        costs `queries` and `steps`, and all else of :func:`replication.sweeps.averages`.
    """
    length = traces["iterations"]
    last = ((1 - share) * length).clip(upper=length - 2).clip(lower=0)
    early = traces["iteration"].where(traces["iteration"] <= last)
    run = [traces[key] for key in ("algorithm", "schedule", "seed")]
    return averages(traces, last_early=early.groupby(run).transform("max"))


def spent(traces):
    """Means over seeds of the priced gap along runs, with what has been spent.

    Parameters
    ----------
    traces : pandas.DataFrame
        Traces of the runs of :mod:`replication.analyses.schedules`, with a column `priced_gap`.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, schedule and iteration: queries, steps, mean, low, high.
    """
    keys = ["algorithm", "schedule", "iteration", "queries", "steps"]
    return intervals(traces, keys, ["priced_gap"]).drop(columns=["metric", "seeds"])


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
        A row per algorithm, schedule and metric: mean, low and high of the schedule, and its number
        of seeds; difference, difference_low and difference_high of its mean from the reference's
        (Student's t for independent samples of unequal variance).
    """
    keys = ["algorithm", "schedule"]
    table = intervals(results, keys, OUTCOMES)
    groups = dict(iter(results.groupby(keys)))
    table[["difference", "difference_low", "difference_high"]] = [
        (0.0, np.nan, np.nan)
        if row.schedule == reference
        else difference_interval(
            groups[row.algorithm, row.schedule][row.metric],
            groups[row.algorithm, reference][row.metric],
        )
        for row in table.itertuples()
    ]
    return table
