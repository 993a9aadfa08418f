"""Policy gradient primal-dual methods for safe reinforcement learning from human feedback.

Constrained Markov decision processes (CMDPs) and their optima, the algorithms of Liu, Kline and Wei
(arXiv 2604.19024) with simulated evaluators, their exact limits and rivals, and runs of them. The
package `replication` beside this one judges the paper with it.
"""

import importlib
import re
from pathlib import Path

# Editors read the same list, so that they know all signatures.
_LISTED = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")
_PLACES = {name: place for place, name in re.findall(r"from \.(\S+) import (\w+)", _LISTED)}
_MODULES = {place.partition(".")[0] for place in _PLACES.values()}

__all__ = list(_PLACES)


def __getattr__(name):
    """Import a name when it is asked for: a job that writes a page needs no compiler."""
    if name == "__version__":
        return importlib.import_module("importlib.metadata").version("pgpd-hf")
    if name in _PLACES:
        return getattr(importlib.import_module(f"{__name__}.{_PLACES[name]}"), name)
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__():
    """Names and modules of the library, without what this file imports for itself."""
    special = (name for name in globals() if name.startswith("__"))
    return sorted({*__all__, *_MODULES, "__version__", *special})
