r"""Slopes and means from runs of sweeps, beside the theorems' exponents, and means of schedules.

The Lagrangian gap is :math:`V_r^\star - V_r + \lambda^\star (b - V_g)`: gap and violation at the
price of the optimal multiplier. It is never negative, and zero exactly where the Lagrangian at
:math:`\lambda^\star` is largest; so slopes on logarithmic axes can be fitted to it.
"""

import argparse

import numpy as np
import pandas as pd
from effects.sweeps import LIMITS
from scipy import stats

from pgpd_hf.statistics import LEVEL, loglog_slope, mean_interval
from pgpd_hf.tables import one_line, read_traces, write_table
from pgpd_hf.theory import RATES

METRICS = ("gap", "violation", "lagrangian_gap")
CURVE = ["sweep", "algorithm", "curve"]
COSTS = ["answers", "env_steps"]  # the same for all seeds
LONGEST = 40  # of H, where noise does not yet hide the bias


def mean_table(runs, keys, metrics):
    """Means over seeds with their intervals: a row for each key and metric."""
    rows = []
    for key, group in runs.groupby(keys, sort=False, dropna=False):
        for metric in metrics:
            ends = dict(zip(("mean", "low", "high"), mean_interval(group[metric]), strict=True))
            rows.append({**dict(zip(keys, key, strict=True)), "metric": metric, **ends})
            rows[-1]["seeds"] = len(group)
    return pd.DataFrame(rows)


def excess(runs, exact, keys):
    """Subtract from each other run the `exact` one with the same algorithm, seed and keys."""
    keys = ["algorithm", "seed", *keys]
    both = runs[~exact].merge(runs.loc[exact, [*keys, *METRICS]], on=keys, suffixes=("", "_exact"))
    return both.assign(**{name: both[name] - both[f"{name}_exact"] for name in METRICS})


def parts(runs, discount):
    """Runs whose slope is fitted: quantity, rows, metric, and function of what varies.

    Slopes are against T, M and N themselves, and against gamma^-H.
    """
    of = {name: group for name, group in runs.groupby("sweep")}
    votes = of["evaluators"][of["evaluators"]["curve"] != "μ = theorem"]
    votes = excess(votes, np.isinf(votes["value"]), ["curve"])
    exact = of["rounds"]["curve"] == "M = ∞"
    rounds = excess(of["rounds"], exact, ["value"])
    short = of["horizon"][of["horizon"]["value"] <= LONGEST]
    own, M = "average over T", "excess over M = ∞"

    for name in ("iterations", "corollary"):
        yield from ((own, of[name], metric, float) for metric in METRICS)
    yield f"{M}, M ≥ 16", votes[votes["value"] >= 16], "lagrangian_gap", float
    yield M, rounds, "lagrangian_gap", float
    yield "M = ∞", of["rounds"][exact], "lagrangian_gap", float
    negative = short.assign(safety=-short["violation"])
    yield f"-violation, H ≤ {LONGEST}", negative, "safety", lambda H: discount**-H


def promised(sweep, algorithm, values):
    """Exponent of the term in the theorem of the algorithm, or of that whose limit it is."""
    name = LIMITS.get(algorithm, algorithm)
    if sweep in ("iterations", "corollary"):
        return RATES[name]
    if sweep == "evaluators":  # sqrt(log M / M), which is no power, at the same places
        return loglog_slope(values, [[np.sqrt(np.log(m) / m)] for m in values])[0]
    if sweep == "horizon":
        return -1.0 if name == "npgpd_hf" else -0.5
    return np.nan  # N is in constants alone


def slope_table(runs, discount):
    """Slopes with their intervals, beside the theorems' exponents."""
    rows = []
    for quantity, part, metric, scale in parts(runs, discount):
        part = part[part["value"] < np.inf]
        for key, group in part.groupby(CURVE, sort=False, dropna=False):
            values = sorted(group["value"].unique())
            samples = [group.loc[group["value"] == it, metric].to_numpy() for it in values]
            slope, low, high = loglog_slope([scale(it) for it in values], samples)
            row = dict(zip(CURVE, key, strict=True)) | {"quantity": quantity, "metric": metric}
            row |= {"slope": slope, "low": low, "high": high}
            row |= {"theorem": promised(*key[:2], values), "seeds": min(map(len, samples))}
            rows.append(row)
    return pd.DataFrame(rows)


def compare(runs):
    """Means of outcomes, and differences from the first schedule with Welch's intervals."""
    metrics = [*METRICS, *(f"late_{name}" for name in METRICS)]
    table = mean_table(runs, ["algorithm", "schedule"], metrics)
    groups, first = dict(iter(runs.groupby(["algorithm", "schedule"]))), runs["schedule"].iloc[0]
    for place, row in table[table["schedule"] != first].iterrows():
        both = [groups[row["algorithm"], name][row["metric"]] for name in (row["schedule"], first)]
        ends = stats.ttest_ind(*both, equal_var=False).confidence_interval(LEVEL)
        table.loc[place, ["difference", "difference_low", "difference_high"]] = (
            both[0].mean() - both[1].mean(),
            *ends,
        )
    return table


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--discount", required=True, type=float)
    parser.add_argument("--runs", required=True, nargs="+", help="CSV files of sweeps")
    parser.add_argument("--schedules", required=True, nargs="+", help="CSV files of schedules")
    parser.add_argument("--tables", required=True, nargs=3, help="CSV files that are written")
    options = parser.parse_args()
    with one_line():
        runs, schedules = read_traces(options.runs), read_traces(options.schedules)
        tables = (
            slope_table(runs, options.discount),
            mean_table(runs, [*CURVE, "axis", "value", *COSTS], METRICS),
            compare(schedules),
        )
        for table, path in zip(tables, options.tables, strict=True):
            write_table(table, path)
