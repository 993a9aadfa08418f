"""Sampling: what each word decides, exactly."""

from fractions import Fraction

import numpy as np
import pytest

from pgpd_hf import CMDP, trajectories
from reference import ONE, alias_table

LAWS = {
    "single": [1.0],
    "tenths": [0.1] * 10,
    "certain_last": [0.0, 0.0, 0.0, 0.0, 1.0],
    "nearly_even": [1 / 3 - 1e-13, 1 / 3 + 1e-13, 1 / 3],  # a share that rounds to all of 2^32
    "tiny": [1e-12, 1 - 2e-12, 1e-12],
    "surplus": [0.0, 0.6, 0.4 + 9e-10],
    "hundred": np.random.default_rng(8).dirichlet(np.ones(100)),
}


def returns_of(cmdp, policy, words):
    """Returns of trajectories from state 0, as many as there are columns of words."""
    paths = trajectories.make_trajectories(words.shape[1], *policy.shape, 1)
    trajectories.action_thresholds(policy, paths.thresholds[0])
    tables = trajectories.make_tables(cmdp)
    trajectories.sample_returns(tables, paths, words.ravel(), len(words) - 1)
    return paths.returns


def test_a_short_horizon_is_told():
    assert trajectories.horizon_caution(0.9, 80) == trajectories.horizon_caution(0.0, 0) == ""
    told = "H = 80 misses 44% of a value at discount 0.99: horizon: 847 misses next to nothing."
    assert trajectories.horizon_caution(0.99, 80) == told
    assert trajectories.horizon_caution(0.99, 847) == ""


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_alias_table_holds_the_distribution_in_exact_arithmetic(law):
    slow = zip(*alias_table(law), strict=True)
    implied, total = [Fraction(0)] * len(law), ONE * len(law)
    for column, (entry, kept) in enumerate(zip(trajectories.alias_table(law), slow, strict=True)):
        stay, alias = divmod(int(entry), ONE)
        assert (stay, alias) == kept
        implied[column] += Fraction(stay, total)
        implied[alias] += Fraction(ONE - stay, total)
    excess = abs(Fraction(float(np.sum(law))) - 1)  # of one law, on purpose
    for probability, entry in zip(law, implied, strict=True):
        assert abs(entry - Fraction(probability)) <= Fraction(2, ONE) + excess
        assert (entry == 0) == (probability == 0) or probability < 1e-9


def test_action_and_state_change_exactly_at_their_thresholds():
    """Rewards of the first step name the action, those of the second the state; H is 0 or 1."""
    policy = np.array([[0.1, 0.0, 0.25, 0.65]] * 2)
    first = np.array([[0.0, 0.25, 0.5, 1.0]] * 2)
    cmdp = CMDP([[[0.25, 0.75]] * 4] * 2, first, [[0.0] * 4, [1.0] * 4], [1, 0], 0.5, 0)
    cuts = [round(Fraction(c) * ONE) for c in (0.1, 0.35)]
    chances = [0, cuts[0] - 1, cuts[0], cuts[1] - 1, cuts[1], ONE - 1]
    kept = ONE // 4  # state 0 keeps half of its column, the lower half of all words
    for low, state in ((0, 0), (kept - 1, 0), (kept, 1), (ONE - 1, 1)):
        words = np.array([[(chance << 32) + low for chance in chances]] * 2, np.uint64)
        rewards = returns_of(cmdp, policy, words[:1])[:, 0]
        assert rewards.tolist() == [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]  # never action 1
        assert (returns_of(cmdp, policy, words)[:, 1] == 0.5 * state).all()


@pytest.mark.parametrize("discount", [0.0, 0.9, 0.95, 0.99, 0.999])
def test_default_horizon_misses_at_most_what_the_papers_does(discount):
    horizon = trajectories.default_horizon(discount)
    assert discount ** (horizon + 1) <= 2e-4
    assert horizon == 80 or (horizon > 80 and discount**horizon > 2e-4)
