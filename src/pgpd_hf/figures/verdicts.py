"""Figures of verdicts: the matrix of statements and readings, and the region around the study."""

import matplotlib as mpl
import numpy as np

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.claims.verdicts import VERDICTS
from pgpd_hf.figures.style import TWO_COLUMNS, plt

# Dark, middle and white: told apart in grey and for any colour vision.
COLORS = {"reproduced": "#1b5e7d", "contradicted": "#f2a541", "inconclusive": "#ffffff"}
INKS = {"reproduced": "white", "contradicted": "black", "inconclusive": "0.35"}
_CELL = 0.18  # inches, height of a row
_TEXT = 6.2  # points
_NUMBERS = 5.6


def matrix(table, marks=()):
    """Draw all verdicts: statements down, readings across.

    Parameters
    ----------
    table : pandas.DataFrame
        Tables of verdicts with the column `reading`.
    marks : sequence of str
        Readings before which a gap is left.

    Returns
    -------
    matplotlib.figure.Figure
        Colour says the verdict; the number is the effect, in hundredths.
    """
    readings = list(table["reading"].drop_duplicates())
    claims = table.drop_duplicates("claim").set_index("claim")
    gap = 0.35
    x = np.arange(len(readings)) + gap * np.cumsum([name in marks for name in readings])
    y = np.arange(len(claims)) + gap * np.cumsum(_changes(_blocks(claims)))
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
    cells = {(row["claim"], row["reading"]): row for _, row in table.iterrows()}
    for i, claim in enumerate(claims.index):
        for j, reading in enumerate(readings):
            row = cells.get((claim, reading))
            if row is not None:
                _cell(axes, x[j], y[i], row)
    for place, statement in zip(y, claims["statement"], strict=True):
        axes.text(-0.06 * inch, place + 0.5, statement, ha="right", va="center", fontsize=_TEXT)
    for place, reading in zip(x, readings, strict=True):
        axes.text(
            place + 0.5,
            -0.3,
            reading,
            rotation=50,
            ha="left",
            va="bottom",
            fontsize=_TEXT,
            rotation_mode="anchor",
        )
    for k, verdict in enumerate(VERDICTS):
        axes.text(-0.06 * inch, bottom + k + 0.5, verdict, ha="right", va="center", fontsize=_TEXT)
        axes.add_patch(
            mpl.patches.Rectangle(
                (-1.02 * inch, bottom + k + 0.2),
                0.18 * inch,
                0.6,
                facecolor=COLORS[verdict],
                edgecolor="0.5",
                linewidth=0.5,
                clip_on=False,
            )
        )
        for place, reading in zip(x, readings, strict=True):
            count = ((table["reading"] == reading) & (table["verdict"] == verdict)).sum()
            axes.text(
                place + 0.5,
                bottom + k + 0.5,
                str(count),
                ha="center",
                va="center",
                fontsize=_NUMBERS,
                color="0.2",
            )
    axes.set_xlim(-0.05, x[-1] + 1.05)
    axes.set_ylim(bottom + 3, -0.05)
    axes.axis("off")
    figure.text(
        0.01,
        0.06 / height,
        "Number: distance of the estimate from the edge of the criterion's region, in hundredths "
        "(of the largest value, of an exponent,\n"
        "of |S||A|); positive inside, where the statement holds. "
        "A dot: no run of this reading decides. Intervals and p values: claims.csv.",
        fontsize=6,
        color="0.25",
        linespacing=1.35,
    )
    return figure


def _blocks(claims):
    """Kind of each statement: which panels it is about, or the theory."""
    return [
        name.split("-")[0] if "experiment" in source else "theory"
        for name, source in claims["source"].items()
    ]


def _changes(names):
    return [i > 0 and name != names[i - 1] for i, name in enumerate(names)]


def _cell(axes, x, y, row):
    """Draw one verdict."""
    verdict = row["verdict"]
    if np.isnan(row["effect"]):
        axes.text(x + 0.5, y + 0.5, "·", ha="center", va="center", fontsize=_TEXT, color="0.5")
        return
    axes.add_patch(
        mpl.patches.Rectangle(
            (x + 0.05, y + 0.06),
            0.9,
            0.88,
            facecolor=COLORS[verdict],
            edgecolor="0.7" if verdict == "inconclusive" else COLORS[verdict],
            linewidth=0.4,
        )
    )
    axes.text(
        x + 0.5,
        y + 0.53,
        _number(row["effect"]),
        ha="center",
        va="center",
        fontsize=_NUMBERS,
        color=INKS[verdict],
    )


def _number(effect):
    """A number in hundredths, in at most three characters."""
    points = 100 * effect
    size = abs(points)
    if size >= 99.5:
        return "≫" if effect > 0 else "≪"
    sign = "+" if points >= 0 else "−"
    if size >= 0.95:
        return f"{sign}{size:.0f}"
    return f"{sign}.{10 * size:.0f}"


def step_map(tables):
    """Draw heat maps over both step sizes: algorithms down, what is measured across.

    Parameters
    ----------
    tables : dict
        By algorithm, rows of :func:`pgpd_hf.analyses.sensitivity.explore` for the axis "steps".

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, grid = plt.subplots(
        len(tables), 3, figsize=(TWO_COLUMNS, 2.3 * len(tables)), squeeze=False
    )
    for row, (algorithm, table) in zip(grid, tables.items(), strict=True):
        crowds = sorted(table["evaluators"].unique())
        middle = crowds[len(crowds) // 2]
        shown = table[table["evaluators"] == middle]
        label = get_algorithm(algorithm).label
        for axes, column, title in zip(
            row,
            ("gap", "violation", "holding"),
            (
                f"{label}: gap, M = {middle}",
                f"{label}: violation, M = {middle}",
                f"{label}: statements, of {shown['decidable'].max()}",
            ),
            strict=True,
        ):
            values = shown.pivot(index="first", columns="second", values=column)
            counts = column == "holding"
            limit = shown["decidable"].max() if counts else 0.25
            axes.imshow(
                values.to_numpy(),
                origin="lower",
                cmap="viridis" if counts else "cividis_r",
                vmin=0 if counts else -0.05,
                vmax=limit,
                aspect="auto",
            )
            for (i, j), value in np.ndenumerate(values.to_numpy()):
                dark = value < limit / 2 if counts else value > 0.1
                text = f"{value:.0f}" if counts else f"{value:.3f}"
                axes.text(
                    j,
                    i,
                    text,
                    ha="center",
                    va="center",
                    fontsize=6,
                    color="white" if dark else "black",
                )
            axes.set_xticks(range(values.shape[1]), [f"{v:g}" for v in values.columns])
            axes.set_yticks(range(values.shape[0]), [f"{v:g}" for v in values.index])
            axes.grid(False)
            axes.set_title(title, fontsize=7.5)
            axes.set_xlabel("dual step, times the calibrated")
        row[0].set_ylabel("primal step, times the calibrated")
    return figure
