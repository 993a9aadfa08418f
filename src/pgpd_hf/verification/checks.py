"""Checks of tables, figures and code against the reference.

Each returns lines that name what differs, and none if all agrees.
"""

import filecmp
import hashlib
import json
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.testing.compare import compare_images
from matplotlib.testing.exceptions import ImageComparisonFailure

from pgpd_hf.figures import panels, style
from pgpd_hf.support import provenance, storage
from pgpd_hf.verification import platforms
from pgpd_hf.verification.tables import TABLES, read_file

DIGESTS = "SHA256SUMS"
PLATFORM = "platform.json"
TOLERANCE = 1e-8  # of numbers on another platform; why: reference/README.md
PIXEL_TOLERANCE = 14  # root mean square over a picture, of 255
CODE = "Snakefile requirements.lock config/config.yaml config/claims.yaml config/readings".split()
CODE += ["notebooks", "src", "workflow"]
# Other bits have other digests, and a ratio may be that of two rounding errors.
_OF_BITS = ["sha256", "ratio"]


def write_reference(root, reference, results, figures, tables=TABLES):
    """Write the reference of a complete study.

    Parameters
    ----------
    root : pathlib.Path
        Folder of the project.
    reference, figures : pathlib.Path
        Folders in the project, of which the second has the figures of the same study.
    results : pathlib.Path
        Results of the study, wherever they are.
    tables : sequence of Table
        What to write; other tables stay as they are, and in the list of digests.

    Raises
    ------
    FileNotFoundError
        If the study is not complete.
    """
    for table in tables:
        with storage.replacing(reference / f"{table.name}.csv") as partial:
            table.load(results).to_csv(partial, index=False, lineterminator="\n")
    with storage.replacing(reference / PLATFORM) as partial:
        partial.write_text(json.dumps(platforms.describe(), indent=2) + "\n", encoding="utf-8")
    paths = [path for path in figures.glob("*") if path.suffix[1:] in style.FORMATS]
    paths += [*reference.glob("*.csv"), reference / PLATFORM]
    lines = [f"{_digest(path)}  {path.relative_to(root).as_posix()}\n" for path in sorted(paths)]
    with storage.replacing(reference / DIGESTS) as partial:
        partial.write_text("".join(lines), encoding="utf-8")


def check_digests(root, reference):
    """Compare the reference and the figures with the reference's list of digests.

    Parameters
    ----------
    root, reference : pathlib.Path
        Folder of the project, and the reference in it.

    Returns
    -------
    list of str
    """
    lines = (reference / DIGESTS).read_text(encoding="utf-8").splitlines()
    known = {root / name: digest for digest, _, name in (line.partition("  ") for line in lines)}
    found = {path: _digest(path) for path in {*known, *reference.glob("*.csv")} if path.is_file()}
    return [
        f"{path.relative_to(root)}: " + ("missing" if path not in found else f"not as in {DIGESTS}")
        for path in sorted(known.keys() | found)
        if known.get(path) != found.get(path)
    ]


def check_code(root):
    """Compare code, configuration and notebooks with the commit that is checked out.

    Parameters
    ----------
    root : pathlib.Path
        Folder of the project.

    Returns
    -------
    list of str, or str
        Altered and new files; why nothing was compared, if the folder is not a git repository.
    """
    changed = provenance.changes(root, *CODE)
    if changed is None:
        return "this folder is not a git repository"
    return [f"{line[3:]}: {'new' if line[0] == '?' else 'altered'}" for line in changed]


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
        Whether files may be missing: they are passed over.

    Returns
    -------
    dict of str to list of str
        By table.
    """
    lines = defaultdict(list)
    for table in tables:
        try:
            expected = read_file(reference / f"{table.name}.csv")
            found = table.load(results)
            if table.parts and partial:
                rows, others = (frame.set_index(table.parts).index for frame in (expected, found))
                expected, found = expected[rows.isin(others)], found[others.isin(rows)]
            if expected.empty:
                raise FileNotFoundError
            lines[table.name] += compare(table, expected, found, 0.0 if exact else TOLERANCE)
        except FileNotFoundError:
            if not partial:
                lines[table.name].append(f"{table.files}: missing")
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
    if table.parts:  # files have another order than their rows in a table of all
        expected = expected.sort_values(table.parts, kind="stable")
        found = found.sort_values(table.parts, kind="stable")
    rows, others = table.rows(expected), table.rows(found)
    if not rows.equals(others):
        lines = [f"{table.place(row)}: missing" for row in rows.difference(others)]
        lines += [f"{table.place(row)}: not in the reference" for row in others.difference(rows)]
        return lines or [f"{table.files}: rows in another order, or twice"]
    lines = []
    for column in expected.columns.drop(_OF_BITS if tolerance else [], errors="ignore"):
        here, there = expected[column].to_numpy(), found[column].to_numpy()
        differ = here != there
        if tolerance and differ.any():
            numbers = (pd.to_numeric(pd.Series(side), "coerce") for side in (here, there))
            first, second = (side.to_numpy(float) for side in numbers)
            differ &= ~(abs(first - second) <= tolerance * np.maximum(1.0, abs(first)))
        lines += [
            f"{table.place(rows[at])}: {column}: expected {_quoted(here[at])}, "
            f"found {_quoted(there[at])}"
            for at in np.flatnonzero(differ)
        ]
    return lines


def check_figures(found, expected, exact=True):
    """Compare all figures of a folder with those of the same names in another one.

    Parameters
    ----------
    found, expected : pathlib.Path
        Folders. Of a picture that differs, the difference is written into the first one.
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
    """Draw the figure from the curves of the reference, and compare.

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
        table = pd.read_csv(path, dtype={"evaluators": "Int64"})
        drawings = {"figure1": panels.figure1(table)}
        for algorithm in table["algorithm"].unique():
            for metric in panels.METRIC_LABELS:
                drawings[f"{algorithm}_{metric}"] = panels.panel(table, algorithm, metric)
    except (OSError, KeyError, ValueError) as error:
        return [f"{path}: {error}"]
    with tempfile.TemporaryDirectory() as scratch:
        for name, drawing in drawings.items():
            style.save(drawing, scratch, name)
        style.plt.close("all")
        return check_figures(Path(scratch), figures, exact)


def _is_same_picture(expected, found):
    if found.suffix != ".png":  # what it shows is in the PNG of the same name
        return expected.exists()
    try:
        return compare_images(expected, found, PIXEL_TOLERANCE) is None
    except (OSError, ImageComparisonFailure):  # there is none, or one of another size
        return False


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _quoted(cell):
    """Show a cell; twelve digits of a digest say as much as all 64."""
    return f"{cell[:12]}..." if len(cell) == 64 and " " not in cell else cell or "nothing"
