"""CMDPs: exact values against closed forms and other formulations, and refusals."""

import copy
import dataclasses
import os
import pickle
import zipfile

import numpy as np
import pytest
from reference import induced, random_policies, random_process, state_values

from pgpd_hf import CMDP
from pgpd_hf.core import cmdp as module

SIZES = [(1, 1), (1, 4), (2, 2), (5, 3), (10, 4), (32, 2), (33, 2), (40, 3)]


@pytest.fixture(params=["ours", "lapack"])
def solver(request, monkeypatch):
    """Both ways of elimination, whatever the size."""
    monkeypatch.setattr(module, "_LAPACK_FROM", {"ours": 10**9, "lapack": 0}[request.param])


# Closed forms.


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("discount", [0.0, 0.3, 0.9, 0.999])
def test_bandit_earns_its_mean_reward_for_ever(discount):
    bandit = CMDP([[[1.0]] * 3], [[0.2, 0.4, 0.9]], [[1, 0, 0]], [1.0], discount, 0.1)
    v_r, v_g = bandit.evaluate([[0.5, 0.3, 0.2]])
    assert v_r * (1 - discount) == pytest.approx(0.1 + 0.12 + 0.18, rel=1e-12)
    assert v_g * (1 - discount) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("stay", [0.0, 0.25, 1.0])
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.95])
def test_chain_that_leaves_its_first_state_for_good(stay, discount):
    chain = CMDP(
        transition=[[[stay, 1 - stay]], [[0, 1]]],
        reward=[[0.3], [0.8]],
        utility=[[1.0], [0.0]],
        initial=[1, 0],
        discount=discount,
        threshold=0,
    )
    v_r, v_g = chain.evaluate([[1.0], [1.0]])
    after = 0.8 / (1 - discount)
    assert v_r == pytest.approx((0.3 + discount * (1 - stay) * after) / (1 - discount * stay))
    assert v_g == pytest.approx(1 / (1 - discount * stay))


@pytest.mark.usefixtures("solver")
def test_cycle_of_two_states_alternates():
    """From state 0: r = 1, 0, 1, 0, ...; from state 1 one step later."""
    swap = CMDP([[[0, 1]], [[1, 0]]], [[1], [0]], [[0], [1]], [0.75, 0.25], 0.5, 0)
    from_zero, from_one = 1 / (1 - 0.25), 0.5 / (1 - 0.25)
    v_r, v_g = swap.evaluate([[1], [1]])
    assert v_r == pytest.approx(0.75 * from_zero + 0.25 * from_one, rel=1e-14)
    assert v_g == pytest.approx(0.75 * from_one + 0.25 * from_zero, rel=1e-14)


@pytest.mark.parametrize("horizon", [0, 1, 5, 80])
@pytest.mark.parametrize("scale", [1.0, 0.1])
def test_return_bound_sums_the_discounts(horizon, scale):
    cmdp = random_process(1, discount=0.9, scale=scale)
    total = scale * sum(0.9**t for t in range(horizon + 1))
    assert cmdp.return_bound(horizon) == pytest.approx(total, rel=1e-13)
    assert cmdp.return_bound(horizon) < cmdp.value_bound == pytest.approx(10 * scale)


# Other formulations.


@pytest.mark.parametrize(("states", "actions"), SIZES)
@pytest.mark.parametrize("discount", [0.0, 0.6, 0.99])
def test_evaluate_is_the_linear_solve_of_section_5(states, actions, discount):
    cmdp = random_process(2, states, actions, discount)
    policies = random_policies(3, cmdp, 20)
    expected = [
        [cmdp.initial @ state_values(cmdp, policy, signal) for policy in policies]
        for signal in (cmdp.reward, cmdp.utility)
    ]
    np.testing.assert_allclose(cmdp.evaluate(policies), expected, rtol=1e-12)


@pytest.mark.parametrize(("states", "actions"), SIZES)
def test_our_elimination_agrees_with_lapack(states, actions, monkeypatch):
    cmdp = random_process(4, states, actions, 0.95)
    policies = random_policies(5, cmdp, 37)
    monkeypatch.setattr(module, "_LAPACK_FROM", 10**9)
    ours = cmdp.evaluate(policies)
    monkeypatch.setattr(module, "_LAPACK_FROM", 0)
    np.testing.assert_allclose(ours, cmdp.evaluate(policies), rtol=1e-12)


def test_elimination_is_chosen_by_the_number_of_states(monkeypatch):
    def refuse(*arguments):
        raise AssertionError

    monkeypatch.setattr(module, "_values", refuse)
    large = random_process(6, 33, 2)
    large.evaluate(random_policies(6, large))
    small = random_process(6, 32, 2)
    with pytest.raises(AssertionError):
        small.evaluate(random_policies(6, small))


@pytest.mark.parametrize("entries", [1, 3 * 40**2, 2**30])
def test_lapack_is_given_a_bounded_number_of_matrices(entries, monkeypatch):
    cmdp = random_process(6, 40, 2)
    policies = random_policies(6, cmdp, 7)
    expected = cmdp.evaluate(policies)
    given, solve = [], np.linalg.solve

    def note(matrices, right):
        given.append(len(matrices))
        return solve(matrices, right)

    monkeypatch.setattr(module, "_MATRIX_ENTRIES", entries)
    monkeypatch.setattr(module.np.linalg, "solve", note)
    assert np.array_equal(cmdp.evaluate(policies), expected)
    assert given == {1: [1] * 7, 3 * 40**2: [3, 3, 1], 2**30: [7]}[entries]


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_a_long_simulation_of_the_distribution(seed):
    """Sum of gamma^t times the expected reward of step t, no linear algebra."""
    cmdp = random_process(seed, 4, 3, 0.8)
    policy = random_policies(seed, cmdp)
    state, v_r, v_g = cmdp.initial, 0.0, 0.0
    for t in range(200):
        step = 0.8**t * state[:, None] * policy
        v_r, v_g = v_r + (step * cmdp.reward).sum(), v_g + (step * cmdp.utility).sum()
        state = state @ induced(cmdp, policy)
    assert cmdp.evaluate(policy) == pytest.approx((v_r, v_g), rel=1e-12)


@pytest.mark.parametrize(("states", "actions"), SIZES)
def test_state_and_action_values_satisfy_bellman(states, actions):
    cmdp = random_process(7, states, actions, 0.9)
    policy = random_policies(7, cmdp)
    signal = cmdp.reward + 0.7 * cmdp.utility
    v, q = cmdp.state_values(policy, signal), cmdp.action_values(policy, signal)
    np.testing.assert_allclose(v, state_values(cmdp, policy, signal), rtol=1e-12)
    np.testing.assert_allclose((policy * q).sum(1), v, rtol=1e-12)
    for s in range(states):
        for a in range(actions):
            expected = signal[s, a] + 0.9 * cmdp.transition[s, a] @ v
            assert q[s, a] == pytest.approx(expected, rel=1e-12)
    v_r, v_g = cmdp.evaluate(policy)
    assert cmdp.initial @ v == pytest.approx(v_r + 0.7 * v_g, rel=1e-12)


@pytest.mark.parametrize(("states", "actions"), SIZES)
@pytest.mark.parametrize("discount", [0.0, 0.9])
def test_occupancy_satisfies_the_flow_equations(states, actions, discount):
    cmdp = random_process(8, states, actions, discount)
    policy = random_policies(8, cmdp)
    q = cmdp.state_occupancy(policy)
    assert (q >= 0).all()
    assert q.sum() == pytest.approx(1 / (1 - discount), rel=1e-12)
    inflow = cmdp.initial + discount * q @ induced(cmdp, policy)
    np.testing.assert_allclose(q, inflow, rtol=1e-12)


@pytest.mark.parametrize(("states", "actions"), SIZES)
def test_advantages_average_to_zero_under_their_policy(states, actions):
    cmdp = random_process(9, states, actions, 0.9)
    policies = random_policies(9, cmdp, 3)
    advantages = cmdp.advantages(policies, cmdp.utility)
    np.testing.assert_allclose((policies * advantages).sum(-1), 0, atol=1e-13 / (1 - 0.9))


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", ["reward", "utility"])
def test_performance_difference_lemma(seed, name):
    cmdp = random_process(seed, 5, 3, 0.9)
    old, new = random_policies(seed, cmdp, 2)
    signal = getattr(cmdp, name)
    which = ("reward", "utility").index(name)
    difference = cmdp.evaluate(new)[which] - cmdp.evaluate(old)[which]
    visits = cmdp.state_occupancy(new)[:, None] * new
    expected = (visits * cmdp.advantages(old, signal)).sum()
    assert difference == pytest.approx(expected, abs=1e-13 * cmdp.value_bound)


# Batches.


@pytest.mark.usefixtures("solver")
@pytest.mark.parametrize("batch", [(), (1,), (15,), (16,), (17,), (2, 3), (0,), (2, 0), (33,)])
def test_batch_shape_is_kept_and_no_policy_notices_the_others(batch):
    cmdp = random_process(10, 5, 3, 0.9)
    policies = random_policies(11, cmdp, *batch)
    values = cmdp.evaluate(policies)
    assert [np.shape(value) for value in values] == [batch, batch]
    assert cmdp.state_occupancy(policies).shape == (*batch, 5)
    assert cmdp.state_values(policies, cmdp.reward).shape == (*batch, 5)
    assert cmdp.action_values(policies, cmdp.reward).shape == (*batch, 5, 3)
    for index in np.ndindex(batch):
        alone = cmdp.evaluate(policies[index])
        assert [value[index] for value in values] == list(alone)  # bit for bit


def test_no_policy_notices_the_others_in_a_large_cmdp():
    cmdp = random_process(12, 40, 3, 0.9)
    policies = random_policies(12, cmdp, 21)
    values = np.stack(cmdp.evaluate(policies))
    for k, policy in enumerate(policies):
        assert (values[:, k] == cmdp.evaluate(policy)).all()
        assert (values[:, k:] == cmdp.evaluate(policies[k:])).all()


@pytest.mark.usefixtures("solver")
def test_values_of_extreme_policies_stay_in_bounds():
    cmdp = random_process(13, 4, 3, 0.99)
    cmdp = dataclasses.replace(cmdp, reward=np.ones((4, 3)), utility=np.zeros((4, 3)))
    v_r, v_g = cmdp.evaluate(np.eye(3)[[0, 1, 2, 0]])
    assert v_r == pytest.approx(cmdp.value_bound, rel=1e-12)
    assert v_g == 0


# Refusals: the message names argument and index.

GOOD = {
    "transition": np.full((2, 3, 2), 0.5),
    "reward": np.full((2, 3), 0.5),
    "utility": np.full((2, 3), 0.5),
    "initial": np.full(2, 0.5),
    "discount": 0.9,
    "threshold": 0.1,
    "scale": 1.0,
}


def changed(name, index, value):
    array = GOOD[name].copy()
    array[index] = value
    return array


BAD = [
    ("transition", np.full((2, 3), 0.5), "dimensions"),
    ("transition", np.full((2, 3, 3), 1 / 3), r"\(S, A, S\)"),
    ("transition", np.empty((0, 3, 0)), "at least one"),
    ("transition", np.empty((2, 0, 2)), "at least one"),
    ("transition", [], "dimensions"),
    ("transition", "chain", "numbers"),
    ("transition", None, "numbers"),
    ("transition", [[[0.5, 0.5], [1]]], "numbers"),
    ("transition", changed("transition", (1, 2, 0), np.nan), r"nan at \(1, 2, 0\)"),
    ("transition", changed("transition", (1, 0, 1), np.inf), r"inf at \(1, 0, 1\)"),
    ("transition", changed("transition", (1, 2), [-0.25, 1.25]), r"-0.25 at \(1, 2, 0\)"),
    ("transition", changed("transition", (0, 1, 1), 0.5 + 1e-8), r"at \(0, 1\) sum to 1.0"),
    ("transition", changed("transition", (1, 1), [0.5, 0.4]), r"at \(1, 1\) sum to 0.9"),
    ("initial", np.full(3, 1 / 3), r"\(2,\)"),
    ("initial", np.full((1, 2), 0.5), "dimensions"),
    ("initial", [0.5, 0.6], "sum to 1.1"),
    ("initial", [1.5, -0.5], r"-0.5 at \(1,\)"),
    ("initial", [np.nan, 1], r"nan at \(0,\)"),
    ("initial", "uniform", "numbers"),
    *[
        bad
        for name in ("reward", "utility")
        for bad in [
            (name, np.full((3, 2), 0.5), r"\(2, 3\)"),
            (name, np.full(6, 0.5), "dimensions"),
            (name, changed(name, (1, 2), 1.5), r"1.5 at \(1, 2\) is not in \[0, 1.0\]"),
            (name, changed(name, (0, 1), -0.1), r"-0.1 at \(0, 1\)"),
            (name, changed(name, (1, 0), np.nan), r"nan at \(1, 0\)"),
            (name, changed(name, (1, 0), -np.inf), r"-inf at \(1, 0\)"),
            (name, {"a": 1}, "numbers|dimensions"),
            (name, np.zeros((2, 3), "m8[s]"), "an array of numbers"),
            (name, np.zeros((2, 3), "M8[s]"), "an array of numbers"),
        ]
    ],
    ("discount", 1, "gamma"),
    ("discount", 1.5, "gamma"),
    ("discount", -0.1, "gamma"),
    ("discount", np.nan, "finite"),
    ("discount", "high", "number"),
    ("discount", None, "number"),
    ("threshold", np.inf, "finite"),
    ("threshold", "safe", "number"),
    ("threshold", [0.1, 0.2], "number"),
    ("scale", 0, "positive"),
    ("scale", -1, "positive"),
    ("scale", np.nan, "finite"),
    ("scale", "unit", "number"),
    ("scale", 1.7e308, "the largest value: a finite number expected, got inf"),
]


@pytest.mark.parametrize(("name", "value", "reason"), BAD)
def test_bad_part_is_named(name, value, reason):
    with pytest.raises(ValueError, match=rf"^{name}\b.*({reason})"):
        CMDP(**{**GOOD, name: value})


@pytest.mark.parametrize("name", ["reward", "utility"])
def test_signals_may_reach_the_scale_and_no_further(name):
    CMDP(**{**GOOD, "scale": 0.5})
    with pytest.raises(ValueError, match=rf"^{name}: 0.6 at \(0, 2\) is not in \[0, 0.5\]"):
        CMDP(**{**GOOD, name: changed(name, (0, 2), 0.6), "scale": 0.5})


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        (np.full((3, 2), 0.5), r"\(\.\.\., 2, 3\)"),
        (np.full(6, 0.5), "shape"),
        (0.5, "shape"),
        ("uniform", "numbers"),
        ([[0.5, 0.5], [1]], "numbers"),
        (None, "numbers|shape"),
        ([[0.2, 0.3, 0.5], [0.2, 0.3, 0.4]], r"at \(1,\) sum to 0.9"),
        ([[0.2, 0.3, 0.5], [1.2, -0.2, 0.0]], r"-0.2 at \(1, 1\)"),
        ([[np.nan, 0.5, 0.5], [1, 0, 0]], r"nan at \(0, 0\)"),
        ([[np.inf, 0, 0], [1, 0, 0]], r"at \(0,\) sum to inf"),
        (np.full((4, 2, 3), 0.3), r"at \(0, 0\) sum to 0.89"),
    ],
)
@pytest.mark.parametrize("method", ["evaluate", "state_occupancy"])
def test_bad_policy_is_named(policy, reason, method):
    with pytest.raises(ValueError, match=f"^policy: .*({reason})"):
        getattr(CMDP(**GOOD), method)(policy)


def test_cmdp_keeps_copies_that_nobody_can_change():
    parts = {name: np.array(value) for name, value in GOOD.items()}
    cmdp = CMDP(**parts)
    for name in ("transition", "reward", "utility", "initial"):
        parts[name][:] = 7
        assert (getattr(cmdp, name) == GOOD[name]).all()
        with pytest.raises(ValueError, match="read-only"):
            getattr(cmdp, name)[0] = 7
    with pytest.raises(dataclasses.FrozenInstanceError):
        cmdp.discount = 0.5


def test_copies_are_read_only_too():
    cmdp = random_process(0, 3, 2, 0.9)
    for other in (copy.deepcopy(cmdp), pickle.loads(pickle.dumps(cmdp))):
        for name in ("transition", "reward", "utility", "initial"):
            assert (getattr(other, name) == getattr(cmdp, name)).all()
            assert not getattr(other, name).flags.writeable
        assert (other.discount, other.threshold) == (cmdp.discount, cmdp.threshold)


def test_rounding_of_probabilities_is_forgiven():
    """Sums may be off by 1e-9, as in files with ten digits; the case of 1e-8 is refused above."""
    CMDP(**{**GOOD, "transition": changed("transition", (0, 1, 1), 0.5 + 9e-10)})
    CMDP(**{**GOOD, "initial": [0.5, 0.5 - 9e-10]})


def test_single_precision_is_rounding_too():
    """Networks and simulators give float32, whose rows sum to one within 1e-7 only."""
    exact = random_process(0, 5, 3, 0.9)
    policy = np.random.default_rng(1).dirichlet(np.ones(3), (2, 5))
    coarse = policy.astype(np.float32)
    assert (abs(coarse.astype(float).sum(-1) - 1) > 1e-9).any()
    rows = exact.check_policy(coarse)
    np.testing.assert_allclose(rows.sum(-1), 1, rtol=0, atol=1e-15)
    np.testing.assert_allclose(exact.evaluate(coarse), exact.evaluate(policy), rtol=1e-6)
    parts = {
        name: getattr(exact, name).astype(np.float32)
        for name in ("transition", "initial", "reward", "utility")
    }
    values = dataclasses.replace(exact, **parts).evaluate(policy)
    np.testing.assert_allclose(values, exact.evaluate(policy), rtol=1e-5)
    coarse[1, 4, 0] += 1e-5
    with pytest.raises(ValueError, match=r"^policy: probabilities at \(1, 4\) sum to 1\.0000"):
        exact.check_policy(coarse)
    with pytest.raises(ValueError, match=r"^policy: probabilities at .* sum to "):
        exact.check_policy(policy.astype(np.float32).astype(np.float64))  # no longer excused


def test_what_single_precision_puts_below_zero_is_put_there():
    row = np.array([1.0, -1e-8], np.float32)
    cmdp = CMDP(**{**GOOD, "initial": row, "transition": np.tile(row, (2, 3, 1))})
    assert cmdp.initial.tolist() == [1.0, 0.0]
    assert (cmdp.transition == [1.0, 0.0]).all()
    with pytest.raises(ValueError, match=r"^initial: probability -\S+ at \(1,\) is negative"):
        CMDP(**{**GOOD, "initial": np.array([1.0, -1e-6], np.float32)})


def test_what_rounding_puts_beyond_an_end_is_put_there():
    """Nothing farther than 1e-12 of the scale is, and valid numbers keep their bits."""
    scale = 1 - 0.9  # a little less than 0.1
    arrays = {name: np.full((2, 3), scale / 2) for name in ("reward", "utility")}
    arrays["reward"][0] = [0.1, -1e-17, -0.0]
    cmdp = CMDP(**{**GOOD, **arrays, "scale": scale})
    assert cmdp.reward[0].tobytes() == np.array([scale, 0.0, -0.0]).tobytes()
    row = [[[1.0, -1e-17]] * 3, [[1 + 1e-12, 0.0]] * 3]
    cmdp = CMDP(**{**GOOD, "transition": row, "initial": [1.0, -1e-13]})
    assert cmdp.transition[:, 0].tolist() == [[1.0, 0.0], [1 + 1e-12, 0.0]]
    assert cmdp.initial.tolist() == [1.0, 0.0]
    rounded, exact = [[1.0, -1e-17, 0.0]] * 2, [[1.0, 0.0, 0.0]] * 2
    assert cmdp.evaluate(rounded) == cmdp.evaluate(exact)
    assert cmdp.check_policy(rounded).tolist() == exact
    for name, index, value in (
        ("reward", (0, 1), 1 + 2e-12),
        ("utility", (0, 1), -2e-12),
        ("initial", 1, -2e-12),
        ("transition", (0, 1), [-2e-12, 1 + 2e-12]),
    ):
        with pytest.raises(ValueError, match=f"^{name}: "):
            CMDP(**{**GOOD, name: changed(name, index, value)})


def test_signals_of_single_precision_may_reach_the_scale():
    largest = np.array([[0.1, 0.0]], np.float32)
    cmdp = CMDP([[[1.0], [1.0]]], largest, [[0.0, 0.1]], [1.0], 0.9, 0.5, scale=0.1)
    assert cmdp.reward.tolist() == [[0.1, 0.0]]
    with pytest.raises(ValueError, match=r"^reward: 0\.1000000\d+ at \(0, 0\) is not in"):
        CMDP([[[1.0], [1.0]]], largest.astype(float), [[0, 0.1]], [1.0], 0.9, 0.5, scale=0.1)


@pytest.mark.parametrize(
    ("initial", "reason"), [(1.0, "1 dimensions expected, got 0"), (["1.0"], "an array of numbers")]
)
def test_number_or_string_is_no_distribution(initial, reason):
    with pytest.raises(ValueError, match=f"^initial: {reason}"):
        CMDP([[[1.0]]], [[1.0]], [[1.0]], initial, 0.9, 0.5)


def test_lists_and_integers_will_do():
    cmdp = CMDP([[[1], [1]]], [[0, 1]], [[1, 0]], [1], 0, 0)
    assert cmdp.evaluate([[0, 1]]) == (1.0, 0.0)
    assert (cmdp.states, cmdp.actions) == (1, 2)


# Files.


def test_saved_cmdp_comes_back_unchanged(tmp_path):
    cmdp = random_process(14, 4, 3, 0.7, 0.31, scale=0.3)
    path = tmp_path / "cmdp.npz"
    cmdp.save(path)
    again = CMDP.load(path)
    for field in dataclasses.fields(CMDP):
        ours, theirs = getattr(cmdp, field.name), getattr(again, field.name)
        assert np.array_equal(ours, theirs), field.name
        assert type(ours) is type(theirs)


@pytest.mark.parametrize("name", ["cmdp", "cmdp.npy", "cmdp.npz.old"])
def test_name_that_numpy_would_change_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ValueError, match=rf"^path: a name that ends in \.npz expected, got '{name}'$"
    ):
        random_process(14, 4, 3, 0.7, 0.31).save(name)
    assert not list(tmp_path.iterdir())


def test_scale_may_be_missing_from_a_file(tmp_path):
    np.savez(tmp_path / "p.npz", **{name: GOOD[name] for name in GOOD if name != "scale"})
    assert CMDP.load(tmp_path / "p.npz").scale == 1.0


@pytest.mark.parametrize("name", [name for name in GOOD if name != "scale"])
def test_missing_array_is_named(tmp_path, name):
    np.savez(tmp_path / "p.npz", **{other: GOOD[other] for other in GOOD if other != name})
    with pytest.raises(ValueError, match=rf"p\.npz: missing array '{name}'"):
        CMDP.load(tmp_path / "p.npz")


def test_unknown_array_is_named(tmp_path):
    np.savez(tmp_path / "p.npz", **GOOD, gamma=0.9)
    with pytest.raises(ValueError, match=r"p\.npz: unknown array 'gamma'"):
        CMDP.load(tmp_path / "p.npz")


def test_bad_array_in_a_file_is_named(tmp_path):
    np.savez(tmp_path / "p.npz", **{**GOOD, "discount": 1.0})
    with pytest.raises(ValueError, match=r"p\.npz: discount: 0 <= gamma < 1"):
        CMDP.load(tmp_path / "p.npz")


class _Trap:
    """Leaves a trace if it is ever unpickled."""

    sprung = False

    def __reduce__(self):
        return (_spring, ())


def _spring():
    _Trap.sprung = True


def test_pickled_array_is_never_executed(tmp_path):
    np.savez(tmp_path / "p.npz", **{**GOOD, "threshold": np.array(_Trap(), dtype=object)})
    with pytest.raises(ValueError, match=r"p\.npz: not a NumPy archive"):
        CMDP.load(tmp_path / "p.npz")
    assert not _Trap.sprung


def test_pipe_is_refused_where_reading_it_would_wait_for_ever(tmp_path):
    os.mkfifo(tmp_path / "p.npz")
    with pytest.raises(ValueError, match=r"p\.npz: a pipe; a NumPy archive \(\.npz\) of plain"):
        CMDP.load(tmp_path / "p.npz")


def test_tensor_that_keeps_gradients_is_no_array_of_numbers():
    class Tensor:
        def __array__(self, *_, **__):
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")

    with pytest.raises(ValueError, match=r"^policy: an array of numbers expected$"):
        CMDP(**GOOD).evaluate(Tensor())


def write_truncated(path):
    np.savez(path, **GOOD)
    path.write_bytes(path.read_bytes()[:-200])


def write_damaged(path):
    np.savez(path, **GOOD)
    content = bytearray(path.read_bytes())
    content[200] ^= 0xFF  # inside the first array: the check sum is wrong
    path.write_bytes(content)


def write_other_members(path):
    with zipfile.ZipFile(path, "w") as archive:
        for name in GOOD:
            archive.writestr(name, "0.5")


def write_single_array(path):
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_text("transition: [[[1.0]]]\n"),
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"PK\x03\x04 no archive"),
        lambda path: None,  # no file at all
        lambda path: path.mkdir(),
        write_truncated,
        write_damaged,
        write_other_members,
        write_single_array,
    ],
    ids=["text", "empty", "zip", "none", "folder", "truncated", "damaged", "members", "array"],
)
def test_file_that_is_no_archive_of_arrays_is_refused(tmp_path, write):
    write(tmp_path / "p.npz")
    with pytest.raises(ValueError, match=r"p\.npz: "):
        CMDP.load(tmp_path / "p.npz")


def test_cmdp_is_shown_on_one_line():
    cmdp = CMDP(**GOOD)
    assert str(cmdp) == "<CMDP: |S| = 2, |A| = 3, discount 0.9, threshold 0.1, values in [0, 10]>"
    large = random_process(1, 50, 20, 0.9)
    assert len(repr(large)) < 100
    assert "\n" not in repr(large)
