"""The exact quantities agree with enumeration, finite differences and the definitions."""

import itertools

import numpy as np
import pytest

from pgpd_hf import CMDP, LINKS, random_cmdp
from pgpd_hf.core.evaluators import ask, make_evaluators
from replication.theory import exact


@pytest.fixture(scope="module")
def cmdp():
    return random_cmdp(states=2, actions=2, instance=3, discount=0.7, threshold=0.3)


@pytest.fixture(scope="module")
def policy():
    return np.array([[0.3, 0.7], [0.8, 0.2]])


def enumerate_returns(cmdp, policy, signal, horizon, state, action=None):
    """Return every trajectory's probability and return."""
    pairs = []
    steps = horizon + 1
    for actions in itertools.product(range(cmdp.actions), repeat=steps):
        if action is not None and actions[0] != action:
            continue
        for later in itertools.product(range(cmdp.states), repeat=steps - 1):
            states = (state, *later)
            chance = 1.0 if action is not None else policy[state, actions[0]]
            total = signal[state, actions[0]]
            for t in range(1, steps):
                chance *= cmdp.transition[states[t - 1], actions[t - 1], states[t]]
                chance *= policy[states[t], actions[t]]
                total += cmdp.discount**t * signal[states[t], actions[t]]
            pairs.append((chance, total))
    return np.array(pairs).T


@pytest.mark.parametrize("horizon", [0, 1, 3])
def test_recursions_agree_with_enumerating_all_trajectories(cmdp, policy, horizon):
    values, action_values = exact.finite_horizon_values(cmdp, policy, cmdp.utility, horizon)
    mean, second = exact.return_moments(cmdp, policy, cmdp.utility, horizon)
    for s in range(2):
        chance, returns = enumerate_returns(cmdp, policy, cmdp.utility, horizon, s)
        assert chance.sum() == pytest.approx(1)
        assert values[s] == pytest.approx(chance @ returns)
        assert mean[s] == pytest.approx(chance @ returns)
        assert second[s] == pytest.approx(chance @ returns**2)
        for a in range(2):
            chance, returns = enumerate_returns(cmdp, policy, cmdp.utility, horizon, s, a)
            assert action_values[s, a] == pytest.approx(chance @ returns)


def test_recursions_take_batches(cmdp, policy):
    batch = np.stack([policy, policy[::-1]])
    values, action_values = exact.finite_horizon_values(cmdp, batch, cmdp.reward, 5)
    alone = exact.finite_horizon_values(cmdp, batch[1], cmdp.reward, 5)
    np.testing.assert_allclose(values[1], alone[0])
    np.testing.assert_allclose(action_values[1], alone[1])


def test_one_evaluator_errs_as_computed_by_hand():
    # One vote moves the answer to an end of the range: +B with probability sigma(Delta).
    bound, difference = 0.8, 0.3
    favour = 1 / (1 + np.exp(-difference))
    error = exact.feedback_error([difference], 1, LINKS["logistic"], bound)
    up, down = bound - difference, -bound - difference
    assert error.bias[0] == pytest.approx(favour * up + (1 - favour) * down)
    assert error.absolute[0] == pytest.approx(favour * up - (1 - favour) * down)
    assert error.square[0] == pytest.approx(favour * up**2 + (1 - favour) * down**2)


@pytest.mark.parametrize("name", sorted(LINKS))
@pytest.mark.parametrize("estimator", ["plug-in", "unbiased"])
def test_error_is_that_of_the_simulated_people(name, estimator):
    bound, difference, evaluators = 1.0, 0.6, 8
    crowd = make_evaluators(evaluators, LINKS[name], bound, estimator)
    words = np.random.default_rng(0).integers(0, 2**64, size=20000, dtype=np.uint64)
    errors = np.array([ask(crowd, difference, word) for word in words]) - difference
    error = exact.feedback_error([difference], evaluators, LINKS[name], bound, estimator)
    width = 5 * errors.std() / np.sqrt(len(errors))
    assert abs(errors.mean() - error.bias[0]) < width
    assert np.abs(errors).mean() == pytest.approx(error.absolute[0], rel=0.03)
    assert (errors**2).mean() == pytest.approx(error.square[0], rel=0.05)


def test_infinitely_many_people_make_no_error():
    for moments in exact.feedback_error([-0.5, 0.2], None, LINKS["logistic"], 1.0):
        np.testing.assert_array_equal(moments, np.zeros(2))


def test_gradient_and_hessian_agree_with_finite_differences(cmdp, policy):
    step = 1e-4
    gradient = exact.gradient(cmdp, policy, cmdp.reward)
    hessian = exact.hessian(cmdp, policy, cmdp.reward)
    for k, (s, a) in enumerate(np.ndindex(2, 2)):
        move = np.zeros((2, 2))
        move[s, a] = step
        ahead, behind = (exact.value(cmdp, policy + x, cmdp.reward) for x in (move, -move))
        assert gradient[s, a] == pytest.approx((ahead - behind) / (2 * step), rel=1e-6)
        slopes = [exact.gradient(cmdp, policy + x, cmdp.reward).ravel() for x in (move, -move)]
        np.testing.assert_allclose(hessian[k], (slopes[0] - slopes[1]) / (2 * step), rtol=1e-5)


def test_value_agrees_with_the_evaluation_of_policies(cmdp, policy):
    assert exact.value(cmdp, policy, cmdp.reward) == pytest.approx(cmdp.evaluate(policy)[0])
    assert exact.value(cmdp, policy, cmdp.utility) == pytest.approx(cmdp.evaluate(policy)[1])


def test_visitation_counts_from_the_initial_distribution():
    # Always moves from state 0 to 1 and stays: (1 - gamma) of the weight is at the start.
    transition = np.zeros((2, 1, 2))
    transition[:, 0, 1] = 1
    cmdp = CMDP(transition, np.zeros((2, 1)), np.ones((2, 1)), [1.0, 0.0], 0.75, 1.0)
    np.testing.assert_allclose(exact.visitation(cmdp, np.ones((2, 1))), [0.25, 0.75])


def test_projection_of_rows_does_not_touch_its_argument():
    theta = np.array([[[0.2, 0.9], [2.0, 0.0]]])
    before = theta.copy()
    np.testing.assert_allclose(exact.projected(theta), [[[0.15, 0.85], [1.0, 0.0]]])
    np.testing.assert_array_equal(theta, before)


@pytest.mark.parametrize(
    ("evaluators", "estimator"),
    [(1, "plug-in"), (2, "plug-in"), (1000, "plug-in"), (1000, "unbiased")],
)
def test_sums_over_many_votes_leave_out_what_does_not_happen(monkeypatch, evaluators, estimator):
    differences = np.linspace(-3, 3, 7)
    whole, part = [], []
    for most, moments in ((exact._MOST_TERMS, whole), (0, part)):
        monkeypatch.setattr(exact, "_MOST_TERMS", most)
        error = exact.feedback_error(differences, evaluators, LINKS["logistic"], 3.0, estimator)
        moments.extend(error)
    np.testing.assert_allclose(part, whole, rtol=1e-12, atol=1e-15)
