"""Verdicts: whether numbers are shown to lie in their region, or outside, or neither.

For each part, one-sided t tests: against "outside" (two of them where the region has two ends,
that is TOST) and against "inside". A statement is reproduced if every part is shown to lie inside
(an intersection-union test, so its p value is the largest), and contradicted if some part is shown
to lie outside (its p value is the smallest, times the number of parts, after Bonferroni). Over the
statements of one table, each of the two families of p values is adjusted after Holm. So the
probability that any statement of a table is wrongly called reproduced is at most the level, and the
same for contradicted.
"""

import math

import numpy as np
import pandas as pd
from scipy import stats

from pgpd_hf.claims.criteria import CRITERIA
from pgpd_hf.claims.evidence import Undecidable

VERDICTS = ("reproduced", "contradicted", "inconclusive")
COLUMNS = (
    "claim",
    "source",
    "statement",
    "criterion",
    "estimate",
    "low",
    "high",
    "verdict",
    "effect",
    "margin",
    "part",
    "p_reproduced",
    "p_contradicted",
    "single",
    "unit",
    "units",
)


def holm(p):
    """Adjust p values for their number, after Holm.

    Parameters
    ----------
    p : array_like, float
        NaN where there is no test.

    Returns
    -------
    ndarray, float64
        In the same order; NaN stays.
    """
    p = np.asarray(p, dtype=np.float64)
    adjusted = np.full_like(p, np.nan)
    order = [i for i in np.argsort(p, kind="stable") if np.isfinite(p[i])]
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(order) - rank) * p[i]))
        adjusted[i] = largest
    return adjusted


def test_part(estimate, above, below):
    """Test whether a contrast lies in an open interval, and whether it lies outside.

    Parameters
    ----------
    estimate : Estimate
        The contrast.
    above, below : float
        Ends of the interval, possibly infinite.

    Returns
    -------
    inside, outside : float
        p values; a small one shows that the contrast lies there.
    """
    ends = [end for end in ((above, 1), (below, -1)) if math.isfinite(end[0])]
    larger, smaller = [], []
    for end, sign in ends:
        distance = sign * (estimate.value - end)  # positive inside
        if estimate.error > 0:
            score = distance / estimate.error
            larger.append(float(stats.t.sf(score, estimate.freedom)))
            smaller.append(float(stats.t.cdf(score, estimate.freedom)))
        else:
            larger.append(0.0 if distance > 0 else 1.0)
            smaller.append(1.0 if distance > 0 else 0.0)
    return max(larger), min(1.0, len(ends) * min(smaller))


test_part.__test__ = False  # no test of the suite


def judge(claims, evidence):
    """Judge all statements.

    Parameters
    ----------
    claims : dict
        Made by :func:`pgpd_hf.claims.load_claims`.
    evidence : Evidence
        The runs.

    Returns
    -------
    pandas.DataFrame
        A row per statement. `criterion` is the whole of what is demanded and, if nothing can
        decide, why. `estimate`, `low` and `high` (an interval without adjustment) belong to
        `part`: the one that contradicts, or else the one furthest from being shown. `effect` is
        the distance of the estimate from the edge of its region, positive inside. The p values
        are adjusted. `single` is the share of units that would show the statement if each were
        the only one.
    """
    rows = [
        _examine(name, claim, evidence, claims["level"]) for name, claim in claims["claims"].items()
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    for column in ("p_reproduced", "p_contradicted"):
        table[column] = holm(table[column].astype(float))
    level = claims["level"]
    table["verdict"] = "inconclusive"
    table.loc[table["p_reproduced"] <= level, "verdict"] = "reproduced"
    table.loc[table["p_contradicted"] <= level, "verdict"] = "contradicted"
    return table


def point_verdicts(claims, evidence):
    """Whether the estimates themselves bear the statements out, whatever their error.

    Parameters
    ----------
    claims, evidence
        As for :func:`judge`.

    Returns
    -------
    list of bool or None
        For each statement; None where nothing decides.
    """
    answers = []
    for claim in claims["claims"].values():
        options = dict(claim["criterion"])
        test = CRITERIA[options.pop("test")]
        try:
            parts = test(**options)
            values = [evidence.estimate(part.terms).value for part in parts]
            answers.append(
                all(part.above < v < part.below for part, v in zip(parts, values, strict=True))
            )
        except Undecidable:
            answers.append(None)
    return answers


def _examine(name, claim, evidence, level):
    """Row of one statement, with p values that are not adjusted yet."""
    options = dict(claim["criterion"])
    test = CRITERIA[options.pop("test")]
    row = {
        "claim": name,
        "source": claim["source"],
        "statement": claim["statement"],
        "margin": options.get("margin"),
        "unit": evidence.unit,
    }
    demanded = []
    try:
        parts = test(**options)
        demanded = [part.text for part in parts]
        estimates = [evidence.estimate(part.terms) for part in parts]
    except Undecidable as reason:
        return row | {"criterion": "; ".join([*demanded, f"not decided: {reason}"])}
    inside, outside = np.transpose(
        [
            test_part(estimate, part.above, part.below)
            for part, estimate in zip(parts, estimates, strict=True)
        ]
    )
    distances = [
        min(estimate.value - part.above, part.below - estimate.value)
        for part, estimate in zip(parts, estimates, strict=True)
    ]
    against = min(1.0, len(parts) * outside.min())
    # The part that decides; of several that are equally clear, the one furthest out.
    clarity = list(zip(outside if against <= level else -inside, distances, strict=True))
    weakest = clarity.index(min(clarity))
    part, estimate = parts[weakest], estimates[weakest]
    low, high = estimate.interval(level)
    return row | {
        "criterion": "; ".join(demanded),
        "estimate": estimate.value,
        "low": low,
        "high": high,
        "effect": distances[weakest],
        "part": part.text,
        "p_reproduced": inside.max(),
        "p_contradicted": against,
        "single": _single(parts, estimates),
        "units": None if estimate.single is None else len(estimate.single),
    }


def _single(parts, estimates):
    """Share of units that would show all parts if each were the only one."""
    if any(estimate.single is None for estimate in estimates):
        return None
    shown = [
        (estimate.single > part.above) & (estimate.single < part.below)
        for part, estimate in zip(parts, estimates, strict=True)
    ]
    return float(np.all(shown, axis=0).mean())
