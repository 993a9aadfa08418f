"""Malformed calls, drawn at random: each is refused in one line that names the argument."""

import dataclasses
import math
import os
import pickle
import random
import zipfile

import numpy as np
import pytest

import pgpd_hf

DRAWN = 300
EXAMPLE = pgpd_hf.random_cmdp(3, 2, 1)
OPTIMUM = pgpd_hf.solve(EXAMPLE)
ARRAYS = {name: getattr(EXAMPLE, name) for name in EXAMPLE.__dataclass_fields__}

NO_NUMBER = ["", "three", "x\ny", None, [], {}, [[1]], object(), np.ones(2), math.nan, True]
NO_NUMBER += [1j, math.inf, -math.inf, 10**400]
NO_INTEGER = [*NO_NUMBER, 2.5, 1.0, -1]
NO_NAME = [*NO_NUMBER, 2.5, -1, 3, np.array(["logistic"])]
NO_ARRAY = ["three", None, {}, object(), [[1], [1, 2]], math.nan, 1j * np.ones((3, 2)), [10**400]]
NO_ARRAY += [np.ones(0), np.ones((1, 1, 1, 1)), np.full((3, 2), "a"), np.array([object()] * 3)]
NO_SIGNAL = [*NO_ARRAY, np.ones((2, 3)), np.full((3, 2), np.nan), np.full((3, 2), -1.0)]
NO_SIGNAL += [np.full((3, 2), 1e300), np.ones(3)]
NO_POLICY = [*NO_SIGNAL, np.ones((3, 2)), np.array([[1.5, -0.5]] * 3)]
NO_MIXTURE = [*NO_ARRAY, "reward", 2.0, np.ones(3), np.ones(2), np.ones((2, 3)), np.ones((3, 1))]
NO_MIXTURE += [np.ones((4, 3, 2)), np.full((3, 2), np.nan), [[1, 2], [3, math.inf], [5, 6]]]
NEGATIVE = [-1, -0.5, -1e-300]

CMDP = {
    "transition": [
        *NO_ARRAY,
        np.zeros((3, 2, 3)),
        2 * EXAMPLE.transition,
        -EXAMPLE.transition,
        EXAMPLE.transition + np.array([0.5, -0.5, 0]),
        EXAMPLE.transition[:2],
        np.zeros((0, 0, 0)),
        np.zeros((3, 0, 3)),
    ],
    "reward": NO_SIGNAL,
    "utility": NO_SIGNAL,
    "initial": [*NO_ARRAY, np.zeros(3), np.ones(3), np.array([1.5, -0.5, 0]), np.ones(2) / 2],
    "discount": [*NO_NUMBER, *NEGATIVE, 1, 1.5, 1e300],
    "threshold": NO_NUMBER,
    "scale": [*NO_NUMBER, *NEGATIVE, 0],
    "value_unit": [*NO_NUMBER, *NEGATIVE, 0],
    "value_zero": NO_NUMBER,
    "map": [3, "map", {}, np.ones(3), (1, 2, 3), ("S", [0], [0, 1])],
}
RANDOM = {
    "states": [*NO_INTEGER, 0, 10**6, 10**30],
    "actions": [*NO_INTEGER, 0, 10**9, 10**30],
    "instance": [*NO_INTEGER, 10**30],
    "discount": CMDP["discount"],
    "concentration": [*NO_NUMBER, *NEGATIVE, 0],
    "threshold": NO_NUMBER,
    "scale": NO_NAME,
    "discrimination": [*NO_NUMBER, *NEGATIVE, 0, 1e300],
}
FEW = [*NO_NUMBER, [2.5], [-1], ["a"], [True], [None], [10**30], range(10**7), {"a"}]
RUN = {
    "cmdp": [None, "three", 1, {}, ARRAYS],
    "algorithm": NO_NAME,
    "evaluators": [value for value in NO_INTEGER if value is not None] + [0, 10**8, 10**30],
    "seeds": [*FEW, [0, 0], range(0)],
    "iterations": [*NO_INTEGER, 0, 10**10, 10**30],
    "rounds": [*NO_INTEGER, 0, 10**6, 10**30],
    "horizon": [value for value in NO_INTEGER if value is not None] + [10**6, 10**30],
    "link": NO_NAME,
    "directions": NO_NAME,
    "estimator": NO_NAME,
    "threads": [*NO_INTEGER, 0, 10**6],
    "checkpoints": [value for value in FEW if value is not None] + [[6], [0, 10**9]],
    "initial_policy": [value for value in NO_POLICY if value is not None],
    "parameterization": [value for value in NO_NAME if value is not None],
}
for _name in ("primal_step", "dual_step", "multiplier_bound", "perturbation"):
    RUN[_name] = [value for value in NO_NUMBER if value is not None] + NEGATIVE
RUN["primal_step"].append(1e300)
# Optima of other CMDPs: each differs from this one in a single respect.
RUN["optimum"] = [
    *(3, 0, "three", {}, object(), EXAMPLE, OPTIMUM.policy),
    *(pgpd_hf.solve(pgpd_hf.random_cmdp(3, 2, instance)) for instance in (3, 4)),
    *(pgpd_hf.solve(pgpd_hf.random_cmdp(*size, 1, threshold=0.4)) for size in ((4, 2), (3, 3))),
    pgpd_hf.solve(dataclasses.replace(EXAMPLE, threshold=EXAMPLE.threshold - 0.01)),
    pgpd_hf.solve(dataclasses.replace(EXAMPLE, reward=EXAMPLE.reward[::-1])),
    dataclasses.replace(OPTIMUM, threshold=EXAMPLE.threshold + 0.01),
    dataclasses.replace(OPTIMUM, reward_value=OPTIMUM.reward_value + 1e-6),
    dataclasses.replace(OPTIMUM, utility_value=math.nan),
    *(dataclasses.replace(OPTIMUM, policy=policy) for policy in NO_POLICY),
    dataclasses.replace(OPTIMUM, policy=np.full((1, 3, 2), 0.5)),
]
NO_CANDIDATES = [3, "few", [], {"primal_step": [0.1]}, {"primal_step": 1, "dual_step": 1}]
NO_CANDIDATES += [{"primal_step": [0.1], "dual_step": [0.1], "rounds": [1, 2]}]
NO_PHASES = [value for value in NO_NUMBER if value is not None] + [3, [], [3], [None], [{}]]
NO_PHASES += [{"iterations": 5}, [{"iterations": 0}], [{"iterations": 5, "link": "probit"}], "run"]
RUN["phases"] = [*NO_PHASES, [{"iterations": 5, "evaluators": 0}], [{"iterations": 10**30}]]
RUN["purpose"] = [None, 3, object(), b"run", ["run"], math.nan]
RUN["progress"] = [None, 0, 1, "bar", [print], math.nan]
FUNCTIONS = {
    "CMDP": (lambda **given: pgpd_hf.CMDP(**{**ARRAYS, **given}), CMDP),
    "random_cmdp": (pgpd_hf.random_cmdp, RANDOM),
    "ding_cmdp": (
        pgpd_hf.ding_cmdp,
        {"seed": [*NO_INTEGER, 10**30], "threshold": NO_NUMBER, "scale": NO_NAME},
    ),
    "media_streaming": (
        pgpd_hf.media_streaming,
        {"buffer": [*NO_INTEGER, 0, 1, 10**7]}
        | {name: [*NO_NUMBER, *NEGATIVE, 1.5] for name in ("fast", "slow", "leaving", "at_most")},
    ),
    "choose_steps": (
        lambda **given: pgpd_hf.choose_steps(
            **{
                "cmdp": EXAMPLE,
                "algorithm": "npgpd_hf",
                "evaluators": 4,
                "iterations": 5,
                "candidates": {"primal_step": [0.1], "dual_step": [0.1]},
                "seeds": 1,
                **given,
            }
        ),
        {
            name: RUN[name]
            for name in ("cmdp", "algorithm", "evaluators", "iterations", "rounds", "progress")
        }
        | {"runs": [value for value in NO_INTEGER if value is not None] + [0, 10**30]}
        | {"candidates": NO_CANDIDATES}
        | {"seeds": [*NO_INTEGER, 0, 10**6], "threads": RUN["threads"]},
    ),
    "plot_policy": (
        lambda **given: pgpd_hf.plot_policy(
            **{"cmdp": EXAMPLE, "policy": np.full((3, 2), 0.5), **given}
        ),
        {"cmdp": RUN["cmdp"], "policy": NO_POLICY},
    ),
    "run": (
        lambda **given: pgpd_hf.run(
            **{
                "cmdp": EXAMPLE,
                "algorithm": "zpgpd_hf",
                "evaluators": 4,
                "seeds": [0],
                "iterations": 5,
                "horizon": 3,
                **given,
            }
        ),
        RUN,
    ),
    "evaluate": (EXAMPLE.evaluate, {"policy": NO_POLICY}),
    **{
        name: (
            lambda name=name, **given: getattr(EXAMPLE, name)(
                **{"policy": np.full((3, 2), 0.5), "signal": EXAMPLE.reward, **given}
            ),
            {"policy": NO_POLICY, "signal": NO_MIXTURE},
        )
        for name in ("state_values", "action_values", "advantages")
    },
    "solve_unconstrained": (pgpd_hf.solve_unconstrained, {"cmdp": RUN["cmdp"]}),
    "solve": (
        lambda **given: pgpd_hf.solve(**{"cmdp": EXAMPLE, **given}),
        {"cmdp": RUN["cmdp"], "method": [value for value in NO_NAME if value is not None]},
    ),
    "checkpoint_grid": (
        lambda **given: pgpd_hf.checkpoint_grid(**{"iterations": 5, **given}),
        {"iterations": RUN["iterations"], "points": [*NO_INTEGER, 0, 10**13]},
    ),
}


def calls(number):
    """Functions, arguments and wrong values: every argument about as often as any other."""
    chance = random.Random("malformed calls")
    arguments = [(name, key) for name, (_, bad) in FUNCTIONS.items() for key in bad]
    for k in range(number):
        name, key = arguments[k % len(arguments)]
        yield name, key, chance.choice(FUNCTIONS[name][1][key])


CALLS = list(calls(DRAWN))


@pytest.mark.parametrize("number", range(DRAWN))
def test_one_line_names_the_argument(number):
    name, key, value = CALLS[number]
    with pytest.raises(ValueError, match=r".") as refusal:
        FUNCTIONS[name][0](**{key: value})
    message = str(refusal.value)
    assert key in message.split(":")[0]
    assert "\n" not in message
    assert len(message) < 400


@pytest.mark.parametrize("value", RUN["optimum"])
def test_optimum_of_another_cmdp_is_refused(value):
    with pytest.raises(ValueError, match=r"^optimum(\.policy)?: "):
        FUNCTIONS["run"][0](optimum=value)


@pytest.mark.parametrize("solver", [pgpd_hf.solve, pgpd_hf.solve_unconstrained])
def test_optimum_of_the_cmdp_is_taken(solver):
    trace = FUNCTIONS["run"][0](optimum=solver(EXAMPLE))
    gap = solver(EXAMPLE).reward_value - trace["reward_value"]
    assert (trace["optimality_gap"] == gap).all()


@pytest.mark.parametrize("name", ["state_values", "action_values", "advantages"])
@pytest.mark.parametrize("value", NO_MIXTURE)
def test_signal_that_is_none_is_refused(name, value):
    with pytest.raises(ValueError, match=r"^signal: "):
        FUNCTIONS[name][0](signal=value)


@pytest.mark.parametrize(
    ("argument", "value", "start"),
    [
        ("seeds", [0, 1, -1], "seeds[2]: an integer of at least 0 expected, got -1"),
        ("seeds", [4, "1"], "seeds[1]: "),
        ("seeds", [4, 2, 7, 2], "seeds[3]: 2 is given twice"),
        ("checkpoints", [0, 2.5], "checkpoints[1]: "),
        ("checkpoints", [5, 0, 6, 7], "checkpoints[2]: 6 is beyond the last iteration, 5"),
        (
            "initial_policy",
            [[0.5, 0.5], [0.5, 0.5], [1.0, 0.0]],
            "initial_policy: the probability at (2, 1) is zero",
        ),
    ],
)
def test_place_of_what_is_wrong_is_named(argument, value, start):
    with pytest.raises(ValueError, match=r".") as refusal:
        FUNCTIONS["run"][0](algorithm="npgpd_hf", **{argument: value})
    assert str(refusal.value).startswith(start)


@pytest.mark.parametrize("name", ["state_values", "action_values", "advantages"])
def test_place_in_a_signal_is_named(name):
    signal = np.array([[0.0, 1.0], [2.0, 3.0], [np.nan, 5.0]])
    with pytest.raises(ValueError, match=r"^signal: nan at \(2, 0\) is not a finite number$"):
        FUNCTIONS[name][0](signal=signal)


class Trap:
    """An object that leaves a trace where it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("kind", ["object array", "archive", "pickle"])
def test_file_that_would_execute_something_is_refused(tmp_path, kind):
    trace, path = tmp_path / "trace", tmp_path / "trap.npz"
    trap = np.array([Trap(trace)], dtype=object)
    if kind == "pickle":
        path.write_bytes(pickle.dumps(Trap(trace)))
    elif kind == "archive":
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("transition.npy", pickle.dumps(Trap(trace)))
    else:
        np.savez(path, **{**ARRAYS, "reward": trap})
    with pytest.raises(ValueError, match=r"trap\.npz: (not a NumPy archive|missing array)"):
        pgpd_hf.CMDP.load(path)
    assert not trace.exists()
    if kind == "object array":  # the trap itself works
        with np.load(path, allow_pickle=True) as archive:
            assert archive["reward"].shape == (1,)
        assert trace.exists()


@pytest.mark.parametrize("number", range(200))
def test_damaged_archive_is_named(tmp_path, number):
    path = tmp_path / "environment.npz"
    cmdp = pgpd_hf.random_cmdp(3, 2, 1, scale="unit")  # the default, which the file may omit
    cmdp.save(path)
    whole = path.read_bytes()
    chance = random.Random(f"archive {number}")
    if number % 2:
        path.write_bytes(whole[: chance.randrange(len(whole))])
    else:
        at = chance.randrange(len(whole))
        path.write_bytes(whole[:at] + chance.randbytes(1) + whole[at + 1 :])
    try:
        loaded, message = pgpd_hf.CMDP.load(path), None
    except ValueError as error:
        loaded, message = None, str(error)
    if loaded is None:
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
    else:  # what was hit bears no number, such as the date of an entry
        for name in ARRAYS:
            np.testing.assert_array_equal(getattr(loaded, name), getattr(cmdp, name))
