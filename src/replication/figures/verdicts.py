"""Figures of verdicts: statements by readings."""

import itertools
import textwrap

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Rectangle

from replication.figures.style import TWO_COLUMNS
from replication.statements.report import SIGNS, UNDECIDABLE, sign

# Dark, middle and white, which differ in grey and for any colour vision; and a sign in each.
_FACES = {"+": "#1b5e7d", "-": "#f2a541", "?": "white"}
_EDGES = _FACES | {"?": "0.6"}
_INKS = {"+": "white", "-": "black", "?": "0.35"}
_SHOWN = {"reproduced": "shown to hold", "contradicted": "shown to fail"}
_SHOWN |= {"inconclusive": "neither"}
_MEANINGS = {mark: f"{verdict}: {_SHOWN[verdict]}" for verdict, mark in SIGNS.items()}
_MEANINGS |= {UNDECIDABLE: "no run decides"}
_OURS, _OTHERS = "Our own questions", "Theorems and text"  # blocks below the experiment's
_NAMES = {  # as readers say it; tables have short names
    "2 T": "twice as long",
    "slack instances": "inactive constraints",
    "binding instances": "environments",
    "instances": "environments",
}
_FRAMED = "Framed: wrong data on which the statement has to fail."
_STILL = "* says little: the curve hardly leaves its start, for any number of people M"
_ROW, _WIDEST = 0.17, 0.26  # inches: height of a row, largest width of a cell
_BOTTOM = 0.1  # inches
_LETTER = 0.0625  # inches, of a label; those of a title are an eighth wider
_SLANTED, _UPRIGHT = 50, 90  # degrees, of names of columns
_LINE = 0.135  # inches between lines of text
_GAP, _SIGN = 0.4, 1.25  # of a cell: between columns, and from the legend's signs to the columns
_TEXT = {"fontsize": 8, "va": "center"}
_BOLD = _TEXT | {"fontweight": "bold", "color": "0.15"}
_CENTRED = _TEXT | {"ha": "center"}
_FRAME = {"facecolor": "none", "edgecolor": "black", "linewidth": 1.6}


def matrix(table, marks=(), sharing=(), brackets=None, note=None, title=None):
    """Draw verdicts: statements down, readings across, that of the study itself first."""
    # Colour and sign of a cell are the verdict; it is struck out where no run decides, as where a
    # reading lacks a statement, has an asterisk where `moved` is false, and a frame where
    # `had_to_fail` is true. Readings of `marks` have a gap before them. Those of `sharing` look at
    # the runs of the first one in another way, and stand beside it under a bracket, as the readings
    # of each of `brackets` do. Below the matrix verdicts on the paper's statements are counted.
    columns, same = _columns(table["reading"].drop_duplicates(), marks, sharing)
    blocks = _blocks(table.drop_duplicates("claim"))
    if len(blocks) > 1:  # hardly any reading decides the others
        blocks.pop(_OTHERS, None)
    cells = itertools.product(itertools.chain(*blocks.values()), columns)
    signs = dict.fromkeys(cells, UNDECIDABLE)  # where a reading lacks a statement
    signs |= {(row["claim"], row["reading"]): sign(row) for _, row in table.iterrows()}
    counted = {claim for heading in set(blocks) - {_OURS} for claim in blocks[heading]}
    counted = {key: mark for key, mark in signs.items() if key[0] in counted}
    still, framed = _where(table, "moved", False), _where(table, "had_to_fail", True)
    notes = [text for text in (still and _STILL, framed and _FRAMED, note) if text]
    rows = 1 + len(_MEANINGS) + len(notes)
    rows += sum(1 + _GAP + len(block) for block in blocks.values())
    labels = [label for block in blocks.values() for label in block.values()]
    legend = _LETTER * max(map(len, _MEANINGS.values())) + 1.1 * _SIGN * _WIDEST
    left = 0.1 + max(_LETTER * max(map(len, labels), default=0), legend)
    least = 0.1 + _LETTER * max(map(len, notes), default=0)
    if title is None:
        title = _finding(table.drop_duplicates("claim").set_index("claim")["statement"], counted)
    names = {reading: _named(reading) for reading in columns}
    shared = ({"the same runs": same} if same[1:] else {}) | (brackets or {})
    axes, inch = _page(columns, names, rows, left, least, title, bool(shared))
    y = 0
    for heading, block in blocks.items():
        axes.text((0.05 - left) * inch, y + 0.5, heading, **_BOLD)
        for claim, label in block.items():
            y += 1
            axes.text(-0.08 * inch, y + 0.5, label, ha="right", **_TEXT)
            for reading, x in columns.items():
                key = claim, reading
                _entry(axes, x, y, signs[key], key in framed, key in still)
        y += 1 + _GAP
    heading = "Number of verdicts" + " on the paper's statements" * (_OURS in blocks)
    axes.text((0.05 - left) * inch, y + 0.5, heading, **_BOLD)
    _count(axes, columns, y, inch, counted)
    y += 1 + len(_MEANINGS)
    for text in notes:
        axes.text((0.05 - left) * inch, y + 0.6, text, **_TEXT)
        y += 1
    _name(axes, columns, names, shared, inch)
    return axes.figure


def _columns(readings, marks, sharing):
    """Where the column of each reading is, and which readings look at the runs of the first."""
    first, *others = readings
    same = [first, *(name for name in others if name in sharing)]
    rest = [name for name in others if name not in sharing]
    gaps = _GAP * np.cumsum([name in {*rest[:1], *marks} for name in same + rest])
    return dict(zip(same + rest, np.arange(len(gaps)) + gaps, strict=True)), same


def _finding(statements, signs):
    """How many statements hold in all columns, and which one fails most often."""
    claims, readings = dict.fromkeys(claim for claim, _ in signs), {it for _, it in signs}
    if not claims:
        return ""
    hold = sum(all(signs[claim, it] == "+" for it in readings) for claim in claims)
    fail = {claim: sum(signs[claim, it] == "-" for it in readings) for claim in claims}
    worst = max(fail, key=fail.get)
    text = f"{hold} of {len(claims)} statements hold in all {len(readings)} columns; "
    if fail[worst] == 0:
        return text + "none fails"
    return text + f"“{statements[worst]}” fails in {fail[worst]}"


def _where(table, column, value):
    """Cells, if there is such a column, in which it has a value."""
    rows = table[table[column].astype(bool) == value] if column in table else table[:0]
    return set(zip(rows["claim"], rows["reading"], strict=True))


def _named(reading):
    """Name of a reading as readers say it."""
    for short, long in _NAMES.items():
        reading = reading.replace(short, long)
    return reading


def _page(columns, names, rows, left, least, title, bracketed):
    """Axes in units of cells, and how many of them make an inch across."""
    count, room = max(columns.values()) + 1, TWO_COLUMNS - left - 0.1
    letters = {reading: _LETTER * len(name) for reading, name in names.items()}
    width = min(room, _WIDEST * count)
    # Slanted names reach beyond their columns.
    across = np.cos(np.radians(_angle(count / width)))
    most = [(room - letters[it] * across) * count / (x + 0.5) for it, x in columns.items()]
    width = min(width, *most)
    angle, inch = np.radians(_angle(count / width)), count / width
    ends = [(x + 0.5) / inch + letters[it] * np.cos(angle) for it, x in columns.items()]
    page = min(max(left + max(width, *ends) + 0.1, least), TWO_COLUMNS)
    share = np.ceil(len(title) * 1.125 * _LETTER / page)  # of lines that are about equally long
    lines = textwrap.wrap(title, int(len(title) / max(share, 1)) + 6, break_on_hyphens=False)
    top = 0.2 + 0.2 * bracketed + max(letters.values()) * np.sin(angle) + 0.16 * len(lines)
    height = top + _BOTTOM + _ROW * rows
    figure, axes = plt.subplots(figsize=(page, height))
    figure.set_layout_engine("none")
    figure.text(0.05 / page, 1 - 0.05 / height, "\n".join(lines), va="top", fontsize=9)
    axes.set_position([left / page, _BOTTOM / height, width / page, _ROW * rows / height])
    axes.set(xlim=(0, count), ylim=(rows, 0))
    axes.axis("off")
    return axes, inch


def _angle(inch):
    """Slope of names; those of narrow columns, of which `inch` make one, stand upright."""
    room = np.sin(np.radians(_SLANTED)) / inch
    return _SLANTED if room > _LINE else _UPRIGHT


def _blocks(claims):
    """Labels of statements by claim, in blocks by heading."""
    blocks = {}
    for _, row in claims.iterrows():
        heading = _OURS if row["kind"] == "ours" else _OTHERS
        label = row["statement"]
        if heading == _OTHERS and "experiment" in row["source"]:
            algorithm, _, label = label.rpartition(": ")
            heading = f"{algorithm}, experiment" if algorithm else "Experiment"
        blocks.setdefault(heading, {})[row["claim"]] = label
    return {name: blocks[name] for name in sorted(blocks, key=lambda it: it in (_OURS, _OTHERS))}


def _entry(axes, x, y, mark, framed, still):
    """Draw one verdict, with a frame and an asterisk where it has them."""
    _cell(axes, x, y, mark)
    if framed:
        axes.add_patch(Rectangle((x + 0.06, y + 0.07), 0.88, 0.86, clip_on=False, **_FRAME))
    if still:
        axes.text(x + 0.75, y + 0.5, "*", color=_INKS.get(mark, "0.35"), **_CENTRED)


def _cell(axes, x, y, mark, width=1):
    """Draw one verdict."""
    if mark == UNDECIDABLE:
        ends = [x + 0.3 * width, x + 0.7 * width], [y + 0.72, y + 0.28]
        axes.plot(*ends, color="0.7", linewidth=0.7, clip_on=False)
        return
    look = {"facecolor": _FACES[mark], "edgecolor": _EDGES[mark], "linewidth": 0.5}
    place = (x + 0.06 * width, y + 0.07), 0.88 * width, 0.86
    axes.add_patch(Rectangle(*place, clip_on=False, **look))
    ink = {"color": _INKS[mark], "fontweight": "bold"}
    axes.text(x + 0.5 * width, y + 0.53, mark.replace("-", "−"), **(_CENTRED | ink))


def _count(axes, columns, y, inch, signs):
    """Draw how often each verdict occurs in a column, with what the signs mean."""
    for mark, meaning in _MEANINGS.items():
        y += 1
        axes.text(-_SIGN - 0.08 * inch, y + 0.5, meaning, ha="right", **_TEXT)
        _cell(axes, -_SIGN, y, mark)
        for reading, x in columns.items():
            count = sum(key[1] == reading and found == mark for key, found in signs.items())
            look = _CENTRED | {"color": "0.2", "rotation": 90 * (_angle(inch) == _UPRIGHT)}
            axes.text(x + 0.5, y + 0.5, str(count), **look)


def _name(axes, columns, names, brackets, inch):
    """Write readings above their columns at an angle, below these brackets over some of them."""
    angle = _angle(inch)
    turned = {"rotation": angle, "rotation_mode": "anchor", "ha": "left"}
    place, turned["va"] = (0.4, "bottom") if angle == _SLANTED else (0.5, "center")
    for reading, x in columns.items():
        axes.text(x + place, -0.25 - 1.3 * bool(brackets), names[reading], **(_TEXT | turned))
    for text, readings in brackets.items():
        left, right = columns[readings[0]] + 0.1, columns[readings[-1]] + 0.9
        ends = [left, left, right, right], [0.6, 0.3, 0.3, 0.6]
        axes.plot(*ends, color="0.3", linewidth=0.8, clip_on=False)
        middle = min((left + right) / 2, axes.get_xlim()[1] - len(text) * _LETTER * inch / 2)
        axes.text(middle, -0.3, text, color="0.3", **_CENTRED)
