"""One style for all figures.

Files are the same bytes whenever their content is: no dates, no random identifiers, embedded
TrueType fonts that ship with Matplotlib.
"""

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pgpd_hf.support.storage import replacing

FORMATS = ("pdf", "svg", "png")
ONE_COLUMN = 3.35  # inches
TWO_COLUMNS = 6.9
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
