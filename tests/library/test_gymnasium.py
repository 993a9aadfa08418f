"""Gymnasium's tables as CMDPs: the same values, the same transitions, and refusals."""

import math
import re
import sys

import gymnasium
import numpy as np
import pytest
from scipy import stats

import pgpd_hf
from pgpd_hf import environments, from_gymnasium
from pgpd_hf.core.optima import METHODS

FROZEN = {"env": "FrozenLake-v1", "map_name": "8x8", "cost": "holes", "at_most": 0.05}
SMALL = {"env": "FrozenLake-v1", "cost": "holes", "at_most": 0.5}
CLIFF = {"env": "CliffWalking-v1", "cost": "cliff", "at_most": 0.5, "discount": 0.98}
EDGE = {**CLIFF, "cost": "edge", "at_most": 3, "discount": 0.95}
SLIPPERY = {**CLIFF, "env": "CliffWalkingSlippery-v1"}
TAXI = {"env": "Taxi-v4", "cost": [16, 97, 418], "at_most": 1, "discount": 0.3}


class Table(gymnasium.Env):
    """An environment that is nothing but its table."""

    action_space = gymnasium.spaces.Discrete(2)
    observation_space = gymnasium.spaces.Discrete(3)

    def __init__(self, table):
        self.P = {s: dict(enumerate(actions)) for s, actions in enumerate(table)}
        self.initial_state_distrib = np.eye(len(self.P))[0]


# Two ways to end in state 1, which is passed through, too; state 2 can end in place.
MIXED = [
    [[(0.5, 1, 2.0, True), (0.25, 1, 1.0, False), (0.25, 2, 0.0, False)], [(1.0, 1, 5.0, True)]],
    [[(1.0, 0, 0.0, False)], [(0.5, 2, 3.0, True), (0.5, 2, 0.0, False)]],
    [[(1.0, 2, 4.0, True)], [(0.5, 2, -1.0, False), (0.5, 0, 0.0, False)]],
]


@pytest.fixture
def register(monkeypatch):
    """Tables by the names under which Gymnasium makes them."""

    def add(name, table):
        spec = gymnasium.envs.registration.EnvSpec(
            id=name, entry_point=lambda: Table(table), disable_env_checker=True
        )
        monkeypatch.setitem(gymnasium.registry, name, spec)
        return name

    return add


def from_table(table, initial, policy, discount, payment):
    """Discounted mean of what episodes pay, by the recursion over the table itself."""
    count = len(table)
    matrix, mean = np.eye(count), np.zeros(count)
    for s, actions in table.items():
        for a, outcomes in actions.items():
            for p, following, reward, ends in outcomes:
                weight = policy[s, a] * p
                mean[s] += weight * payment(s, a, following, reward)
                if not ends:
                    matrix[s, following] -= discount * weight
    return initial @ np.linalg.solve(matrix, mean)


def assert_same_values(cmdp, env, cost, reward_of=lambda reward: reward):
    """Values of random policies are those of the table; utilities follow from the cost alone."""
    random = np.random.default_rng(1)
    states = np.arange(len(env.P)) if cmdp.map is None else cmdp.map.cells
    costs, utilities = [], []
    for _ in range(3):
        whole = random.dirichlet(np.full(cmdp.actions, 0.3), len(env.P))
        inside = np.full((cmdp.states, cmdp.actions), 1 / cmdp.actions)
        inside[: len(states)] = whole[states]
        args = (env.P, env.initial_state_distrib, whole, cmdp.discount)
        value, utility = cmdp.evaluate(inside)
        own_return = from_table(*args, lambda *step: reward_of(step[3]))
        assert (value - cmdp.value_zero) / cmdp.value_unit == pytest.approx(own_return, rel=1e-9)
        costs.append(from_table(*args, lambda *step: float(cost(*step))))
        utilities.append(utility)
    price = (1 - utilities[0]) / costs[0]
    assert utilities == pytest.approx(1 - price * np.array(costs), abs=1e-12)
    return price


def test_values_of_frozen_lake_are_those_of_its_table():
    env = gymnasium.make("FrozenLake-v1", map_name="8x8").unwrapped
    cmdp = pgpd_hf.from_gymnasium(**FROZEN)
    price = assert_same_values(cmdp, env, lambda *step: env.desc.flat[step[2]] == b"H")
    assert cmdp.threshold == pytest.approx(1 - 0.05 * price)


@pytest.mark.parametrize("options", [CLIFF, SLIPPERY])
def test_values_of_cliff_walking_are_those_of_its_table(options):
    """The fall pays what any step pays: the constraint stands in its place."""
    env = gymnasium.make(options["env"]).unwrapped
    cmdp = pgpd_hf.from_gymnasium(**options)
    assert cmdp.states == 38  # without the cliff, in which nobody ever stands
    price = assert_same_values(cmdp, env, lambda *step: step[3] == -100, lambda r: max(r, -1))
    assert cmdp.threshold == pytest.approx(1 - 0.5 * price)


def test_edge_is_the_cliff_and_what_lies_above_it():
    env = gymnasium.make("CliffWalking-v1").unwrapped
    cmdp = pgpd_hf.from_gymnasium(**EDGE)
    above = range(2 * 12 + 1, 2 * 12 + 11)
    assert_same_values(
        cmdp, env, lambda *step: step[3] == -100 or step[2] in above, lambda r: max(r, -1)
    )


def test_values_of_taxi_are_those_of_its_table():
    env = gymnasium.make("Taxi-v4").unwrapped
    cmdp = pgpd_hf.from_gymnasium(**TAXI)
    assert cmdp.map is None
    reached = 4 * 25 * 4  # with the passenger at one of three other places, or inside
    assert cmdp.states == reached + 4
    optimum = pgpd_hf.solve_unconstrained(cmdp)
    values = np.zeros(500)
    for _ in range(30):
        values = np.array(
            [
                max(
                    sum(p * (r + 0.3 * (not e) * values[t]) for p, t, r, e in o) for o in a.values()
                )
                for a in env.P.values()
            ]
        )
    own_return = (optimum.reward_value - cmdp.value_zero) / cmdp.value_unit
    assert own_return == pytest.approx(env.initial_state_distrib @ values, rel=1e-9)


def test_episodes_may_end_in_different_ways(register):
    name = register("Mixed-v0", MIXED)
    cmdp = pgpd_hf.from_gymnasium(name, cost=[2], threshold=0.1, discount=0.7)
    assert cmdp.states == 3 + 4  # ended in 1 with 2 or with 5; in 2 with 3 or with 4
    env = Table(MIXED)
    random = np.random.default_rng(2)
    policy = random.dirichlet([1, 1], 3)
    value = cmdp.evaluate(np.vstack([policy, np.full((4, 2), 0.5)]))[0]
    own_return = from_table(env.P, env.initial_state_distrib, policy, 0.7, lambda *step: step[3])
    assert (value - cmdp.value_zero) / cmdp.value_unit == pytest.approx(own_return, rel=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_optima_are_the_known_ones(method):
    """Published values of both lakes, and by counting that of the cliff walk."""
    cmdp = pgpd_hf.from_gymnasium(**FROZEN)
    optimum = pgpd_hf.solve(cmdp, method)
    assert optimum.reward_value / cmdp.value_unit == pytest.approx(0.41352, abs=5e-6)
    assert optimum.multiplier == pytest.approx(0.2531, abs=5e-5)
    free = pgpd_hf.solve_unconstrained(cmdp)
    assert free.reward_value / cmdp.value_unit == pytest.approx(0.41464, abs=5e-6)

    # With one power of the discount more in the cost, the constraint is looser.
    looser = pgpd_hf.solve(pgpd_hf.from_gymnasium(**FROZEN | {"at_most": 0.05 / 0.99}), method)
    assert looser.reward_value / cmdp.value_unit == pytest.approx(0.41365, abs=5e-6)
    assert looser.multiplier / 0.99 == pytest.approx(0.2557, abs=5e-5)

    safest = pgpd_hf.from_gymnasium(**FROZEN | {"at_most": 1e-7})
    optimum = pgpd_hf.solve(safest, method)
    assert optimum.reward_value / cmdp.value_unit == pytest.approx(0.3747, abs=5e-5)

    small = pgpd_hf.from_gymnasium(**SMALL)
    optimum = pgpd_hf.solve(small, method)
    assert optimum.multiplier == 0  # whatever is best is safe enough
    assert optimum.reward_value / small.value_unit == pytest.approx(0.54203, abs=5e-6)

    cliff = pgpd_hf.from_gymnasium(**CLIFF)
    own_return = (pgpd_hf.solve(cliff, method).reward_value - cliff.value_zero) / cliff.value_unit
    assert own_return == pytest.approx(-(1 - 0.98**13) / 0.02, rel=1e-9)  # 13 steps


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("options", "limit"), [(SMALL, 14 / 17), (FROZEN | {"at_most": 1}, 1.0)])
def test_lakes_approach_their_undiscounted_optima(options, limit, method):
    """14/17 on the small lake; on the large one the goal is reached with certainty."""
    cmdp = pgpd_hf.from_gymnasium(**options, discount=1 - 1e-6)
    found = pgpd_hf.solve(cmdp, method).reward_value / cmdp.value_unit
    assert limit - 2e-4 < found < limit


@pytest.mark.parametrize("method", METHODS)
def test_small_lake_is_degenerate(method):
    """Its value is proportional to the allowed probability of a hole, up to the optimum."""
    for allowed in (0.01, 0.05, 0.1):
        cmdp = pgpd_hf.from_gymnasium(**SMALL | {"at_most": allowed})
        found = pgpd_hf.solve(cmdp, method).reward_value / cmdp.value_unit
        assert found / allowed == pytest.approx(4.59, abs=5e-3)


@pytest.mark.parametrize("method", METHODS)
def test_optimum_beside_the_cliff_mixes_the_two_ways_that_can_be_counted(method):
    """13 steps, ten of them beside the cliff; or 15 steps, none of them there."""
    cmdp = pgpd_hf.from_gymnasium(**EDGE)
    optimum = pgpd_hf.solve(cmdp, method)
    beside = sum(0.95**t for t in range(1, 11))  # step 0 goes up, to the left of the cliff
    assert 3 < beside
    shares = np.array([3 / beside, 1 - 3 / beside])
    returns = -(1 - 0.95 ** np.array([13, 15])) / 0.05
    own_return = (optimum.reward_value - cmdp.value_zero) / cmdp.value_unit
    assert own_return == pytest.approx(shares @ returns, rel=1e-9)
    price = (1 - cmdp.threshold) / 3
    multiplier = (returns[0] - returns[1]) * cmdp.value_unit / (beside * price)
    assert optimum.multiplier == pytest.approx(multiplier, rel=1e-9)
    assert multiplier > 0.1


def test_whatever_can_be_paid_may_be_allowed():
    """One in every step: the constraint then excludes nothing, and its threshold is zero."""
    cmdp = pgpd_hf.from_gymnasium(**EDGE | {"at_most": 20})
    assert cmdp.threshold == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("options", [CLIFF, SLIPPERY])
def test_fastest_way_does_not_fall(options):
    """So that the cost of the cliff alone never binds, but that of its edge does."""
    cmdp = pgpd_hf.from_gymnasium(**options)
    free = pgpd_hf.solve_unconstrained(cmdp)
    safe = pgpd_hf.solve(pgpd_hf.from_gymnasium(**options | {"at_most": 1e-6}))
    assert safe.reward_value == pytest.approx(free.reward_value, rel=1e-9)


@pytest.mark.parametrize("options", [FROZEN, SLIPPERY])
def test_transitions_are_those_of_the_environment_itself(options):
    """A chi-square test over all pairs, which a correct table fails with probability 1e-6."""
    cmdp = pgpd_hf.from_gymnasium(**options)
    extra = {"map_name": "8x8"} if "map_name" in options else {}
    env = gymnasium.make(options["env"], **extra).unwrapped
    env.reset(seed=3)
    place = {cell: state for state, cell in enumerate(cmdp.map.cells)}
    moving = [s for s in range(cmdp.states) if not (cmdp.transition[s, :, s] == 1).all()]
    statistic, freedom, trials = 0.0, 0, 60
    for s in moving:
        for a in range(cmdp.actions):
            counts = np.zeros(cmdp.states)
            for _ in range(trials):
                env.s = cmdp.map.cells[s]
                counts[place[env.step(a)[0]]] += 1
            row = cmdp.transition[s, a]
            assert not counts[row == 0].any()
            expected = trials * row[row > 0]
            statistic += ((counts[row > 0] - expected) ** 2 / expected).sum()
            freedom += (row > 0).sum() - 1
    assert stats.chi2.sf(statistic, freedom) > 1e-6
    assert freedom > 200


@pytest.mark.parametrize("options", [FROZEN, SLIPPERY])
def test_study_names_the_same_environment(options):
    described = dict(options)
    described["gymnasium"] = described.pop("env")
    if "map_name" in described:
        described["options"] = {"map_name": described.pop("map_name")}
    for name in ("Lake-v1", 3):
        with pytest.raises(ValueError, match=r"^gymnasium: "):  # as a study has it
            environments.make(described | {"gymnasium": name})
    ours, theirs = environments.make(described), pgpd_hf.from_gymnasium(**options)
    for name in ("transition", "reward", "utility", "initial"):
        assert (getattr(ours, name) == getattr(theirs, name)).all()


@pytest.mark.parametrize(("given", "options"), [(SMALL, {"is_slippery": False}), (CLIFF, {})])
def test_moves_of_a_map_are_those_of_the_environment(given, options):
    env = gymnasium.make(given["env"], **options).unwrapped
    letters, _, moves = pgpd_hf.from_gymnasium(**given, **options).map
    shape = np.array(letters.shape)
    for cell, actions in env.P.items():
        place = np.array(np.unravel_index(cell, letters.shape))
        if letters[*place] in "SF":
            for action, [(_, following, *_)] in actions.items():
                expected = np.clip(place + moves[action], 0, shape - 1)
                if letters[*expected] != "C":  # from the cliff, one is taken back
                    assert following == np.ravel_multi_index(expected, letters.shape)


def test_map_and_units_survive_a_file(tmp_path):
    cmdp = pgpd_hf.from_gymnasium(**SLIPPERY)
    cmdp.save(tmp_path / "cliff.npz")
    again = pgpd_hf.CMDP.load(tmp_path / "cliff.npz")
    assert (again.value_unit, again.value_zero) == (cmdp.value_unit, cmdp.value_zero)
    for one, other in zip(again.map, cmdp.map, strict=True):
        assert (one == other).all()
    assert again.map.letters[3, 0] == "S"
    assert (again.map.letters == "C").sum() == 10


TWO = [[[(1.0, 1, 0.0, False)]] * 2, [[(1.0, 0, 1.0, False)]] * 2]
LEAKY = [[[(0.9, 1, 0.0, False)]] * 2, [[(1.0, 0, 1.0, False)]] * 2]
EVEN = [[[(1.0, 1, 1.0, False)]] * 2, [[(1.0, 0, 1.0, False)]] * 2]
ODD = {
    "Negative-v0": [(1.5, 1, 0.0, False), (-0.5, 0, 0.0, False)],
    "Outside-v0": [(0.5, 1, 0.0, False), (0.5, 2, 0.0, False)],
    "Unpaid-v0": [(0.5, 1, 0.0, False), (0.5, 0, math.nan, False)],
}


def with_table(table, initial=(1.0, 0.0, 0.0)):
    env = Table(MIXED)
    env.P, env.initial_state_distrib = table, np.array(initial)
    return env


def test_table_may_consist_of_lists():
    given = {"cost": [1], "at_most": 1.5}
    listed, plain = (from_gymnasium(it, **given) for it in (with_table(MIXED), Table(MIXED)))
    np.testing.assert_array_equal(listed.transition, plain.transition)
    np.testing.assert_array_equal(listed.reward, plain.reward)


@pytest.mark.parametrize(
    "env",
    [
        with_table([]),
        with_table(None),
        with_table([*MIXED[:2], MIXED[2] * 2]),
        with_table([*MIXED[:2], MIXED[2][:1]]),
        with_table([*MIXED[:2], {0: MIXED[2][0], 2: MIXED[2][1]}]),
        with_table([[[outcome[:3] for outcome in it] for it in row] for row in MIXED]),
        with_table(MIXED, initial=[0.5, 0.5]),
    ],
    ids=["empty", "none", "more", "fewer", "gap", "three entries", "initial"],
)
def test_table_of_another_shape_is_refused(env):
    line = "^env: in the table of Table all states have to have the same actions, numbered from 0, "
    with pytest.raises(ValueError, match=line):
        from_gymnasium(env, cost=[1], at_most=1)


NO_COST = "cost: 'holes', numbers of states from 0 to 15, costs of shape (16, 4) that are not "
NO_COST += "negative, or a function expected, got {}"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"env": "Leaky-v0", "cost": [1]},
            "env: in the table of Leaky-v0 the probabilities of",
        ),
        (
            {"env": "Even-v0", "cost": [1]},
            "env: all steps of Even-v0 have the same reward",
        ),
        (
            {"env": "Blackjack-v1"},
            "env: Blackjack-v1 has no table of transitions (P, ",
        ),
        (
            {"env": "Lake-v1"},
            "env: Gymnasium cannot make 'Lake-v1': Environment `Lake`",
        ),
        (
            {"env": "CliffWalking-v0"},
            "env: Gymnasium cannot make 'CliffWalking-v0': Environment version v0 for",
        ),
        ({"env": 3}, "env: an environment or its name expected, got 3"),
        (
            {"map_name": "9x9"},
            "env: Gymnasium cannot make 'FrozenLake-v1' with {'map_name': '9x9'}",
        ),
        *[
            (
                {"env": name, "cost": [1]},
                f"env: in the table of {name} state 0 and action 1 have the outcome "
                f"{outcomes[1][:3]}; a probability, a state of the table and a finite reward",
            )
            for name, outcomes in ODD.items()
        ],
        (
            {"cost": "cliff"},
            "cost: 'holes', numbers of states from 0 to 15, costs of shape (16, 4) that are not",
        ),
        ({"cost": [16]}, NO_COST.format([16])),
        ({"cost": [0.5]}, NO_COST.format([0.5])),
        ({"cost": [True]}, NO_COST.format([True])),
        ({"cost": 3}, NO_COST.format(3)),
        ({"cost": np.ones((4, 16))}, NO_COST.format("array([[1.")),
        ({"cost": -np.ones((16, 4))}, NO_COST.format("array([[-1.")),
        ({"cost": np.full((16, 4), np.inf)}, NO_COST.format("array([[inf")),
        ({"cost": np.ma.array(np.ones((16, 4)), mask=np.eye(16, 4))}, NO_COST.format("masked_arr")),
        ({"cost": [[1, 2], [3]]}, NO_COST.format("[[1, 2], [3]]")),
        ({"cost": lambda *step: -1}, "cost(0, 0, 0): a non-negative number expected, got -1"),
        ({"cost": lambda *step: None}, "cost(0, 0, 0): a number expected, got None"),
        ({"cost": lambda state: 1}, "cost: a function of state, action and next state expected: "),
        ({"cost": np.zeros((16, 4))}, "cost: no step of FrozenLake-v1 that a policy can make has"),
        ({"cost": []}, "cost: no step of FrozenLake-v1 that a policy can make has the cost []"),
        (
            {"env": "Taxi-v4"},
            "cost: numbers of states from 0 to 499, costs of shape (500, 6)",
        ),
        (
            {"env": "Taxi-v4", "fickle_passenger": True},
            "fickle_passenger: changes the destination outside of the table; leave it out",
        ),
        ({"at_most": 0}, "at_most: 0 leaves no policy any slack, which learning needs (Slater's"),
        (
            {"at_most": 2},  # percent, for example
            "at_most: at most 1.0101 expected, since no policy can cost more; got 2",
        ),
        (EDGE | {"at_most": 20.5}, "at_most: at most 20 expected, since no policy can cost more"),
        ({"threshold": 0.5}, "at_most: this or threshold expected, not both"),
        ({"at_most": None}, "at_most: this or threshold expected"),
        (
            {"at_most": None, "threshold": 1.5},
            "threshold: 1.5 leaves no policy any slack, which learning needs (Slater's condition); "
            "give less than 1",
        ),
        ({"at_most": "few"}, "at_most: a number expected, got 'few'"),
        ({"discount": 1}, "discount: 0 < gamma < 1 expected, got 1"),
        ({"discount": 0}, "discount: 0 < gamma < 1 expected, got 0"),
    ],
)
def test_what_cannot_be_made_is_refused_in_one_line(register, changes, message):
    register("Leaky-v0", LEAKY)
    register("Even-v0", EVEN)
    for name, outcomes in ODD.items():
        register(name, [[TWO[0][0], outcomes], TWO[1]])
    with pytest.raises(ValueError, match=f"^{re.escape(message)}") as refusal:
        pgpd_hf.from_gymnasium(**SMALL | changes)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("options", [FROZEN, EDGE])
def test_environment_may_be_an_object(options):
    extra = {name: options[name] for name in options.keys() & {"map_name"}}
    env = gymnasium.make(options["env"], **extra)
    given = {name: options[name] for name in options.keys() - {"map_name"}}
    ours = pgpd_hf.from_gymnasium(**given | {"env": env})
    bare = pgpd_hf.from_gymnasium(**given | {"env": env.unwrapped})
    theirs = pgpd_hf.from_gymnasium(**options)
    for name in ("transition", "reward", "utility", "initial", "threshold"):
        assert np.array_equal(getattr(ours, name), getattr(theirs, name))
        assert np.array_equal(getattr(bare, name), getattr(theirs, name))


def test_environment_that_nobody_registered_may_be_an_object():
    cmdp = pgpd_hf.from_gymnasium(Table(MIXED), cost=[2], threshold=0.1, discount=0.7)
    assert cmdp.states == 7


def test_wrapper_that_changes_the_environment_is_refused():
    env = gymnasium.wrappers.TransformReward(gymnasium.make("FrozenLake-v1"), lambda it: it + 1)
    with pytest.raises(ValueError, match=r"^env: TransformReward changes FrozenLakeEnv, "):
        pgpd_hf.from_gymnasium(env, cost="holes", at_most=0.5)


def test_object_takes_no_options():
    env = gymnasium.make("FrozenLake-v1")
    with pytest.raises(ValueError, match=r"^map_name: an option of an environment made by name$"):
        pgpd_hf.from_gymnasium(env, cost="holes", at_most=0.5, map_name="8x8")


def test_costs_may_be_a_function_of_the_step():
    """Entering a hole costs one, and going up a quarter more, there and elsewhere."""
    env = gymnasium.make("FrozenLake-v1").unwrapped
    holes = np.flatnonzero(env.desc.flat == b"H")
    named = pgpd_hf.from_gymnasium(**SMALL)
    ours = pgpd_hf.from_gymnasium(**SMALL | {"cost": lambda s, a, following: following in holes})
    assert np.array_equal(ours.utility, named.utility)

    def cost(state, action, following, reward=None):
        return (following in holes) + 0.25 * (action == 3)

    cmdp = pgpd_hf.from_gymnasium(**SMALL | {"cost": cost, "at_most": 1})
    price = assert_same_values(cmdp, env, cost)
    assert cmdp.threshold == pytest.approx(1 - price)


def test_costs_may_be_an_array():
    """Taxi's illegal pick-up, and what is twice as bad costs twice as much."""
    env = gymnasium.make("Taxi-v4").unwrapped
    table = np.zeros((500, 6))
    for state, actions in env.P.items():
        for action, ((_, _, reward, _),) in actions.items():
            table[state, action] = reward == -10
    given = {"env": "Taxi-v4", "at_most": 1, "discount": 0.9}
    cmdp = pgpd_hf.from_gymnasium(**given, cost=table)
    uniform = np.full((500, 6), 1 / 6), 0.9, lambda *step: float(step[3] == -10)
    cost = from_table(env.P, env.initial_state_distrib, *uniform)
    utility = cmdp.evaluate(np.full((cmdp.states, 6), 1 / 6))[1]
    assert utility == pytest.approx(1 - (1 - 0.9) * cost, abs=1e-12)
    assert cost > 0.1
    listed = pgpd_hf.from_gymnasium(**given, cost=table.tolist())
    twice = pgpd_hf.from_gymnasium(**given | {"at_most": 2}, cost=2 * table)
    function = pgpd_hf.from_gymnasium(**given, cost=lambda s, a, _: table[s, a])
    for other in (listed, twice, function):
        assert np.array_equal(other.utility, cmdp.utility)
        assert other.threshold == pytest.approx(cmdp.threshold, abs=1e-15)


def test_missing_package_is_named_with_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ValueError, match=r"gymnasium is not .*pgpd-hf\[environments\]'"):
        pgpd_hf.from_gymnasium(**SMALL)
