"""Criteria: which numbers a statement is about, and the region in which they have to lie.

A criterion is a function in this file, decorated with :func:`criterion`; nothing else has to be
changed to add one. config/claims.yaml gives its keyword arguments, which are checked by their
names or annotations (:mod:`replication.statements.arguments`). It yields parts, each a contrast
and an open interval; a statement holds if all parts do. A part says how its interval moves with
the margin; all parts of a criterion that move have to move the same way, so that the verdict
changes at one margin. The first line of its docstring says what it demands; config/README.md lists
it.
"""

import inspect
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.evaluators import evaluators_text
from replication.statements import arguments as check
from replication.statements.evidence import Contrast, TableEntry, Term, Undecidable

CRITERIA: dict[str, Callable] = {}
_SIGNS = {"optimality_gap": "gap", "constraint_violation": "violation"}


class Margin(IntEnum):
    """What a margin does to an interval: each of its ends moves outwards by so many margins."""

    IGNORED = 0
    ALLOWED = 1  # the contrast differs by less than the margin
    DEMANDED = -1  # it is larger by more than the margin


@dataclass(frozen=True)
class Part:
    """A contrast and the open interval in which it has to lie."""

    label: str  # name of the contrast in tables
    contrast: Contrast
    above: float = -math.inf  # the ends of the interval for margin zero
    below: float = math.inf
    margin: Margin = Margin.IGNORED

    def ends(self, margin):
        """Ends of the interval, infinite where it has none."""
        return self.above - self.margin * margin, self.below + self.margin * margin

    def text(self, margin):
        """Say what is demanded, such as "gap(64) < 0.1"."""
        above, below = self.ends(margin)
        if above == -below:
            return f"|{self.label}| < {below:g}"
        if math.isfinite(above) and math.isfinite(below):
            return f"{above:g} < {self.label} < {below:g}"
        return f"{self.label} > {above:g}" if math.isfinite(above) else f"{self.label} < {below:g}"


def criterion(function):
    """Register a criterion, which yields :class:`Part`, under its name."""
    for name in inspect.signature(function).parameters:
        if name not in check.ARGUMENTS | function.__annotations__:
            raise TypeError(f"criterion {function.__name__}: {name!r} needs a schema as annotation")
    CRITERIA[function.__name__] = function
    return function


def argument_schema(test):
    """JSON Schema of a criterion as config/claims.yaml writes it: its key `test` and arguments."""
    schemas = check.ARGUMENTS | CRITERIA[test].__annotations__
    properties = {name: schemas[name] for name in inspect.signature(CRITERIA[test]).parameters}
    return {
        "properties": {"test": {}, **properties},
        "required": list(properties),
        "additionalProperties": False,
    }


def make_parts(options):
    """Parts of a statement's criterion, whose name is `test` and whose arguments are the others."""
    given = {name: value for name, value in options.items() if name != "test"}
    parts = list(CRITERIA[options["test"]](**given))
    moving = {part.margin for part in parts} - {Margin.IGNORED}
    if moving and "margin" not in given:
        raise ValueError(f"{options['test']}: a margin expected, because its parts move with one")
    if len(moving) > 1:
        raise ValueError(f"{options['test']}: one direction of the margin expected, got both")
    return parts


def measure(claim, evidence):
    """Parts of a statement with their estimates."""
    return [(part, evidence.estimate(part.contrast)) for part in make_parts(claim["criterion"])]


def _value(algorithm, evaluators, column, statistic, **others):
    return Contrast({Term(algorithm, evaluators, column, statistic, **others): 1.0})


def _entry(table, name, **where):
    options = {key: where.pop(key) for key in ("per", "discounted") if key in where}
    return Contrast({TableEntry(table, tuple(where.items()), name, **options): 1.0})


def _slope(algorithm, steps, evaluators, column):
    if get_algorithm(algorithm).rate is None:
        raise ValueError(f"no theorem promises a rate for {algorithm!r}")
    where = {"algorithm": algorithm, "step_rule": steps, "evaluators": evaluators}
    return _entry("rates", "slope", **where, metric=column)


def _slope_name(column, evaluators):
    return f"slope of the average {_words(column)}, M = {evaluators_text(evaluators)}"


def _joint_slope(algorithm, steps, column):
    """Label and slope against log T where M and H grow with T, as in the corollary."""
    where = {"sweep": "corollary", "algorithm": algorithm, "curve": f"{steps} steps"}
    slope = _entry("slopes", "slope", **where, metric=column)
    return f"slope of the average {_words(column)} along the corollary's schedule", slope


def _within(label, contrast):
    return Part(label, contrast, above=0.0, below=0.0, margin=Margin.ALLOWED)


def _more(label, contrast):
    return Part(label, contrast, above=0.0, margin=Margin.DEMANDED)


def _less(label, contrast, margin, than=0.0):
    return Part(label, contrast, below=than, margin=margin)


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
        yield _more(f"{fall} last quarter", start - end)
        label = f"{fall} {_words(statistic)} minus {share:g} of that"
        yield Part(label, start - early - share * (start - end), above=0)


@criterion
def levels_off(*, algorithm, column, statistics, evaluators, margin):
    """The means over the two windows differ by less than the margin."""
    for m in evaluators:
        yield _change(algorithm, column, statistics, m)


@criterion
def steady(*, algorithm, statistics, evaluators, margin):
    """Gap, violation and multiplier differ by less than the margin between the two windows."""
    for m in evaluators:
        for column in (*_SIGNS, "multiplier"):
            yield _change(algorithm, column, statistics, m)


def _change(algorithm, column, statistics, m):
    first, second = (_value(algorithm, m, column, statistic) for statistic in statistics)
    label = f"fall of {_SIGNS.get(column, column)}({m}) from {_words(' to '.join(statistics))}"
    return _within(label, first - second)


@criterion
def most_of_the_gain(*, algorithm, column, statistic, evaluators: check.evaluators(3, 3), share):
    """More M lowers the curve, and the first increase by more than the share of the whole gain."""
    few, some, many = sorted(evaluators)
    _, early = _between(algorithm, column, statistic, few, some)
    gain, whole = _between(algorithm, column, statistic, few, many)
    yield Part(gain, whole, above=0)
    label = f"{_name(column, statistic)}: ({few}) − ({some}) − {share:g} (({few}) − ({many}))"
    yield Part(label, early - share * whole, above=0)


@criterion
def equivalent(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """The curves of any two M differ by less than the margin."""
    for pair in itertools.combinations(evaluators, 2):
        yield _within(*_between(algorithm, column, statistic, *pair))


@criterion
def decreases_alike(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """Every curve falls, where its start is unsafe; any two M differ by less than the margin."""
    for m in evaluators:
        start, end = (
            _value(algorithm, m, column, when, violated=True) for when in ("start", "last_quarter")
        )
        yield Part(f"fall of {_SIGNS[column]}({m}) to the last quarter", start - end, above=0)
    yield from equivalent(
        algorithm=algorithm,
        column=column,
        statistic=statistic,
        evaluators=evaluators,
        margin=margin,
    )


@criterion
def improves(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """Every increase of M lowers the curve, and all together lower it by more than the margin."""
    evaluators = sorted(evaluators)
    for pair in itertools.pairwise(evaluators):
        yield Part(*_between(algorithm, column, statistic, *pair), above=0)
    yield _more(*_between(algorithm, column, statistic, evaluators[0], evaluators[-1]))


@criterion
def worse(*, algorithm, column, statistic, evaluators: check.evaluators(2), margin):
    """The curve of the first M is above all others by more than the margin."""
    for m in evaluators[1:]:
        yield _more(*_between(algorithm, column, statistic, evaluators[0], m))


@criterion
def slower(*, algorithm, than, column, statistic, evaluators, margin):
    """At the iterations of `than`, `algorithm` is above it by more than the margin."""
    for m in evaluators:
        ours = _value(algorithm, m, column, statistic, clock=than)
        theirs = _value(than, m, column, statistic)
        when = f"{_name(column, statistic)} of {than}'s iterations, M = {m}"
        yield _more(f"{when}: {algorithm} − {than}", ours - theirs)


@criterion
def more_sensitive(*, algorithm, than, column, statistic, evaluators: check.evaluators(2), margin):
    """From first to last M, `algorithm` falls further than `than`, by more than the margin."""
    ends = evaluators[0], evaluators[-1]
    (label, ours), (_, theirs) = (
        _between(name, column, statistic, *ends) for name in (algorithm, than)
    )
    yield _more(f"{label}, {algorithm} minus {than}", ours - theirs)


@criterion
def converges(*, algorithm, statistic, evaluators, margin):
    """The gap is within the margin of zero, and the violation is below the margin."""
    for m in evaluators:
        gap, violation = (_value(algorithm, m, column, statistic) for column in _SIGNS)
        yield _within(f"gap({m}), {_words(statistic)}", gap)
        label = f"violation({m}), {_words(statistic)}"
        yield _less(label, violation, Margin.ALLOWED)


@criterion
def converges_jointly(*, algorithm, columns: check.rate_columns, steps, margin):
    """Where T, M and H grow together, all slopes against log T are below minus the margin."""
    for column in columns:
        yield _less(*_joint_slope(algorithm, steps, column), Margin.DEMANDED)


@criterion
def joint_rate(*, algorithm, column: check.rate_column, steps, rate, margin):
    """Where T, M and H grow together, the slope against log T is below the rate plus the margin."""
    yield _less(*_joint_slope(algorithm, steps, column), Margin.ALLOWED, than=rate)


@criterion
def falls_at_rate(
    *, algorithm, column: check.rate_column, steps, evaluators: check.one_number, rate, margin
):
    """The slope of the log average against log T is below the rate plus the margin."""
    slope = _slope(algorithm, steps, evaluators, column)
    yield _less(_slope_name(column, evaluators), slope, Margin.ALLOWED, than=rate)


@criterion
def slower_rate(
    *, algorithm, than, column: check.rate_column, steps, evaluators: check.one_number, margin
):
    """The slope of `algorithm` against log T is above that of `than` by more than the margin."""
    ours, theirs = (_slope(name, steps, evaluators, column) for name in (algorithm, than))
    yield _more(f"{_slope_name(column, evaluators)}: {algorithm} − {than}", ours - theirs)


@criterion
def bias_falls(*, algorithm, curve, quantity, margin):
    """What finite M costs beside M = ∞ falls with M: its slope is below minus the margin."""
    where = {"sweep": "people", "algorithm": algorithm, "curve": curve, "quantity": quantity}
    slope = _entry("effects", "slope", **where, metric="priced_gap")
    yield _less(f"slope of the priced gap against M, {quantity}", slope, Margin.DEMANDED)


@criterion
def larger_bias(*, algorithm, than, curves, evaluators, margin):
    """At the same M, finite M costs `algorithm` more than `than`, by more than the margin."""
    for m in evaluators:
        ours, theirs = map(_cost_of_people, (algorithm, than), curves, (m, m))
        label = f"priced gap({m}) − priced gap(inf): {algorithm} − {than}"
        yield _more(label, ours - theirs)


def _cost_of_people(algorithm, curve, m):
    where = {"sweep": "people", "algorithm": algorithm, "curve": curve, "metric": "priced_gap"}
    finite, infinite = (
        _entry("effects_means", "mean", **where, value=value, per="optimality_gap")
        for value in (float(m), math.inf)
    )
    return finite - infinite


@criterion
def decays_with_horizon(*, algorithm, horizons, margin):
    """The bias of the dual step's estimate shrinks with H, by γ per step up to the margin."""
    where = {"sweep": "horizon", "algorithm": algorithm, "per": "constraint_violation"}
    for short, long in itertools.pairwise(sorted(horizons)):
        before, after, expected = (
            _entry("effects_means", "mean", **where, value=float(h), metric="misread", discounted=d)
            for h, d in ((short, 0), (long, 0), (short, long - short))
        )
        # Returns that stop early lack value: what is misread is negative.
        yield Part(f"misread({long}) − misread({short})", after - before, above=0)
        yield _within(f"misread({long}) − γ^{long - short} misread({short})", after - expected)


@criterion
def schedule_no_worse(*, algorithm, schedule, outcome, margin):
    """At equal cost, the schedule is above constant M and H by less than the margin."""
    yield _less(*_schedule(algorithm, schedule, outcome), Margin.ALLOWED)


@criterion
def schedule_better(*, algorithm, schedule, outcome, margin):
    """At equal cost, the schedule is below constant M and H by more than the margin."""
    yield _less(*_schedule(algorithm, schedule, outcome), Margin.DEMANDED)


def _schedule(algorithm, schedule, outcome):
    where = {"algorithm": algorithm, "schedule": schedule, "metric": outcome}
    difference = _entry("schedules", "difference", **where, per="optimality_gap")
    return f"{_words(outcome)}: schedule '{schedule}' − constant", difference


@criterion
def equal_across_sizes(*, algorithm, column, statistic, evaluators, groups, margin):
    """The last group of instances differs from the first by less than the margin."""
    for label, contrast in _sizes(algorithm, column, statistic, evaluators, groups):
        yield _within(label, contrast)


@criterion
def worse_with_size(*, algorithm, column, statistic, evaluators, groups, margin):
    """The last group of instances is above the first by more than the margin."""
    for label, contrast in _sizes(algorithm, column, statistic, evaluators, groups):
        yield _more(label, contrast)


def _sizes(algorithm, column, statistic, evaluators, groups):
    """Difference between the last and the first group, for each M, with its label."""
    small, large = groups[0], groups[-1]
    for m in evaluators:
        first, last = (_value(algorithm, m, column, statistic, group=it) for it in (small, large))
        yield f"{_name(column, statistic)}, M = {m}: {large} − {small} instances", last - first


@criterion
def questions(*, algorithm, evaluators, at, margin):
    """Questions per iteration and state-action pair are more, or fewer, than the margin."""
    for m in evaluators:
        label = f"questions per iteration / |S||A|, M = {m}"
        asked = _value(algorithm, m, "questions", "whole")
        yield _more(label, asked) if at == "least" else _less(label, asked, Margin.ALLOWED)


@criterion
def undecided(*, reason):
    """No run can decide; the reason says why."""
    raise Undecidable(f"not asked by any run: {reason}")
