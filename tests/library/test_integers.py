"""Integers of every type that NumPy and pandas have give what Python's give, or are refused."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pgpd_hf
from pgpd_hf import deployment
from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from pgpd_hf.algorithms.zpgpd_hf import theorem_2_steps, theorem_perturbation
from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.evaluators import feedback_bias_bound, make_evaluators, unbiased_estimates

CMDP = pgpd_hf.random_cmdp(3, 2, 1)
POLICY = np.full((3, 2), 0.5)
LINK = pgpd_hf.LINKS["logistic"]
TYPES = [np.dtype(code).type for code in "bBhHiIlLqQ"]
# Beyond these, one more wraps around.
ENDS = [(kind, int(np.iinfo(kind).max)) for kind in (np.int8, np.uint8, np.int16, np.uint16)]


def run(algorithm="npgpd_hf", *, seed=0, **given):
    usual = {"evaluators": 4, "iterations": 3, "horizon": 3, "primal_step": 0.1, "dual_step": 0.1}
    return pgpd_hf.run(CMDP, algorithm, seeds=[seed], **{**usual, **given})


def phases(**given):
    usual = {"evaluators": 4, "iterations": 3, "horizon": 3, "rounds": 1}
    steps = {"primal_step": 0.1, "dual_step": 0.1}
    return pgpd_hf.run(CMDP, "npgpd_hf", seeds=[0], phases=[{**usual, **given}] * 2, **steps)


def checkpoints(checkpoint):
    return run(checkpoints=[checkpoint])


def chosen(**given):
    usual = {"evaluators": 4, "iterations": 3, "seeds": 2, "horizon": 3}
    candidates = {"primal_step": [0.1, 0.3], "dual_step": [0.1]}
    return pgpd_hf.choose_steps(CMDP, "npgpd_hf", candidates=candidates, **{**usual, **given})


def avoiding(state):
    pytest.importorskip("gymnasium")
    return pgpd_hf.from_gymnasium("FrozenLake-v1", cost=[state], at_most=0.5, discount=0.9)


# For each function: what calls it, and its integers with a value that is quick.
FUNCTIONS = {
    "CMDP.return_bound": (CMDP.return_bound, {"horizon": 3}),
    "certificate": (
        lambda **given: deployment.certificate(
            CMDP, **{"favourable": 90, "answers": 100, "horizon": 3, **given}
        ),
        {"favourable": 90, "answers": 100, "horizon": 3},
    ),
    "CMDPEnv": (lambda horizon: pgpd_hf.CMDPEnv(CMDP, horizon).horizon, {"horizon": 3}),
    "answers_for": (
        lambda horizon: deployment.answers_for(CMDP, 0.3, horizon=horizon),
        {"horizon": 30},
    ),
    "certify": (
        lambda **given: pgpd_hf.certify(
            CMDP, POLICY, **{"answers": 100, "seed": 0, "horizon": 3, **given}
        ),
        {"answers": 100, "seed": 5, "horizon": 3},
    ),
    "checkpoint_grid": (
        lambda **given: pgpd_hf.checkpoint_grid(**{"iterations": 9, **given}),
        {"iterations": 9, "points": 4},
    ),
    "choose_steps": (chosen, {"evaluators": 4, "iterations": 3, "seeds": 2, "horizon": 3}),
    "ding_cmdp": (pgpd_hf.ding_cmdp, {"seed": 3}),
    "feedback_bias_bound": (lambda n: feedback_bias_bound(n, LINK, 1.0), {"n": 64}),
    "from_gymnasium": (avoiding, {"state": 5}),
    "make_evaluators": (lambda n: make_evaluators(n, LINK, 1.0), {"n": 64}),
    "media_streaming": (pgpd_hf.media_streaming, {"buffer": 5}),
    "random_cmdp": (
        lambda **given: pgpd_hf.random_cmdp(**{"states": 3, "actions": 2, **given}),
        {"states": 4, "actions": 3, "instance": 7},
    ),
    "run": (run, {"evaluators": 4, "iterations": 3, "horizon": 3, "seed": 2, "rounds": 2}),
    "run, checkpoints": (checkpoints, {"checkpoint": 2}),
    "run, phases": (phases, {"evaluators": 4, "iterations": 3, "horizon": 3, "rounds": 2}),
    "run, exploration": (
        lambda exploration: run("sampled_npgpd_hf", exploration=exploration),
        {"exploration": 2},
    ),
    "run, draws": (lambda draws: run("adaptive_safe_rlhf", draws=draws), {"draws": 2}),
    "run, threads": (run, {"threads": 2}),
    "theorem_1_steps": (
        lambda **given: theorem_1_steps(discount=0.5, **{"actions": 2, "iterations": 9, **given}),
        {"actions": 100},
    ),
    "theorem_2_steps": (
        lambda **given: theorem_2_steps(
            discount=0.5,
            slack=1.0,
            mismatch=1.0,
            **{"states": 2, "actions": 2, "iterations": 9} | given,
        ),
        {"states": 100, "actions": 100},
    ),
    "theorem_perturbation": (
        lambda **given: theorem_perturbation(
            0.5, link=LINK, bound=1.0, **{"horizon": 3, "evaluators": 64, **given}
        ),
        {"horizon": 3, "evaluators": 64},
    ),
    "unbiased_estimates": (lambda n: unbiased_estimates(n, LINK, 1.0), {"n": 64}),
}
CALLS = [(name, key) for name, (_, integers) in FUNCTIONS.items() for key in integers]


def assert_same(ours, theirs):
    """Equal results, of equal types as far as they are numbers, tables, arrays or CMDPs."""
    assert type(ours) is type(theirs)
    if isinstance(ours, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    elif isinstance(ours, pgpd_hf.CMDP):
        for name in ("transition", "reward", "utility", "initial"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    elif isinstance(ours, tuple):
        for one, other in zip(ours, theirs, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_equal(ours, theirs)


def test_every_public_function_with_an_integer_is_here():
    """So that a new one is not forgotten; functions without integers are named."""
    without = {"ALGORITHMS", "LINKS", *(kind.__name__ for kind in pgpd_hf.ALGORITHMS.values())}
    without |= {"Optimum", "Stability", "plot_policy", "predict_stability"}
    without |= {"aggregate", "solve", "solve_unconstrained"}
    named = {name.partition(",")[0].partition(".")[0] for name in FUNCTIONS}
    assert named >= {*pgpd_hf.__all__} - without
    asked = {key for name, key in CALLS if name.startswith("run")}
    kinds = pgpd_hf.ALGORITHMS.values()
    options = [each for kind in kinds for each in kind.options().values()]
    integers = {each.name for each in options if each.kind is int} | {"iterations", "threads"}
    assert asked == integers | {"seed", "checkpoint"}


@pytest.mark.parametrize(("name", "key"), CALLS)
def test_all_types_give_the_same(name, key):
    function, integers = FUNCTIONS[name]
    expected = function(**{key: integers[key]})
    series = pd.Series([integers[key]], dtype="Int16")
    for value in [*(kind(integers[key]) for kind in TYPES), series[0], *series]:
        assert_same(function(**{key: value}), expected)


@pytest.mark.parametrize(("kind", "most"), ENDS)
@pytest.mark.parametrize(
    ("name", "key"),
    [
        *(("run", "evaluators"), ("run", "horizon"), ("run, phases", "evaluators")),
        *(("CMDP.return_bound", "horizon"), ("certificate", "answers"), ("certify", "answers")),
        *(("make_evaluators", "n"), ("feedback_bias_bound", "n"), ("theorem_2_steps", "states")),
        *(("theorem_2_steps", "actions"), ("run", "seed"), ("random_cmdp", "instance")),
    ],
)
def test_largest_number_of_a_type_does_not_overflow(name, key, kind, most):
    function, _ = FUNCTIONS[name]
    if key == "horizon" and most > 2**10:
        most = 2**10  # time; and the type is as good
    assert_same(function(**{key: kind(most)}), function(**{key: most}))


@pytest.mark.parametrize(
    "value", [True, np.True_, np.ma.masked, np.ma.array([3], mask=[True])[0], pd.NA, 3.0, "3"]
)
@pytest.mark.parametrize(("name", "key"), CALLS)
def test_what_is_no_integer_is_refused(name, key, value):
    with pytest.raises(ValueError, match=r"an integer|numbers of states"):
        FUNCTIONS[name][0](**{key: value})


@pytest.mark.parametrize("values", [[1, 2], np.ma.array([1, 2], mask=[False, True])])
def test_masked_seeds_are_refused(values):
    if isinstance(values, list):
        assert len(pgpd_hf.run(CMDP, "npg_pd", seeds=values, iterations=1, checkpoints=[1])) == 2
        return
    with pytest.raises(ValueError, match=r"^seeds\[1\]: an integer of at least 0 expected"):
        pgpd_hf.run(CMDP, "npg_pd", seeds=values, iterations=1)


@pytest.mark.parametrize("name", ["transition", "reward", "utility", "initial"])
def test_masked_arrays_are_refused(name):
    arrays = {it: getattr(CMDP, it) for it in ("transition", "reward", "utility", "initial")}
    arrays[name] = np.ma.masked_array(arrays[name], mask=arrays[name] > 0.9)
    with pytest.raises(ValueError, match=rf"^{name}: an array of numbers expected"):
        pgpd_hf.CMDP(**arrays, discount=0.9, threshold=0.1)


def test_bounds_are_those_of_the_number_not_of_its_type():
    with pytest.raises(ValueError, match=r"^evaluators: an integer of at most 10 expected"):
        require_integer("evaluators", np.uint8(11), 1, 10)
    assert type(require_integer("evaluators", np.uint8(10), 1, 10)) is int


CHECKED = """
import numpy as np
from numba import njit
import pgpd_hf
from pgpd_hf.core.evaluators import Evaluators, ask

@njit
def beyond(evaluators, word):
    return ask(evaluators, 0.0, word)

wrong = Evaluators(300, pgpd_hf.LINKS["logistic"].code, 0.0, np.zeros(2))
try:
    beyond(wrong, np.uint64(2**63 + 1))
except IndexError:
    print("checked")
cmdp = pgpd_hf.random_cmdp(4, 3, 1)
for name, kind in pgpd_hf.ALGORITHMS.items():
    options = kind.pick({"horizon": 3, "primal_step": 0.1, "dual_step": 0.1, "perturbation": 1.0})
    for evaluators in (1, np.uint8(255), 1000, None):
        for rounds in (1, 3):
            pgpd_hf.run(
                cmdp, name, evaluators=evaluators, seeds=[0], iterations=3, rounds=rounds, **options
            )
pgpd_hf.certify(cmdp, np.full((4, 3), 1 / 3), answers=np.uint16(1001), seed=0, horizon=3)
print("complete")
"""


@pytest.mark.long
@pytest.mark.faults
def test_kernels_stay_within_their_arrays(tmp_path):
    """All kernels once with every index checked, compiled anew for that."""
    environment = {**os.environ, "NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    environment["PYTHONPATH"] = str(Path(pgpd_hf.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-c", CHECKED], env=environment, capture_output=True, text=True
    )
    assert (done.stdout.split(), done.returncode) == (["checked", "complete"], 0), done.stderr
