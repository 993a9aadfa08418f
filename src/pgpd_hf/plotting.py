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
MARKERS = "osD^vP"  # where colour is not enough
ALONE = "#1b5e7d"  # a curve that is compared with no other


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


def show(figure, alt):
    """Show a figure in a notebook, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        What to show.
    alt : str
        What it shows, in words, for those who do not see it.
    """
    from IPython.display import display  # there in notebooks, and slow to import elsewhere

    display(figure, metadata={"image/png": {"alt": alt}})
    plt.close(figure)


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


def share_legend(figure, columns):
    """Put one legend above all panels, each label once.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Its panels have labelled curves.
    columns : int
        Of the legend.
    """
    found = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    figure.legend(found.values(), found.keys(), loc="outside upper center", ncols=columns)


def plain_decades(axes):
    """Write plain numbers on a logarithmic vertical axis, the more per decade the fewer decades.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The panel; all that it shows is already drawn.
    """
    low, high = axes.get_ylim()
    decades = np.log10(high / low)
    marks = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 3 else (1,)
    axes.yaxis.set_major_locator(mpl.ticker.LogLocator(subs=marks))
    axes.yaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:g}"))
    axes.yaxis.set_minor_locator(mpl.ticker.NullLocator())


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
            marker=MARKERS[index % len(MARKERS)],
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
    axes.plot([], [], color="0.3", linewidth=0.8, linestyle=(0, (4, 2)), label="running average")
    axes.legend()
    return figure


def describe_panel(aggregate, algorithm, metric):
    """What a panel shows, in words.

    Parameters
    ----------
    aggregate, algorithm, metric
        As for :func:`draw_panel`.

    Returns
    -------
    str
    """
    table = aggregate[aggregate["algorithm"] == algorithm]
    last = table[table["iteration"] == table["iteration"].max()]
    ends = ", ".join(
        f"{value:.3f} for M = {'∞' if pd.isna(evaluators) else evaluators}"
        for evaluators, value in zip(last["evaluators"], last[metric], strict=True)
    )
    label = get_algorithm(algorithm).label
    return (
        f"{metric.replace('_', ' ').capitalize()} of {label} against iterations, a curve for each "
        f"M: from {table[metric].iloc[0]:.3f} to {ends}."
    )


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


def _spread(x, offset):
    """Indices of six markers, evenly spaced from an offset (in marker distances) on."""
    targets = x[-1] * (np.arange(6) + 0.2 + 0.6 * offset) / 6
    return sorted({int(np.abs(x - target).argmin()) for target in targets})
