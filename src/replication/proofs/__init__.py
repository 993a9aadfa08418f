"""Every step of the corrected proofs, checked on random CMDPs: proof_steps.csv.

Steps have the numbers of the article's appendix. What is bounded is computed exactly wherever that
is possible: trajectories of small CMDPs and numbers of votes are enumerated. Pathwise steps are
checked at every iteration of every run, statements about means on the mean over runs. Controls
leave out a term that a proof needs, and have to fail.
"""

from replication.proofs import (
    constant_step,
    energy,
    lemmas,
    natural,
    normalized,
    sampled,
    two_arms,
    votes,
    zeroth_order,
)
from replication.proofs.ledger import Ledger

__all__ = ["check_steps"]

_PARTS = lemmas, natural, constant_step, energy, two_arms, votes, zeroth_order, sampled, normalized


def check_steps(cases=40):
    """Check all steps, those that are enumerated on as many random CMDPs as there are `cases`."""
    ledger = Ledger()
    for part in _PARTS:
        part.check(ledger, cases)
    return ledger.table()
