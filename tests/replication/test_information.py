"""The information limit: on a bandit in closed form, and beside methods that infer rewards."""

import numpy as np
import pytest
from scipy import stats

from pgpd_hf import CMDP, random_cmdp, run, solve
from pgpd_hf.core.questions import DESIGNS
from replication.theory.information import (
    SPLITS,
    AnswerInformation,
    _truncated_normal,
    answer_information,
    information_limit,
    least_gap,
    signal_draws,
)

BINDING = (2, 5, 7, 9, 10, 13, 14, 19, 20, 23, 24, 27)  # of three states and two actions


def arms(first, second):
    """Two arms, no time, and a constraint that never binds."""
    return CMDP(np.ones((1, 2, 1)), [[first, second]], [[1.0, 1.0]], [1.0], 0.0, -50.0)


def test_splits_are_shares():
    np.testing.assert_allclose(np.sum(SPLITS, axis=1), 1, rtol=1e-12)


def test_information_of_two_arms_is_in_closed_form():
    """Half of the pairs compare the two arms, and an answer has sigma (1 - sigma) = 0.2475."""
    cmdp = arms(0.6, 0.4)
    known = answer_information(cmdp, "uniform", 0, "logistic", 4000)
    sigma = 1 / (1 + np.exp(-0.2))
    expected = 0.5 * sigma * (1 - sigma) * np.array([[1, -1], [-1, 1]])
    np.testing.assert_allclose(known.reward, expected, atol=5 * 0.25 * 0.5 / np.sqrt(4000))
    np.testing.assert_allclose(known.reward / known.reward[0, 0], [[1, -1], [-1, 1]], rtol=1e-12)


@pytest.mark.parametrize("sharpness", [0.0, 3.0, 300.0])
def test_draws_have_the_moments_of_a_truncated_normal(sharpness):
    """Two independent coordinates on [0, 2], the second one pushed beyond the end."""
    random = np.random.default_rng(1)
    precision, truth = sharpness * np.eye(2), np.array([0.4, 1.9])
    noise = np.sqrt(sharpness) * np.array([0.3, 2.0])
    draws = signal_draws(precision, noise, truth, 2.0, 2000, random)
    assert ((draws >= 0) & (draws <= 2)).all()
    if sharpness:
        centers, deviation = truth + noise / sharpness, 1 / np.sqrt(sharpness)
        laws = [stats.truncnorm(-m / deviation, (2 - m) / deviation, m, deviation) for m in centers]
    else:
        laws = [stats.uniform(0, 2)] * 2
    for column, law in zip(draws.T, laws, strict=True):
        # Neighbours in the chain are correlated, by the move of both coordinates together.
        assert abs(column.mean() - law.mean()) < 8 * law.std() / np.sqrt(2000)
        assert stats.kstest(column[::5], law.cdf).pvalue > 1e-6


@pytest.mark.parametrize(
    ("low", "high"), [(-1.0, 3.0), (0.3, 5.0), (-0.2, 0.5), (0.2, 0.9), (1.8, 9.0), (-6.0, -2.5)]
)
def test_truncated_normals_have_their_law(low, high):
    """Every way of rejection, on either side of zero, near it and far from it."""
    random = np.random.default_rng(7)
    draws = [_truncated_normal(low, high, random) for _ in range(20000)]
    assert stats.kstest(draws, stats.truncnorm(low, high).cdf).pvalue > 1e-6


def test_free_directions_are_those_that_comparisons_leave_open():
    """Of two arms only the difference is known; the sum fills what the ends allow."""
    random = np.random.default_rng(2)
    precision = 1e6 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    draws = signal_draws(precision, np.zeros(2), np.array([0.3, 0.5]), 1.0, 1000, random)
    assert np.abs(draws[:, 1] - draws[:, 0] - 0.2).max() < 0.01
    assert stats.kstest(draws[:, 0], stats.uniform(0, 0.8).cdf).pvalue > 1e-6


def bayes_gap_of_two_arms(precision):
    """Mean price of the wrong arm, rewards uniform on [0, 1]: by integration."""
    d, y = np.linspace(-1, 1, 401), np.linspace(-3, 3, 1201)
    joint = (1 - np.abs(d))[:, None] * stats.norm.pdf(y, d[:, None], precision**-0.5)
    joint /= joint.sum()
    return (np.abs(d) @ joint.sum(1) - np.abs(d @ joint).sum()) / 2


def test_limit_of_two_arms_is_in_closed_form():
    """Forty environments; with 25 draws each, the limit errs downwards by up to a tenth."""
    random, gaps, answers = np.random.default_rng(3), [], 50
    curvature = 0.125 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    known = AnswerInformation(curvature, curvature, np.eye(2) / 4)
    for k in range(40):
        cmdp = arms(*random.random(2))
        gaps.append(least_gap(cmdp, known, (0.5, 0.3, 0.2), answers, 25, seed=k))
    expected = bayes_gap_of_two_arms(answers * 0.5 * 0.125)
    error = np.std(gaps) / np.sqrt(40)
    assert 0.9 * expected - 3 * error < np.mean(gaps) < expected + 3 * error
    assert error < 0.15 * expected


def test_environments_whose_constraint_does_not_bind_are_not_drawn_if_it_has_to():
    """Here it never binds: without the condition the limit is positive, with it nothing is left."""
    curvature = 0.125 * np.array([[1.0, -1.0], [-1.0, 1.0]])
    known = AnswerInformation(curvature, curvature, np.eye(2) / 4)
    asked = arms(0.6, 0.4), known, (0.5, 0.3, 0.2), 50, 25
    assert least_gap(*asked) > 0.01
    assert least_gap(*asked, binding=True) == 0


def test_absolute_answers_tell_about_utility_by_their_own_share():
    """What the last two shares buy is added up; it counts in proportion to K."""
    cmdp = random_cmdp(3, 2, BINDING[0], discount=0.5)
    known = answer_information(cmdp, "deterministic", 12, "logistic", 200)
    both = 0.3 * known.utility + 0.1 * known.absolute
    as_one = known._replace(utility=both)
    limit = least_gap(cmdp, known, (0.6, 0.3, 0.1), 3000, 20)
    assert limit == pytest.approx(least_gap(cmdp, as_one, (0.6, 1.0, 0.0), 3000, 20), rel=1e-9)
    twice = AnswerInformation(*(2 * part for part in known))
    assert limit == pytest.approx(least_gap(cmdp, twice, (0.6, 0.3, 0.1), 1500, 20), rel=1e-9)
    without = least_gap(cmdp, known, (0.6, 0.3, 0.0), 3000, 20)
    assert limit != pytest.approx(without, rel=1e-3)


def test_no_method_is_below_it_and_it_falls():
    """Regression on random environments, with any prior: means of paired differences."""
    cmdps = [random_cmdp(3, 2, instance, discount=0.5) for instance in BINDING]
    split, answers = SPLITS[0], (3000, 30_000)
    known = [answer_information(it, "deterministic", 12, "logistic", 1000) for it in cmdps]
    limit = np.array(
        [
            [least_gap(cmdps[k], known[k], split, count, 30, True, k) for k in range(len(cmdps))]
            for count in answers
        ]
    )
    assert limit[1].mean() < limit[0].mean() / 2
    options = {"iterations": 1, "rounds": 1000, "horizon": 12, "design": "deterministic"}
    for count, row in zip(answers, limit, strict=True):
        for ridge in (1.0, 10.0):
            reached = []
            for cmdp in cmdps:
                trace = run(
                    cmdp,
                    "safe_rlhf",
                    seeds=range(2),
                    evaluators=count // 3000,
                    ridge=ridge,
                    checkpoints=[1],
                    **options,
                )
                priced = trace["optimality_gap"]
                priced += solve(cmdp).multiplier * trace["constraint_violation"]
                reached.append(priced.mean())
            above = reached - row
            assert above.mean() > -3 * above.std() / np.sqrt(len(cmdps))
            assert np.mean(reached) < 5 * row.mean()  # and the limit is not empty


def test_whole_limit_names_its_design_and_split():
    cmdps = [random_cmdp(3, 2, instance, discount=0.5) for instance in BINDING[:2]]
    budgets = [300, 3000, 30_000]
    chosen, gaps = information_limit(cmdps, budgets, 10, "logistic", draws=4, pairs=200)
    assert len(chosen) == 3
    assert all(design in DESIGNS and split in SPLITS for design, split in chosen)
    assert gaps.shape == (3, 2)
    assert (gaps > -1e-9).all()
    for (design, split), budget, row in zip(chosen, budgets, gaps, strict=True):
        known = [answer_information(cmdp, design, 10, "logistic", 200) for cmdp in cmdps]
        # Other draws than those by which design and split were chosen.
        asked = [least_gap(cmdps[k], known[k], split, budget, 4, seed=k) for k in range(2)]
        assert row.tolist() == asked
