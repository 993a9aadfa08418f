"""Verdicts: whether contrasts are shown to lie in their intervals, or outside, or neither.

Each part has two one-sided t tests. The null hypothesis of the first is that the contrast lies
outside its interval (with two finite ends this is TOST, two one-sided tests), that of the second
that it lies inside. A statement is reproduced if all parts are shown to lie inside: this is an
intersection-union test, so its p value is the largest of the parts'. It is contradicted if some
part is shown to lie outside: its p value is the smallest of the parts', times their number
(Bonferroni). Over the statements of one table, both families of p values are adjusted after Holm,
so that the probability that any statement of the table is wrongly called reproduced is at most the
level, and likewise for contradicted.
"""

import math

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf.claims.criteria import make_parts
from pgpd_hf.claims.evidence import Undecidable

VERDICTS = ("reproduced", "contradicted", "inconclusive")
COLUMNS = tuple(
    (
        "claim source statement criterion estimate low high verdict effect margin part "
        "p_reproduced p_contradicted single unit units"
    ).split()
)


def holm(p):
    """Adjust p values for multiple testing, after Holm.

    Parameters
    ----------
    p : array_like, float
        NaN where there is no test.

    Returns
    -------
    ndarray, float64
        In the same order, NaN where `p` is.

    Examples
    --------
    >>> holm([0.01, 0.04, float("nan"), 0.03])
    array([0.03, 0.06,  nan, 0.06])
    """
    p = np.asarray(p, dtype=np.float64)
    order = np.argsort(p, kind="stable")  # NaN comes last
    hypotheses = np.isfinite(p).sum() - np.arange(len(p))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(np.maximum.accumulate(hypotheses * p[order]), 1)
    return adjusted


def test_part(estimate, above, below):
    """Test whether a contrast lies inside an open interval, and whether it lies outside.

    Parameters
    ----------
    estimate : Estimate
        The estimated contrast.
    above, below : float
        Ends of the interval, possibly infinite.

    Returns
    -------
    inside, outside : float
        p values: a small one shows that the contrast lies inside, or outside.
    """
    ends = [end for end in ((above, 1), (below, -1)) if math.isfinite(end[0])]
    larger, smaller = [], []
    for end, sign in ends:
        distance = sign * (estimate.value - end)  # positive inside
        if estimate.error > 0:
            score = distance / estimate.error
        else:
            score = math.inf if distance > 0 else -math.inf
        larger.append(float(special.stdtr(estimate.freedom, -score)))
        smaller.append(float(special.stdtr(estimate.freedom, score)))
    return max(larger), min(1.0, len(ends) * min(smaller))


test_part.__test__ = False  # pytest is not to collect it


def judge(claims, evidence):
    """Judge all statements.

    Parameters
    ----------
    claims : dict
        Made by :func:`pgpd_hf.claims.load_claims`.
    evidence : Evidence
        Statistics of the runs.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, a row per statement. `criterion` lists the demands of all parts
        and, where no run decides, the reason. `estimate`, `low` and `high` (an unadjusted interval)
        are those of `part`: the part that contradicts, or else the one that is furthest from being
        shown. `effect` is the distance of the estimate from the nearest end of its interval,
        positive inside. `p_reproduced` and `p_contradicted` are adjusted. `single` is the share of
        units that lie inside all intervals by themselves.
    """
    level = claims["level"]
    rows = [_examine(name, claim, evidence, level) for name, claim in claims["claims"].items()]
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    table["verdict"] = "inconclusive"
    for verdict in ("reproduced", "contradicted"):
        table[f"p_{verdict}"] = holm(table[f"p_{verdict}"].astype(float))
        table.loc[table[f"p_{verdict}"] <= level, "verdict"] = verdict
    return table


def point_verdicts(claims, evidence):
    """Whether the estimates lie in their intervals, without regard to their errors.

    Parameters
    ----------
    claims, evidence
        As for :func:`judge`.

    Returns
    -------
    list of bool or None
        For each statement; None where no run decides.
    """
    verdicts = []
    for claim in claims["claims"].values():
        try:
            parts = make_parts(claim["criterion"])
            values = [evidence.estimate(part.contrast).value for part in parts]
        except Undecidable:
            verdicts.append(None)
        else:
            within = (part.above < v < part.below for part, v in zip(parts, values, strict=True))
            verdicts.append(all(within))
    return verdicts


def _examine(name, claim, evidence, level):
    """Row of one statement, with p values before adjustment."""
    row = {
        "claim": name,
        "source": claim["source"],
        "statement": claim["statement"],
        "margin": claim["criterion"].get("margin"),
        "unit": evidence.unit,
    }
    demanded = []
    try:
        parts = make_parts(claim["criterion"])
        demanded = [part.text for part in parts]
        estimates = [evidence.estimate(part.contrast) for part in parts]
    except Undecidable as reason:
        return row | {"criterion": "; ".join([*demanded, f"not decided: {reason}"])}
    both = list(zip(parts, estimates, strict=True))
    tests = [test_part(estimate, part.above, part.below) for part, estimate in both]
    inside, outside = np.transpose(tests)
    distances = [min(e.value - part.above, part.below - e.value) for part, e in both]
    against = min(1.0, len(parts) * outside.min())
    # The part that decides; of several with the same p value, the one furthest outside.
    clarity = list(zip(outside if against <= level else -inside, distances, strict=True))
    weakest = clarity.index(min(clarity))
    part, estimate = both[weakest]
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
        "single": _single(both),
        "units": None if estimate.single is None else len(estimate.single),
    }


def _single(parts):
    """Share of units that lie inside all intervals, from pairs of parts and estimates."""
    if any(estimate.single is None for _, estimate in parts):
        return None
    inside = [(e.single > part.above) & (e.single < part.below) for part, e in parts]
    return float(np.all(inside, axis=0).mean())
