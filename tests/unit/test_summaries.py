import numpy as np
import pandas as pd
import pytest

from pgpd_hf import summaries, sweeps


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
            "queries": 7 * value,
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
    assert (last["queries"], last["steps"], last["seeds"]) == (140, 60, 3)
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
    reference = table[table["curve"] == "a"]
    rest = summaries.excess(table[table["curve"] == "b"], reference, ["value"], ["gap"])
    assert rest["gap"].to_numpy() == pytest.approx(reference["gap"].to_numpy())
    with pytest.raises(pd.errors.MergeError):
        summaries.excess(table, table, ["value"], ["gap"])


def test_spent_averages_over_seeds_at_each_cost():
    traces = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "schedule": "constant",
            "iteration": [0, 5, 0, 5],
            "queries": [0, 50, 0, 50],
            "steps": [0, 9, 0, 9],
            "seed": [0, 0, 1, 1],
            "priced_gap": [1.0, 0.2, 3.0, 0.4],
        }
    )
    table = summaries.spent(traces)
    assert table["mean"].to_numpy() == pytest.approx([2.0, 0.3])
    assert list(table["queries"]) == [0, 50]


def test_estimates_as_text():
    table = pd.DataFrame(
        {
            "slope": [-0.5, 1.0, np.nan],
            "slope_low": [-0.625, np.nan, np.nan],
            "slope_high": [-0.375, np.nan, np.nan],
        }
    )
    assert summaries.with_interval(table, "slope", 1) == ["-0.5  [-0.6, -0.4]", "1.0", "—"]
    means = pd.DataFrame({"mean": [1.0], "low": [0.0], "high": [2.0]})
    assert summaries.with_interval(means, "mean", 0) == ["1  [0, 2]"]


def test_summaries_know_all_metrics_of_sweeps():
    assert set(summaries.OUTCOMES) < set(sweeps.METRICS) <= set(sweeps.COLUMNS)
