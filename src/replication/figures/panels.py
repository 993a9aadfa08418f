"""The panels of the paper's figure, one by one and together."""

import itertools
import string

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from pgpd_hf.algorithms import get_algorithm
from replication.figures import style

METRIC_LABELS = {
    "optimality_gap": r"optimality gap  $V_r^\star - V_r$",
    "constraint_violation": r"constraint violation  $b - V_g$",
}
_AVERAGE = {"linewidth": 0.8, "linestyle": (0, (4, 2))}  # lines of running averages


def draw_panel(axes, aggregate, algorithm, metric, scale="linear"):
    """Draw one panel: a metric against iterations, one curve per number of evaluators."""
    # The solid line is the iterate's value with its interval over seeds, the dashed one the running
    # average, which the theorems bound. Zero is the optimum, or the threshold.
    table = aggregate[aggregate["algorithm"] == algorithm]
    curves = [curve for _, curve in table.groupby("evaluators", dropna=False, sort=False)]
    for index, curve in enumerate(curves):
        color = style.evaluators_color(curve["evaluators"].iloc[0])
        x = curve["iteration"].to_numpy()
        style.band(axes, x, curve[f"{metric}_low"], curve[f"{metric}_high"], color, 0.2)
        axes.plot(x, curve[f"mean_{metric}"], color=color, **_AVERAGE)
        axes.plot(
            x,
            curve[metric],
            color=color,
            label=style.evaluators_label(curve["evaluators"].iloc[0]),
            marker=style.marker(index),
            markersize=3.2,
            markevery=_spread(x, index / len(curves), scale),
        )
    style.zero_line(axes)
    axes.set(xscale=scale, xlim=(int(scale == "log"), table["iteration"].max()))
    axes.set(xlabel="iteration", ylabel=METRIC_LABELS[metric])
    if scale == "linear":  # steps of 2,500 would be labels that collide
        ticks = mpl.ticker.MaxNLocator("auto", steps=[1, 2, 5, 10], integer=True)
        axes.xaxis.set_major_locator(ticks)
    axes.xaxis.set_major_formatter("{x:,.0f}")
    if (algorithm, metric) in (still := flat(table)):
        said = f"means leave their start\nby at most {still[algorithm, metric]:.2g}"
        axes.text(0.04, 0.2, said, transform=axes.transAxes, va="center", color="0.3")


def panel(aggregate, algorithm, metric, scale="linear"):
    """One panel as a figure, one column of a page wide."""
    figure, axes = plt.subplots(figsize=(style.ONE_COLUMN, 2.5))
    draw_panel(axes, aggregate, algorithm, metric, scale)
    axes.set_title(get_algorithm(algorithm).label)
    axes.plot([], [], color="0.3", label="running average", **_AVERAGE)
    axes.legend(loc="center right" if axes.texts else "best")
    return figure


def panel_numbers(aggregate, algorithm, metric):
    """The numbers that a panel shows, to eight decimals: all processors give the same ones."""
    shown = [metric, f"{metric}_low", f"{metric}_high", f"mean_{metric}"]
    table = aggregate[aggregate["algorithm"] == algorithm]
    return table[["evaluators", "iteration", *shown]].round(8)


def describe_panel(aggregate, algorithm, metric):
    """Description of a panel in words."""
    table = aggregate[aggregate["algorithm"] == algorithm]
    last = table[table["iteration"] == table["iteration"].max()]
    ends = ", ".join(
        f"{value:.3f} for M = {style.evaluators_number(evaluators)}"
        for evaluators, value in zip(last["evaluators"], last[metric], strict=True)
    )
    label = get_algorithm(algorithm).label
    return (
        f"{metric.replace('_', ' ').capitalize()} of {label} against iterations, a curve for each "
        f"M: from {table[metric].iloc[0]:.3f} to {ends}."
    )


def flat(aggregate, share=0.02):
    """Panels in which no mean leaves its start by a share of it: how far one gets, at most."""
    found = {}
    for algorithm, table in aggregate.groupby("algorithm", sort=False):
        start = table[table["iteration"] == 0].iloc[0]
        for metric in METRIC_LABELS:
            distance = (table[metric] - start[metric]).abs().max()
            if distance < share * abs(start[metric]):
                found[algorithm, metric] = distance
    return found


def worse_without_limit(aggregate, radius):
    """Whether ZPGPD-HF runs with M = infinity and Theorem 2's radius: its estimates are noisier."""
    unlimited = aggregate.loc[aggregate["evaluators"].isna(), "algorithm"]
    return radius == "theorem" and bool((unlimited == "zpgpd_hf").any())


def figure1(aggregate, scale="linear", width=style.TWO_COLUMNS, height=2.4):
    """All panels as one figure: algorithms down, metrics across; sizes are in inches."""
    figure, rows = style.algorithm_panels(aggregate, height, len(METRIC_LABELS))
    figure.set_figwidth(width)
    letters = iter(string.ascii_lowercase)
    for algorithm, table, panels in rows:
        for axes, metric in zip(panels, METRIC_LABELS, strict=True):
            draw_panel(axes, table, algorithm, metric, scale)
            axes.set_title(f"({next(letters)}) {get_algorithm(algorithm).label}")
    if len(rows) > 2:  # the paper's two have axes of their own
        for first, *others in zip(*(panels for *_, panels in rows), strict=True):
            for axes in others:
                axes.sharey(first)
            first.autoscale(axis="y")
    _label(figure)
    return figure


def side_by_side(aggregates):
    """The panels of several studies beside each other, on the same axes."""
    algorithms = list(next(iter(aggregates.values()))["algorithm"].unique())
    rows = list(itertools.product(algorithms, METRIC_LABELS))
    figure, grid = style.panels(len(rows), len(aggregates), 1.9)
    for (algorithm, metric), line in zip(rows, grid, strict=True):
        for axes, (title, aggregate) in zip(line, aggregates.items(), strict=True):
            draw_panel(axes, aggregate, algorithm, metric)
            axes.set_title(f"{get_algorithm(algorithm).label}, {title}")
            axes.sharey(line[0])
            axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(3))
            if axes is not line[0]:
                axes.set_ylabel("")
        line[0].autoscale(axis="y")
    _label(figure)
    return figure


def _label(figure):
    """One legend for all panels of a figure."""
    handles, labels = figure.axes[0].get_legend_handles_labels()
    handles += [mpl.lines.Line2D([], [], color="0.3", **look) for look in ({}, _AVERAGE)]
    labels += ["iterate", "running average"]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))


def _spread(x, offset, scale):
    """Indices of six markers, evenly spaced on the axis; `offset` in [0, 1) shifts them."""
    places = (np.arange(6) + 0.2 + 0.6 * offset) / 6
    targets = x[-1] * places if scale == "linear" else x[-1] ** places
    return sorted({int(np.abs(x - target).argmin()) for target in targets})
