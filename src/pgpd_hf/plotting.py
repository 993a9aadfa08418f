"""One style for all figures, and the panels of the paper's figure.

Files are the same bytes whenever their content is: no dates, no random identifiers, embedded
TrueType fonts that ship with Matplotlib.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.storage import replacing

FORMATS = ("pdf", "svg", "png")
ONE_COLUMN = 3.35  # inches
TWO_COLUMNS = 6.9
METRIC_LABELS = {
    "optimality_gap": r"optimality gap  $V_r^\star - V_r$",
    "constraint_violation": r"constraint violation  $b - V_g$",
}
STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.3",
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "legend.fontsize": 7.5,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "svg.fonttype": "path",
    "svg.hashsalt": "pgpd_hf",
    "xtick.color": "0.3",
    "xtick.labelsize": 7.5,
    "ytick.color": "0.3",
    "ytick.labelsize": 7.5,
}
_METADATA = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
_MARKERS = "osD^vP"
_RULE_STYLES = {"study": "-", "theorem": ":"}


def use_style():
    """Use the project's style for all further figures of this process."""
    mpl.rcParams.update(mpl.rcParamsDefault)
    mpl.rcParams.update(STYLE)


def save(figure, folder, name, formats=FORMATS):
    """Save a figure in several formats.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to save.
    folder : path-like
        Where.
    name : str
        File name without ending.
    formats : sequence of str
        Endings.
    """
    for ending in formats:
        with replacing(Path(folder) / f"{name}.{ending}") as partial:
            figure.savefig(partial, format=ending, metadata=_METADATA[ending])


def crowd_label(evaluators):
    r"""Name a number of evaluators in a legend.

    Parameters
    ----------
    evaluators : int, str or pandas.NA
        M; missing, or "inf", for infinitely many.

    Returns
    -------
    str
        Such as :math:`M = 16`.
    """
    infinite = pd.isna(evaluators) or evaluators == "inf"
    return r"$M = \infty$" if infinite else f"$M = {evaluators}$"


def crowd_colors(count):
    """Colours for numbers of evaluators, from light to dark.

    Parameters
    ----------
    count : int
        How many.

    Returns
    -------
    list of tuple
        Equally spaced in lightness, so that they differ in grey and for any colour vision.
    """
    return [mpl.colormaps["inferno"](x) for x in np.linspace(0.74, 0.12, count)]


def draw_panel(axes, aggregate, algorithm, metric):
    """Draw one panel: a metric against iterations, one curve per number of evaluators.

    The solid line is the iterate's value, with its interval over seeds; the dashed one is the
    running average that the theorems bound. Zero is the optimum, or the threshold.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw.
    aggregate : pandas.DataFrame
        Made by :func:`pgpd_hf.statistics.aggregate`.
    algorithm : str
        A value of its column `algorithm`.
    metric : str
        A key of :data:`METRIC_LABELS`.
    """
    table = aggregate[aggregate["algorithm"] == algorithm]
    crowds = list(table["evaluators"].drop_duplicates())
    for index, (evaluators, color) in enumerate(
        zip(crowds, crowd_colors(len(crowds)), strict=True)
    ):
        people = table["evaluators"]
        curve = table[people.isna() if pd.isna(evaluators) else people.eq(evaluators)]
        x = curve["iteration"].to_numpy()
        axes.fill_between(
            x,
            curve[f"{metric}_low"],
            curve[f"{metric}_high"],
            color=color,
            alpha=0.2,
            linewidth=0,
        )
        axes.plot(x, curve[f"mean_{metric}"], color=color, linewidth=0.8, linestyle=(0, (4, 2)))
        axes.plot(
            x,
            curve[metric],
            color=color,
            label=crowd_label(evaluators),
            marker=_MARKERS[index % len(_MARKERS)],
            markersize=3.2,
            markevery=_spread(x, index / len(crowds)),
        )
    axes.axhline(0, color="0.3", linewidth=0.8)
    axes.set_xlim(0, table["iteration"].max())
    axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
    axes.set_xlabel("iteration")
    axes.set_ylabel(METRIC_LABELS[metric])


def panel(aggregate, algorithm, metric):
    """One panel as a figure of its own, one column wide.

    Parameters
    ----------
    aggregate, algorithm, metric
        As for :func:`draw_panel`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, axes = plt.subplots(figsize=(ONE_COLUMN, 2.5))
    draw_panel(axes, aggregate, algorithm, metric)
    axes.set_title(get_algorithm(algorithm).label)
    axes.legend()
    return figure


def figure1(aggregate):
    """All panels as one figure, two columns wide: algorithms down, metrics across.

    Parameters
    ----------
    aggregate : pandas.DataFrame
        As for :func:`draw_panel`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(aggregate["algorithm"].drop_duplicates())
    figure, grid = plt.subplots(
        len(algorithms),
        len(METRIC_LABELS),
        figsize=(TWO_COLUMNS, 2.4 * len(algorithms)),
        squeeze=False,
    )
    for row, algorithm in zip(grid, algorithms, strict=True):
        for axes, metric in zip(row, METRIC_LABELS, strict=True):
            draw_panel(axes, aggregate, algorithm, metric)
            letter = "abcdefghijklmnopqrstuvwxyz"[list(grid.flat).index(axes)]
            axes.set_title(f"({letter}) {get_algorithm(algorithm).label}")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    handles += [
        mpl.lines.Line2D([], [], color="0.3"),
        mpl.lines.Line2D([], [], color="0.3", linewidth=0.8, linestyle=(0, (4, 2))),
    ]
    labels += ["iterate", "running average"]
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
    return figure


def rates_figure(means, promised):
    """Averages against T, both axes logarithmic: algorithms down, metrics across.

    Parameters
    ----------
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.rates.mean_averages`.
    promised : dict
        Exponent by algorithm; drawn as a dashed line whose height means nothing.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(means["algorithm"].drop_duplicates())
    metrics = list(means["metric"].drop_duplicates())
    crowds = list(means["crowd"].drop_duplicates())
    colors = dict(zip(crowds, crowd_colors(len(crowds)), strict=True))
    figure, grid = plt.subplots(
        len(algorithms),
        len(metrics),
        figsize=(TWO_COLUMNS, 2.5 * len(algorithms)),
        squeeze=False,
    )
    for row, algorithm in zip(grid, algorithms, strict=True):
        for axes, metric in zip(row, metrics, strict=True):
            chosen = means[(means["algorithm"] == algorithm) & (means["metric"] == metric)]
            for (rule, crowd), line in chosen.groupby(["step_rule", "crowd"], sort=False):
                positive = line[line["mean"] > 0]
                axes.errorbar(
                    positive["iterations"],
                    positive["mean"],
                    yerr=[positive["mean"] - positive["low"], positive["high"] - positive["mean"]],
                    color=colors[crowd],
                    linestyle=_RULE_STYLES[rule],
                    marker="o",
                    markersize=3,
                    elinewidth=0.8,
                    label=f"{crowd_label(crowd)}, steps of the {rule}",
                )
            axes.set_xscale("log")
            axes.set_yscale("log", nonpositive="clip")
            axes.set_xticks(chosen["iterations"].unique(), minor=False)
            axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
            axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
            ends = np.array([chosen["iterations"].min(), chosen["iterations"].max()], dtype=float)
            height = chosen["high"].max()
            if algorithm in promised and height > 0:
                slope = height * (ends / ends[0]) ** promised[algorithm]
                axes.plot(ends, slope, color="0.4", linestyle="--", linewidth=1, label="promised")
            axes.set_title(f"{get_algorithm(algorithm).label}: average {metric}")
            axes.set_xlabel("$T$")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=3)
    return figure


def bounds_figure(table):
    """How tight each statement's bound is: measured over bound, one marker per setting.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of :func:`pgpd_hf.theory.check_all` with a column `setting`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    table = table.assign(
        part=table["part"].fillna(""), vacuous=table["reason"].fillna("").str.startswith("vacuous")
    )
    names = table.drop_duplicates(["item", "part"])
    heights = {key: -k for k, key in enumerate(zip(names["item"], names["part"], strict=True))}
    settings = list(table["setting"].drop_duplicates())
    figure, axes = plt.subplots(figsize=(TWO_COLUMNS, 0.19 * len(names) + 0.9))
    for index, color in enumerate(crowd_colors(len(settings))):
        rows = table[table["setting"].eq(settings[index]) & table["ratio"].gt(0)]
        y = np.array([heights[key] for key in zip(rows["item"], rows["part"], strict=True)])
        for hollow in (False, True):
            chosen = (rows["vacuous"] == hollow).to_numpy()
            axes.scatter(
                rows["ratio"][chosen],
                y[chosen] + 0.25 * (1 - index),
                s=14,
                marker=_MARKERS[index % len(_MARKERS)],
                facecolor="none" if hollow else color,
                edgecolor=color,
                linewidth=0.9,
                label=None if hollow else settings[index],
            )
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_xscale("log")
    axes.set_yticks(list(heights.values()), _statement_names(names), fontsize=6.5)
    axes.set_ylim(-len(names) + 0.4, 0.6)
    axes.set_xlabel("measured / bound   (hollow: the bound is vacuous)")
    figure.legend(loc="outside upper center", ncols=len(settings))
    return figure


def certificate_figure(table, parts):
    """Parts of the certificates of the average gap, stacked, one panel per algorithm.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of :func:`pgpd_hf.theory.certify` for one quantity.
    parts : sequence of str
        Columns to stack; negative ones go down from zero.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(table["algorithm"].drop_duplicates())
    figure, grid = plt.subplots(
        1, len(algorithms), figsize=(TWO_COLUMNS, 2.8), squeeze=False, sharey=False
    )
    colors = mpl.colormaps["cividis"](np.linspace(0, 1, len(parts)))
    for axes, algorithm in zip(grid[0], algorithms, strict=True):
        rows = table[table["algorithm"] == algorithm]
        means = rows.groupby("evaluators", dropna=False)[[*parts, "measured"]].mean()
        up, down = np.zeros(len(means)), np.zeros(len(means))
        for part, color in zip(parts, colors, strict=True):
            height = means[part].to_numpy()
            base = np.where(height >= 0, up, down)
            axes.bar(
                range(len(means)),
                height,
                bottom=base,
                color=color,
                edgecolor="0.3",
                linewidth=0.4,
                width=0.6,
                label=part.replace("_", " "),
            )
            up, down = up + np.maximum(height, 0), down + np.minimum(height, 0)
        axes.hlines(
            means["measured"],
            np.arange(len(means)) - 0.38,
            np.arange(len(means)) + 0.38,
            color="black",
            linewidth=2,
            label="measured",
        )
        axes.axhline(0, color="0.3", linewidth=0.8)
        labels = [crowd_label(pd.NA if pd.isna(M) else int(M)) for M in means.index]
        axes.set_xticks(range(len(means)), labels)
        axes.set_title(get_algorithm(algorithm).label)
    grid[0, 0].set_ylabel("average optimality gap")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=4)
    return figure


def _statement_names(names):
    """Labels of statements, without what TeX would read as mathematics."""
    return [
        f"{row.item}{row.part}  {row.statement}  ({row.line})".replace("$", r"\$")
        for row in names.itertuples()
    ]


def _spread(x, offset):
    """Indices of six markers, evenly spaced from an offset (in marker distances) on."""
    targets = x[-1] * (np.arange(6) + 0.2 + 0.6 * offset) / 6
    return sorted({int(np.abs(x - target).argmin()) for target in targets})
