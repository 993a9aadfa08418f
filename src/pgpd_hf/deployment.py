r"""A certificate for a policy that is to be deployed: a lower bound on its utility value, by votes.

Each of n people answers the absolute question about a fresh trajectory of the policy: is it
harmless enough? The votes are independent, and in favour with probability :math:`p = E[\sigma(X)]`,
where :math:`X = R_g^H(\tau) - b`. Three steps lead from votes to a bound:

* sampling: the exact binomial bound :math:`p_L \le p` (Clopper and Pearson 1934);
* curvature: X lies in [-b, B - b] with the largest return B, so :math:`(E[\sigma(X)], E[X])` lies
  in the convex hull of the curve :math:`(\sigma(x), x)`. The lower boundary of this hull at
  :math:`p_L` bounds E[X]; nothing is assumed about the variance of X. Without curvature the bound
  would be :math:`\sigma^{-1}(p_L)`;
* truncation: g is not negative, so that :math:`V_g \ge E[R_g^H]`; what is left out is at most
  :math:`\gamma^{H+1}` times the largest value.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from pgpd_hf.core import optima, streams
from pgpd_hf.core.arguments import require_integer, require_number, shown
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.links import get_link, probability
from pgpd_hf.core.sampling import (
    LONGEST,
    action_thresholds,
    default_horizon,
    draw,
    make_tables,
    make_trajectories,
    sample_returns,
)

_MOST_ANSWERS = 10**9
_BATCH = 1000  # trajectories that are sampled at once, unless they are very long
_MOST_WORDS = 2**24  # random words of a batch: 128 MiB
_GRID = 4001  # points of the curve whose convex hull is taken


class Certificate(NamedTuple):
    """A lower confidence bound of a policy's utility value, and the parts of its slack.

    Attributes
    ----------
    lower : float
        Lower bound of the utility value; it holds with a probability of at least `level`.
    safe : bool
        Whether `lower` reaches the threshold b.
    level : float
        In (0, 1).
    answers, favourable : int
        Votes, and those in favour.
    share : float
        Lower bound of the probability of a vote in favour.
    curvature : float
        Units of value by which the bound is below the inverse link at `share`, because the mean
        of a nonlinear link is not the link of the mean.
    truncation : float
        Upper bound of the discounted utility after step H, which trajectories leave out.
    """

    lower: float
    safe: bool
    level: float
    answers: int
    favourable: int
    share: float
    curvature: float
    truncation: float


def certify(
    cmdp: CMDP,
    policy: ArrayLike,
    answers: int,
    seed: int,
    level: float = 0.95,
    *,
    horizon: int | None = None,
    link: str = "logistic",
) -> Certificate:
    """Ask whether trajectories of a policy are harmless enough, and bound its utility value.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP, whose people are simulated.
    policy : array_like, float, shape (S, A)
        The policy.
    answers : int
        n, people who are asked, about one fresh trajectory each. :func:`answers_for` says how many
        certify a policy that is safer than required.
    seed : int
        Names the random stream.
    level : float
        Probability with which the bound holds, in (0, 1).
    horizon : int, optional
        H; a trajectory has H + 1 steps. By default as long as the algorithms' trajectories: 80, or
        more if the discount is above 0.9.
    link : str
        How people vote; a key of :data:`pgpd_hf.LINKS`.

    Returns
    -------
    Certificate

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> found = pgpd_hf.certify(cmdp, pgpd_hf.solve(cmdp).policy, answers=27_000, seed=0)
    >>> found.safe, 0 < cmdp.threshold - found.lower < 0.05
    (False, True)
    """
    optima.require_cmdp(cmdp)
    policy = cmdp.check_policy(policy, single=True)
    answers = require_integer("answers", answers, 1, _MOST_ANSWERS)
    seed = require_integer("seed", seed, 0)
    horizon = _horizon(cmdp, horizon)
    votes_for = _count_favourable(cmdp, policy, answers, seed, horizon, get_link(link))
    return certificate(cmdp, votes_for, answers, level, horizon=horizon, link=link)


def certificate(
    cmdp: CMDP,
    favourable: int,
    answers: int,
    level: float = 0.95,
    *,
    horizon: int | None = None,
    link: str = "logistic",
) -> Certificate:
    """Bound a utility value, given the votes of :func:`certify`.

    Parameters
    ----------
    cmdp, answers, level, horizon, link
        As for :func:`certify`.
    favourable : int
        Number of votes in favour.

    Returns
    -------
    Certificate
    """
    _require_share("level", level)
    answers = require_integer("answers", answers, 1, _MOST_ANSWERS)
    favourable = require_integer("favourable", favourable, 0, answers)
    horizon = _horizon(cmdp, horizon)
    link = get_link(link)
    share = 0.0
    if favourable:
        share = float(betaincinv(favourable, answers - favourable + 1, 1 - level))
    lowest, highest = -cmdp.threshold, cmdp.return_bound(horizon) - cmdp.threshold
    # The smallest mean of X with a mean of the link of at least the share.
    hull = _hull(link, lowest, highest)
    # So far below the threshold that the link rounds to one number, the hull is a vertical line.
    possible = share > hull[0, 0]
    excess = float(np.interp(share, hull[:, 0], hull[:, 1])) if possible else lowest
    straight = float(link.clipped_inverse(share, np.inf)) if share > 0 else lowest
    lower = max(0.0, cmdp.threshold + excess)
    return Certificate(
        lower=lower,
        safe=lower >= cmdp.threshold,
        level=float(level),
        answers=answers,
        favourable=favourable,
        share=share,
        curvature=max(0.0, straight - excess),
        truncation=cmdp.value_bound - cmdp.return_bound(horizon),
    )


def answers_for(
    cmdp: CMDP,
    slack: float,
    level: float = 0.95,
    power: float = 0.9,
    *,
    horizon: int | None = None,
    link: str = "logistic",
) -> float:
    r"""Number of answers with which a safe policy is certified.

    Parameters
    ----------
    cmdp, level, horizon, link
        As for :func:`certify`.
    slack : float
        By how much the policy's returns exceed b; they are taken to be equal.
    power : float
        Probability of a certificate with `safe`, in (0, 1).

    Returns
    -------
    int or float
        n with this power, while n less a thousandth has not; ``inf`` if the slack is lost to
        curvature, however many answer. The power of an exact test is not monotone in n: numbers up
        to about a hundredth smaller may do as well, and slightly larger ones may not.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.
    """
    from scipy.stats import binom  # slow to import, and needed here only

    _require_share("level", level)
    _require_share("power", power)
    slack = require_number("slack", slack)
    horizon = _horizon(cmdp, horizon)
    link = get_link(link)
    most = cmdp.return_bound(horizon) - cmdp.threshold
    if cmdp.threshold <= 0:  # which every policy meets
        return 1
    if slack > most:
        raise ValueError(
            f"slack: at most {most:.6g} expected, since no return exceeds b by more; got {slack:g}"
        )
    hull = _hull(link, -cmdp.threshold, most)
    demanded = np.interp(0.0, hull[:, 1], hull[:, 0])
    chance = probability(link.code, slack)
    if chance <= demanded:
        return math.inf

    def too_few(answers):
        votes = binom.isf(1 - level, answers, demanded)  # more than these have to be in favour
        return binom.sf(votes, answers, chance) < power

    low, high = 0, 1
    while too_few(high):
        low, high = high, 2 * high
    while high - low > max(1, high // 1000):
        middle = (low + high) // 2
        low, high = (middle, high) if too_few(middle) else (low, middle)
    return high


def _require_share(name, value):
    if not 0 < require_number(name, value) < 1:
        raise ValueError(f"{name}: a number between 0 and 1 expected, got {shown(value)}")


def _horizon(cmdp, horizon):
    """H, as it is given or as the discount asks for."""
    if horizon is None:
        horizon = default_horizon(cmdp.discount)
    return require_integer("horizon", horizon, 0, LONGEST)


def _hull(link, lowest, highest):
    """Lower boundary of the convex hull of the curve of (link of x, x).

    The curve is replaced by a staircase below it, so that the bound errs towards lower values.
    """
    x = np.linspace(lowest, highest, _GRID)
    heights = np.array([probability(link.code, point) for point in x])
    # Between two points of the grid x is at least the left one, the link at most the right one.
    points = np.column_stack([np.append(heights[1:], heights[-1]), x])
    points = np.vstack([[heights[0], lowest], points])
    return _lower_hull(points)


def _lower_hull(points):
    """Lower boundary of the convex hull of points with increasing first coordinates."""
    hull = []
    for u, x in points:
        while hull and hull[-1][0] == u and hull[-1][1] >= x:
            hull.pop()
        while len(hull) > 1 and (hull[-1][1] - hull[-2][1]) * (u - hull[-2][0]) >= (
            x - hull[-2][1]
        ) * (hull[-1][0] - hull[-2][0]):
            hull.pop()
        hull.append((u, x))
    return np.array(hull)


def _count_favourable(cmdp, policy, answers, seed, horizon, link):
    """Votes in favour, one about each of as many trajectories."""
    tables, stream = make_tables(cmdp), streams.word_stream(purpose="certificate", seed=seed)
    batch = min(_BATCH, answers, max(1, _MOST_WORDS // (horizon + 3)))
    words = np.empty((horizon + 3) * batch, np.uint64)
    trajectories = make_trajectories(batch, cmdp.states, cmdp.actions)
    action_thresholds(policy, trajectories.thresholds[0])
    favourable = 0
    for begin in range(0, answers, batch):
        streams.draw_words(stream, words)
        counted = min(batch, answers - begin)
        favourable += _ask(tables, trajectories, words, horizon, link.code, cmdp.threshold, counted)
    return favourable


@njit
def _ask(tables, trajectories, words, horizon, link, threshold, counted):
    """Sample a batch of trajectories and ask about the first of them."""
    count = len(trajectories.start)
    steps = count * (horizon + 1)
    for k in range(count):
        trajectories.start[k] = draw(tables.starts, np.uint64(0), words[steps + k], np.uint64(1))
    sample_returns(tables, trajectories, words, horizon)
    favourable = 0
    for k in range(counted):
        chance = probability(link, trajectories.returns[k, 1] - threshold)
        favourable += (words[steps + count + k] >> np.uint64(11)) * 2.0**-53 < chance
    return favourable
