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
CODE = (
    "Snakefile requirements.lock notebooks src workflow config/environments config/readings".split()
)
_FILES = "config claims steps races pilot inference confirmation".split()
CODE += [f"config/{name}.yaml" for name in _FILES]
# Columns that are compared by their bits or not at all: digests, and ratios that may be rounding.
_OF_BITS = ["sha256", "ratio", "worst"]


def describe_platform():
    """Describe what the last bits depend on: machine, and packages that compute or draw, as dict.

    Where all of this is as recorded, the same program gives the same bits.
    """
    return provenance.machine() | {name: metadata.version(name) for name in PACKAGES}


def check_platform(reference):
    """Compare this platform with the one that the reference is from.

    Parameters
    ----------
    reference : pathlib.Path
        The folder.

    Returns
    -------
    list of str
        What differs, such as "processor: znver4 recorded, haswell here".

    Raises
    ------
    OSError
        If the record is not JSON; the message names it.
    """
    recorded, here = storage.read_json(reference / PLATFORM), describe_platform()
    return [
        f"{name}: {recorded.get(name, 'nothing')} recorded, {here.get(name, 'nothing')} here"
        for name in {**recorded, **here}
        if recorded.get(name) != here.get(name)
    ]


def write_reference(reference, results, tables=TABLES):
    """Write the reference of a complete study.

    Parameters
    ----------
    reference, results : pathlib.Path
        The folders.
    tables : sequence of Table
        What to write; other tables stay as they are.

    Raises
    ------
    FileNotFoundError
        If the study is not complete.
    """
    reference.mkdir(exist_ok=True)
    for table in tables:
        content = table.load(results).to_csv(index=False, lineterminator="\n")
        (reference / f"{table.name}.csv").write_text(content, encoding="utf-8")
    description = json.dumps(describe_platform(), indent=2) + "\n"
    (reference / PLATFORM).write_text(description, encoding="utf-8")


def check_files(root, *paths):
    """Compare files with the commit that is checked out.

    Parameters
    ----------
    root : pathlib.Path
        Folder of the project.
    paths : str
        Files and folders in it, such as :data:`CODE`.

    Returns
    -------
    list of str, or str
        Altered, missing and new files; why nothing was compared, if git knows of no commit.
    """
    try:
        return [f"{name}: {state}" for name, state in provenance.changes(root, *paths).items()]
    except OSError as error:
        return str(error)


def check_tables(reference, results, tables=TABLES, exact=True, partial=False):
    """Compare results of a study with the reference.

    Parameters
    ----------
    reference, results : pathlib.Path
        The folders.
    tables : sequence of Table
        What to compare.
    exact : bool
        Whether bits have to agree; otherwise numbers have to, within :data:`TOLERANCE`.
    partial : bool
        Whether tables may be missing: they are passed over.

    Returns
    -------
    dict of str to list of str
        By table.
    """
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
    """Compare two versions of a table cell by cell.

    Parameters
    ----------
    table : Table
        Which one.
    expected, found : pandas.DataFrame of str
        The two.
    tolerance : float
        Numbers agree if they differ by at most this much, times their size where it exceeds one;
        with zero, only if they have the same bits.

    Returns
    -------
    list of str
        A line for each cell or row that differs.
    """
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
        differ &= ~((first - second).abs() <= tolerance * first.abs().clip(lower=1.0))
    return [
        f"{table.place(rows[row])}: {expected.columns[column]}: "
        f"expected {expected.iat[row, column] or 'nothing'}, "
        f"found {found.iat[row, column] or 'nothing'}"
        for row, column in np.argwhere(differ.to_numpy())
    ]


def check_figures(found, expected, exact=True):
    """Compare all figures of a folder with those of the same names in another one.

    Parameters
    ----------
    found, expected : pathlib.Path
        Folders. If a picture differs, the difference is written into the first one.
    exact : bool
        Whether the bytes of all files have to agree; otherwise pixels have to, within
        :data:`PIXEL_TOLERANCE`.

    Returns
    -------
    list of str
    """
    names = sorted(path.name for path in found.glob("*") if path.suffix[1:] in style.FORMATS)
    same, _, _ = filecmp.cmpfiles(found, expected, names, shallow=False)
    if not exact:
        same += [name for name in names if _is_same_picture(expected / name, found / name)]
    return [f"{expected.name}/{name}: another figure" for name in names if name not in same]


def check_drawings(reference, figures, exact=True):
    """Draw Figure 1, all its panels in one, from the curves of the reference, and compare.

    Parameters
    ----------
    reference, figures : pathlib.Path
        The reference, and the folder of the committed figures.
    exact : bool
        As for :func:`check_figures`.

    Returns
    -------
    list of str
    """
    style.plt.switch_backend("agg")  # no windows
    style.use_style()
    path = reference / "curves.csv"
    try:
        drawing = panels.figure1(pd.read_csv(path, dtype={"evaluators": "Int64"}))
    except (OSError, KeyError, ValueError) as error:
        return [f"{path}: {error}"]
    with tempfile.TemporaryDirectory() as scratch:
        style.save(drawing, scratch, "figure1")
        style.plt.close(drawing)
        return check_figures(Path(scratch), figures, exact)


def _is_same_picture(expected, found):
    if found.suffix != ".png":  # what it shows is in the PNG of the same name
        return expected.exists()
    try:
        return compare_images(expected, found, PIXEL_TOLERANCE) is None
    except (OSError, ImageComparisonFailure):  # there is none, or one of another size
        return False
