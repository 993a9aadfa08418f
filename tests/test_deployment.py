"""The certificate of a policy's utility: its promise, counted exactly, and each of its terms."""

from bisect import bisect_left

import numpy as np
import pytest
from scipy import stats

from pgpd_hf import CMDP, answers_for, certify, random_cmdp
from pgpd_hf.deployment import _boundary, certificate
from reference import LEVEL


def coin(low, high, threshold=0.5):
    """One state and two actions: a return is one of two numbers."""
    return CMDP(np.ones((1, 2, 1)), [[0.5, 0.5]], [[low, high]], [1.0], 0.0, threshold)


def least(answers, holds):
    """The least number of votes of which something holds, as of all larger numbers."""
    return bisect_left(range(answers + 1), True, key=lambda votes: holds(votes, answers))


@pytest.mark.parametrize("level", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("returns", [(0.5, 0.5), (0.8, 0.8), (0.4, 0.6), (0, 1), (0, 0.4)])
def test_bound_is_wrong_with_at_most_the_promised_probability(returns, level):
    """Exactly, over all numbers of votes, if both returns are equally probable."""
    cmdp, chance = coin(*returns), stats.logistic.cdf(np.array(returns) - 0.5).mean()

    def exceeds(votes, answers):
        return certificate(cmdp, votes, answers, level).lower > np.mean(returns)

    for answers in (1, 30, 200):
        wrong = stats.binom.sf(least(answers, exceeds) - 1, answers, chance)
        assert wrong <= 1 - level + 1e-12
        # The test could fail: where no curvature is lost, the promise is nearly used up.
        assert returns != (0.5, 0.5) or answers < 200 or wrong > 0.4 * (1 - level)


def test_votes_have_the_probability_that_returns_give():
    chance = stats.logistic.cdf([-0.4, 0.3]) @ [0.25, 0.75]
    found = certify(coin(0.1, 0.8), [[0.25, 0.75]], 200_000, 0)
    assert stats.binomtest(found.favourable, 200_000, chance).pvalue > LEVEL


def test_boundary_is_below_the_link_between_the_points_of_its_grid_too():
    shares, excesses = _boundary(random_cmdp(2, 2, threshold=4.0, scale="unit"))
    x = np.random.default_rng(0).uniform(excesses[0], excesses[-1], 20000)
    assert (np.interp(stats.logistic.cdf(x), shares, excesses) <= x).all()
    assert (np.diff(np.diff(excesses[:-1]) / np.diff(shares[:-1])) > -1e-6).all()  # convex


@pytest.mark.parametrize("slack", [0.1, 0.2])
def test_answers_for_a_certificate_have_the_power_asked_for(slack):
    """Nine in ten counts of votes give a certificate, and fewer with a single answer less."""
    cmdp, chance = coin(0.6, 0.6), stats.logistic.cdf(slack)
    needed = answers_for(cmdp, slack)
    enough, too_few = (
        stats.binom.sf(least(n, lambda *votes: certificate(cmdp, *votes).safe) - 1, n, chance)
        for n in (needed, needed - 1)
    )
    assert too_few < 0.9 <= enough


def test_what_is_certain_or_impossible():
    """Also where returns lie so far below the threshold that the link is zero."""
    assert answers_for(coin(0.5, 0.5, 0.0), 0.5) == 1
    with pytest.raises(ValueError, match="^slack, by which V_g exceeds b: a number <= 0.4"):
        answers_for(random_cmdp(), 5)
    assert certificate(coin(0.5, 0.5, -0.1), 0, 1).safe
    assert answers_for(random_cmdp(), 0.001) == answers_for(coin(0.6, 0.6), 0.1, level=1) == np.inf
    far = CMDP([[[1.0]]], [[0.0]], [[0.0]], [1.0], 0.5, 1e3)
    assert certify(far, [[1.0]], 1, 0).lower == 0


def test_with_units_a_cost_is_told():
    known = {"transition": np.ones((1, 2, 1)), "initial": [1.0], "discount": 0.5}
    cmdp = CMDP.from_costs(reward=[[0, 1]], cost=[[0, 6]], at_most=2, **known)
    found = certify(cmdp, [[1, 0]], 500, 0)
    assert f"cost at most {cmdp.in_units(0, found.lower)[1]:.4g} at level" in repr(found)
