import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run
from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.analyses import schedules, summaries
from pgpd_hf.core import optima
from pgpd_hf.runs import iterates

SETTING = {
    "iterations": 30,
    "pairs": 1,
    "link": "logistic",
    "primal_step": 0.3,
    "dual_step": 0.2,
}


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
@pytest.mark.parametrize("steps", [(0.3, 0.2), (None, None)])
def test_one_phase_is_a_run(algorithm, steps):
    setting = {**SETTING, "primal_step": steps[0], "dual_step": steps[1]}
    stages = schedules.phases(setting, [16], [10])
    trace = schedules.run_schedule(random_cmdp(), algorithm, stages, [0, 1], "test")
    same = run(random_cmdp(), algorithm, seeds=[0, 1], purpose="test", **stages[0])
    pd.testing.assert_frame_equal(trace, same, rtol=0, atol=1e-13)


def test_exact_phases_are_one_exact_run():
    """Without randomness, handing over the parameter and multiplier changes nothing."""
    stages = schedules.phases(SETTING, [8, 16, 32], [10])
    trace = schedules.run_schedule(random_cmdp(), "npg_pd", stages, [0], "test")
    whole = run(random_cmdp(), "npg_pd", evaluators=None, seeds=[0], horizon=10, **SETTING)
    for column in ("reward_value", "utility_value", "multiplier", "mean_optimality_gap"):
        np.testing.assert_allclose(trace[column], whole[column], rtol=0, atol=1e-13)


def test_theorem_steps_are_those_of_the_whole():
    setting = {**SETTING, "primal_step": None, "dual_step": None}
    stages = schedules.phases(setting, [8, 16], [10])
    trace = schedules.run_schedule(random_cmdp(), "npg_pd", stages, [0], "test")
    whole = run(random_cmdp(), "npg_pd", evaluators=None, seeds=[0], horizon=10, **setting)
    np.testing.assert_allclose(trace["multiplier"], whole["multiplier"], rtol=0, atol=1e-13)


def test_phases_divide_the_iterations_and_hold_single_values():
    stages = schedules.phases({**SETTING, "iterations": 10}, [4, 8, 16], [20])
    assert [stage["iterations"] for stage in stages] == [4, 3, 3]
    assert [stage["evaluators"] for stage in stages] == [4, 8, 16]
    assert [stage["horizon"] for stage in stages] == [20] * 3


def test_costs_add_up_over_phases():
    stages = schedules.phases(SETTING, [4, 8], [5, 11])
    trace = schedules.run_schedule(random_cmdp(), "npgpd_hf", stages, [0], "test")
    last = trace.iloc[-1]
    assert last["queries"] == 81 * 15 * (4 + 8)
    assert last["steps"] == 51 * 15 * (6 + 12)
    at = trace[trace["iteration"] == 15].iloc[0]
    assert (at["queries"], at["evaluators"]) == (81 * 15 * 4, 8)


def test_phases_draw_different_numbers():
    """Two phases that are alike do not repeat each other."""
    setting = {**SETTING, "primal_step": 0.0, "dual_step": 0.01}
    stages = schedules.phases(setting, [16, 16], [10])
    trace = schedules.run_schedule(random_cmdp(), "npgpd_hf", stages, [0], "test")
    steps = trace.set_index("iteration")["multiplier"]
    assert steps[15] - steps[0] != pytest.approx(steps[30] - steps[15], abs=1e-9)


@pytest.mark.parametrize(
    ("evaluators", "horizon", "iterations", "named"),
    [
        ([4, 8], [1, 2, 3], 30, "evaluators: 1 or 3 entries expected, got 2"),
        ([4, 8, 16], [1, 2], 30, "horizon: 1 or 3 entries expected, got 2"),
        ([4, 8, 16], [1], 2, "iterations: at least one for each of 3 phases"),
    ],
)
def test_bad_phases_are_refused(evaluators, horizon, iterations, named):
    with pytest.raises(ValueError, match=named):
        schedules.phases({**SETTING, "iterations": iterations}, evaluators, horizon)


def test_unequal_costs_are_refused():
    even = {"evaluators": [64], "horizon": [50]}
    schedules.check_costs({"even": even, "other": {"evaluators": [28, 100], "horizon": [20, 80]}})
    with pytest.raises(ValueError, match=r"more\.evaluators: costs 65 queries where even costs 64"):
        schedules.check_costs({"even": even, "more": {"evaluators": [65], "horizon": [50]}})
    with pytest.raises(ValueError, match=r"long\.horizon: costs 61 steps where even costs 51"):
        schedules.check_costs({"even": even, "long": {"evaluators": [64], "horizon": [60]}})


def test_going_on_from_a_state_is_going_on():
    cmdp = random_cmdp()
    process = get_algorithm("npg_pd")(cmdp, optima.solve(cmdp), Setting(None, 10, dual_step=0.1))
    theta = process.initial_parameter()
    first = np.concatenate([chunk[0] for chunk in iterates(process, 0, theta=theta)])
    assert (process.policy(theta) == first[-1]).all()


@pytest.fixture(scope="module")
def results():
    tables = []
    for name, people in (("few", [4]), ("many", [4000])):
        stages = schedules.phases({**SETTING, "iterations": 200}, people, [30])
        trace = schedules.run_schedule(random_cmdp(), "npgpd_hf", stages, range(4), name)
        trace["schedule"] = name
        tables.append(trace)
    return pd.concat(tables, ignore_index=True)


def test_outcomes_average_all_and_the_last_iterates(results):
    table = summaries.outcomes(results, multiplier=2.0)
    assert len(table) == 8
    stages = schedules.phases({**SETTING, "iterations": 200}, [4], [30])
    every = run(
        random_cmdp(),
        "npgpd_hf",
        seeds=[1],
        purpose="few",
        checkpoints=range(201),
        **stages[0],
    )
    row = table.query("schedule == 'few' and seed == 1").iloc[0]
    assert row["gap"] == pytest.approx(every["optimality_gap"][:200].mean(), abs=1e-13)
    # The first nine tenths end with iterate 180.
    late = every["constraint_violation"][181:200].mean()
    assert row["late_violation"] == pytest.approx(late, abs=1e-12)
    assert row["priced_gap"] == pytest.approx(row["gap"] + 2 * row["violation"])


def test_comparison_is_with_the_reference(results):
    table = summaries.outcomes(results, multiplier=0.5)
    compared = summaries.compare(table, "many").set_index(["schedule", "metric"])
    assert compared.loc[("many", "gap"), "difference"] == 0
    few = compared.loc[("few", "priced_gap")]
    assert few["difference"] == pytest.approx(
        few["mean"] - compared.loc[("many", "priced_gap"), "mean"]
    )
    assert few["difference_low"] < few["difference"] < few["difference_high"]
    assert few["difference_low"] > 0  # four people are worse than four thousand
