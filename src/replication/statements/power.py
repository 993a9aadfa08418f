"""How likely verdicts are under a stated alternative, and how many units make them likely.

The alternative says by how much the truth misses the ends of its intervals, on one
side or the other: either verdict should then come with probability :data:`POWER`. Only the errors
of estimates enter, never the estimates, so a pilot study can tell how many seeds and instances the
verdicts need before there are any.
"""

import math

import pandas as pd

from pgpd_hf.statistics import errors_for
from replication.statements.criteria import measure
from replication.statements.evidence import Undecidable

POWER = 0.9
# `part` has the largest standard error, `error`. `power` is a lower bound of the probability of
# "reproduced" if all parts lie inside the nearer ends of their intervals by the alternative, or of
# "contradicted" if one lies outside by it, whichever is less. An end on the other side is taken to
# be out of reach; with the usual margin it is three times as far away. `needed` is the number of
# units with which both are at least POWER, if errors fall as 1/√n. For slopes this is an
# assumption: their errors come from a bootstrap, and are not those of a mean. The units of
# statements about sweeps are the seeds of these.
COLUMNS = ("claim", "statement", "alternative", "part", "error", "unit", "units", "power", "needed")


def power_table(claims, evidence):
    """Power of the tests of all statements that the runs can decide by a test."""
    rows = []
    alternative = claims["alternative"]
    for name, claim in claims["claims"].items():
        if claim.get("kind") == "arithmetic":
            continue
        try:
            both = measure(claim, evidence)
        except Undecidable:
            continue
        part, worst = max(both, key=lambda pair: pair[1].error)
        row = {"alternative": alternative, "part": part.label, "error": worst.error}
        row |= {"unit": evidence.unit, "units": worst.units}
        row |= _power(both, claims["level"], alternative)
        rows.append({"claim": name, "statement": claim["statement"], **row})
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _power(both, level, alternative):
    """Power of both verdicts, and the number of units that is needed for it."""
    count = len(both)
    missed, refuted, needed = 0.0, 1.0, 0.0
    for part, estimate in both:
        ends = sum(map(math.isfinite, part.ends(0.0)))
        strict = level / (ends * count)
        # Reproducing takes all parts; contradicting, one of them.
        missed += 1 - estimate.power(alternative, level)
        refuted = min(refuted, estimate.power(alternative, strict))
        quantiles = max(errors_for(1 - (1 - POWER) / count, level), errors_for(POWER, strict))
        factor = (quantiles * estimate.error / alternative) ** 2
        needed = max(needed, math.ceil(factor * estimate.units), 2)
    return {"power": max(0.0, min(1 - missed, refuted)), "needed": needed}
