"""Figures of verdicts: statements by readings, and the neighbourhood of the chosen steps."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from pgpd_hf.algorithms import get_algorithm
from replication.figures.style import TWO_COLUMNS, panels
from replication.statements.report import SIGNS, UNDECIDABLE, sign

# Dark, middle and white, which differ in grey and for any colour vision; and a sign in each.
_FACES = {"+": "#1b5e7d", "-": "#f2a541", "?": "white"}
_EDGES = _FACES | {"?": "0.6"}
_INKS = {"+": "white", "-": "black", "?": "0.35"}
_SHOWN = {"reproduced": "shown to hold", "contradicted": "shown to fail"}
_SHOWN |= {"inconclusive": "neither"}
_MEANINGS = {mark: f"{verdict}: {_SHOWN[verdict]}" for verdict, mark in SIGNS.items()}
_MEANINGS |= {UNDECIDABLE: "no run decides"}
# Blocks at the end: statements that the paper does not make, and those that need no run.
_APART = {"ours": "Our own questions", "arithmetic": "By construction, without a run"}
_FRAMED = "Framed: wrong data on which the statement has to fail."
_STILL = "* says little: the curve hardly leaves its start, for any number of people M"
_ROW, _WIDEST = 0.165, 0.26  # inches: height of a row, largest width of a cell
_RIGHT, _TOP, _BOTTOM = 0.5, 1.4, 0.1  # margins in inches
_LETTER = 0.05  # inches, of a label
_SLANTED, _UPRIGHT = 50, 90  # degrees, of titles of columns
_LINE = 0.11  # inches between lines of text
_GAP, _SIGN = 0.4, 1.25  # of a cell: between columns, and from the legend's signs to the columns
_TEXT = {"fontsize": 6.6, "va": "center"}
_BOLD = _TEXT | {"fontweight": "bold", "color": "0.15"}
_CENTRED = {"ha": "center", "va": "center", "fontsize": 6.2}
_FRAME = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.6}
_SHORTFALLS = {"cmap": "cividis_r", "vmin": -0.2}


def matrix(table, marks=(), sharing=(), brackets=None, note=None):
    """Draw verdicts: statements down, readings across, that of the study itself first."""
    # Colour and sign of a cell are the verdict; it is struck out where no run decides, as where a
    # reading lacks a statement, has an asterisk where `moved` is false, and a frame where
    # `had_to_fail` is true. Readings of `marks` have a gap before them. Those of `sharing` look at
    # the runs of the first one in another way, and stand beside it under a bracket, as the readings
    # of each of `brackets` do. At the bottom verdicts are counted, but not those on statements of
    # other kinds than "measured".
    first, *others = table["reading"].drop_duplicates()
    same = [first, *(name for name in others if name in sharing)]
    rest = [name for name in others if name not in sharing]
    gaps = _GAP * np.cumsum([name in {*rest[:1], *marks} for name in same + rest])
    columns = dict(zip(same + rest, np.arange(len(gaps)) + gaps, strict=True))
    blocks = _blocks(table.drop_duplicates("claim"))
    still = table[~table["moved"].astype(bool)] if "moved" in table else table[:0]
    still = set(zip(still["claim"], still["reading"], strict=True))
    framed = table[table["had_to_fail"].astype(bool)] if "had_to_fail" in table else table[:0]
    framed = set(zip(framed["claim"], framed["reading"], strict=True))
    told = _STILL if still else None, _FRAMED if framed else None, note
    notes = [text for text in told if text]
    height = sum(1 + _GAP + len(block) for block in blocks.values()) + 1 + len(_MEANINGS)
    labels = [label for block in blocks.values() for label in block.values()]
    legend = _LETTER * max(map(len, _MEANINGS.values())) + 1.1 * _SIGN * _WIDEST
    left = 0.1 + max(_LETTER * max(map(len, labels)), legend)
    least = 0.1 + _LETTER * max(map(len, notes), default=0)
    rows = height + len(notes)
    axes, inch = _page(gaps[-1] + len(gaps), rows, left, least, max(map(len, columns)))
    cells = itertools.product(itertools.chain(*blocks.values()), columns)
    signs = dict.fromkeys(cells, UNDECIDABLE)  # where a reading lacks a statement
    signs |= {(row["claim"], row["reading"]): sign(row) for _, row in table.iterrows()}
    y = 0
    for heading, labels in blocks.items():
        axes.text((0.05 - left) * inch, y + 0.5, heading, **_BOLD)
        for claim, label in labels.items():
            y += 1
            axes.text(-0.08 * inch, y + 0.5, label, ha="right", **_TEXT)
            for reading, x in columns.items():
                mark = signs[claim, reading]
                _cell(axes, x, y, mark)
                if (claim, reading) in framed:
                    place = (x + 0.06, y + 0.07), 0.88, 0.86
                    axes.add_patch(Rectangle(*place, clip_on=False, **_FRAME))
                if (claim, reading) in still:
                    axes.text(x + 0.75, y + 0.5, "*", color=_INKS.get(mark, "0.35"), **_CENTRED)
        y += 1 + _GAP
    axes.text((0.05 - left) * inch, y + 0.5, "Number of verdicts", **_BOLD)
    counted = [claim for heading in set(blocks) - set(_APART.values()) for claim in blocks[heading]]
    _count(axes, columns, y, inch, {key: signs[key] for key in signs if key[0] in counted})
    for line, text in enumerate(notes):
        axes.text((0.05 - left) * inch, height + line + 0.6, text, **_TEXT)
    shared = {"the same runs": same} if same[1:] else {}
    _name(axes, columns, shared | (brackets or {}), _angle(inch))
    return axes.figure


def _page(columns, rows, left, least, letters):
    """Axes in units of cells, and how many of them make an inch across."""
    width = min(TWO_COLUMNS - left - _RIGHT, _WIDEST * columns)
    slanted = _angle(columns / width) == _SLANTED
    top = min(_TOP, 0.4 + 0.045 * letters) if slanted else 0.35 + _LETTER * letters
    height = top + _BOTTOM + _ROW * rows
    page = min(max(left + width + 1.5 * _RIGHT, least), TWO_COLUMNS)
    figure, axes = plt.subplots(figsize=(page, height))
    figure.set_layout_engine("none")
    across = left / page, width / page
    axes.set_position([across[0], _BOTTOM / height, across[1], _ROW * rows / height])
    axes.set(xlim=(0, columns), ylim=(rows, 0))
    axes.axis("off")
    return axes, columns / width


def _angle(inch):
    """Slope of titles; those of narrow columns, of which `inch` make one, stand upright."""
    room = np.sin(np.radians(_SLANTED)) / inch
    return _SLANTED if room > _LINE else _UPRIGHT


def _blocks(claims):
    """Labels of statements by claim, in blocks by heading."""
    blocks = {}
    for _, row in claims.iterrows():
        heading, label = _APART.get(row["kind"], "Theorems and text"), row["statement"]
        if row["kind"] not in _APART and "experiment" in row["source"]:
            algorithm, _, label = label.rpartition(": ")
            heading = f"{algorithm}, experiment" if algorithm else "Experiment"
        blocks.setdefault(heading, {})[row["claim"]] = label
    apart = {name: blocks.pop(name) for name in _APART.values() if name in blocks}
    return blocks | apart


def _cell(axes, x, y, mark):
    """Draw one verdict."""
    if mark == UNDECIDABLE:
        ends = [x + 0.3, x + 0.7], [y + 0.72, y + 0.28]
        axes.plot(*ends, color="0.7", linewidth=0.7, clip_on=False)
        return
    look = {"facecolor": _FACES[mark], "edgecolor": _EDGES[mark], "linewidth": 0.5}
    axes.add_patch(Rectangle((x + 0.06, y + 0.07), 0.88, 0.86, clip_on=False, **look))
    ink = {"color": _INKS[mark], "fontweight": "bold", "fontsize": 7.5}
    axes.text(x + 0.5, y + 0.53, mark.replace("-", "−"), **(_CENTRED | ink))


def _count(axes, columns, y, inch, signs):
    """Draw how often each verdict occurs in a column, with what the signs mean."""
    for mark, meaning in _MEANINGS.items():
        y += 1
        axes.text(-_SIGN - 0.08 * inch, y + 0.5, meaning, ha="right", **_TEXT)
        _cell(axes, -_SIGN, y, mark)
        for reading, x in columns.items():
            count = sum(key[1] == reading and found == mark for key, found in signs.items())
            axes.text(x + 0.5, y + 0.5, str(count), color="0.2", **_CENTRED)


def _name(axes, columns, brackets, angle):
    """Write readings above their columns at an angle, below these brackets over some of them."""
    turned = {"rotation": angle, "rotation_mode": "anchor", "ha": "left"}
    place, turned["va"] = (0.4, "bottom") if angle == _SLANTED else (0.5, "center")
    for reading, x in columns.items():
        axes.text(x + place, -0.25 - 1.3 * bool(brackets), reading, **(_TEXT | turned))
    for text, names in brackets.items():
        left, right = columns[names[0]] + 0.1, columns[names[-1]] + 0.9
        ends = [left, left, right, right], [0.6, 0.3, 0.3, 0.6]
        axes.plot(*ends, color="0.3", linewidth=0.8, clip_on=False)
        axes.text((left + right) / 2, -0.3, text, color="0.3", **_CENTRED)


def step_map(tables):
    """Draw heat maps over both step sizes: algorithms down, quantities across."""
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
            limit = most if counts else 1
            colors = {"cmap": "viridis", "vmin": 0} if counts else _SHORTFALLS
            axes.imshow(values.to_numpy(), origin="lower", aspect="auto", vmax=limit, **colors)
            for (i, j), value in np.ndenumerate(values.to_numpy()):
                dark = value < limit / 2 if counts else value > 0.4
                text = f"{value:.0f}" if counts else f"{value:.3f}"
                look = _CENTRED | {"color": "white" if dark else "black"}
                axes.text(j, i, text, **look)
            axes.set_xticks(range(values.shape[1]), [f"{v:g}" for v in values.columns])
            axes.set_yticks(range(values.shape[0]), [f"{v:g}" for v in values.index])
            axes.grid(False)
            axes.set_title(title, fontsize=7.5)
            axes.set_xlabel("dual step, times the calibrated")
        row[0].set_ylabel("primal step, times the calibrated")
    return figure
