"""Pictures of runs and policies: what they show, and that they are always the same."""

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pgpd_hf
from pgpd_hf import figures

STEPS = {"primal_step": 0.1, "dual_step": 0.1, "iterations": 20, "seeds": range(3)}
PROCESS = pgpd_hf.random_cmdp(4, 2, threshold=0.4)
GAP, VIOLATION = "optimality_gap", "constraint_violation"
ENDS = {"low": -1, "high": 1}
WIDE = dict.fromkeys(figures.METRICS, (-np.inf, np.inf))
POLICY = np.array([[0.25, 0.75], [1, 0], [0, 1], [0.5, 0.5]])
MOVES = np.array([[0, 0.25, 0.75, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0.5, 0.5, 0]])


def test_curves_show_means_in_the_units_of_the_user():
    parts = {name: getattr(PROCESS, name) for name in ("transition", "reward", "initial")}
    cmdp = pgpd_hf.CMDP.from_costs(**parts, cost=7 - 50 * PROCESS.utility, at_most=68, discount=0.9)
    curve = pgpd_hf.aggregate(pgpd_hf.run(cmdp, "npgpd_hf", evaluators=4, **STEPS))
    figure = pgpd_hf.plot_curves(curve)
    gap, violation = (axes.lines[0].get_ydata() for axes in figure.axes)
    best = cmdp.in_units(pgpd_hf.solve(cmdp).reward_value, 0)[0]
    reward, cost = cmdp.in_units(curve["reward_value"], curve["utility_value"])
    np.testing.assert_allclose(gap, best - reward, atol=1e-12)
    np.testing.assert_allclose(violation, cost - 68, atol=1e-12)
    assert all("$M = 4$" in [it.get_text() for it in axes.texts] for axes in figure.axes)
    told = f"means over {len(STEPS['seeds'])} runs, with 95 % intervals; M: evaluators"
    assert figure.get_supxlabel() == told
    floats = pgpd_hf.plot_curves(curve.astype({"evaluators": float}))  # as CSV files give them
    assert "$M = 4$" in [it.get_text() for it in floats.axes[0].texts]
    exact = pgpd_hf.plot_curves(curve.assign(evaluators=pd.NA, seeds=1))
    assert exact.get_supxlabel() == "a single run"
    assert r"$M = \infty$" in [it.get_text() for it in exact.axes[0].texts]
    curve.attrs["units"] = cmdp.units  # as somebody may set it
    np.testing.assert_array_equal(
        pgpd_hf.plot_curves(curve).axes[0].lines[0].get_ydata(), gap, strict=True
    )
    curve.attrs["units"] = {"reward": 3}
    with pytest.raises(ValueError, match="^units: those of a CMDP expected, got {'reward': 3}"):
        pgpd_hf.plot_curves(curve)
    table = figures.in_units(curve, cmdp.units._asdict())
    axes = figures.panel(table, "npgpd_hf", VIOLATION, WIDE).axes[0]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), violation)
    assert axes.get_ylabel() == "(cost)"
    assert axes.figure.get_supxlabel() == told
    large = curve.assign(optimality_gap=1e7 + curve["optimality_gap"])
    large.attrs.clear()
    both = pd.concat([large, large.assign(evaluators=pd.NA)])
    axes = pgpd_hf.plot_curves(both).axes[0]
    axes.figure.draw_without_rendering()
    assert "17 \\times M$ answers each" in axes.get_xlabel()  # of the curve with evaluators
    assert axes.yaxis.get_offset_text().get_text() == ""  # which would lie on the title


@pytest.mark.parametrize(
    ("metric", "values", "half", "title"),
    [
        (GAP, [0.04, 0.01], 0.01, "smaller with more evaluators: 0.040 to 0.010"),
        (GAP, [0.04, 0.01], 0.02, "ends between 0.010 and 0.040"),  # intervals overlap
        (GAP, [0.04, -0.01], 0.01, "ends between -0.010 and 0.040"),  # by violation
        (GAP, [0.04], 0.01, "at the end: 0.040"),
        (GAP, [75, 1.82], 1, "smaller with more evaluators: 75.0 to 1.8"),
        (VIOLATION, [-0.03, -0.02], 0.01, "ends clearly below 0: -0.030 to -0.020"),
        (VIOLATION, [-0.03, -0.01], 0.02, "means end at or below 0: -0.030 to -0.010"),
        (VIOLATION, [-0.03, 0.01], 0.02, "ends between -0.030 and 0.010"),
    ],
)
def test_title_of_a_panel_says_what_its_intervals_show(metric, values, half, title):
    table = pd.DataFrame({"algorithm": "npgpd_hf", metric: values})
    ends = {f"{metric}_{end}": values + half * np.array(sign) for end, sign in ENDS.items()}
    table = table.assign(iteration=9, evaluators=[16, 64][: len(values)], **ends)
    found = figures.finding(table, "npgpd_hf", metric)
    assert found.replace("\N{MINUS SIGN}", "-") == title


def test_a_wide_band_leaves_the_axes_and_does_not_flatten_curves():
    table = pd.DataFrame({"algorithm": "npgpd_hf", "evaluators": 16, "iteration": [0, 9]})
    table = table.assign(optimality_gap=[0.4, 0.2], answers=1, seeds=2)
    table = table.assign(optimality_gap_low=[-5, 0], optimality_gap_high=5)
    axes = figures.panel(table, "npgpd_hf", GAP, {GAP: (-3, 9)}).axes[0]
    heights = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert (heights.min(), heights.max()) == (-3, 5)  # of what a policy can have
    # From zero, which every panel has, to half as far beyond the curve, and a margin.
    assert axes.get_ylim()[1] == pytest.approx(0.6 + 0.05 * 0.6)


@pytest.mark.parametrize(
    ("gaps", "place"), [([-0.3, 0.1, 0.02], "top"), ([0.3, 0, -0.1], "bottom")]
)
def test_words_about_zero_stand_where_curves_do_not_end(gaps, place):
    table = pd.DataFrame({"algorithm": "npgpd_hf", "evaluators": 16, "iteration": [0, 5, 9]})
    table = table.assign(optimality_gap=gaps, answers=1, seeds=2)
    table = table.assign(optimality_gap_low=gaps, optimality_gap_high=gaps)
    axes = figures.panel(table, "npgpd_hf", GAP, WIDE).axes[0]
    words = {it.get_text(): it for it in axes.texts}
    assert words["0: best safe policy"].get_va() == place
    assert axes.get_ylim()[0] < min(gaps) - 0.02  # room for the words below


def test_policy_is_drawn_as_a_table():
    axes = pgpd_hf.plot_policy(PROCESS, POLICY, actions=["wait", "$"]).axes[0]
    assert (axes.images[0].get_array() == POLICY).all()
    assert [it.get_text() for it in axes.get_xticklabels()] == ["wait", r"\$"]
    assert {it.get_rotation() for it in axes.get_xticklabels()} == {0}
    long = {"states": ["a long name of a state"] * 4, "actions": ["a long name", "another name"]}
    wide = pgpd_hf.plot_policy(PROCESS, POLICY, **long).axes[0]
    assert {it.get_rotation() for it in wide.get_xticklabels()} == {45}
    assert (wide.figure.get_size_inches() > axes.figure.get_size_inches()).all()
    process = PROCESS.transition, PROCESS.reward, PROCESS.utility, 9, PROCESS.initial, 0.9
    masked = pgpd_hf.CMDP.from_costs(*process, actions=np.arange(8).reshape(4, 2) != 1)
    axes = pgpd_hf.plot_policy(masked, POLICY).axes[0]
    assert (axes.images[0].get_array() == [[1, 0], *POLICY[1:]]).all()


def test_policy_is_drawn_as_arrows_on_a_map():
    cmdp = replace(pgpd_hf.random_cmdp(4, 4, threshold=0.4), map=[["S", "F"], ["H", "G"]])
    figures = [pgpd_hf.plot_policy(cmdp, MOVES) for _ in range(2)]
    texts = figures[0].axes[0].texts
    arrows = [(*it.xyann, *it.xy) for it in texts if hasattr(it, "arrowprops")]
    expected = [(0, 0, 0, 0.11), (0, 0, 0.33, 0), (1, 0, 0.56, 0), (0, 1, 0, 0.56)]
    np.testing.assert_allclose(arrows[:4], expected)
    assert figures[0]._repr_png_() == figures[1]._repr_png_()


def test_without_matplotlib_nothing_is_drawn(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "pgpd_hf.figures", raising=False)
    monkeypatch.delattr(pgpd_hf, "figures", raising=False)
    with pytest.raises(ValueError, match="^matplotlib: not installed"):
        pgpd_hf.plot_policy(PROCESS, POLICY)
