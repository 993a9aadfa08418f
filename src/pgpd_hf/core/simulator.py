"""Simulated feedback: a CMDP to sample from, evaluators to ask, and the words that one takes.

The random words of an iteration are laid out in this order: one per step of its trajectories (time
by time, trajectory by trajectory), one per first state that is drawn from the initial distribution,
and one per question.
"""

from typing import NamedTuple

from pgpd_hf.core.evaluators import Evaluators, make_evaluators
from pgpd_hf.core.links import get_link
from pgpd_hf.core.sampling import Tables, make_tables


class Simulator(NamedTuple):
    """What the kernels of a run need to know of its CMDP and its setting.

    Attributes
    ----------
    tables : Tables
        Of the CMDP.
    evaluators : Evaluators
        M evaluators.
    rounds : int
        N.
    horizon : int
        H.
    threshold : float
        b.
    """

    tables: Tables
    evaluators: Evaluators
    rounds: int
    horizon: int
    threshold: float


def make_simulator(cmdp, setting):
    """Build the simulator of a run.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    setting : Setting
        Supplies M, N, H, both links, the share of random answers and the estimator.

    Returns
    -------
    Simulator
    """
    bound = cmdp.return_bound(setting.horizon)
    return Simulator(
        make_tables(cmdp),
        make_evaluators(
            setting.evaluators,
            get_link(setting.link),
            bound,
            setting.estimator,
            setting.true_link,
            setting.random_answers,
        ),
        setting.pairs,
        setting.horizon,
        cmdp.threshold,
    )


def count_words(rounds, horizon, trajectories, questions):
    """Count the random words of one iteration.

    Parameters
    ----------
    rounds, horizon : int
        N and H.
    trajectories, questions : int
        Numbers of both in one iteration.

    Returns
    -------
    int

    Examples
    --------
    >>> count_words(rounds=1, horizon=80, trajectories=51, questions=81)  # NPGPD-HF, N = 1
    4213
    """
    return trajectories * (horizon + 1) + rounds + questions
