"""The algorithms, one per file of this folder; a file is imported when its algorithm is used."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from pgpd_hf.algorithms.base import Algorithm, State
from pgpd_hf.core.arguments import require_one_of

_NAMES = sorted(module.name for module in pkgutil.iter_modules(__path__) if module.name != "base")
# How Python refuses to make a class a dataclass that is one.
_TWICE = ("Cannot overwrite attribute", "cannot inherit non-frozen dataclass")


class _Registry(Mapping[str, type[Algorithm]]):
    """Algorithms by name, in alphabetical order; looking one up imports its file and checks it."""

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)

    def __getitem__(self, name: str) -> type[Algorithm]:
        if name not in _NAMES:
            raise KeyError(name)
        return _load(name)

    def __repr__(self) -> str:
        return f"ALGORITHMS({', '.join(_NAMES)})"


@cache  # a plan asks for the same ones thousands of times
def _load(name):
    """Import an algorithm's file, and check it."""
    try:
        module = importlib.import_module(f"{__name__}.{name}")
    except TypeError as error:
        if not str(error).startswith(_TWICE):
            raise
        line = "leave out @dataclass, which every algorithm is by itself"
        raise TypeError(f"algorithms/{name}.py: {line} ({error})") from None
    found = [
        value
        for value in vars(module).values()
        if isinstance(value, type)
        and issubclass(value, Algorithm)
        and value.__module__ == module.__name__  # not one that the file only imports
    ]
    if not found:
        raise TypeError(f"algorithms/{name}.py: a subclass of Algorithm expected")
    for kind in found:
        place = f"algorithms/{name}.py: class {kind.__name__}"
        # A job depends on its algorithm's file, which it finds by the algorithm's name.
        if vars(kind).get("name") != name:
            raise TypeError(f"{place}: name = {name!r} expected, as the file's")
        if kind.update is Algorithm.update and kind.advance is Algorithm.advance:
            raise TypeError(f"{place}: a method 'update' expected")
        if kind is not found[0]:
            raise TypeError(f"{place}: one algorithm per file expected")
    return found[0]


ALGORITHMS = _Registry()


def get_algorithm(name: str) -> type[Algorithm]:
    """Look an algorithm up by name and import its file, but no other algorithm's.

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
        If there is no such algorithm; the message lists all names.
    TypeError
        If the file does not define the algorithm; the message says what it lacks.

    Examples
    --------
    >>> from pgpd_hf.algorithms import get_algorithm
    >>> get_algorithm("npg_pd").label
    'NPG-PD (exact)'
    """
    require_one_of("algorithm", name, _NAMES)
    return ALGORITHMS[name]


def kind_and_options(
    algorithm: Algorithm | str, options: dict[str, Any]
) -> tuple[type[Algorithm], dict[str, Any]]:
    """Read an algorithm that is given as an object, or by its name and options.

    Parameters
    ----------
    algorithm : Algorithm or str
        The object, or a key of :data:`ALGORITHMS`.
    options : dict
        Options by name, of an algorithm that is given by name.

    Returns
    -------
    kind : type
        Subclass of :class:`Algorithm`.
    options : dict
        Options by name, those of an object included; not checked where they are given by name.

    Raises
    ------
    ValueError
        If options are given beside an object, or there is no such algorithm.
    """
    if isinstance(algorithm, type) and issubclass(algorithm, Algorithm):
        raise ValueError(f"algorithm: an object expected: {algorithm.__name__}(...), got the class")
    if not isinstance(algorithm, Algorithm):
        return get_algorithm(algorithm), dict(options)
    if options:
        raise ValueError(f"{next(iter(options))}: an option of the algorithm, {algorithm!r}")
    return type(algorithm), dict(vars(algorithm))


__all__ = ["ALGORITHMS", "Algorithm", "State", "get_algorithm", "kind_and_options"]
