"""Odd arguments: each gives the right number, or one line that names the argument."""

import dataclasses
import itertools
import math
from decimal import Decimal
from fractions import Fraction
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import pgpd_hf

EXAMPLE = pgpd_hf.random_cmdp(3, 2, 1)
OPTIMUM = pgpd_hf.solve(EXAMPLE)
ARRAYS = ("transition", "reward", "utility", "initial")
PARTS = {name: getattr(EXAMPLE, name) for name in (*ARRAYS, "discount", "threshold", "scale")}
TRACE = pgpd_hf.run(EXAMPLE, "npg_pd", seeds=[0, 1], iterations=2)
UNIFORM = np.full((3, 2), 0.5)

# What is no number, no integer, no name, no array, no policy.
NO_NUMBER = ["", "three", "0.1", "x\ny", [], {}, [[1]], object(), np.ones(2), math.nan, True]
NO_NUMBER += [1j, math.inf, -math.inf, 10**400, np.True_, pd.NA, pd.NaT, np.timedelta64(1, "s")]
NO_NUMBER += [Decimal("nan"), np.datetime64("2020"), np.ma.masked]
NO_INTEGER = [*NO_NUMBER, 2.5, 1.0, -1, np.float32(3), "3", Decimal(3), Fraction(3), np.int8(-1)]
NO_INTEGER += [np.ma.array([3], mask=[True])[0], 2**62 + 1, 10**30]
NO_NAME = [*NO_NUMBER, 2.5, -1, 3, np.array(["logistic"]), "LOGISTIC", "direct ", "sphere\n"]
NO_ARRAY = ["three", None, {}, object(), [[1], [1, 2]], math.nan, 1j * np.ones((3, 2)), [10**400]]
NO_ARRAY += [np.ones(0), np.ones((1, 1, 1, 1)), np.full((3, 2), "a"), np.array([object()] * 3)]
NO_ARRAY += [np.zeros((3, 2), "m8[s]"), np.zeros((3, 2), "M8[s]"), pd.DataFrame({"a": ["x"]})]
NO_SIGNAL = [*NO_ARRAY, np.ones((2, 3)), np.full((3, 2), np.nan), np.full((3, 2), -1.0), np.ones(3)]
NO_SIGNAL += [np.full((3, 2), 1e300), np.ma.masked_array(np.zeros((3, 2)), np.eye(3, 2) > 0)]
NO_POLICY = [*NO_SIGNAL, np.ones((3, 2)), np.array([[1.5, -0.5]] * 3), [[np.inf, 0]] * 3]
NO_POLICY += [UNIFORM + [1e-5, 0], np.array([[1.0, -0.5]] * 3)]
NEGATIVE = [-1, -0.5, -1e-300, Fraction(-1, 3)]
FEW = [*NO_NUMBER, [2.5], [-1], ["a"], [True], [None], [10**30], range(10**7), {"a"}, "12"]
FEW += [np.ma.array([1, 2], mask=[False, True]), np.array([[1, 2]]), itertools.count()]
NO_CMDP = [None, "three", 1, {}, PARTS]
P, KNOWN = EXAMPLE.transition, ("transition", "initial", "discount")

PAIRS = {"primal_step": [1.0], "dual_step": [0.1, 3.0]}
PEOPLE = {"evaluators": 5, "perturbation": 0.3, "primal_step": 0.1, "dual_step": 0.1}
PEOPLE |= {"multiplier_bound": 4.0, "horizon": 4}

# Arguments with what is wrong for each; None is wrong where it is not the default.
CMDP = {
    "transition": [*NO_ARRAY, 0 * P, 2 * P, -P, P + [0.5, -0.5, 0], P + [1e-5, 0, 0], P[:2]]
    + [np.zeros((0, 0, 0)), np.zeros((3, 0, 3)), np.ma.masked_array(P, P > 0.9)],
    "reward": NO_SIGNAL,
    "utility": NO_SIGNAL,
    "initial": [*NO_ARRAY, np.zeros(3), np.ones(3), [1.5, -0.5, 0], np.ones(2) / 2, 1.0],
    "discount": [*NO_NUMBER, None, *NEGATIVE, 1, 1.5, 1e300],
    "threshold": [*NO_NUMBER, None],
    "scale": [*NO_NUMBER, None, *NEGATIVE, 0, 1.79e308],
    "allowed": [[[True, False]] * 3],  # of actions that are no copies
}
RANDOM = {
    "states": [*NO_INTEGER, None, 0, 10**6],
    "actions": [*NO_INTEGER, None, 0, 10**12],
    "instance": [*NO_INTEGER, None],
    "discount": CMDP["discount"],
    "concentration": [*NO_NUMBER, None, *NEGATIVE, 0, 1e308],
    "threshold": [*NO_NUMBER, None],
    "scale": [*NO_NAME, None],
}
RUN = {
    "cmdp": NO_CMDP,
    "algorithm": [*NO_NAME, None, "NPGPD_HF", "ppo", pgpd_hf.NPGPDHF],
    "seeds": [*FEW, [0, 0], range(0), None],
    "iterations": [*NO_INTEGER, None, 0, 10**10],
    "evaluators": [*NO_INTEGER, 0, 10**8],
    "rounds": [*NO_INTEGER, None, 0, 10**6],
    "horizon": [*NO_INTEGER, 10**6],
    "random_answers": [*NO_NUMBER, None, *NEGATIVE, 1.5, 2.1],
    **{name: [*NO_NAME, None] for name in ("link", "estimator", "normalize", "directions")},
    "parameterization": [*NO_NAME, None],
    **{name: [*NO_NUMBER, *NEGATIVE] for name in ("dual_step", "multiplier_bound")},
    "primal_step": [*NO_NUMBER, *NEGATIVE, 1e300],
    "perturbation": [*NO_NUMBER, *NEGATIVE, 0, 1e-17, 1e200],
    "initial_policy": [value for value in NO_POLICY if value is not None]
    + [np.full((2, 3, 2), 0.5), np.full((0, 3, 2), 0.5)],
    "initial_multiplier": [*NO_NUMBER, None, *NEGATIVE, 1e300],
    "threads": [*NO_INTEGER, None, 0, 10**6],
    "checkpoints": [*FEW, [6], [0, 10**9], []],
    "purpose": [None, 3, object(), b"run", ["run"], math.nan],
    "optimum": [3, EXAMPLE, OPTIMUM.policy, pgpd_hf.solve(pgpd_hf.random_cmdp(3, 2, 3))]
    + [dataclasses.replace(OPTIMUM, policy=policy) for policy in NO_POLICY]
    + [dataclasses.replace(OPTIMUM, **{name: 0.0}) for name in ("slack", "threshold")]
    + [dataclasses.replace(OPTIMUM, reward_value=OPTIMUM.reward_value + 1e-6)]
    + [dataclasses.replace(pgpd_hf.solve_unconstrained(EXAMPLE), slack=0.1)],
    "sizes": [3],
}
PROCESS = {
    "transition": [value for value in CMDP["transition"] if value is not None],
    **{name: CMDP[name] for name in ("initial", "discount", "scale")},
    "state_names": ["abc", ["a", "b"], ["a", "b", ""], [1, 2, 3], 3, np.array("a")],
    "action_names": ["ab", ["a"], ["a", "a "], [None, "b"]],
    "render": ["<svg/>"],
}
CERTIFY = {
    "cmdp": NO_CMDP,
    "policy": [*NO_POLICY, np.full((2, 3, 2), 0.5)],
    "answers": [*NO_INTEGER, None, 0],
    "seed": [*NO_INTEGER, None],
    "level": [*NO_NUMBER, None, 0, 95],
}
AGGREGATE = {
    "trace": [3, "trace", {}, TRACE.to_numpy(), TRACE.drop(columns="multiplier"), [TRACE]]
    + [TRACE[:0], TRACE.assign(multiplier="a"), TRACE.assign(seed=0)],
}
COSTS = {
    "transition": [P[:, :, :2], sparse.eye_array(4, 3), sparse.coo_array((2 * 10**6, 10**6))],
    "reward": [np.ones(3), [[-1e308, 1e308]] * 3],
    "cost_unit": [*NO_NUMBER, *NEGATIVE, 0, 1e-320],
    "at_most": [*NO_NUMBER, None, 0, -100],
    "actions": [np.eye(3, 2) > 0, [[0, 1]] * 3, np.ones((3, 2))],
}
SEARCH = {
    "candidates": [3, {"primal_step": [1]}, PAIRS | {"perturbation": [1.0]}]
    + [PAIRS | {"dual_step": steps} for steps in ([], [1, 0], ["1"])],
    "evaluators": [[], [8, 2.5], *NO_INTEGER],
    "seeds": [*NO_INTEGER, 0],
    "iterations": RUN["iterations"],
    "horizon": RUN["horizon"],
    "threads": RUN["threads"],
    "round": [2],
}
STABILITY = {
    "cmdp": [*NO_CMDP, pgpd_hf.random_cmdp(2, 11), pgpd_hf.random_cmdp(201, 2)],
    "algorithm": [*NO_NAME, "npgpd_hf"],
    "primal_step": [*NO_NUMBER, 0.0],
    "horizon": [*NO_INTEGER, 10],
    "multipliers": [*NO_NUMBER, [2, 1], [1e9]],
}
LEARNED = {
    "process": NO_CMDP,
    "level": [*NO_NUMBER, 0.5, 1],
    "margin": NO_NUMBER,
    "link": [*NO_NAME, None],
    "ridge": [*NO_NUMBER, None, *NEGATIVE, 0, 1e-16],
    "independent": [None, "no", 1],
}
SESSION = {
    "process": [*NO_CMDP, np.ones(2)],
    "algorithm": [*NO_NAME, None, "zpgpd_hf", EXAMPLE]
    + [pgpd_hf.ZPGPDHF(**PEOPLE | {name: None}) for name in PEOPLE],
    "seed": [*NO_INTEGER, None],
}
PICTURE = {"policy": [*NO_POLICY, [UNIFORM]], "states": [["a"]], "cmdp": NO_CMDP}
ADVANTAGES = {"policy": NO_POLICY, "signal": [*NO_ARRAY, "reward", np.ones(3), np.ones((2, 3))]}

# Functions with right arguments, one of which is replaced by a wrong one.
SETTING = {"cmdp": EXAMPLE, "algorithm": "zpgpd_hf", "iterations": 5, "horizon": 3, "evaluators": 4}
CERTIFIED = {"cmdp": EXAMPLE, "policy": UNIFORM, "answers": 9, "seed": 0}
COSTLY = {name: PARTS[name] for name in KNOWN}
COSTLY |= {"reward": PARTS["reward"], "cost": [[0, 0.7]] * 3, "at_most": 1}
SEARCHED = {"cmdp": EXAMPLE, "algorithm": "npgpd_hf", "candidates": PAIRS, "seeds": 2}
SEARCHED |= {"iterations": 50, "horizon": 10, "evaluators": 16}
PREDICTED = {"cmdp": EXAMPLE, "algorithm": "zpgpd_hf", "evaluators": 16, "primal_step": 0.001}
NOTHING = {"process": EXAMPLE, "trajectories": None, "votes": None}
ASKED = {"process": EXAMPLE, "algorithm": pgpd_hf.ZPGPDHF(**PEOPLE)}
NO_FILE, VOTING = {"path": [None, True, 3, ""]}, pgpd_hf.Session(**ASKED)
run = partial(pgpd_hf.run, seeds=[0], **SETTING)
FUNCTIONS = {
    "CMDP": (partial(pgpd_hf.CMDP, **PARTS), CMDP),
    "random_cmdp": (partial(pgpd_hf.random_cmdp, states=3), RANDOM),
    "run": (run, RUN),
    "Process": (partial(pgpd_hf.Process, **{name: PARTS[name] for name in KNOWN}), PROCESS),
    "certify": (partial(pgpd_hf.certify, **CERTIFIED), CERTIFY),
    "evaluate": (EXAMPLE.evaluate, {"policy": NO_POLICY}),
    "advantages": (partial(EXAMPLE.advantages, policy=UNIFORM, signal=UNIFORM), ADVANTAGES),
    "return_bound": (EXAMPLE.return_bound, {"horizon": [*NO_INTEGER, None]}),
    "checkpoint_grid": (pgpd_hf.checkpoint_grid, {"iterations": RUN["iterations"]}),
    "aggregate": (partial(pgpd_hf.aggregate, trace=TRACE), AGGREGATE),
    "plot_curves": (pgpd_hf.plot_curves, {"curve": [pd.DataFrame({"seed": [0]}), TRACE[:0], None]}),
    "plot_policy": (partial(pgpd_hf.plot_policy, cmdp=EXAMPLE, policy=UNIFORM), PICTURE),
    "answers_for": (partial(pgpd_hf.answers_for, EXAMPLE), {"slack": [*NO_NUMBER, 5]}),
    "from_costs": (lambda **it: pgpd_hf.solve(pgpd_hf.CMDP.from_costs(**COSTLY | it)), COSTS),
    "choose_steps": (partial(pgpd_hf.choose_steps, **SEARCHED), SEARCH),
    "predict_stability": (partial(pgpd_hf.predict_stability, **PREDICTED), STABILITY),
    "learn_from_votes": (partial(pgpd_hf.learn_from_votes, **NOTHING), LEARNED),
    "Session": (partial(pgpd_hf.Session, **ASKED), SESSION),
    "save": (EXAMPLE.save, NO_FILE),
    "load": (pgpd_hf.CMDP.load, NO_FILE),  # an open file has a number, too
    "Session.save": (VOTING.save, NO_FILE),
    "Session.load": (pgpd_hf.Session.load, NO_FILE),
    "write_page": (VOTING.write_page, NO_FILE),
}


@pytest.mark.parametrize(
    ("name", "argument"), [(name, it) for name, (_, wrong) in FUNCTIONS.items() for it in wrong]
)
def test_one_line_names_the_argument(name, argument):
    function, wrong = FUNCTIONS[name]
    for value in wrong[argument]:
        with pytest.raises(ValueError, match=rf"^[^:\n]*\b{argument}\b.{{1,380}}\Z"):
            function(**{argument: value})


# Odd arguments that are right.

TYPES = [np.dtype(code).type for code in "bBhHiIlLqQ"]
INTEGERS = {"random_cmdp": "states actions instance", "return_bound": "horizon"}
INTEGERS |= {"run": "evaluators rounds horizon iterations threads"}


def assert_same(ours, theirs):
    if isinstance(ours, pd.DataFrame):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)
    elif isinstance(ours, pgpd_hf.CMDP):
        assert all(np.array_equal(getattr(ours, name), getattr(theirs, name)) for name in PARTS)
    else:
        np.testing.assert_array_equal(ours, theirs, strict=True)


@pytest.mark.parametrize("kind", TYPES)
def test_integers_of_all_types_give_the_same(kind):
    """Also the largest of a small type, whose arithmetic would overflow."""
    for name, arguments in INTEGERS.items():
        for argument in arguments.split():
            largest = argument in ("evaluators", "horizon", "instance")
            number = min(np.iinfo(kind).max, 300) if largest else 2
            function = FUNCTIONS[name][0]
            assert_same(function(**{argument: kind(number)}), function(**{argument: number}))


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble, np.array])
def test_numbers_and_lists_of_all_types_give_the_same(kind):
    numbers = {"primal_step": 0.25, "dual_step": 0.125, "random_answers": 1, "perturbation": 0.5}
    expected = run(seeds=[1, 3], checkpoints=[0, 5], **numbers)
    numbers = {name: kind(number) for name, number in numbers.items()}
    numbers["progress"] = np.False_
    for seeds in (np.array([3, 1], np.uint8), pd.Series([3, 1], dtype="Int16"), {1, 3}):
        assert_same(run(seeds=iter(seeds), checkpoints=np.array([5, 0, 5]), **numbers), expected)


@pytest.mark.parametrize(
    "convert",
    [
        lambda array: array.tolist(),
        np.asfortranarray,
        lambda array: np.repeat(array, 2, axis=-1)[..., ::2],
        lambda array: array.astype(">f8"),
        lambda array: array.astype(np.longdouble),
        lambda array: np.vectorize(Fraction, otypes=[object])(array),
        lambda array: np.vectorize(Decimal, otypes=[object])(array),
    ],
)
def test_arrays_of_all_kinds_give_the_same(convert):
    arrays = {name: convert(PARTS[name]) for name in ARRAYS}
    assert_same(dataclasses.replace(EXAMPLE, **arrays), EXAMPLE)
    policy = np.random.default_rng(0).dirichlet(np.ones(2), 3)
    assert EXAMPLE.evaluate(convert(policy)) == EXAMPLE.evaluate(policy)


def test_what_rounding_puts_beyond_an_end_is_put_there():
    """The scale is a little less than 0.1 here; sums within 1e-9 are left as they are."""
    rows, reward = [[[1.0, -1e-17]] * 2, [[1 + 9e-10, 0.0]] * 2], [[0.1, -1e-17]] * 2
    cmdp = pgpd_hf.CMDP(rows, reward, np.zeros((2, 2)), [1, -1e-13], 0.9, -1, scale=1 - 0.9)
    assert cmdp.reward.tolist() == [[1 - 0.9, 0]] * 2
    assert (cmdp.transition[0, 0].tolist(), cmdp.initial.tolist()) == ([1, 0], [1, 0])
    third = EXAMPLE.evaluate(np.full((3, 2), 0.5, np.float32) + [1e-7, 0])
    assert third == pytest.approx(EXAMPLE.evaluate(UNIFORM), rel=1e-6)
