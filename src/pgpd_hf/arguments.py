"""Checks of arguments. An error is one line: the argument, what is allowed, what was given."""

import os
from pathlib import Path

import numpy as np

MOST = 2**62  # largest integer argument: twice as many still fit into 64 bits


def require_integer(name, value, least, most=MOST):
    """Return an integer argument as an int; booleans are refused."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)
    if not whole or value < least:
        raise ValueError(f"{name}: an integer of at least {least} expected, got {shown(value)}")
    if value > most:
        raise ValueError(f"{name}: an integer of at most {most} expected, got {shown(value)}")
    return int(value)


def require_number(name, value, at_least=-np.inf, above=-np.inf, at_most=np.inf, below=np.inf):
    """Return a finite real argument within its bounds as float; booleans are refused."""
    single = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    kinds = int | float | np.integer | np.floating
    known = isinstance(single, kinds) and not isinstance(single, bool | np.timedelta64)
    try:
        number = float(single) if known else np.nan
    except OverflowError:
        number = np.inf
    within = at_least <= number <= at_most and above < number < below
    if not within or not np.isfinite(number):
        bounds = {">=": at_least, ">": above, "<=": at_most, "<": below}
        told = [f"{sign} {bound:g}" for sign, bound in bounds.items() if np.isfinite(bound)]
        allowed = f"a number {' and '.join(told)}".strip()
        raise ValueError(f"{name}: {allowed} expected, got {shown(value)}")
    return number


def require_one_of(name, value, names):
    """Return an argument that is one of several names."""
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name}: one of {', '.join(names)} expected, got {shown(value)}")
    return value


def require_path(name, value):
    """Return the name of a file."""
    if not (isinstance(value, str | os.PathLike) and os.fspath(value)):
        raise ValueError(f"{name}: the name of a file expected, got {shown(value)}")
    return Path(value)


def require_instance(name, value, kind):
    """Return an argument that is an object of a class; NumPy's booleans are booleans."""
    if not isinstance(value.item() if isinstance(value, np.bool_) else value, kind):
        raise ValueError(f"{name}: {kind.__name__} expected, got {shown(value)}")
    return value


def optional(require, name, value, *bounds, **named):
    """Apply a check unless the argument is None."""
    return None if value is None else require(name, value, *bounds, **named)


def shown(value):
    """Format a value for a message: its repr, shortened to one line."""
    text = " ".join(repr(value.item() if isinstance(value, np.generic) else value).split())
    return text if len(text) <= 80 else f"{text[:60]} ... ({len(text)} characters)"
