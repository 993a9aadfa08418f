"""Runs: no number depends on the block, the chunk, the thread or the order."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from preparing import ASKING, EXACT
from reference import random_policies, random_process

from pgpd_hf import ALGORITHMS, checkpoint_grid, random_cmdp, run, runs, solve
from pgpd_hf.algorithms import Setting, get_algorithm

STEPS = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5}
OPTIONS = {"evaluators": 16, "seeds": [1], "iterations": 7, "horizon": 3, **STEPS}
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)


@pytest.fixture(scope="module")
def process():
    return random_process(1, 3, 2, 0.8, threshold=0.9)


def block(trace, seed):
    return trace[trace["seed"] == seed].reset_index(drop=True)


def assert_same(ours, theirs):
    pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.fixture(scope="module")
def demanding(process):
    """The threshold is beyond what the uniform policy reaches, half way to the largest utility."""
    uniform = process.evaluate(np.full((3, 2), 0.5))[1]
    largest = process.threshold + solve(process).slack
    return dataclasses.replace(process, threshold=(uniform + largest) / 2)


def replay(process, name, seed=1, initial_policy=None, **options):
    """All iterates of a run, with their values: (policies, multipliers, v_r, v_g)."""
    options = {key: value for key, value in {**OPTIONS, **options}.items() if key != "seeds"}
    algorithm = ALGORITHMS[name](process, solve(process), Setting(**options))
    chunks = list(runs.iterates(algorithm, seed, initial_policy))
    policies, multipliers = (np.concatenate(parts) for parts in zip(*chunks, strict=True))
    return policies, multipliers, *process.evaluate(policies)


# The trace.


@every_algorithm
def test_columns_and_their_types(process, name):
    trace = run(process, name, **OPTIONS)
    assert tuple(trace.columns) == runs.COLUMNS
    for column in ("seed", "iteration", "queries", "steps"):
        assert trace[column].dtype == np.int64, column
    assert trace["evaluators"].dtype == pd.Int64Dtype()
    for column in runs.COLUMNS[4:11]:
        assert trace[column].dtype == np.float64, column
        assert np.isfinite(trace[column]).all()
    assert (trace["algorithm"] == name).all()
    assert (trace["evaluators"] == 16).all()
    assert trace.index.tolist() == list(range(8))


@every_algorithm
def test_rows_are_the_iterates_and_their_exact_values(process, name):
    trace = run(process, name, **{**OPTIONS, "seeds": [4, 2], "checkpoints": range(8)})
    optimum = solve(process)
    assert trace["seed"].tolist() == [2] * 8 + [4] * 8
    for seed in (2, 4):
        rows = block(trace, seed)
        policies, multipliers, v_r, v_g = replay(process, name, seed)
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


@every_algorithm
@pytest.mark.parametrize("checkpoints", [[0], [700], [3, 699], [0, 1, 511, 512, 513, 700]])
def test_running_means_include_iterates_between_checkpoints(process, name, checkpoints):
    options = {**OPTIONS, "iterations": 700}
    trace = run(process, name, **options, checkpoints=checkpoints)
    _, _, v_r, v_g = replay(process, name, iterations=700)
    assert len(v_r) == 701
    assert trace["iteration"].tolist() == checkpoints
    reward = np.array([v_r[: k + 1].mean() for k in checkpoints])
    utility = np.array([v_g[: k + 1].mean() for k in checkpoints])
    expected = solve(process).reward_value - reward
    np.testing.assert_allclose(trace["mean_optimality_gap"], expected, atol=1e-12)
    np.testing.assert_allclose(trace["mean_constraint_violation"], 0.9 - utility, atol=1e-12)
    np.testing.assert_allclose(trace["reward_value"], v_r[checkpoints], atol=1e-15)


@every_algorithm
def test_first_iterate_is_uniform_with_multiplier_zero(process, name):
    first = run(process, name, **OPTIONS, checkpoints=[0]).iloc[0]
    v_r, v_g = process.evaluate(np.full((3, 2), 0.5))
    assert (first["reward_value"], first["utility_value"]) == (v_r, v_g)
    assert (first["multiplier"], first["queries"], first["steps"]) == (0, 0, 0)


@every_algorithm
def test_initial_policy_is_where_it_starts(process, name):
    policy = random_policies(2, process)
    trace = run(process, name, **OPTIONS, initial_policy=policy)
    v_r, v_g = process.evaluate(policy)
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
@pytest.mark.parametrize("pairs", [1, 3])
def test_queries_and_steps_accumulate(process, name, evaluators, pairs):
    options = {**OPTIONS, "evaluators": evaluators, "pairs": pairs}
    trace = run(process, name, **options, checkpoints=range(8))
    trajectories, questions = ALGORITHMS[name].effort(3, 2, pairs)
    people = evaluators or 0
    assert trace["queries"].tolist() == [t * questions * people for t in range(8)]
    assert trace["steps"].tolist() == [t * trajectories * 4 for t in range(8)]
    if evaluators is None:
        assert trace["evaluators"].isna().all()
    else:
        assert (trace["evaluators"] == evaluators).all()


# Independence.


@every_algorithm
def test_longer_run_begins_with_the_shorter_one(process, name):
    short = run(process, name, **OPTIONS, checkpoints=range(8))
    longer = run(process, name, **{**OPTIONS, "iterations": 30}, checkpoints=range(8))
    assert_same(short, longer)


@every_algorithm
@pytest.mark.parametrize("threads", [1, 2])
def test_seeds_do_not_notice_each_other(process, name, threads):
    options = {**OPTIONS, "iterations": 40, "threads": threads}
    together = run(process, name, **{**options, "seeds": [0, 3, 7, 12]})
    assert_same(together, run(process, name, **{**options, "seeds": iter([12, 0, 7, 3])}))
    for seed in (7, 0):
        assert_same(block(together, seed), run(process, name, **{**options, "seeds": [seed]}))
    some = run(process, name, **{**options, "seeds": np.array([3, 12])})
    for seed in (3, 12):
        assert_same(block(together, seed), block(some, seed))


@every_algorithm
@pytest.mark.parametrize("states", [3, 40])
def test_chunks_do_not_matter(name, states, monkeypatch):
    """In a process of 40 states LAPACK evaluates the policies."""
    process = random_process(3, states, 2, 0.5)
    options = {**OPTIONS, "iterations": 23, "horizon": 1}
    whole = run(process, name, **options)
    few, many = 1, 10**6
    for words, iterations, entries in (
        (1, 512, 1),
        (1, 512, 32 * 2 * states),
        (5 * 10, 512, 5 * 2 * states),
        (2**15, few, few),
        (2**15, 4, 9 * 2 * states),
        (2**30, many, many),
    ):
        monkeypatch.setattr(runs, "_CHUNK_WORDS", words)
        monkeypatch.setattr(runs, "_CHUNK_ITERATIONS", iterations)
        monkeypatch.setattr(runs, "_CHUNK_ENTRIES", entries)
        assert_same(whole, run(process, name, **options))


@every_algorithm
def test_optimum_at_hand_is_not_looked_for_again(process, name, monkeypatch):
    expected, optimum = run(process, name, **OPTIONS), solve(process)
    monkeypatch.delattr(runs.optima, "solve")
    assert_same(run(process, name, **OPTIONS, optimum=optimum), expected)


@every_algorithm
def test_checkpoints_choose_rows_and_change_nothing(process, name):
    every = run(process, name, **OPTIONS, checkpoints=range(8))
    some = run(process, name, **OPTIONS, checkpoints=np.array([6, 0, 3, 3]))
    assert_same(some, every.iloc[[0, 3, 6]].reset_index(drop=True))


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_seed_purpose_and_people_name_the_stream(process, name):
    """None of them leaves the numbers as they were."""
    base = run(process, name, **OPTIONS)["reward_value"][1:]
    for change in ({"seeds": [2]}, {"purpose": "calibration"}, {"evaluators": 17}):
        other = run(process, name, **{**OPTIONS, **change})["reward_value"][1:]
        assert (base != other).all(), change
    assert_same(run(process, name, **OPTIONS), run(process, name, **OPTIONS, purpose="run"))


def test_streams_of_a_run(process, monkeypatch):
    """Words and normals, algorithms, people, seeds and purposes: all have streams of their own."""
    opened = []
    start = runs.streams.bit_generator

    def note(**axes):
        opened.append(tuple(start(**axes).random_raw(2)))
        return start(**axes)

    monkeypatch.setattr(runs.streams, "bit_generator", note)
    for name in ("npgpd_hf", "zpgpd_hf"):
        for evaluators in (1, 16, None):
            for purpose in ("run", "calibration"):
                options = {**OPTIONS, "evaluators": evaluators, "seeds": range(3)}
                run(process, name, **options, purpose=purpose)
    assert len(opened) == len(set(opened)) == 2 * 3 * 2 * 3 * 2


def test_purpose_does_not_reach_exact_algorithms(process):
    first = run(process, "npg_pd", **OPTIONS)
    other = run(process, "npg_pd", **{**OPTIONS, "seeds": [2]}, purpose="other")
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
def test_default_checkpoints(process, iterations):
    grid = checkpoint_grid(iterations)
    assert grid.dtype == np.int64
    assert (np.diff(grid) > 0).all()
    assert {0, iterations - 1, iterations} <= set(grid.tolist())
    assert (grid[0], grid[-1]) == (0, iterations)
    assert len(grid) <= 203
    if iterations <= 100:
        assert len(grid) == iterations + 1
    if iterations <= 10:
        trace = run(process, "npg_pd", **{**OPTIONS, "iterations": iterations})
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


# Refusals.

BAD = [
    ("evaluators", [0, -1, 1.0, "16", True, np.nan, [16]]),
    ("iterations", [0, -1, 10.0, None, "7", True]),
    ("pairs", [0, 1.5, None, False]),
    ("horizon", [-1, 0.5, None]),
    ("primal_step", [-0.1, np.nan, np.inf, "1", True]),
    ("dual_step", [-0.1, np.nan, -np.inf, [0.1]]),
    ("multiplier_bound", [-1, np.nan, np.inf, "2"]),
    ("perturbation", [0, -0.1, np.nan, np.inf, False]),
    ("link", ["logit", None, 1, ["probit"]]),
    ("directions", ["ball", None, 0]),
    ("parameterization", ["linear", 0, ["direct"], "direct"]),
    ("initial_policy", [[[0.5, 0.5]] * 2, [[0.5, 0.6]] * 3, "uniform", [[1.0, 0.0]] * 3]),
    ("seeds", [[], 3, None, [1, 1], [0, np.int64(0)], [-1], [1.0], ["1"], "1", [True]]),
    ("checkpoints", [[], 3, [-1], [8], [0.0], ["1"], [True], [None]]),
    ("threads", [0, -1, 1.5, None, True]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in BAD for value in values]
)
def test_bad_argument_is_named(process, name, value):
    with pytest.raises(ValueError, match=rf"^{name}(\[\d+\])?: "):
        run(process, "npgpd_hf", **{**OPTIONS, name: value})


@pytest.mark.parametrize("algorithm", ["ppo", None, 1, "NPGPD_HF"])
def test_bad_algorithm_is_named(process, algorithm):
    with pytest.raises(ValueError, match=r"^algorithm: one of "):
        run(process, algorithm, **OPTIONS)


def test_infeasible_threshold_is_named():
    with pytest.raises(ValueError, match=r"^threshold: "):
        run(random_process(1, 3, 2, 0.8, threshold=4.9), "npgpd_hf", **OPTIONS)


@pytest.mark.parametrize("name", ["npgpd_hf", "zpgpd_hf"])
def test_iteration_that_would_fill_the_memory_is_refused_where_it_is_built(name):
    process = random_cmdp(10, 4, 1)
    limit = r"pairs, horizon: one iteration draws \d+ random words; at most 16777216 are possible"
    setting = Setting(evaluators=4, iterations=1, pairs=10000, horizon=1000, perturbation=1.0)
    with pytest.raises(ValueError, match=limit):
        get_algorithm(name)(process, solve(process), setting)
    with pytest.raises(ValueError, match=limit):
        run(process, name, evaluators=4, seeds=[0], iterations=1, pairs=10000, horizon=1000)


@pytest.mark.parametrize("name", ["npgpd_hf", "npg_pd", "pg_pd"])
@pytest.mark.parametrize(("option", "value"), [("perturbation", 1.0), ("directions", "tangent")])
def test_option_without_effect_is_refused(process, name, option, value):
    message = f"^{option}: no option of {name}; of perturbation, directions it knows none$"
    with pytest.raises(ValueError, match=message):
        run(process, name, **OPTIONS, **{option: value})
    run(process, "zpgpd_hf", **OPTIONS, **{option: value})
    assert get_algorithm(name).known({option: value, "pairs": 2}) == {"pairs": 2}
    assert get_algorithm("zpgpd_hf").known({option: value}) == {option: value}
