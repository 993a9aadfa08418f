"""What makes runs say little: :func:`pgpd_hf.run` warns of it, and the workflow prints it."""

from __future__ import annotations

import pandas as pd

from pgpd_hf.algorithms.base import Algorithm
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import Optimum

_MOVES = 0.02  # share of its first value by which a curve has to leave it
_SHORTEST_RUN = 1000  # iterations in which a curve can be expected to move


def wide_values(cmdp: CMDP) -> str:
    """Say in one line that people agree too much about a CMDP to tell by how much, if they do.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.

    Returns
    -------
    str
        Empty if values lie in [0, 1].

    Examples
    --------
    >>> import pgpd_hf
    >>> wide_values(pgpd_hf.random_cmdp())
    ''
    """
    bound = cmdp.value_bound
    if bound <= 1 + 1e-9:
        return ""
    return (
        f"values lie in [0, {bound:g}], where votes are almost unanimous and say little; divide "
        f"rewards, utilities, threshold and scale by {bound:g} for values in [0, 1]"
    )


def low_bound(bound: float, optimum: Optimum) -> str:
    """Say in one line that the multiplier cannot reach that of the optimum, if it cannot.

    Parameters
    ----------
    bound : float
        Upper end of the multiplier's interval.
    optimum : Optimum
        Of the CMDP.

    Returns
    -------
    str
        Empty if nothing has to be said.
    """
    if bound >= optimum.multiplier:
        return ""
    return (
        f"multiplier_bound: {bound:g} is below the optimal multiplier, {optimum.multiplier:.3g}, "
        "so the runs cannot reach the optimum"
    )


def stands_still(trace: pd.DataFrame, algorithm: Algorithm) -> str:
    """Say in one line that the theorem's step sizes leave the policy where it starts, if they do.

    They do if the mean gap over seeds never leaves its first value by a fiftieth of it.

    Parameters
    ----------
    trace : pandas.DataFrame
        Made by :func:`pgpd_hf.run`.
    algorithm : Algorithm
        The algorithm; about one whose primal step is a number nothing is said.

    Returns
    -------
    str
        Empty if nothing has to be said, as of runs of less than a thousand iterations.
    """
    last, means = trace["iteration"].max(), trace.groupby("iteration")["optimality_gap"].mean()
    distance = (means - means.iloc[0]).abs().max()
    own_steps = not algorithm.has_steps or getattr(algorithm, "primal_step", None) is not None
    if own_steps or last < _SHORTEST_RUN or distance >= _MOVES * abs(means.iloc[0]):
        return ""
    return (
        f"{algorithm.label} hardly moves with the theorem's steps: in {last:,} iterations its mean "
        f"gap, {means.iloc[0]:.3g} at first, changes by at most {distance:.1g}; choose_steps finds "
        "steps that do more"
    )
