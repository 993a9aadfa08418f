"""What the reference holds of a study: which tables, and how they are read from its results."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from pgpd_hf.runs import METRICS
from pgpd_hf.verification import contents
from pgpd_hf.verification.contents import Content

DIGEST = "sha256"
_SEED = 0  # whose traces are held in full
_RUN = ["algorithm", "evaluators", "seed"]
_CURVE = ["algorithm", "evaluators", "iteration"]
_DRAWN = [
    *METRICS,
    *(f"{metric}_{end}" for metric in METRICS for end in ("low", "high")),
    *(f"mean_{metric}" for metric in METRICS),
]


@dataclass(frozen=True)
class Study:
    """Where a study is.

    Attributes
    ----------
    root : pathlib.Path
        Folder of the project.
    name : str
        The study's.
    """

    root: Path
    name: str = "paper"

    @property
    def results(self):
        """pathlib.Path: folder of its tables."""
        return self.root / "results" / self.name

    @property
    def figures(self):
        """pathlib.Path: folder of its figures; those of the paper's study are committed."""
        return self.root / "figures" if self.name == "paper" else self.results / "figures"


@dataclass(frozen=True)
class Item:
    """One table of the reference.

    Attributes
    ----------
    name : str
        The table is `NAME.csv`.
    place : str
        Where the results are, with the cells of `parts` in braces.
    load : callable
        Reads it from the folder of a study's results.
    summary : callable
        What a person wants to know of it first, in a few words.
    parts : tuple of str
        Columns: rows with equal cells are checked together.
    keys : tuple of str
        Columns that name a row within its part.
    target : str
        What of the workflow makes it; `sample` makes it without the whole study.
    """

    name: str
    place: str
    load: Callable
    summary: Callable
    parts: tuple = ()
    keys: tuple = ()
    target: str = "all"

    @property
    def in_one_file(self):
        """bool: whether one file has all parts, so that it has all or none."""
        return "{" not in self.place.partition(",")[0]

    def title(self, part):
        """Place of one part, as str."""
        cells = dict(zip(self.parts, part, strict=True))
        if "evaluators" in cells:
            cells["evaluators"] = cells["evaluators"] or "inf"
        return self.place.format(**cells)


def _environment(results):
    path = _existing(results / "environment.npz")
    try:
        with np.load(path, allow_pickle=False) as archive:
            pairs = contents.flatten({name: archive[name].tolist() for name in archive})
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path}: not an archive ({error})") from None
    return Content(("entry", "value"), tuple(pairs))


def _optimum(results):
    optimum = contents.read_json(_existing(results / "optimum.json"))
    problems = {
        "linear program": {k: v for k, v in optimum.items() if k not in ("check", "unconstrained")},
        "value iteration": optimum.get("check", {}),
        "unconstrained": optimum.get("unconstrained", {}),
    }
    rows = [(name, *pair) for name, tree in problems.items() for pair in contents.flatten(tree)]
    return Content(("problem", "entry", "value"), tuple(rows))


def _scores(results):
    return _named_tables(results / "calibration", "algorithm")


def _steps(results):
    rows = []
    for path in _all(results / "calibration", "*.json"):
        rows += [(path.stem, *pair) for pair in contents.flatten(contents.read_json(path))]
    return Content(("algorithm", "step", "value"), tuple(rows))


def _bounds(results):
    tables = [contents.read_csv(path) for path in _all(results / "bounds", "*.csv")]
    return Content(tables[0].columns, tuple(row for table in tables for row in table.rows))


def _traces(results):
    runs = _runs(results)
    return contents.from_frame(runs[runs["seed"] == _SEED])


def _ends(results):
    """Last row of every run, with the number of its rows and their digest."""
    rows = []
    for _, trace in _runs(results).groupby(_RUN, dropna=False):
        content = contents.from_frame(trace)
        rows.append((*content.rows[-1], str(len(content.rows)), content.digest()))
    return Content((*content.columns, "checkpoints", DIGEST), tuple(rows))


def _curves(results):
    """What the figure shows of the aggregate."""
    table = contents.read_parquet(_existing(results / "aggregate.parquet"))
    return contents.from_frame(table[[*_CURVE, *_DRAWN]])


def _digests(results):
    """Digests of the tables that are too large for the reference, part by part."""
    tables = {}
    for path in filter(Path.exists, [results / "aggregate.parquet"]):
        tables[path] = "evaluators", contents.read_parquet(path)
    for folder in sorted((results / "rates").glob("*/*/M*/")):
        tables[folder] = "iterations", _joined(_all(folder, "*.parquet"), ["iterations", *_RUN])
    if not tables:
        raise FileNotFoundError(results)
    rows = []
    for path, (by, table) in tables.items():
        place = path.relative_to(results).as_posix()
        for (cell,), part in contents.from_frame(table).split([by]).items():
            rows.append((place, f"{by} {cell}", str(len(part.rows)), part.digest()))
    return Content(("table", "part", "rows", DIGEST), tuple(rows))


def _text(results):
    lines = _existing(results / "summary.txt").read_text(encoding="utf-8").splitlines()
    rows = ((str(number), line) for number, line in enumerate(lines, 1))
    return Content(("line", "text"), tuple(rows))


def _table(name):
    return lambda results: contents.read_csv(_existing(results / name))


def _runs(results):
    return _joined(_all(results / "runs", "*/*/*.parquet"), _RUN)


def _joined(paths, keys):
    """All runs in order. Blocks of another size may overlap: the same row twice is one row."""
    runs = pd.concat(map(contents.read_parquet, paths), ignore_index=True).drop_duplicates()
    return runs.sort_values([*keys, "iteration"], ignore_index=True)


def _named_tables(folder, column):
    rows = []
    for path in _all(folder, "*.csv"):
        table = contents.read_csv(path)
        rows += [(path.stem, *row) for row in table.rows]
    return Content((column, *table.columns), tuple(rows))


def _existing(path):
    if not path.exists():
        raise FileNotFoundError(path)
    return path


def _all(folder, pattern):
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise FileNotFoundError(folder / pattern)
    return paths


def _count(word):
    return lambda content: f"{len(content.rows)} {word}"


def _of_entry(entry, label):
    def summary(content):
        values = dict(content.values(["entry", "value"]))
        return f"{label} = {values.get(entry, 'nothing')[:14]}"

    return summary


def _step_sizes(content):
    return ", ".join(value for _, value in content.values(["step", "value"]))


def _last_gap(content):
    return f"gap {content.values(['optimality_gap'])[-1][0][:14]}"


def _holding(content):
    answers = [answer for (answer,) in content.values(["holds"])]
    return f"{answers.count('True')} of {len(answers)} hold"


def _verdicts(content):
    verdicts = [verdict for (verdict,) in content.values(["verdict"])]
    return f"{verdicts.count('reproduced')} of {len(verdicts)} reproduced"


def _long_table(name, summary, parts, keys, target="theory"):
    """Item of a table that the default study does without."""
    place = ", ".join([f"{name}.csv", *(f"{{{part}}}" for part in parts)])
    return Item(name, place, _table(f"{name}.csv"), summary, parts, keys, target)


_MEANS = ("algorithm", "curve", "value", "metric")
_BOUND_PARTS = {"parts": ("setting",), "keys": ("item", "part")}
ITEMS = (
    Item(
        "environment",
        "environment.npz",
        _environment,
        _count("numbers"),
        keys=("entry",),
        target="sample",
    ),
    Item(
        "optimum",
        "optimum.json, {problem}",
        _optimum,
        _of_entry("reward_value", "V_r"),
        parts=("problem",),
        keys=("entry",),
        target="sample",
    ),
    Item(
        "scores",
        "calibration/{algorithm}.csv",
        _scores,
        _count("scores"),
        parts=("algorithm",),
        keys=("primal_step", "dual_step"),
        target="sample",
    ),
    Item(
        "steps",
        "calibration/{algorithm}.json",
        _steps,
        _step_sizes,
        parts=("algorithm",),
        keys=("step",),
        target="sample",
    ),
    Item(
        "traces",
        f"runs/{{algorithm}}/M{{evaluators}}, seed {_SEED}",
        _traces,
        _last_gap,
        parts=("algorithm", "evaluators"),
        keys=("iteration",),
        target="sample",
    ),
    Item("bounds", "bounds/{setting}.csv", _bounds, _holding, target="sample", **_BOUND_PARTS),
    Item(
        "runs",
        "runs/{algorithm}/M{evaluators}",
        _ends,
        _count("runs"),
        parts=("algorithm", "evaluators"),
        keys=("seed",),
    ),
    Item(
        "curves",
        "aggregate.parquet, {algorithm}, M {evaluators}",
        _curves,
        _last_gap,
        parts=("algorithm", "evaluators"),
        keys=("iteration",),
    ),
    Item("digests", "{table}", _digests, _count("parts"), parts=("table",), keys=("part",)),
    Item(
        "rates",
        "rates.csv",
        _table("rates.csv"),
        _count("slopes"),
        keys=("algorithm", "step_rule", "crowd", "metric"),
    ),
    Item("bounds", "bounds.csv, {setting}", _table("bounds.csv"), _holding, **_BOUND_PARTS),
    Item("claims", "claims.csv", _table("claims.csv"), _verdicts, keys=("claim",)),
    Item("summary", "summary.txt", _text, _count("lines"), keys=("line",)),
    _long_table("verdicts", _verdicts, ("reading",), ("claim",), "claims"),
    _long_table(
        "certificates", _holding, ("case", "algorithm"), ("evaluators", "seed", "quantity")
    ),
    _long_table("slopes", _count("slopes"), ("sweep",), ("algorithm", "curve", "metric")),
    _long_table("slopes_means", _count("means"), ("sweep",), _MEANS),
    _long_table("effects", _count("slopes"), ("sweep",), ("algorithm", "curve", "quantity")),
    _long_table("effects_means", _count("means"), ("sweep",), _MEANS),
    _long_table("schedules", _count("means"), ("algorithm",), ("schedule", "metric")),
    _long_table("schedules_means", _count("means"), ("algorithm",), ("schedule", "iteration")),
)
