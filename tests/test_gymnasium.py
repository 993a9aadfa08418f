"""Gymnasium's tables as CMDPs, and environments that a configuration names."""

import re

import numpy as np
import pytest

import pgpd_hf
from pgpd_hf.environments import make_environment

gymnasium = pytest.importorskip("gymnasium")
LAKE = {"env": "FrozenLake-v1", "map_name": "8x8", "cost": "holes", "at_most": 0.05}
LAKES = {"gymnasium": "FrozenLake-v1", "cost": "holes", "at_most": 0.05}
CLIFF = {"env": "CliffWalkingSlippery-v1", "cost": "steps", "at_most": 9, "discount": 0.98}
TAXI = {"env": "Taxi-v4", "cost": "steps", "at_most": 9, "discount": 0.9}


class Table(gymnasium.Env):
    """Episodes end in state 1; what the table says about steps from there does not matter."""

    def __init__(self, first=0.5, to=1, reward=2.0, begins=0, last=None):
        self.P = [
            [[(first, to, 2.0, True), (0.25, 0, 1.0, False), (0.25, 2, 0.0, False)]] * 2,
            [[(1.0, 0, 7.0, False)], [(0.5, 1, 3.0, True), (0.5, 2, 8.0, False)]],
            {0: [(1.0, 1, reward, True)], 1: [(0.5, 2, -1.0, False), (0.5, 0, 0.0, False)]},
        ]
        self.P[1] = [last] * 2 if last else self.P[1]
        self.initial_state_distrib = np.eye(3, dtype=np.float32)[begins]


BEGUN = {"env": Table(begins=1, last=[(1.0, 1, 2.0, True)]), "cost": "steps"}
TABLE = {"env": Table(), "cost": [[1, 1], [9, 9], [1, 5]], "at_most": 9}
# With an impossible outcome, and an end in a state that nobody reaches.
ODD = {**TABLE, "env": Table(), "cost": [*TABLE["cost"], [0, 0]]}
ODD["env"].P.append([[(1.0, 0, 0.0, True)]] * 2)
ODD["env"].initial_state_distrib = np.eye(4, dtype=np.float32)[0]
ODD["env"].P[0][0] = [*ODD["env"].P[0][0], (0.0, 0, 5.0, True)]


@pytest.mark.parametrize(
    ("given", "cost"),
    [
        (LAKE, lambda s, a, to, reward: to in (19, 29, 35, 41, 42, 46, 49, 52, 54, 59)),
        (CLIFF, lambda *step: 1),
        (TAXI, lambda *step: 1),
        (TABLE, lambda s, a, to, reward: TABLE["cost"][s][a]),
        (ODD, lambda s, a, to, reward: ODD["cost"][s][a]),
    ],
)
def test_values_are_those_of_the_table(given, cost):
    """By the recursion over the table itself, for a policy that is the same in all states."""
    cmdp, env = pgpd_hf.from_gymnasium(**given), given["env"]
    if isinstance(env, str):
        env = gymnasium.make(env, **{key: given[key] for key in given if key == "map_name"})
    table, policy = env.unwrapped.P, np.random.default_rng(1).dirichlet(np.ones(cmdp.actions))
    matrix, paid = np.eye(len(table)), np.zeros((len(table), 2))
    for s, a in np.ndindex(len(table), cmdp.actions):
        for p, to, reward, ends in table[s][a]:
            paid[s] += policy[a] * p * np.array([reward, cost(s, a, to, reward)])
            matrix[s, to] -= 0 if ends else cmdp.discount * policy[a] * p
    reward, spent = env.unwrapped.initial_state_distrib @ np.linalg.solve(matrix, paid)
    found = cmdp.in_units(*cmdp.evaluate(np.tile(policy, (cmdp.states, 1))))
    assert found == (pytest.approx(reward, rel=1e-5), pytest.approx(spent, rel=1e-5))
    assert cmdp.in_units(0, cmdp.threshold)[1] == pytest.approx(given["at_most"])
    assert cmdp.largest_return is None  # answers are clipped at G(H)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"env": Table(first=0.6)}, "transition: probabilities that sum to 1 expected, got 1.1"),
        ({"env": Table(first=np.nan)}, "env: a table, with outcomes (probability, next state"),
        ({"env": Table(first="half")}, "env: a table, with outcomes (probability, next state, rew"),
        ({"env": Table(to=0)}, "env: states in which episodes always end and never begin, with "),
        ({"env": Table(reward=3.0)}, "env: states in which episodes always end and never begin, "),
        (BEGUN, "env: states in which episodes always end and never begin, with one reward and"),
        ({"env": Table(to=3)}, "env: a table, with outcomes (probability, next state"),
        ({"env": "Taxi-v4", "fickle_passenger": True}, "env: an environment with a table (P, ini"),
        ({"env": "Blackjack-v1"}, "env: an environment with a table (P, initial_state_distrib)"),
        ({"env": "Lake-v1"}, "env: 'Lake-v1' with {} cannot be made: Environment `Lake` doesn't"),
        ({"map_name": "8x8"}, "map_name: an option of an environment made by its name"),
        ({"cost": "holes"}, "cost: 'steps', 'holes' of FrozenLake, or in Python an array expected"),
        ({"cost": -np.eye(3, 2)}, "cost: numbers of at least 0 expected, got -1"),
        ({"cost": np.zeros((3, 2))}, "cost, its largest: a number > 0 expected, got 0.0"),
    ],
)
def test_what_is_no_environment_is_refused_in_one_line(changes, message):
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}.*\Z"):
        pgpd_hf.from_gymnasium(**TABLE | changes)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *[({"file": it}, "environment.file: ") for it in ("../a.npz", "/a.npz", "link/a.npz")],
        (LAKES | {"at_most": None}, "environment.at_most: a number expected, got None"),
        (LAKES | {"options": {"id": "x"}}, "environment.gymnasium: 'FrozenLake-v1' with {'id'"),
        ({"states": 0}, "environment.states: an integer of at least 1 expected, got 0"),
    ],
)
def test_configuration_of_a_stranger_reads_nothing_else(tmp_path, settings, message):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "link").symlink_to(tmp_path)
    for place in (tmp_path, folder):
        pgpd_hf.random_cmdp().save(place / "a.npz")
    assert make_environment({"file": "a.npz"}, folder).states == 10
    lake = make_environment(LAKES | {"options": {"map_name": "8x8"}}, folder)
    assert lake.states == 64
    with pytest.raises(ValueError, match=rf"^{re.escape(message)}.*\Z"):
        make_environment(settings, folder)
