r"""Rates in T, measured: averages over runs of different lengths, and their slopes.

Both theorems bound averages over the first T iterates, :math:`\frac1T\sum_{t<T}(V_r^\star -
V_r^{(t)})` and :math:`[b - \frac1T\sum_{t<T} V_g^{(t)}]_+`, for step sizes that depend on T; a rate
is therefore measured with fresh runs for each T.
"""

import pandas as pd

from pgpd_hf.statistics import loglog_slope, mean_interval

METRICS = ("gap", "violation")
PROMISED = {"npgpd_hf": -1 / 2, "zpgpd_hf": -1 / 4}  # exponents of Theorems 1 and 2
_RUNS = ["algorithm", "step_rule", "crowd"]


def final_averages(traces):
    """Averages over the first T iterates of each run of a sweep.

    Parameters
    ----------
    traces : pandas.DataFrame
        Rows of runs, with the columns `iterations` (T) and `step_rule`.

    Returns
    -------
    pandas.DataFrame
        A row per run: algorithm, step_rule, crowd (M as text, "inf" for infinitely many),
        iterations, seed, gap (signed) and violation (its positive part).
    """
    # The average over iterates 0..T-1 stands at iteration T - 1.
    last = traces[traces["iteration"] == traces["iterations"] - 1]
    table = last[["algorithm", "step_rule", "iterations", "seed"]].copy()
    table.insert(2, "crowd", last["evaluators"].astype("string").fillna("inf").astype(str))
    table["gap"] = last["mean_optimality_gap"]
    table["violation"] = last["mean_constraint_violation"].clip(lower=0)
    return table.reset_index(drop=True)


def mean_averages(averages):
    """Reduce final averages over seeds.

    Parameters
    ----------
    averages : pandas.DataFrame
        Made by :func:`final_averages`.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, step_rule, crowd, T and metric: mean, low, high.
    """
    rows = []
    for key, group in averages.groupby([*_RUNS, "iterations"], sort=False):
        for metric in METRICS:
            rows.append((*key, metric, *mean_interval(group[metric])))
    return pd.DataFrame(rows, columns=[*_RUNS, "iterations", "metric", "mean", "low", "high"])


def slopes(averages):
    """Slopes of log mean average against log T.

    Parameters
    ----------
    averages : pandas.DataFrame
        Made by :func:`final_averages`.

    Returns
    -------
    pandas.DataFrame
        A row per algorithm, step_rule, crowd and metric: slope, low and high (95 % bootstrap
        interval over seeds; NaN where a mean is not positive), and the promised exponent.
    """
    rows = []
    for key, group in averages.groupby(_RUNS, sort=False):
        lengths = sorted(group["iterations"].unique())
        for metric in METRICS:
            samples = [group.loc[group["iterations"] == T, metric].to_numpy() for T in lengths]
            rows.append((*key, metric, *loglog_slope(lengths, samples), PROMISED.get(key[0])))
    return pd.DataFrame(rows, columns=[*_RUNS, "metric", "slope", "low", "high", "promised"])
