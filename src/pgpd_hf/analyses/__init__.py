"""Analyses: what is run and shown beside Figure 1, found by looking into this folder.

A file of this folder is an analysis. It has

* a docstring whose first line is its title;
* `TARGET`, the target of the workflow that it belongs to: "all", "theory", "claims",
  "compare" or "grid";
* `plan(config)`, what it runs: for each part a list of pairs of a number and cases
  (:class:`pgpd_hf.cases.Case`). A part is a path that ends with the name of the algorithm, such as
  "npgpd_hf"; a number names a piece of work, such as a seed or an instance. Pieces are packed into
  jobs, whose runs are `results/STUDY/NAME/PART/FIRST-LAST.parquet`;
* `check(config, schema)`, which refuses in one line what cannot be planned;
* `TABLES`, the tables that it ends in, by name, with their titles. They are written by its
  notebook, notebooks/NAME.ipynb, which gets `results` (the folder), `runs` (the files) and what
  `parameters(config)` says; an analysis without a notebook has `tabulate(runs)` instead, which
  gives the tables by name;
* `PICTURES`, if its notebook writes some into the folder `figures`: their names, with titles;
* `NAMES_ALGORITHMS = False`, if its notebook does not ask for the algorithms by name.
"""

import importlib
import pkgutil


def find():
    """Analyses of this folder.

    Returns
    -------
    dict of str to module
        By name, in alphabetical order.

    Raises
    ------
    TypeError
        If a file is no complete analysis; one line that names it and what it lacks.
    """
    found = {}
    for module in pkgutil.iter_modules(__path__):
        found[module.name] = analysis = importlib.import_module(f"{__name__}.{module.name}")
        for name in ("TARGET", "TABLES", "plan", "check"):
            if not hasattr(analysis, name):
                raise TypeError(
                    f"analyses/{module.name}.py: {name} expected, see analyses/__init__.py"
                )
    return found
