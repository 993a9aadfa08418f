"""The algorithms, found by looking into this folder."""

import importlib
import inspect
import pkgutil

from pgpd_hf.algorithms.base import Algorithm, Setting
from pgpd_hf.core.arguments import require_one_of


def _descendants(kind):
    """All subclasses of a class, also those of subclasses."""
    for child in kind.__subclasses__():
        yield child
        yield from _descendants(child)


def _find():
    """Algorithms by name, in alphabetical order."""
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")
    found = {}
    for kind in dict.fromkeys(_descendants(Algorithm)):
        file = kind.__module__.rpartition(".")[2]
        place = f"algorithms/{file}.py: class {kind.__name__}"
        # Jobs depend on the file of their algorithm, so it has to have the algorithm's name.
        if vars(kind).get("name") != file:
            raise TypeError(f"{place}: name = {file!r} expected, a name of its own as the file's")
        if inspect.isabstract(kind):
            raise TypeError(f"{place}: a method {min(kind.__abstractmethods__)!r} expected")
        if file in found:
            raise TypeError(f"{place}: one algorithm per file expected")
        found[file] = kind
    return dict(sorted(found.items()))


ALGORITHMS = _find()


def get_algorithm(name):
    """Look an algorithm up by name.

    Parameters
    ----------
    name : str
        A key of :data:`ALGORITHMS`.

    Returns
    -------
    type
        Subclass of :class:`Algorithm`.

    Raises
    ------
    ValueError
        If there is no such algorithm; the message lists those there are.
    """
    require_one_of("algorithm", name, ALGORITHMS)
    return ALGORITHMS[name]


__all__ = ["ALGORITHMS", "Algorithm", "Setting", "get_algorithm"]
