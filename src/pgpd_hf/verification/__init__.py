"""Verification: whether results are those of the committed reference.

`contents` reads result files as rows of text, in which equal bits are equal characters; `items`
lists what the reference holds of a study; `checks` compares; `platforms` says whether bits can be
expected to agree; `report` prints the table. The command is tools/verify.py.
"""

from pgpd_hf.verification.checks import (
    DIGESTS,
    PLATFORM,
    TOLERANCE,
    Check,
    check_digests,
    check_drawings,
    check_figures,
    check_study,
    list_digests,
    write_reference,
)
from pgpd_hf.verification.items import ITEMS, Study
from pgpd_hf.verification.report import format_table

__all__ = [
    "DIGESTS",
    "ITEMS",
    "PLATFORM",
    "TOLERANCE",
    "Check",
    "Study",
    "check_digests",
    "check_drawings",
    "check_figures",
    "check_study",
    "format_table",
    "list_digests",
    "write_reference",
]
