"""Analyses: what is run, computed and shown beside Figure 1, found by looking into this folder.

A file of this folder is an analysis. The first line of its docstring is its title. What it declares
in capitals is read from its text, so it refers to nothing but constants above it; the file is
imported when one of its functions is called, which is when one of its results is asked for. All but
`TARGET` is there if it is needed:

* `TARGET`, the target of the workflow that it belongs to;
* `plan(config)`, what it runs: for each part a list of pairs of a number and cases
  (:class:`replication.study.cases.Case`). A part is a path that ends with the name of its
  algorithm, such as "npgpd_hf"; a number names a piece of work, such as a seed or an instance.
  Pieces are packed into jobs, whose runs are `results/STUDY/NAME/PART/FIRST-LAST.parquet`;
* `fit(config, changes)`, which leaves out of its settings, config/analyses/NAME.yaml, what does not
  fit a study (:class:`replication.study.changes.Changes`);
* `NEEDS`, keys of its settings that have an entry for an algorithm if it applies to a study, or a
  function `why_not(config)`, which says in one line why it does not and what to change. If it does
  not apply, targets leave it out, and it is refused if it is asked for;
* `check(...)`, which refuses in one line what cannot be run, as soon as one of its files is asked
  for, and before any job;
* `TABLES`, a :class:`Table` by name: CSV files of the study's results, unless the name has another
  ending. A name may hold wildcards of the workflow, such as "bounds/{setting}". `tables` makes
  them. It gets the files of the results that `READS` names and the entries of `arguments(...)`, all
  by name, and gives data frames, text or what JSON can hold, in the order of `TABLES`;
* `seconds(...)` and `megabytes(...)` that this takes, or `LOCAL = True` if it takes a moment;
* a page, if there is notebooks/NAME.ipynb. It shows tables and writes none. Its first cell is the
  title. The cell that is tagged `parameters` gets `results` (the folder), the files of the results
  that `SHOWS` names, and the entries of `parameters(...)`;
* settings, config/analyses/NAME.yaml, with workflow/schemas/analyses/NAME.schema.yaml, where every
  key has a `description`;
* `PICTURES`, or a function `pictures(...)`: what the page writes into the folder `figures`, in
  every format, by name with titles. A file of one format has its ending in the name, and no title;
* `TUNED_BY`, the table with the settings that cases with a `choice` wait for;
* `CATEGORY`, its part of Snakemake's report, where workflow/report/NAME.rst is its caption, and
  `PRIORITY` of its jobs: 1 on the way to Figure 1.

Functions ask by name for `config`, for wildcards, and for what else `ask` has in
workflow/rules/files.smk. Names of results are those of tables, and those of `results_of` in the
same file.
"""

import ast
import importlib
import pkgutil
from functools import reduce
from pathlib import Path
from typing import NamedTuple

from replication.study import resources


class Table(NamedTuple):
    """A table: its title in the report, and its keys if it is in `reference/` and verified."""

    title: str = ""
    keys: str = ""


# What a file need not declare, and what functions do that it does not define.
_DECLARED = {"TABLES": {}, "READS": (), "SHOWS": (), "PICTURES": {}, "LOCAL": False}
_DECLARED |= {"CATEGORY": "Theory", "PRIORITY": 0, "TARGET": None, "TUNED_BY": None, "NEEDS": ()}
_USUAL = {
    "plan": lambda config: {},
    "fit": lambda config, changes: None,
    "check": lambda: None,
    **dict.fromkeys(("arguments", "parameters", "pictures"), lambda: {}),
    "seconds": lambda: resources.ANALYSIS,
    "megabytes": lambda: resources.TRACES,
}


class Analysis:
    """What a file declares, and its functions, for which the file is imported."""

    def __init__(self, path):
        place, self._name, self._defined = f"analyses/{path.name}", path.stem, set()
        vars(self).update(_DECLARED)
        tree, known = ast.parse(path.read_text(encoding="utf-8")), {"Table": Table}
        self.title = (ast.get_docstring(tree) or "").partition("\n")[0].rstrip(".")
        for node in tree.body:
            names = [*map(ast.unparse, getattr(node, "targets", ())), getattr(node, "name", "")]
            self._defined.update(names)
            for name in filter(str.isupper, names):
                try:
                    known[name] = eval(compile(ast.Expression(node.value), place, "eval"), known)
                except NameError as error:  # what another module defines
                    if name in _DECLARED:
                        raise TypeError(f"{place}: {name}: {error}, so write it out") from None
        vars(self).update({name: known[name] for name in _DECLARED if name in known})
        if self.TARGET is None:
            raise TypeError(f"{place}: TARGET expected, see analyses/__init__.py")

    def __getattr__(self, name):
        if name in self._defined:
            return getattr(importlib.import_module(f"{__name__}.{self._name}"), name)
        if name in _USUAL:
            return _USUAL[name]
        if name == "why_not":
            return self._lacking
        raise AttributeError(f"analyses/{self._name}.py: no {name!r}")

    def _lacking(self, config):
        """Say which of its keys has no entry for an algorithm, if one has none."""
        for key in self.NEEDS:
            if not reduce(lambda place, part: place.get(part, {}), key.split("."), config):
                return f"{key}: an entry for an algorithm of the study expected"
        return ""


def find():
    """Analyses of this folder by name."""
    places = ((it.name, it.module_finder.path) for it in pkgutil.iter_modules(__path__))
    return {name: Analysis(Path(folder, f"{name}.py")) for name, folder in places}
