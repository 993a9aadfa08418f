"""Rates: what is run for each T, and the averages and slopes that are read off it."""

import copy
import math

import numpy as np
import pytest
from checking import study

from pgpd_hf import random_cmdp, run, solve
from replication.analyses import judged_rates, rates
from replication.study import summaries
from replication.study.cases import run_cases
from replication.study.readings import overlay

CONFIG = study("hard")
SMALL = overlay(
    CONFIG,
    {
        "algorithms": {"npgpd_hf": {"iterations": 40, "primal_step": 0.3, "dual_step": 0.2}},
        "rates": {"seeds": 3, "evaluators": [16, None]},
    },
)
SMALL["rates"]["iterations"] = {"npgpd_hf": [20, 40]}


@pytest.fixture(scope="module")
def table():
    ((_, items),) = rates.plan(SMALL).items()
    cases = [case for _, cases in items for case in cases]
    return rates.averages(run_cases(cases, random_cmdp(), None))


def test_plan_has_every_evaluator_rule_and_length_for_each_seed():
    plan = rates.plan(CONFIG)
    assert list(plan) == ["npgpd_hf", "zpgpd_hf"]
    assert [seed for seed, _ in plan["npgpd_hf"]] == list(range(10))
    seed, cases = plan["npgpd_hf"][4]
    lengths = CONFIG["rates"]["iterations"]["npgpd_hf"]
    assert [
        (case.setting["evaluators"], case.labels["step_rule"], case.setting["iterations"])
        for case in cases
    ] == [
        (evaluators, rule, length)
        for evaluators in (256, None)
        for rule in ("study", "theorem")
        for length in lengths
    ]
    assert {case.seeds for case in cases} == {(seed,)}
    assert {case.labels["value"] for case in cases} == {*map(float, lengths)}


def test_algorithm_without_a_theorem_has_the_steps_of_the_study_only(monkeypatch):
    monkeypatch.setattr(rates.get_algorithm("npgpd_hf"), "has_theorem", lambda: False)
    cases = rates.plan(SMALL)["npgpd_hf"][0][1]
    assert {case.labels["step_rule"] for case in cases} == {"study"}


@pytest.mark.parametrize("rule", ["study", "theorem"])
def test_average_is_over_the_first_t_iterates(table, rule):
    steps = {"primal_step": 0.3, "dual_step": 0.2 * math.sqrt(2)} if rule == "study" else {}
    every = run(
        random_cmdp(),
        "npgpd_hf",
        evaluators=16,
        seeds=[1],
        iterations=20,
        checkpoints=range(21),
        purpose=f"rates with the steps of the {rule}, T = 20",
        **steps,
    )
    chosen = table.query(
        f"evaluators == 16 and value == 20 and seed == 1 and step_rule == '{rule}'"
    )
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        expected = every[column].iloc[:20].mean()
        if name == "violation":
            expected = max(expected, 0)
        assert chosen[name].item() == pytest.approx(expected, abs=1e-14)


def test_violation_is_the_positive_part_of_the_average():
    config = overlay(SMALL, {"rates": {"evaluators": [None]}})
    cases = [case for _, cases in rates.plan(config)["npgpd_hf"] for case in cases]
    found = rates.averages(run_cases(cases, random_cmdp(threshold=0.2), None))
    assert (found["violation"] == 0).all()  # every policy on the way is safe
    assert (found["gap"] != 0).all()


def test_priced_gap_is_gap_plus_priced_violation_also_where_that_is_negative():
    config = overlay(SMALL, {"rates": {"evaluators": [None]}})
    cases = [case for _, cases in rates.plan(config)["npgpd_hf"] for case in cases]
    cmdp = random_cmdp(threshold=0.5)
    runs = run_cases(cases, cmdp, {})
    found = rates.averages(runs)
    signed = summaries.averages(runs).sort_values(["step_rule", "value", "seed"], ignore_index=True)
    priced = signed["gap"] + solve(cmdp).multiplier * signed["violation"]
    np.testing.assert_allclose(found["priced_gap"], priced)
    assert (found["priced_gap"] > 0).all()


def test_table_has_a_row_per_run_in_order(table):
    assert len(table) == 2 * 2 * 2 * 3
    keys = ["evaluators", "step_rule", "value", "seed"]
    assert table[keys].equals(table[keys].sort_values(keys, ignore_index=True))


def test_judged_rates_are_the_same_runs_with_more_seeds():
    own, judged = rates.plan(CONFIG), judged_rates.plan(CONFIG)
    for algorithm, pieces in judged.items():
        assert len(pieces) == CONFIG["claims"]["rates_seeds"] >= len(own[algorithm])
        assert pieces[: len(own[algorithm])] == own[algorithm]


def test_slopes_have_a_row_per_curve_and_metric_beside_the_promise(table):
    slopes = rates.slopes(table)
    assert list(slopes["metric"]) == ["gap", "violation", "priced_gap"] * 4
    assert slopes["evaluators"].fillna(0).tolist() == [16] * 6 + [0] * 6
    assert set(slopes["promised"]) == {-0.5}
    chosen = table.query("evaluators == 16 and step_rule == 'study'").groupby("value")["gap"].mean()
    assert slopes.loc[0, "slope"] == pytest.approx(np.log2(chosen[40] / chosen[20]))
    assert slopes.loc[0, "low"] <= slopes.loc[0, "slope"] <= slopes.loc[0, "high"]


def test_algorithm_whose_theorem_promises_nothing_has_no_exponent(table):
    slopes = rates.slopes(table.assign(algorithm="npg_pd"))
    assert slopes["promised"].isna().all()
    assert set(rates.slopes(table.assign(algorithm="zpgpd_hf"))["promised"]) == {-0.25}


def test_setting_of_another_length():
    setting, factors = rates.setting(SMALL, "npgpd_hf", 160, 16, "study")
    assert (setting["iterations"], setting["evaluators"]) == (160, 16)
    assert (setting["primal_step"], setting["dual_step"]) == (0.3, 0.2)
    assert factors == (1.0, 0.5)
    setting, factors = rates.setting(SMALL, "npgpd_hf", 160, None, "theorem")
    assert (setting["primal_step"], setting["dual_step"], factors) == (None, None, (1.0, 1.0))


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("evaluators", [None, 16], "rates.evaluators: increasing order expected"),
        ("iterations", {"npgpd_hf": [40, 20]}, "rates.iterations.npgpd_hf: increasing order"),
        ("iterations", {"sarsa": [20, 40]}, "rates.iterations.sarsa: the study has no algorithm"),
    ],
)
def test_rates_that_cannot_be_run_are_refused(key, value, message):
    config = copy.deepcopy(CONFIG)
    rates.check(config)
    config["rates"][key] = value
    with pytest.raises(ValueError, match=f"^{message}"):
        rates.check(config)
