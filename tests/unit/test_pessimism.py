"""The cone program against the linear one, against plain search, and on a bandit that needs it."""

import sys

import numpy as np
import pytest
from reference import deterministic_policies, random_process

from pgpd_hf import CMDP, LINKS, solve
from pgpd_hf.core.likelihood import fit, information
from pgpd_hf.core.optima import best_for, maximize
from pgpd_hf.core.pessimism import pessimistic


def known(cmdp, factor=1.0):
    """Information of two signals: unequal in all directions."""
    random = np.random.default_rng(8)
    root = random.normal(size=(2, cmdp.states * cmdp.actions, cmdp.states * cmdp.actions))
    return factor * (root @ root.transpose(0, 2, 1) + np.eye(root.shape[1]))


def bandit(threshold=-1.0):
    """Four arms, one state, no time."""
    return CMDP(np.ones((1, 4, 1)), np.full((1, 4), 0.5), np.ones((1, 4)), [1.0], 0.0, threshold)


@pytest.mark.parametrize("seed", range(3))
def test_without_pessimism_it_is_the_linear_program(seed):
    cmdp = random_process(seed, 3, 2, 0.7, threshold=1.0)
    optimum = solve(cmdp)
    parts = known(cmdp)
    policy, multiplier = pessimistic(
        cmdp, (cmdp.reward, parts[0]), (cmdp.utility, parts[1]), 0.0, 0.0, np.ones((3, 2))
    )
    values = cmdp.evaluate(policy)
    assert values[0] == pytest.approx(optimum.reward_value, abs=1e-6)
    assert values[1] >= cmdp.threshold - 1e-6
    assert multiplier == pytest.approx(optimum.multiplier, abs=1e-4)


def test_it_maximises_what_it_says():
    """No mixture of deterministic policies is better, and the constraint holds."""
    cmdp = random_process(4, 2, 2, 0.5, threshold=0.7)
    parts, pessimism, margin = known(cmdp, 30.0), 0.8, 0.5
    reference = np.array([[0.4, 0.6], [0.5, 0.5]])
    policy, _ = pessimistic(
        cmdp, (cmdp.reward, parts[0]), (cmdp.utility, parts[1]), pessimism, margin, reference
    )
    center = (reference / reference.sum()).ravel() / (1 - cmdp.discount)
    covariances = [np.linalg.inv(part) for part in parts]

    def judge(occupancy):
        away = occupancy - center
        norms = (
            np.sqrt(np.einsum("...i,ij,...j", x, covariance, x))
            for x, covariance in zip((away, occupancy), covariances, strict=True)
        )
        first, second = norms
        objective = occupancy @ cmdp.reward.ravel() - pessimism * first
        return objective, occupancy @ cmdp.utility.ravel() - margin * second

    def occupancy_of(policies):
        return (cmdp.state_occupancy(policies)[..., None] * policies).reshape(
            *policies.shape[:-2], -1
        )

    corners = occupancy_of(deterministic_policies(cmdp))
    weights = np.random.default_rng(5).dirichlet(np.full(len(corners), 0.5), 20000)
    objectives, utilities = judge(weights @ corners)
    best = objectives[utilities >= cmdp.threshold].max()
    objective, utility = judge(occupancy_of(policy))
    assert utility >= cmdp.threshold - 1e-6
    assert best - 1e-6 <= objective <= best + 0.02


def test_a_constant_in_all_rewards_changes_nothing():
    """Although nothing but the prior says anything about it."""
    cmdp = random_process(6, 3, 2, 0.6, threshold=0.2)
    ones, parts = np.ones(6), known(cmdp)
    comparisons = parts[0] - np.outer(parts[0] @ ones, parts[0] @ ones) / (ones @ parts[0] @ ones)
    policies = [
        pessimistic(
            cmdp,
            (cmdp.reward + shift, comparisons + ridge * np.outer(ones, ones)),
            (cmdp.utility, parts[1]),
            1.0,
            0.0,
            np.ones((3, 2)),
        )[0]
        for shift, ridge in ((0.0, 1.0), (0.3, 1e-4))
    ]
    np.testing.assert_allclose(policies[0], policies[1], atol=1e-3)


def test_where_nothing_seems_safe_it_is_as_safe_as_possible():
    cmdp = random_process(7, 3, 2, 0.6, threshold=5.0)
    large = 1e8 * np.eye(6)
    policy, multiplier = pessimistic(
        cmdp, (cmdp.reward, large), (cmdp.utility, large), 1.0, 1.0, np.ones((3, 2))
    )
    assert multiplier == np.inf
    np.testing.assert_allclose(policy, maximize(cmdp, cmdp.utility), atol=1e-3)
    assert best_for(cmdp, cmdp.reward, cmdp.utility) is None


def test_missing_solver_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "clarabel", None)
    estimate = (np.full((1, 4), 0.5), np.eye(4))
    with pytest.raises(ValueError, match="Clarabel is not installed; pip install 'clarabel"):
        pessimistic(bandit(), estimate, estimate, 1.0, 1.0, np.eye(4)[[1]])


@pytest.mark.parametrize("count", [1000, 10_000])
def test_bandit_with_an_arm_that_was_compared_once(count):
    """A variant of the bandit of Zhu, Jordan and Jiao (2023), Theorem 3.9: greedy fails for all n.

    Two arms are compared n - 1 times, and each of two others once with one of them. A single lucky
    vote puts a bad arm on top of the estimate, with a probability that does not fall with n.
    """
    reward = np.array([0.9, 0.5, 0.1, 0.1])
    features = np.array([[1, -1, 0, 0], [0, -1, 1, 0], [0, -1, 0, 1]], float)
    weights, cmdp, link = np.array([count - 1.0, 1, 1]), bandit(), LINKS["logistic"]
    chance = 1 / (1 + np.exp(-features @ reward))
    random, losses = np.random.default_rng(9), []
    for _ in range(100):
        shares = random.binomial(weights.astype(int), chance) / weights
        zeros, ridge = np.zeros(3), 0.1
        found = fit(features, zeros, shares, weights, link, ridge, np.full(4, 0.5))
        known = information(features, zeros, weights, link, found, ridge)
        greedy = best_for(cmdp, found[None], cmdp.utility)[0]
        careful, _ = pessimistic(
            cmdp, (found[None], known), (cmdp.utility, np.eye(4)), 2.0, 0.0, np.eye(4)[[1]]
        )
        losses.append([0.9 - policy[0] @ reward for policy in (greedy, careful)])
    greedy, careful = np.mean(losses, axis=0)
    assert greedy > 0.3
    assert careful < 0.02


def test_solver_that_does_not_converge_is_named(monkeypatch):
    clarabel = pytest.importorskip("clarabel")

    def hurried():
        settings = real()
        settings.max_iter = 1
        return settings

    real = clarabel.DefaultSettings
    monkeypatch.setattr(clarabel, "DefaultSettings", hurried)
    cmdp = random_process(4, 2, 2, 0.5, threshold=0.7)
    parts = known(cmdp)
    with pytest.raises(ValueError, match=r"^pessimism: the cone program ended with MaxIterations$"):
        pessimistic(
            cmdp, (cmdp.reward, parts[0]), (cmdp.utility, parts[1]), 1.0, 1.0, np.ones((2, 2))
        )
