"""What the reference holds: which tables, and how they are read from the results of a study.

All cells are text. Numbers have the fewest digits that give the same 64 bits back, so two numbers
have the same bits exactly if they have the same text.
"""

import hashlib
import io
import json
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from replication import analyses
from replication.files import storage

_SEED = 0  # whose traces are in the reference as they are; of the others, digests
_RUN = ["algorithm", "evaluators", "seed"]
_RUNS = "runs/*/*/*.parquet"
_MOVES = "algorithm length evaluators curve quarter"
_DRAWN = (
    "algorithm evaluators iteration optimality_gap constraint_violation "
    "optimality_gap_low optimality_gap_high constraint_violation_low constraint_violation_high "
    "mean_optimality_gap mean_constraint_violation"
).split()


class Table(NamedTuple):
    """One table of the reference."""

    name: str  # it is NAME.csv in the reference
    keys: str  # columns that name a row, with blanks between them
    target: str  # of `make`; `sample` makes it without the whole study
    files: str  # their pattern in the folder of a study's results

    def load(self, results):
        """Read it as text from the folder of a study's results."""
        paths = sorted(results.glob(self.files))
        if self.files.endswith(_RUNS):
            aggregate = results / self.files.replace(_RUNS, "aggregate.parquet")
            paths = storage.made_from(aggregate, paths)
        if not paths:
            raise FileNotFoundError(f"{self.files}: missing")
        reader = _READERS.get(self.name.removeprefix("hard/"), self._join)
        return as_text(reader(paths))

    def _join(self, paths):
        """All files below each other; the first key is their name, if they lack it."""
        frames = [read_file(path) for path in paths]
        first = self.keys.split()[0]
        for path, frame in zip(paths, frames, strict=True):
            if first not in frame:
                frame.insert(0, first, path.stem)
        return pd.concat(frames, ignore_index=True)

    def rows(self, frame):
        """Keys of the rows of a data frame of this table, as pandas.MultiIndex."""
        return pd.MultiIndex.from_frame(frame[self.keys.split()])

    def place(self, row):
        """Name the files and the cells by which people find a row, given by its keys."""
        cells = [f"{key} {cell or '-'}" for key, cell in zip(self.keys.split(), row, strict=True)]
        return f"{self.files}: {', '.join(cells)}"


# What Figure 1 is made from and what is said about it, and studies that stand beside a study. The
# tables of analyses are declared there.
_FIGURE = (
    Table("environment", "entry", "sample", "environment.npz"),
    Table("optimum", "entry", "sample", "optimum.json"),
    Table("scores", "algorithm primal_step dual_step", "sample", "calibration/*.csv"),
    Table("steps", "algorithm entry", "sample", "calibration/*.json"),
    Table("traces", "algorithm evaluators seed iteration", "sample", _RUNS),
    Table("bounds", "setting item part", "sample", "bounds/*.csv"),
    Table("runs", "algorithm evaluators seed", "figures", _RUNS),
    Table("curves", "algorithm evaluators iteration", "figures", "aggregate.parquet"),
    Table("claims", "claim", "figures", "claims.csv"),
)
_BESIDE = (
    Table("inference", "rounds", "infer", "../inference/inferred.csv"),
    Table("inference_verdicts", "reading claim", "infer", "../inference/verdicts.csv"),
    Table("confirmation", "reading claim", "infer", "../confirmation/verdicts.csv"),
)
_BESIDE_DEFAULT = (
    Table("power", "reading claim", "claims", "verdicts_power.csv"),
    Table("settled", "algorithm", "infer", "../settled/settled.csv"),
    Table("settled_moves", _MOVES, "infer", "../settled/settled_moves.csv"),
    Table("still_settled", "algorithm", "infer", "settled.csv"),
    Table("still_settled_moves", _MOVES, "infer", "settled_moves.csv"),
    Table("environments", "study claim", "environments", "../environments/environments.csv"),
)
_BESIDE_HARD = (Table("power", "reading claim", "hard", "../pilot/verdicts_power.csv"),)


def _of_analyses():
    """Tables that analyses declare; one whose name is a path bears the name of its analysis."""
    for name, analysis in analyses.find().items():
        target = "figures" if analysis.TARGET == "all" else analysis.TARGET.replace("_", "-")
        for table, declared in analysis.TABLES.items():
            if declared.keys and "{" not in table:
                short = table if table.isidentifier() else name
                file = table if "." in table else f"{table}.csv"
                yield Table(short, declared.keys, target, file)


def _on_record():
    """Tables of the default study, and of the hard case."""
    yield from (*OF_STUDY, *_BESIDE, *_BESIDE_DEFAULT)
    for table in (*OF_HARD, *_BESIDE, *_BESIDE_HARD):
        place = "../hard-" if table.files.startswith("../") else "../hard/"
        files = place + table.files.removeprefix("../")
        yield Table(f"hard/{table.name}", table.keys, "hard", files)


OF_STUDY = [*_FIGURE, *_of_analyses()]  # of one study, whichever
# Methods are compared on the default study alone.
OF_HARD = [table for table in OF_STUDY if table.target not in ("compare", "compare-axes")]
TABLES = [*_on_record()]


def read_file(path):
    """Read a table from any kind of result; JSON and arrays become a row for each number."""
    # Parquet files have types of their own, all else is text. An `entry` is, say, policy.3.1.
    try:
        if path.suffix == ".parquet":
            return pd.read_parquet(path)
        if path.suffix == ".csv":
            return pd.read_csv(path, dtype=str, keep_default_na=False)
        if path.suffix == ".txt":
            lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
            return pd.DataFrame(lines, columns=["line", "text"])
        if path.suffix == ".json":
            tree = json.loads(path.read_text(encoding="utf-8"))
        else:
            with np.load(path, allow_pickle=False) as archive:
                tree = {name: archive[name].tolist() for name in archive}
        return pd.DataFrame(_flatten(tree), columns=["entry", "value"])
    except (OSError, ValueError, EOFError, BadZipFile) as error:
        reason = str(error).partition("\n")[0]
        raise ValueError(f"{path}: not a whole {path.suffix} file ({reason})") from None


def as_text(frame):
    """Turn the cells of a data frame into text; missing ones are empty.

    >>> as_text(pd.DataFrame({"gap": [0.1 + 0.2, None], "seed": 0}))["gap"].tolist()
    ['0.30000000000000004', '']
    """
    text = io.StringIO(frame.to_csv(index=False))
    return pd.read_csv(text, dtype=str, keep_default_na=False)


def _flatten(tree, prefix=""):
    """Pairs of an entry and its value, of what JSON can hold."""
    if not isinstance(tree, dict | list):
        return [(prefix, str(tree))]
    entries = tree.items() if isinstance(tree, dict) else enumerate(tree)
    name = f"{prefix}." if prefix else ""
    return [pair for key, value in entries for pair in _flatten(value, f"{name}{key}")]


def _join_runs(paths):
    """All runs in order. Blocks of other sizes may overlap: the same row twice counts once."""
    runs = pd.concat(map(read_file, paths), ignore_index=True).drop_duplicates()
    return runs.sort_values([*_RUN, "iteration"], ignore_index=True)


def _traces(paths):
    return _join_runs(paths).query("seed == @_SEED")


def _ends(paths):
    """Last row of every run, with the number of its rows and their digest."""
    runs = _join_runs(paths).groupby(_RUN, dropna=False)
    texts = [run.to_csv(index=False, lineterminator="\n") for _, run in runs]
    digests = [hashlib.sha256(text.encode()).hexdigest() for text in texts]
    return runs.tail(1).assign(checkpoints=runs.size().to_numpy(), sha256=digests)


def _curves(paths):
    """What the figure shows of the aggregate."""
    return read_file(paths[0])[_DRAWN]


_READERS = {"traces": _traces, "runs": _ends, "curves": _curves}
