"""Analyses: what is run, computed and shown beside Figure 1, found by looking into this folder.

A file of this folder is an analysis. The first line of its docstring is its title, and `TARGET` the
target of the workflow that it belongs to. All else is there if it is needed:

* `plan(config)`, what it runs: for each part a list of pairs of a number and cases
  (:class:`replication.study.cases.Case`). A part is a path that ends with the name of its
  algorithm, such as "npgpd_hf"; a number names a piece of work, such as a seed or an instance.
  Pieces are packed into jobs, whose runs are `results/STUDY/NAME/PART/FIRST-LAST.parquet`;
* `fit(config, changes)`, which leaves out of its settings, config/analyses/NAME.yaml, what does not
  fit a study (:class:`replication.study.changes.Changes`);
* `why_not(config)`, which says in one line why it does not apply to a study and what to change, if
  it does not; targets leave it out then, and it is refused if it is asked for;
* `check(...)`, which refuses in one line what cannot be run, as soon as one of its files is asked
  for, and before any job;
* `TABLES`, a :class:`Table` by name: CSV files of the study's results, unless the name has another
  ending. A name may hold wildcards of the workflow, such as "bounds/{setting}". `tables` makes
  them. It gets the files of the results that `READS` names and the entries of `arguments(...)`, all
  by name, and gives data frames, text or what JSON can hold, in the order of `TABLES`. It imports
  what is heavy itself, since every plan imports this folder;
* `seconds(...)` and `megabytes(...)` that this takes, or `LOCAL = True` if it takes a moment;
* a page, if there is notebooks/NAME.ipynb. It shows tables and writes none. It gets `results` (the
  folder), the files of the results that `SHOWS` names, and the entries of `parameters(...)`;
* `PICTURES`, which the page writes into the folder `figures`, in every format: names, with titles,
  or a function that gives them. A file of one format has its ending in the name, and no title;
* `CATEGORY`, its part of Snakemake's report.

`arguments`, `parameters`, `check`, `why_not`, `seconds`, `megabytes` and `PICTURES` ask by name for
`config`, for wildcards, and for what else `ask` has in workflow/rules/files.smk. Names of results
are those of tables, and those of `results_of` in the same file.
"""

import importlib
import pkgutil
from types import SimpleNamespace
from typing import NamedTuple

from replication.study import resources


def _nothing():
    return {}


_DEFAULTS = {
    "plan": lambda config: {},
    "fit": lambda config, changes: None,
    "check": lambda: None,
    "why_not": lambda: "",
    **dict.fromkeys(("arguments", "parameters"), _nothing),
    "seconds": lambda: resources.ANALYSIS,
    "megabytes": lambda: resources.TRACES,
    **{name: {} for name in ("TABLES", "PICTURES")},
    **dict.fromkeys(("READS", "SHOWS"), ()),
    "LOCAL": False,
    "CATEGORY": "Theory",
}


class Table(NamedTuple):
    """A table: its title in the report, and its keys if it is in `reference/` and verified."""

    title: str = ""
    keys: str = ""


def find():
    """Analyses of this folder by name: what each file defines, and defaults of what it does not."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        analysis = importlib.import_module(f"{__name__}.{module.name}")
        if not hasattr(analysis, "TARGET"):
            raise TypeError(f"analyses/{module.name}.py: TARGET expected, see analyses/__init__.py")
        title = analysis.__doc__.splitlines()[0].rstrip(".")
        found[module.name] = SimpleNamespace(**_DEFAULTS | {"title": title} | vars(analysis))
    return found
