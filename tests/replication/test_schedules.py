"""Schedules: phases of M and H, their costs, and their runs."""

import copy

import numpy as np
import pandas as pd
import pytest
from checking import study

from pgpd_hf import random_cmdp, run
from replication.analyses import schedules
from replication.files import storage
from replication.study.cases import run_cases

CONFIG = study("hard")
STEPS = {"primal_step": 0.3, "dual_step": 0.2}


def small():
    """The hard case with short schedules, and numbers as step sizes."""
    config = copy.deepcopy(CONFIG)
    config["schedules"]["seeds"] = 2
    for name, options in config["schedules"]["algorithms"].items():
        options["iterations"] = 30
        config["algorithms"][name] |= STEPS
    return config


@pytest.mark.parametrize("algorithm", ["npgpd_hf", "zpgpd_hf"])
@pytest.mark.parametrize("steps", [STEPS, {"primal_step": None, "dual_step": None}], ids=str)
def test_one_phase_is_a_run(algorithm, steps):
    (phase,) = schedules.phases(30, [16], [10])
    options = {"seeds": [0, 1], "purpose": "test", **steps}
    trace = run(random_cmdp(), algorithm, phases=[phase], **options)
    same = run(random_cmdp(), algorithm, **phase, **options)
    pd.testing.assert_frame_equal(trace, same, rtol=0, atol=1e-13)


def test_phases_divide_the_iterations_and_hold_single_values():
    stages = schedules.phases(10, [4, 8, 16], [20])
    assert [stage["iterations"] for stage in stages] == [4, 3, 3]
    assert [stage["evaluators"] for stage in stages] == [4, 8, 16]
    assert [stage["horizon"] for stage in stages] == [20] * 3
    stages = schedules.phases(9, [7], [20, 30])
    assert [tuple(stage.values()) for stage in stages] == [(7, 20, 5), (7, 30, 4)]


@pytest.mark.parametrize(
    ("evaluators", "horizon", "iterations", "named"),
    [
        ([4, 8], [1, 2, 3], 30, "evaluators: 1 or 3 entries expected, got 2"),
        ([4, 8, 16], [1, 2], 30, "horizon: 1 or 3 entries expected, got 2"),
        ([4, 8, 16], [1], 2, "iterations: at least one for each of 3 phases"),
    ],
)
def test_bad_phases_are_refused(evaluators, horizon, iterations, named):
    with pytest.raises(ValueError, match=f"^{named}"):
        schedules.phases(iterations, evaluators, horizon)


def test_unequal_costs_are_refused():
    even = {"evaluators": [64], "horizon": [50]}
    schedules.check_costs({"even": even, "other": {"evaluators": [28, 100], "horizon": [20, 80]}})
    with pytest.raises(ValueError, match=r"more\.evaluators: costs 65 answers where even costs 64"):
        schedules.check_costs({"even": even, "more": {"evaluators": [65], "horizon": [50]}})
    with pytest.raises(ValueError, match=r"long\.horizon: costs 61 steps where even costs 51"):
        schedules.check_costs({"even": even, "long": {"evaluators": [64], "horizon": [60]}})


def test_plan_has_every_schedule_for_every_seed():
    config = small()
    plan = schedules.plan(config)
    assert list(plan) == ["npgpd_hf", "zpgpd_hf"]
    for algorithm, items in plan.items():
        assert [seed for seed, _ in items] == [0, 1]
        for seed, listed in items:
            assert [case.labels["schedule"] for case in listed] == [*config["schedules"]["phases"]]
            assert {(case.algorithm, case.seeds) for case in listed} == {(algorithm, (seed,))}
    first = plan["npgpd_hf"][0][1][1]
    assert first.purpose == "schedule growing"
    assert [phase["evaluators"] for phase in first.setting["phases"]] == [16, 32, 64, 144]
    assert plan["zpgpd_hf"][0][1][0].setting["perturbation"] == 1


def test_cases_run_through_their_phases_and_add_up_their_costs():
    case = schedules.plan(small())["npgpd_hf"][1][1][1]
    trace = run_cases([case], random_cmdp(), None)
    assert (trace["schedule"] == "growing").all()
    assert set(trace["seed"]) == {1}
    last = trace.iloc[-1]
    lengths = np.array([8, 8, 7, 7])
    assert last["iteration"] == 30
    assert last["answers"] == 81 * lengths @ [16, 32, 64, 144]
    assert last["steps"] == 51 * lengths @ [21, 41, 61, 81]
    at = trace[trace["iteration"] == 8].iloc[0]
    assert (at["answers"], at["evaluators"]) == (81 * 8 * 16, 32)


def test_case_is_run_under_the_name_of_its_schedule():
    case = schedules.plan(small())["zpgpd_hf"][0][1][2]
    expected = run(
        random_cmdp(),
        "zpgpd_hf",
        seeds=[0],
        purpose="schedule shrinking",
        phases=schedules.phases(30, [144, 64, 32, 16], [80, 60, 40, 20]),
        perturbation=1,
        **STEPS,
    )
    assert run_cases([case], random_cmdp(), None)[list(expected)].equals(expected)


def test_schedules_are_compared_with_the_first_one(tmp_path):
    (_, cases), *_ = schedules.plan(small())["npgpd_hf"]
    runs = run_cases(cases, random_cmdp(), None)
    storage.write(tmp_path / "runs.parquet", runs)
    table = schedules.tables([tmp_path / "runs.parquet"])["schedules"]
    first = next(iter(CONFIG["schedules"]["phases"]))
    zero = table[table["difference"] == 0]
    assert set(zero["schedule"]) == {first}
    means = table.set_index(["metric", "schedule"])["mean"]
    behind = means["gap"] - means["gap", first]
    found = table[table["metric"] == "gap"].set_index("schedule")["difference"]
    assert found.to_dict() == pytest.approx(behind.to_dict())


def test_default_schedules_pass():
    schedules.check(CONFIG)


def test_schedule_that_could_not_estimate_without_bias_is_refused():
    config = copy.deepcopy(CONFIG)
    config["algorithms"]["npgpd_hf"]["estimator"] = "unbiased"
    schedules.check(config)
    config["environment"] |= {"scale": "unit", "threshold": 5.5}
    with pytest.raises(
        ValueError, match=r"^schedules\.phases\.constant: estimator: plug-in expected"
    ):
        schedules.check(config)


@pytest.mark.parametrize(
    ("algorithms", "phases", "message"),
    [
        ({"sarsa": {"iterations": 9}}, {}, "algorithms.sarsa: the study has no algorithm 'sarsa'"),
        (
            {"npgpd_hf": {"iterations": 100, "perturbation": 1}},
            {},
            "algorithms.npgpd_hf: perturbation: no option of npgpd_hf",
        ),
        (
            {"npgpd_hf": {"iterations": 3}},
            {},
            "phases.growing: iterations: at least one for each of 4 phases",
        ),
        (
            {},
            {"growing": {"evaluators": [64], "horizon": [1, 2]}},
            "phases.growing.horizon: costs 2.5 steps where constant costs 51",
        ),
    ],
)
def test_schedule_that_cannot_be_run_is_refused(algorithms, phases, message):
    config = copy.deepcopy(CONFIG)
    config["schedules"]["algorithms"] |= algorithms
    config["schedules"]["phases"] |= phases
    with pytest.raises(ValueError, match=r".") as refusal:
        schedules.check(config)
    assert str(refusal.value).startswith(f"schedules.{message}")
