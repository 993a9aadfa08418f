r"""Random environments, drawn as in the paper's experiment (Section 5)."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np

from pgpd_hf.core import streams
from pgpd_hf.core.arguments import (
    require_integer,
    require_number,
    require_one_of,
    require_size,
    shown,
)
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import utility_range, utility_span

SCALES = ("normalized", "unit")
MIDWAY = "midway"
_MIXING = 0.2  # Dirichlet parameter of features: most pairs are near one or two anchors
_ROUNDING = 1e-9  # a smaller share of the largest utility value is none
_MOST_DISCRIMINATION = 1000  # beyond it all votes are unanimous
_MOST_ENTRIES = 2**27  # of the transition array: one gibibyte


def random_cmdp(
    states: int = 10,
    actions: int = 4,
    instance: int = 1,
    *,
    discount: float = 0.9,
    concentration: float = 5.0,
    threshold: float | Literal["midway"] = 0.55,
    scale: Literal["normalized", "unit"] = "normalized",
    discrimination: float = 1.0,
    features: int | None = None,
) -> CMDP:
    r"""Draw a random environment (Section 5 of the paper).

    Rows of the transition probabilities are Dirichlet, rewards and utilities uniform, all of them
    independent; the initial distribution is uniform.

    Parameters
    ----------
    states, actions : int
        :math:`|S| \ge 1` and :math:`|A| \ge 1`.
    instance : int
        Number of the draw, at least 0. The same number always gives the same environment. The
        default study has 42; 1 is the hard case.
    discount : float
        :math:`\gamma` in [0, 1).
    concentration : float
        Parameter of the symmetric Dirichlet distribution, positive.
    threshold : float or "midway"
        :math:`b`, in units of the value. "midway" puts it halfway between the utility value of the
        policy that is best for the reward alone and the largest utility value of all policies, so
        that the constraint binds in the same way whatever the size of the environment. Where the
        policy that is best for the reward is the safest one, no constraint binds, and it is halfway
        between the smallest and the largest utility value.
    scale : {"normalized", "unit"}
        Rewards and utilities lie in [0, 1] if "unit"; if "normalized" they are multiplied by
        :math:`1-\gamma`, so that values lie in [0, 1].
    discrimination : float
        Positive factor of rewards, utilities and a numeric threshold: how well people tell returns
        apart, since votes depend on the product alone. The unit scale is the normalized one with
        the factor :math:`1/(1-\gamma)`, but for the threshold.
    features : int, optional
        d, at most :math:`|S||A|`, of a linear CMDP: transitions, rewards and utilities are drawn
        for d *anchors*, the first d pairs of a state and an action, and every other pair is a
        mixture of them (Yang and Wang 2019, "Sample-optimal parametric Q-learning using linearly
        additive features"). Its shares, the features of the CMDP, are Dirichlet with parameter 0.2.

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
    >>> pgpd_hf.random_cmdp()
    <CMDP: |S| = 10, |A| = 4, discount 0.9, threshold 0.55, values in [0, 1]>
    >>> pgpd_hf.random_cmdp(states=5, actions=3, instance=2, scale="unit", threshold="midway")
    <CMDP: |S| = 5, |A| = 3, discount 0.9, threshold 3.83173, values in [0, 10]>
    >>> pgpd_hf.random_cmdp(states=100, features=8).features.shape
    (100, 4, 8)
    """
    states = require_integer("states", states, 1)
    actions = require_integer("actions", actions, 1)
    require_size(states, actions, _MOST_ENTRIES)
    instance = require_integer("instance", instance, 0)
    require_number("concentration", concentration, above=0)
    require_one_of("scale", scale, SCALES)
    if not 0 <= require_number("discount", discount) < 1:
        raise ValueError(f"discount: 0 <= gamma < 1 expected, got {discount}")
    require_number("discrimination", discrimination, above=0, at_most=_MOST_DISCRIMINATION)
    if isinstance(threshold, str) and threshold != MIDWAY:
        raise ValueError(f"threshold: a number or {MIDWAY!r} expected, got {shown(threshold)}")
    bound = 0.0 if isinstance(threshold, str) else require_number("threshold", threshold)
    if features is not None:
        features = require_integer("features", features, 1, states * actions)
    random = np.random.Generator(streams.bit_generator(purpose="environment", instance=instance))
    drawn = (states, actions) if features is None else (features,)  # pairs, or anchors
    transition = random.dirichlet(np.full(states, float(concentration)), size=drawn)
    reward, utility, shares = random.random(drawn), random.random(drawn), None
    if features is not None:
        shares = random.dirichlet(np.full(features, _MIXING), size=(states, actions))
        shares.reshape(-1, features)[:features] = np.eye(features)
        transition, reward, utility = (shares @ part for part in (transition, reward, utility))
    largest = discrimination * (1 - discount if scale == "normalized" else 1.0)
    cmdp = CMDP(
        transition=transition,
        reward=largest * reward,
        utility=largest * utility,
        initial=np.full(states, 1 / states),
        discount=discount,
        threshold=discrimination * bound,
        scale=largest,
        features=shares,
    )
    if isinstance(threshold, str):
        boldest, safest = utility_range(cmdp)
        if safest - boldest <= _ROUNDING * safest:
            boldest = safest - utility_span(cmdp)
        return replace(cmdp, threshold=(boldest + safest) / 2)
    return cmdp


make = random_cmdp
