import math

import numpy as np
import pandas as pd
import pytest
from drawn import bands, bars

from replication.figures import schedules as schedule_figures
from replication.figures import style
from replication.figures import sweeps as sweep_figures


@pytest.fixture(autouse=True)
def close():
    style.use_style()
    yield
    style.plt.close("all")


def means(algorithm, curves, values, metrics, axis="iterations", sweep="s"):
    return pd.DataFrame(
        [
            {
                "sweep": sweep,
                "algorithm": algorithm,
                "curve": curve,
                "axis": axis,
                "value": float(value),
                "metric": metric,
                "mean": height * (k + 1) / (i + 1),
                "low": 0.5 * height * (k + 1) / (i + 1),
                "high": 2.0 * height * (k + 1) / (i + 1),
                "answers": 100.0 * (i + 1),
                "steps": 10.0 * (i + 1),
            }
            for k, curve in enumerate(curves)
            for i, value in enumerate(values)
            for metric, height in metrics.items()
        ]
    )


def lines(axes):
    """Data of the labelled lines of a panel."""
    return {line.get_label(): line.get_xydata() for line in axes.get_lines()}


def test_infinity_is_one_step_beyond_the_largest_number():
    table = means("npgpd_hf", ["c"], [4, 16, 64, math.inf], {"gap": 0.1}, axis="evaluators")
    axes = sweep_figures.sweep_figure(table, "gap").axes[0]
    assert lines(axes)["c"][:, 0] == pytest.approx([4, 16, 64, 256])
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["4", "16", "64", "∞"]


@pytest.mark.parametrize("values", [[16], [16, math.inf]])
def test_one_finite_value_is_enough(values):
    """As where a sweep has one M beside infinity, and the excess over infinity has one M."""
    table = means("npgpd_hf", ["c"], values, {"gap": 0.1}, axis="evaluators")
    axes = sweep_figures.sweep_figure(table, "gap").axes[0]
    assert lines(axes)["c"][:, 0].tolist() == [16, 32][: len(values)]


def test_means_that_are_not_positive_are_left_out_of_a_logarithmic_axis_only():
    table = means("npgpd_hf", ["c"], [1, 2, 4], {"gap": 0.1})
    table.loc[1, "mean"] = -0.05
    axes = sweep_figures.sweep_figure(table, "gap").axes[0]
    assert lines(axes)["c"][:, 0] == pytest.approx([1, 4])
    axes = style.plt.figure().gca()
    sweep_figures.draw_sweep(axes, table, "gap", scale="linear")
    assert lines(axes)["c"][:, 1] == pytest.approx([0.1, -0.05, 0.1 / 3])


def test_bands_reach_from_the_lower_end_of_an_interval_to_the_upper_one():
    """Here from half of a mean to twice of it, whatever the panel shows it against."""
    table = means("npgpd_hf", ["c"], [10, 20], {"gap": 0.4, "priced_gap": 0.4})
    panels = sweep_figures.sweep_figure(table, "gap").axes
    gaps = table[table["metric"] == "priced_gap"]
    panels += sweep_figures.costs_figure({"few": gaps}).axes
    line = gaps.assign(schedule="few")
    panels += schedule_figures.schedules_figure(line).axes
    places = [(10, 20), (10, 20), (100, 200), (10, 20), (100, 200), (10, 20)]
    for axes, (first, second) in zip(panels, places, strict=True):
        (band,) = bands(axes)
        assert band == {first: (0.2, 0.8), second: (0.1, 0.4)}


def test_promised_line_has_the_promised_slope():
    metrics = {"violation": 0.2, "priced_gap": 0.3}
    table = pd.concat(
        [
            means("npgpd_hf", ["M = ∞"], [10, 20, 40], metrics),
            means("npg_pd", [""], [10, 20, 40], metrics),
        ]
    )
    axes = sweep_figures.slopes_figure(table, "npgpd_hf", "npg_pd", -0.5).axes[0]
    (x0, y0), (x1, y1) = lines(axes)["promised slope −0.5"]
    assert math.log(y1 / y0) / math.log(x1 / x0) == pytest.approx(-0.5)
    assert "exact limit" in lines(axes)


def test_scales_go_through_the_middle_of_the_measured_curve():
    table = means("npgpd_hf", [""], [4, 16, 64], {"priced_gap": 0.3}, axis="evaluators")
    figure = sweep_figures.excess_figure(table, {"1/M": lambda m: 1 / m})
    two = pd.concat([table.assign(curve="else", mean=9.0), table])  # the last curve counts
    both = sweep_figures.excess_figure(two, {"1/M": lambda m: 1 / m})
    scale = lines(figure.axes[0])["1/M"]
    assert (lines(both.axes[0])["1/M"] == scale).all()
    assert scale[1, 1] == pytest.approx(0.15)
    assert scale[0, 1] / scale[2, 1] == pytest.approx(16)


def test_costs_are_on_their_axes():
    table = means("npgpd_hf", ["c"], [10, 20], {"priced_gap": 0.3})
    figure = sweep_figures.costs_figure({"few": table})
    starts = [lines(axes)["few"][0, 0] for axes in figure.axes]
    assert starts == [10, 100, 10]


def test_predictions_are_drawn_in_their_panels():
    metrics = {"misread": -0.1, "late_violation": 0.2, "late_gap": 0.3}
    table = means("zpgpd_hf", [""], [10, 20], metrics, axis="horizon")
    predicted = pd.DataFrame(
        {
            "horizon": [10, 20],
            "misread": [-1.0, 0],
            "late_violation": [-2.0, 0],
            "late_gap": [-3.0, 0],
        }
    )
    figure = sweep_figures.horizon_figure(table, predicted)
    assert [lines(axes)["predicted"][0, 1] for axes in figure.axes] == [-1, -2, -3]


def test_sizes_show_both_algorithms_by_name():
    table = pd.concat(
        [
            means(name, [""], [5, 10], {"priced_gap": 0.3}, axis=axis, sweep=axis)
            for axis in ("states", "actions")
            for name in ("npgpd_hf", "zpgpd_hf")
        ]
    )
    figure = sweep_figures.sizes_figure(table)
    assert set(lines(figure.axes[1])) == {"NPGPD-HF", "ZPGPD-HF"}


def test_schedules_and_their_differences():
    curves = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "schedule": np.repeat(["mine", "growing", "short"], 2),
            "iteration": [0, 5] * 3,
            "answers": [0, 50, 0, 60, 0, 40],
            "steps": [0, 9, 0, 9, 0, 8],
            "mean": [1.0, 0.5, 1.0, 0.6, 0.4, 0.2],
            "low": 0.4,
            "high": 1.1,
        }
    )
    figure = schedule_figures.schedules_figure(curves)
    assert list(lines(figure.axes[0])) == ["mine", "growing", "short"]
    assert figure.axes[0].get_xlim() == (0, 60)  # of all schedules, not of the last one
    assert figure.axes[0].get_ylim() == (0, 1.15)
    assert lines(figure.axes[0])["growing"][-1] == pytest.approx([60, 0.6])
    assert lines(figure.axes[1])["growing"][-1] == pytest.approx([9, 0.6])
    compared = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "schedule": np.repeat(["constant", "growing"], 2),
            "metric": ["priced_gap", "late_priced_gap"] * 2,
            "difference": [0.0, 0.0, 0.1, 0.2],
            "difference_low": [np.nan, np.nan, 0.05, 0.15],
            "difference_high": [np.nan, np.nan, 0.15, 0.25],
        }
    )
    axes = schedule_figures.differences_figure(compared, "constant").axes[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["growing"]
    points = {line.get_xdata()[0] for line in axes.get_lines() if len(line.get_xdata()) == 1}
    assert points == {0.1, 0.2}
    compared["difference_high"] = [np.nan, np.nan, 0.35, 0.45]
    axes = schedule_figures.differences_figure(compared, "constant").axes[0]
    np.testing.assert_allclose(bars(axes, across=True), [[(0.05, 0.35)], [(0.15, 0.45)]])


@pytest.mark.parametrize("estimators", [["plug-in", "unbiased"], ["plug-in"]])
def test_estimators_have_a_curve_each_in_both_panels(estimators):
    rows = [
        {"estimator": name, "evaluators": m, "bias": 0.1 / m, "deviation": 2 / m, "promised": 1.5}
        for name in estimators
        for m in (1, 4, 16)
    ]
    figure = sweep_figures.estimators_figure(pd.DataFrame(rows))
    bias, deviation = map(lines, figure.axes)
    assert len(bias) == len(estimators) + 1
    assert len(deviation) == len(estimators)
    assert bias["as printed (plug-in)"][:, 1] == pytest.approx([0.1, 0.1 / 4, 0.1 / 16])
    assert deviation["as printed (plug-in)"][:, 1] == pytest.approx([2, 0.5, 0.125])
    assert np.isnan(bias["the paper's bound of the bias"][0, 1])  # log 1 = 0: no bound
