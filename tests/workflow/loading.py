"""Put as `sitecustomize.py` where Python finds it: notes which files of the package a job loads.

Python runs it whenever it starts, in jobs and in the kernels of their notebooks. The package's own
`__init__`, which only lists names, is replaced by one that imports a name when it is asked for;
otherwise everything would be loaded always.
"""

import ast
import atexit
import importlib
import json
import os
import sys
import types
from pathlib import Path

PACKAGE = Path(__file__).parent / "pgpd_hf"
NOTES = PACKAGE.parents[1] / "loaded"


def attribute(name):
    """Import a name of the package from where its `__init__` has it."""
    for node in ast.parse((PACKAGE / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and name in {alias.name for alias in node.names}:
            return getattr(importlib.import_module(node.module), name)
    raise AttributeError(name)


def note():
    """Write down what this process was, and which files of the package it has loaded."""
    names = [name for name in sys.modules if name.startswith("pgpd_hf.")]
    files = {sys.modules[name].__file__ for name in names}
    loaded = sorted(Path(file).relative_to(PACKAGE).as_posix() for file in files)
    entry = {"parent": os.getppid(), "loaded": loaded}
    job = getattr(sys.modules["__main__"], "snakemake", None)  # of the script directive
    if hasattr(job, "rule"):
        inputs = map(Path, job.input)
        entry["rule"] = job.rule
        entry["declared"] = sorted(
            path.relative_to("src/pgpd_hf").as_posix()
            for path in inputs
            if path.is_relative_to("src/pgpd_hf")
        )
    (NOTES / f"{os.getpid()}.json").write_text(json.dumps(entry))


if NOTES.is_dir():
    package = types.ModuleType("pgpd_hf")
    package.__path__, package.__getattr__ = [str(PACKAGE)], attribute
    sys.modules["pgpd_hf"] = package
    atexit.register(note)
