"""The certificate of a policy's utility: coverage at the boundary, and each of its terms."""

import numpy as np
import pytest
from reference import random_process
from scipy import stats

from pgpd_hf import CMDP, LINKS, certify, deployment, random_cmdp, solve
from pgpd_hf.deployment import _count_favourable, _hull, answers_for, certificate

LOGISTIC = LINKS["logistic"]


def constant(utility, threshold):
    """One state and one action: every trajectory has the same return."""
    return CMDP(np.ones((1, 1, 1)), [[0.5]], [[utility]], [1.0], 0.0, threshold)


def test_it_covers_at_the_boundary():
    """2,000 certificates of a policy with V_g = b: at most 1 - level of them say more.

    In the first environment returns are constant and b is where they are, so that nothing is lost
    to curvature, and coverage is as close to the level as whole numbers of votes allow; in the
    second one the optimum, whose constraint binds, has returns that vary. The bound is that of a
    binomial count with a chance of error of 1e-6.
    """
    tight, usual = constant(0.5, 0.5), random_cmdp()
    for cmdp, policy, horizon in ((tight, np.ones((1, 1)), 0), (usual, solve(usual).policy, 30)):
        assert cmdp.evaluate(policy)[1] == pytest.approx(cmdp.threshold, abs=1e-9)
        counts = [
            _count_favourable(cmdp, policy, 100, seed, horizon, LOGISTIC) for seed in range(2000)
        ]
        for level in (0.9, 0.95):
            lower = {
                k: certificate(cmdp, k, 100, level, horizon=horizon).lower for k in set(counts)
            }
            wrong = sum(lower[k] > cmdp.threshold for k in counts)
            assert wrong <= stats.binom.ppf(1 - 1e-6, 2000, 1 - level)
            # The test could fail: a bound that were always true would be of no use.
            assert cmdp is usual or wrong >= stats.binom.ppf(1e-6, 2000, 0.5 * (1 - level))


def test_many_answers_reach_the_value_up_to_the_curvature():
    cmdp = random_cmdp()
    policy = solve(cmdp).policy
    found = certify(cmdp, policy, 200_000, seed=1)
    assert cmdp.threshold - 0.03 < found.lower < cmdp.threshold
    assert 0 < found.curvature < 0.02
    assert found.truncation == pytest.approx(0.9**81)
    assert found.answers == 200_000


def test_trajectories_are_by_default_long_enough_for_the_discount():
    """With 81 steps a certificate at discount 0.99 would lose 0.44 of the largest value."""
    cmdp = CMDP(np.ones((1, 1, 1)), [[0.01]], [[0.01]], [1.0], 0.99, 0.7, scale=0.01)
    for found in (certify(cmdp, [[1.0]], 20_000, seed=0), certificate(cmdp, 13_000, 20_000)):
        assert 0 < found.truncation < 2.1e-4
        assert found.safe
    assert not certify(cmdp, [[1.0]], 20_000, seed=0, horizon=80).safe


def test_share_is_the_exact_binomial_bound():
    """Of Clopper and Pearson: as many votes or more have the probability 1 - level there."""
    for favourable, answers in ((7, 10), (120, 200), (200, 200)):
        share = certificate(random_cmdp(), favourable, answers, 0.95).share
        assert stats.binom.sf(favourable - 1, answers, share) == pytest.approx(0.05)
    assert certificate(random_cmdp(), 0, 10).share == 0


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("favourable", [20, 50, 80])
def test_no_distribution_of_returns_has_a_smaller_mean(link, favourable):
    """The bound is that of the worst distribution, which has two points; found by search."""
    cmdp = random_process(2, 2, 2, 0.9, threshold=4.0)
    found = certificate(cmdp, favourable, 100, 0.9, horizon=30, link=link)
    lowest, highest = -4.0, cmdp.return_bound(30) - 4.0
    x = np.linspace(lowest, highest, 401)
    sigma = np.array([stats_of(link)(point) for point in x])
    low, high = np.meshgrid(np.arange(401), np.arange(401), indexing="ij")
    usable = (sigma[low] <= found.share) & (sigma[high] > found.share)
    low, high = low[usable], high[usable]
    weight = (found.share - sigma[low]) / (sigma[high] - sigma[low])
    worst = (x[low] + weight * (x[high] - x[low])).min()
    # The grid of the search errs upwards, by up to a step, and that of the certificate downwards.
    assert worst - (x[1] - x[0]) - (x[1] - x[0]) / 10 <= found.lower - 4.0 <= worst + 1e-12


@pytest.mark.parametrize("link", LINKS)
def test_hull_is_below_the_link_between_the_points_of_its_grid_too(link):
    """Chords of the curve would be above it where it is convex, by 10^-7, which is no bound."""
    hull = _hull(LINKS[link], -4.0, 5.0)
    x = np.random.default_rng(0).uniform(-4, 5, 20000)
    assert (np.interp(stats_of(link)(x), *hull.T) <= x).all()


def stats_of(link):
    return {"logistic": stats.logistic.cdf, "probit": stats.norm.cdf, "cauchy": stats.cauchy.cdf}[
        link
    ]


@pytest.mark.parametrize("slack", [0.1, 0.2])
def test_answers_for_a_certificate_have_the_power_asked_for(slack):
    """Nine in ten counts of votes give a certificate, and fewer with a tenth fewer answers."""
    cmdp = constant(0.6, 0.5)
    needed = answers_for(cmdp, slack, horizon=0)
    shares = []
    for answers in (needed, int(0.9 * needed)):
        votes = np.arange(answers + 1)
        low, high = 0, answers
        while high - low > 1:  # the least number of votes that certifies
            middle = (low + high) // 2
            safe = certificate(cmdp, middle, answers, horizon=0).safe
            low, high = (low, middle) if safe else (middle, high)
        shares.append(stats.binom.pmf(votes[high:], answers, 1 / (1 + np.exp(-slack))).sum())
    assert shares[1] < 0.9 <= shares[0]


@pytest.mark.parametrize(
    ("name", "value"),
    [("level", 95), ("level", -1), ("power", 0), ("power", 1.0), ("slack", np.nan)],
)
def test_bad_argument_of_a_number_of_answers_is_named(name, value):
    with pytest.raises(ValueError, match=f"^{name}: a (finite )?number"):
        answers_for(random_cmdp(), **{"slack": 0.1, name: value})


@pytest.mark.parametrize("threshold", [0.0, -0.1])
def test_threshold_that_every_policy_meets_takes_one_answer(threshold):
    cmdp = constant(0.5, threshold)
    assert answers_for(cmdp, 0.5, horizon=0) == 1
    assert certificate(cmdp, 0, 1, horizon=0).safe


def test_slack_that_curvature_eats_up_is_never_certified():
    cmdp = random_cmdp()
    assert answers_for(cmdp, 0.001) == np.inf
    assert answers_for(cmdp, 0.1) < answers_for(cmdp, 0.05) < np.inf


def test_slack_that_no_return_has_is_refused():
    with pytest.raises(ValueError, match=r"^slack: at most 0.4.* expected, since no return"):
        answers_for(random_cmdp(), 5)


def test_a_policy_with_slack_is_certified_and_one_without_is_not():
    cmdp = constant(0.9, 0.5)
    assert certify(cmdp, np.ones((1, 1)), 3000, seed=0, horizon=0).safe
    assert not certify(constant(0.1, 0.5), np.ones((1, 1)), 3000, seed=0, horizon=0).safe


def test_the_same_seed_gives_the_same_votes_whatever_the_level():
    cmdp = random_cmdp()
    policy = solve(cmdp).policy
    votes = [certify(cmdp, policy, 1500, 3, level).favourable for level in (0.5, 0.99)]
    assert votes[0] == votes[1]
    assert votes[0] != certify(cmdp, policy, 1500, 4).favourable


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": 0}, "answers: an integer of at least 1"),
        ({"level": 1.0}, "level: a number between 0 and 1"),
        ({"level": "high"}, "level: a number expected"),
        ({"seed": -1}, "seed: an integer of at least 0"),
        ({"policy": [[0.5, 0.5]]}, "policy: "),
        ({"link": "linear"}, "link: one of"),
        ({"horizon": -1}, "horizon: an integer"),
        ({"cmdp": 3}, "cmdp: a CMDP expected"),
    ],
)
def test_bad_arguments_are_named(change, message):
    good = {"cmdp": constant(0.5, 0.5), "policy": [[1.0]], "answers": 10, "seed": 0}
    with pytest.raises(ValueError, match=f"^{message}"):
        certify(**good | change)


@pytest.mark.parametrize("link", LINKS)
def test_no_vote_in_favour_shows_nothing_even_if_the_link_rounds_to_zero(link):
    """All returns of one step lie so far below b that the probit link is zero."""
    cmdp = CMDP([[[1.0]]], [[0.0]], [[0.0]], [1.0], 0.99, 50.0)
    assert certify(cmdp, [[1.0]], answers=1, seed=0, horizon=0, link=link).lower == 0


def test_long_trajectories_are_sampled_within_a_bounded_memory(monkeypatch):
    words = []
    draw = deployment.streams.draw_words

    def counted(stream, them):
        words.append(len(them))
        draw(stream, them)

    monkeypatch.setattr(deployment.streams, "draw_words", counted)
    monkeypatch.setattr(deployment, "_MOST_WORDS", 1000)
    cmdp = random_cmdp(2, 2)
    assert certify(cmdp, np.full((2, 2), 0.5), answers=50, seed=0, horizon=97).answers == 50
    assert words[1:] == [1000] * 5  # the first are those of the stream's warm-up
