r"""ICU-Sepsis as a CMDP: survival as the reward, fluids as the cost.

The package icu-sepsis (Choudhary, Gupta and Thomas 2024) has a model of treatment, estimated from
records of an intensive care unit, MIMIC-III: 716 states, of which 713 is death, 714 survival and
715 what follows; and 25 actions, 5 times a level of fluids plus a level of vasopressors, from 0 to
4. Only its table of numbers is read, so what else the package needs may be missing.
"""

from importlib.metadata import distributions

import numpy as np

from pgpd_hf import CMDP

VERSION = "2.0.1"
DEATH, SURVIVAL = 713, 714  # states
LEVELS = 5


def load_model():
    """Transition probabilities, first states, clinicians' policy, and admissible actions (S, A).

    These were taken often enough for an estimate of their effects; in the model, others have the
    mean effect of these. ValueError if the package is not installed.
    """
    package = next(iter(distributions(name="icu-sepsis")), None)
    found = getattr(package, "version", "none")
    if found != VERSION:
        told = f"pip install --no-deps icu-sepsis=={VERSION} installs it"
        raise ValueError(f"icu-sepsis: {VERSION} expected, got {found}; {told}")
    folder = package.locate_file("icu_sepsis/envs/assets")
    with np.load(folder / "dynamics.npz") as tables:
        clinicians = tables["expert_policy"]
        clinicians[DEATH:] = 1 / clinicians.shape[1]  # where nothing is left to do
        admissible = np.zeros(clinicians.shape, bool)
        _, *lines = (folder / "admissible_actions.txt").read_text().splitlines()  # after counts
        for state, actions in enumerate(lines):
            admissible[state, [*map(int, actions.split())]] = True
        return tables["tx_mat"], tables["d_0"], clinicians, admissible


def sepsis_cmdp(model, share, discount, cost_unit, actions=None):
    """Reward: discounted survival. Cost: discounted sum of the level of fluids, 1 at the highest.

    At most a share of what clinicians give is allowed. One vote on a death against a survival at
    once is .73 to .27; so it is on `cost_unit` of fluids. `actions`: which are allowed, (S, A).
    """
    transition, initial, clinicians, _ = model
    reward = np.zeros(clinicians.shape)
    reward[SURVIVAL] = 1 / discount  # one step after the last decision
    fluids = np.arange(LEVELS**2) // LEVELS / (LEVELS - 1)
    cost = np.tile(fluids, (len(reward), 1))
    cost[DEATH:] = 0
    known = {"initial": initial, "discount": discount, "reward_unit": 1.0, "cost_unit": cost_unit}
    free = CMDP.from_costs(transition, reward, cost, at_most=0.0, **known)
    _, usual = free.in_units(*free.evaluate(clinicians))
    at_most = share * float(usual)
    return CMDP.from_costs(transition, reward, cost, at_most=at_most, actions=actions, **known)
