"""Criteria: which numbers a statement is about, and in which region they have to lie.

A criterion is a function of keyword arguments, as config/claims.yaml gives them, that returns
parts; a statement holds if all parts do. A part is a contrast and an open interval. Registered by
:func:`criterion` under its own name; its docstring's first line says what it demands.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from pgpd_hf.claims.evidence import SlopeTerm, Term, Undecidable

CRITERIA: dict[str, Callable] = {}
_SIGNS = {"optimality_gap": "gap", "constraint_violation": "violation"}


@dataclass(frozen=True)
class Part:
    """A contrast and the region that it has to lie in.

    Attributes
    ----------
    label : str
        Names the contrast for people.
    terms : list of Term or SlopeTerm
        The contrast.
    above, below : float
        The region, without its ends.
    """

    label: str
    terms: list
    above: float = -math.inf
    below: float = math.inf

    @property
    def text(self):
        """str: what is demanded."""
        if math.isfinite(self.above) and math.isfinite(self.below):
            if self.above == -self.below:
                return f"|{self.label}| < {self.below:g}"
            return f"{self.above:g} < {self.label} < {self.below:g}"
        if math.isfinite(self.above):
            return f"{self.label} > {self.above:g}"
        return f"{self.label} < {self.below:g}"


def criterion(function):
    """Register a criterion.

    Parameters
    ----------
    function : callable
        Takes keyword arguments, returns a list of :class:`Part`.

    Returns
    -------
    callable
        The same.
    """
    CRITERIA[function.__name__] = function
    return function


def _difference(first, second):
    """Terms of a minus b."""
    return [first, _times(-1, second)]


def _times(factor, term):
    return type(term)(**{**vars(term), "weight": factor * term.weight})


def _windows(algorithm, column, evaluators, *statistics):
    """Terms of one curve in several windows."""
    return [Term(1.0, algorithm, evaluators, column, statistic) for statistic in statistics]


def _name(column, statistic):
    return f"{_SIGNS[column]}, {statistic.replace('_', ' ')}"


@criterion
def falls_early(*, algorithm, column, statistic, evaluators, share, margin):
    """The curve falls by more than the margin, and most of that before the window ends."""
    parts = []
    for people in evaluators:
        start, early, end = _windows(algorithm, column, people, "start", statistic, "last_quarter")
        # (start - early) - share * (start - end) > 0
        excess = [_times(1 - share, start), _times(-1, early), _times(share, end)]
        name = f"{_SIGNS[column]}({people})"
        parts += [
            Part(f"fall of {name} to the last quarter", _difference(start, end), above=margin),
            Part(
                f"fall of {name} to the {statistic.replace('_', ' ')} minus {share:g} of that",
                excess,
                above=0,
            ),
        ]
    return parts


@criterion
def levels_off(*, algorithm, column, statistics, evaluators, margin):
    """The curve changes by less than the margin from one window to the other."""
    return [
        Part(
            f"change of {_SIGNS[column]}({people}) from {' to '.join(statistics)}".replace(
                "_", " "
            ),
            _difference(*_windows(algorithm, column, people, *statistics)),
            above=-margin,
            below=margin,
        )
        for people in evaluators
    ]


@criterion
def most_of_the_gain(*, algorithm, column, statistic, evaluators, share, margin):
    """The first increase of M brings more than the margin, and most of what both bring."""
    few, some, many = (Term(1.0, algorithm, people, column, statistic) for people in evaluators)
    label = f"{_name(column, statistic)}: "
    gain = f"({evaluators[0]}) − ({evaluators[1]})"
    both = f"(({evaluators[0]}) − ({evaluators[2]}))"
    return [
        Part(label + gain, _difference(few, some), above=margin),
        Part(
            f"{label}{gain} − {share:g} {both}",
            [_times(1 - share, few), _times(-1, some), _times(share, many)],
            above=0,
        ),
    ]


@criterion
def equivalent(*, algorithm, column, statistic, evaluators, margin):
    """All pairs of M differ by less than the margin."""
    return [
        Part(
            f"{_name(column, statistic)}: ({first}) − ({second})",
            _difference(
                Term(1.0, algorithm, first, column, statistic),
                Term(1.0, algorithm, second, column, statistic),
            ),
            above=-margin,
            below=margin,
        )
        for first, second in itertools.combinations(evaluators, 2)
    ]


@criterion
def decreases_alike(*, algorithm, column, statistic, evaluators, margin):
    """The curve is positive at first, falls by more than the margin, and alike for all M."""
    parts = []
    for people in evaluators:
        start, end = _windows(algorithm, column, people, "start", "last_quarter")
        name = f"{_SIGNS[column]}({people})"
        parts += [
            Part(f"start of {name}", [start], above=0),
            Part(f"fall of {name} to the last quarter", _difference(start, end), above=margin),
        ]
    return parts + equivalent(
        algorithm=algorithm,
        column=column,
        statistic=statistic,
        evaluators=evaluators,
        margin=margin,
    )


@criterion
def improves(*, algorithm, column, statistic, evaluators, margin):
    """Every increase of M lowers the curve, all of them together by more than the margin."""
    terms = {people: Term(1.0, algorithm, people, column, statistic) for people in evaluators}
    label = _name(column, statistic)
    parts = [
        Part(f"{label}: ({first}) − ({second})", _difference(terms[first], terms[second]), above=0)
        for first, second in itertools.pairwise(evaluators)
    ]
    first, last = evaluators[0], evaluators[-1]
    contrast = _difference(terms[first], terms[last])
    return [*parts, Part(f"{label}: ({first}) − ({last})", contrast, above=margin)]


@criterion
def worse(*, algorithm, column, statistic, evaluators, margin):
    """The first M is above all others by more than the margin."""
    return [
        Part(
            f"{_name(column, statistic)}: ({evaluators[0]}) − ({people})",
            _difference(
                Term(1.0, algorithm, evaluators[0], column, statistic),
                Term(1.0, algorithm, people, column, statistic),
            ),
            above=margin,
        )
        for people in evaluators[1:]
    ]


@criterion
def larger(*, algorithm, than, column, statistic, evaluators, margin):
    """For every M, one algorithm is above the other by more than the margin."""
    return [
        Part(
            f"{_name(column, statistic)}, M = {people}: {algorithm} − {than}",
            _difference(
                Term(1.0, algorithm, people, column, statistic),
                Term(1.0, than, people, column, statistic),
            ),
            above=margin,
        )
        for people in evaluators
    ]


@criterion
def slower(*, algorithm, than, column, statistic, evaluators, margin):
    """After the same number of iterations, one is behind by more than a share of the start."""
    return [
        Part(
            f"{_name(column, statistic)} of {than}'s iterations, M = {people}: "
            f"{algorithm} − {than} − {margin:g} start",
            [
                Term(1.0, algorithm, people, column, statistic, clock=than),
                Term(-1.0, than, people, column, statistic),
                Term(-margin, algorithm, people, column, "start"),
            ],
            above=0,
        )
        for people in evaluators
    ]


@criterion
def more_sensitive(*, algorithm, than, column, statistic, evaluators, margin):
    """Changing M changes one algorithm more than the other, by more than the margin."""
    few, many = evaluators[0], evaluators[-1]
    ours = _difference(*(Term(1.0, algorithm, m, column, statistic) for m in (few, many)))
    theirs = _difference(*(Term(-1.0, than, m, column, statistic) for m in (few, many)))
    label = f"{_name(column, statistic)}: ({few}) − ({many}), {algorithm} minus {than}"
    return [Part(label, [*ours, *theirs], above=margin)]


@criterion
def converges(*, algorithm, statistic, evaluators, margin):
    """The gap is within the margin of zero, and the violation below it."""
    parts = []
    for people in evaluators:
        gap, unsafe = (
            Term(1.0, algorithm, people, column, statistic)
            for column in ("optimality_gap", "constraint_violation")
        )
        when = statistic.replace("_", " ")
        parts += [
            Part(f"gap({people}), {when}", [gap], above=-margin, below=margin),
            Part(f"violation({people}), {when}", [unsafe], below=margin),
        ]
    return parts


@criterion
def falls_at_rate(*, algorithm, column, steps, evaluators, rate, margin):
    """The slope of log average against log T is at most the rate, up to the margin."""
    term = SlopeTerm(1.0, algorithm, steps, str(evaluators), column)
    return [Part(f"slope of the average {column}, M = {evaluators}", [term], below=rate + margin)]


@criterion
def slower_rate(*, algorithm, than, column, steps, evaluators, margin):
    """One algorithm's slope against log T is shallower by more than the margin."""
    ours = SlopeTerm(1.0, algorithm, steps, str(evaluators), column)
    theirs = SlopeTerm(-1.0, than, steps, str(evaluators), column)
    label = f"slope of the average {column}, M = {evaluators}: {algorithm} − {than}"
    return [Part(label, [ours, theirs], above=margin)]


@criterion
def equal_across_sizes(*, algorithm, column, statistic, evaluators, groups, margin):
    """Groups of instances of different sizes differ by less than the margin."""
    return [
        Part(
            f"{_name(column, statistic)}, M = {people}: {groups[-1]} − {groups[0]} instances",
            _sizes(algorithm, people, column, statistic, groups),
            above=-margin,
            below=margin,
        )
        for people in evaluators
    ]


@criterion
def worse_with_size(*, algorithm, column, statistic, evaluators, groups, margin):
    """The last group of instances is above the first by more than the margin."""
    return [
        Part(
            f"{_name(column, statistic)}, M = {people}: {groups[-1]} − {groups[0]} instances",
            _sizes(algorithm, people, column, statistic, groups),
            above=margin,
        )
        for people in evaluators
    ]


def _sizes(algorithm, evaluators, column, statistic, groups):
    return [
        Term(weight, algorithm, evaluators, column, statistic, group=group)
        for weight, group in ((1.0, groups[-1]), (-1.0, groups[0]))
    ]


@criterion
def questions(*, algorithm, evaluators, at, margin):
    """Questions per iteration, over |S||A|, are at least or at most the margin."""
    ends = {"least": {"above": margin}, "most": {"below": margin}}[at]
    return [
        Part(
            f"questions per iteration / |S||A|, M = {people}",
            [Term(1.0, algorithm, people, "questions", "whole")],
            **ends,
        )
        for people in evaluators
    ]


@criterion
def undecided(*, reason):
    """No run decides; the reason says why."""
    raise Undecidable(reason)
