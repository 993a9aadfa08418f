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


def check_steps(cases=40):
    """Check all steps, those that are enumerated on as many random CMDPs as there are `cases`."""
    ledger = Ledger()
    lemmas.check(ledger, cases)
    natural.check(ledger, cases)
    constant_step.check(ledger, cases)
    energy.check(ledger, cases)
    two_arms.check(ledger)
    votes.check(ledger)
    zeroth_order.check(ledger, cases)
    sampled.check(ledger, cases)
    normalized.check(ledger, cases)
    return ledger.table()
