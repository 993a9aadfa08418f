"""Sampled NPGPD-HF: its mean step by enumeration of all trajectories, and its option."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from preparing import prepare, randomness
from reference import random_process, truncated_moments

from pgpd_hf import CMDP, run, solve
from pgpd_hf.core.optima import utility_range

QUARTERS = [k * 2**30 for k in range(4)]  # of half a word
POLICY = np.array([[0.25, 0.75], [0.5, 0.5]])


def quarters_cmdp(initial):
    """All probabilities are multiples of 1/4, so a few words stand for all."""
    transition = [[[0.25, 0.75], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]]
    reward, utility = [[0.3, 1.0], [0.2, 0.7]], [[0.9, 0.1], [0.6, 0.4]]
    return CMDP(transition, reward, utility, initial, discount=0.5, threshold=0.8)


def every_estimate(algorithm):
    """Estimates of directions and of V_g - b, (K, 9), for all equally probable random words."""
    steps = [upper << 32 | lower for upper in QUARTERS for lower in QUARTERS]
    ends = [upper << 32 for upper in QUARTERS]  # nobody looks at the state after the last step
    starts = [upper << 32 | lower for upper in (0, 2**31) for lower in QUARTERS]
    theta, found = np.log(POLICY), []
    for words in itertools.product(steps, ends, steps, ends, starts):
        row = np.array([*words, 0, 0, 0], np.uint64)
        directions, excess = algorithm.estimate(theta, row, np.empty(0))
        found.append([*directions.ravel(), excess])
    return np.array(found)


def weighted_values(cmdp, exploration, horizon):
    """Sum over j of P_j(s) gamma^j Q(s, a)/((exploration + 1)|A|), for both signals, (S, A, 2)."""
    visits, total = np.array(cmdp.initial), 0.0
    for j in range(exploration + 1):
        action_values, _ = truncated_moments(cmdp, POLICY, horizon - j)
        total = total + cmdp.discount**j * visits[:, None, None] * action_values
        visits = visits @ cmdp.transition.mean(axis=1)
    return total / ((exploration + 1) * cmdp.actions)


@pytest.mark.parametrize(("initial", "exploration"), [((0.25, 0.75), 0), ((1, 0), 1)])
def test_mean_step_is_the_action_values_times_a_weight_of_the_state(initial, exploration):
    """Up to a number of the state, which no softmax policy sees; nothing is left to chance."""
    cmdp = quarters_cmdp(initial)
    algorithm = prepare("sampled_npgpd_hf", cmdp, evaluators=None, horizon=1)
    assert algorithm.exploration == exploration  # as few steps as reach both states
    mean = every_estimate(algorithm).mean(axis=0)
    directions = mean[:-1].reshape(2, 2, 2)
    expected = np.moveaxis(weighted_values(cmdp, exploration, horizon=1), -1, 0)
    differences = np.diff(directions, axis=-1)
    np.testing.assert_allclose(differences, np.diff(expected, axis=-1), rtol=0, atol=1e-13)
    assert np.abs(differences).min() > 1e-3  # every state and signal is asked about
    values = (POLICY[..., None] * truncated_moments(cmdp, POLICY, 1)[0]).sum(axis=1)
    assert mean[-1] == pytest.approx(cmdp.initial @ values[:, 1] - 0.8, abs=1e-13)


def test_rounds_are_averaged():
    cmdp, theta = random_process(3), np.log([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    options = {"evaluators": 16, "horizon": 4, "exploration": 2}
    one = prepare("sampled_npgpd_hf", cmdp, **options)
    three = prepare("sampled_npgpd_hf", cmdp, rounds=3, **options)
    words, _ = randomness(three, 5, 1)
    steps, starts, votes = np.split(words[0], [30, 33])
    rows = zip(*(np.split(part, 3) for part in (steps, starts, votes)), strict=True)
    single = [one.estimate(theta, np.concatenate(row), np.empty(0)) for row in rows]
    directions, excess = three.estimate(theta, words[0], np.empty(0))
    np.testing.assert_allclose(directions, np.mean([x for x, _ in single], axis=0), atol=1e-15)
    assert excess == pytest.approx(np.mean([x for _, x in single]), abs=1e-15)
    # A round moves one state and action.
    assert [np.count_nonzero(np.abs(x).sum(axis=0)) for x, _ in single] == [1, 1, 1]


def test_exploration_beyond_the_horizon_is_refused_in_one_line():
    with pytest.raises(ValueError, match=r"^exploration: at most the horizon, 5, expected, got 6$"):
        prepare("sampled_npgpd_hf", random_process(4), exploration=6)


def test_priced_gap_falls_as_the_root_of_the_length():
    """Measured on one process, with steps that fall so: sixteen times the length, a quarter."""
    random = np.random.default_rng(2)
    transition = random.dirichlet(np.full(3, 0.5), (3, 2))
    signals = random.random((2, 3, 2))
    cmdp = CMDP(transition, *signals, np.full(3, 1 / 3), discount=0.8, threshold=0.0)
    unsafest, safest = utility_range(cmdp)
    cmdp = replace(cmdp, threshold=(unsafest + safest) / 2)
    multiplier, priced = solve(cmdp).multiplier, []
    for length in (500, 8000):
        steps = {"primal_step": 0.6 / length**0.5, "dual_step": 0.5 / length**0.5}
        people = {"evaluators": None, "horizon": 40}
        trace = run(cmdp, "sampled_npgpd_hf", seeds=range(4), iterations=length, **people, **steps)
        last = trace[trace["iteration"] == length]
        means = last["mean_optimality_gap"] + multiplier * last["mean_constraint_violation"]
        priced.append(means.mean())
    assert multiplier > 0.1
    slope = np.log(priced[1] / priced[0]) / np.log(16)
    assert slope == pytest.approx(-0.5, abs=0.1)
