"""Refusing arguments: one line that names the argument, what is allowed, and what was given."""

from contextlib import contextmanager

import numpy as np


@contextmanager
def located(place):
    """Put a place, such as a key or a file, before whatever is refused meanwhile.

    Parameters
    ----------
    place : str or path-like
        Where to look.

    Raises
    ------
    ValueError
        In place of the original one.
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def require_integer(name, value, least, most=2**62):
    """Refuse what is not an integer between two others.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : object
        What was given.
    least, most : int
        Smallest and largest allowed number.

    Raises
    ------
    ValueError
        If `value` is no integer, smaller, or larger.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}: an integer of at least {least} expected, got {shown(value)}")
    if value > most:
        raise ValueError(f"{name}: an integer of at most {most} expected, got {shown(value)}")


def require_number(name, value):
    """Refuse what is not a finite number.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : object
        What was given; an array without dimensions counts as a number.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `value` is no number, or not finite.
    """
    kinds = int | float | np.number
    single = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    if not isinstance(single, kinds) or isinstance(single, bool | np.complexfloating):
        raise ValueError(f"{name}: a number expected, got {shown(value)}")
    try:
        number = float(single)
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"{name}: a finite number expected, got {shown(value)}")
    return number


def require_one_of(name, value, names):
    """Refuse what is none of some names.

    Parameters
    ----------
    name : str
        Of the argument, for the message.
    value : object
        What was given.
    names : iterable of str
        What is allowed.

    Raises
    ------
    ValueError
        If `value` is none of them.
    """
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name}: one of {', '.join(names)} expected, got {shown(value)}")


def shown(value):
    """Python's notation of a value, on one line of bounded length.

    Parameters
    ----------
    value : object
        Anything.

    Returns
    -------
    str
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:60]} ... ({len(text)} characters)"
