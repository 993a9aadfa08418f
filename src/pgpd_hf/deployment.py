r"""A certificate for a policy that is to be deployed: a lower bound of its utility value, by votes.

Each of n evaluators votes on whether a trajectory of its own is harmless enough. With the logistic
link :math:`\sigma` a vote is in favour with probability :math:`p = E[\sigma(X)]`, where
:math:`X = R_g^H(\tau) - b`.

* Sampling: the exact binomial bound :math:`p_L \le p` (Clopper and Pearson 1934).
* Curvature: X lies in :math:`[-b, B - b]` with the largest return B, so
  :math:`(E[\sigma(X)], E[X])` lies in the convex hull of the curve :math:`(\sigma(x), x)`, whose
  lower boundary at :math:`p_L` bounds E[X]. Nothing is assumed about the law of X.
* Truncation: g is not negative, so :math:`V_g \ge E[R_g^H]`.
"""

from __future__ import annotations  # help() shows names of types

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from pgpd_hf import trajectories
from pgpd_hf.arguments import require_instance, require_integer, require_number
from pgpd_hf.cmdp import CMDP
from pgpd_hf.compilation import announce, njit
from pgpd_hf.costs import Units
from pgpd_hf.evaluators import LOGISTIC, vote_probability
from pgpd_hf.streams import draw_words, word_stream

_MOST_ANSWERS = 10**9
_MOST_AT_ONCE, _MOST_WORDS = 1000, 2**24  # trajectories, and their random words, of a batch
_CURVE_POINTS = 4001
_POWER = 0.9  # probability of a certificate that answers_for aims at


@dataclass(frozen=True, repr=False)
class Certificate:
    """A `lower` bound of V_g, right with probability `level`; `safe` if at least the threshold.

    Of a CMDP with units, `lower` is in stored units, and ``cmdp.in_units(0, lower)[1]`` is the cost
    that `repr` tells.
    """

    lower: float
    safe: bool
    level: float
    answers: int
    favourable: int
    units: Units | None = None

    def __repr__(self) -> str:
        bound = f"V_g >= {self.lower:.4g}"
        if self.units is not None:
            bound = f"cost at most {self.units.of_values(0.0, self.lower)[1]:.4g}"
        found = "safe" if self.safe else "not shown to be safe"
        votes = f"{self.favourable} of {self.answers} votes in favour"
        return f"<Certificate: {found}, {bound} at level {self.level:g}; {votes}>"


def certify(
    cmdp: CMDP, policy: ArrayLike, answers: int, seed: int, level: float = 0.95
) -> Certificate:
    """Ask whether trajectories of a policy are harmless enough, and bound its utility value.

    Parameters
    ----------
    cmdp : CMDP
    policy : array_like, float, shape (S, A)
    answers : int
        n; :func:`answers_for` says how many are needed.
    seed : int
        Of the random stream.
    level : float
        Of confidence, in (0, 1].

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> pgpd_hf.certify(cmdp, pgpd_hf.solve(cmdp).policy, answers=27_000, seed=0)
    <Certificate: not shown to be safe, V_g >= 0.5174 at level 0.95; 13444 of 27000 votes in favour>
    >>> pgpd_hf.answers_for(cmdp, slack=0.1)
    3741
    """
    answers = certificate(cmdp, 0, answers, level).answers  # refuses what is wrong
    policy, seed = cmdp.check_policy(policy, single=True), require_integer("seed", seed, 0)
    announce()
    horizon = trajectories.default_horizon(cmdp.discount)
    count = min(_MOST_AT_ONCE, answers, _MOST_WORDS // (horizon + 3))
    batch = trajectories.make_trajectories(count, cmdp.states, cmdp.actions, 1)
    trajectories.action_thresholds(policy, batch.thresholds[0])
    tables, stream = trajectories.make_tables(cmdp), word_stream(purpose="certificate", seed=seed)
    words, favourable = np.empty((horizon + 3) * count, np.uint64), 0
    for asked in range(0, answers, count):
        draw_words(stream, words)
        some = min(count, answers - asked)
        favourable += _ask(tables, batch, words, horizon, cmdp.threshold, some)
    return certificate(cmdp, favourable, answers, level)


def certificate(cmdp: CMDP, favourable: int, answers: int, level: float = 0.95) -> Certificate:
    """Bound a utility value by the number of votes in favour, as :func:`certify` does."""
    shares, excesses = _boundary(cmdp)
    level = require_number("level", level, above=0, at_most=1)
    answers = require_integer("answers", answers, 1, _MOST_ANSWERS)
    favourable = require_integer("favourable", favourable, 0, answers)
    share = special.betaincinv(favourable, answers - favourable + 1, 1 - level) if favourable else 0
    lower = max(0.0, float(cmdp.threshold + np.interp(share, shares, excesses)))
    return Certificate(lower, lower >= cmdp.threshold, level, answers, favourable, cmdp.units)


def answers_for(cmdp: CMDP, slack: float, level: float = 0.95) -> float:
    r"""Number of answers, nearly the least, that certify a policy with probability .9.

    Parameters
    ----------
    cmdp : CMDP
    slack : float
        How far :math:`V_g` exceeds the threshold in stored units, if all returns of the policy are
        alike.
    level : float
        Of confidence, in (0, 1].

    Returns
    -------
    int or float
        Infinite above a billion, as where curvature takes the slack away.
    """
    shares, excesses = _boundary(cmdp)
    level = require_number("level", level, above=0, at_most=1)
    name = "slack, by which V_g exceeds b" + (", in stored units" if cmdp.units else "")
    slack = require_number(name, slack, at_most=excesses[-1])
    if cmdp.threshold <= 0:  # every policy meets it
        return 1
    demanded = np.interp(0.0, excesses, shares)
    chance = vote_probability(LOGISTIC, slack)

    def enough(answers):
        votes = math.ceil(special.bdtrik(level, answers, demanded))  # the most that do not suffice
        votes -= special.bdtr(votes - 1, answers, demanded) >= level
        return special.bdtrc(votes, answers, chance) >= _POWER

    least = bisect_left(range(_MOST_ANSWERS + 1), True, 1, key=enough)
    return least if least <= _MOST_ANSWERS else math.inf


def _boundary(cmdp):
    """Lower boundary of the hull, shares of votes and means of X: a chord, then the curve."""
    require_instance("cmdp", cmdp, CMDP)
    largest = cmdp.return_bound(trajectories.default_horizon(cmdp.discount))
    x = np.linspace(-cmdp.threshold, largest - cmdp.threshold, _CURVE_POINTS)
    heights = np.array([vote_probability(LOGISTIC, point) for point in x])
    # A staircase below the curve, so that the bound errs towards lower values: between two points
    # of the grid x is at least the left one, the link at most the right one.
    above = np.append(heights[1:], heights[-1])
    slopes = np.full_like(x, np.inf)
    np.divide(x - x[0], above - above[0], out=slopes, where=above > above[0])
    touch = slopes.argmin() if above[-1] > above[0] else _CURVE_POINTS
    return np.append(above[0], above[touch:]), np.append(x[0], x[touch:])


@njit
def _ask(tables, batch, words, horizon, threshold, some):
    """Sample a batch of trajectories, and count the votes in favour of the first of them."""
    count = len(batch.start)
    steps = count * (horizon + 1)
    for k in range(count):
        batch.start[k] = trajectories.draw_start(tables, words[steps + k])
    trajectories.sample_returns(tables, batch, words, horizon)
    favourable = 0
    for k in range(some):
        chance = vote_probability(LOGISTIC, batch.returns[k, 1] - threshold)
        favourable += (words[steps + count + k] >> np.uint64(11)) * 2.0**-53 < chance
    return favourable
