"""Runs: no number depends on the block, the chunk, the thread or the order."""

import dataclasses
import signal
import threading

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import ALGORITHMS, NPGPD, NPGPDHF, checkpoint_grid, run, runs, solve
from reference import random_policies, random_process

ASKING = ("npgpd_hf", "zpgpd_hf")
CMDP = random_process(1, 3, 2, 0.8, threshold=0.9)
STEPS = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
asking_algorithms = pytest.mark.parametrize("name", ASKING)


def trace_of(algorithm, cmdp=CMDP, **options):
    usual = {"seeds": [1], "iterations": 7, **STEPS}
    usual |= {"evaluators": 16, "horizon": 3} if algorithm in ASKING else {}
    return run(cmdp, algorithm, **usual | options)


def assert_same(ours, theirs):
    theirs = theirs.reset_index(drop=True)
    pd.testing.assert_frame_equal(ours.reset_index(drop=True), theirs, check_exact=True)


@every_algorithm
def test_rows_hold_gaps_and_running_means_over_all_iterates(name):
    """Also over those between checkpoints; and a longer run begins with the shorter one."""
    trace = trace_of(name, seeds=[4, 2], iterations=600, checkpoints=range(601))
    assert tuple(trace.columns) == runs.COLUMNS
    assert trace["seed"].tolist() == [2] * 601 + [4] * 601
    assert trace["iteration"].tolist() == [*range(601)] * 2
    gaps = {"optimality_gap": solve(CMDP).reward_value - trace["reward_value"]}
    gaps |= {"constraint_violation": 0.9 - trace["utility_value"]}
    for column, gap in gaps.items():
        assert np.array_equal(trace[column], gap)
        means = trace.groupby("seed")[column].expanding().mean().to_numpy()
        np.testing.assert_allclose(trace[f"mean_{column}"], means, atol=1e-12)
    for iterations, chosen in ((600, [0]), (600, [600]), (2000, [3, 511, 512, 599])):
        some = trace_of(
            name, seeds=[4], iterations=iterations, checkpoints=[*chosen[::-1], *chosen]
        )
        assert_same(some, trace.query("seed == 4 and iteration in @chosen"))


@every_algorithm
def test_runs_end_with_the_returned_policies_and_start_with_the_given_ones(name):
    starts = random_policies(2, CMDP, 2)
    options = {"initial_policy": starts, "return_policies": True, "checkpoints": [0, 7]}
    trace, policies = trace_of(name, seeds=[3, 1], **options)
    found = np.reshape(trace["reward_value"], (2, 2)).T  # of seeds 1 and 3
    assert found[0] == pytest.approx(CMDP.evaluate(starts)[0][::-1])
    assert (found[1] == CMDP.evaluate(policies)[0]).all()


@pytest.mark.parametrize("evaluators", [1, 16, None])
@pytest.mark.parametrize("rounds", [1, 3])
@asking_algorithms
def test_answers_and_steps_accumulate(name, evaluators, rounds):
    """Counted line by line: trajectories from s, (s, a) and rho, and questions about them."""
    trace = trace_of(name, evaluators=evaluators, rounds=rounds, checkpoints=range(8))
    trajectories, questions = (3 + 6 + 1, 6 + 6 + 1) if name == "npgpd_hf" else (2, 3)
    count = trace["iteration"] * rounds
    assert trace["answers"].tolist() == (count * questions * (evaluators or 0)).tolist()
    assert trace["env_steps"].tolist() == (count * trajectories * 4).tolist()
    assert trace["evaluators"].fillna(0).tolist() == [evaluators or 0] * 8


@pytest.mark.parametrize("states", [3, 40])
@every_algorithm
def test_seeds_threads_and_chunks_do_not_matter(name, states, monkeypatch):
    """In a CMDP of 40 states LAPACK evaluates the policies."""
    options = {"cmdp": random_process(3, states, 2, 0.5), "iterations": 40}
    together = trace_of(name, seeds=[0, 3, 7, 12], **options)
    assert_same(together, trace_of(name, seeds=iter([12, 0, 7, 3]), threads=3, **options))
    assert_same(together.query("seed == 7"), trace_of(name, seeds=[7], **options))
    for words, iterations, entries in ((1, 512, 9), (50, 512, 10**6), (2**30, 3, 2**30)):
        monkeypatch.setattr(runs, "_CHUNK_WORDS", words)
        monkeypatch.setattr(runs, "_CHUNK_ITERATIONS", iterations)
        monkeypatch.setattr(runs, "_CHUNK_ENTRIES", entries * states)
        assert_same(together, trace_of(name, seeds=[0, 3, 7, 12], **options))


@asking_algorithms
def test_an_algorithm_with_its_options_is_its_name_and_a_known_optimum_is_kept(name, monkeypatch):
    expected, optimum = trace_of(name), solve(CMDP)
    algorithm = ALGORITHMS[name](evaluators=16, horizon=3, **STEPS)
    monkeypatch.delattr("pgpd_hf.optimum.solve")
    assert_same(run(CMDP, algorithm, seeds=[1], iterations=7, optimum=optimum), expected)


CERTAIN = {"initial": [0, 1, 0], "threshold": 0.5}


@pytest.mark.parametrize(
    ("name", "change", "options", "message"),
    [
        ("npg_pd", {}, {"evaluators": 3}, "evaluators: no option of"),
        ("npgpd_hf", {}, {"streams": 3}, "streams: no option of"),
        ("npgpd_hf", {}, {"evaluators": None, "random_answers": 0.1}, "random_answers: 0 expected"),
        ("npgpd_hf", {}, {"rounds": 10**4, "horizon": 10**4}, "rounds, horizon: at most"),
        ("npg_pd", {}, {"initial_policy": np.eye(2)[[0, 1, 1]]}, "initial_policy: positive"),
        ("zpgpd_hf", CERTAIN, {"dual_step": None}, "dual_step: a number expected"),
        ("zpgpd_hf", {"discount": 0}, {"evaluators": None}, "perturbation: "),  # nobody errs: 0
        ("zpgpd_hf", {"discount": 0.999}, {"horizon": 5000}, "perturbation: "),  # exp(1000)
        ("npgpd_hf", {}, {"primal_step": 1e308}, "primal_step: 1e\\+308 is so large"),
        (NPGPDHF(evaluators=3), {}, {}, "primal_step: options are set when the algorithm is made"),
    ],
)
def test_options_that_do_not_fit_are_refused(name, change, options, message):
    cmdp = dataclasses.replace(CMDP, **{"threshold": 0.5, **change})
    with pytest.raises(ValueError, match=f"^{message}"):
        trace_of(name, cmdp, **options)


@pytest.mark.parametrize("iterations", [1, 2, 3, 100, 101, 12_345, 10**6])
def test_default_checkpoints(iterations):
    grid = checkpoint_grid(iterations)
    assert {0, iterations - 1, iterations, *range(min(iterations, 6))} <= set(grid.tolist())
    assert 1 <= np.diff(grid).min() <= np.diff(grid).max() <= iterations / 100 + 1


def fail():
    raise ArithmeticError


def interrupt():
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


@pytest.mark.parametrize("stop", [fail, interrupt])
@pytest.mark.parametrize("threads", [1, 2])
def test_run_stops_before_its_end_after_an_error_or_interrupt(threads, stop, request):
    """Also the other seeds, which run in threads that no interrupt reaches."""
    calls = []

    class Stopping(NPGPD):
        name = "stopping"

        def update(self, run, state):
            calls.append(state)
            if len(calls) == 2000:  # when the main thread certainly waits
                stop()
            return super().update(run, state)

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, handler))
    options = {"seeds": range(threads), "threads": threads, "iterations": 10**6}
    with pytest.raises((ArithmeticError, KeyboardInterrupt)):
        run(CMDP, Stopping(**STEPS), **options)
    assert len(calls) < 20_000
