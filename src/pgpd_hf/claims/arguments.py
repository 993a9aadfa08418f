"""Checks of the arguments that config/claims.yaml gives to criteria.

A check is a function of an argument's name and value that raises a ValueError of one line.
:data:`ARGUMENTS` has the check of each argument by its name; a criterion annotates an argument
with another check where this one does not fit.
"""

import math

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.claims.evidence import COLUMNS, RATE_COLUMNS, STATISTICS
from pgpd_hf.core.arguments import located, require_one_of, shown


def algorithm(name, value):
    """Accept the name of an algorithm."""
    with located(name):
        get_algorithm(value)


def algorithm_with_rate(name, value):
    """Accept the name of an algorithm whose theorem has a rate in T."""
    algorithm(name, value)
    if get_algorithm(value).rate is None:
        raise ValueError(f"{name}: no theorem promises a rate for {value!r}")


def one_of(*allowed):
    """Accept the given strings only."""
    return lambda name, value: require_one_of(name, value, allowed)


def two_statistics(name, value):
    """Accept a list of two windows."""
    _require(isinstance(value, list) and len(value) == 2, name, value, "two statistics")
    for statistic in value:
        require_one_of(name, statistic, STATISTICS)


def amount(name, value):
    """Accept a non-negative number."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    _require(number and 0 <= value < math.inf, name, value, "a number of at least 0")


def evaluators(least):
    """Accept a list of different numbers of evaluators, at least so many."""

    def check(name, value):
        good = isinstance(value, list) and all(map(_is_count, value))
        good = good and len(set(value)) == len(value) >= least
        _require(good, name, value, f"at least {least} different numbers of evaluators")

    return check


def one_number_of_evaluators(name, value):
    """Accept one number of evaluators, or None for infinitely many."""
    good = value is None or _is_count(value)
    _require(good, name, value, "a number of evaluators, or null for infinitely many,")


def groups(name, value):
    """Accept a list of at least two names of groups of instances."""
    _require(isinstance(value, list) and len(value) >= 2, name, value, "at least two groups")


def anything(name, value):
    """Accept every value."""


def _is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value > 0


def _require(good, name, value, expected):
    if not good:
        raise ValueError(f"{name}: {expected} expected, got {shown(value)}")


ARGUMENTS = {
    "algorithm": algorithm,
    "than": algorithm,
    "column": one_of(*COLUMNS),
    "statistic": one_of(*STATISTICS),
    "evaluators": evaluators(1),
    "share": amount,
    "margin": amount,
    "groups": groups,
}
RATE_COLUMN = one_of(*RATE_COLUMNS)
STEPS = one_of("study", "theorem")
