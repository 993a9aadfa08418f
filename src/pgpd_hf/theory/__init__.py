"""The paper's statements as numbers, checked; and certificates that are not vacuous."""

from pgpd_hf.theory.bounds import STATEMENTS, predicted_violation
from pgpd_hf.theory.certificates import certify, random_certificates
from pgpd_hf.theory.checks import check_all
from pgpd_hf.theory.constants import Constants, OutsideAssumptions, make_constants
from pgpd_hf.theory.corrected import corrected_theorem_1

__all__ = [
    "STATEMENTS",
    "Constants",
    "OutsideAssumptions",
    "certify",
    "check_all",
    "corrected_theorem_1",
    "make_constants",
    "predicted_violation",
    "random_certificates",
]
