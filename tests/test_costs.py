"""Processes of a user's own: rewards and costs of any range, in the user's units."""

import dataclasses
import pickle
import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pgpd_hf
from pgpd_hf import CMDP
from pgpd_hf.evaluators import LINKS, make_simulator, vote_probability


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


def two_states():
    """Puterman 2005, section 3.1, as in QuantEcon's documentation: the second has one action."""
    transition = [[[0.5, 0.5], [0, 1]], [[0, 1], [0, 1]]]
    reward, allowed = [[5, 10], [-1, -np.inf]], [[True, True], [True, False]]
    return transition, reward, allowed, 0.95, [-8.57142857, -20]


def small_example():
    """The small example of mdptoolbox."""
    transition = [[[0.5, 0.5], [0, 1]], [[0.8, 0.2], [0.1, 0.9]]]
    return transition, [[5, 10], [-1, 2]], None, 0.99, [392.299107, 386.160714]


def forest():
    """Forest management in mdptoolbox: wait, or cut; a tenth burns down every year."""
    wait, cut = [[0.1, 0.9, 0], [0.1, 0, 0.9], [0.1, 0, 0.9]], [[1, 0, 0]] * 3
    transition = np.stack([wait, cut], axis=1)
    return transition, [[0, 0], [0, 1], [4, 2]], None, 0.9, [26.244, 29.484, 33.484]


def replacement():
    """Asset replacement (Miranda and Fackler 2002) in QuantEcon: keep, or replace for 75."""
    age = np.arange(1, 6)
    reward = np.stack([50 - 2.5 * age - 2.5 * age**2, np.full(5, 50 - 75)], axis=1)
    transition = np.stack([np.eye(5)[np.minimum(age, 4)], np.eye(5)[np.zeros(5, int)]], axis=1)
    values = [216.56004653, 190.62227392, 172.91363769, 169.90404187, 169.90404187]
    return transition, reward, np.stack([age < 5, age > 0], axis=1), 0.9, values


@pytest.mark.parametrize("model", [two_states, small_example, forest, replacement])
def test_optimal_values_are_the_published_ones(model):
    transition, reward, allowed, discount, published = model()
    states = len(published)
    rest = {"cost": np.zeros((states, 2)), "at_most": 1, "initial": np.full(states, 1 / states)}
    cmdp = CMDP.from_costs(transition, reward, discount=discount, actions=allowed, **rest)
    for method in ("linear_program", "policy_iteration"):
        policy = pgpd_hf.solve(cmdp, method).policy
        values, _ = cmdp.in_units(cmdp.state_values(policy, cmdp.reward), 0)
        assert values == pytest.approx(published, abs=1e-6)


def test_values_of_a_gridworld_are_the_published_ones():
    """Sutton and Barto 2018, Example 3.5: the uniform policy, and rewards by the next state."""
    transition, reward = np.zeros((5, 5, 4, 5, 5)), np.zeros((5, 5, 4, 5, 5))
    for row, column, action in np.ndindex(5, 5, 4):
        down, right = [(-1, 0), (1, 0), (0, 1), (0, -1)][action]
        to, paid = (row + down, column + right), 0
        if not (0 <= to[0] < 5 and 0 <= to[1] < 5):
            to, paid = (row, column), -1
        to, paid = {(0, 1): ((4, 1), 10), (0, 3): ((2, 3), 5)}.get((row, column), (to, paid))
        transition[row, column, action][to] = 1
        reward[row, column, action][to] = paid
    tables = transition.reshape(25, 4, 25), reward.reshape(25, 4, 25)
    cmdp = CMDP.from_costs(*tables, np.zeros((25, 4)), 1, np.full(25, 1 / 25), 0.9)
    values = cmdp.state_values(np.full((25, 4), 0.25), cmdp.reward)
    printed = "3.3 8.8 4.4 5.3 1.5  1.5 3.0 2.3 1.9 0.5  0.1 0.7 0.7 0.4 -0.4 "
    printed += "-1.0 -0.4 -0.4 -0.6 -1.2  -1.9 -1.3 -1.2 -1.4 -2.0"
    assert [f"{value:.1f}" for value in cmdp.in_units(values, 0)[0]] == printed.split()


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
    np.testing.assert_allclose(cmdp.fold([policy, policy])[1], folded, atol=1e-15)
    assert (pgpd_hf.solve(cmdp).policy[~allowed] == 0).all()


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_runs_end_with_allowed_actions_and_go_on_from_there(name):
    allowed = np.array([[1, 1, 1], [0, 1, 0], [0, 0, 1], [1, 0, 1]]) > 0
    cmdp = CMDP.from_costs(**drawn(1, 4, 3), actions=pd.DataFrame(allowed, dtype="boolean"))
    given = {"evaluators": 8, "primal_step": 0.5, "dual_step": 0.1, "seeds": [0, 1]}
    given |= {"iterations": 5, "return_policies": True}
    _, policies = pgpd_hf.run(cmdp, name, **given)
    _, later = pgpd_hf.run(cmdp, name, initial_policy=policies, **given)
    assert (policies[:, ~allowed] == 0).all()
    assert (later[:, ~allowed] == 0).all()
    assert (later != policies).any()


def test_largest_return_is_that_of_the_best_possible_path_and_clips_answers():
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
        table = make_simulator(small, 1, 80, 10**6, "logistic").evaluators.estimate
        assert table.max() == pytest.approx(7)
    assert vote_probability(LINKS["logistic"].code, 1.0) == pytest.approx(0.73, abs=2e-3)


@pytest.mark.parametrize("constant", ["reward", "cost"])
def test_constant_reward_or_cost_is_allowed(constant):
    """Also where expectations are constant up to rounding."""
    cmdp = CMDP.from_costs(**drawn(3) | {constant: np.full((3, 2, 3), -0.7)})
    found = cmdp.in_units(*cmdp.evaluate(np.full((3, 2), 0.5)))
    assert found[("reward", "cost").index(constant)] == pytest.approx(-3.5)
    steps = {"primal_step": 0.1, "dual_step": 0.1, "evaluators": 4}
    assert len(pgpd_hf.run(cmdp, "npgpd_hf", seeds=[0], iterations=5, **steps)) == 6


def test_units_and_map_come_back_from_files_and_pickles(tmp_path):
    given = drawn(5, 4, 4) | {"actions": np.eye(4) == 0}
    cmdp = dataclasses.replace(CMDP.from_costs(**given), map=[["S", "F"], ["H", "G"]])
    cmdp.save(tmp_path / "mine.npz")
    for again in (CMDP.load(tmp_path / "mine.npz"), pickle.loads(pickle.dumps(cmdp))):
        assert (again.units, again.largest_return) == (cmdp.units, cmdp.largest_return)
        assert again.map.tolist() == [["S", "F"], ["H", "G"]]
        assert (again.allowed == (np.eye(4) == 0)).all()
    for wrong in ([["S", "F"]], ["S", "F", "H", "G"], np.eye(2), 3):
        with pytest.raises(ValueError, match=r"^map: letters in rows and columns, 4 in all"):
            dataclasses.replace(cmdp, map=wrong)
    for wrong in ((0, 1, 0, 0), (1, 1), "abcd", (1, np.nan, 0, 0)):
        with pytest.raises(ValueError, match=r"^units"):
            dataclasses.replace(cmdp, units=wrong)


def test_several_constraints_are_refused_by_what_they_mean():
    told = "a single number, since there is one constraint"
    with pytest.raises(ValueError, match=f"^at_most: {told}"):
        CMDP.from_costs(**drawn(3) | {"at_most": [1.0, 2.0]})
    with pytest.raises(ValueError, match=f"^threshold: {told}"):
        dataclasses.replace(pgpd_hf.random_cmdp(), threshold=np.array([0.5, 0.6]))


def test_an_optimum_is_told_in_the_users_units():
    """In cents, reward and multiplier are a hundred times as large; cost and slack stay."""
    process = drawn(3) | {"at_most": -14.0}
    in_cents = process | {"reward": 100 * process["reward"]}
    euros, cents = (
        [float(number) for number in re.findall(r"-?\d[\d.e+]*", repr(pgpd_hf.solve(cmdp)))]
        for cmdp in (CMDP.from_costs(**process), CMDP.from_costs(**in_cents))
    )
    assert cents == pytest.approx([100 * euros[0], euros[1], 100 * euros[2], *euros[3:]], rel=1e-4)
    assert euros[3] == -14 and euros[2] > 0


def test_what_only_rounding_tells_from_zero_is_shown_as_zero():
    """Rewards of -7 and costs of 5 at most: z_r = -7 and z_c = 5, and both values end there."""
    units = pgpd_hf.costs.Units(1.0, 1.0, -7.0, 5.0)
    assert units.shown(7.0 + 1e-14, 5.0 + 1e-14) == ["0", "0"]
    assert units.shown(7.0 + 1e-6, 5.0 - 1e-6) == ["1e-06", "1e-06"]
