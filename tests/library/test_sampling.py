"""Sampling: what each word decides, exactly, and the moments of returns, statistically."""

from fractions import Fraction

import numpy as np
import pytest
from chance import assert_mean
from reference import (
    choose,
    draw,
    random_policies,
    random_process,
    random_words,
    trajectory,
    truncated_moments,
)

from pgpd_hf import CMDP
from pgpd_hf.core import sampling
from pgpd_hf.core.sampling import (
    FREE,
    Trajectories,
    action_thresholds,
    alias_table,
    forget,
    make_tables,
    make_trajectories,
    memorize,
    sample_returns,
    sample_visits,
    table_width,
)

ONE = 2**32

LAWS = {
    "single": [1.0],
    "fair": [0.5, 0.5],
    "thirds": [1 / 3] * 3,
    "tenths": [0.1] * 10,
    "certain": [0.0, 1.0, 0.0],
    "certain_last": [0.0, 0.0, 0.0, 0.0, 1.0],
    "skewed": [0.7, 0.2, 0.1],
    "nearly_even": [1 / 3 - 1e-13, 1 / 3 + 1e-13, 1 / 3],  # a share that rounds to all of 2^32
    "tiny": [1e-12, 1 - 2e-12, 1e-12],
    "deficit": [0.3, 0.3, 0.4 - 9e-10],
    "surplus": [0.3, 0.3, 0.4 + 9e-10],
    "certain_deficit": [0.0, 1 - 9e-10, 0.0],
    "powers": [2.0**-k for k in range(1, 20)] + [2.0**-19],
    **{
        f"dirichlet_{n}_{alpha}": np.random.default_rng(n).dirichlet(np.full(n, alpha))
        for n in (2, 7, 10, 100)
        for alpha in (0.05, 1.0, 5.0)
    },
}


def thresholds_of(*policies):
    states, actions = policies[0].shape
    thresholds = np.empty((len(policies), states, table_width(actions)), np.uint64)
    for which, policy in enumerate(policies):
        action_thresholds(policy, thresholds[which])
    return thresholds


def returns_of(cmdp, policies, words, start, first_action=None, followed=None):
    """Sample with fresh arrays; scalars stand for all trajectories."""
    trajectories = make_trajectories(words.shape[1], *policies[0].shape, len(policies))
    trajectories.thresholds[:] = thresholds_of(*policies)
    trajectories.returns.fill(np.nan)
    trajectories.start[:] = start
    if followed is not None:
        trajectories.policy[:] = followed
    if first_action is not None:
        trajectories.first_action[:] = first_action
    sample_returns(make_tables(cmdp), trajectories, words.ravel(), len(words) - 1)
    return trajectories.returns


# Alias tables: the distribution itself, in exact arithmetic.


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_alias_table_holds_the_distribution(law):
    table = [divmod(int(entry), ONE) for entry in alias_table(law)]
    implied = [Fraction(0)] * len(law)
    for column, (stay, alias) in enumerate(table):
        implied[column] += Fraction(stay, ONE * len(law))
        implied[alias] += Fraction(ONE - stay, ONE * len(law))
    assert sum(implied) == 1
    for probability, entry in zip(law, implied, strict=True):
        # 1e-9 is what a CMDP may lack or exceed; here one law does on purpose.
        total = Fraction(float(np.sum(law)))
        assert abs(entry - Fraction(probability)) <= Fraction(2, ONE) + abs(total - 1)
        assert (entry == 0) == (probability == 0) or probability < 1e-9


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_draw_gives_every_outcome_its_share_of_the_words(law):
    """Columns are intervals of words that change outcome once: probe both sides of the change.

    So the words of each outcome can be counted, all 2^32 of them.
    """
    count = len(law)
    table = alias_table(law)
    words = np.zeros(count, dtype=object)
    for column in range(count):
        first, end = -(-column * ONE // count), -(-(column + 1) * ONE // count)
        stay, alias = divmod(int(table[column]), ONE)
        change = min(max(-(-(column * ONE + stay) // count), first), end)
        for word in {first, change - 1, change, end - 1}:
            if first <= word < end:
                outcome = sampling.draw(table[:, None], np.uint64(0), np.uint64(word), np.uint64(1))
                assert outcome == (column if word < change else alias)
        words[column] += change - first
        words[alias] += end - change
    assert words.sum() == ONE
    deviation = words.astype(float) / ONE - law
    # Half a unit of rounding and one word at each edge, for each column that an outcome is in.
    assert np.abs(deviation).max() <= 2 * (count + 1) / ONE + abs(np.sum(law) - 1)


def test_draw_ignores_the_upper_half_of_the_word():
    table = alias_table(LAWS["dirichlet_10_1.0"])[:, None]
    law, unit = np.uint64(0), np.uint64(1)
    for word in random_words(1, 200):
        low = word & np.uint64(ONE - 1)
        assert sampling.draw(table, law, word, unit) == sampling.draw(table, law, low, unit)


def test_draw_reads_the_column_it_is_told():
    table = np.stack([alias_table(np.eye(4)[k]) for k in (2, 0, 3)], axis=1)
    for column, outcome in enumerate((2, 0, 3)):
        for word in random_words(2, 20):
            assert sampling.draw(table, np.uint64(column), word, np.uint64(1)) == outcome


@pytest.mark.parametrize("law", ["tenths", "skewed", "dirichlet_7_0.05", "powers"])
def test_unit_multiplies_outcomes(law):
    plain, scaled = alias_table(LAWS[law])[:, None], alias_table(LAWS[law], 6)[:, None]
    column, one, six = (np.uint64(k) for k in (0, 1, 6))
    for word in random_words(3, 200):
        outcome = sampling.draw(plain, column, word, one)
        assert sampling.draw(scaled, column, word, six) == 6 * outcome


# Actions.


@pytest.mark.parametrize("name", [name for name in LAWS if "cit" not in name])
def test_action_thresholds_are_cumulative_probabilities(name):
    law = np.array(LAWS[name])
    thresholds = thresholds_of(law[None])[0, 0]
    last = len(law) - 1
    assert (thresholds[last:] == ONE).all()
    exact = 0
    for probability, threshold in zip(law[:-1], thresholds[:last], strict=True):
        exact += Fraction(probability)
        assert abs(Fraction(int(threshold), ONE) - exact) <= Fraction(1, ONE)


def test_action_changes_exactly_at_its_threshold():
    """One state; the reward of the only step names the action."""
    policy = np.array([[0.1, 0.0, 0.25, 0.65]])
    names = np.array([[0.0, 0.25, 0.5, 1.0]])
    cmdp = CMDP([[[1.0]] * 4], names, names, [1.0], 0.9, 0)
    cuts = [int(c) for c in thresholds_of(policy)[0, 0]]
    chances = [0, cuts[0] - 1, cuts[0], cuts[2] - 1, cuts[2], ONE - 1]
    for low in (0, ONE - 1):
        words = np.array([[(chance << 32) + low for chance in chances]], np.uint64)
        returns = returns_of(cmdp, [policy], words, 0)
        # Action 1 has probability zero: the words go from action 0 straight to action 2.
        assert returns[:, 0].tolist() == [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]


# Returns, exactly.


@pytest.mark.parametrize("horizon", [0, 1, 7, 80])
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9])
def test_trajectory_has_one_step_more_than_the_horizon(horizon, discount):
    cmdp = random_process(1, 4, 3, discount)
    ones = CMDP(cmdp.transition, np.ones((4, 3)), np.zeros((4, 3)), cmdp.initial, discount, 0)
    returns = returns_of(ones, [random_policies(1, ones)], random_words(1, horizon + 1, 50), 2)
    geometric = sum(discount**t for t in range(horizon + 1))
    np.testing.assert_allclose(returns[:, 0], geometric, rtol=1e-14)
    assert returns[0, 0] == pytest.approx(ones.return_bound(horizon), rel=1e-13)
    assert (returns[:, 1] == 0).all()


@pytest.fixture
def clock():
    """States 0 -> 1 -> 2 -> 0 by action 0, back to 0 by action 1; rewards tell where one is."""
    forward, back = np.roll(np.eye(3), 1, axis=1), np.eye(3)[[0, 0, 0]]
    return CMDP(
        transition=np.stack([forward, back], axis=1),
        reward=[[0.1, 0.5], [0.2, 0.6], [0.4, 0.7]],
        utility=[[1, 0], [1, 0], [1, 0]],
        initial=[1, 0, 0],
        discount=0.5,
        threshold=0,
    )


def test_deterministic_cmdp_by_hand(clock):
    always = np.array([[1.0, 0.0]] * 3)
    for start, rewards in enumerate([(0.1, 0.2, 0.4, 0.1), (0.2, 0.4, 0.1, 0.2)]):
        returns = returns_of(clock, [always], random_words(2, 4, 5), start)
        expected = sum(0.5**t * r for t, r in enumerate(rewards))
        np.testing.assert_allclose(returns[:, 0], expected, rtol=1e-15)
        assert (returns[:, 1] == 1.875).all()


def test_first_action_is_taken_once_and_decides_the_next_state(clock):
    always = np.array([[1.0, 0.0]] * 3)
    returns = returns_of(clock, [always], random_words(3, 3, 5), 2, first_action=1)
    np.testing.assert_allclose(returns[:, 0], 0.7 + 0.5 * 0.1 + 0.25 * 0.2, rtol=1e-15)
    assert (returns[:, 1] == 0.75).all()
    # Action 0 can be a first action as well, against a policy that would never take it.
    never = always[:, ::-1].copy()
    returns = returns_of(clock, [never], random_words(3, 3, 5), 1, first_action=0)
    np.testing.assert_allclose(returns[:, 0], 0.2 + 0.5 * 0.7 + 0.25 * 0.5, rtol=1e-15)


def test_each_trajectory_follows_its_own_policy(clock):
    always = np.array([[1.0, 0.0]] * 3)
    never = always[:, ::-1].copy()
    followed = np.arange(6) % 2
    returns = returns_of(clock, [always, never], random_words(4, 3, 6), 0, followed=followed)
    assert (returns[:, 1] == np.where(followed == 0, 1.75, 0)).all()


@pytest.mark.parametrize(("states", "actions"), [(1, 1), (1, 3), (4, 1), (3, 2), (10, 4), (3, 7)])
def test_trajectories_are_those_of_the_slow_version(states, actions):
    cmdp = random_process(5, states, actions, 0.8)
    policies = random_policies(5, cmdp, 2)
    random = np.random.default_rng(5)
    words = random_words(5, 6, 60)
    start, followed = random.integers(states, size=60), random.integers(2, size=60)
    first = random.integers(FREE, actions, size=60)
    returns = returns_of(cmdp, list(policies), words, start, first, followed)
    for k in range(60):
        action = None if first[k] == FREE else first[k]
        expected = trajectory(cmdp, policies[followed[k]], start[k], action, words[:, k])
        np.testing.assert_allclose(returns[k], expected, rtol=1e-14)


@pytest.mark.parametrize("horizon", [0, 1, 5, 40])
def test_rest_after_absorption_is_that_of_the_slow_version(horizon):
    """States 1 and 2 are absorbing; 3 only seems to be, since its actions pay differently."""
    cmdp = random_process(7, 5, 3, 0.8)
    transition, reward, utility = (
        array.copy() for array in (cmdp.transition, cmdp.reward, cmdp.utility)
    )
    for state in (1, 2, 3):
        transition[state] = np.eye(5)[state]
    reward[1:3], utility[1:3] = [[0.3], [0.7]], [[0.9], [0.2]]
    cmdp = CMDP(transition, reward, utility, cmdp.initial, 0.8, 0)
    tables = make_tables(cmdp)
    assert tables.ends
    width = table_width(3)
    assert tables.absorbing[::width].tolist() == [False, True, True, False, False]
    (policy,) = random_policies(7, cmdp, 1)
    words = random_words(7, horizon + 1, 41)
    start = np.arange(41) % 5
    returns = returns_of(cmdp, [policy], words, start)
    for k in range(41):
        expected = trajectory(cmdp, policy, start[k], None, words[:, k])
        np.testing.assert_allclose(returns[k], expected, rtol=1e-13)


def test_kernel_is_a_function_of_its_inputs():
    """Nothing is changed but the array said to be, and no trajectory notices the others."""
    cmdp = random_process(6, 5, 3, 0.8)
    tables, thresholds = make_tables(cmdp), thresholds_of(*random_policies(6, cmdp, 2))
    words, count = random_words(6, 9, 40), 40
    followed = (np.arange(count) % 2).astype(np.uint64)
    start = (np.arange(count) % 5).astype(np.uint64)
    first = np.arange(count) % 4 - 1
    inputs = (*tables[:4], thresholds, followed, start, first, words)
    before = [array.copy() for array in inputs]
    results = []
    for chosen in (np.arange(count), np.arange(count), np.arange(count)[::-3]):
        returns = np.full((len(chosen), 2), np.nan)
        trajectories = Trajectories(
            thresholds, followed[chosen], start[chosen], first[chosen], returns
        )
        sample_returns(tables, trajectories, words[:, chosen].ravel(), len(words) - 1)
        results.append(returns)
    assert (results[0] == results[1]).all()
    assert (results[0][::-3] == results[2]).all()
    for array, kept in zip(inputs, before, strict=True):
        assert (array == kept).all()


@pytest.mark.parametrize("actions", [1, 2, 4, 6])
def test_tables_hold_the_cmdp(actions):
    cmdp = random_process(7, 3, actions, 0.8)
    tables, width = make_tables(cmdp), table_width(actions)
    assert width == max(actions, 4)
    assert tables.discount == 0.8
    assert tables.successors.shape == (3, 3 * width)
    for s in range(3):
        for a in range(actions):
            row = width * s + a
            assert (tables.reward[row], tables.utility[row]) == (
                cmdp.reward[s, a],
                cmdp.utility[s, a],
            )
            for word in random_words(8, 30):
                outcome = sampling.draw(tables.successors, np.uint64(row), word, np.uint64(width))
                assert outcome == width * draw(cmdp.transition[s, a], word)
    for word in random_words(9, 100):
        outcome = sampling.draw(tables.starts, np.uint64(0), word, np.uint64(1))
        assert outcome == draw(cmdp.initial, word)


# Returns, statistically: exact first and second moments by recursion.

CASES = [(2, 2, 3), (3, 2, 1), (2, 3, 10), (4, 1, 5), (1, 3, 4)]


@pytest.mark.parametrize(("states", "actions", "horizon"), CASES)
@pytest.mark.parametrize("begin", ["state", "pair", "initial"])
def test_moments_of_returns(states, actions, horizon, begin):
    """Means, variances and the covariance of both returns, from s, (s, a) and rho.

    Trajectories follow the second of two policies, the first one being another.
    """
    cmdp = random_process(10, states, actions, 0.8)
    other, policy = random_policies(10, cmdp, 2)
    count = 40_000
    words = random_words(horizon, horizon + 1, count)
    state, action = states - 1, actions - 1
    mean, second = truncated_moments(cmdp, policy, horizon)  # (S, A, 2), (S, A, 2, 2)
    if begin == "pair":
        start, first = state, action
        mean, second = mean[state, action], second[state, action]
    else:
        mean = np.einsum("sa,sai->si", policy, mean)
        second = np.einsum("sa,saij->sij", policy, second)
        first = None
        if begin == "state":
            start, mean, second = state, mean[state], second[state]
        else:
            tables = make_tables(cmdp)
            firsts = random_words(horizon + 100, count)
            column, unit = np.uint64(0), np.uint64(1)
            start = [sampling.draw(tables.starts, column, word, unit) for word in firsts]
            mean = cmdp.initial @ mean
            second = np.einsum("s,sij->ij", cmdp.initial, second)
    returns = returns_of(cmdp, [other, policy], words, start, first, followed=1)
    deviation = np.sqrt(np.maximum(np.diag(second) - mean**2, 0))
    assert_mean(returns, mean, deviation)
    products = np.stack([returns[:, i] * returns[:, j] for i, j in ((0, 0), (1, 1), (0, 1))], 1)
    assert_mean(products, [second[0, 0], second[1, 1], second[0, 1]])


def test_slow_version_of_action_choice_has_the_policy_as_its_law():
    """Keep the reference honest: shares of a fine grid of chances."""
    law = np.array([0.1, 0.0, 0.25, 0.65])
    grid = np.arange(10_000, dtype=np.uint64) * np.uint64(2**64 // 10_000)
    counts = np.bincount([choose(law, word) for word in grid], minlength=4)
    np.testing.assert_allclose(counts / 10_000, law, atol=2e-4)


def test_memory_holds_weighted_sums_peaks_and_ends_of_both_signals():
    tables, memory = make_tables(random_process(1), 2), np.full((2, 3), np.nan)
    steps, weights = np.array([0, 3, 1], np.uint64), [1.0, 0.5, 0.25]
    forget(memory)
    for pair, weight in zip(steps, weights, strict=True):
        memorize(tables, memory, pair, weight)
    reward, utility = tables.reward[steps], tables.utility[steps]
    expected = [
        [weights @ reward, reward.max(), reward[-1]],
        [weights @ utility, utility.min(), utility[-1]],
    ]
    np.testing.assert_allclose(memory, expected, rtol=1e-14)


def test_visits_and_memory_are_those_of_the_returns():
    """Returns are sums of rewards over visits, and a memory without peaks keeps the returns."""
    cmdp = random_process(2, 3, 2, 0.8)
    words, policies = random_words(5, 7, 6), random_policies(5, cmdp, 1)
    made = [make_trajectories(6, 3, 2) for _ in range(2)]
    for trajectories, weight in zip(made, (0.0, 1e-12), strict=True):
        trajectories.thresholds[:] = thresholds_of(*policies)
        trajectories.start[:] = [0, 1, 2, 0, 1, 2]
        tables = make_tables(cmdp, 6, peak_end=weight)
        sample_returns(tables, trajectories, words.ravel(), 6)
    np.testing.assert_allclose(made[1].returns, made[0].returns, rtol=0, atol=1e-10)
    visits, signals = np.zeros((6, 3 * table_width(2))), [tables.reward, tables.utility]
    sample_visits(tables, made[0], words.ravel(), 6, visits)
    np.testing.assert_allclose(visits @ np.transpose(signals), made[0].returns, rtol=1e-13)
