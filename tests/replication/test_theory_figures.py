import numpy as np
import pandas as pd
import pytest
from drawn import bars as error_bars

from replication.figures import style
from replication.figures.bounds import bounds_figure, lengths_figure, seen_figure
from replication.figures.certificates import certificate_figure
from replication.figures.rates import rates_figure
from replication.theory.certificates import PARTS


@pytest.fixture(autouse=True)
def close():
    style.use_style()
    yield
    style.plt.close("all")


def test_rates_have_a_curve_per_m_and_rule_without_what_has_no_logarithm():
    means = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "step_rule": np.repeat(["study", "theorem"], 2),
            "evaluators": pd.array([64, 64, None, None], dtype="Int64"),
            "iterations": [10, 1000, 10, 1000],
            "metric": "gap",
            "mean": [0.4, 0.1, 0.2, -0.1],
            "low": [0.3, 0.0, 0.1, -0.2],
            "high": [0.5, 0.2, 0.3, 0.0],
        }
    )
    axes = rates_figure(means).axes[0]
    curves = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
    assert set(curves) == {
        "$M = 64$, steps of the study",
        r"$M = \infty$, steps of the theorem",
        "promised slope",
    }
    shown = curves[r"$M = \infty$, steps of the theorem"].lines[0].get_xdata()
    assert list(shown) == [10]
    first, last = curves["promised slope"].get_ydata()
    assert last / first == pytest.approx(0.1)


def test_bars_of_rates_reach_from_the_lower_end_of_an_interval_to_the_upper_one():
    table = {"algorithm": "npgpd_hf", "metric": "gap", "step_rule": "study", "evaluators": 1}
    table |= {"iterations": [10, 100], "mean": [0.3, 0.2], "low": [0.2, 0.15], "high": [0.6, 0.4]}
    (found,) = error_bars(rates_figure(pd.DataFrame(table)).axes[0])
    np.testing.assert_allclose(found, [(0.2, 0.6), (0.15, 0.4)])


def test_rates_without_a_theorem_have_no_promised_slope():
    table = {"algorithm": "npg_pd", "metric": "gap", "step_rule": "study", "evaluators": 1}
    table |= {"iterations": [10, 100], "mean": 0.2, "low": 0.1, "high": 0.3}
    labels = rates_figure(pd.DataFrame(table)).axes[0].get_legend_handles_labels()[1]
    assert labels == ["$M = 1$, steps of the study"]


def test_averages_of_which_none_is_positive_are_said_so():
    means = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "metric": ["gap", "gap", "violation", "violation"],
            "step_rule": "study",
            "evaluators": 64,
            "iterations": [10, 100] * 2,
            "mean": [0.4, 0.1, -0.2, -0.3],
            "low": [0.3, 0.0, -0.3, -0.4],
            "high": [0.5, 0.2, 0.1, -0.2],
        }
    )
    figure = rates_figure(means)
    figure.canvas.draw()
    gap, violation = figure.axes
    assert [text.get_text() for text in gap.texts] == []
    assert [text.get_text() for text in violation.texts] == ["no average is positive"]
    assert gap.get_yscale() == "log"


def test_bounds_are_hollow_where_vacuous_and_set_as_mathematics():
    table = pd.DataFrame(
        {
            "item": [1, 5, 5],
            "part": ["a", "c", "c"],
            "line": [723, 1060, 1060],
            "statement": ["E h_c^2 <= sigma_2^2", *["|grad V^mu - grad V| <= mu L' d/2"] * 2],
            "setting": ["paper", "paper", "other"],
            "ratio": [0.5, 1e-9, 0.0],
            "reason": [None, "vacuous: above 1", None],
        }
    )
    axes = bounds_figure(table).axes[0]
    labels = [tick.get_text() for tick in axes.get_yticklabels()]
    assert labels == ["E h_c² ≤ σ_2²  (723)   1a", "|∇V^μ - ∇V| ≤ μ L' d/2  (1060)   5c"]
    solid, hollow, *others = axes.collections
    assert solid.get_offsets().data[:, 0] == pytest.approx([0.5])
    assert hollow.get_offsets().data[:, 0] == pytest.approx([1e-9])
    assert len(hollow.get_facecolor()) == 0
    assert sum(len(other.get_offsets()) for other in others) == 0


def test_certificates_stack_up_to_their_sum():
    table = pd.DataFrame({"algorithm": "npgpd_hf", "evaluators": [16.0, 16.0], "measured": 0.1})
    table = table.assign(**dict.fromkeys(PARTS, 0.0))
    table["optimisation"] = [0.1, 0.3]
    table["feedback"] = [0.2, 0.4]
    table["remaining"] = [-0.1, -0.3]
    axes = certificate_figure(table, PARTS).axes[0]
    bars = dict(zip(PARTS, axes.patches, strict=True))
    assert bars["optimisation"].get_y() == 0
    assert bars["feedback"].get_y() == pytest.approx(0.2)
    assert bars["feedback"].get_height() == pytest.approx(0.3)
    assert bars["remaining"].get_y() == 0
    assert bars["remaining"].get_height() == pytest.approx(-0.2)
    (measured,) = axes.collections
    assert measured.get_segments()[0][:, 1].tolist() == [0.1, 0.1]


SEEN = pd.DataFrame(
    {
        "estimator": "plug-in",
        "evaluators": pd.array([16, 16, 16, 16], dtype="Int64"),
        "rounds": 1,
        "iterations": [10.0, 20.0, 10.0, 20.0],
        "quantity": ["gap", "gap", "violation", "violation"],
        "measured": [0.2, 0.1, 0.05, -0.01],
        "bound": [3.0, 2.0, 0.2, 0.1],
        "bound_error": 0.01,
        "reason": None,
    }
)


def test_bounds_from_what_runs_show_stand_above_what_is_measured():
    few = SEEN.assign(evaluators=pd.array([64] * 4, dtype="Int64"), bound=0.5)
    figure = seen_figure(pd.concat([SEEN, few]), largest=2.5)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["1 of 2 informative"] + ["2 of 2 informative"] * 3
    heads = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert heads == [["$M = 16$"], ["$M = 64$"], [], []]
    above, other, below, _ = figure.axes
    assert bars(above) == [[3.0, 2.0], [0.2, 0.1], []]
    assert bars(other) == [[0.5, 0.5], [0.2, 0.1]]
    # A logarithmic axis has no place for slack.
    bound, (first, second) = bars(below)
    assert bound == [0.2, 0.1]
    assert first == 0.05
    assert np.isnan(second)
    assert above.get_ylim() == other.get_ylim()
    assert above.get_ylabel().endswith(" gap")
    assert below.get_ylabel().endswith(" violation")
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert "bounds are informative below 2.5" in labels


def test_lines_lead_from_what_is_measured_to_the_bound_with_its_interval():
    gap, _ = seen_figure(SEEN, largest=2.5).axes
    lines = gap.collections[0].get_segments()
    assert [line[:, 1].tolist() for line in lines] == [[0.2, 3.0], [0.1, 2.0]]
    np.testing.assert_allclose(error_bars(gap)[0], [(2.99, 3.01), (1.99, 2.01)])


def test_bounds_of_a_t_stand_side_by_side_in_its_slot():
    more = SEEN[SEEN["iterations"] == 10].assign(rounds=10)
    axes = seen_figure(pd.concat([SEEN, more]), largest=1).axes[0]
    marks = [line.get_xdata() for line in axes.get_lines() if line.get_marker() == "_"]
    places = sorted(x for line in marks for x in line)
    assert places == pytest.approx([-0.2, 0.2, 1.0])


def bars(axes):
    """Heights of bars and of markers."""
    marked = [line for line in axes.get_lines() if line.get_marker() in "_o"]
    return [line.get_ydata().tolist() for line in marked]


LENGTHS = pd.DataFrame(
    {
        "statement": ["printed"] * 2 + ["Theorem 1"] * 4,
        "estimator": ["plug-in"] * 4 + ["unbiased"] * 2,
        "evaluators": pd.array([16] * 6, dtype="Int64"),
        "rounds": 1,
        "iterations": [100.0, 1e4] * 3,
        "gap": [9.0, 8.0, 5.0, 4.0, 0.5, 0.05],
        "violation": [7.0, 8.5, 4.0, 4.5, 0.6, 0.04],
        "reason": "",
        "measured_gap": [0.2, np.nan] * 3,
        "measured_violation": [0.1, np.nan, 0.3, np.nan, 0.1, np.nan],
    }
)
MEASURED = pd.DataFrame(
    {
        "evaluators": pd.array([16, 16, 16, None], dtype="Int64"),
        "rounds": 1,
        "iterations": [1, 10, 90, 50],
        "runs": ["figure", "figure", "figure", "theorem"],
        "mean": [0.5, 0.4, 0.2, 0.3],
    }
)


def test_bounds_over_t_show_the_larger_one_beside_what_is_measured():
    other = LENGTHS.assign(evaluators=pd.array([None] * 6, dtype="Int64"))
    figure = lengths_figure(pd.concat([LENGTHS, other.assign(gap=90.0)]), 0.4, MEASURED[:0])
    few, everyone = figure.axes
    assert everyone.get_title(loc="left") == r"$M = \infty$, $N = 1$"
    *lines, line = few.get_lines()
    assert line.get_ydata() == [0.4, 0.4]
    bounds, markers = lines[::2], lines[1::2]
    drawn = [list(line.get_ydata()) for line in bounds]
    assert drawn == [[9.0, 8.5], [5.0, 4.5], [0.6, 0.05]]
    assert [line.get_linestyle() for line in bounds] == ["--", "--", "-"]
    assert [line.get_ydata()[0] for line in markers] == [0.2, 0.3, 0.2]
    assert [line.get_markerfacecolor() == "none" for line in markers] == [True, True, False]
    assert few.get_ylim() == everyone.get_ylim()


def test_bounds_over_t_show_in_black_what_other_runs_measure():
    other = LENGTHS.assign(evaluators=pd.array([None] * 6, dtype="Int64"))
    alone = pd.concat([LENGTHS, other]).drop(columns=["measured_gap", "measured_violation"])
    figure = lengths_figure(alone, 0.4, MEASURED)
    few, everyone = (
        [line for line in it.get_lines() if line.get_color() == "black"] for it in figure.axes
    )
    assert [line.get_xydata().tolist() for line in few] == [[[10, 0.4], [90, 0.2]]]
    assert [line.get_xydata().tolist() for line in everyone] == [[[50, 0.3]]]
    assert figure.axes[0].get_xlim() == figure.axes[1].get_xlim()
    told = [text.get_text() for text in figure.legends[0].get_texts()]
    assert told[-3:-1] == ["measured: Figure 1", "measured: the printed steps for T"]


def test_bounds_over_t_say_why_they_are_left_out():
    table = LENGTHS.assign(iterations=np.nan, reason="threshold: too low")
    (axes,) = lengths_figure(table, 0.4, MEASURED).axes
    assert [text.get_text() for text in axes.texts] == ["Left out: threshold: too low."]


def test_bounds_from_what_runs_show_say_why_they_are_left_out():
    table = SEEN.assign(iterations=np.nan, reason="threshold: too low")
    (axes,) = seen_figure(table, 1).axes
    assert [text.get_text() for text in axes.texts] == ["Left out: threshold: too low."]
