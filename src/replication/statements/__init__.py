"""The paper's statements about runs, and whether the runs reproduce or contradict them.

`declaration` reads and checks config/claims.yaml, `evidence` turns traces into statistics per seed,
`criteria` says which contrasts of these have to lie in which interval, and `verdicts` tests that.
`power` says how likely a verdict is, `inference` which N the statements speak for. A
statement is added as one entry of config/claims.yaml, or of a file of one's own that
`claims.statements` lists; a criterion as one function of `criteria`. docs/claims.md explains it.
"""

from replication.statements.criteria import CRITERIA
from replication.statements.declaration import load_claims
from replication.statements.evidence import Evidence, Member, Undecidable
from replication.statements.inference import infer, of_experiment, resampled_scores, score
from replication.statements.power import power_table
from replication.statements.sources import load_evidence
from replication.statements.verdicts import judge, verdict_at

__all__ = [
    "CRITERIA",
    "Evidence",
    "Member",
    "Undecidable",
    "infer",
    "judge",
    "load_claims",
    "load_evidence",
    "of_experiment",
    "power_table",
    "resampled_scores",
    "score",
    "verdict_at",
]
