"""The information limit: on a bandit in closed form, and beside maximum likelihood."""

import numpy as np
import pytest
from reference import random_process
from scipy import stats

from pgpd_hf import CMDP, run, solve
from pgpd_hf.theory.information import (
    SPLITS,
    answer_information,
    information_limit,
    plug_in_gaps,
)


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


@pytest.mark.parametrize("answers", [100, 1000])
def test_gap_of_two_arms_is_in_closed_form(answers):
    """The wrong arm, at the price of the difference d, with probability Phi(-d / error)."""
    cmdp = arms(0.6, 0.4)
    known = answer_information(cmdp, "uniform", 0, "logistic", 4000)
    draws = 600
    gaps = plug_in_gaps(cmdp, solve(cmdp), known, (0.5, 0.3, 0.2), answers, draws)
    # The difference has the error of a direction (1, -1) of length sqrt(2).
    error = 1 / np.sqrt(answers * 0.5 * known.reward[0, 0])
    wrong = stats.norm.cdf(-0.2 / error)
    assert set(np.round(gaps, 9)) <= {0.0, 0.2}
    assert abs(gaps.mean() / 0.2 - wrong) < 5 * np.sqrt(wrong * (1 - wrong) / draws)


def test_it_falls_and_maximum_likelihood_reaches_it():
    """With many answers; the ratio of both means is one within five standard errors."""
    cmdp = random_process(1, 3, 2, 0.5, threshold=0.9)
    optimum = solve(cmdp)
    known = answer_information(cmdp, "deterministic", 15, "logistic", 4000)
    limit = [plug_in_gaps(cmdp, optimum, known, SPLITS[0], k, 60) for k in (3000, 30_000)]
    assert limit[1].mean() < limit[0].mean() / 2
    trace = run(
        cmdp,
        "safe_rlhf",
        seeds=range(40),
        evaluators=10,
        iterations=1,
        pairs=1000,
        horizon=15,
        design="deterministic",
        ridge=1e-3,
        checkpoints=[1],
    )
    reached = trace["optimality_gap"] + optimum.multiplier * trace["constraint_violation"]
    error = np.hypot(reached.std() / np.sqrt(40), limit[1].std() / np.sqrt(60))
    assert abs(reached.mean() - limit[1].mean()) < 5 * error


def test_whole_limit_names_its_design_and_split():
    cmdp = random_process(2, 3, 2, 0.5, threshold=0.9)
    design, split, gaps = information_limit(
        cmdp, solve(cmdp), [300, 3000, 30_000], 10, "logistic", draws=8, pairs=500
    )
    assert design in ("uniform", "deterministic", "state-action")
    assert split in SPLITS
    assert gaps.shape == (3, 8)
    assert (gaps > -1e-9).all()
