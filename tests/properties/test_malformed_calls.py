"""Malformed calls, drawn at random: each is refused in one line that names the argument."""

import math
import os
import pickle
import random
import zipfile

import numpy as np
import pytest

import pgpd_hf

DRAWN = 300
PROCESS = pgpd_hf.random_cmdp(3, 2, 1)
ARRAYS = {name: getattr(PROCESS, name) for name in PROCESS.__dataclass_fields__}

NO_NUMBER = ["", "three", "x\ny", None, [], {}, [[1]], object(), np.ones(2), math.nan, True]
NO_NUMBER += [1j, math.inf, -math.inf, 10**400]
NO_INTEGER = [*NO_NUMBER, 2.5, 1.0, -1]
NO_NAME = [*NO_NUMBER, 2.5, -1, 3, np.array(["logistic"])]
NO_ARRAY = ["three", None, {}, object(), [[1], [1, 2]], math.nan, 1j * np.ones((3, 2)), [10**400]]
NO_ARRAY += [np.ones(0), np.ones((1, 1, 1, 1)), np.full((3, 2), "a"), np.array([object()] * 3)]
NO_SIGNAL = [*NO_ARRAY, np.ones((2, 3)), np.full((3, 2), np.nan), np.full((3, 2), -1.0)]
NO_SIGNAL += [np.full((3, 2), 1e300), np.ones(3)]
NO_POLICY = [*NO_SIGNAL, np.ones((3, 2)), np.array([[1.5, -0.5]] * 3)]
NEGATIVE = [-1, -0.5, -1e-300]

CMDP = {
    "transition": [
        *NO_ARRAY,
        np.zeros((3, 2, 3)),
        2 * PROCESS.transition,
        -PROCESS.transition,
        PROCESS.transition + np.array([0.5, -0.5, 0]),
        PROCESS.transition[:2],
        np.zeros((0, 0, 0)),
        np.zeros((3, 0, 3)),
    ],
    "reward": NO_SIGNAL,
    "utility": NO_SIGNAL,
    "initial": [*NO_ARRAY, np.zeros(3), np.ones(3), np.array([1.5, -0.5, 0]), np.ones(2) / 2],
    "discount": [*NO_NUMBER, *NEGATIVE, 1, 1.5, 1e300],
    "threshold": NO_NUMBER,
    "scale": [*NO_NUMBER, *NEGATIVE, 0],
}
RANDOM = {
    "states": [*NO_INTEGER, 0, 10**6, 10**30],
    "actions": [*NO_INTEGER, 0, 10**9, 10**30],
    "instance": [*NO_INTEGER, 10**30],
    "discount": CMDP["discount"],
    "concentration": [*NO_NUMBER, *NEGATIVE, 0],
    "threshold": NO_NUMBER,
    "scale": NO_NAME,
}
FEW = [*NO_NUMBER, [2.5], [-1], ["a"], [True], [None], [10**30], range(10**7), {"a"}]
RUN = {
    "cmdp": [None, "three", 1, {}, ARRAYS],
    "algorithm": NO_NAME,
    "evaluators": [value for value in NO_INTEGER if value is not None] + [0, 10**8, 10**30],
    "seeds": [*FEW, [0, 0], range(0)],
    "iterations": [*NO_INTEGER, 0, 10**10, 10**30],
    "pairs": [*NO_INTEGER, 0, 10**6, 10**30],
    "horizon": [*NO_INTEGER, 10**6, 10**30],
    "link": NO_NAME,
    "directions": NO_NAME,
    "threads": [*NO_INTEGER, 0, 10**6],
    "checkpoints": [value for value in FEW if value is not None] + [[6], [0, 10**9]],
    "initial_policy": [value for value in NO_POLICY if value is not None],
    "parameterization": [value for value in NO_NAME if value is not None],
}
for _name in ("primal_step", "dual_step", "multiplier_bound", "perturbation"):
    RUN[_name] = [value for value in NO_NUMBER if value is not None] + NEGATIVE
RUN["primal_step"].append(1e300)
FUNCTIONS = {
    "CMDP": (lambda **given: pgpd_hf.CMDP(**{**ARRAYS, **given}), CMDP),
    "random_cmdp": (pgpd_hf.random_cmdp, RANDOM),
    "run": (
        lambda **given: pgpd_hf.run(
            **{
                "cmdp": PROCESS,
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
    "evaluate": (PROCESS.evaluate, {"policy": NO_POLICY}),
    "solve": (
        lambda **given: pgpd_hf.solve(**{"cmdp": PROCESS, **given}),
        {"cmdp": RUN["cmdp"], "method": NO_NAME},
    ),
    "checkpoint_grid": (
        lambda **given: pgpd_hf.checkpoint_grid(**{"iterations": 5, **given}),
        {"iterations": RUN["iterations"], "points": [*NO_INTEGER, 0]},
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
    process = pgpd_hf.random_cmdp(3, 2, 1, scale="unit")  # the default, which the file may omit
    process.save(path)
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
            np.testing.assert_array_equal(getattr(loaded, name), getattr(process, name))
