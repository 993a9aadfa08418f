"""The paper's statements about runs, and whether the runs reproduce or contradict them.

`declaration` reads and checks config/claims.yaml, `evidence` turns traces into statistics per seed,
`criteria` says which contrasts of these have to lie in which interval, and `verdicts` tests that. A
statement is added as one entry of config/claims.yaml, or of a file of one's own that
`claims.statements` lists; a criterion as one function of `criteria`. docs/claims.md explains it.
"""

from pgpd_hf.claims.criteria import CRITERIA
from pgpd_hf.claims.declaration import load_claims
from pgpd_hf.claims.evidence import Evidence, Member, Undecidable
from pgpd_hf.claims.verdicts import VERDICTS, judge, verdict_at

__all__ = [
    "CRITERIA",
    "VERDICTS",
    "Evidence",
    "Member",
    "Undecidable",
    "judge",
    "load_claims",
    "verdict_at",
]
