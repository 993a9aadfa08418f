"""Two experiments in one figure and one table of differences: `overlay.py paper mine`.

Differences are between ends of runs, second experiment minus first, with 95 % intervals. Where both
experiments draw the same random numbers, all numbers and curves are about the seeds that both have
run, and differences are paired by seed; elsewhere they are of two samples.
"""

import json
import sys
from itertools import product
from pathlib import Path

import pandas as pd
from matplotlib import ticker
from matplotlib.figure import Figure
from scipy import stats

from pgpd_hf import aggregate, figures
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_json, read_traces, run_paths, write_table

KEYS, RESULTS = ["algorithm", "evaluators"], Path("results")
COLUMNS = "metric paired first second first_seeds second_seeds difference low high".split()


def read(name):
    """Runs of an experiment, its optimum and configuration, and bytes of its environment."""
    folder = RESULTS / name
    if not (folder / "provenance.json").is_file():
        raise ValueError(f"EXPERIMENTS: names of finished experiments expected, got {name!r}")
    traces, optimum = read_traces([*run_paths(folder)]), read_json(folder / "optimum.json")
    config = read_json(folder / "provenance.json")["config"]
    return traces, optimum, config, (folder / "environment.npz").read_bytes()


def means(traces, optimum):
    """Curves with bands of values that a policy can have, in stored units."""
    curves = aggregate(traces)
    for metric, limits in figures.possible(optimum | {"units": None}).items():
        bands = [f"{metric}_low", f"{metric}_high"]
        curves[bands] = curves[bands].clip(*limits)
    return curves


def differences(traces, paired):
    """A row for each algorithm, M and metric that both experiments have."""
    ends = [it.groupby([*KEYS, "seed"], dropna=False, sort=False).last() for it in traces]
    groups = [dict([*table.groupby(KEYS, dropna=False, sort=False)]) for table in ends]
    rows = []
    for key, metric in product(groups[0], figures.METRICS):
        if key not in groups[1]:
            continue
        first, second = (group[key][metric].droplevel(KEYS) for group in groups)
        if paired:
            difference = mean_interval(second - first)
        else:
            test = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
            difference = second.mean() - first.mean(), test.low, test.high
        told = first.mean(), second.mean(), len(first), len(second)
        rows.append((*key, metric, paired, *told, *difference))
    if not rows:
        raise ValueError("EXPERIMENTS: two that share an algorithm and an M expected")
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
            axes.xaxis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))
            axes.xaxis.set_major_formatter("{x:,.0f}")
            shown = pd.concat([it[it["algorithm"] == algorithm] for it in curves])
            axes.set_ylim(*figures.limits(shown, metric))
            title = f"{labels[algorithm]}: {metric.replace('_', ' ')}"
            ylabel = figures.metric_label(curves[0], metric).strip("()")
            axes.set(xlabel="iteration", ylabel=ylabel, title=title)
        figure.legend(lines.values(), lines, ncols=2, loc="outside upper center")
    return figure


def main():
    names = sys.argv[1:]
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"EXPERIMENTS: two different names expected, got {' '.join(names)!r}")
    traces, optima, configs, environments = zip(*map(read, names), strict=True)
    paired = configs[0]["purpose"] == configs[1]["purpose"]
    if paired:
        both = {*traces[0]["seed"]} & {*traces[1]["seed"]}
        traces = [it[it["seed"].isin(both)] for it in traces]
    units = [it.get("units") for it in optima]
    if stored := None in units:
        units = [None, None]
    curves = [means(*it) for it in zip(traces, optima, strict=True)]
    curves = [figures.in_units(*it) for it in zip(curves, units, strict=True)]
    table = differences([figures.in_units(*it) for it in zip(traces, units, strict=True)], paired)
    folder, title = RESULTS / "overlay", "-".join(names)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(table, folder / f"{title}.csv")
    figures.save(draw(curves, names, table["algorithm"].unique()), folder, title)
    table["M"] = table["evaluators"].astype(object).fillna("inf")
    shown = table[["algorithm", "M", "metric", "first", "second", "difference", "low", "high"]]
    shown = shown.rename(columns={"first": names[0], "second": names[1]})
    print(shown.to_string(index=False, float_format="{:+.4f}".format, na_rep="none"))
    seeds = table["first_seeds"].max()
    same = f", over seeds that both have ({seeds})" if paired else ""
    print(f"\nEnds of runs{same}. Differences: {names[1]} minus {names[0]}, 95 % intervals.")
    told = "in stored units" if stored else "in units of the reward and of the cost"
    print(f"Gaps and violations are {told}.")
    if environments[0] != environments[1]:
        print("Environments differ: each has its own best policy and threshold (in stored units):")
        for key in ("reward_value", "threshold"):
            print(f"  {key}:", ", ".join(f"{it[key]:.4g}" for it in optima))
    print("Settings that differ:")
    first, second = (pd.json_normalize(config).iloc[0].to_dict() for config in configs)
    for key in sorted({*first, *second} - {"name"}):
        if first.get(key) != second.get(key):
            both = (json.dumps(it[key]) if key in it else "-" for it in (first, second))
            print(f"  {key}: {', '.join(both)}")
    print(f"{folder}/{title}.csv, .pdf, .svg and .png")


if __name__ == "__main__":
    with one_line():
        main()
