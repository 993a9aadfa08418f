"""Environments: each file of this folder is one kind, found by its name.

A new kind is a new file here, say ``two_rooms.py``, with a function ``make`` that takes keyword
arguments and returns a :class:`~pgpd_hf.core.cmdp.CMDP`. A study asks for it by
``environment: {name: two_rooms, ...}``, where the other keys are the arguments of ``make``. Two
kinds go by a key of their own: ``{file: mine.npz}`` and ``{gymnasium: FrozenLake-v1, ...}``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from typing import Any

from pgpd_hf.core.arguments import require_one_of, shown
from pgpd_hf.core.cmdp import CMDP


def make(options: dict[str, Any]) -> CMDP:
    """Make the environment that a configuration describes.

    Only the file of the requested kind is imported, so that a kind may depend on a library that
    others do without.

    Parameters
    ----------
    options : dict
        The `environment` of a configuration: `name`, one of :func:`kinds`, and arguments of that
        kind's ``make``. Without a `name`, it is read from `file` unless that is None or missing;
        or it is one of Gymnasium's if there is a key `gymnasium`; otherwise it is a random one, and
        the remaining keys are its arguments.

    Returns
    -------
    CMDP

    Raises
    ------
    ValueError
        If the kind or one of its options is unknown, or a required option is missing; the message
        lists what is allowed. Otherwise whatever the kind's ``make`` refuses.

    Examples
    --------
    >>> from pgpd_hf import environments
    >>> environments.make({"name": "random", "states": 5, "actions": 3, "threshold": 0.5})
    <CMDP: |S| = 5, |A| = 3, discount 0.9, threshold 0.5, values in [0, 1]>
    """
    name, options = split(options)
    kind = _maker(name)
    allowed = inspect.signature(kind).parameters
    required = allowed.keys() - defaults(name).keys()
    for option in options.keys() - allowed.keys():
        raise ValueError(
            f"{shown(option)[1:-1]}: not an option of the environment {name!r}; "
            f"allowed are {', '.join(allowed)}"
        )
    for option in required - options.keys():
        raise ValueError(f"{option}: required by the environment {name!r}")
    return kind(**options)


def split(options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Kind of environment that a configuration asks for, and the arguments of its ``make``.

    Parameters
    ----------
    options : dict
        As for :func:`make`.

    Returns
    -------
    name : str
        The kind, not checked.
    arguments : dict

    Examples
    --------
    >>> split({"file": "mine.npz", "states": 10})
    ('file', {'path': 'mine.npz'})
    """
    options = {key: value for key, value in options.items() if (key, value) != ("file", None)}
    name = options.pop("name", None)
    if name is None and "file" in options:
        return "file", {"path": options["file"]}
    return name or ("gymnasium" if "gymnasium" in options else "random"), options


def defaults(name: str) -> dict[str, Any]:
    """Arguments of a kind's ``make`` that may be left out, each with its default.

    Parameters
    ----------
    name : str
        One of :func:`kinds`.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If there is no such kind.

    Examples
    --------
    >>> defaults("random")["discount"]
    0.9
    """
    allowed = inspect.signature(_maker(name)).parameters
    return {name: it.default for name, it in allowed.items() if it.default is not it.empty}


def kinds() -> list[str]:
    """Names of the kinds of environment: the files of this folder.

    Returns
    -------
    list of str
        In alphabetical order.

    Examples
    --------
    >>> {"file", "random"} <= set(kinds())
    True
    """
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def _maker(name):
    require_one_of("name", name, kinds())
    return importlib.import_module(f"{__name__}.{name}").make
