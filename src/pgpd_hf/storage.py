"""Files that appear whole or not at all."""

import json
import os
from contextlib import contextmanager
from pathlib import Path


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
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial{path.suffix}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def write_json(path, content):
    """Write JSON for people: indented, numbers in full precision.

    Parameters
    ----------
    path : path-like
        The file.
    content : object
        What :mod:`json` can write.
    """
    with replacing(path) as partial:
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
    ValueError
        If it is not JSON; the message names the file.
    """
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: not a JSON file ({error}); delete it and run again") from None


def write_table(path, table):
    """Write a data frame as Parquet or, by the ending, CSV.

    Parameters
    ----------
    path : path-like
        The file.
    table : pandas.DataFrame
        What to write; the index is left out.
    """
    with replacing(path) as partial:
        if partial.suffix == ".csv":
            table.to_csv(partial, index=False, lineterminator="\n")
        else:
            table.to_parquet(partial, index=False)
