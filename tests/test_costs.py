"""Processes of a user's own: rewards and costs of any range, in the user's units."""

import numpy as np
import pytest
from scipy import sparse

import pgpd_hf
from pgpd_hf import CMDP


def drawn(seed, states=3, actions=2):
    """A process whose reward depends on the next state, and many of whose steps are impossible."""
    random = np.random.default_rng(seed)
    transition = random.random((states, actions, states)) * random.integers(2, size=states)
    transition += 0.1 * np.eye(states)[random.integers(states, size=(states, actions))]
    return {
        "transition": transition / transition.sum(-1, keepdims=True),
        "reward": random.normal(5, 9, transition.shape),
        "cost": random.normal(-2, 3, (states, actions)),
        "at_most": 100.0,
        "initial": random.dirichlet(np.ones(states)),
        "discount": 0.8,
    }


def test_optimal_values_are_the_published_ones():
    """Puterman 2005, section 3.1, as in QuantEcon's documentation: state 1 has one action."""
    transition, reward = [[[0.5, 0.5], [0, 1]], [[0, 1], [0, 1]]], [[5, 10], [-1, -np.inf]]
    rest = {"cost": np.zeros((2, 2)), "at_most": 1, "initial": [0.5, 0.5], "discount": 0.95}
    cmdp = CMDP.from_costs(transition, reward, actions=np.isfinite(reward), **rest)
    values = cmdp.state_values(pgpd_hf.solve(cmdp).policy, cmdp.reward)
    assert cmdp.in_units(values, 0)[0] == pytest.approx([-8.57142857, -20])


@pytest.mark.parametrize("form", [np.array, np.float32, sparse.csr_array, sparse.coo_matrix])
@pytest.mark.parametrize("units", [{}, {"reward_unit": 3.0, "cost_unit": 1e5}])
def test_values_in_units_are_those_of_the_tables_themselves(units, form):
    """By a power series over r(s, a, s') and c(s, a), for masked and for allowed actions."""
    process, allowed = drawn(1, 4, 3), np.array([[1, 1, 1], [0, 1, 0], [0, 0, 1], [1, 0, 1]]) > 0
    policy = np.random.default_rng(2).dirichlet(np.ones(3), 4)
    folded = np.where(allowed, policy, 0)  # a masked action is the first that is allowed
    np.add.at(folded, (np.arange(4), allowed.argmax(1)), np.where(allowed, 0, policy).sum(1))
    state, sums = process["initial"], np.zeros(2)
    for t in range(200):
        joint = state[:, None, None] * folded[:, :, None] * process["transition"]
        paid = (joint * process["reward"]).sum(), (joint.sum(-1) * process["cost"]).sum()
        state, sums = joint.sum((0, 1)), sums + 0.8**t * np.array(paid)
    masked = np.where(allowed[:, :, None], process["reward"], np.nan)
    shape = (12, 4) if sparse.issparse(form([[1.0]])) else (4, 3, 4)
    process |= {"reward": masked, "transition": form(process["transition"].reshape(shape))}
    cmdp = CMDP.from_costs(**process, actions=allowed, **units)
    precision = 1e-5 if form is np.float32 else 1e-9
    assert cmdp.in_units(*cmdp.evaluate(policy)) == pytest.approx(sums, rel=precision)
    assert cmdp.in_units(0, cmdp.threshold)[1] == pytest.approx(100)
    assert not units or cmdp.units[:2] == (3, 1e5)


def test_largest_return_is_that_of_the_best_possible_path():
    for seed in range(20):
        process = drawn(seed, 4, 3)
        cmdp = CMDP.from_costs(**process)
        longest = np.zeros((2, 4))  # by dynamic programming over paths of 120 steps
        for _ in range(120):
            ahead = np.where(process["transition"] > 0, longest[:, None, None, :], -1).max(-1)
            signals = np.stack([cmdp.reward, cmdp.utility])
            longest = (signals + 0.8 * ahead).max(-1)
        assert longest.max(1) == pytest.approx(1, rel=1e-9)
        assert cmdp.largest_return == pytest.approx(1, rel=1e-12)
        small = CMDP.from_costs(**process, reward_unit=1e4, cost_unit=cmdp.units.cost_unit / 7)
        assert small.largest_return == pytest.approx(7, rel=1e-12)
        assert small.return_bound(10**4) == small.largest_return


@pytest.mark.parametrize("constant", ["reward", "cost"])
def test_constant_reward_or_cost_is_allowed(constant):
    """Also where expectations are constant up to rounding."""
    cmdp = CMDP.from_costs(**drawn(3) | {constant: np.full((3, 2, 3), -0.7)})
    found = cmdp.in_units(*cmdp.evaluate(np.full((3, 2), 0.5)))
    assert found[("reward", "cost").index(constant)] == pytest.approx(-3.5)
    steps = {"primal_step": 0.1, "dual_step": 0.1, "evaluators": 4}
    assert len(pgpd_hf.run(cmdp, "npgpd_hf", seeds=[0], iterations=5, **steps)) == 6


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"actions": np.eye(3, 2) > 0}, "actions: at least one in every state expected, got none"),
        ({"actions": [[0, 1]] * 3}, r"actions: True or False of shape \(3, 2\) expected, got num"),
        (
            {"transition": sparse.coo_array((2 * 10**6, 10**6))},
            r"transition: tables \(1000000, 2, 1000000\) need",
        ),
        ({"transition": sparse.eye_array(4, 3)}, r"transition: a sparse matrix \(S \* A, S\) exp"),
        ({"transition": np.ones((3, 2, 2)) / 2}, r"transition: shape \(S, A, S\) expected, got"),
        ({"reward": np.ones(3)}, r"reward: shape \(3, 2\) or \(3, 2, 3\) expected, got \(3,\)"),
        ({"reward": [[-1e308, 1e308]] * 3}, "reward, largest return: a finite number expected"),
        ({"cost_unit": 1e-320}, "cost_unit, returns in this unit: a finite number expected"),
        ({"at_most": -100}, "at_most: more than -1.* expected, got -100"),
    ],
)
def test_what_is_no_process_is_refused_in_one_line(changes, message):
    with pytest.raises(ValueError, match=rf"^{message}.*\Z"):
        pgpd_hf.solve(CMDP.from_costs(**drawn(6) | changes))
