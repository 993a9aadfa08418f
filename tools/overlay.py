"""Two experiments in one figure and one table of differences: `overlay.py paper mine`.

Differences are between ends of runs, second experiment minus first, with 95 % intervals. Where both
experiments draw the same random numbers, all numbers and curves are about the seeds that both have
run, and differences are paired by seed; elsewhere they are of two samples.
"""

import json
import sys
from contextlib import suppress
from hashlib import sha256
from itertools import product, zip_longest
from pathlib import Path

import pandas as pd
from matplotlib import ticker
from matplotlib.figure import Figure
from scipy import stats

from pgpd_hf import CMDP, aggregate, figures
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_json, read_traces, run_paths, write_table

KEYS, RESULTS = ["algorithm", "evaluators"], Path("results")
COLUMNS = "metric paired first second first_seeds second_seeds difference low high".split()
LOOKS = ("-o", "#1b5e7d"), ("--o", "#c2571a")


def read(name):
    """Runs of an experiment, its optimum, configuration and environment."""
    folder, found = RESULTS / name, b""
    record = read_json(folder / "provenance.json")
    with suppress(FileNotFoundError):  # of a run that was interrupted, or failed
        traces, optimum = read_traces([*run_paths(folder)]), read_json(folder / "optimum.json")
        found = aggregate(traces).to_csv(index=False, lineterminator="\n").encode()
    if sha256(found).hexdigest() != record.get("aggregate"):
        raise ValueError(f"{name}: changed since make figures has finished it; run it again")
    return traces, optimum, record["config"], CMDP.load(folder / "environment.npz")


def means(traces, optimum):
    """Curves with bands of values that a policy can have, in stored units."""
    curves = aggregate(traces)
    for metric, limits in figures.possible(optimum | {"units": None}).items():
        bands = [f"{metric}_low", f"{metric}_high"]
        curves[bands] = curves[bands].clip(*limits)
    return curves


def by_key(table):
    """Rows of a table, by algorithm and M."""
    return dict([*table.groupby(KEYS, dropna=False, sort=False)])


def differences(traces, paired):
    """A row for each algorithm, M and metric that both experiments have."""
    ends = [it.groupby([*KEYS, "seed"], dropna=False, sort=False).last() for it in traces]
    firsts, seconds = map(by_key, ends)
    rows = []
    for key, metric in product(firsts, figures.METRICS):
        if key not in seconds:
            continue
        first, second = (it[key][metric].droplevel(KEYS) for it in (firsts, seconds))
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


def signed(number):
    """A number as text, with its sign and three digits, or none behind the point."""
    return f"{number:+.3g}" if abs(number) < 1000 else f"{number:+,.0f}"


def draw(curves, names, table):
    """A panel for each row of the table: M across, gap and violation of each algorithm down."""
    labels, tables = figures.algorithm_labels(pd.concat(curves)), [*map(by_key, curves)]
    kinds = dict([*table.groupby(["algorithm", "metric"], sort=False)])
    columns = max(map(len, kinds.values()))
    with figures.styled():
        figure = Figure(figsize=(max(4.2, 0.5 + 2.3 * columns), 0.5 + 1.9 * len(kinds)))
        grid = figure.subplots(len(kinds), columns, squeeze=False)
        pairs = zip(grid, kinds.values(), strict=True)
        panels = [pair for axes, rows in pairs for pair in zip_longest(axes, rows.itertuples())]
        for axes, row in panels:
            axes.set_visible(row is not None)
            if row is None:
                continue
            algorithm, metric, M = row.algorithm, row.metric, row.evaluators
            pair = [it[algorithm, M] for it in tables]
            for curve, name, (style, color) in zip(pair, names, LOOKS, strict=True):
                x, band = curve["iteration"], (curve[f"{metric}_low"], curve[f"{metric}_high"])
                axes.fill_between(x, *band, color=color, alpha=0.2, linewidth=0)
                axes.plot(x, curve[metric], style, color=color, label=name, markevery=[-1])
            axes.axhline(0, color="0.3", linewidth=0.8)
            axes.xaxis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.set_ylim(*figures.limits(pd.concat(pair), metric))
            label = f"{metric.replace('_', ' ')} {figures.metric_label(curves[0], metric)}"
            axes.set_ylabel(label, fontsize=7)
            interval = f" [{signed(row.low)}, {signed(row.high)}]" if pd.notna(row.low) else ""
            found = f"{signed(row.difference)}{interval}".replace("-", "\N{MINUS SIGN}")
            axes.set_title(f"{labels[algorithm]}, {figures.evaluators_label(M)}\n{found}")
        figure.supxlabel("iteration", fontsize=8)
        lines, _ = grid[0, 0].get_legend_handles_labels()
        seeds = table["first_seeds"].max(), table["second_seeds"].max()
        labels = [f"{name} (seeds: {number})" for name, number in zip(names, seeds, strict=True)]
        title = f"in titles {names[1]} minus {names[0]}, each at its end; brackets, bands: 95 %"
        how = {"title": title, "ncols": 2, "loc": "outside upper center", "handlelength": 3}
        figure.legend(lines, labels, **how)
    return figure


def shared(config, other):
    """Settings of what is compared: without rates, and algorithms that only one experiment has."""
    algorithms = {
        name: it for name, it in config["algorithms"].items() if name in other["algorithms"]
    }
    settings = {key: it for key, it in config.items() if key not in ("name", "rates")}
    return pd.json_normalize(settings | {"algorithms": algorithms}).iloc[0].to_dict()


def say_differences(table, names, paired, units, environments):
    """Print the table, and what its numbers are."""
    table = table.assign(M=table["evaluators"].astype(object).fillna("inf"))
    columns = ["algorithm", "M", "metric", "first", "second", "difference", "low", "high"]
    shown = table[columns].rename(columns={"first": names[0], "second": names[1]})
    print(shown.to_string(index=False, float_format=signed, na_rep="none"))
    seeds = f"{table['first_seeds'].max()} and {table['second_seeds'].max()} seeds, not paired"
    if paired:
        seeds = f"paired by seed, {table['first_seeds'].max()} that both have"
    print(f"\nEnds of runs: {names[1]} minus {names[0]}, 95 % intervals; {seeds}.")
    if None not in units:
        print("Gaps and violations are in units of the reward and of the cost.")
    elif any(it.units for it in environments):
        print("Gaps and violations are in stored units, since one experiment has no others.")
    if table["low"].isna().any():
        print("none: a single run, of an exact algorithm or one seed, has no interval.")


def say_settings(names, traces, optima, configs, environments, units):
    """Print what only one experiment has, and what differs."""
    for name, runs, others in zip(names, traces, traces[::-1], strict=True):
        if missing := [key for key in by_key(runs) if key not in by_key(others)]:
            listed = (f"{it} with M = {'inf' if pd.isna(M) else M}" for it, M in missing)
            print(f"Only in {name}: {', '.join(listed)}")
    files = [(RESULTS / name / "environment.npz").read_bytes() for name in names]
    if files[0] != files[1]:
        print("Environments differ:")
        for name, cmdp, optimum in zip(names, environments, optima, strict=True):
            best = optimum["reward_value"]
            if None not in units:
                best, _ = cmdp.in_units(best, 0.0)
            print(f"  {name}: {cmdp}; best safe reward {best:.4g}")
    first, second = shared(*configs), shared(*configs[::-1])
    keys = [it for it in sorted({*first, *second}) if first.get(it) != second.get(it)]
    print("Settings that differ:" if keys else "No settings differ.")
    for key in keys:
        both = (json.dumps(it[key]) if key in it else "-" for it in (first, second))
        print(f"  {key}: {', '.join(both)}")


def main():
    names = " ".join(sys.argv[1:]).split()
    finished = sorted(path.parent.name for path in RESULTS.glob("*/provenance.json"))
    if len(names) != 2 or len({*names} & {*finished}) != 2:
        known = ", ".join(finished) or "none yet"
        two = f"two different names of those that make figures has finished ({known})"
        raise ValueError(f"EXPERIMENTS: {two} expected, got {' '.join(names)!r}")
    traces, optima, configs, environments = zip(*map(read, names), strict=True)
    paired = configs[0]["purpose"] == configs[1]["purpose"]
    if paired:
        both = {*traces[0]["seed"]} & {*traces[1]["seed"]}
        traces = [it[it["seed"].isin(both)] for it in traces]
    units = [it.units for it in environments]
    if None in units:
        units = [None, None]
    curves = [means(*it) for it in zip(traces, optima, strict=True)]
    curves = [figures.in_units(*it) for it in zip(curves, units, strict=True)]
    table = differences([figures.in_units(*it) for it in zip(traces, units, strict=True)], paired)
    folder, title = RESULTS / "overlay", "-".join(names)
    folder.mkdir(parents=True, exist_ok=True)
    write_table(table, folder / f"{title}.csv")
    figures.save(draw(curves, names, table), folder, title)
    say_differences(table, names, paired, units, environments)
    say_settings(names, traces, optima, configs, environments, units)
    print(f"{folder}/{title}.csv, .pdf, .svg and .png")


if __name__ == "__main__":
    with one_line():
        main()
