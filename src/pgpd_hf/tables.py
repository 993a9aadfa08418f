"""Tables of runs; CSV and JSON files with all bits; and errors in one line."""

import csv
import json
import sys
import sysconfig
import traceback
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from pgpd_hf.optimum import Optimum

# What a table of runs says at a checkpoint.
VALUES = (
    *("reward_value", "utility_value", "multiplier", "optimality_gap", "constraint_violation"),
    *("mean_optimality_gap", "mean_constraint_violation", "answers", "env_steps"),
)
# Folders whose code may refuse a value, and parts of names of files of others.
_HERE = Path(__file__).resolve()
_OURS = (_HERE.parent, *(_HERE.parents[2] / it for it in ("workflow", "tools", "studies")))
_OTHERS = ("site-packages", sysconfig.get_path("stdlib"), "<")
# How pandas reads back all bits; since its version 3.1 it always does.
_PRECISION = {} if pd.__version__ >= "3.1" else {"float_precision": "round_trip"}


def write_table(table, path):
    """Write a table as CSV; M = infinity is an empty cell."""
    table.to_csv(path, index=False, lineterminator="\n")


def read_table(path):
    """Read a table as it was written."""
    with open(path, newline="", encoding="utf-8") as file:
        if len({len(row) for row in csv.reader(file)}) != 1:
            raise ValueError(f"{path}: damaged, rows of one length expected; remove it")
    return pd.read_csv(path, dtype={"evaluators": "Int64"}, **_PRECISION)


def run_paths(folder):
    """Tables of the runs of an experiment in its folder, as its aggregate counts seeds."""
    curves = read_table(Path(folder, "aggregate.csv"))[["algorithm", "evaluators", "seeds"]]
    for algorithm, M, seeds in curves.drop_duplicates().to_numpy():
        for first in range(0, seeds, 10):
            block = f"seeds{first:04d}-{min(first + 10, seeds) - 1:04d}.csv"
            yield Path(folder, "runs", algorithm, f"M{'inf' if pd.isna(M) else M}", block)


def read_traces(paths):
    """Read tables of runs, one below the other, whose names end with their first and last seed."""
    tables = []
    for path in paths:
        table = read_table(path)
        first, last = map(int, Path(path).stem.removeprefix("seeds").split("-"))
        rows = table.groupby("seed").size() if "seed" in table else pd.Series()
        if [*rows.index] != [*range(first, last + 1)] or rows.nunique() != 1:
            raise ValueError(f"{path}: damaged, seeds {first} to {last} expected; remove it")
        tables.append(table)
        if ({*table} ^ {*tables[0]}) - {"label"}:  # which algorithms of one's own have
            raise ValueError(f"{path}: damaged, columns of {paths[0]} expected; remove it")
    return pd.concat(tables, ignore_index=True)


def write_json(content, path):
    """Write keys and values."""
    Path(path).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def read_json(path):
    """Read keys and values."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path}: damaged, JSON expected; remove it") from error


def read_optimum(path):
    """Read the optimum of an experiment."""
    content = read_json(path)
    names = Optimum.__dataclass_fields__.keys() - {"units"}
    return Optimum(**{name: content[name] for name in names})


def _is_ours(frame):
    return any(Path(frame.filename).resolve().is_relative_to(it) for it in _OURS)


@contextmanager
def one_line():
    """Exit with one line; a traceback comes before it where nothing was refused.

    In a file of the user ValueError is no refusal, but NumPy's word for a mistake.
    """
    try:
        yield
    except KeyboardInterrupt:
        sys.exit("Interrupted.")
    except Exception as error:
        told = " ".join(str(error).split())
        frames = traceback.extract_tb(error.__traceback__)
        known = [it for it in frames if _is_ours(it) or not any(o in it.filename for o in _OTHERS)]
        frame = (known or frames)[-1]
        if _is_ours(frame) and isinstance(error, ValueError | OSError):
            sys.exit(f"error: {told}")
        traceback.print_exc()
        place = f"{frame.filename}, line {frame.lineno}"
        sys.exit(f"error: {place}: {type(error).__name__}: {told}")
