"""Two experiments in one figure and one table of differences: `overlay.py paper mine`.

Differences are between ends of runs, second experiment minus first, with 95 % intervals. Where both
experiments draw the same random numbers, all numbers of the table are about the seeds that both
have run, and differences are paired by seed; elsewhere they are of two samples.
"""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from pgpd_hf import figures
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_json, read_table, read_traces, write_table

KEYS, RESULTS = ["algorithm", "evaluators"], Path("results")
COLUMNS = "metric paired first second first_seeds second_seeds difference low high".split()
LOOKS = "-", (0, (3, 1.5))  # the second experiment is dashed


def read(name):
    """Runs of an experiment, their means, both in the user's units, and its configuration."""
    folder = RESULTS / name
    if not (folder / "provenance.json").is_file():
        raise ValueError(f"{folder}: no finished experiment; make figures CONFIG=... makes it")
    config = read_json(folder / "provenance.json")["config"]
    units = read_json(folder / "optimum.json").get("units")
    curves = read_table(folder / "aggregate.csv")
    paths = []
    for algorithm, number, seeds in curves[[*KEYS, "seeds"]].drop_duplicates().to_numpy():
        number = "inf" if pd.isna(number) else number
        for first in range(0, seeds, 10):
            block = f"seeds{first:04d}-{min(first + 10, seeds) - 1:04d}"
            paths.append(folder / f"runs/{algorithm}/M{number}/{block}.csv")
    if not all(path.is_file() for path in paths):
        raise ValueError(f"{folder}: an interrupted experiment; make figures CONFIG=... goes on")
    return figures.in_units(read_traces(paths), units), figures.in_units(curves, units), config


def difference(first, second, paired):
    """Mean of second minus first, and the ends of its interval."""
    if paired:
        return mean_interval(second - first)
    mean = second.mean() - first.mean()
    if min(len(first), len(second)) < 2:
        return mean, float("nan"), float("nan")
    interval = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    return mean, interval.low, interval.high


def differences(traces, paired):
    """A row for each algorithm, M and metric that both experiments have."""
    ends = []
    for trace in traces:
        groups = trace.groupby(KEYS, dropna=False, sort=False)
        ends.append({key: group.groupby("seed").last() for key, group in groups})
    rows = []
    for key in [key for key in ends[0] if key in ends[1]]:
        pair = [runs[key] for runs in ends]
        if paired:
            common = pair[0].index.intersection(pair[1].index)
            pair = [runs.loc[common] for runs in pair]
        for metric in figures.METRICS:
            samples = [runs[metric] for runs in pair]
            means, counts = [it.mean() for it in samples], [len(it) for it in samples]
            rows.append((*key, metric, paired, *means, *counts, *difference(*samples, paired)))
    if not rows:
        raise ValueError("EXPERIMENTS: two that share an algorithm and an M expected")
    return pd.DataFrame(rows, columns=[*KEYS, *COLUMNS])


def draw(curves, names, algorithms):
    """Algorithms down, gap and violation across; second lines are dashed, their bands dotted."""
    with figures.styled():
        figure = Figure(figsize=(6.9, 2.4 * len(algorithms) + 0.6))
        grid = figure.subplots(len(algorithms), len(figures.METRICS), squeeze=False)
        panels = zip(product(algorithms, figures.METRICS), grid.flat, strict=True)
        lines, labels = {}, figures.algorithm_labels(pd.concat(curves))
        for (algorithm, metric), axes in panels:
            for table, name, look in zip(curves, names, LOOKS, strict=True):
                table = table[table["algorithm"] == algorithm]
                for number, curve in table.groupby("evaluators", dropna=False):
                    x, color = curve["iteration"], figures.evaluators_color(number)
                    band = [curve[f"{metric}_{end}"] for end in ("low", "high")]
                    if look == LOOKS[0]:
                        axes.fill_between(x, *band, color=color, alpha=0.15, linewidth=0)
                    else:
                        axes.plot(x, np.transpose(band), color=color, linestyle=":", linewidth=0.7)
                    label = f"{figures.evaluators_label(number)}, {name}"
                    lines[label] = axes.plot(x, curve[metric], color=color, linestyle=look)[0]
            axes.axhline(0, color="0.3", linewidth=0.8)
            title = f"{labels[algorithm]}: {metric.replace('_', ' ')}"
            ylabel = " or ".join(sorted({figures.metric_label(it, metric) for it in curves}))
            axes.set(xlabel="iteration", ylabel=ylabel, title=title)
        told = "intervals are shaded, and dotted for the second experiment"
        figure.legend(lines.values(), lines, ncols=2, loc="outside upper center", title=told)
    return figure


def main():
    names = sys.argv[1:]
    if len(names) != 2:
        told = "two names of experiments, as in results/, expected"
        raise ValueError(f"EXPERIMENTS: {told}, got {' '.join(names)!r}")
    traces, curves, configs = zip(*map(read, names), strict=True)
    first, second = (pd.json_normalize(config).iloc[0].to_dict() for config in configs)
    table = differences(traces, paired=first["purpose"] == second["purpose"])
    folder, title = RESULTS / "overlay", "-".join(names)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(table, folder / f"{title}.csv")
    figures.save(draw(curves, names, table["algorithm"].unique()), folder, title)
    table["M"] = table["evaluators"].astype(object).fillna("inf")
    shown = table[["algorithm", "M", "metric", "first", "second", "difference", "low", "high"]]
    shown = shown.rename(columns={"first": names[0], "second": names[1]})
    print(shown.to_string(index=False, float_format="{:+.4f}".format, na_rep="none"))
    keys = (first | second).keys() - {"name"}
    differing = sorted(key for key in keys if first.get(key) != second.get(key))
    told = [f"  {key}: {first.get(key)}, {second.get(key)}" for key in differing]
    count = table["first_seeds"].min()
    seeds = f", over the {count} seeds that both have" if table["paired"].all() else ""
    print(f"\nEnds of runs{seeds}. Differences: {names[1]} minus {names[0]}, 95 % intervals.")
    print("Keys that differ:", *(told or ["  none"]), sep="\n")
    if configs[0]["environment"] != configs[1]["environment"]:
        print("Gaps and violations in different environments can hardly be compared.")
    print(f"{folder}/{title}.csv, .pdf, .svg and .png")


if __name__ == "__main__":
    with one_line():
        main()
