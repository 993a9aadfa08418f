"""Files that appear whole or not at all, and that are believed only as they were written.

Beside every result but figures, which git compares, lies a hidden file with its SHA-256 digest, in
the format of `sha256sum -c`. A result without one is believed: it may come from elsewhere.
"""

import hashlib
import json
import os
import shutil
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import pandas as pd


class DamagedFile(ValueError):
    """A result that is not as it was written; the message says what to delete."""


@contextmanager
def one_line_errors():
    """Exit with one line, not with a traceback, where a file can be neither read nor written."""
    try:
        yield
    except (DamagedFile, OSError) as error:
        sys.exit(f"error: {error}")


@contextmanager
def replacing(path):
    """Write a file beside its place and move it there once it is complete.

    Parameters
    ----------
    path : path-like
        Where the file shall be.

    Yields
    ------
    pathlib.Path
        Where to write it.

    Raises
    ------
    OSError
        If it cannot be written; the message names the file and the reason.
    """
    try:
        with _beside(Path(path)) as partial:
            yield partial
    except OSError as error:
        reason = error if error.errno is None else os.strerror(error.errno)
        raise OSError(f"{path}: cannot be written: {reason}") from error


@contextmanager
def recording(path):
    """Write a result: as :func:`replacing` does, with its digest beside it.

    Parameters
    ----------
    path : path-like
        Where the file shall be.

    Yields
    ------
    pathlib.Path
        Where to write it.
    """
    with replacing(path) as partial:
        yield partial
        # Before the file itself, so that none is there without its digest.
        with _beside(_record(path)) as record:
            record.write_text(f"{_digest(partial)}  {Path(path).name}\n", encoding="utf-8")


def find_damaged(folder):
    """Results that are not as they were written.

    Parameters
    ----------
    folder : path-like
        Where to look, with all folders below.

    Returns
    -------
    list of pathlib.Path
        Sorted. Files that were deleted are not among them.
    """
    records = Path(folder).rglob(".*.sha256")
    paths = [record.with_name(record.name[1:].removesuffix(".sha256")) for record in records]
    return sorted(path for path in paths if path.exists() and _is_damaged(path))


def alteration(path):
    """What to tell people about one of :func:`find_damaged`.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    str
        One line.
    """
    return f"{path}: altered since it was written; delete it and run again"


def remove_partial(folder):
    """Remove what writers that were killed have left; nobody may be writing there.

    Parameters
    ----------
    folder : path-like
        Where to look, with all folders below.
    """
    for path in Path(folder).rglob(".*.partial*"):
        path.unlink()


def require_room(folder, least):
    """Refuse a folder in which a study cannot be written.

    Parameters
    ----------
    folder : path-like
        It need not be there yet.
    least : int
        Free bytes that its disk must have.

    Raises
    ------
    OSError
        If the folder, or the first one above it that is there, is read-only or its disk is full.
    """
    place = Path(folder).resolve()
    while not place.exists():
        place = place.parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise OSError(f"{place}: cannot be written to; a study needs a folder of your own")
    free = shutil.disk_usage(place).free
    if free < least:
        raise OSError(
            f"{place}: its disk is full: {free / 2**20:.0f} MiB are free, a study needs "
            f"{least / 2**20:.0f} MiB"
        )


@contextmanager
def _beside(path):
    """A file of this process's own beside another, which it replaces at the end."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield partial
        partial.replace(path)
    finally:
        with suppress(OSError):
            partial.unlink()


def _record(path):
    return Path(path).with_name(f".{Path(path).name}.sha256")


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_damaged(path):
    record = _record(path)
    return record.exists() and record.read_text(encoding="utf-8").split()[:1] != [_digest(path)]


def _require_whole(path):
    if _is_damaged(Path(path)):
        raise DamagedFile(alteration(path))


def write_json(path, content):
    """Write JSON for people: indented, numbers in full precision.

    Parameters
    ----------
    path : path-like
        The file.
    content : object
        What :mod:`json` can write.
    """
    with recording(path) as partial:
        partial.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")


def read_json(path):
    """Read a JSON file.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object

    Raises
    ------
    DamagedFile
        If it is not JSON, or not as it was written; the message names the file.
    """
    _require_whole(path)
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DamagedFile(f"{path}: not a JSON file ({error}); delete it and run again") from None


def write_table(path, table):
    """Write a data frame as Parquet or, by the ending, CSV.

    Parameters
    ----------
    path : path-like
        The file.
    table : pandas.DataFrame
        What to write; the index is left out.
    """
    with recording(path) as partial:
        if partial.suffix == ".csv":
            table.to_csv(partial, index=False, lineterminator="\n")
        else:
            table.to_parquet(partial, index=False)


def read_table(path, dtype=None):
    """Read a data frame from Parquet or, by the ending, CSV.

    Parameters
    ----------
    path : path-like
        The file.
    dtype : dict, optional
        Types of columns of a CSV file that its text does not tell.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    DamagedFile
        If it is no table, or not as it was written; the message names the file.
    """
    _require_whole(path)
    is_text = Path(path).suffix == ".csv"
    try:
        return pd.read_csv(path, dtype=dtype) if is_text else pd.read_parquet(path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        kind = "CSV" if is_text else "Parquet"
        raise DamagedFile(f"{path}: not a whole {kind} file; delete it and run again") from error
