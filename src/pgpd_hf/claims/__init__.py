"""The paper's statements: what they say of the runs, and whether the runs bear them out.

`evidence` turns traces into numbers per seed, `criteria` says which numbers a statement is about
and in which region they have to lie, `verdicts` tests that, and `declaration` reads and checks
config/claims.yaml. A criterion is added in `criteria` as one function.
"""

from pgpd_hf.claims.criteria import CRITERIA
from pgpd_hf.claims.declaration import load_claims
from pgpd_hf.claims.evidence import Evidence, Member, Undecidable
from pgpd_hf.claims.verdicts import VERDICTS, judge

__all__ = [
    "CRITERIA",
    "VERDICTS",
    "Evidence",
    "Member",
    "Undecidable",
    "judge",
    "load_claims",
]
