"""Runs: no number depends on the block, the chunk, the thread or the order."""

import dataclasses
import itertools
import re
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pandas as pd
import pytest
from preparing import ASKING, EXACT, prepare
from reference import random_policies, random_process

from pgpd_hf import ALGORITHMS, checkpoint_grid, random_cmdp, run, solve
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import option
from pgpd_hf.core.sampling import CUT_OFF, default_horizon
from pgpd_hf.runs import traces

STEPS = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5}
OPTIONS = {"evaluators": 16, "seeds": [1], "iterations": 7, "horizon": 3, **STEPS}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


def length(name, iterations):
    """Shorter for algorithms that fit a policy in every iteration, which takes a thousand times."""
    return iterations if ALGORITHMS[name].has_steps else 5


@pytest.fixture(scope="module")
def cmdp():
    return random_process(1, 3, 2, 0.8, threshold=0.9)


def block(trace, seed):
    return trace[trace["seed"] == seed].reset_index(drop=True)


def assert_same(ours, theirs):
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.fixture(scope="module")
def demanding(cmdp):
    """The threshold is beyond what the uniform policy reaches, half way to the largest utility."""
    uniform = cmdp.evaluate(np.full((3, 2), 0.5))[1]
    largest = cmdp.threshold + solve(cmdp).slack
    return dataclasses.replace(cmdp, threshold=(uniform + largest) / 2)


def replay(cmdp, name, seed=1, initial_policy=None, **options):
    """All iterates of a run, with their values: (policies, multipliers, v_r, v_g)."""
    options = {key: value for key, value in {**OPTIONS, **options}.items() if key != "seeds"}
    algorithm = prepare(name, cmdp, **{"perturbation": None, **options})
    chunks = list(traces.iterates(algorithm, seed, initial_policy=initial_policy))
    policies, multipliers = (np.concatenate([chunk[k] for chunk in chunks]) for k in (0, 1))
    return policies, multipliers, *cmdp.evaluate(policies)


# The trace.


@every_algorithm
def test_columns_and_their_types(cmdp, name):
    trace = run(cmdp, name, **OPTIONS)
    assert tuple(trace.columns) == traces.COLUMNS
    for column in ("seed", "iteration", "answers", "steps"):
        assert trace[column].dtype == np.int64, column
    assert trace["evaluators"].dtype == pd.Int64Dtype()
    for column in traces.COLUMNS[4:11]:
        assert trace[column].dtype == np.float64, column
        assert np.isfinite(trace[column]).all()
    assert (trace["algorithm"] == name).all()
    assert (trace["evaluators"] == 16).all()
    assert trace.index.tolist() == list(range(8))


@every_algorithm
def test_rows_are_the_iterates_and_their_exact_values(cmdp, name):
    trace = run(cmdp, name, **{**OPTIONS, "seeds": [4, 2], "checkpoints": range(8)})
    optimum = solve(cmdp)
    assert trace["seed"].tolist() == [2] * 8 + [4] * 8
    for seed in (2, 4):
        rows = block(trace, seed)
        policies, multipliers, v_r, v_g = replay(cmdp, name, seed)
        assert policies.shape == (8, 3, 2)
        assert (rows["iteration"] == np.arange(8)).all()
        assert (rows["reward_value"] == v_r).all()
        assert (rows["utility_value"] == v_g).all()
        assert (rows["multiplier"] == multipliers).all()
        gap, violation = optimum.reward_value - v_r, 0.9 - v_g
        np.testing.assert_allclose(rows["optimality_gap"], gap, atol=1e-14)
        np.testing.assert_allclose(rows["constraint_violation"], violation, atol=1e-14)
        counts = np.arange(1, 9)
        for column, values in (("optimality_gap", gap), ("constraint_violation", violation)):
            np.testing.assert_allclose(
                rows[f"mean_{column}"], np.cumsum(values) / counts, rtol=1e-12, atol=1e-14
            )


@pytest.mark.parametrize("name", [name for name in ALGORITHMS if ALGORITHMS[name].has_steps])
@pytest.mark.parametrize("checkpoints", [[0], [700], [3, 699], [0, 1, 511, 512, 513, 700]])
def test_running_means_include_iterates_between_checkpoints(cmdp, name, checkpoints):
    options = {**OPTIONS, "iterations": 700}
    trace = run(cmdp, name, **options, checkpoints=checkpoints)
    _, _, v_r, v_g = replay(cmdp, name, iterations=700)
    assert len(v_r) == 701
    assert trace["iteration"].tolist() == checkpoints
    reward = np.array([v_r[: k + 1].mean() for k in checkpoints])
    utility = np.array([v_g[: k + 1].mean() for k in checkpoints])
    expected = solve(cmdp).reward_value - reward
    np.testing.assert_allclose(trace["mean_optimality_gap"], expected, atol=1e-12)
    np.testing.assert_allclose(trace["mean_constraint_violation"], 0.9 - utility, atol=1e-12)
    np.testing.assert_allclose(trace["reward_value"], v_r[checkpoints], atol=1e-15)


@every_algorithm
def test_first_iterate_is_uniform_with_multiplier_zero(cmdp, name):
    first = run(cmdp, name, **OPTIONS, checkpoints=[0]).iloc[0]
    v_r, v_g = cmdp.evaluate(np.full((3, 2), 0.5))
    assert (first["reward_value"], first["utility_value"]) == (v_r, v_g)
    assert (first["multiplier"], first["answers"], first["steps"]) == (0, 0, 0)


@every_algorithm
def test_initial_policy_is_where_it_starts(cmdp, name):
    policy = random_policies(2, cmdp)
    trace = run(cmdp, name, **OPTIONS, initial_policy=policy)
    v_r, v_g = cmdp.evaluate(policy)
    assert trace["reward_value"][0] == pytest.approx(v_r, rel=1e-13)
    assert trace["utility_value"][0] == pytest.approx(v_g, rel=1e-13)


@every_algorithm
def test_multiplier_keeps_to_its_bound(demanding, name):
    options = {**OPTIONS, "multiplier_bound": 0.3, "dual_step": 2.0, "iterations": 60}
    multiplier = run(demanding, name, **options)["multiplier"]
    assert multiplier[0] == 0
    assert multiplier.between(0, 0.3).all()
    if name in (*ASKING, *EXACT):
        assert multiplier.max() == 0.3


@every_algorithm
@pytest.mark.parametrize("evaluators", [1, 16, None])
@pytest.mark.parametrize("rounds", [1, 3])
def test_answers_and_steps_accumulate(cmdp, name, evaluators, rounds):
    options = {**OPTIONS, "evaluators": evaluators, "rounds": rounds}
    trace = run(cmdp, name, **options, checkpoints=range(8))
    trajectories, questions = ALGORITHMS[name].effort(3, 2, rounds)
    assert trace["answers"].tolist() == [t * questions * (evaluators or 0) for t in range(8)]
    assert trace["steps"].tolist() == [t * trajectories * 4 for t in range(8)]
    if evaluators is None:
        assert trace["evaluators"].isna().all()
    else:
        assert (trace["evaluators"] == evaluators).all()


# Independence.


@every_algorithm
def test_longer_run_begins_with_the_shorter_one(cmdp, name):
    short = run(cmdp, name, **OPTIONS, checkpoints=range(8))
    longer = run(cmdp, name, **{**OPTIONS, "iterations": 30}, checkpoints=range(8))
    assert_same(short, longer)


@every_algorithm
@pytest.mark.parametrize("threads", [1, 2])
def test_seeds_do_not_notice_each_other(cmdp, name, threads):
    options = {**OPTIONS, "iterations": length(name, 40), "threads": threads}
    together = run(cmdp, name, **{**options, "seeds": [0, 3, 7, 12]})
    assert_same(together, run(cmdp, name, **{**options, "seeds": iter([12, 0, 7, 3])}))
    for seed in (7, 0):
        assert_same(block(together, seed), run(cmdp, name, **{**options, "seeds": [seed]}))
    some = run(cmdp, name, **{**options, "seeds": np.array([3, 12])})
    for seed in (3, 12):
        assert_same(block(together, seed), block(some, seed))


@every_algorithm
@pytest.mark.parametrize("states", [3, 40])
def test_chunks_do_not_matter(name, states, monkeypatch):
    """In a CMDP of 40 states LAPACK evaluates the policies."""
    cmdp = random_process(3, states, 2, 0.5)
    options = {**OPTIONS, "iterations": length(name, 23), "horizon": 1}
    whole = run(cmdp, name, **options)
    few, many = 1, 10**6
    for words, iterations, entries in (
        (1, 512, 1),
        (1, 512, 32 * 2 * states),
        (5 * 10, 512, 5 * 2 * states),
        (2**15, few, few),
        (2**15, 4, 9 * 2 * states),
        (2**30, many, many),
    ):
        monkeypatch.setattr(traces, "_CHUNK_WORDS", words)
        monkeypatch.setattr(traces, "_CHUNK_ITERATIONS", iterations)
        monkeypatch.setattr(traces, "_CHUNK_ENTRIES", entries)
        assert_same(whole, run(cmdp, name, **options))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_threads_keep_the_order_and_stop_after_an_error(threads):
    begun = []

    def halve(item, stopped):
        begun.append(item)
        if item == 13:
            raise ValueError("odd")
        time.sleep(0.001)
        return item / 2

    assert traces._in_threads(halve, range(9, 1, -1), threads) == [k / 2 for k in range(9, 1, -1)]
    begun.clear()
    with pytest.raises(ValueError, match="odd"):
        traces._in_threads(halve, range(13, 10_000), threads)
    assert len(begun) < 1000


def fail():
    raise ArithmeticError


def interrupt():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.parametrize("stop", [fail, interrupt])
@pytest.mark.parametrize("threads", [1, 2])
def test_run_stops_before_its_end_after_an_error_or_interrupt(cmdp, threads, stop, request):
    """Also the other seeds, which run in threads that no interrupt reaches."""
    calls = []

    def tell(done, total):
        calls.append(done)
        if len(calls) == 2:
            stop()

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, handler))
    options = {**OPTIONS, "seeds": range(threads), "iterations": 1024 * 500}
    with pytest.raises((ArithmeticError, KeyboardInterrupt)):
        run(cmdp, "npgpd_hf", **options, threads=threads, progress=tell)
    assert len(calls) < 100  # of 500 each


def test_record_is_a_cumulative_sum_to_the_bit():
    values = tuple(np.random.default_rng(5).random((2, 50)))
    multipliers, grid = np.arange(50.0), np.array([0, 3, 19, 20, 48])
    sums, rows = np.zeros(2), np.full((5, 5), np.nan)
    for piece in (slice(0, 20), slice(20, 21), slice(21, 50)):
        parts = tuple(value[piece] for value in values)
        traces._record(parts, multipliers[piece], piece.start, grid, sums, rows)
    means = np.cumsum(values, axis=1) / np.arange(1, 51)
    assert (rows == np.vstack([*values, multipliers, means])[:, grid]).all()


@every_algorithm
def test_optimum_at_hand_is_not_looked_for_again(cmdp, name, monkeypatch):
    expected, optimum = run(cmdp, name, **OPTIONS), solve(cmdp)
    monkeypatch.delattr(traces.optima, "solve")
    assert_same(run(cmdp, name, **OPTIONS, optimum=optimum), expected)


@every_algorithm
def test_checkpoints_choose_rows_and_change_nothing(cmdp, name):
    every = run(cmdp, name, **OPTIONS, checkpoints=range(8))
    some = run(cmdp, name, **OPTIONS, checkpoints=np.array([6, 0, 3, 3]))
    assert_same(some, every.iloc[[0, 3, 6]].reset_index(drop=True))


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_seed_purpose_and_evaluators_name_the_stream(cmdp, name):
    """None of them leaves the numbers as they were."""
    base = run(cmdp, name, **OPTIONS)["reward_value"][1:]
    for change in ({"seeds": [2]}, {"purpose": "calibration"}, {"evaluators": 17}):
        other = run(cmdp, name, **{**OPTIONS, **change})["reward_value"][1:]
        assert (base != other).all(), change
    assert_same(run(cmdp, name, **OPTIONS), run(cmdp, name, **OPTIONS, purpose="run"))


def test_streams_of_a_run(cmdp, monkeypatch):
    """Words and normals, algorithms, evaluators, seeds and purposes have streams of their own."""
    opened = []
    start = traces.streams.word_stream

    def note(**axes):
        stream = start(**axes)
        opened.append(tuple(stream.lanes[0]))
        return stream

    monkeypatch.setattr(traces.streams, "word_stream", note)
    for name in ("npgpd_hf", "zpgpd_hf"):
        for evaluators in (1, 16, None):
            for purpose in ("run", "calibration"):
                options = {**OPTIONS, "evaluators": evaluators, "seeds": range(3)}
                run(cmdp, name, **options, purpose=purpose)
    assert len(opened) == len(set(opened)) == (1 + 2) * 3 * 2 * 3  # NPGPD-HF has no normals


def test_purpose_does_not_reach_exact_algorithms(cmdp):
    first = run(cmdp, "npg_pd", **OPTIONS)
    other = run(cmdp, "npg_pd", **{**OPTIONS, "seeds": [2]}, purpose="other")
    assert_same(first.drop(columns="seed"), other.drop(columns="seed"))


def test_default_steps_reach_the_run(demanding):
    """Without options the multiplier moves by the theorem's step: (1 - gamma) / sqrt(T)."""
    options = {"evaluators": None, "seeds": [1], "iterations": 4, "horizon": 40}
    trace = run(demanding, "npg_pd", **options)
    expected = 0.2 / 2 * (demanding.threshold - trace["utility_value"][0])
    assert trace["multiplier"][1] == pytest.approx(expected, rel=1e-12)
    assert trace["multiplier"][1] > 0


# The default grid.


@pytest.mark.parametrize("iterations", [1, 2, 3, 10, 100, 101, 12_345, 10**6])
def test_default_checkpoints(cmdp, iterations):
    grid = checkpoint_grid(iterations)
    assert grid.dtype == np.int64
    assert (np.diff(grid) > 0).all()
    assert {0, iterations - 1, iterations} <= set(grid.tolist())
    assert (grid[0], grid[-1]) == (0, iterations)
    assert len(grid) <= 203
    if iterations <= 100:
        assert len(grid) == iterations + 1
    if iterations <= 10:
        trace = run(cmdp, "npg_pd", **{**OPTIONS, "iterations": iterations})
        assert trace["iteration"].tolist() == grid.tolist()


def test_grid_is_dense_at_the_start_and_even_at_the_end():
    grid = checkpoint_grid(10_000)
    assert grid[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert set(range(0, 10_001, 100)) <= set(grid.tolist())
    assert len(checkpoint_grid(10_000, 10)) < len(grid) / 5


@pytest.mark.parametrize(
    ("arguments", "name"),
    [((0,), "iterations"), ((-3,), "iterations"), ((2.0,), "iterations"), ((5, 0), "points")],
)
def test_bad_grid_is_refused(arguments, name):
    with pytest.raises(ValueError, match=f"^{name}: "):
        checkpoint_grid(*arguments)


# Admissible, if unusual.


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
@pytest.mark.parametrize(
    ("scale", "own"),
    [
        (5.0, {}),
        (1.0, {"threshold": -1e-300}),
        (1.0, {"threshold": 1e-300}),
    ],
)
def test_one_person_large_signals_and_thresholds_beside_zero(cmdp, name, scale, own):
    signals = {key: scale * getattr(cmdp, key) for key in ("reward", "utility", "scale")}
    options = {"threshold": scale * cmdp.threshold, **signals, **own}
    process = dataclasses.replace(cmdp, **options)
    trace = run(process, name, **{**OPTIONS, "evaluators": 1})
    assert np.isfinite(trace.drop(columns="algorithm").astype(float)).all(axis=None)
    values = trace[["reward_value", "utility_value"]]
    assert values.min(axis=None) >= 0
    assert values.max(axis=None) <= process.value_bound == pytest.approx(scale * cmdp.value_bound)
    if own:
        assert solve(process).multiplier == 0
        zero = dataclasses.replace(process, threshold=0.0)
        assert_same(trace, run(zero, name, **{**OPTIONS, "evaluators": 1}))


# Refusals.


def test_steps_and_radius_that_destroy_the_policy_are_named(cmdp):
    cause = r"^primal_step: 1e\+300 is so large, or perturbation: 1e-10 so small, that rounding"
    with pytest.raises(ValueError, match=cause):
        run(cmdp, "zpgpd_hf", **{**OPTIONS, "primal_step": 1e300}, perturbation=1e-10)
    with pytest.raises(ValueError, match=r"^primal_step: 1e\+308 is so large that rounding"):
        run(cmdp, "npgpd_hf", **{**OPTIONS, "primal_step": 1e308})


BAD = [
    ("evaluators", [0, -1, 1.0, "16", True, np.nan, [16], 10**7 + 1]),
    ("iterations", [0, -1, 10.0, None, "7", True]),
    ("rounds", [0, 1.5, None, False]),
    ("horizon", [-1, 0.5, "80"]),
    ("primal_step", [-0.1, np.nan, np.inf, "1", True]),
    ("dual_step", [-0.1, np.nan, -np.inf, [0.1]]),
    ("multiplier_bound", [-1, np.nan, np.inf, "2"]),
    ("perturbation", [0, -0.1, np.nan, np.inf, False]),
    ("link", ["logit", None, 1, ["probit"]]),
    ("true_link", ["logit", 1, ["probit"]]),
    ("random_answers", [-0.1, 1.1, np.nan, "1", None, True]),
    ("flipped_answers", [-0.1, 1.1, np.nan, "1", None, True]),
    ("directions", ["ball", None, 0]),
    ("estimator", ["printed", None, 0, ["unbiased"]]),
    ("initial_multiplier", [-1, np.nan, np.inf, "1", 1e9]),
    ("normalize", ["cubic", None, 0, ["linear"], True]),
    ("step_decay", [-0.1, np.nan, np.inf, "1", None, True]),
    ("dual_regularization", [-0.1, np.nan, np.inf, "1", None, True]),
    ("parameterization", ["linear", 0, ["direct"], "direct"]),
    ("initial_policy", [[[0.5, 0.5]] * 2, [[0.5, 0.6]] * 3, "uniform", [[1.0, 0.0]] * 3]),
    ("seeds", [[], 3, None, [1, 1], [0, np.int64(0)], [-1], [1.0], ["1"], "1", [True]]),
    ("checkpoints", [[], 3, [-1], [8], [0.0], ["1"], [True], [None]]),
    ("threads", [0, -1, 1.5, None, True]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD for value in values]
)
def test_bad_argument_is_named(cmdp, name, value):
    with pytest.raises(ValueError, match=rf"^{name}(\[\d+\])?: "):
        run(cmdp, "npgpd_hf", **{**OPTIONS, name: value})


@pytest.mark.parametrize(
    "people", [{"true_link": "probit"}, {"random_answers": 0.1}, {"flipped_answers": 0.1}]
)
def test_infinitely_many_vote_as_assumed(cmdp, people):
    with pytest.raises(
        ValueError, match=r"^evaluators: an integer expected, since infinitely many"
    ):
        run(cmdp, "npgpd_hf", **{**OPTIONS, "evaluators": None, **people})


@pytest.mark.parametrize("algorithm", ["ppo", None, 1, "NPGPD_HF"])
def test_bad_algorithm_is_named(cmdp, algorithm):
    with pytest.raises(ValueError, match=r"^algorithm: one of "):
        run(cmdp, algorithm, **OPTIONS)


def test_infeasible_threshold_is_named():
    with pytest.raises(ValueError, match=r"^threshold: "):
        run(random_process(1, 3, 2, 0.8, threshold=4.9), "npgpd_hf", **OPTIONS)


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_iteration_that_would_fill_the_memory_is_refused_where_it_is_built(name):
    cmdp = random_cmdp(10, 4, 1)
    limit = r"rounds, horizon: one iteration draws \d+ random words; at most 16777216 are possible"
    with pytest.raises(ValueError, match=limit):
        prepare(name, cmdp, rounds=10000, horizon=1000)
    with pytest.raises(ValueError, match=limit):
        run(cmdp, name, evaluators=4, seeds=[0], iterations=1, rounds=10000, horizon=1000)


IDLE = [("perturbation", 1.0), ("directions", "tangent"), ("estimator", "unbiased")]


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        *((name, *pair) for name in ("npg_pd", "pg_pd") for pair in IDLE),
        *(("npgpd_hf", *pair) for pair in IDLE[:2]),
    ],
)
def test_option_without_effect_is_refused(cmdp, name, option, value):
    message = f"^{option}: no option of {name} \\(its options: parameterization, "
    with pytest.raises(ValueError, match=message):
        run(cmdp, name, **OPTIONS, **{option: value})
    run(cmdp, "zpgpd_hf", **OPTIONS, **{option: value})
    assert get_algorithm(name).pick({option: value, "dual_step": 2}) == {"dual_step": 2}
    assert get_algorithm("zpgpd_hf").pick({option: value}) == {option: value}


# Evaluators, and phases.


@pytest.mark.parametrize("name", EXACT)
def test_algorithms_that_ask_nobody_need_no_evaluators(cmdp, name):
    options = {key: value for key, value in OPTIONS.items() if key != "evaluators"}
    trace = run(cmdp, name, **options)
    assert_same(trace, run(cmdp, name, **options, evaluators=None))
    assert_same(trace, run(cmdp, name, **options, evaluators=16))
    assert trace["evaluators"].isna().all()


@pytest.mark.parametrize("name", ASKING)
def test_algorithms_that_ask_need_a_number_of_evaluators(cmdp, name):
    options = {key: value for key, value in OPTIONS.items() if key != "evaluators"}
    message = rf"^evaluators: needed by {name}: M, .* None for infinitely many"
    with pytest.raises(ValueError, match=message):
        run(cmdp, name, **options)
    phases = [{"iterations": 3, "evaluators": 4}, {"iterations": 4}]
    with pytest.raises(ValueError, match=r"^phases\[1\]: evaluators: needed by"):
        run(cmdp, name, **{**options, "iterations": None}, phases=phases)


def in_phases(cmdp, name, *phases, **options):
    options = {**OPTIONS, "iterations": None, **options}
    return run(cmdp, name, phases=list(phases), **options)


@every_algorithm
def test_one_phase_is_a_run(cmdp, name):
    steps = {"primal_step": 0.1, "dual_step": None} if ALGORITHMS[name].has_theorem() else {}
    options = {**OPTIONS, "iterations": 30, **steps}
    whole = run(cmdp, name, **{**options, "evaluators": 8, "horizon": 4})
    phase = {"iterations": 30, "evaluators": 8, "horizon": 4}
    assert_same(in_phases(cmdp, name, phase, **steps), whole)
    assert_same(in_phases(cmdp, name, phase, **{**steps, "iterations": 30}), whole)


@every_algorithm
def test_phases_take_over_the_state(cmdp, name):
    """Each begins where the one before it ends, with streams and evaluators of its own."""
    phases = [{"iterations": 5, "evaluators": 4}, {"iterations": 3, "rounds": 2}, {"iterations": 4}]
    trace = in_phases(cmdp, name, *phases, purpose="x", checkpoints=range(13))
    state, policies, multipliers = None, [], []
    for k, phase in enumerate(phases):
        options = {key: value for key, value in OPTIONS.items() if key != "seeds"}
        algorithm = prepare(name, cmdp, **{"perturbation": None, **options, **phase})
        *chunks, (last, multiplier, state) = traces.iterates(
            algorithm, 1, purpose=f"x, phase {k}", state=state
        )
        policies += [chunk[0] for chunk in chunks]
        multipliers += [chunk[1] for chunk in chunks]
    assert state.iteration == 12
    v_r, v_g = cmdp.evaluate(np.concatenate([*policies, last]))
    assert (trace["reward_value"] == v_r).all()
    assert (trace["multiplier"] == np.concatenate([*multipliers, multiplier])).all()
    means = np.cumsum(v_g) / np.arange(1, 14)
    np.testing.assert_allclose(trace["mean_constraint_violation"], 0.9 - means, atol=1e-14)


def test_exact_phases_are_one_exact_run(demanding):
    """Without randomness, handing over the state changes nothing but the evaluators' column."""
    for steps in (STEPS, {"primal_step": None, "dual_step": None}):  # the theorem's: for all T
        phases = [{"iterations": k, "evaluators": m} for k, m in ((5, 8), (600, None), (20, 16))]
        trace = in_phases(demanding, "npg_pd", *phases, **steps)
        whole = run(demanding, "npg_pd", **{**OPTIONS, **steps, "iterations": 625})
        assert_same(trace.drop(columns="evaluators"), whole.drop(columns="evaluators"))
        assert trace["multiplier"].max() > 0


def test_costs_add_up_over_phases(cmdp):
    phases = [{"iterations": 4, "evaluators": 2}, {"iterations": 3, "evaluators": 8, "horizon": 5}]
    phases.append({"iterations": 2, "evaluators": None, "rounds": 3})
    trace = in_phases(cmdp, "npgpd_hf", *phases, seeds=[0, 1], checkpoints=range(10))
    per_round, questions = 3 + 6 + 1, 2 * 6 + 1
    steps, answers = [0], [0]
    for rounds, horizon, evaluators in [(1, 3, 2)] * 4 + [(1, 5, 8)] * 3 + [(3, 3, 0)] * 2:
        steps.append(steps[-1] + rounds * per_round * (horizon + 1))
        answers.append(answers[-1] + rounds * questions * evaluators)
    for seed in (0, 1):
        rows = block(trace, seed)
        assert rows["steps"].tolist() == steps
        assert rows["answers"].tolist() == answers
        assert rows["evaluators"].fillna(0).tolist() == [2] * 4 + [8] * 3 + [0] * 3


def test_phases_draw_different_numbers(demanding):
    """Two phases that are alike do not repeat each other."""
    phases = [{"iterations": 15}, {"iterations": 15}]
    steps = {"primal_step": 0.0, "dual_step": 0.001, "multiplier_bound": 10.0}
    trace = in_phases(demanding, "npgpd_hf", *phases, **steps, checkpoints=[0, 15, 30])
    first, second = trace["multiplier"].diff()[1:]
    assert abs(first - second) > 1e-9
    assert first != 0 != second


@pytest.mark.parametrize(
    ("phases", "message"),
    [
        ([], "phases: a list of dicts expected, got []"),
        (3, "phases: a list of dicts expected, got 3"),
        ({"iterations": 3}, "phases: a list of dicts expected, got {'iterations': 3}"),
        ([{"iterations": 3}, 4], "phases[1]: a dict expected, got 4"),
        ([{}], "phases[0]: iterations: an integer of at least 1 expected, got None"),
        ([{"iterations": 3, "link": "probit"}], "phases[0]: name: one of iterations, evaluators, "),
        ([{"iterations": 3}, {"iterations": 3, "rounds": 0}], "phases[1]: rounds: an integer"),
        (
            [{"iterations": 10**9}, {"iterations": 1}],
            "iterations: an integer of at most 1000000000",
        ),
    ],
)
def test_bad_phases_are_named(cmdp, phases, message):
    with pytest.raises(ValueError, match=r".") as refusal:
        run(cmdp, "npgpd_hf", **{**OPTIONS, "iterations": None, "phases": phases})
    assert str(refusal.value).startswith(message)


def test_iterations_beside_phases_are_their_sum(cmdp):
    with pytest.raises(ValueError, match=r"^iterations: 6, the sum over the phases, or None"):
        in_phases(cmdp, "npgpd_hf", {"iterations": 3}, {"iterations": 3}, iterations=7)


# State that an algorithm keeps in itself.


def test_run_refuses_state_in_self(cmdp):
    class Counter(ALGORITHMS["npg_pd"]):
        name = "counter"
        count = 0

        def update(self, run, state, policy, words, normals):
            type(self).count += 1
            following = super().update(run, state, policy, words, normals)
            return following._replace(theta=policy * self.count)

    message = r"^algorithm: update of counter gave other numbers .* not in self"
    with pytest.raises(ValueError, match=message):
        run(cmdp, Counter(**STEPS), seeds=[0], iterations=5)


def test_run_checks_an_algorithm_once_for_all_numbers_of_a_setting(monkeypatch):
    """One iteration may take long; other options may lead through other code."""
    checked = []
    monkeypatch.setattr(traces, "_CHECKED", set())
    monkeypatch.setattr(traces, "require_explicit_state", lambda *given: checked.append(given))
    cmdp = random_process(3, 3, 2)
    common = {"seeds": [0], "iterations": 1, "horizon": 3}
    for evaluators, rounds, ridge in ((2, 3, 1.0), (5, 4, 9.0)):
        run(cmdp, "safe_rlhf", evaluators=evaluators, rounds=rounds, ridge=ridge, **common)
    assert len(checked) == 1
    run(cmdp, "safe_rlhf", evaluators=2, rounds=3, design="deterministic", **common)
    run(cmdp, "pessimistic_safe_rlhf", evaluators=2, rounds=3, **common)
    run(cmdp, "safe_rlhf", evaluators=None, rounds=3, **common)
    assert len(checked) == 4


def test_switch_that_leads_through_other_code_is_checked(cmdp):
    class Switched(ALGORITHMS["npg_pd"]):
        name = "switched"
        memory: bool = option(False, "Whether it remembers what it should not.")
        count = 0

        def update(self, run, state, policy, words, normals):
            type(self).count += self.memory
            following = super().update(run, state, policy, words, normals)
            return following._replace(theta=following.theta * (1 + self.count))

    run(cmdp, Switched(**STEPS), seeds=[0], iterations=5)
    with pytest.raises(ValueError, match=r"^algorithm: update of switched gave other numbers"):
        run(cmdp, Switched(**STEPS, memory=True), seeds=[0], iterations=5)


def test_registry_imports_only_what_is_used():
    program = (
        "import sys, pgpd_hf; pgpd_hf.algorithms.get_algorithm('npg_pd'); "
        "print(*sorted(m for m in sys.modules if m.startswith('pgpd_hf.algorithms.')))"
    )
    output = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    names = [f"pgpd_hf.algorithms.{name}" for name in ("base", "npg_pd", "npgpd_hf")]
    assert output.stdout.split() == names


# What is left to the caller's comfort.


@every_algorithm
def test_last_policies_are_those_of_the_last_rows(cmdp, name):
    options = OPTIONS | {"seeds": [3, 1]}
    if name in EXACT:
        options |= {"evaluators": None}
    trace, policies = run(cmdp, name, **options, return_policies=True)
    assert_same(trace, run(cmdp, name, **options))
    last = trace[trace["iteration"] == OPTIONS["iterations"]]
    values = cmdp.evaluate(policies)
    assert values[0].tolist() == last["reward_value"].tolist()
    assert values[1].tolist() == last["utility_value"].tolist()


@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9, 0.95, 0.99, 0.999])
def test_default_horizon_cuts_off_as_little_as_stated(discount):
    horizon = default_horizon(discount)
    assert horizon >= 80
    assert discount ** (horizon + 1) <= CUT_OFF
    assert horizon == 80 or discount**horizon > CUT_OFF


def test_horizon_follows_the_discount(cmdp):
    patient = dataclasses.replace(cmdp, discount=0.95, threshold=4.0)
    options = {key: value for key, value in OPTIONS.items() if key != "horizon"}
    own = run(patient, "zpgpd_hf", **options, perturbation=1)
    assert_same(own, run(patient, "zpgpd_hf", **options, perturbation=1, horizon=166))


@pytest.mark.parametrize("name", ["zpgpd_hf", "pg_pd"])
def test_theorem_2_needs_a_first_state_that_may_be_any(cmdp, name):
    certain = dataclasses.replace(cmdp, initial=[0, 1, 0], threshold=0.5)
    message = (
        r"^dual_step: Theorem 2's is infinite, since initial is 0 in state [02]; give a number$"
    )
    options = {"seeds": [0], "evaluators": 16, "iterations": 3}
    with pytest.raises(ValueError, match=message):
        run(certain, name, **options)
    with pytest.raises(ValueError, match=message):
        run(certain, name, primal_step=0.01, **options)
    trace = run(certain, name, dual_step=0.1, **options)  # beside Theorem 2's primal step
    assert trace["reward_value"].notna().all()


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("evaluators", -4, "evaluators: an integer of at least 1, or None, expected, got -4"),
        ("link", "nonsense", "link: one of logistic, probit, cauchy expected, got 'nonsense'"),
        ("horizon", "abc", "horizon: an integer of at least 0, or None, expected, got 'abc'"),
    ],
)
def test_option_that_is_left_aside_is_checked(name, value, message):
    cmdp = random_process(1)
    with pytest.raises(ValueError, match=re.escape(message)):
        run(cmdp, "npg_pd", seeds=[0], iterations=2, **{name: value})


@pytest.mark.parametrize("name", ["zpgpd_hf", "zpg"])
def test_perturbation_that_rounding_loses_is_refused(name):
    options = {"evaluators": None, "primal_step": 0.1, "dual_step": 0.1}
    with pytest.raises(
        ValueError, match=r"^perturbation: a number above 1e-15, or None, expected, got 1e-17"
    ):
        run(random_process(1), name, seeds=[0], iterations=2, perturbation=1e-17, **options)


def test_zpg_needs_no_dual_step_and_has_no_multiplier():
    options = {"evaluators": 4, "primal_step": 0.1, "perturbation": 0.5, "horizon": 3}
    trace = run(random_process(1), "zpg", seeds=[0], iterations=2, **options)
    assert (trace["multiplier"] == 0).all()
    with pytest.raises(
        ValueError, match=r"^initial_multiplier: a number in \[0, 0\] expected, got 5"
    ):
        run(random_process(1), "zpg", seeds=[0], iterations=2, initial_multiplier=5, **options)


def test_endless_lists_are_refused_before_the_memory_is_full(cmdp):
    for name, values in (("seeds", itertools.count()), ("checkpoints", itertools.repeat(0))):
        with pytest.raises(ValueError, match=f"^{name}: at most a million expected"):
            run(cmdp, "npgpd_hf", **OPTIONS | {name: values})
