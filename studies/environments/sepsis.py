r"""ICU-Sepsis as a CMDP: survival as the reward, fluids as the cost.

The package icu-sepsis (Choudhary, Gupta and Thomas 2024) has a model of treatment, estimated from
records of an intensive care unit, MIMIC-III: 716 states, of which 713 is death, 714 survival and
715 what follows; and 25 actions, 5 times a level of fluids plus a level of vasopressors, from 0 to
4. Only its table of numbers is read, so what else the package needs may be missing.
"""

from importlib.metadata import PackageNotFoundError, distribution
from typing import NamedTuple

import numpy as np

from pgpd_hf import CMDP
from pgpd_hf.optimum import maximize

VERSION = "2.0.1"
DEATH, SURVIVAL, END = 713, 714, 715
LEVELS = 5


class Model(NamedTuple):
    """Transition probabilities, first states, and the policy of clinicians."""

    transition: np.ndarray
    initial: np.ndarray
    clinicians: np.ndarray


def load_model():
    """Read the model; where the package is missing, or another version, ValueError says so."""
    wanted = f"pip install --no-deps icu-sepsis=={VERSION} installs it"
    try:
        package = distribution("icu-sepsis")
    except PackageNotFoundError:
        raise ValueError(f"icu-sepsis: not installed; {wanted}") from None
    if package.version != VERSION:
        raise ValueError(f"icu-sepsis: {VERSION} expected, got {package.version}; {wanted}")
    with np.load(package.locate_file("icu_sepsis/envs/assets/dynamics.npz")) as tables:
        clinicians = tables["expert_policy"]
        clinicians[DEATH:] = 1 / clinicians.shape[1]  # where nothing is left to do
        return Model(tables["tx_mat"], tables["d_0"], clinicians)


def sepsis_cmdp(model, at_most, discount, cost_unit=None):
    """Reward: discounted survival. Cost: discounted sum of the level of fluids, 1 at the highest.

    One vote on a death against a survival at once is .73 to .27; so it is on `cost_unit` of fluids.
    """
    reward = np.zeros(model.clinicians.shape)
    reward[SURVIVAL] = 1 / discount  # one step after the last decision
    fluids = np.arange(LEVELS**2) // LEVELS / (LEVELS - 1)
    cost = np.tile(fluids, (len(reward), 1))
    cost[DEATH:] = 0
    units = {"reward_unit": 1.0, "cost_unit": cost_unit}
    return CMDP.from_costs(
        model.transition, reward, cost, at_most, model.initial, discount, **units
    )


def declared_cmdp(model, told):
    """CMDP of config.yaml, where a share of the clinicians' fluids is allowed."""
    free = sepsis_cmdp(model, 0.0, told["discount"], told["cost_unit"])
    given = float(free.in_units(*free.evaluate(model.clinicians))[1])
    return sepsis_cmdp(model, told["share"] * given, told["discount"], told["cost_unit"])


def frontier(cmdp, multipliers):
    """Survival and fluids of the policies that are best at some multipliers, in the user's units.

    By strong duality the linear program's optima lie on the lines between them.
    """
    signals = (cmdp.reward + it * cmdp.utility for it in multipliers)
    policies = np.stack([maximize(cmdp, signal) for signal in signals])
    return cmdp.in_units(*cmdp.evaluate(policies))
