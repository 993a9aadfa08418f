"""Verdicts: whether contrasts are shown to lie in their intervals, or outside, or neither.

Each part has two one-sided t tests. The null hypothesis of the first is that the contrast lies
outside its interval (with two finite ends this is TOST, two one-sided tests), that of the second
that it lies inside. A statement is reproduced if all parts are shown to lie inside: this is an
intersection-union test, so its p value is the largest of the parts'. It is contradicted if some
part is shown to lie outside: its p value is the smallest of the parts', times their number
(Bonferroni).

A verdict depends on the data of its own statement alone: the probability that a statement is
wrongly called reproduced is at most the level, and likewise contradicted. What that means for a
whole table is said with the table: see :func:`replication.statements.report.expected_errors`.
"""

import math

import numpy as np
import pandas as pd

from pgpd_hf.statistics import errors_for, joint_test, student_quantile, student_test, verdict
from replication.statements.criteria import Margin, make_parts, measure
from replication.statements.evidence import Undecidable
from replication.statements.power import POWER

# `criterion` lists the demands of all parts. `estimate`, `low` and `high` are those of `part`: the
# part that contradicts, or else the one that is furthest from being shown. `effect` is the distance
# of the estimate from the nearest end of its interval, positive inside. `direction` is "within" if
# a larger margin makes the statement easier to reproduce, "beyond" if harder; the verdict changes
# at `reproduced_margin` and `contradicted_margin`. `single` is the share of units that lie inside
# all intervals by themselves. `why` says what an inconclusive verdict needs, or for which N
# arithmetic fails, which has no p values.
COLUMNS = tuple(
    (
        "claim source statement criterion estimate low high verdict kind effect margin direction "
        "reproduced_margin contradicted_margin part p_reproduced p_contradicted level single unit "
        "units why"
    ).split()
)


def p_values(estimate, above, below):
    """Test whether a contrast lies inside an open interval, and whether outside: two p values."""
    distances = _distances(estimate, above, below)
    tests = [student_test(d, estimate.error, estimate.freedom) for d in distances]
    return joint_test(*zip(*tests, strict=True))


def judge(claims, evidence):
    """Judge all statements: a row of :data:`COLUMNS` for each."""
    level = claims["level"]
    rows = [_examine(name, claim, evidence, level) for name, claim in claims["claims"].items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def verdict_at(row, margin):
    """Verdict of a statement, a row of :func:`judge`, at any margin."""
    if pd.isna(row["direction"]):
        return row["verdict"]
    sign = 1 if row["direction"] == "within" else -1
    refuted = sign * margin <= sign * row["contradicted_margin"]
    return verdict(not refuted and sign * margin >= sign * row["reproduced_margin"], refuted)


def _examine(name, claim, evidence, level):
    """Row of one statement."""
    criterion = claim["criterion"]
    margin = criterion.get("margin", 0.0)
    row = {
        "claim": name,
        "source": claim["source"],
        "statement": claim["statement"],
        "verdict": "inconclusive",
        "kind": claim.get("kind", "measured"),
        "margin": criterion.get("margin"),
        "level": level,
        "unit": evidence.unit,
    }
    try:
        row["criterion"] = "; ".join(part.text(margin) for part in make_parts(criterion))
        both = measure(claim, evidence)
    except Undecidable as reason:
        return row | {"why": str(reason)}
    inside, outside = np.transpose([p_values(it, *part.ends(margin)) for part, it in both])
    shown, against = joint_test(inside, outside)
    distances = [min(_distances(it, *part.ends(margin))) for part, it in both]
    # The part that decides; of several with the same p value, the one furthest outside.
    clarity = list(zip(outside if against <= level else -inside, distances, strict=True))
    weakest = clarity.index(min(clarity))
    part, estimate = both[weakest]
    low, high = estimate.interval(level)
    row["verdict"] = verdict(shown <= level, against <= level)
    if row["verdict"] == "inconclusive":
        row["why"] = _needed(both, margin, level, evidence.unit)
    if row["kind"] == "arithmetic":
        row["why"] = _by_construction(criterion, evidence)
    else:
        row |= {"p_reproduced": shown, "p_contradicted": against}
    return row | {
        "estimate": estimate.value,
        "low": low,
        "high": high,
        "effect": distances[weakest],
        **_margins(both, level),
        "part": part.text(margin),
        "single": _single(both, margin),
        "units": min(it.units for _, it in both),
    }


def _distances(estimate, above, below):
    """Distances of the estimate from the finite ends of the interval, positive inside."""
    return [d for d in (estimate.value - above, below - estimate.value) if math.isfinite(d)]


def _margins(both, level):
    """Direction of the margin, and the margins at which the verdict changes."""
    direction = next((part.margin for part, _ in both if part.margin), Margin.IGNORED)
    if not direction:
        return {}
    shown, refuted = [], []  # margins, with the sign of the direction
    for part, estimate in both:
        found = _distances(estimate, *part.ends(0.0))
        inside = student_quantile(1 - level, estimate.freedom) * estimate.error
        strict = level / (len(found) * len(both))
        outside = student_quantile(1 - strict, estimate.freedom) * estimate.error
        for distance in found:
            if part.margin:
                shown.append(inside - distance)
                refuted.append(-outside - distance)
            else:  # whatever the margin
                holds = distance >= inside if estimate.error else distance > 0
                shown.append(-math.inf if holds else math.inf)
                refuted.append(math.inf if distance <= -outside else -math.inf)
    return {
        "direction": "within" if direction > 0 else "beyond",
        "reproduced_margin": direction * max(shown),
        "contradicted_margin": direction * max(refuted),
    }


def _needed(both, margin, level, unit):
    """How many units decide with :data:`POWER`, if estimates are right and errors fall as 1/√n."""
    against, undecided = [], []
    for part, estimate in both:
        found = _distances(estimate, *part.ends(margin))
        distance = min(found)
        strict = level if distance > 0 else level / (len(found) * len(both))
        errors = errors_for(POWER, strict) * estimate.error
        factor = (errors / distance) ** 2 if distance else math.inf
        (undecided if distance > 0 else against).append((factor, estimate.units))
    # One part that is shown to lie outside contradicts; to reproduce takes all of them.
    factor, units = min(against) if against else max(undecided)
    if factor <= 1:  # by normal quantiles, which are too small for few units
        return f"on the margin: a few more {unit}s would decide"
    if factor > 1e4:
        return "on the margin: more than ten thousand times the runs would decide"
    number = math.ceil(factor * units)
    digits = max(len(str(number)) - 2, 0)
    return f"on the margin: about {round(number, -digits):,} {unit}s would decide"


def _by_construction(criterion, evidence):
    """For which N a statement about the number of questions holds, which is proportional to N."""
    asked = evidence.questions(criterion["algorithm"])
    ratio = criterion["margin"] / asked
    if criterion["at"] == "most":
        fails = f"for N ≥ {math.ceil(ratio)}"
    else:
        fails = f"for N ≤ {math.floor(ratio)}" if ratio >= 1 else "for no N"
    return f"by construction: {asked:g} N questions per iteration / |S||A|; fails {fails}"


def _single(both, margin):
    """Share of units that lie inside all intervals, from pairs of parts and estimates."""
    if any(estimate.single is None for _, estimate in both):
        return None
    samples = [(estimate.single, *part.ends(margin)) for part, estimate in both]
    if len({len(sample) for sample, *_ in samples}) > 1:  # some parts leave safe starts out
        return None
    return float(np.all([(x > low) & (x < high) for x, low, high in samples], axis=0).mean())
