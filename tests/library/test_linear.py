"""Features: of CMDPs, of random environments, and the three methods that use them."""

from dataclasses import replace

import numpy as np
import pytest
from chance import assert_mean
from preparing import prepare, randomness
from reference import random_policies, random_process, truncated_moments

from pgpd_hf import CMDP, random_cmdp
from pgpd_hf.algorithms.linear_npgpd_hf import core_pairs

LINEAR = random_cmdp(states=6, actions=3, instance=2, features=4, threshold="midway")


def one_hot(cmdp):
    pairs = cmdp.states * cmdp.actions
    return replace(cmdp, features=np.eye(pairs).reshape(cmdp.states, cmdp.actions, pairs))


# CMDPs.


@pytest.mark.parametrize("instance", range(3))
def test_everything_of_a_linear_environment_is_linear_in_its_features(instance):
    cmdp = random_cmdp(states=6, actions=3, instance=instance, features=4)
    features = cmdp.feature_matrix
    policies = random_policies(instance, cmdp, 5)
    values = [cmdp.action_values(policies, it).reshape(5, -1) for it in (cmdp.reward, cmdp.utility)]
    parts = [cmdp.transition.reshape(18, -1), cmdp.reward.reshape(18, 1), *(it.T for it in values)]
    for part in parts:
        weights, *_ = np.linalg.lstsq(features, part)
        np.testing.assert_allclose(features @ weights, part, rtol=0, atol=1e-13)
    assert (features[:4] == np.eye(4)).all()
    assert features[4:].max() < 1


def test_features_do_not_change_other_environments():
    assert random_cmdp(6, 3).features is None
    assert (random_cmdp(6, 3).feature_matrix == np.eye(18)).all()
    assert (random_cmdp(6, 3, features=18).reward == random_cmdp(6, 3).reward).all()


def test_features_are_saved_and_read_only(tmp_path):
    LINEAR.save(tmp_path / "linear.npz")
    assert (CMDP.load(tmp_path / "linear.npz").features == LINEAR.features).all()
    with pytest.raises(ValueError, match="read-only"):
        LINEAR.features[0] = 0
    random_cmdp().save(tmp_path / "plain.npz")
    with np.load(tmp_path / "plain.npz") as archive:
        assert "features" not in archive.files


def test_features_of_single_precision_are_accepted():
    found = replace(LINEAR, features=LINEAR.features.astype(np.float32)).features
    np.testing.assert_allclose(found, LINEAR.features, rtol=0, atol=1e-7)
    np.testing.assert_allclose(found.sum(axis=-1), 1, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.full((3, 2, 2), 0.5), "features: 2 that span their space expected, got rank 1"),
        (np.eye(3), "features: 3 dimensions expected, got 2"),
        (np.ones((2, 3, 1)), r"features: shape \(3, 2, d\) expected, got \(2, 3, 1\)"),
        (np.ones((3, 2, 2)), r"features: probabilities at \(0, 0\) sum to 2.0, not to 1"),
        (np.zeros((3, 2, 0)), r"features: probabilities at \(0, 0\) sum to 0.0, not to 1"),
        (np.full((3, 2, 2), np.nan), "features: nan at"),
        ("phi", "features: an array of numbers expected"),
    ],
)
def test_features_that_identify_nothing_are_refused_in_one_line(features, message):
    with pytest.raises(ValueError, match=f"^{message}") as error:
        replace(random_process(1), features=features)
    assert "\n" not in str(error.value)


# NPGPD-HF.


@pytest.mark.parametrize("instance", range(3))
def test_core_determines_all_values(instance):
    cmdp = random_cmdp(states=6, actions=3, instance=instance, features=4)
    random = np.random.default_rng(instance)
    mixed = random.dirichlet(np.ones(4), 4)  # no pair is an anchor any more
    features = cmdp.feature_matrix @ mixed
    core = core_pairs(features)
    assert len(set(core)) == 4
    values = features @ random.random(4)
    found = features @ np.linalg.inv(features[core]) @ (values[core] - 0.3)
    np.testing.assert_allclose(found, values - 0.3, rtol=0, atol=1e-10)


@pytest.mark.parametrize("rounds", [4, 8])
def test_exact_answers_give_differences_of_rewards(rounds):
    """Trajectories of one step from one state leave nothing to chance but the core's order."""
    cmdp = replace(LINEAR, initial=np.eye(6)[1])
    algorithm = prepare("linear_npgpd_hf", cmdp, evaluators=None, horizon=0, rounds=rounds)
    theta = np.zeros((6, 3))
    theta[:, 2] = 1000  # the policy takes action 2
    words, _ = randomness(algorithm, rounds, 5)
    for row in words:
        found, excess = algorithm.estimate(theta, row, np.empty(0))
        for estimate, signal in zip(found, (cmdp.reward, cmdp.utility), strict=True):
            np.testing.assert_allclose(estimate, signal - signal[1, 2], rtol=0, atol=1e-15)
        assert excess == pytest.approx(cmdp.utility[1, 2] - cmdp.threshold)


@pytest.mark.parametrize("rounds", [1, 3, 4])
def test_mean_estimates_are_action_values_up_to_a_constant(rounds):
    algorithm = prepare("linear_npgpd_hf", LINEAR, evaluators=None, horizon=3, rounds=rounds)
    theta = np.random.default_rng(3).normal(size=(6, 3))
    words, _ = randomness(algorithm, rounds, 20_000)
    found = [algorithm.estimate(theta, row, np.empty(0)) for row in words]
    policy = algorithm.policy(theta)
    values, _ = truncated_moments(LINEAR, policy, 3)  # (S, A, 2)
    start = np.einsum("s,sa,sai->i", LINEAR.initial, policy, values)
    directions = np.array([directions for directions, _ in found])
    for i in range(2):
        for s, a in ((0, 0), (3, 1), (5, 2)):
            assert_mean(directions[:, i, s, a], values[s, a, i] - start[i])
    assert_mean(np.array([excess for _, excess in found]), start[1] - LINEAR.threshold)


# ZPGPD-HF and Safe RLHF.


def test_with_a_feature_for_each_pair_the_zeroth_order_method_is_the_tabular_one():
    cmdp = random_process(1, threshold=0.3)
    options = {"parameterization": "softmax", "evaluators": 16, "rounds": 2}
    tabular = prepare("zpgpd_hf", cmdp, **options)
    words, normals = randomness(tabular, 1, 50)
    expected = tabular.advance(tabular.initial_state(), words, normals)
    for same in (cmdp, one_hot(cmdp)):
        linear = prepare("linear_zpgpd_hf", same, **options)
        found = linear.advance(linear.initial_state(), words, normals)
        assert np.abs(np.diff(found[0], axis=0)).max() > 1e-3
        np.testing.assert_allclose(found[0], expected[0], rtol=0, atol=1e-12)
        np.testing.assert_allclose(found[1], expected[1], rtol=0, atol=1e-12)


def test_directions_and_policies_stay_in_the_space_of_the_features():
    run = prepare("linear_zpgpd_hf", LINEAR)
    assert run.normals_per_iteration == run.perturbation.dimension == 4
    words, normals = randomness(run, 1, 20)
    *_, last = run.advance(run.initial_state(), words, normals)
    table, features = last.theta.ravel(), LINEAR.feature_matrix
    weights, *_ = np.linalg.lstsq(features, table)
    assert np.ptp(table) > 0.01
    np.testing.assert_allclose(features @ weights, table, rtol=0, atol=1e-12)
    found = run.algorithm._direction(run, normals[0]).ravel()
    weights, *_ = np.linalg.lstsq(features, found)
    assert np.linalg.norm(weights) == pytest.approx(1)


def test_with_a_feature_for_each_pair_safe_rlhf_is_the_tabular_one():
    cmdp = random_process(2, threshold=0.6)
    options = {"evaluators": 4, "rounds": 40, "design": "deterministic"}
    tabular, linear = (
        prepare(f"{it}safe_rlhf", one_hot(cmdp), **options) for it in ("", "linear_")
    )
    words, normals = randomness(tabular, 2, 1)
    expected, found = (it.advance(it.initial_state(), words, normals) for it in (tabular, linear))
    assert np.ptp(found[2].reward) > 0.1
    for name in ("theta", "multiplier", "reward", "utility"):
        assert np.array_equal(getattr(found[2], name), getattr(expected[2], name))


def test_features_find_rewards_with_fewer_answers():
    """With few pairs of trajectories, whose visits to single pairs say little."""
    errors = []
    for name in ("safe_rlhf", "linear_safe_rlhf"):
        run = prepare(name, LINEAR, evaluators=None, rounds=200, horizon=20, ridge=1e-3)
        *_, last = run.advance(run.initial_state(), *randomness(run, 3, 1))
        error = last.reward - LINEAR.reward
        errors.append(np.ptp(error))
    assert np.linalg.lstsq(LINEAR.feature_matrix, last.reward.ravel())[1][0] < 1e-20
    assert errors[1] < errors[0] / 2
