r"""The random environment of Ding et al., the first natural policy gradient primal-dual method.

Ding, Zhang, Başar and Jovanović, "Natural Policy Gradient Primal-Dual Method for Constrained Markov
Decision Processes" (NeurIPS 2020), as the code that accompanies it draws it.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pgpd_hf.core.arguments import require_integer, require_number, require_one_of
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.environments.random import SCALES


def ding_cmdp(
    seed: int = 10, *, threshold: float = 3.0, scale: Literal["normalized", "unit"] = "normalized"
) -> CMDP:
    r"""Draw the environment: 20 states, 10 actions, :math:`\gamma = 0.8`, a uniform first state.

    Rows of the transition probabilities are uniform numbers divided by their sum; rewards and
    utilities are uniform. All come from NumPy's legacy generator, in this order.

    Parameters
    ----------
    seed : int
        Seed of the generator, at least 0; the published one is 10.
    threshold : float
        :math:`b`, for rewards and utilities in [0, 1], whatever the scale.
    scale : {"normalized", "unit"}
        Rewards and utilities lie in [0, 1] if "unit"; if "normalized" they and the threshold are
        multiplied by :math:`1-\gamma`, so that values lie in [0, 1].

    Returns
    -------
    CMDP

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.ding_cmdp()
    >>> round(pgpd_hf.solve(cmdp).reward_value / cmdp.value_unit, 6)
    4.462444
    """
    seed = require_integer("seed", seed, 0, 2**32 - 1)
    require_one_of("scale", scale, SCALES)
    states, actions, discount = 20, 10, 0.8
    unit = 1 - discount if scale == "normalized" else 1.0
    random = np.random.RandomState(seed)
    transition = random.uniform(size=(states, actions, states))
    return CMDP(
        transition=transition / transition.sum(-1, keepdims=True),
        reward=unit * random.uniform(size=(states, actions)),
        utility=unit * random.uniform(size=(states, actions)),
        initial=np.full(states, 1 / states),
        discount=discount,
        threshold=unit * require_number("threshold", threshold),
        scale=unit,
        value_unit=unit,
    )


make = ding_cmdp
