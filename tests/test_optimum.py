"""Optima: two methods against each other, against enumeration, and against the theory."""

import dataclasses

import numpy as np
import pytest

from pgpd_hf import CMDP, random_cmdp, solve, solve_unconstrained
from pgpd_hf.optimum import METHODS, maximize, utility_range
from reference import deterministic_policies, random_process

# How far the threshold lies between the utility of the unconstrained optimum and the largest one.
TIGHTNESS = {"loose": -0.2, "binding": 0.3, "tight": 0.95}
every_tightness = pytest.mark.parametrize("tightness", TIGHTNESS)
every_method = pytest.mark.parametrize("method", METHODS)


def with_threshold(cmdp, tightness="binding"):
    low, high = utility_range(cmdp)
    threshold = low + TIGHTNESS[tightness] * (high - low)
    return dataclasses.replace(cmdp, threshold=threshold)


@every_method
@every_tightness
@pytest.mark.parametrize("seed", range(4))
def test_optimum_by_enumeration(method, tightness, seed):
    """Occupancy measures are mixtures of deterministic ones, and one constraint needs two of them.

    So the constrained optimum is the largest reward over mixtures of two deterministic policies
    that meet the threshold, and the dual optimum is the smallest of the upper envelope's values.
    """
    cmdp = with_threshold(random_process(seed, 3, 3, discount=0.8, threshold=0.0), tightness)
    v_r, v_g = cmdp.evaluate(deterministic_policies(cmdp))
    excess = v_g - cmdp.threshold
    below, above = np.flatnonzero(excess < 0), np.flatnonzero(excess >= 0)
    weight = excess[above, None] / (excess[above, None] - excess[below])
    mixtures = weight * v_r[below] + (1 - weight) * v_r[above, None]
    best = max(v_r[above].max(), mixtures.max(initial=0.0))
    optimum = solve(cmdp, method)
    assert optimum.reward_value == pytest.approx(best, abs=1e-9)
    assert optimum.slack == pytest.approx(excess.max(), abs=1e-12)
    # Strong duality: the Lagrangian's maximum at the multiplier is the same number, and smallest.
    assert (v_r + optimum.multiplier * excess).max() == pytest.approx(best, abs=1e-8)
    for multiplier in optimum.multiplier + np.linspace(-0.5, 2, 26):
        assert multiplier < 0 or (v_r + multiplier * excess).max() >= best - 1e-9
    # Complementary slackness, and the values are those of the policy.
    assert abs(optimum.multiplier * (optimum.utility_value - cmdp.threshold)) < 1e-8
    assert (optimum.multiplier > 0) == (tightness != "loose")
    assert cmdp.evaluate(optimum.policy) == (optimum.reward_value, optimum.utility_value)
    free = solve_unconstrained(cmdp)
    assert (free.reward_value, free.multiplier) == (pytest.approx(v_r.max()), 0)
    assert free.slack == optimum.slack
    assert ("does not bind" in repr(free)) == (free.utility_value >= cmdp.threshold)
    assert ("does not bind" in repr(optimum)) == (tightness == "loose")


def test_of_equally_good_actions_the_first_is_taken_whatever_rounding_says():
    cmdp, signal = random_cmdp(states=7, actions=5, instance=3), np.full((7, 5), 0.1)
    values = cmdp.action_values(np.eye(5)[np.zeros(7, int)], signal)
    assert (values.argmax(1) > 0).any()
    assert (maximize(cmdp, signal)[:, 0] == 1).all()


@pytest.mark.parametrize("distance", [1e-3, 1e-6])
def test_optimum_of_the_far_sighted_is_that_of_an_average(distance):
    """Which state comes next depends on the action alone, so values follow by hand."""
    utility, transition = np.array([[0.5, 0.5], [0.6, 0.6]]), np.zeros((2, 2, 2))
    transition[:, 0], transition[:, 1] = [0.9, 0.1], [0.1, 0.9]
    threshold = 0.55 / distance
    cmdp = CMDP(transition, 1 - utility, utility, [1, 0], 1 - distance, threshold)
    best = (1 - distance) * 0.59 + distance * 0.5  # from state 0; then 0.9 of the time in state 1
    found, slack = solve(cmdp), best / distance - threshold
    assert (found.slack, found.multiplier) == (pytest.approx(slack), pytest.approx(1))
    assert found.utility_value == pytest.approx(threshold)
    for instance in range(20):  # at the shortest distance the linear program fails
        cmdp = with_threshold(random_cmdp(discount=1 - distance, instance=instance))
        assert solve(cmdp).utility_value == pytest.approx(cmdp.threshold)


@every_method
@pytest.mark.parametrize(
    ("names", "size"),
    [
        *(("reward utility threshold scale", size) for size in (1e-300, 1e-12, 10, 1e300)),
        *((names, size) for names in ("reward", "utility threshold") for size in (1e-10, 1e-20)),
    ],
)
def test_unit_of_signals_does_not_matter(method, names, size):
    """All of them at once, or one signal that is tiny beside the scale."""
    cmdp = with_threshold(random_cmdp(4, 3, 2, scale="unit"))
    parts = {name: size * getattr(cmdp, name) for name in names.split()}
    own, other = solve(cmdp, method), solve(dataclasses.replace(cmdp, **parts), method)
    np.testing.assert_allclose(other.policy, own.policy, atol=1e-8)
    rewards, utilities = (size if name in parts else 1 for name in ("reward", "utility"))
    assert other.multiplier * (utilities / rewards) == pytest.approx(own.multiplier)
    assert other.slack / utilities == pytest.approx(own.slack)


def test_threshold_beyond_the_largest_utility_is_refused():
    cmdp = random_process(4, 3, 2)
    largest = utility_range(cmdp)[1]
    for threshold in (largest, largest + 1e-9, 1e300):
        with pytest.raises(ValueError, match="^threshold: strictly less than"):
            solve(dataclasses.replace(cmdp, threshold=threshold))
    barely = dataclasses.replace(cmdp, threshold=largest - 1e-7)
    assert solve(barely).slack == pytest.approx(1e-7, abs=1e-12)
    assert solve_unconstrained(dataclasses.replace(cmdp, threshold=5.0)).slack < 0
