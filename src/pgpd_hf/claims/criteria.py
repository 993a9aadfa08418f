"""Criteria: which numbers a statement is about, and the region in which they have to lie.

A criterion is a function in this file, decorated with :func:`criterion`; nothing else has to be
changed to add one. config/claims.yaml gives its keyword arguments, which are checked by their
names or annotations (:mod:`pgpd_hf.claims.arguments`). It yields parts, each a contrast and an
open interval, and a statement holds if all parts do. The first line of its docstring says what it
demands; config/README.md lists it.
"""

import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.claims import arguments as check
from pgpd_hf.claims.evidence import Contrast, Slope, Term, Undecidable, evaluators_text

CRITERIA: dict[str, Callable] = {}
_SIGNS = {"optimality_gap": "gap", "constraint_violation": "violation"}


@dataclass(frozen=True)
class Part:
    """A contrast and the open interval in which it has to lie.

    Attributes
    ----------
    label : str
        Name of the contrast in tables.
    contrast : Contrast
        What is estimated.
    above, below : float
        The ends of the interval.
    """

    label: str
    contrast: Contrast
    above: float = -math.inf
    below: float = math.inf

    @property
    def text(self):
        """str: the demand, such as "gap(64) < 0.02"."""
        if math.isfinite(self.above) and math.isfinite(self.below):
            if self.above == -self.below:
                return f"|{self.label}| < {self.below:g}"
            return f"{self.above:g} < {self.label} < {self.below:g}"
        if math.isfinite(self.above):
            return f"{self.label} > {self.above:g}"
        return f"{self.label} < {self.below:g}"


def criterion(function):
    """Register a criterion under its name.

    Parameters
    ----------
    function : callable
        Takes keyword arguments and yields :class:`Part`.

    Returns
    -------
    callable
        The function itself.

    Raises
    ------
    TypeError
        If an argument has neither an annotation nor a schema for its name.
    """
    for name, parameter in inspect.signature(function).parameters.items():
        if parameter.annotation is parameter.empty and name not in check.ARGUMENTS:
            raise TypeError(f"criterion {function.__name__}: {name!r} needs a schema as annotation")
    CRITERIA[function.__name__] = function
    return function


def argument_schema(test):
    """Schema of a criterion as config/claims.yaml writes it.

    Parameters
    ----------
    test : str
        A key of :data:`CRITERIA`.

    Returns
    -------
    dict
        JSON Schema of the key `test` and of all arguments, each of which is required.
    """
    parameters = inspect.signature(CRITERIA[test]).parameters.values()
    properties = {
        parameter.name: check.ARGUMENTS[parameter.name]
        if parameter.annotation is parameter.empty
        else parameter.annotation
        for parameter in parameters
    }
    return {
        "properties": {"test": {}, **properties},
        "required": list(properties),
        "additionalProperties": False,
    }


def make_parts(options):
    """Parts of a statement's criterion.

    Parameters
    ----------
    options : dict
        The name of the criterion, `test`, and its arguments.

    Returns
    -------
    list of Part

    Raises
    ------
    ValueError
        If no theorem promises a rate that it asks for.
    Undecidable
        If no run can decide.
    """
    given = {name: value for name, value in options.items() if name != "test"}
    return list(CRITERIA[options["test"]](**given))


def _value(algorithm, evaluators, column, statistic, **others):
    return Contrast({Term(algorithm, evaluators, column, statistic, **others): 1.0})


def _slope(algorithm, steps, evaluators, column):
    if get_algorithm(algorithm).rate is None:
        raise ValueError(f"no theorem promises a rate for {algorithm!r}")
    return Contrast({Slope(algorithm, steps, evaluators, column): 1.0})


def _within(label, contrast, margin):
    return Part(label, contrast, above=-margin, below=margin)


def _between(algorithm, column, statistic, first, second):
    """Label of a curve of one M minus that of another one, and the contrast."""
    few, many = (_value(algorithm, m, column, statistic) for m in (first, second))
    return f"{_name(column, statistic)}: ({first}) − ({second})", few - many


def _words(name):
    return name.replace("_", " ")


def _name(column, statistic):
    return f"{_SIGNS[column]}, {_words(statistic)}"


@criterion
def falls_early(*, algorithm, column, statistic, evaluators, share, margin):
    """The curve falls by more than the margin; the window sees more than the share of that fall."""
    for m in evaluators:
        windows = "start", statistic, "last_quarter"
        start, early, end = (_value(algorithm, m, column, window) for window in windows)
        fall = f"fall of {_SIGNS[column]}({m}) to the"
        yield Part(f"{fall} last quarter", start - end, above=margin)
        label = f"{fall} {_words(statistic)} minus {share:g} of that"
        yield Part(label, start - early - share * (start - end), above=0)


@criterion
def levels_off(*, algorithm, column, statistics, evaluators, margin):
    """The means over the two windows differ by less than the margin."""
    for m in evaluators:
        first, second = (_value(algorithm, m, column, statistic) for statistic in statistics)
        label = f"change of {_SIGNS[column]}({m}) from {_words(' to '.join(statistics))}"
        yield _within(label, first - second, margin)


@criterion
def most_of_the_gain(
    *, algorithm, column, statistic, evaluators: check.evaluators(3, 3), share, margin
):
    """The first increase of M lowers the curve by more than the margin, and the share of both."""
    few, some, many = evaluators
    gain, early = _between(algorithm, column, statistic, few, some)
    _, whole = _between(algorithm, column, statistic, few, many)
    yield Part(gain, early, above=margin)
    yield Part(f"{gain} − {share:g} (({few}) − ({many}))", early - share * whole, above=0)


@criterion
def equivalent(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """The curves of any two M differ by less than the margin."""
    for pair in itertools.combinations(evaluators, 2):
        yield _within(*_between(algorithm, column, statistic, *pair), margin)


@criterion
def decreases_alike(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """Every curve starts above zero and falls by more than the margin; all M are equivalent."""
    for m in evaluators:
        start, end = (_value(algorithm, m, column, when) for when in ("start", "last_quarter"))
        name = f"{_SIGNS[column]}({m})"
        yield Part(f"start of {name}", start, above=0)
        yield Part(f"fall of {name} to the last quarter", start - end, above=margin)
    for pair in itertools.combinations(evaluators, 2):
        yield _within(*_between(algorithm, column, statistic, *pair), margin)


@criterion
def improves(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """Every increase of M lowers the curve, and all together lower it by more than the margin."""
    pairs = [(pair, 0) for pair in itertools.pairwise(evaluators)]
    for pair, least in [*pairs, ((evaluators[0], evaluators[-1]), margin)]:
        yield Part(*_between(algorithm, column, statistic, *pair), above=least)


@criterion
def worse(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """The curve of the first M is above all others by more than the margin."""
    for m in evaluators[1:]:
        yield Part(*_between(algorithm, column, statistic, evaluators[0], m), above=margin)


@criterion
def larger(*, algorithm, than, column, statistic, evaluators, margin):
    """For every M, `algorithm` is above `than` by more than the margin."""
    for m in evaluators:
        ours, theirs = (_value(name, m, column, statistic) for name in (algorithm, than))
        label = f"{_name(column, statistic)}, M = {m}: {algorithm} − {than}"
        yield Part(label, ours - theirs, above=margin)


@criterion
def slower(*, algorithm, than, column, statistic, evaluators, margin):
    """At the iterations of `than`, `algorithm` is above it by more than the margin of its start."""
    for m in evaluators:
        ours = _value(algorithm, m, column, statistic, clock=than)
        theirs, start = _value(than, m, column, statistic), _value(algorithm, m, column, "start")
        when = f"{_name(column, statistic)} of {than}'s iterations, M = {m}"
        label = f"{when}: {algorithm} − {than} − {margin:g} start"
        yield Part(label, ours - theirs - margin * start, above=0)


@criterion
def more_sensitive(*, algorithm, than, column, statistic, evaluators: check.evaluators(2), margin):
    """From first to last M, `algorithm` falls further than `than`, by more than the margin."""
    ends = evaluators[0], evaluators[-1]
    (label, ours), (_, theirs) = (
        _between(name, column, statistic, *ends) for name in (algorithm, than)
    )
    yield Part(f"{label}, {algorithm} minus {than}", ours - theirs, above=margin)


@criterion
def converges(*, algorithm, statistic, evaluators, margin):
    """The gap is within the margin of zero, and the violation is below the margin."""
    for m in evaluators:
        gap, violation = (_value(algorithm, m, column, statistic) for column in _SIGNS)
        yield _within(f"gap({m}), {_words(statistic)}", gap, margin)
        yield Part(f"violation({m}), {_words(statistic)}", violation, below=margin)


@criterion
def falls_at_rate(
    *, algorithm, column: check.rate_column, steps, evaluators: check.one_number, rate, margin
):
    """The slope of the log average against log T is below the rate plus the margin."""
    label = f"slope of the average {column}, M = {evaluators_text(evaluators)}"
    yield Part(label, _slope(algorithm, steps, evaluators, column), below=rate + margin)


@criterion
def slower_rate(
    *, algorithm, than, column: check.rate_column, steps, evaluators: check.one_number, margin
):
    """The slope of `algorithm` against log T is above that of `than` by more than the margin."""
    ours, theirs = (_slope(name, steps, evaluators, column) for name in (algorithm, than))
    label = f"slope of the average {column}, M = {evaluators_text(evaluators)}"
    yield Part(f"{label}: {algorithm} − {than}", ours - theirs, above=margin)


@criterion
def equal_across_sizes(*, algorithm, column, statistic, evaluators, groups, margin):
    """The last group of instances differs from the first by less than the margin."""
    for label, contrast in _sizes(algorithm, column, statistic, evaluators, groups):
        yield _within(label, contrast, margin)


@criterion
def worse_with_size(*, algorithm, column, statistic, evaluators, groups, margin):
    """The last group of instances is above the first by more than the margin."""
    for label, contrast in _sizes(algorithm, column, statistic, evaluators, groups):
        yield Part(label, contrast, above=margin)


def _sizes(algorithm, column, statistic, evaluators, groups):
    """Difference between the last and the first group, for each M, with its label."""
    small, large = groups[0], groups[-1]
    for m in evaluators:
        first, last = (
            _value(algorithm, m, column, statistic, group=group) for group in (small, large)
        )
        yield f"{_name(column, statistic)}, M = {m}: {large} − {small} instances", last - first


@criterion
def questions(*, algorithm, evaluators, at, margin):
    """Questions per iteration and state-action pair are more, or fewer, than the margin."""
    end = {"least": "above", "most": "below"}[at]
    for m in evaluators:
        asked = _value(algorithm, m, "questions", "whole")
        yield Part(f"questions per iteration / |S||A|, M = {m}", asked, **{end: margin})


@criterion
def undecided(*, reason):
    """No run can decide; the reason says why."""
    raise Undecidable(reason)
