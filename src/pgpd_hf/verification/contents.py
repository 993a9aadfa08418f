"""Result files as rows of text.

Numbers are written in the fewest digits that give the same bits back, so two contents have the
same bits exactly if they have the same text, whatever kind of file they come from.
"""

import csv
import hashlib
import io
import json
import math
from dataclasses import dataclass

import pandas as pd

from pgpd_hf.support.storage import replacing


@dataclass(frozen=True)
class Content:
    """A table of text.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    rows : tuple of tuple of str
        One cell per column.
    """

    columns: tuple
    rows: tuple

    def values(self, columns):
        """List of tuple of str: the cells of some columns, row by row."""
        missing = [name for name in columns if name not in self.columns]
        if missing:
            raise ValueError(f"the column {missing[0]!r} is missing")
        at = [self.columns.index(name) for name in columns]
        return [tuple(row[position] for position in at) for row in self.rows]

    def split(self, columns):
        """Dict of tuple of str to Content: the rows with equal cells in some columns."""
        groups = {}
        for key, row in zip(self.values(columns), self.rows, strict=True):
            groups.setdefault(key, []).append(row)
        return {key: Content(self.columns, tuple(rows)) for key, rows in groups.items()}

    def without(self, columns):
        """Content: the same without some columns."""
        kept = tuple(name for name in self.columns if name not in columns)
        return Content(kept, tuple(self.values(kept)))

    def text(self):
        """Return the table as CSV."""
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([self.columns, *self.rows])
        return buffer.getvalue()

    def digest(self):
        """Return the SHA-256 of the table as CSV, in hexadecimal digits."""
        return hashlib.sha256(self.text().encode()).hexdigest()


@dataclass(frozen=True)
class Difference:
    """How two contents differ.

    Attributes
    ----------
    cells : int
        Number of cells or rows that differ by more than the tolerance.
    first : str
        The first of them, for people; empty if there is none.
    largest : float
        Largest difference within the tolerance, relative where numbers exceed one.
    """

    cells: int
    first: str
    largest: float


def compare(expected, found, keys, tolerance=0.0):
    """Compare two contents cell by cell.

    Parameters
    ----------
    expected, found : Content
        The two.
    keys : sequence of str
        Columns that name a row.
    tolerance : float
        Numbers agree if they differ by this much, times their size where it exceeds one; with
        zero, only if they have the same bits.

    Returns
    -------
    Difference
    """
    if expected.columns != found.columns:
        odd = sorted(set(expected.columns) ^ set(found.columns))
        return Difference(1, f"columns differ: {', '.join(odd) or 'order'}", 0.0)
    if len(expected.rows) != len(found.rows):
        return Difference(
            abs(len(expected.rows) - len(found.rows)),
            f"{len(expected.rows)} rows expected, {len(found.rows)} found",
            0.0,
        )
    cells, first, largest = 0, "", 0.0
    names = expected.values(keys)
    for name, row, other in zip(names, expected.rows, found.rows, strict=True):
        for column, here, there in zip(expected.columns, row, other, strict=True):
            if here == there:
                continue
            distance = _distance(here, there)
            if distance <= tolerance:
                largest = max(largest, distance)
                continue
            cells += 1
            if not first:
                where = ", ".join(f"{key} {part}" for key, part in zip(keys, name, strict=True))
                place = f"{where}: {column}" if where else column
                first = f"{place}: expected {_quoted(here)}, found {_quoted(there)}"
    return Difference(cells, first, largest)


def from_frame(table):
    """Read a data frame.

    Parameters
    ----------
    table : pandas.DataFrame
        Its index is left out.

    Returns
    -------
    Content
    """
    return _parse(table.to_csv(index=False, lineterminator="\n"))


def read_csv(path):
    """Read a CSV file.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Returns
    -------
    Content

    Raises
    ------
    ValueError
        If it is no table; the message names it.
    """
    try:
        content = _parse(path.read_text(encoding="utf-8"))
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path}: not a CSV file ({error})") from None
    if any(len(row) != len(content.columns) for row in content.rows):
        raise ValueError(f"{path}: not a CSV file (rows of different length)")
    return content


def write_csv(path, content):
    """Write a CSV file.

    Parameters
    ----------
    path : path-like
        The file.
    content : Content
        What to write.
    """
    with replacing(path) as partial:
        partial.write_text(content.text(), encoding="utf-8")


def read_parquet(path):
    """Read a Parquet file.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ValueError
        If it is not whole; the message names it.
    """
    try:
        return pd.read_parquet(path)
    except (OSError, ValueError) as error:
        raise ValueError(f"{path}: not a whole Parquet file ({error})") from None


def read_json(path):
    """Read a JSON file.

    Parameters
    ----------
    path : pathlib.Path
        The file.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If it is not JSON; the message names it.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file ({error})") from None


def flatten(tree, prefix=""):
    """Flatten what a JSON file or an archive of arrays holds.

    Parameters
    ----------
    tree : dict, list or scalar
        The content.
    prefix : str
        Name of the whole.

    Returns
    -------
    list of tuple of str
        Pairs of an entry, such as `policy.3.1`, and its value.
    """
    if isinstance(tree, dict | list):
        entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
        name = f"{prefix}." if prefix else ""
        return [pair for key, value in entries for pair in flatten(value, f"{name}{key}")]
    return [(prefix, _text(tree))]


def _text(value):
    return repr(value) if isinstance(value, float) else str(value)


def _parse(text):
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    return Content(tuple(header), tuple(map(tuple, rows)))


def _distance(here, there):
    """Difference of two numbers, relative where the first exceeds one; infinite for words."""
    try:
        first, second = float(here), float(there)
    except ValueError:
        return math.inf
    distance = abs(first - second) / max(1.0, abs(first))
    # Signed zeros are equal, but not the same bits; NaN differs from all.
    return math.inf if math.isnan(distance) else max(distance, math.ulp(0.0))


def _quoted(cell):
    """Show a cell; twelve digits of a digest say as much as all 64."""
    if len(cell) == 64 and " " not in cell:
        return f"{cell[:12]}..."
    return cell or "nothing"
