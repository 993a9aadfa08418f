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
    """Save a figure in several formats.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    folder : path-like
        Folder of the files.
    name : str
        Name of the files without their endings.
    formats : sequence of str
        Endings of the files.
    """
    for ending in formats:
        with replacing(Path(folder) / f"{name}.{ending}") as partial:
            figure.savefig(partial, format=ending, metadata=_METADATA[ending])


def show(figure, alt, saved=None):
    """Show a figure in a notebook, and close it.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        The figure.
    alt : str
        Description of the figure for readers who cannot see it.
    saved : path-like, optional
        A PNG of it that :func:`save` has written, so that it need not be drawn once more.
    """
    from IPython.display import Image, display  # slow to import, and needed in notebooks only

    if saved is None:
        drawn = io.BytesIO()
        figure.savefig(drawn, format="png", dpi="figure")
        picture = Image(drawn.getvalue(), metadata={"alt": alt})
    else:  # in a file two pixels make one of a page, which sharp screens show
        picture = Image(Path(saved).read_bytes(), retina=True, metadata={"alt": alt})
    display(picture)
    plt.close(figure)


def panels(rows, columns, height):
    """Figure with empty panels, two columns of a page wide.

    Parameters
    ----------
    rows, columns : int
        Numbers of panels down and across.
    height : float
        Height of a row, in inches.

    Returns
    -------
    figure : matplotlib.figure.Figure
    grid : ndarray of matplotlib.axes.Axes, shape (rows, columns)
    """
    size = (TWO_COLUMNS, height * rows)
    return plt.subplots(rows, columns, figsize=size, squeeze=False)


def algorithm_panels(table, height, columns=1):
    """Figure with titled panels for each algorithm.

    Parameters
    ----------
    table : pandas.DataFrame
        Has a column `algorithm`.
    height : float
        Height of a row, in inches.
    columns : int
        Panels of one algorithm, which are a row. If there is one only, the algorithms stand side
        by side.

    Returns
    -------
    figure : matplotlib.figure.Figure
    rows : list of tuple
        For each algorithm its name, its rows of the table, and its panels.
    """
    groups = list(table.groupby("algorithm", sort=False))
    if columns == 1:
        figure, grid = panels(1, len(groups), height)
        grid = grid.T
    else:
        figure, grid = panels(len(groups), columns, height)
    for (name, _), row in zip(groups, grid, strict=True):
        for axes in row:
            axes.set_title(get_algorithm(name).label)
    return figure, [(*group, row) for group, row in zip(groups, grid, strict=True)]


def evaluators_number(evaluators):
    """M as readers see it.

    Parameters
    ----------
    evaluators : int, None or pandas.NA
        M.

    Returns
    -------
    int or str
        The number itself; "∞" for None and <NA>.
    """
    return "∞" if pd.isna(evaluators) else evaluators


def evaluators_label(evaluators):
    r"""Label of a number of evaluators in a legend.

    Parameters
    ----------
    evaluators : int or pandas.NA
        M; missing for infinitely many.

    Returns
    -------
    str

    Examples
    --------
    >>> evaluators_label(16)
    '$M = 16$'
    """
    return r"$M = \infty$" if pd.isna(evaluators) else f"$M = {evaluators}$"


def evaluators_color(evaluators):
    """Colour of a number of evaluators, the same in all studies: the more, the darker.

    Parameters
    ----------
    evaluators : int or pandas.NA
        M; missing for infinitely many, which have a colour of their own.

    Returns
    -------
    color
    """
    if pd.isna(evaluators):
        return ALONE
    # Between 16 and 256 nearly even in log M, and never lighter or darker than can be told apart.
    steps = (np.log2(evaluators) - 6) / 2
    place = 1.4 * np.tanh(np.arctanh(1 / 1.4) * steps)
    return mpl.colormaps["inferno"](0.43 - 0.31 * place)


def colors(count):
    """Colours for curves in order, from light to dark.

    Parameters
    ----------
    count : int
        Number of colours.

    Returns
    -------
    list of tuple
        Equally spaced in lightness, so that they differ in grey and for any colour vision.
    """
    return [mpl.colormaps["inferno"](x) for x in np.linspace(0.74, 0.12, count)]


def marker(index):
    """Marker of a curve, which tells it apart where its colour does not.

    Parameters
    ----------
    index : int
        Number of the curve, from zero.

    Returns
    -------
    str
    """
    return _MARKERS[index % len(_MARKERS)]


def band(axes, x, low, high, color, alpha, **options):
    """Shade the interval around a curve.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The panel.
    x, low, high : array_like, float
        Positions, and the ends of the intervals.
    color : color
        Colour of the curve.
    alpha : float
        Opacity in [0, 1].
    **options
        Passed on to Matplotlib.
    """
    axes.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0, **options)


def zero_line(axes):
    """Draw a horizontal line at zero.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        The panel.
    """
    axes.axhline(0, color="0.3", linewidth=0.8)


def share_legend(figure, columns, title=None):
    """Put one legend above all panels, with each label once.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
        Has panels with labelled curves.
    columns : int
        Number of columns of the legend.
    title : str, optional
        A line above the labels.
    """
    found = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    place = {"loc": "outside upper center", "title": title, "title_fontsize": 7.5}
    figure.legend(found.values(), found.keys(), ncols=columns, **place)


def plain_decades(axis):
    """Label a logarithmic axis with plain numbers, more per decade if it has few decades.

    Parameters
    ----------
    axis : matplotlib.axis.Axis
        Axis of a panel on which everything has been drawn.
    """
    low, high = axis.get_view_interval()
    decades = np.log10(high / low)
    marks = (1, 1.5, 2, 3, 5, 7) if decades < 1 else (1, 2, 5) if decades < 3 else (1,)
    axis.set_major_locator(mpl.ticker.LogLocator(subs=marks))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_locator(mpl.ticker.NullLocator())
