"""The algorithms, found by looking into this folder."""

import importlib
import pkgutil

from pgpd_hf.algorithms.base import Algorithm, Setting
from pgpd_hf.arguments import require_one_of

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")

ALGORITHMS = {kind.name: kind for kind in sorted(Algorithm.__subclasses__(), key=lambda k: k.name)}


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
