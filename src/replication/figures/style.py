"""The style that all figures share.

The same content gives the same bytes: files have no dates and no random identifiers, and fonts are
the TrueType fonts that ship with Matplotlib, embedded.
"""

import io
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.plotting import ALONE, STYLE
from pgpd_hf.statistics import ends_of
from replication.figures import FORMATS
from replication.files.storage import replacing

ONE_COLUMN = 3.35  # inches
TWO_COLUMNS = 6.9
_METADATA = {
    "pdf": {"CreationDate": None, "ModDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}
_MARKERS = "osD^vP"
# How votes become numbers: name, and a colour of Okabe and Ito's (2008).
ESTIMATORS = {"plug-in": "plug-in estimator, as printed", "unbiased": "unbiased estimator"}
ESTIMATOR_COLORS = {"plug-in": "#0072B2", "unbiased": "#D55E00"}


def use_style():
    """Use the project's style for all figures that are made from now on."""
    mpl.rcParams.update(mpl.rcParamsDefault)
    mpl.rcParams.update(STYLE)


def save(figure, folder, name, formats=FORMATS):
    """Save a figure in several formats."""
    for ending in formats:
        with replacing(Path(folder) / f"{name}.{ending}") as partial:
            figure.savefig(partial, format=ending, metadata=_METADATA[ending])


def show(figure, alt, saved=None):
    """Show a figure, or the PNG of it that was saved, in a notebook with its description."""
    from IPython.display import Image, display  # slow to import, and needed in notebooks only

    if saved is None:
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi="figure")
        picture = Image(drawn.getvalue(), metadata={"alt": alt})
    else:  # in a file two pixels make one of a page, which sharp screens show
        picture = Image(Path(saved).read_bytes(), retina=True, metadata={"alt": alt})
    display(picture)
    plt.close(figure)


def panels(rows, columns, height, **options):
    """Figure with a grid of empty panels, two columns of a page wide, rows of `height` inches."""
    size = (TWO_COLUMNS, height * rows)
    return plt.subplots(rows, columns, figsize=size, squeeze=False, **options)


def algorithm_panels(table, height, columns=1):
    """Figure with titled panels for each algorithm: (its name, rows of the table, panels)."""
    # Panels of one algorithm are a row; if there is one only, the algorithms stand side by side.
    groups = list(table.groupby("algorithm", sort=False))
    shape = (1, len(groups)) if columns == 1 else (len(groups), columns)
    figure, grid = panels(*shape, height)
    grid = grid.reshape(len(groups), columns)
    rows = [(*group, row) for group, row in zip(groups, grid, strict=True)]
    for name, _, row in rows:
        for axes in row:
            axes.set_title(get_algorithm(name).label)
    return figure, rows


def name_axes(grid, below, left=None):
    """Label the horizontal axes of the lowest panels, and the vertical ones at the left."""
    for axes in grid[-1]:
        axes.set_xlabel(below)
    for axes in grid[:, 0] if left else ():
        axes.set_ylabel(left)


def head(axes, text):
    """Write the head of a column above its highest panel, whose row has its titles."""
    row = axes.get_subplotspec().rowspan
    beside = (it for it in axes.figure.axes if it.get_subplotspec().rowspan == row)
    lines = max(it.get_title(loc="left").count("\n") for it in beside)
    place = {"xycoords": "axes fraction", "textcoords": "offset points"}
    axes.annotate(text, (0, 1), (0, 22 + 11 * lines), fontweight="bold", fontsize=9, **place)


def same_heights(column):
    """Give panels one range of the vertical axis."""
    limits = np.array([axes.get_ylim() for axes in column])
    for axes in column:
        axes.set_ylim(limits.min(), limits.max())


def ends(table, name):
    """Lengths of error bars below and above an estimate."""
    low, high = ends_of(name, table)
    return [table[name] - table[low], table[high] - table[name]]


def choose(table, **where):
    """Rows of a table with these values in these columns; a missing value stands for itself."""
    for column, value in where.items():
        same = table[column].isna() if pd.isna(value) else table[column].eq(value)
        table = table[same]
    return table


def evaluators_number(evaluators):
    """M as readers see it: the number itself, or "∞"."""
    return "∞" if pd.isna(evaluators) else evaluators


def evaluators_label(evaluators):
    """Label of a number of evaluators in a legend."""
    return r"$M = \infty$" if pd.isna(evaluators) else f"$M = {evaluators}$"


def evaluators_color(evaluators):
    """Colour of a number of evaluators, the same in all studies: the more, the darker."""
    if pd.isna(evaluators):
        return ALONE
    # Between 16 and 256 nearly even in log M, and never lighter or darker than can be told apart.
    steps = (np.log2(evaluators) - 6) / 2
    place = 1.4 * np.tanh(np.arctanh(1 / 1.4) * steps)
    return mpl.colormaps["inferno"](0.43 - 0.31 * place)


def colors(count):
    """Colours for curves from light to dark, which differ in grey and for any colour vision."""
    return [mpl.colormaps["inferno"](x) for x in np.linspace(0.74, 0.12, count)]


def marker(index):
    """Marker of a curve, which tells it apart where its colour does not."""
    return _MARKERS[index % len(_MARKERS)]


def band(axes, x, low, high, color, alpha, **options):
    """Shade the interval around a curve."""
    axes.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0, **options)


def zero_line(axes):
    """Draw a horizontal line at zero."""
    axes.axhline(0, color="0.3", linewidth=0.8)


def share_legend(figure, columns, title=None):
    """Put one legend above all panels, with each label once, in rows."""
    found = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    # Matplotlib fills columns, people read rows.
    order = [label for first in range(columns) for label in [*found][first::columns]]
    place = {"loc": "outside upper center", "title": title, "title_fontsize": 8}
    legend = figure.legend([found[label] for label in order], order, ncols=columns, **place)
    legend.get_title().set_multialignment("center")


def label_ends(axes, labels):
    """Write beside a panel what ends where: (x, height, label, colour)."""
    from scipy.optimize import isotonic_regression  # slow to import, and needed here only

    # Labels that would lie upon each other move apart, but stay beside the panel, so that the lines
    # that lead to where they belong do not cross the ticks below it.
    axes.figure.draw_without_rendering()
    lowest, highest = axes.get_ylim()
    if not labels:
        return
    labels = sorted((np.clip(y, lowest, highest), x, text, color) for x, y, text, color in labels)
    ends = axes.transData.transform([(x, y) for y, x, *_ in labels])
    heights = axes.transAxes.inverted().transform(ends)[:, 1]
    steps = 0.15 * axes.figure.dpi / axes.bbox.height * np.arange(len(labels))
    places = np.clip(isotonic_regression(heights - steps).x, 0, max(0, 1 - steps[-1])) + steps
    edge = axes.get_xlim()[1]
    for (y, x, text, color), place in zip(labels, places, strict=True):
        if x < edge:  # level as far as the panel goes, so that it crosses no other
            axes.plot([x, edge], [y, y], ":", color=color, linewidth=1, scalex=False, scaley=False)
        lead = {"arrowstyle": "-", "color": color, "linestyle": ":", "relpos": (0, 0.5)}
        lead |= {"shrinkA": 0, "shrinkB": 0}
        where = {"textcoords": "axes fraction", "va": "center", "annotation_clip": False}
        axes.annotate(text, (max(x, edge), y), (1.06, place), arrowprops=lead, **where)


def plain_decades(axis):
    """Label a logarithmic axis with plain numbers, more per decade if it has few decades."""
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    marks = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 3 else (1,)
    axis.set_major_locator(mpl.ticker.LogLocator(subs=marks))
    if low >= 1e-4:  # below, as powers of ten
        axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(mpl.ticker.NullLocator())
