"""What the reference holds: which tables, and how they are read from the results of a study.

All cells are text. Numbers have the fewest digits that give the same 64 bits back, so two numbers
have the same bits exactly if they have the same text.
"""

import hashlib
import io
import json
import re
from typing import NamedTuple
from zipfile import BadZipFile

import numpy as np
import pandas as pd

from pgpd_hf.core.evaluators import evaluators_text

_SEED = 0  # whose traces are in the reference as they are; of the others, digests
_RUN = ["algorithm", "evaluators", "seed"]
_RUNS = "runs/{algorithm}/M{evaluators}/*.parquet"
_DRAWN = (
    "algorithm evaluators iteration optimality_gap constraint_violation "
    "optimality_gap_low optimality_gap_high constraint_violation_low constraint_violation_high "
    "mean_optimality_gap mean_constraint_violation"
).split()


class Table(NamedTuple):
    """One table of the reference.

    Attributes
    ----------
    name : str
        It is `NAME.csv` in the reference.
    files : str
        Its files in the folder of a study's results. Columns in braces tell them apart.
    keys : str
        Columns that name a row, with blanks between them.
    target : str
        Target of the workflow that makes it; `sample` does so without the whole study.
    """

    name: str
    files: str
    keys: str
    target: str

    @property
    def parts(self):
        """Columns that tell files apart, as list of str."""
        return re.findall(r"{(\w+)}", self.files)

    def load(self, results):
        """Read it from the folder of a study's results.

        Parameters
        ----------
        results : pathlib.Path
            The folder.

        Returns
        -------
        pandas.DataFrame of str

        Raises
        ------
        FileNotFoundError
            If there is none of its files.
        ValueError
            If a file is damaged; the message names it.
        """
        paths = sorted(results.glob(re.sub(r"{\w+}", "*", self.files)))
        if not paths:
            raise FileNotFoundError(self.files)
        reader = _READERS.get(self.name, self._join)
        return as_text(reader(paths))

    def _join(self, paths):
        """All files below each other, with the cells that only the names of files tell."""
        frames = [read_file(path) for path in paths]
        for path, frame in zip(paths, frames, strict=True):
            for part in set(self.parts).difference(frame):
                frame.insert(0, part, path.stem)
        return pd.concat(frames, ignore_index=True)

    def rows(self, frame):
        """Keys of the rows of a data frame of this table, as pandas.MultiIndex."""
        return pd.MultiIndex.from_frame(frame[self.keys.split()])

    def place(self, row):
        """Name the file and the cells by which people find a row, given by its keys."""
        cells = dict(zip(self.keys.split(), row, strict=True))
        evaluators = evaluators_text(cells.get("evaluators") or None)
        file = self.files.format(**{**cells, "evaluators": evaluators})
        others = [f"{key} {cell}" for key, cell in cells.items() if key not in self.parts]
        return f"{file}: {', '.join(others)}"


TABLES = [
    Table(name, files or f"{name}.csv", keys, target)
    for name, files, keys, target in (
        ("environment", "environment.npz", "entry", "sample"),
        ("optimum", "optimum.json", "entry", "sample"),
        ("scores", "calibration/{algorithm}.csv", "algorithm primal_step dual_step", "sample"),
        ("steps", "calibration/{algorithm}.json", "algorithm entry", "sample"),
        ("traces", _RUNS, "algorithm evaluators seed iteration", "sample"),
        ("bounds", "bounds/{setting}.csv", "setting item part", "sample"),
        ("runs", _RUNS, "algorithm evaluators seed", "all"),
        ("curves", "aggregate.parquet", "algorithm evaluators iteration", "all"),
        ("digests", "{table}", "table part", "all"),
        ("rates", None, "algorithm step_rule evaluators metric", "all"),
        ("bounds", None, "setting item part", "all"),
        ("lengths", None, "statement estimator evaluators pairs iterations", "all"),
        ("first_lengths", None, "statement estimator evaluators pairs level", "all"),
        ("claims", None, "claim", "all"),
        ("summary", "summary.txt", "line", "all"),
        ("judged_rates", "full/rates.csv", "algorithm step_rule evaluators metric", "claims"),
        ("verdicts", None, "reading claim", "claims"),
        ("ties", None, "algorithm primal_step dual_step claim", "claims"),
        ("certificates", None, "case algorithm evaluators seed quantity", "theory"),
        ("seen", None, "estimator evaluators pairs iterations quantity", "theory"),
        ("proof_steps", None, "step", "theory"),
        ("slopes", None, "sweep algorithm curve metric", "theory"),
        ("slopes_means", None, "sweep algorithm curve value metric", "theory"),
        ("effects", None, "sweep algorithm curve quantity", "theory"),
        ("effects_means", None, "sweep algorithm curve value metric", "theory"),
        ("schedules", None, "algorithm schedule metric", "theory"),
        ("schedules_means", None, "algorithm schedule iteration", "theory"),
        ("comparison", None, "units method design budget", "compare"),
        ("comparison_answers", None, "units method design target", "compare"),
        ("comparison_verdicts", None, "claim unit", "compare"),
        ("comparison_settings", None, "key", "compare"),
        ("comparison_order", None, "unit budget method design", "compare"),
        ("comparison_limit", None, "budget", "compare"),
        ("comparison_deployment", None, "slack level", "compare"),
        ("misspecification", None, "people method design budget", "compare"),
        ("skipping_inference", None, "people budget", "compare"),
        ("splits", None, "algorithm estimator evaluators pairs", "compare"),
        ("splits_variance", None, "estimator evaluators pairs question", "compare"),
        # Of studies that stand beside the default one.
        ("power", "../pilot/verdicts_power.csv", "reading claim", "infer"),
        ("inference", "../inference/inferred.csv", "pairs", "infer"),
        ("inference_verdicts", "../inference/verdicts.csv", "reading claim", "infer"),
        ("confirmation", "../confirmation/verdicts.csv", "reading claim", "infer"),
        ("editions", "../confirmation/editions.csv", "unit claim", "infer"),
        ("environments", "../environments/environments.csv", "study claim", "environments"),
    )
]


def read_file(path):
    """Read a table from any kind of result.

    Parameters
    ----------
    path : pathlib.Path
        CSV, Parquet, JSON, an archive of arrays (.npz) or lines of text (.txt). JSON and arrays
        become a row for each number, whose `entry` is, say, `policy.3.1`.

    Returns
    -------
    pandas.DataFrame
        With its own types, if it is a Parquet file; of text, otherwise.

    Raises
    ------
    ValueError
        If it is not a whole file of its kind; the message names it.
    """
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

    Parameters
    ----------
    frame : pandas.DataFrame
        Its index is left out.

    Returns
    -------
    pandas.DataFrame of str

    Examples
    --------
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


def _join_runs(paths, keys=(*_RUN, "iteration")):
    """All runs in order. Blocks of other sizes may overlap: the same row twice counts once."""
    runs = pd.concat(map(read_file, paths), ignore_index=True).drop_duplicates()
    return runs.sort_values([*keys], ignore_index=True)


def _traces(paths):
    return _join_runs(paths).query("seed == @_SEED")


def _ends(paths):
    """Last row of every run, with the number of its rows and their digest."""
    runs = _join_runs(paths).groupby(_RUN, dropna=False)
    digests = [_digest(run) for _, run in runs]
    return runs.tail(1).assign(checkpoints=runs.size().to_numpy(), sha256=digests)


def _curves(paths):
    """What the figure shows of the aggregate."""
    return read_file(paths[0])[_DRAWN]


def _digests(paths):
    """Digests of tables that are too large for the reference, part by part."""
    results = paths[0].parent
    keys = ["step_rule", "iterations", *_RUN, "iteration"]
    tables = [(path, "evaluators", read_file(path)) for path in results.glob("aggregate.parquet")]
    tables += [
        (path, "iterations", _join_runs(path.glob("*.parquet"), keys))
        for path in sorted(results.glob("rates/*/"))
    ]
    rows = [
        (path.relative_to(results).as_posix(), f"{by} {cell}", len(part), _digest(part))
        for path, by, whole in tables
        for cell, part in whole.groupby(as_text(whole)[by].to_numpy(), sort=False)
    ]
    return pd.DataFrame(rows, columns=["table", "part", "rows", "sha256"])


_READERS = {"traces": _traces, "runs": _ends, "curves": _curves, "digests": _digests}


def _digest(frame):
    return hashlib.sha256(frame.to_csv(index=False, lineterminator="\n").encode()).hexdigest()
