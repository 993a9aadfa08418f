"""Peers of the benchmark compute what the package computes; those that need no more than it has."""

import numpy as np
import pytest
from llvmlite.binding import get_host_cpu_features

from benchmarks import agreement, engine, report, scaling
from benchmarks.peers import limit, numpy_seeds, python_loop
from benchmarks.task import Task

TASKS = {f"{task.algorithm}-{task.rounds}": task for task in agreement.small_tasks()}
COMPARISONS = 2 * len(TASKS)
every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


def summaries(run, task, seeds):
    return run(task, range(seeds), agreement.ITERATIONS, cores=1)


@pytest.fixture(scope="module")
def ours():
    return {name: summaries(engine.run, task, 600) for name, task in TASKS.items()}


@pytest.mark.parametrize(("peer", "seeds"), [(numpy_seeds, 2000), (python_loop, 150)])
@pytest.mark.parametrize("name", TASKS)
def test_peer_agrees_with_the_engine(ours, peer, seeds, name):
    theirs = summaries(peer.run, TASKS[name], seeds)
    assert agreement.disagreements(ours[name], theirs, COMPARISONS) == []


@pytest.mark.parametrize(
    "change",
    [
        {"horizon": 2},
        {"evaluators": 20},
        {"primal_step": 0.9},
        {"dual_step": 0.1},
        {"threshold": 1.5},
    ],
    ids=lambda change: next(iter(change)),
)
@pytest.mark.parametrize("name", TASKS)
def test_peer_that_does_something_else_is_found_out(ours, name, change):
    theirs = summaries(numpy_seeds.run, TASKS[name]._replace(**change), 2000)
    assert agreement.disagreements(ours[name], theirs, COMPARISONS)


def test_limit_samples_the_task():
    """Mean returns from evenly many starts in each state, where the processor can run it."""
    if not get_host_cpu_features().get("avx512f"):
        pytest.skip("this processor has no AVX-512")
    task = TASKS["npgpd_hf-1"]
    found = limit.run(task, range(200), 200, cores=1)[:, :2]
    kernel = task.transition.mean(1)
    steps = [np.linalg.matrix_power(kernel, t) for t in range(task.horizon + 1)]
    discounted = sum(task.discount**t * step for t, step in enumerate(steps))
    starts = np.bincount(np.arange(limit.TRAJECTORIES) % 3) / limit.TRAJECTORIES
    expected = [starts @ discounted @ signal.mean(1) for signal in (task.reward, task.utility)]
    error = found.std(0, ddof=1) / np.sqrt(len(found))
    assert (np.abs(found.mean(0) - expected) <= 6 * error).all()


def test_limit_says_why_it_cannot_run(monkeypatch):
    monkeypatch.setattr(limit, "get_host_cpu_features", dict)
    with pytest.raises(SystemExit, match="this processor has no AVX-512"):
        limit.run(TASKS["npgpd_hf-1"], [0], 1, cores=1)


def test_statistic_that_is_no_number_is_found_out(ours):
    sample = ours["npgpd_hf-1"]
    broken = sample.copy()
    broken[:, 2] = np.nan
    found = agreement.disagreements(sample, broken, 1)
    assert [line.partition(":")[0] for line in found] == ["multiplier"]


@every_task
def test_engine_returns_means_over_all_iterates(task):
    """The mean over one update's two iterates is half way between the first and the last."""
    first = engine.run(task, [3], 1, cores=1)[0]
    uniform = np.full(task.reward.shape, 0.5)
    start = python_loop.exact_values(task, uniform)
    np.testing.assert_allclose(first[3:], (first[:2] + start) / 2, rtol=1e-12)


@every_task
def test_task_survives_its_archive(task, tmp_path):
    task.save(tmp_path / "task.npz")
    for ours, theirs in zip(task, Task.load(tmp_path / "task.npz"), strict=True):
        assert type(ours) is type(theirs)
        assert np.array_equal(ours, theirs)


@every_task
def test_steps_are_those_that_the_package_counts(task):
    steps = engine.trace(task, [0], 2, cores=1)["steps"]
    assert steps.tolist() == [0, task.steps_per_iteration, 2 * task.steps_per_iteration]


def test_table_holds_ratios_first():
    task = TASKS["zpgpd_hf-3"]
    times = {("engine", 1): 10e-9, ("engine", 2): 5e-9, ("C", 1): 30e-9, ("C", 2): 20e-9}
    times["limit", 1] = 4e-9
    lines = report.table(report.rows(task, 20, times), ["limit", "C", "JAX"]).splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    one, all_cores = (dict(zip(cells[0], row, strict=True)) for row in cells[2:])
    assert cells[0][:4] == ["algorithm", "N", "seeds", "cores"]
    assert cells[0][4:7] == ["engine / limit", "C / engine", "JAX / engine"]
    assert (one["engine / limit"], all_cores["engine / limit"]) == ("2.50", "–")
    assert (one["cores"], one["C / engine"], one["JAX / engine"]) == ("1", "3.00", "–")
    assert (all_cores["C / engine"], all_cores["1 core / all"]) == ("4.00", "2.00")
    assert all_cores["C: 1 core / all"] == "1.50"
    assert (one["engine, ns per step"], one["C, ns per step"]) == ("10.0", "30.0")
    assert one["engine, µs per iteration"] == "0.30"  # 2 trajectories x 3 x 5 steps x 10 ns


@pytest.mark.parametrize("order", [0, 1, 2.5])
def test_exponent_is_that_of_the_larger_sizes(order):
    sizes = np.array([1.0, 2, 5, 10, 20, 50])
    seconds = 3 * sizes**order
    seconds[:2] = 1e3  # an overhead that only small sizes feel
    assert scaling.exponent(sizes, seconds) == pytest.approx(order, abs=1e-12)
