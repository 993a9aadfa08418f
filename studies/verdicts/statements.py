"""What the paper says about its figure, and about rates in T.

The docstring of a function is the paper's words, or what a theorem says of the exponent of T;
what the function yields has to lie in open intervals. Differences are in units of a panel's height:
its largest minus its smallest mean. The same words have the same margins, which README.md lists;
exponents of rates are within a tenth. `fails_on` names the controls, wrong data, on which a
statement has to be contradicted.
"""

import difflib
import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

NP, ZP, MANY = "npgpd_hf", "zpgpd_hf", (16, 64, 256)
GAP, VIOLATION = "optimality_gap", "constraint_violation"
LATE, FIGURE = "last quarter", "line 606"
NO_GAIN = ("m-permuted", "no-primal-step", "votes-flipped", "exact-gradients")
MOVES = "For some M the gaps of the third and of the last quarter differ by a tenth or more."
NO_EFFECT, REVERSED = (*NO_GAIN, "random-256"), ("iterations-reversed",)
STATEMENTS = {}


class NotAsked(Exception):
    """The runs that a statement needs are not there; the message says which."""


class Part(NamedTuple):
    """A contrast and the open interval in which it has to lie."""

    label: str
    contrast: Any
    above: float = -math.inf
    below: float = math.inf


@dataclass(frozen=True)
class Statement:
    """A statement, or part of a sentence, of the paper."""

    name: str
    about: str  # the algorithm whose runs controls replace
    source: str  # line of the paper's LaTeX source
    quote: str
    refuted_by: str
    margin: float | None
    fails_on: tuple
    parts: Callable


def statement(about, refuted_by, margin=None, fails_on=(), source=FIGURE):
    """Add a function of runs and a margin; statements about rates are for two rules for steps."""

    def add(function):
        rules = {"": ""}
        if source != FIGURE:
            rules = {"_study": ", our steps", "_theorem": ", the theorem's steps"}
        for ending, steps in rules.items():
            name, parts = function.__name__ + ending, function
            if ending:
                parts = partial(function, rule=ending[1:])
            rest = (function.__doc__, refuted_by, margin, fails_on, parts)
            STATEMENTS[name] = Statement(name, about, source + steps, *rest)
        return function

    return add


def chosen(name=None, margin=None):
    """All statements, or a single one, which may have another margin."""
    if name is not None and name not in STATEMENTS:
        near = difflib.get_close_matches(str(name), STATEMENTS, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"STATEMENT: one of {', '.join(STATEMENTS)} expected, got {name!r}{hint}")
    if margin is None:
        return [STATEMENTS[name]] if name else [*STATEMENTS.values()]
    if name is None or STATEMENTS[name].margin is None:
        known = ", ".join(it for it in STATEMENTS if STATEMENTS[it].margin is not None)
        told = f"a STATEMENT that has a margin ({known}) expected, got {name or 'none'}"
        raise ValueError(f"MARGIN: {told}")
    if not (isinstance(margin, int | float) and 0 <= margin < math.inf):
        raise ValueError(f"MARGIN: a number of at least 0 expected, got {margin!r}")
    return [replace(STATEMENTS[name], margin=margin)]


def alike(mean, algorithm, window, margin, evaluators=MANY):
    """The means of each two M differ by less than a margin."""
    for few, many in itertools.combinations(evaluators, 2):
        difference = mean(algorithm, few, window) - mean(algorithm, many, window)
        yield Part(f"({few}) - ({many})", difference, -margin, margin)


def settled(runs, algorithm, margin):
    """The gaps of the last two quarters differ by less than a margin, for each M."""
    for m in MANY:
        change = runs.gap(algorithm, m, "third quarter") - runs.gap(algorithm, m, LATE)
        yield Part(f"({m}): third quarter - last quarter", change, -margin, margin)


@statement(
    NP,
    "For some M half of the fall or less is over by the second tenth of the iterations, or the "
    "gap falls by a tenth or less.",
    0.1,
    ("no-primal-step", "votes-flipped", "random-256", "iterations-reversed"),
)
def npgpd_gap_falls_fast(runs, margin):
    """For NPGPD-HF, the optimality gap decreases rapidly"""
    for m in MANY:
        start, early, end = (runs.gap(NP, m, it) for it in ("start", "second tenth", LATE))
        yield Part(f"({m}): fall", start - end, above=margin)
        early_fall = start - early - 0.5 * (start - end)
        yield Part(f"({m}): fall to the second tenth - half of the fall", early_fall, above=0)


@statement(NP, MOVES, 0.1, REVERSED)
def npgpd_gap_plateaus(runs, margin):
    """and then plateaus,"""
    return settled(runs, NP, margin)


@statement(
    NP,
    "More evaluators do not lower the final gap, or half or more of what 256 gain over 16 is "
    "missing with 64.",
    None,
    NO_GAIN,
)
def npgpd_gap_most_gain_16_64(runs, margin):
    """with most of the gain obtained by increasing M from 16 to 64,"""
    few, some, many = (runs.gap(NP, m, LATE) for m in MANY)
    yield Part("(16) - (256)", few - many, above=0)
    yield Part("(16) - (64) - half of [(16) - (256)]", few - some - 0.5 * (few - many), above=0)


@statement(NP, "The final gaps differ by a tenth or more.", 0.1, ("m-permuted", "random-256"))
def npgpd_gap_64_256_identical(runs, margin):
    """while M = 64 and M = 256 yield nearly identical performance"""
    return alike(runs.gap, NP, LATE, margin, (64, 256))


@statement(
    NP,
    "For some M the violation does not fall, or the violations of two M differ over the first "
    "half by a tenth or more.",
    0.1,
    ("no-primal-step", "random-256"),
)
def npgpd_violation_similar_rate(runs, margin):
    """The constraint violation decreases at a similar rate for all three M values"""
    for m in MANY:
        start = runs.violation(NP, m, "start")
        if start.estimate()[0] <= 0:
            raise NotAsked("the first policy is safe, so no violation can decrease")
        yield Part(f"({m}): fall", start - runs.violation(NP, m, LATE), above=0)
    yield from alike(runs.violation, NP, "first half", margin)


@statement(NP, "Over the whole run two M differ by a tenth or more.", 0.1, ("random-256",))
def npgpd_violation_overlaps(runs, margin):
    """and the curves largely overlap,"""
    return alike(runs.violation, NP, "whole", margin)


@statement(
    NP,
    "For some M the final violation is a tenth or more. A policy that is safer than needed is "
    "feasible.",
    0.1,
    ("no-primal-step", "multiplier-frozen", "random-256"),
)
def npgpd_feasible_for_every_m(runs, margin):
    """suggesting that feasibility is essentially insensitive to M in this setting."""
    for m in MANY:
        yield Part(f"({m})", runs.violation(NP, m, LATE), below=margin)


@statement(ZP, "For some M its gap when NPGPD-HF ends exceeds that by half or less.", 0.5, REVERSED)
def zpgpd_gap_much_slower(runs, margin):
    """In contrast, ZPGPD-HF's optimality gap converges much more slowly"""
    for m in MANY:
        ours = runs.gap(ZP, m, LATE, clock=NP, beside=NP)
        behind = ours - runs.gap(NP, m, LATE, beside=ZP)
        yield Part(f"({m}): ZPGPD-HF - NPGPD-HF", behind, above=margin)


@statement(ZP, "From 16 to 256 the final gap falls no more than NPGPD-HF's.", 0.0, NO_GAIN)
def zpgpd_gap_more_sensitive(runs, margin):
    """and is more sensitive to the evaluator budget:"""
    falls = []
    for algorithm, other in ((ZP, NP), (NP, ZP)):
        few, many = (runs.gap(algorithm, m, LATE, beside=other) for m in (16, 256))
        falls.append(few - many)
        ends = few.estimate()[0], many.estimate()[0]
        yield {f"ratio_{algorithm}": ends[0] / ends[1] if ends[1] > 0 else None}  # decides nothing
    yield Part("(16) - (256): ZPGPD-HF - NPGPD-HF", falls[0] - falls[1], above=margin)


@statement(
    ZP,
    "One of the two increases of M does not lower the final gap, or both together lower it by a "
    "tenth or less.",
    0.1,
    NO_EFFECT,
)
def zpgpd_gap_improves_with_m(runs, margin):
    """performance improves substantially as M increases,"""
    few, some, many = (runs.gap(ZP, m, LATE) for m in MANY)
    yield Part("(16) - (64)", few - some, above=0)
    yield Part("(64) - (256)", some - many, above=0)
    yield Part("(16) - (256)", few - many, above=margin)


@statement(ZP, "With 16 the final gap exceeds 64's, or 256's, by a tenth or less.", 0.1, NO_EFFECT)
def zpgpd_gap_16_markedly_worse(runs, margin):
    """with M = 16 leading to markedly worse"""
    few, some, many = (runs.gap(ZP, m, LATE) for m in MANY)
    yield Part("(16) - (64)", few - some, above=margin)
    yield Part("(16) - (256)", few - many, above=margin)


@statement(ZP, MOVES, 0.1, REVERSED)
def zpgpd_gap_steady_state(runs, margin):
    """steady-state performance."""
    return settled(runs, ZP, margin)


@statement(ZP, "Over the whole run they differ by a tenth or more.", 0.1, ("random-256",))
def zpgpd_violation_64_256_close(runs, margin):
    """For the constraint violation of ZPGPD-HF, the curves for M = 64 and M = 256 are close"""
    return alike(runs.violation, ZP, "whole", margin, (64, 256))


@statement(ZP, "The final violations differ by a tenth or more.", 0.1, ("random-256",))
def zpgpd_violation_64_256_end(runs, margin):
    """and reach comparable final levels"""
    return alike(runs.violation, ZP, LATE, margin, (64, 256))


# Theorems 1 and 2, with M = 256. The gap is negative where a policy is unsafe enough, so the
# Lagrangian gap, gap + lambda* times violation, stands in its place.


def falls(runs, algorithm, rule, metric, most):
    """The exponent of T in an average over T iterations is below a number."""
    yield Part("exponent of T", runs.slope(algorithm, rule, metric), below=most)


@statement(NP, "The exponent is -0.4 or more.", 0.1, source="line 462, Theorem 1")
def npgpd_rate_gap(runs, margin, rule):
    """the average of V_r* - V_r is at most O(1/sqrt(T) + ...)"""
    return falls(runs, NP, rule, "lagrangian_gap", -1 / 2 + margin)


@statement(NP, "The exponent is -0.4 or more.", 0.1, source="line 469, Theorem 1")
def npgpd_rate_violation(runs, margin, rule):
    """the average of b - V_g, if positive, is at most O(1/sqrt(T) + ...)"""
    return falls(runs, NP, rule, "violation", -1 / 2 + margin)


@statement(ZP, "The exponent is -0.15 or more.", 0.1, source="line 559, Theorem 2")
def zpgpd_rate_gap(runs, margin, rule):
    """the average of V_r* - V_r is at most O(d/T^(1/4) + ...)"""
    return falls(runs, ZP, rule, "lagrangian_gap", -1 / 4 + margin)


@statement(ZP, "The exponent is -0.15 or more.", 0.1, source="line 569, Theorem 2")
def zpgpd_rate_violation(runs, margin, rule):
    """the average of b - V_g, if positive, is at most O(d/T^(1/4) + ...)"""
    return falls(runs, ZP, rule, "violation", -1 / 4 + margin)


@statement(ZP, "Its exponent is not above that of NPGPD-HF.", 0.0, source="line 580")
def zpgpd_slower_rate(runs, margin, rule):
    """In addition, the first term exhibits a slower convergence rate"""
    ours, theirs = (runs.slope(it, rule, "lagrangian_gap") for it in (ZP, NP))
    yield Part("exponent of T: ZPGPD-HF - NPGPD-HF", ours - theirs, above=margin)
