"""The paper's figure, and each of its panels.

The same content gives the same bytes: files hold no dates and no random identifiers, fonts are
Matplotlib's own, and settings of the user have no effect.
"""

import io
import string
import textwrap
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib import style, ticker
from matplotlib.figure import Figure

from pgpd_hf.arguments import shown
from pgpd_hf.costs import Units
from pgpd_hf.runs import ALGORITHMS

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.3",
    "axes.grid": True,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 200,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 3.2,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "svg.hashsalt": "pgpd_hf",
    "xtick.color": "0.3",
    "ytick.color": "0.3",
}
METRICS = {"optimality_gap": r"$V_r^\star - V_r$", "constraint_violation": "$b - V_g$"}
_METADATA = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


class Picture(Figure):
    """A figure that notebooks show."""

    def _repr_png_(self):
        picture = io.BytesIO()
        with styled():
            self.savefig(picture, format="png", dpi=150)
        return picture.getvalue()


def styled():
    """Context for drawing and saving."""
    return style.context(["default", STYLE])


def in_units(table, units):
    """Gaps and violations of a table in the user's units, where the CMDP has some."""
    if units is None:
        return table
    units = units._asdict() if isinstance(units, Units) else units
    if not isinstance(units, dict) or not {"reward_unit", "cost_unit"} <= {*units}:
        raise ValueError(f"units: those of a CMDP expected, got {shown(units)}")
    scales = dict(zip(METRICS, (units["reward_unit"], units["cost_unit"]), strict=True))
    columns = {it: scales[metric] * table[it] for metric in METRICS for it in table if metric in it}
    table = table.assign(**columns)
    table.attrs["units"] = units
    return table


def metric_label(aggregate, metric):
    """What gap or violation is, or whose units it has."""
    if aggregate.attrs.get("units") is None:
        return METRICS[metric]
    return "(reward)" if metric == "optimality_gap" else "(cost)"


def figure1(aggregate, possible, over="runs"):
    """All panels: algorithms down, gap and violation across.

    `aggregate` is a table of :func:`pgpd_hf.aggregate` after :func:`in_units`; `possible` holds for
    each metric the smallest and the largest value that a policy can have.
    """
    with styled():
        algorithms = aggregate["algorithm"].unique()
        figure = Picture(figsize=(6.9, 2.3 * len(algorithms) + 0.45))
        grid = figure.subplots(len(algorithms), 2, squeeze=False, sharey="col")
        letters = iter(string.ascii_lowercase)
        for algorithm, row in zip(algorithms, grid, strict=True):
            for metric, axes in zip(METRICS, row, strict=True):
                _draw(axes, aggregate, algorithm, metric, possible)
                axes.set_title(f"({next(letters)}) {finding(aggregate, algorithm, metric)}")
                axes.tick_params(labelleft=True)
            label = textwrap.fill(algorithm_labels(aggregate)[algorithm], 24)
            row[0].set_ylabel(label, fontweight="bold", fontsize=9)
        for metric, column in zip(METRICS, grid.T, strict=True):
            place = {"xycoords": "axes fraction", "textcoords": "offset points"}
            head = f"{metric.replace('_', ' ')}  {metric_label(aggregate, metric)}"
            column[0].annotate(head, (0, 1), (0, 22), fontweight="bold", fontsize=9, **place)
            _finish(column, metric, aggregate)
        _say_means(figure, aggregate, over)
    return figure


def _say_means(figure, aggregate, over="runs"):
    """Write below the panels what curves and bands are."""
    number = aggregate["seeds"].max()
    told = f"means over {number} {over}, with 95 % intervals" if number > 1 else "a single run"
    told += "; M: evaluators" if aggregate["evaluators"].notna().any() else ""
    figure.supxlabel(told, x=0.99, ha="right", fontsize=7, color="0.3")


def possible(optimum):
    """Smallest and largest gap and violation of any policy, from what `optimum.json` holds."""
    reward, highest = optimum["reward_value"], optimum["unconstrained"]["reward_value"]
    ends = {
        "optimality_gap": [reward - highest, reward],
        "constraint_violation": [-optimum["slack"], optimum["threshold"]],
    }
    return in_units(pd.DataFrame(ends), optimum.get("units"))


def panel(aggregate, algorithm, metric, possible):
    """One panel, as a figure of the width of a column."""
    with styled():
        figure = Picture(figsize=(3.35, 2.7))
        axes = figure.subplots()
        table = aggregate[aggregate["algorithm"] == algorithm]
        _draw(axes, aggregate, algorithm, metric, possible)
        _finish([axes], metric, table)
        _say_means(figure, table)
        name = metric.replace("_", " ").capitalize()
        title = textwrap.fill(f"{name} of {algorithm_labels(aggregate)[algorithm]}:", 42)
        axes.set_title(f"{title}\n{finding(aggregate, algorithm, metric)}")
        axes.set_ylabel(metric_label(aggregate, metric))
    return figure


def panel_numbers(aggregate, algorithm, metric):
    """Numbers of a panel, with eight decimals, on which all processors agree."""
    table = aggregate[aggregate["algorithm"] == algorithm]
    return table[["evaluators", "iteration", metric, f"{metric}_low", f"{metric}_high"]].round(8)


def finding(aggregate, algorithm, metric):
    """Title of a panel: the values at which its curves end."""
    table = aggregate[aggregate["algorithm"] == algorithm].sort_values("evaluators")
    start = table.loc[table["iteration"] == table["iteration"].min(), metric].iloc[0]
    last = table[table["iteration"] == table["iteration"].max()]
    ends, lows, highs = (last[f"{metric}{end}"] for end in ("", "_low", "_high"))
    size = max(abs(start), ends.abs().max())
    exponent = int(np.floor(np.log10(size or 1.0)))
    decimals = max(0, (2 if exponent >= -1 else 1) - exponent)
    first, last, low, high = (
        f"{round(value, decimals) + 0.0:.{decimals}f}".replace("-", "\N{MINUS SIGN}")
        for value in (ends.iloc[0], ends.iloc[-1], ends.min(), ends.max())
    )
    falls = (np.diff(ends) < 0).all() and lows.iloc[0] > highs.iloc[-1] and ends.min() >= 0
    if metric == "optimality_gap" and falls:
        return f"smaller with more evaluators: {first} to {last}"
    end = low if low == high else f"{low} to {high}"
    if metric == "constraint_violation" and highs.max() < 0:
        return f"ends clearly below 0: {end}"
    if metric == "constraint_violation" and ends.max() <= 0:
        return f"means end at or below 0: {end}"
    return f"at the end: {end}" if low == high else f"ends between {low} and {high}"


def algorithm_labels(table):
    """Names of algorithms as readers know them; those of one's own may stand in the table."""
    own = dict(zip(table["algorithm"], table.get("label", table["algorithm"]), strict=True))
    labels = own | {name: kind.label for name, kind in ALGORITHMS.items()}
    twice = [name for name, label in labels.items() if [*labels.values()].count(label) > 1]
    return labels | {name: f"{labels[name]} ({name})" for name in twice if name not in ALGORITHMS}


def save(figure, folder, name):
    """Write a figure as PDF, SVG and PNG."""
    with styled():
        for ending, metadata in _METADATA.items():
            figure.savefig(Path(folder, f"{name}.{ending}"), metadata=metadata)


def _draw(axes, aggregate, algorithm, metric, possible):
    """Draw a curve for each M with its interval over seeds, and its name where it ends."""
    table = aggregate[aggregate["algorithm"] == algorithm]
    for number, curve in table.groupby("evaluators", dropna=False):
        color, x = evaluators_color(number), curve["iteration"]
        band = (curve[f"{metric}_{end}"].clip(*possible[metric]) for end in ("low", "high"))
        axes.fill_between(x, *band, color=color, alpha=0.2, linewidth=0)
        axes.plot(x, curve[metric], color=color, label=evaluators_label(number))
    axes.axhline(0, color="0.3", linewidth=0.8)
    asking = table[table["evaluators"].notna()]
    axes.set_xlabel(_iteration_label((table if asking.empty else asking).iloc[-1]))
    axes.set_xlim(0, table["iteration"].max())
    axes.xaxis.set_major_locator(ticker.MaxNLocator(4, steps=[1, 2, 5, 10], integer=True))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.ticklabel_format(axis="y", style="plain", useOffset=False)


def _iteration_label(last):
    """Label of the horizontal axis, with the answers of an iteration, from a curve's last row."""
    if pd.isna(last["evaluators"]) or last["answers"] == 0:
        return "iteration"
    asked = last["answers"] / last["evaluators"]
    each = rf"${asked / last['iteration']:.0f} \times M$ answers each"
    total = f"{asked:,.0f}".replace(",", "{,}")
    return rf"iteration ({each}, ${total} \times M$ in all)"


def limits(aggregate, metric):
    """Ends of an axis with curves and bands; a wide band leaves it, and does not flatten curves."""
    ends = [(0.0, 0.0)]
    for _, table in aggregate.groupby("algorithm"):
        least, most = table[metric].min(), table[metric].max()
        margin = (max(most, 0.0) - min(least, 0.0)) / 2 or 1e-3
        low, high = table[[metric, f"{metric}_low"]].min(), table[[metric, f"{metric}_high"]].max()
        ends.append((max(low.min(), least - margin), min(high.max(), most + margin)))
    bottom, top = min(low for low, _ in ends), max(high for _, high in ends)
    return bottom - 0.05 * (top - bottom), top + 0.05 * (top - bottom)


def _finish(panels, metric, aggregate):
    """Write the name of each curve where it ends, in panels that share their vertical axis."""
    bottom, top = limits(aggregate, metric)
    if metric == "constraint_violation" or bottom < -0.1 * top:  # for words below the curves
        bottom -= 0.06 * (top - bottom)
    bottom = min(bottom, -0.13 * top)
    panels[0].set_ylim(bottom, top)
    for axes in panels:
        name_lines(axes, 0.095)
        below = "better below"
        if metric == "constraint_violation":
            below = "safer below"
        else:
            curves = [it.get_xydata() for it in axes.lines if it.get_label()[0] != "_"]
            late = np.concatenate([it[it[:, 0] > 0.6 * it[-1, 0], 1] for it in curves])
            above = late.min() < -0.02 * top  # where curves end below
            place = {"xycoords": ("axes fraction", "data"), "ha": "right", "color": "0.3"}
            place |= {"va": "bottom"} if above else {"va": "top"}
            axes.annotate("0: best safe policy", (0.99, 0.02 * (top if above else -top)), **place)
        axes.annotate(below, (0.02, 0.02), xycoords="axes fraction", color="0.3")


def name_lines(axes, apart=0.07):
    """Write the name of each line beside its end; names do not overlap."""
    lines = [it for it in axes.lines if len(it.get_ydata()) and it.get_label()[0] != "_"]
    lines.sort(key=lambda line: line.get_ydata()[-1])
    scale = axes.yaxis.get_transform().transform  # which is logarithmic, or none
    bottom, top = scale(axes.get_ylim())
    ends = [(scale(line.get_ydata()[-1]) - bottom) / (top - bottom) for line in lines]
    heights = ends[:1]
    for end in ends[1:]:
        heights.append(max(end, heights[-1] + apart))
    middle = np.mean(heights) - np.mean(ends)
    for line, height in zip(lines, heights, strict=True):
        place = {"xycoords": "axes fraction", "va": "center", "color": line.get_color()}
        axes.annotate(line.get_label(), (1.02, height - middle), **place)


def evaluators_label(evaluators):
    """M in mathematical text."""
    return r"$M = \infty$" if pd.isna(evaluators) else f"$M = {int(evaluators)}$"


def evaluators_color(evaluators):
    """Colour of an M, the same in all experiments: the more evaluators, the darker."""
    if pd.isna(evaluators):
        return "#1b5e7d"
    steps = (np.log2(evaluators) - 6) / 2  # nearly even between 16 and 256
    return mpl.colormaps["inferno"](0.38 - 0.25 * 1.4 * np.tanh(np.arctanh(1 / 1.4) * steps))
