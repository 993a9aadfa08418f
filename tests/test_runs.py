"""Runs: the paper's pseudo-code line by line, and no number depends on how runs are made."""

import dataclasses
import itertools
import signal
import threading

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import ALGORITHMS, NPGPD, NPGPDHF, checkpoint_grid, run, runs, solve
from reference import iterates, random_policies, random_process, values

ASKING, EXACT = ("npgpd_hf", "zpgpd_hf"), ("npg_pd", "pg_pd")
CMDP = random_process(1, 3, 2, 0.8, threshold=0.9)
STEPS = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
asking_algorithms = pytest.mark.parametrize("name", ASKING)


def with_defaults(name, options):
    """Options of an algorithm that leave nothing to its theorem."""
    usual = STEPS | ({"evaluators": 16, "horizon": 5} if name in ASKING else {})
    return usual | ({"perturbation": 0.4} if name == "zpgpd_hf" else {}) | options


def trace_of(name, cmdp=CMDP, **options):
    return run(cmdp, name, **{"seeds": [1], "iterations": 7, **with_defaults(name, options)})


def assert_same(ours, theirs):
    theirs = theirs.reset_index(drop=True)
    pd.testing.assert_frame_equal(ours.reset_index(drop=True), theirs, check_exact=True)


def assert_followed(cmdp, name, iterations=3, policy=None, multiplier=0.0, **options):
    """Decisions are the slow version's, so that real numbers differ by rounding only."""
    every = {"iterations": iterations, "checkpoints": range(iterations + 1), "seeds": [3]}
    every |= {"initial_policy": policy, "initial_multiplier": multiplier, "return_policies": True}
    trace, policies = trace_of(name, cmdp, **every, **options)
    start = {"policy": policy, "multiplier": multiplier, "seed": 3}
    slow = iterates(name, cmdp, iterations, **start, **with_defaults(name, options))
    slow_policies, multipliers = zip(*slow, strict=True)
    expected = [[*values(cmdp, p), m] for p, m in zip(slow_policies, multipliers, strict=True)]
    found = trace[["reward_value", "utility_value", "multiplier"]]
    np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(policies[0], slow_policies[-1], rtol=1e-11, atol=1e-12)
    return trace


def options_of(name):
    """Settings that matter to an algorithm."""
    divided = [{"normalize": how} for how in ("linear", "quadratic")]
    if name in EXACT:
        return [{}, *divided]
    sizes = itertools.product((1, 16, 100, None), (1, 3), (0, 5))
    listed = [{"evaluators": m, "rounds": n, "horizon": h} for m, n, h in sizes]
    listed += [{"link": link, "random_answers": 0.1} for link in ("probit", "cauchy")]
    listed += [{"random_answers": share} for share in (0.3, 1.0, 2.0)]
    listed += [{"estimator": "unbiased", "horizon": 0, "evaluators": m} for m in (1, 4, None)]
    forms = itertools.product(("direct", "softmax"), ("sphere", "tangent"), (1, 3))
    if name == "zpgpd_hf":
        names = "parameterization", "directions", "rounds"
        listed += [dict(zip(names, form, strict=True)) for form in forms]
    return listed + [{"rounds": 2, **how} for how in divided]


@pytest.mark.parametrize(
    ("name", "options"), [(n, options) for n in ALGORITHMS for options in options_of(n)]
)
def test_runs_are_those_of_the_pseudo_code(name, options):
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.9)
    start = {"policy": random_policies(13, cmdp), "multiplier": 0.7}
    trace = assert_followed(cmdp, name, **start, **options)
    assert trace["multiplier"].nunique() > 1
    assert np.ptp(trace["reward_value"]) > 1e-3


@asking_algorithms
@pytest.mark.parametrize("size", [(1, 1), (1, 4), (5, 3), (10, 4), (2, 5), (3, 6), (4, 1)])
def test_other_sizes_follow_the_pseudo_code_too(name, size):
    """With odd numbers of trajectories among them."""
    assert_followed(random_process(14, *size, 0.5, threshold=0.1), name, rounds=3, multiplier=0.4)


@asking_algorithms
def test_long_runs_with_another_scale_and_purpose_follow_it_too(name):
    cmdp = random_process(15, 3, 2, 0.8, threshold=0.55, scale=0.2)
    trace = assert_followed(cmdp, name, 60, evaluators=70, purpose="other", horizon=9)
    assert trace["multiplier"].nunique() > 30


@asking_algorithms
@pytest.mark.parametrize("horizon", [0, 1, 8])
def test_trajectories_may_end_in_absorbing_states(name, horizon):
    """States 1 and 2 are absorbing; 3 to 5 only seem to be: actions pay, or lead, elsewhere."""
    cmdp = random_process(5, 6, 3, 0.8)
    parts = {key: np.array(getattr(cmdp, key)) for key in ("transition", "reward", "utility")}
    parts["transition"][1:] = np.eye(6)[1:, None]
    parts["transition"][5, 0] = cmdp.transition[0, 0]
    for key, same in (("reward", [1, 2, 3, 5]), ("utility", [1, 2, 4, 5])):
        parts[key][same] = parts[key][same, :1]
    assert_followed(dataclasses.replace(cmdp, **parts), name, horizon=horizon, rounds=3)


@every_algorithm
@pytest.mark.parametrize(("threshold", "step", "end"), [(0, 1e6, 0), (1.1, 1e6, 1.5), (1, 0, 0.3)])
def test_multiplier_is_projected_at_both_ends_and_frozen_without_a_step(name, threshold, step, end):
    cmdp = random_process(1, 3, 2, 0.5, threshold=threshold)
    options = {"evaluators": None} if name in ASKING else {}
    trace = assert_followed(cmdp, name, 1, multiplier=0.3, dual_step=step, **options)
    assert trace["multiplier"].tolist() == [0.3, end]


@every_algorithm
def test_rows_hold_gaps_and_running_means_over_all_iterates(name):
    """Also over those between checkpoints; and a longer run begins with the shorter one."""
    trace = trace_of(name, seeds=[4, 2], iterations=1100, checkpoints=range(1101))
    assert tuple(trace.columns) == runs.COLUMNS
    assert trace["seed"].tolist() == [2] * 1101 + [4] * 1101
    assert trace["iteration"].tolist() == [*range(1101)] * 2
    gaps = {"optimality_gap": solve(CMDP).reward_value - trace["reward_value"]}
    gaps |= {"constraint_violation": 0.9 - trace["utility_value"]}
    for column, gap in gaps.items():
        assert np.array_equal(trace[column], gap)
        means = trace.groupby("seed")[column].expanding().mean().to_numpy()
        np.testing.assert_allclose(trace[f"mean_{column}"], means, atol=1e-12)
    for iterations, chosen in ((1100, [0]), (1100, [1100]), (1500, [3, 1023, 1024, 1099])):
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
    assert trace["env_steps"].tolist() == (count * trajectories * 6).tolist()
    assert trace["evaluators"].fillna(0).tolist() == [evaluators or 0] * 8


@pytest.mark.parametrize("states", [3, 40])
@every_algorithm
def test_seeds_and_threads_do_not_matter(name, states):
    """In a CMDP of 40 states LAPACK evaluates the policies."""
    options = {"cmdp": random_process(3, states, 2, 0.5), "iterations": 40}
    together = trace_of(name, seeds=[0, 3, 7, 12], **options)
    assert_same(together, trace_of(name, seeds=iter([12, 0, 7, 3]), threads=3, **options))
    assert_same(together.query("seed == 7"), trace_of(name, seeds=[7], **options))


@asking_algorithms
def test_an_algorithm_with_its_options_is_its_name_and_a_known_optimum_is_kept(name, monkeypatch):
    expected, optimum = trace_of(name), solve(CMDP)
    algorithm = ALGORITHMS[name](**with_defaults(name, {}))
    monkeypatch.delattr("pgpd_hf.optimum.solve")
    assert_same(run(CMDP, algorithm, seeds=[1], iterations=7, optimum=optimum), expected)


CERTAIN = {"initial": [0, 1, 0], "threshold": 0.5}
EXACTLY = {"evaluators": None, "perturbation": None}
LONG = {"horizon": 5000, "perturbation": None}


@pytest.mark.parametrize(
    ("name", "change", "options", "message"),
    [
        ("npg_pd", {}, {"evaluators": 3}, "evaluators: no option of"),
        ("npgpd_hf", {}, {"streams": 3}, "streams: no option of"),
        ("npgpd_hf", {}, {"evaluators": None, "random_answers": 0.1}, "random_answers: 0 expected"),
        ("npgpd_hf", {}, {"rounds": 10**4, "horizon": 10**4}, "rounds, horizon, random words"),
        ("npg_pd", {}, {"initial_policy": np.eye(2)[[0, 1, 1]]}, "initial_policy: positive"),
        ("zpgpd_hf", CERTAIN, {"dual_step": None}, "dual_step: a number expected"),
        ("zpgpd_hf", {"discount": 0}, EXACTLY, "perturbation: "),  # nobody errs: 0
        ("zpgpd_hf", {"discount": 0.999}, LONG, "perturbation: "),  # exp(1000)
        ("npgpd_hf", {}, {"primal_step": 1e308}, "primal_step: 1e\\+308 is so large"),
        ("pg_pd", {}, {"primal_step": 1e16}, "primal_step: 1e\\+16 is so large"),
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
