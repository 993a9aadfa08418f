"""Statistics over seeds, the unit of replication."""

import warnings

import numpy as np
import pandas as pd
from scipy import stats

from pgpd_hf.support.storage import read_table

LEVEL = 0.95
VALUES = (
    "reward_value",
    "utility_value",
    "multiplier",
    "optimality_gap",
    "constraint_violation",
    "mean_optimality_gap",
    "mean_constraint_violation",
    "queries",
    "steps",
)


def mean_interval(samples, level=LEVEL, axis=0):
    """Mean and Student's t interval.

    Parameters
    ----------
    samples : array_like, float
        Independent samples along `axis`.
    level : float
        Coverage in (0, 1).
    axis : int
        Axis of the samples.

    Returns
    -------
    mean, low, high : ndarray, float64
        Without `axis`; the interval is NaN where there is one sample only.
    """
    samples = np.asarray(samples, dtype=np.float64)
    count = samples.shape[axis]
    mean = samples.mean(axis)
    if count < 2:
        return mean, np.full_like(mean, np.nan), np.full_like(mean, np.nan)
    half = stats.t.ppf((1 + level) / 2, count - 1) * samples.std(axis, ddof=1) / np.sqrt(count)
    return mean, mean - half, mean + half


def difference_interval(first, second, level=LEVEL):
    """Difference of means and Welch's interval.

    Parameters
    ----------
    first, second : array_like, float
        Independent samples, whose variances may differ.
    level : float
        Coverage in (0, 1).

    Returns
    -------
    difference, low, high : float
        Mean of the first minus mean of the second; the interval is NaN where there is one sample
        only.
    """
    first, second = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    difference = float(first.mean() - second.mean())
    if min(len(first), len(second)) < 2:
        return difference, np.nan, np.nan
    parts = [samples.var(ddof=1) / len(samples) for samples in (first, second)]
    variance = sum(parts)
    if variance == 0:
        return difference, difference, difference
    freedom = variance**2 / (parts[0] ** 2 / (len(first) - 1) + parts[1] ** 2 / (len(second) - 1))
    half = float(stats.t.ppf((1 + level) / 2, freedom) * np.sqrt(variance))
    return difference, difference - half, difference + half


def aggregate(traces, level=LEVEL):
    """Reduce traces over seeds.

    Parameters
    ----------
    traces : pandas.DataFrame
        Rows of :func:`pgpd_hf.run`, of any algorithms and M.
    level : float
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, evaluators and iteration, in this order: the number of `seeds`, and
        for each value the mean (under its own name) and the ends of the interval (`_low` and
        `_high`).
    """
    keys = ["algorithm", "evaluators", "iteration"]
    groups = traces.groupby(keys, dropna=False, sort=True)
    table = groups.size().rename("seeds").to_frame()
    ordered = traces.sort_values([*keys, "seed"])
    for value in VALUES:
        limits = {
            key: mean_interval(group.to_numpy(), level)
            for key, group in ordered.groupby(keys, dropna=False, sort=True)[value]
        }
        columns = [value, f"{value}_low", f"{value}_high"]
        table[columns] = np.array([limits[key] for key in table.index])
    return table.reset_index()


def loglog_slope(positions, samples, level=LEVEL, resamples=2000, seed=0):
    """Slope of log mean against log position, with a bootstrap interval over seeds.

    Parameters
    ----------
    positions : array_like, float, shape (n,)
        Positive, such as values of T.
    samples : sequence of n array_like, float
        Independent samples, one per seed, at each position.
    level : float
        Coverage of the interval.
    resamples : int
        Bootstrap resamples; seeds are drawn anew at each position.
    seed : int
        Of the bootstrap.

    Returns
    -------
    slope, low, high : float
        NaN where a mean is not positive, so that it has no logarithm.
    """
    logs = np.log(np.asarray(positions, dtype=np.float64))
    centred = logs - logs.mean()

    def slope(*groups, axis=-1):
        means = np.stack([np.mean(group, axis=axis) for group in groups], axis=-1)
        heights = np.log(np.where(means > 0, means, np.nan))
        return heights @ centred / (centred @ centred)

    estimate = float(slope(*[np.asarray(group, dtype=np.float64) for group in samples]))
    if not np.isfinite(estimate) or min(len(group) for group in samples) < 2:
        return estimate, np.nan, np.nan
    with warnings.catch_warnings():
        # A resample whose mean is not positive has no slope, and the interval then no ends.
        warnings.simplefilter("ignore", stats.DegenerateDataWarning)
        result = stats.bootstrap(
            samples,
            slope,
            n_resamples=resamples,
            confidence_level=level,
            method="percentile",
            rng=np.random.default_rng(seed),
        )
    interval = result.confidence_interval
    return estimate, float(interval.low), float(interval.high)


def read_traces(paths):
    """Read traces and put them in order.

    Parameters
    ----------
    paths : iterable of path-like
        Parquet files of :func:`pgpd_hf.run`.

    Returns
    -------
    pandas.DataFrame
        Sorted by algorithm, evaluators, seed and iteration, whatever the order of `paths`.

    Raises
    ------
    DamagedFile
        If a file is not a whole Parquet file, or not as it was written; the message names it.
    """
    traces = pd.concat([read_table(path) for path in sorted(paths)], ignore_index=True)
    return traces.sort_values(["algorithm", "evaluators", "seed", "iteration"], ignore_index=True)


def power_with_floor(positions, samples, level=LEVEL, resamples=500, seed=0):
    r"""Fit mean = a + c x^p with a, c >= 0 and p < 0, with bootstrap intervals over seeds.

    A floor bends the log-log line; fitted beside the power, it cannot pass for a slower rate.
    Least squares of relative errors, on a grid of p.

    Parameters
    ----------
    positions : array_like, float, shape (n,)
        Positive, such as values of T; n >= 4.
    samples : sequence of n array_like, float
        Independent samples, one per seed, at each position.
    level : float
        Coverage of the intervals.
    resamples : int
        Bootstrap resamples; seeds are drawn anew at each position.
    seed : int
        Of the bootstrap.

    Returns
    -------
    floor, power : tuple of float
        Estimate, low and high of a, and of p. NaN where a mean is not positive or there are too
        few positions.
    """
    groups = [np.asarray(group, dtype=np.float64) for group in samples]
    x = np.asarray(positions, dtype=np.float64)
    means = np.array([group.mean() for group in groups])
    missing = (np.nan, np.nan, np.nan)
    if len(x) < 4 or not (means > 0).all():
        return missing, missing
    floor, power = _fit_power_with_floor(x, means[None])
    if min(len(group) for group in groups) < 2:
        return (float(floor[0]), np.nan, np.nan), (float(power[0]), np.nan, np.nan)
    random = np.random.default_rng(seed)
    drawn = np.stack(
        [
            group[random.integers(len(group), size=(resamples, len(group)))].mean(1)
            for group in groups
        ],
        axis=1,
    )  # (resamples, n)
    floors, powers = _fit_power_with_floor(x, drawn[(drawn > 0).all(1)])
    ends = [(1 - level) / 2, (1 + level) / 2]
    return (
        (float(floor[0]), *np.quantile(floors, ends).tolist()),
        (float(power[0]), *np.quantile(powers, ends).tolist()),
    )


def _fit_power_with_floor(x, means):
    """Floors and powers of many curves at once, means of shape (curves, n)."""
    powers = np.linspace(-2, -0.02, 991)  # (p,)
    basis = (x / x[0]) ** powers[:, None]  # (p, n)
    weight = means**-2.0  # (curves, n)
    total, first, second = weight.sum(1)[:, None], weight @ basis.T, weight @ basis.T**2
    height, product = (weight * means).sum(1)[:, None], (weight * means) @ basis.T
    determinant = total * second - first**2
    floor = np.zeros_like(determinant)
    np.divide(height * second - product * first, determinant, out=floor, where=determinant > 0)
    floor = np.maximum(floor, 0)
    factor = (product - floor * first) / second
    negative = factor < 0
    floor = np.where(negative, height / total, floor)
    factor = np.where(negative, 0, factor)
    fitted = floor[..., None] + factor[..., None] * basis  # (curves, p, n)
    error = (weight[:, None] * (means[:, None] - fitted) ** 2).sum(-1)
    best = error.argmin(1)
    return floor[np.arange(len(means)), best], powers[best]
