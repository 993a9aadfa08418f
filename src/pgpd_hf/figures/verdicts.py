"""Figures of verdicts: statements by readings, and the neighbourhood of the calibrated steps."""

import itertools
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.claims.verdicts import VERDICTS
from pgpd_hf.figures.style import TWO_COLUMNS, panels

# Dark, middle and white, which differ in grey and for any colour vision.
COLORS = {"reproduced": "#1b5e7d", "contradicted": "#f2a541", "inconclusive": "#ffffff"}
INKS = {"reproduced": "white", "contradicted": "black", "inconclusive": "0.35"}
_CELL = 0.18  # inches, height of a row
_TEXT = 6.2  # points
_CENTRED = {"ha": "center", "va": "center", "fontsize": 5.6}
_SHORTFALLS = {"cmap": "cividis_r", "vmin": -0.05}
_LEGEND = (
    "Number: distance of the estimate from the edge of the criterion's region, in hundredths "
    "(of the largest value, of an exponent,\n"
    "of |S||A|); positive inside, where the statement holds. "
    "A dot: no run of this reading decides. Intervals and p values: claims.csv."
)


def matrix(table, marks=()):
    """Draw all verdicts: statements down, readings across.

    Parameters
    ----------
    table : pandas.DataFrame
        Tables of verdicts with the column `reading`.
    marks : sequence of str
        Readings that have a gap before them.

    Returns
    -------
    matplotlib.figure.Figure
        The colour of a cell is the verdict, its number the effect in hundredths.
    """
    readings = list(table["reading"].drop_duplicates())
    claims = table.drop_duplicates("claim").set_index("claim")
    gap = 0.35  # of a cell
    x = np.arange(len(readings)) + gap * np.cumsum([name in marks for name in readings])
    changes = [first != second for first, second in itertools.pairwise(_blocks(claims))]
    y = np.arange(len(claims)) + gap * np.cumsum([False, *changes])
    bottom = y[-1] + 1 + gap
    left, top, foot = 2.08, 1.3, 0.5  # inches
    width = min(TWO_COLUMNS - left - 0.42, 0.6 * len(readings))
    figure, axes = plt.subplots(figsize=(TWO_COLUMNS, top + foot + _CELL * (bottom + 3)))
    figure.set_layout_engine("none")
    height = figure.get_figheight()
    axes.set_position(
        [left / TWO_COLUMNS, foot / height, width / TWO_COLUMNS, 1 - (top + foot) / height]
    )
    inch = (x[-1] + 1.1) / width  # in cells
    columns = dict(zip(readings, x, strict=True))
    rows = dict(zip(claims.index, y, strict=True))
    for _, row in table.iterrows():
        _cell(axes, columns[row["reading"]], rows[row["claim"]], row)
    name = partial(axes.text, -0.06 * inch, ha="right", va="center", fontsize=_TEXT)
    for place, statement in zip(y, claims["statement"], strict=True):
        name(place + 0.5, statement)
    slanted = {"rotation": 50, "rotation_mode": "anchor", "ha": "left", "va": "bottom"}
    for reading, place in columns.items():
        axes.text(place + 0.5, -0.3, reading, fontsize=_TEXT, **slanted)
    for k, verdict in enumerate(VERDICTS):
        name(bottom + k + 0.5, verdict)
        edge = {"edgecolor": "0.5", "linewidth": 0.5, "clip_on": False}
        corner = (-1.02 * inch, bottom + k + 0.2)
        axes.add_patch(Rectangle(corner, 0.18 * inch, 0.6, facecolor=COLORS[verdict], **edge))
        for reading, place in columns.items():
            count = ((table["reading"] == reading) & (table["verdict"] == verdict)).sum()
            axes.text(place + 0.5, bottom + k + 0.5, str(count), color="0.2", **_CENTRED)
    axes.set_xlim(-0.05, x[-1] + 1.05)
    axes.set_ylim(bottom + 3, -0.05)
    axes.axis("off")
    figure.text(0.01, 0.06 / height, _LEGEND, fontsize=6, color="0.25", linespacing=1.35)
    return figure


def _blocks(claims):
    """Group of each statement: the algorithm of its panels, or the theory."""
    return [
        name.split("-")[0] if "experiment" in source else "theory"
        for name, source in claims["source"].items()
    ]


def _cell(axes, x, y, row):
    """Draw one verdict."""
    verdict = row["verdict"]
    if np.isnan(row["effect"]):
        axes.text(x + 0.5, y + 0.5, "·", color="0.5", **(_CENTRED | {"fontsize": _TEXT}))
        return
    edge = "0.7" if verdict == "inconclusive" else COLORS[verdict]
    look = {"facecolor": COLORS[verdict], "edgecolor": edge, "linewidth": 0.4}
    axes.add_patch(Rectangle((x + 0.05, y + 0.06), 0.9, 0.88, **look))
    axes.text(x + 0.5, y + 0.53, _number(row["effect"]), color=INKS[verdict], **_CENTRED)


def _number(effect):
    """An effect in hundredths, in at most three characters."""
    points = 100 * effect
    size = abs(points)
    if size >= 99.5:
        return "≫" if effect > 0 else "≪"
    sign = "+" if points >= 0 else "−"
    if size >= 0.95:
        return f"{sign}{size:.0f}"
    return f"{sign}.{10 * size:.0f}"


def step_map(tables):
    """Draw heat maps over both step sizes: algorithms down, quantities across.

    Parameters
    ----------
    tables : dict of pandas.DataFrame
        By algorithm, rows of :func:`pgpd_hf.analyses.sensitivity.explore` for the axis "steps".

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, grid = panels(len(tables), 3, 2.3)
    for row, (algorithm, table) in zip(grid, tables.items(), strict=True):
        numbers = sorted(table["evaluators"].unique())
        middle = numbers[len(numbers) // 2]
        shown = table[table["evaluators"] == middle]
        label, most = get_algorithm(algorithm).label, shown["decidable"].max()
        titles = {
            "gap": f"{label}: gap, M = {middle}",
            "violation": f"{label}: violation, M = {middle}",
            "holding": f"{label}: statements, of {most}",
        }
        for axes, (column, title) in zip(row, titles.items(), strict=True):
            values = shown.pivot(index="first", columns="second", values=column)
            counts = column == "holding"
            limit = most if counts else 0.25
            colors = {"cmap": "viridis", "vmin": 0} if counts else _SHORTFALLS
            axes.imshow(values.to_numpy(), origin="lower", aspect="auto", vmax=limit, **colors)
            for (i, j), value in np.ndenumerate(values.to_numpy()):
                dark = value < limit / 2 if counts else value > 0.1
                text = f"{value:.0f}" if counts else f"{value:.3f}"
                look = _CENTRED | {"fontsize": 6, "color": "white" if dark else "black"}
                axes.text(j, i, text, **look)
            axes.set_xticks(range(values.shape[1]), [f"{v:g}" for v in values.columns])
            axes.set_yticks(range(values.shape[0]), [f"{v:g}" for v in values.index])
            axes.grid(False)
            axes.set_title(title, fontsize=7.5)
            axes.set_xlabel("dual step, times the calibrated")
        row[0].set_ylabel("primal step, times the calibrated")
    return figure
