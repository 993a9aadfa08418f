"""Checks of tables, figures and code against the reference.

Each returns lines that name what differs, and none if all agrees.
"""

import filecmp
import json
import tempfile
from collections import defaultdict
from importlib import metadata
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.testing.compare import compare_images
from matplotlib.testing.exceptions import ImageComparisonFailure

from replication.figures import panels, style
from replication.files import provenance, storage
from replication.verify.tables import TABLES, read_file

PLATFORM = "platform.json"
PACKAGES = ("numpy", "scipy", "numba", "llvmlite", "pandas", "matplotlib", "pillow")
TOLERANCE = 1e-8  # of numbers on another platform; why: reference/README.md
PIXEL_TOLERANCE = 14  # root mean square over a picture, of 255
CODE = ["Snakefile", "Makefile", "pyproject.toml", "requirements.lock"]
CODE += ["notebooks", "src", "tools", "workflow"]
CODE += ["config/analyses", "config/environments", "config/readings"]
_FILES = "config claims grid steps races inference confirmation settled hard".split()
_FILES += ["hard-pilot", "hard-inference", "hard-confirmation", "hard-races"]
CODE += [f"config/{name}.yaml" for name in _FILES]
# Columns that are compared by their bits or not at all: digests, and ratios that may be rounding.
_OF_BITS = ["sha256", "ratio", "worst"]


def describe_platform():
    """Describe what the last bits depend on: the machine, and packages that compute or draw."""
    return provenance.machine() | {name: metadata.version(name) for name in PACKAGES}


def check_platform(reference):
    """What differs between this platform and the one that the reference is from, line by line."""
    recorded, here = storage.read_json(reference / PLATFORM), describe_platform()
    return [
        f"{name}: {recorded.get(name, 'nothing')} recorded, {here.get(name, 'nothing')} here"
        for name in {**recorded, **here}
        if recorded.get(name) != here.get(name)
    ]


def write_reference(reference, results, tables=TABLES):
    """Write these tables of the reference; with those of the figure also the platform."""
    for table in tables:
        content = table.load(results)
        with storage.replacing(reference / f"{table.name}.csv") as partial:
            content.to_csv(partial, index=False, lineterminator="\n")
    if any(table.target == "figures" for table in tables):
        description = json.dumps(describe_platform(), indent=2) + "\n"
        (reference / PLATFORM).write_text(description, encoding="utf-8")


def check_files(root, *paths):
    """Files that differ from the commit checked out, or why nothing was compared."""
    try:
        return [f"{name}: {state}" for name, state in provenance.changes(root, *paths).items()]
    except OSError as error:
        return str(error)


def check_tables(reference, results, tables=TABLES, exact=True, partial=False):
    """Compare results with the reference, by bits or within tolerance: lines by table."""
    lines = defaultdict(list)
    for table in tables:
        try:
            expected, found = read_file(reference / f"{table.name}.csv"), table.load(results)
            lines[table.name] += compare(table, expected, found, 0.0 if exact else TOLERANCE)
        except FileNotFoundError as error:
            if not partial:
                lines[table.name].append(str(error))
        except (KeyError, ValueError) as error:
            lines[table.name].append(str(error))
    return lines


def compare(table, expected, found, tolerance=0.0):
    """Compare two versions of a table, as text, cell by cell: a line for each that differs."""
    # Numbers agree if they differ by at most the tolerance, times their size where it exceeds one;
    # with zero, only if they have the same bits.
    if [*expected] != [*found]:
        odd = ", ".join(sorted({*expected} ^ {*found})) or "order"
        return [f"{table.files}: columns differ: {odd}"]
    if expected.equals(found):
        return []
    # Files have another order than their rows in a table of all.
    expected, found = (
        frame.set_axis(table.rows(frame)).sort_index() for frame in (expected, found)
    )
    rows, others = expected.index, found.index
    if not rows.equals(others):
        lines = [f"{table.place(row)}: missing" for row in rows.difference(others)]
        lines += [f"{table.place(row)}: not in the reference" for row in others.difference(rows)]
        return lines or [f"{table.files}: rows that are there twice"]
    differ = expected != found
    if tolerance:
        differ[differ.columns.intersection(_OF_BITS)] = False
        first, second = (frame.apply(pd.to_numeric, errors="coerce") for frame in (expected, found))
        near = (first - second).abs() <= tolerance * first.abs().clip(lower=1.0)
        differ &= ~(near & np.isfinite(first))
    return [
        f"{table.place(rows[row])}: {expected.columns[column]}: "
        f"expected {expected.iat[row, column] or 'nothing'}, "
        f"found {found.iat[row, column] or 'nothing'}"
        for row, column in np.argwhere(differ.to_numpy())
    ]


def check_figures(found, expected, exact=True):
    """Compare figures, by bytes or by pixels; a picture of what differs is written beside them."""
    names = sorted(path.name for path in found.glob("*") if path.suffix[1:] in style.FORMATS)
    same, _, _ = filecmp.cmpfiles(found, expected, names, shallow=False)
    if not exact:
        same += [name for name in names if _is_same_picture(expected / name, found / name)]
    return [f"{expected.name}/{name}: another figure" for name in names if name not in same]


def check_drawings(reference, figures, exact=True):
    """Draw Figure 1, and the same for random environments, from the reference, and compare."""
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    with tempfile.TemporaryDirectory() as scratch:
        for table, figure in {"curves": "figure1", "instances": "instances"}.items():
            path = reference / f"{table}.csv"
            try:
                drawing = panels.figure1(pd.read_csv(path, dtype={"evaluators": "Int64"}))
            except (OSError, KeyError, ValueError) as error:
                return [f"{path}: {error}"]
            style.save(drawing, scratch, figure)
            style.plt.close(drawing)
        return check_figures(Path(scratch), figures, exact)


def _is_same_picture(expected, found):
    if found.suffix != ".png":  # what it shows is in the PNG of the same name
        return expected.exists()
    try:
        return compare_images(expected, found, PIXEL_TOLERANCE) is None
    except (OSError, ImageComparisonFailure):  # there is none, or one of another size
        return False
