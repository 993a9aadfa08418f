"""The panels of the paper's figure, one by one and together."""

import itertools
import string

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from pgpd_hf.algorithms import get_algorithm
from replication.figures import style
from replication.statements import report

METRIC_LABELS = {"optimality_gap": r"$V_r^\star - V_r$", "constraint_violation": "$b - V_g$"}
_ZERO = {"optimality_gap": "best safe policy", "constraint_violation": "safe below"}
_PEOPLE = "$M$ evaluators answer each question"
_AVERAGE = {"linewidth": 0.8, "linestyle": (0, (4, 2))}  # lines of running averages


def draw_panel(axes, aggregate, algorithm, metric, scale="linear", ticks="auto"):
    """Draw one panel: a metric against iterations, one curve per number of evaluators."""
    # The solid line is the iterate's value with its interval over seeds, the dashed one the running
    # average, which the theorems bound.
    table = aggregate[aggregate["algorithm"] == algorithm]
    curves = [curve for _, curve in table.groupby("evaluators", dropna=False, sort=False)]
    people = _people(aggregate)
    for index, curve in enumerate(curves):
        number = curve["evaluators"].iloc[0]
        color, label = style.evaluators_color(number), style.evaluators_label(number)
        x = curve["iteration"].to_numpy()
        style.band(axes, x, curve[f"{metric}_low"], curve[f"{metric}_high"], color, 0.2)
        axes.plot(x, curve[f"mean_{metric}"], color=color, **_AVERAGE)
        axes.plot(
            x,
            curve[metric],
            color=color,
            label=label,
            marker=style.marker(people.index(label)),  # the same in all panels
            markersize=3.2,
            markevery=_spread(x, index / len(curves), scale),
        )
    axes.set(xscale=scale, xlim=(int(scale == "log"), table["iteration"].max()))
    if scale == "linear":  # steps of 2,500 would be labels that collide
        locator = mpl.ticker.MaxNLocator(ticks, steps=[1, 2, 5, 10], integer=True)
        axes.xaxis.set_major_locator(locator)
    axes.xaxis.set_major_formatter("{x:,.0f}")


def _people(aggregate):
    """Labels of the numbers of evaluators, infinity last."""
    numbers = aggregate["evaluators"].sort_values().unique()
    return [style.evaluators_label(number) for number in numbers]


def panel(aggregate, algorithm, metric, scale="linear"):
    """One panel as a figure, one column of a page wide."""
    figure, axes = plt.subplots(figsize=(style.ONE_COLUMN, 2.6))
    draw_panel(axes, aggregate, algorithm, metric, scale, ticks=4)
    words = f"{metric.replace('_', ' ').capitalize()} of {get_algorithm(algorithm).label}"
    axes.set_title(f"{words}\n{finding(aggregate, algorithm, metric)}")
    better = "← better      " if metric == "optimality_gap" else ""
    axes.set(xlabel="iteration", ylabel=f"{better}{METRIC_LABELS[metric]}")
    lines, labels = axes.get_legend_handles_labels()
    ends = [
        (*line.get_xydata()[-1], label, line.get_color())
        for line, label in zip(lines, labels, strict=True)
    ]
    axes.legend(handles=_name_looks(axes))
    style.zero_line(axes)
    style.label_ends(axes, [*ends, (axes.get_xlim()[1], 0, _ZERO[metric], "0.3")])
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


def finding(aggregate, algorithm, metric):
    """What a panel shows, in a few words: from where to where its means go, and whether back."""
    if (algorithm, metric) in (still := report.flat(aggregate)):
        return f"hardly moves: by {still[algorithm, metric]:.1g} at most"
    table = aggregate[aggregate["algorithm"] == algorithm].reset_index(drop=True)
    curves = table.groupby("evaluators", dropna=False)
    start, last = curves[metric].first().iloc[0], curves.last()
    least = table.loc[curves[metric].idxmin()]
    size = max(abs(start), last[metric].abs().max())
    if size == 0:
        return "stays at 0"
    decimals = max(0, 1 - int(np.floor(np.log10(size))))
    decimals -= 0.01 <= size < 0.1  # two of them are enough there
    lowest, end = (_between(means[metric], decimals) for means in (least, last))
    verb = "falls" if last[metric].max() < start else "goes"
    # Every curve has to rise by so much that its intervals there and at the end are apart.
    rises = least[f"{metric}_high"].to_numpy() < last[f"{metric}_low"].to_numpy()
    if verb == "falls" and rises.all() and lowest != end:
        end = f"{lowest},\nthen rises to {end}"
    return f"{verb} from {_between([start], decimals)} to {end}"


def _between(values, decimals):
    """Between which values some lie, in words."""
    low, high = (
        f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "−")
        for value in (min(values), max(values))
    )
    return low if low == high else f"between {low} and {high}"


def worse_without_limit(aggregate, radius):
    """Whether ZPGPD-HF runs with M = infinity and Theorem 2's radius: its estimates are noisier."""
    unlimited = aggregate.loc[aggregate["evaluators"].isna(), "algorithm"]
    return radius == "theorem" and bool((unlimited == "zpgpd_hf").any())


def figure1(aggregate, scale="linear", width=style.TWO_COLUMNS, height=2.4):
    """All panels as one figure: algorithms down, metrics across; sizes are in inches."""
    # Exact methods, whose M is infinite, come last.
    algorithms = aggregate.sort_values("evaluators", kind="stable")["algorithm"].unique()
    figure, grid = style.panels(len(algorithms), len(METRIC_LABELS), height)
    figure.set_figwidth(width)
    letters = iter(string.ascii_lowercase)
    for algorithm, row in zip(algorithms, grid, strict=True):
        for metric, axes in zip(METRIC_LABELS, row, strict=True):
            draw_panel(axes, aggregate, algorithm, metric, scale)
            axes.set_title(f"({next(letters)}) {finding(aggregate, algorithm, metric)}")
        row[0].set_ylabel(get_algorithm(algorithm).label, fontweight="bold", fontsize=9)
    for (metric, label), column in zip(METRIC_LABELS.items(), grid.T, strict=True):
        better = "  (↓ better)" if metric == "optimality_gap" else ""
        style.head(column[0], f"{metric.replace('_', ' ')}  {label}{better}")
        style.same_heights(column)
        _name_zero(column, metric)
    style.name_axes(grid, "iteration")
    _name_looks(figure.axes[-1])
    style.share_legend(figure, min(max(2, len(_people(aggregate))), 4), _PEOPLE)
    return figure


def side_by_side(aggregates):
    """The panels of several studies beside each other, on the same axes."""
    algorithms = list(next(iter(aggregates.values()))["algorithm"].unique())
    rows = list(itertools.product(algorithms, METRIC_LABELS))
    figure, grid = style.panels(len(rows), len(aggregates), 1.9)
    for (algorithm, metric), line in zip(rows, grid, strict=True):
        for axes, aggregate in zip(line, aggregates.values(), strict=True):
            draw_panel(axes, aggregate, algorithm, metric, ticks=3)
            axes.set_title(finding(aggregate, algorithm, metric).rpartition(" to ")[2])
            style.zero_line(axes)
        style.same_heights(line)
        line[0].set_ylabel(f"{get_algorithm(algorithm).label}\n{metric.replace('_', ' ')}")
    for axes, title in zip(grid[0], aggregates, strict=True):
        style.head(axes, title)
    figure.supxlabel("iteration", fontsize=8)
    _name_looks(figure.axes[0])
    style.share_legend(figure, 3, f"{_PEOPLE}; titles: where the curves end")
    return figure


def _name_zero(column, metric):
    """Say what the line at zero is, and leave room for it below."""
    low, high = column[0].get_ylim()
    if metric != "optimality_gap":  # whose words stand at the line itself
        low -= 0.06 * (high - low)
    low = min(low, -0.13 * high)
    for axes in column:
        style.zero_line(axes)
        axes.set_ylim(low, high)
        place = {"xycoords": "axes fraction", "textcoords": "offset points", "color": "0.3"}
        if metric == "optimality_gap":
            place |= {"xycoords": ("axes fraction", "data"), "ha": "right", "va": "top"}
            axes.annotate(_ZERO[metric], (0.99, 0), (0, -3), **place)
        else:
            axes.annotate(_ZERO[metric], (0.02, 0), (0, 3), **place)


def _name_looks(axes):
    """Add what the kinds of lines, and the band, show to the legend of a panel."""
    return [
        axes.plot([], [], color="0.3", label="current policy")[0],
        axes.plot([], [], color="0.3", label="running average", **_AVERAGE)[0],
        axes.fill_between([], [], color="0.3", alpha=0.2, linewidth=0, label="band: 95 %"),
    ]


def _spread(x, offset, scale):
    """Indices of six markers, evenly spaced on the axis; `offset` in [0, 1) shifts them."""
    places = (np.arange(6) + 0.2 + 0.6 * offset) / 6
    targets = x[-1] * places if scale == "linear" else x[-1] ** places
    return sorted({int(np.abs(x - target).argmin()) for target in targets})
