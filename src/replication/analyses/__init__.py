"""Analyses: what is run and shown beside Figure 1, found by looking into this folder.

A file of this folder is an analysis. It has

* a docstring whose first line is its title;
* `TARGET`, the target of the workflow that it belongs to: "all", "theory", "claims",
  "compare" or "grid";
* `plan(config)`, what it runs: for each part a list of pairs of a number and cases
  (:class:`replication.work.cases.Case`). A part is a path that ends with the name of the algorithm,
  such as "npgpd_hf"; a number names a piece of work, such as a seed or an instance. Pieces are
  packed into jobs, whose runs are `results/STUDY/NAME/PART/FIRST-LAST.parquet`;
* `check(config, schema)`, which refuses in one line what cannot be planned;
* `TABLES`, the tables that it ends in: a :class:`Table` by name. They are made by `tables`, which
  gets the files of the results that `READS` names and what `arguments(config)` says, all by name,
  and gives data frames in this order and by these names;
* a page, if there is notebooks/NAME.ipynb. It shows tables and writes none. It gets `results` (the
  folder), the files of the results that `SHOWS` names, and what `parameters(config)` says;
* `PICTURES`, if its page writes some into the folder `figures`: their names, with titles;
* `NAMES_ALGORITHMS = False`, if its page does not ask for the algorithms by name.

Results have the names of tables, of those in `results_of` of workflow/rules/files.smk, or "runs",
the analysis's own. Only `TARGET`, `TABLES`, `plan` and `check` are always needed.
"""

import importlib
import pkgutil
from typing import NamedTuple


class Table(NamedTuple):
    """A table of an analysis: its title, and its keys if it is in `reference/` and verified."""

    title: str
    keys: str = ""


def find():
    """Analyses of this folder by name; a file that is no complete analysis is refused."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        found[module.name] = analysis = importlib.import_module(f"{__name__}.{module.name}")
        for name in ("TARGET", "TABLES", "plan", "check"):
            if not hasattr(analysis, name):
                raise TypeError(
                    f"analyses/{module.name}.py: {name} expected, see analyses/__init__.py"
                )
    return found
