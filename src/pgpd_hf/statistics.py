"""Means over seeds with Student's t intervals, and slopes on logarithmic axes."""

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from pgpd_hf.arguments import require_instance, shown
from pgpd_hf.tables import VALUES

LEVEL = 0.95
_KEYS = ["algorithm", "evaluators", "iteration"]


def aggregate(trace: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds of tables of :func:`pgpd_hf.run`, on one CMDP, one below the other.

    There is a row for each algorithm, in the order of the table, M and iteration, with the number
    of `seeds`, and of each value the mean and the ends `_low` and `_high` of its 95 % interval.
    They are NaN for one seed. Units are those of the table. ValueError names a column that is
    missing, or a seed that stands twice.
    """
    require_instance("trace", trace, pd.DataFrame)
    if trace.empty or "algorithm" not in trace:
        raise ValueError(f"trace: a table of pgpd_hf.run expected, got {shown(trace)}")
    for name in (*_KEYS[1:], "seed", *VALUES):
        if not pd.api.types.is_numeric_dtype(trace.get(name)):
            raise ValueError(f"trace: numbers expected in column {name!r}")
    twice = trace[trace.duplicated([*_KEYS, "seed"])]
    if len(twice):
        found = twice.iloc[0][[*_KEYS, "seed"]].to_dict()
        raise ValueError(f"trace: different seeds expected, got two rows with {found}")
    rows = []
    for name in trace["algorithm"].unique():
        part = trace[trace["algorithm"] == name].sort_values("seed", kind="stable")
        for key, group in part.groupby(_KEYS, dropna=False):
            row = dict(zip(_KEYS, key, strict=True)) | {"seeds": len(group)}
            for value in VALUES:
                ends = mean_interval(group[value].to_numpy())
                row |= dict(zip((value, f"{value}_low", f"{value}_high"), ends, strict=True))
            rows.append(row)
    table = pd.DataFrame(rows).astype({key: trace[key].dtype for key in _KEYS})
    if "label" in trace:
        table["label"] = table["algorithm"].map(trace.groupby("algorithm")["label"].first())
    table.attrs = dict(trace.attrs)
    return table


def mean_interval(samples: ArrayLike, level: float = LEVEL) -> tuple[float, float, float]:
    """Mean of samples (n,), and the ends of its t interval; they are NaN for one sample."""
    samples = np.asarray(samples, dtype=np.float64)
    mean, count = float(samples.mean()), len(samples)
    if count < 2:
        return mean, np.nan, np.nan
    quantile = float(special.stdtrit(count - 1, (1 + level) / 2))
    half = float(quantile * samples.std(ddof=1) / np.sqrt(count))
    return mean, mean - half, mean + half


def loglog_slope(positions, samples):
    """Slope of log means against log positions, and its 95 % percentile bootstrap interval.

    `samples` has an array for each position, such as a value for each seed; with 6 to 8 of them the
    interval covers about 90 %. The slope is NaN where a mean is not positive. The ends of the
    interval are NaN there, and where a position has one sample or a resampled mean is not positive.
    """
    logs = np.log(np.asarray(positions, dtype=np.float64))
    centred = logs - logs.mean()
    groups = [np.asarray(group, dtype=np.float64) for group in samples]

    def slope(means):
        positive = np.where(means > 0, means, np.nan)
        return np.log(positive) @ centred / (centred @ centred)

    estimate = float(slope(np.array([group.mean() for group in groups])))
    if not np.isfinite(estimate) or min(map(len, groups)) < 2:
        return estimate, np.nan, np.nan
    random = np.random.default_rng(0)
    draws = [group[random.integers(len(group), size=(2000, len(group)))] for group in groups]
    drawn = slope(np.stack([draw.mean(1) for draw in draws], axis=1))
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return estimate, float(low), float(high)
