"""What config/claims.yaml may give to criteria: JSON Schemas of their arguments.

:data:`ARGUMENTS` has the schema of each argument by its name; a criterion annotates an argument
with another schema where this one does not fit.
"""

from pgpd_hf.algorithms import ALGORITHMS
from replication.statements.evidence import COLUMNS, RATE_COLUMNS, STATISTICS


def one_of(*allowed):
    """Schema of one of the given strings."""
    return {"enum": list(allowed)}


def evaluators(least, most=100):
    """Schema of a list of different numbers of evaluators, of a length within bounds."""
    number = {"type": "integer", "minimum": 1}
    limits = {"minItems": least, "maxItems": most, "uniqueItems": True}
    return {"type": "array", "items": number, **limits}


amount = {"type": "number", "minimum": 0}
one_number = {"type": ["integer", "null"], "minimum": 1}  # M; null is infinitely many
rate_column = one_of(*RATE_COLUMNS)
rate_columns = {"type": "array", "items": rate_column, "minItems": 1, "uniqueItems": True}
window = one_of(*STATISTICS)
curve = {"type": ["string", "null"]}  # in a table of an analysis; null: the only one
ARGUMENTS = {
    "algorithm": one_of(*ALGORITHMS),
    "than": one_of(*ALGORITHMS),
    "column": one_of(*COLUMNS),
    "statistic": window,
    "statistics": {"type": "array", "items": window, "minItems": 2, "maxItems": 2},
    "evaluators": evaluators(1),
    "share": amount,
    "margin": amount,
    "groups": {"type": "array", "items": {"type": "string"}, "minItems": 2},
    "steps": one_of("study", "theorem"),
    "horizons": {"type": "array", "items": {"type": "integer", "minimum": 1}, "minItems": 2},
    "schedule": {"type": "string"},
    "curve": curve,
    "curves": {"type": "array", "items": curve, "minItems": 2, "maxItems": 2},
    "quantity": one_of("excess over M = ∞, M ≥ 16", "excess over M = ∞, 16 ≤ M ≤ 256"),
    "outcome": one_of("gap", "priced_gap", "late_gap", "late_priced_gap"),
    "rate": {"type": "number"},
    "at": one_of("least", "most"),
    "reason": {"type": "string"},
}
