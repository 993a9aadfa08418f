"""Checks of arguments; errors are one line: the argument, what is allowed, what was given."""

from contextlib import contextmanager

import numpy as np


@contextmanager
def located(place):
    """Prefix the message of a ValueError raised in this context with a place.

    Parameters
    ----------
    place : str or path-like
        Where the error is, such as a key of a configuration or the name of a file.

    Raises
    ------
    ValueError
        In place of the original one, with the place in front.

    Examples
    --------
    >>> with located("config.yaml"):
    ...     require_integer("seeds", 0, least=1)
    Traceback (most recent call last):
    ValueError: config.yaml: seeds: an integer of at least 1 expected, got 0
    """
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None


def require_integer(name, value, least, most=2**62):
    """Check that an argument is an integer within bounds, and make it one that cannot overflow.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        The argument. NumPy's integers count, booleans and masked values do not.
    least, most : int
        Smallest and largest allowed number.

    Returns
    -------
    int
        To be used in place of the argument: arithmetic on NumPy's integers wraps around.

    Raises
    ------
    ValueError
        If `value` is not an integer, or out of bounds.
    """
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or value < least:
        raise ValueError(f"{name}: an integer of at least {least} expected, got {shown(value)}")
    if value > most:
        raise ValueError(f"{name}: an integer of at most {most} expected, got {shown(value)}")
    return int(value)


def require_number(name, value, at_least=None, above=None, at_most=None):
    """Check that an argument is a finite real number within bounds.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        The argument. Arrays of shape () count as numbers, booleans do not.
    at_least, above, at_most : float, optional
        Bounds.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If `value` is not a real number, not finite, or out of bounds.
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
    low = at_least is not None and number < at_least
    if low or (above is not None and number <= above) or (at_most is not None and number > at_most):
        bounds = _bounds(at_least, above, at_most)
        raise ValueError(f"{name}: a {bounds} expected, got {shown(value)}")
    return number


def _bounds(at_least, above, at_most):
    """A number within bounds, in words."""
    if at_most is not None:
        start = f"({-np.inf if above is None else above}" if at_least is None else f"[{at_least}"
        return f"number in {start}, {at_most}]"
    if 0 in (at_least, above):
        return f"{'non-negative' if above is None else 'positive'} number"
    return f"number of at least {at_least}" if above is None else f"number above {above}"


def require_size(states, actions, most):
    """Check that an environment is not too large.

    Parameters
    ----------
    states, actions : int
        Its size.
    most : int
        Largest number of transition probabilities.

    Raises
    ------
    ValueError
        If there are more.
    """
    if states**2 * actions > most:
        raise ValueError(
            f"states, actions: at most {most} transition probabilities expected, "
            f"got {states} x {actions} x {states}"
        )


def require_one_of(name, value, names):
    """Check that an argument is one of several names.

    Parameters
    ----------
    name : str
        Name of the argument, for the message.
    value : object
        The argument.
    names : iterable of str
        The allowed names.

    Raises
    ------
    ValueError
        If `value` is not one of them.
    """
    if not isinstance(value, str) or value not in names:
        raise ValueError(f"{name}: one of {', '.join(names)} expected, got {shown(value)}")


def shown(value):
    """Format a value for a message: its repr, on one line and not too long.

    Parameters
    ----------
    value : object
        Any value.

    Returns
    -------
    str

    Examples
    --------
    >>> shown([1, 2.5])
    '[1, 2.5]'
    >>> shown(list(range(1000)))
    '[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 1 ... (4890 characters)'
    """
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:60]} ... ({len(text)} characters)"
