"""Published numbers of the environments, and how the ends of runs are read."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from environments.ding import UNIT, ding_cmdp
from environments.ends import ends

from pgpd_hf import CMDP, from_gymnasium, run, solve, solve_unconstrained
from pgpd_hf.optimum import METHODS

FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())
LAKE = ["SFFF", "FHFH", "FFFH", "HFFG"]


@pytest.mark.parametrize("method", METHODS)
def test_optimum_of_ding_et_al_is_that_of_the_published_code(method):
    optimum = solve(ding_cmdp(), method)
    assert optimum.reward_value / UNIT == pytest.approx(4.462444, abs=5e-7)
    assert optimum.multiplier == pytest.approx(0.2427, abs=5e-5)


def test_ding_et_al_in_plain_loops():
    """Numbers are drawn one after the other: transitions, then rewards, then utilities."""
    cmdp, random = ding_cmdp(), np.random.RandomState(10)
    drawn = [random.random_sample() for _ in range(20 * 10 * 20 + 2 * 20 * 10)]
    row = np.array(drawn[20 * (3 * 10 + 4) : 20 * (3 * 10 + 5)])
    assert np.allclose(cmdp.transition[3, 4], row / sum(row), rtol=1e-14)
    assert cmdp.reward[3, 4] == pytest.approx(0.2 * drawn[4000 + 34])
    assert cmdp.utility[3, 4] == pytest.approx(0.2 * drawn[4200 + 34])
    assert cmdp.threshold / (1 - cmdp.discount) == pytest.approx(3)
    other = ding_cmdp(11)
    assert not np.array_equal(cmdp.transition, other.transition)


def lake(**options):
    """FrozenLake by loops: values of a policy from its own equations, in episodes that end."""
    pytest.importorskip("gymnasium")
    return from_gymnasium("FrozenLake-v1", cost="holes", discount=0.99, **options)


def walk(policy, moves=((0, -1), (1, 0), (0, 1), (-1, 0))):
    """Discounted probabilities of the goal and of a hole, by following the ice."""
    size, reached = len(LAKE), {}
    law, worth = {(0, 0): 1.0}, 1.0
    for _ in range(3000):
        following = {}
        for (row, column), p in law.items():
            for action in range(4):
                for slip in (-1, 0, 1):
                    down, right = moves[(action + slip) % 4]
                    cell = (
                        min(max(row + down, 0), size - 1),
                        min(max(column + right, 0), size - 1),
                    )
                    share = p * policy[action] / 3
                    letter = LAKE[cell[0]][cell[1]]
                    if letter in "GH":
                        reached[letter] = reached.get(letter, 0.0) + worth * share
                    else:
                        following[cell] = following.get(cell, 0.0) + share
        law, worth = following, worth * 0.99
    return reached["G"], reached["H"]


@pytest.mark.parametrize("policy", [[0.25] * 4, [0.1, 0.4, 0.3, 0.2]])
def test_values_of_frozen_lake_are_those_of_a_walk_on_the_ice(policy):
    cmdp = lake(map_name="4x4", at_most=0.5)
    found = cmdp.in_units(*cmdp.evaluate(np.tile(policy, (cmdp.states, 1))))
    assert found == pytest.approx(walk(policy), abs=1e-9)


def test_best_policy_of_frozen_lake_has_its_published_value():
    cmdp = lake(map_name="8x8", at_most=0.5)
    free = solve_unconstrained(cmdp)
    assert cmdp.in_units(free.reward_value, 0)[0] == pytest.approx(0.41464, abs=5e-6)


def test_both_constraints_bind():
    gymnasium = dict(DECLARED["environments"]["frozen-lake"]["environment"])
    options = gymnasium.pop("options")
    del gymnasium["gymnasium"], gymnasium["cost"], gymnasium["discount"]
    for cmdp in (ding_cmdp(), lake(**gymnasium, **options)):
        assert solve(cmdp).multiplier > 0.01
        free = solve_unconstrained(cmdp)
        assert cmdp.evaluate(free.policy)[1] < cmdp.threshold


def test_an_archive_keeps_every_bit(tmp_path):
    cmdp = ding_cmdp()
    cmdp.save(tmp_path / "ding.npz")
    again = CMDP.load(tmp_path / "ding.npz")
    for name in ("transition", "reward", "utility", "initial", "threshold"):
        assert np.array_equal(getattr(cmdp, name), getattr(again, name))


def test_ends_are_in_the_users_units():
    random = np.random.default_rng(0)
    transition = random.dirichlet(np.ones(3), (3, 2))
    reward, cost = random.normal(size=(2, 3, 2)) * [[[7.0]], [[3.0]]]
    least = CMDP.from_costs(transition, reward, cost, at_most=100, initial=[1, 0, 0], discount=0.9)
    free = solve_unconstrained(least)
    most = least.in_units(*least.evaluate(free.policy))[1]
    cmdp = CMDP.from_costs(
        transition, reward, cost, at_most=most - 0.1, initial=[1, 0, 0], discount=0.9
    )
    optimum, steps = solve(cmdp), {"primal_step": 0.1, "dual_step": 0.1}
    trace = pd.concat(
        run(cmdp, "npgpd_hf", evaluators=m, seeds=[0, 1, 2], iterations=5, horizon=9, **steps)
        for m in (4, 8)
    )
    table = ends(trace, cmdp, optimum).set_index("evaluators")
    last = trace[(trace["iteration"] == 5) & (trace["evaluators"] == 8)]
    values = cmdp.in_units(last["reward_value"].mean(), last["utility_value"].mean())
    best = cmdp.in_units(optimum.reward_value, optimum.utility_value)
    row = table.loc[8]
    assert row["gap"] == pytest.approx(best[0] - values[0])
    assert row["violation"] == pytest.approx(values[1] - (most - 0.1))
    # The price is what a little more cost is worth.
    more = solve(
        CMDP.from_costs(
            transition, reward, cost, at_most=most - 0.0999, initial=[1, 0, 0], discount=0.9
        )
    )
    worth = cmdp.in_units(more.reward_value, 0)[0] - best[0]
    assert row["price"] == pytest.approx(worth / 1e-4, rel=1e-3)
    assert row["lagrangian_gap"] == pytest.approx(row["gap"] + row["price"] * row["violation"])
    uniform = cmdp.in_units(*cmdp.evaluate(np.full((3, 2), 0.5)))
    assert row["gap_first"] == pytest.approx(best[0] - uniform[0])
