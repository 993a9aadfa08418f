"""Two experiments in one figure and one table of differences: `overlay.py paper mine`.

Differences are between ends of runs, second experiment minus first, with 95 % intervals. Where both
experiments draw the same random numbers, all numbers of the table are about the seeds that both
have run, and differences are paired by seed; elsewhere they are of two samples.
"""

import sys
from itertools import product
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from pgpd_hf import figures
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_json, read_table, read_traces, write_table

KEYS, RESULTS = ["algorithm", "evaluators"], Path("results")
COLUMNS = "metric paired first second first_seeds second_seeds difference low high".split()


def read(name):
    """Ends of runs of an experiment, means of all its runs, and its configuration."""
    folder = RESULTS / name
    if not (folder / "provenance.json").is_file():
        raise ValueError(f"{folder}: no finished experiment; make figures CONFIG=... makes it")
    curves, paths = read_table(folder / "aggregate.csv"), []
    for algorithm, number, seeds in curves[[*KEYS, "seeds"]].drop_duplicates().to_numpy():
        number = "inf" if pd.isna(number) else number
        for first in range(0, seeds, 10):
            block = f"seeds{first:04d}-{min(first + 10, seeds) - 1:04d}"
            paths.append(folder / f"runs/{algorithm}/M{number}/{block}.csv")
    if not all(path.is_file() for path in paths):
        raise ValueError(f"{folder}: an interrupted experiment; make figures CONFIG=... goes on")
    ends = read_traces(paths).groupby([*KEYS, "seed"], dropna=False, sort=False).last()
    units = read_json(folder / "optimum.json").get("units")
    config = read_json(folder / "provenance.json")["config"]
    return figures.in_units(ends, units), figures.in_units(curves, units), config


def difference(first, second, paired):
    """Mean of second minus first, and the ends of its interval."""
    if paired:
        return mean_interval(second - first)
    mean = second.mean() - first.mean()
    if min(len(first), len(second)) < 2:
        return mean, float("nan"), float("nan")
    interval = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    return mean, interval.low, interval.high


def differences(ends, paired):
    """A row for each algorithm, M and metric that both experiments have."""
    groups = [dict([*table.groupby(KEYS, dropna=False, sort=False)]) for table in ends]
    rows = []
    for key in [key for key in groups[0] if key in groups[1]]:
        pair = [of_experiment[key].droplevel(KEYS) for of_experiment in groups]
        if paired:
            common = pair[0].index.intersection(pair[1].index)
            pair = [runs.loc[common] for runs in pair]
        for metric in figures.METRICS:
            first, second = (runs[metric] for runs in pair)
            told = first.mean(), second.mean(), len(first), len(second)
            rows.append((*key, metric, paired, *told, *difference(first, second, paired)))
    if not rows:
        have = [", ".join(f"{name} {number}" for name, number in group) for group in groups]
        told = f"got {have[0]} in the first, {have[1]} in the second".replace("<NA>", "inf")
        raise ValueError(f"EXPERIMENTS: two that share an algorithm and an M expected, {told}")
    return pd.DataFrame(rows, columns=[*KEYS, *COLUMNS])


def draw(curves, names, algorithms):
    """Algorithms down, gap and violation across; the second experiment is dashed."""
    labels, lines = figures.algorithm_labels(pd.concat(curves)), {}
    with figures.styled():
        figure = Figure(figsize=(6.9, 2.4 * len(algorithms) + 0.6))
        grid = figure.subplots(len(algorithms), len(figures.METRICS), squeeze=False)
        panels = product(algorithms, figures.METRICS)
        for (algorithm, metric), axes in zip(panels, grid.flat, strict=True):
            for table, name, style in zip(curves, names, ["-", "--"], strict=True):
                table = table[table["algorithm"] == algorithm]
                for number, curve in table.groupby("evaluators", dropna=False):
                    x, color = curve["iteration"], figures.evaluators_color(number)
                    band = curve[f"{metric}_low"], curve[f"{metric}_high"]
                    axes.fill_between(x, *band, color=color, alpha=0.15, linewidth=0)
                    label = f"{figures.evaluators_label(number)}, {name}"
                    end = {"marker": "o", "markevery": [-1]}
                    lines[label] = axes.plot(x, curve[metric], style, color=color, **end)[0]
            axes.axhline(0, color="0.3", linewidth=0.8)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            title = f"{labels[algorithm]}: {metric.replace('_', ' ')}"
            ylabel = " or ".join(sorted({figures.metric_label(it, metric) for it in curves}))
            axes.set(xlabel="iteration", ylabel=ylabel, title=title)
        figure.legend(lines.values(), lines, ncols=2, loc="outside upper center")
    return figure


def settings(config, algorithms):
    """Settings of runs of some algorithms, by key."""
    kept = {key: config[key] for key in ("environment", "horizon", "link", "purpose")}
    kept["algorithms"] = {name: config["algorithms"][name] for name in algorithms}
    return pd.json_normalize(kept).iloc[0].to_dict()


def main():
    names = sys.argv[1:]
    if len(names) != 2:
        told = "two names of experiments, as in results/, expected"
        raise ValueError(f"EXPERIMENTS: {told}, got {' '.join(names)!r}")
    ends, curves, configs = zip(*map(read, names), strict=True)
    table = differences(ends, paired=configs[0]["purpose"] == configs[1]["purpose"])
    algorithms = table["algorithm"].unique()
    folder, title = RESULTS / "overlay", "-".join(names)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(table, folder / f"{title}.csv")
    figures.save(draw(curves, names, algorithms), folder, title)
    table["M"] = table["evaluators"].astype(object).fillna("inf")
    shown = table[["algorithm", "M", "metric", "first", "second", "difference", "low", "high"]]
    shown = shown.rename(columns={"first": names[0], "second": names[1]})
    print(shown.to_string(index=False, float_format="{:+.4f}".format, na_rep="none"))
    count = table["first_seeds"].max()
    seeds = f", over the {count} seeds that both have" if table["paired"].all() else ""
    print(f"\nEnds of runs{seeds}. Differences: {names[1]} minus {names[0]}, 95 % intervals.")
    first, second = (settings(config, algorithms) for config in configs)
    differing = sorted(key for key in first | second if first.get(key) != second.get(key))
    told = [f"  {key}: {first.get(key)}, {second.get(key)}" for key in differing]
    print("Settings that differ:", *(told or ["  none"]), sep="\n")
    if alone := {*configs[0]["algorithms"]} ^ {*configs[1]["algorithms"]}:
        print(f"In one of the two only, and left out: {', '.join(sorted(alone))}.")
    if configs[0]["environment"] != configs[1]["environment"]:
        print("Gaps and violations in different environments can hardly be compared.")
    if any(key.endswith(".iterations") for key in differing):
        print("T differs: each run is compared where it ends.")
    print(f"{folder}/{title}.csv, .pdf, .svg and .png")


if __name__ == "__main__":
    with one_line():
        main()
