"""The paper's statements: their bounds as numbers, checks of them, and pathwise certificates."""

from replication.theory.bounds import STATEMENTS, predicted_violation
from replication.theory.certificates import certify, random_certificates
from replication.theory.constants import Constants, OutsideAssumptions, make_constants
from replication.theory.table import check_all

__all__ = [
    "STATEMENTS",
    "Constants",
    "OutsideAssumptions",
    "certify",
    "check_all",
    "make_constants",
    "predicted_violation",
    "random_certificates",
]
