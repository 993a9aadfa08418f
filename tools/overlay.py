"""Two experiments in one figure and one table of differences: `overlay.py paper mine`.

Differences are between ends of runs, second experiment minus first, with 95 % intervals: paired by
seed where both experiments draw the same random numbers, and of two samples elsewhere.
"""

import argparse
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure
from scipy import stats

from pgpd_hf import aggregate
from pgpd_hf.figures import (
    METRICS,
    algorithm_label,
    evaluators_color,
    evaluators_label,
    save,
    styled,
)
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_json, read_traces, write_table

KEYS = ["algorithm", "evaluators"]


def read(name):
    """Runs of an experiment, and its configuration."""
    folder = Path("results", name)
    if not (folder / "provenance.json").is_file():
        raise ValueError(f"{folder}: no finished experiment; make figures CONFIG=... makes it")
    config = read_json(folder / "provenance.json")["config"]
    paths = [
        path
        for algorithm in config["algorithms"]
        for path in sorted(folder.glob(f"runs/{algorithm}/M*/seeds*.csv"))
        if int(path.stem.split("-")[1]) < config["seeds"]
    ]
    return read_traces(paths), config


def difference(first, second, paired):
    """Mean of second minus first, and the ends of its interval."""
    if paired:
        return mean_interval((second - first).dropna())
    if min(len(first), len(second)) < 2:
        return second.mean() - first.mean(), float("nan"), float("nan")
    interval = stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    return second.mean() - first.mean(), interval.low, interval.high


def differences(traces, paired):
    """A row for each algorithm, M and metric that both experiments have."""
    ends = [
        {key: group.groupby("seed").last() for key, group in trace.groupby(KEYS, dropna=False)}
        for trace in traces
    ]
    rows = []
    for (algorithm, evaluators), first in ends[0].items():
        second = ends[1].get((algorithm, evaluators))
        for metric in METRICS if second is not None else ():
            means = first[metric].mean(), second[metric].mean()
            row = (algorithm, evaluators, metric, *means, paired)
            rows.append((*row, *difference(first[metric], second[metric], paired)))
    if not rows:
        raise ValueError("EXPERIMENTS: two that share an algorithm and an M expected")
    columns = [*KEYS, "metric", "first", "second", "paired", "difference", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def draw(axes, table, metric, look):
    """A curve with its band for each M."""
    for number, curve in table.groupby("evaluators", dropna=False):
        band = (curve[f"{metric}_{end}"] for end in ("low", "high"))
        color = evaluators_color(number)
        axes.fill_between(curve["iteration"], *band, color=color, alpha=0.15, linewidth=0)
        label = evaluators_label(number) if look == "-" else None
        axes.plot(curve["iteration"], curve[metric], color=color, linestyle=look, label=label)


def figure(curves, names, algorithms):
    """Algorithms down, gap and violation across; the second experiment is dashed."""
    with styled():
        drawing = Figure(figsize=(6.9, 2.4 * len(algorithms) + 0.3))
        grid = drawing.subplots(len(algorithms), len(METRICS), squeeze=False)
        for algorithm, row in zip(algorithms, grid, strict=True):
            for (metric, symbol), axes in zip(METRICS.items(), row, strict=True):
                for table, look in zip(curves, ("-", (0, (3, 1.5))), strict=True):
                    draw(axes, table[table["algorithm"] == algorithm], metric, look)
                axes.axhline(0, color="0.3", linewidth=0.8)
                axes.set(xlabel="iteration", ylabel=symbol)
                axes.set_title(f"{algorithm_label(algorithm)}: {metric.replace('_', ' ')}")
        looks = [grid[0, 0].plot([], [], color="0.3", linestyle=it)[0] for it in ("-", "--")]
        curves, numbers = grid[0, 0].get_legend_handles_labels()
        legend = dict(zip(numbers, curves, strict=True)) | dict(zip(names, looks, strict=True))
        drawing.legend(legend.values(), legend, ncols=5, loc="outside upper center")
    return drawing


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("experiments", nargs=2, metavar="NAME")
    names = parser.parse_args().experiments
    with one_line():
        traces, configs = zip(*map(read, names), strict=True)
        paired = configs[0]["purpose"] == configs[1]["purpose"]
        table = differences(traces, paired)
        folder = Path("results/overlay")
        folder.mkdir(parents=True, exist_ok=True)
        title = "-".join(names)
        write_table(table, folder / f"{title}.csv")
        algorithms = [*dict.fromkeys(table["algorithm"])]
        save(figure([*map(aggregate, traces)], names, algorithms), folder, title)
        print(table.to_string(index=False, float_format="{:+.4f}".format, na_rep="inf"))
        print(f"\n{folder}/{title}.csv, .pdf, .svg and .png")
