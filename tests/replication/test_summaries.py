"""Summaries over seeds, against hand-made runs and whole traces."""

import math

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run
from replication.analyses.schedules import phases
from replication.study import summaries
from replication.study.cases import Case, run_cases


def runs(values, gap):
    """Rows of a sweep whose mean gap is a given function of the axis."""
    rows = [
        {
            "sweep": "s",
            "algorithm": "npgpd_hf",
            "curve": curve,
            "axis": "iterations",
            "value": float(value),
            "seed": seed,
            "gap": factor * gap(value) * (1 + 0.1 * (seed - 1)),
            "answers": 7 * value,
            "steps": 3 * value,
        }
        for curve, factor in (("a", 1), ("b", 2))
        for value in values
        for seed in range(3)
    ]
    return pd.DataFrame(rows)


def test_means_keep_the_cost_and_have_intervals():
    means = summaries.means(runs([10, 20], lambda x: x), ["gap"])
    last = means.iloc[-1]
    assert (last["curve"], last["value"], last["mean"]) == ("b", 20, pytest.approx(40))
    assert (last["answers"], last["steps"], last["seeds"]) == (140, 60, 3)
    assert last["low"] < 40 < last["high"]
    assert means[["mean", "low", "high"]].dtypes.eq("float64").all()


def test_slopes_are_found_per_curve():
    table = runs([1, 4, 16, 64], lambda x: 0.2 + x**-0.5)
    found = summaries.slopes(table, ["gap"], floor=True)
    assert list(found["curve"]) == ["a", "b"]
    assert found["power"].to_numpy() == pytest.approx([-0.5, -0.5], abs=0.01)
    assert found["floor"].to_numpy() == pytest.approx([0.2, 0.4], abs=0.01)
    assert (found["slope"] > -0.4).all()  # the floor bends the line


def test_excess_needs_one_reference_per_run():
    table = runs([10, 20], lambda x: x)
    exact = table["curve"] == "a"
    rest = summaries.excess(table, exact, ["value"], ["gap"])
    assert rest["gap"].to_numpy() == pytest.approx(table.loc[exact, "gap"].to_numpy())
    twice = pd.concat([table, table], ignore_index=True)
    with pytest.raises(pd.errors.MergeError):
        summaries.excess(twice, twice["curve"] == "a", ["value"], ["gap"])


def test_spent_averages_over_seeds_at_each_cost():
    traces = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "schedule": "constant",
            "iteration": [0, 5, 0, 5],
            "answers": [0, 50, 0, 50],
            "steps": [0, 9, 0, 9],
            "seed": [0, 0, 1, 1],
            "priced_gap": [1.0, 0.2, 3.0, 0.4],
        }
    )
    table = summaries.spent(traces)
    assert table["mean"].to_numpy() == pytest.approx([2.0, 0.3])
    assert list(table["answers"]) == [0, 50]


def test_estimates_as_text():
    table = pd.DataFrame(
        {
            "slope": [-0.5, 1.0, np.nan],
            "slope_low": [-0.625, np.nan, np.nan],
            "slope_high": [-0.375, np.nan, np.nan],
        }
    )
    assert summaries.with_interval(table, "slope", 1) == [
        "-0.5 [-0.6, -0.4]",
        "1.0 (no interval)",
        "—",
    ]
    means = pd.DataFrame({"mean": [1.0], "low": [0.0], "high": [2.0]})
    assert summaries.with_interval(means, "mean", 0) == ["1 [0, 2]"]


def test_local_slopes_are_those_between_neighbours():
    table = runs([1, 2, 4, 8], lambda x: {1: 8.0, 2: 4.0, 4: 4.0, 8: -1.0}[x])
    means = summaries.means(table, ["gap"])
    found = summaries.local_slopes(summaries.slopes(table, ["gap"]), means, 1)
    assert found == ["-1.0, 0.0, —"] * 2


def test_scales_are_fitted_at_the_positions_of_each_curve():
    table = runs([4, 16, 64], lambda x: 1 / x)
    table = table[(table["curve"] == "a") | (table["value"] > 4)]
    found = summaries.scale_slopes(table, lambda m: np.where(m < 10, 1.0, 1 / m))
    assert found == [pytest.approx(np.log(1 / 64) / np.log(16)), pytest.approx(-1)]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (-0.9, -0.5, "at least as fast"),
        (-0.5, -0.4, "open"),
        (-0.6, -0.4, "open"),
        (-0.4, 0.1, "slower"),
    ],
)
def test_verdict_is_for_whole_intervals(low, high, expected):
    assert summaries.side(low, high, -0.5) == expected


def test_slopes_have_a_verdict_or_a_reason():
    table = pd.DataFrame(
        {
            "algorithm": ["npgpd_hf", "npgpd_hf", "npgpd_hf", "npgpd_hf", "npg_pd"],
            "slope": [-0.6, -0.6, np.nan, -0.6, -0.6],
            "slope_low": [-0.7, -0.7, np.nan, np.nan, np.nan],
            "slope_high": [-0.55, -0.55, np.nan, np.nan, np.nan],
        }
    )
    found = summaries.slope_verdicts(table, [-0.5, -1, -0.5, -0.5, -0.5])
    assert found[:2] == ["at least as fast", "slower"]
    assert found[2:] == [
        "no slope: a mean ≤ 0",
        "no interval: one seed, or a resampled mean ≤ 0",
        "no interval: exact",
    ]
    assert summaries.slope_verdicts(table[:1], 0, ("falls", "rises")) == ["falls"]


def test_differences_have_a_verdict_but_for_the_reference():
    table = pd.DataFrame(
        {
            "difference_low": [np.nan, -0.2, 0.1, -0.1],
            "difference_high": [np.nan, -0.1, 0.2, 0.1],
        }
    )
    assert summaries.difference_verdicts(table) == ["—", "lower", "higher", "open"]


def test_summaries_know_all_metrics_of_sweeps():
    assert set(summaries.OUTCOMES) < set(summaries.METRICS)


def test_slope_of_an_exact_power_and_infinity_is_no_position():
    table = runs([1, 4, 16, 64], lambda x: 8 / x**0.5)
    table.loc[len(table)] = table.iloc[0].to_dict() | {"value": math.inf, "gap": 0.5}
    found = summaries.slopes(table, ["gap"], floor=True)
    assert found["slope"].to_numpy() == pytest.approx([-0.5, -0.5])
    assert found["power"].to_numpy() == pytest.approx([-0.5, -0.5], abs=0.01)
    assert found["floor"].to_numpy() == pytest.approx([0, 0], abs=0.05)
    assert found["seeds"].tolist() == [3, 3]
    fewer = table.drop(table.index[table["value"].eq(16) & table["seed"].eq(0)])
    assert summaries.slopes(fewer, ["gap"])["seeds"].tolist() == [2, 2]


def test_slopes_may_be_told_apart_by_other_columns():
    table = runs([1, 4], lambda x: x**-0.5).assign(evaluators=pd.array([16, None] * 6, "Int64"))
    found = summaries.slopes(table, ["gap"], keys=["algorithm", "evaluators"])
    assert found["evaluators"].fillna(0).tolist() == [16, 0]
    assert list(found) == [
        "algorithm", "evaluators", "metric", "slope", "slope_low", "slope_high", "seeds"
    ]  # fmt: skip


def test_means_are_taken_over_seeds_at_infinitely_many_evaluators_too():
    table = runs([10, math.inf], lambda x: 1.0)
    found = summaries.means(table.assign(answers=0, steps=0), ["gap"])
    assert found["value"].tolist() == [10, math.inf] * 2
    assert found["seeds"].tolist() == [3] * 4


# Schedules.

SETTING = {
    "iterations": 200,
    "rounds": 1,
    "link": "logistic",
    "primal_step": 0.3,
    "dual_step": 0.2,
    "evaluators": None,
    "horizon": 80,
}


@pytest.fixture(scope="module")
def traces():
    cases = [
        Case(
            "npgpd_hf",
            SETTING | {"phases": phases(200, [evaluators], [30])},
            tuple(range(4)),
            name,
            labels={"schedule": name},
        )
        for name, evaluators in (("few", 4), ("many", 4000))
    ]
    return run_cases(cases, random_cmdp(), None)


def test_outcomes_average_all_and_the_last_iterates(traces):
    table = summaries.outcomes(traces.assign(optimal_multiplier=2.0))
    assert len(table) == 8
    every = run(
        random_cmdp(),
        "npgpd_hf",
        seeds=[1],
        purpose="few",
        checkpoints=range(201),
        **SETTING | {"evaluators": 4, "horizon": 30},
    )
    row = table.query("schedule == 'few' and seed == 1").iloc[0]
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        assert row[name] == pytest.approx(every[column][:200].mean(), abs=1e-13)
        # The first nine tenths end with iterate 180.
        assert row[f"late_{name}"] == pytest.approx(every[column][181:200].mean(), abs=1e-12)
    for late in ("", "late_"):
        priced = row[f"{late}gap"] + 2 * row[f"{late}violation"]
        assert row[f"{late}priced_gap"] == pytest.approx(priced)
    assert row["answers"] == 81 * 200 * 4
    assert row["steps"] == 51 * 200 * 31


def test_share_says_which_iterates_are_late(traces):
    row = summaries.outcomes(traces, share=0.5).query("schedule == 'few' and seed == 1").iloc[0]
    half = run(
        random_cmdp(),
        "npgpd_hf",
        seeds=[1],
        purpose="few",
        checkpoints=range(201),
        **SETTING | {"evaluators": 4, "horizon": 30},
    )
    assert row["late_gap"] == pytest.approx(half["optimality_gap"][101:200].mean(), abs=1e-12)


@pytest.mark.parametrize("length", [1, 2, 5])
def test_the_last_iterate_of_a_short_run_is_late(length):
    setting = SETTING | {"iterations": length, "phases": phases(length, [4], [5])}
    case = Case("npgpd_hf", setting, (0,), "short", labels={"schedule": "short"})
    traces = run_cases([case], random_cmdp(), None)
    (row,) = summaries.outcomes(traces).itertuples()
    last = traces["optimality_gap"].iloc[length - 1]
    assert row.late_gap == pytest.approx(last, abs=1e-13)


def test_comparison_is_with_the_reference(traces):
    own = summaries.outcomes(traces.assign(optimal_multiplier=0.5))
    other = own.assign(algorithm="zpgpd_hf", priced_gap=0.0)  # whose reference is another one
    table = summaries.compare(pd.concat([other, own]), "many").query("algorithm == 'npgpd_hf'")
    compared = table.set_index(["schedule", "metric"])
    assert compared.loc[("many", "gap"), "difference"] == 0
    few = compared.loc[("few", "priced_gap")]
    assert few["difference"] == pytest.approx(
        few["mean"] - compared.loc[("many", "priced_gap"), "mean"]
    )
    assert few["difference_low"] < few["difference"] < few["difference_high"]
    assert few["seeds"] == traces["seed"].nunique()
    assert few["difference_low"] > 0  # four people are worse than four thousand
    assert np.isnan(compared.loc[("many", "gap"), "difference_low"])
