"""The paper's statements as numbers, checked; and certificates that are not vacuous."""

from pgpd_hf.theory.bounds import STATEMENTS
from pgpd_hf.theory.checks import check_all
from pgpd_hf.theory.constants import Constants, OutsideAssumptions, make_constants

__all__ = [
    "STATEMENTS",
    "Constants",
    "OutsideAssumptions",
    "check_all",
    "make_constants",
]
