import io
import itertools

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, run, statistics
from replication.analyses.aggregate import without_repetition
from replication.figures import panels, style
from replication.statements import report


@pytest.fixture(scope="module")
def aggregate():
    traces = [
        run(
            random_cmdp(),
            algorithm,
            evaluators=evaluators,
            seeds=range(3),
            iterations=20,
            horizon=5,
        )
        for algorithm in ("npgpd_hf", "zpgpd_hf")
        for evaluators in (4, 16, None)
    ]
    return statistics.aggregate(pd.concat(traces))


def test_panel_shows_the_numbers_of_the_aggregate(aggregate):
    style.use_style()
    axes = panels.panel(aggregate, "zpgpd_hf", "optimality_gap").axes[0]
    solid = [line for line in axes.lines if line.get_label().startswith("$M")]
    assert [line.get_label() for line in solid] == ["$M = 4$", "$M = 16$", r"$M = \infty$"]
    curve = aggregate.query("algorithm == 'zpgpd_hf' and evaluators == 16")
    np.testing.assert_array_equal(solid[1].get_xdata(), curve["iteration"])
    np.testing.assert_array_equal(solid[1].get_ydata(), curve["optimality_gap"])


def test_figure_has_a_row_per_algorithm_and_a_column_per_metric(aggregate):
    style.use_style()
    figure = panels.figure1(aggregate)
    keys = list(itertools.product(["npgpd_hf", "zpgpd_hf"], panels.METRIC_LABELS))
    for letter, key, axes in zip("abcd", keys, figure.axes, strict=True):
        found = panels.finding(aggregate, *key)
        assert axes.get_title(loc="left") == f"({letter}) {found}"
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == ["NPGPD-HF", "ZPGPD-HF"]
    style.plt.close(figure)


def test_exact_algorithm_has_one_curve_though_its_runs_are_repeated_for_every_number():
    given = {"seeds": range(2), "iterations": 5, "primal_step": 0.3, "dual_step": 0.1}
    exact = run(random_cmdp(), "npg_pd", **given)
    asking = [run(random_cmdp(), "npgpd_hf", evaluators=m, **given) for m in (4, 16)]
    repeated = [exact.assign(evaluators=pd.array([m] * len(exact), "Int64")) for m in (4, 16)]
    traces = pd.concat([*asking, *repeated], ignore_index=True)
    kept = without_repetition(traces)
    pd.testing.assert_frame_equal(kept, pd.concat([*asking, exact], ignore_index=True))
    table = statistics.aggregate(kept)
    style.use_style()
    axes = panels.panel(table, "npg_pd", "optimality_gap").axes[0]
    labels = [line.get_label() for line in axes.lines if line.get_label().startswith("$M")]
    assert labels == [r"$M = \infty$"]
    style.plt.close("all")


def test_exact_methods_and_their_curve_come_last(aggregate):
    style.use_style()
    asking = aggregate[aggregate["evaluators"].notna()]
    exact = aggregate[aggregate["evaluators"].isna() & (aggregate["algorithm"] == "npgpd_hf")]
    figure = panels.figure1(pd.concat([exact.assign(algorithm="npg_pd"), asking]))
    rows = [axes.get_ylabel() for axes in figure.axes[::2]]
    assert rows == ["NPGPD-HF", "ZPGPD-HF", "NPG-PD (exact)"]
    # Matplotlib fills columns: people stand in the first row, what lines show in the second.
    keys = [text.get_text() for text in figure.legends[0].get_texts()]
    assert keys[::2] == ["$M = 4$", "$M = 16$", r"$M = \infty$"]
    assert keys[1::2] == ["current policy", "running average", "band: 95 %"]
    style.plt.close(figure)


def test_words_below_a_violation_have_room_below_the_curves(aggregate):
    style.use_style()
    axes = panels.figure1(aggregate.assign(constraint_violation_low=-5.0)).axes[1]
    low, high = axes.get_ylim()
    assert -5 - low > 0.09 * (high - low)
    style.plt.close("all")


def test_labels_of_decades_are_of_one_kind():
    axes = style.plt.subplots()[1]
    for low, power in ((1e-6, True), (1e-3, False)):
        axes.set(yscale="log", ylim=(low, 1))
        style.plain_decades(axes.yaxis)
        axes.figure.draw_without_rendering()
        words = [tick.get_text() for tick in axes.get_yticklabels()]
        assert [word.startswith("$") for word in words] == [power] * len(words)
    style.plt.close("all")


def test_panels_of_a_metric_have_one_range_with_room_for_all_curves(aggregate):
    style.use_style()
    low = aggregate[aggregate["algorithm"] == "npgpd_hf"].assign(algorithm="npg_pd")
    low = low.assign(**{name: low[name] / 10 for name in panels.METRIC_LABELS})
    figure = panels.figure1(pd.concat([aggregate, low]))
    limits = [axes.get_ylim() for axes in figure.axes]
    assert len(set(limits[::2])) == len(set(limits[1::2])) == 1
    for axes in figure.axes:
        lowest, highest = axes.get_ylim()
        assert lowest < 0
        for line in filter(lambda line: len(line.get_ydata()), axes.lines):
            assert lowest <= np.min(line.get_ydata()) <= np.max(line.get_ydata()) <= highest
    style.plt.close(figure)


@pytest.mark.parametrize(
    ("start", "ends", "said"),
    [
        (0.25, (0.072, 0.0066), "falls from 0.25 to between 0.01 and 0.07"),
        (0.161, (-0.0114, -0.001), "falls from 0.16 to between −0.01 and 0.00"),
        (0.1, (0.2, 0.05), "goes from 0.10 to between 0.05 and 0.20"),
        (-12.3, (-24.9, -25.1), "falls from −12 to −25"),
        (0.0021, (0.001, 0.001), "falls from 0.0021 to 0.0010"),
        (0.5, (0.496, 0.501), "hardly moves: by 0.004 at most"),
        (0.0, (0.0, 0.0), "stays at 0"),
    ],
)
def test_title_says_from_where_to_where_means_go(start, ends, said):
    curves = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "evaluators": pd.array([4, 4, None, None], "Int64"),
            "iteration": [0, 10, 0, 10],
            "optimality_gap": [start, ends[0], start, ends[1]],
            "constraint_violation": 1.0,
        }
    )
    curves = with_intervals(curves, 0)
    assert panels.finding(curves, "npgpd_hf", "optimality_gap") == said


def with_intervals(curves, width):
    means = curves["optimality_gap"]
    return curves.assign(optimality_gap_low=means - width, optimality_gap_high=means + width)


@pytest.mark.parametrize(
    ("lowest", "width", "said"),
    [
        ((0.07, 0.011), 0.009, "0.01 and 0.07,\nthen rises to between 0.03 and 0.09"),
        ((0.07, 0.011), 0.011, "0.03 and 0.09"),  # intervals of M = 4 meet
        ((0.07, 0.031), 0.0, "0.03 and 0.09"),  # the other curve does not rise
        ((0.088, 0.029), 0.0, "0.03 and 0.09"),  # as far as two decimals show
    ],
)
def test_title_says_that_means_rise_again_where_all_are_seen_to(lowest, width, said):
    curves = pd.DataFrame(
        {
            "algorithm": "npgpd_hf",
            "evaluators": pd.array([4, 4, 4, None, None, None], "Int64"),
            "iteration": [0, 5, 10, 0, 5, 10],
            "optimality_gap": [0.25, lowest[0], 0.09, 0.25, lowest[1], 0.031],
            "constraint_violation": 1.0,
        }
    )
    found = panels.finding(with_intervals(curves, width), "npgpd_hf", "optimality_gap")
    assert found == f"falls from 0.25 to between {said}"


def test_studies_beside_each_other_share_axes_and_say_where_their_curves_end(aggregate):
    style.use_style()
    names = [*panels.METRIC_LABELS, *(f"mean_{name}" for name in panels.METRIC_LABELS)]
    ends = [f"{name}{end}" for name in panels.METRIC_LABELS for end in ("_low", "_high")]
    halved = aggregate.assign(**{name: aggregate[name] / 2 for name in [*names, *ends]})
    figure = panels.side_by_side({"N = 1": aggregate, "N = 2": halved})
    keys = itertools.product(["npgpd_hf", "zpgpd_hf"], panels.METRIC_LABELS)
    for key, *row in zip(keys, figure.axes[::2], figure.axes[1::2], strict=True):
        assert row[0].get_ylim() == row[1].get_ylim()
        for axes, table in zip(row, (aggregate, halved), strict=True):
            assert panels.finding(table, *key).endswith(title := axes.get_title(loc="left"))
            assert len(title) > 3
    heads = [[text.get_text() for text in axes.texts] for axes in figure.axes]
    assert heads == [["N = 1"], ["N = 2"]] + [[]] * 6
    style.plt.close(figure)


def test_heads_of_columns_stand_above_titles_of_two_lines():
    style.use_style()
    figure, grid = style.panels(2, 2, 2)
    grid[0, 1].set_title("one\ntwo")
    for axes in grid[0]:
        style.head(axes, "a head")
    figure.draw_without_rendering()
    boxes = [axes.texts[0].get_window_extent() for axes in grid[0]]
    assert boxes[0].y0 == pytest.approx(boxes[1].y0)
    assert boxes[1].y0 > grid[0, 1]._left_title.get_window_extent().y1
    style.plt.close(figure)


@pytest.mark.parametrize(
    "heights", [[0.5, 0.5, 0.98, 0.52, 0.1], [0.0, 0.02, 0.01, 0.3], [0.99, 1.0, 0.98, 0.9]]
)
def test_labels_at_ends_of_curves_do_not_collide_and_stay_beside_the_panel(heights):
    style.use_style()
    figure, axes = style.plt.subplots(figsize=(3, 2))
    axes.plot([0, 1, 2], [0, 1, 0.5])
    axes.set(xlim=(0, 3), ylim=(0, 1))
    style.label_ends(axes, [(2, height, f"{height}", "black") for height in heights])
    figure.draw_without_rendering()
    # Without the lines that lead to them:
    boxes = [style.mpl.text.Text.get_window_extent(text) for text in axes.texts]
    assert all(low.y1 <= high.y0 for low, high in itertools.pairwise(boxes))
    assert [float(text.get_text()) for text in axes.texts] == sorted(heights)
    # Each leads to where its curve ends, level as far as the panel goes.
    assert [text.xy for text in axes.texts] == [(3, height) for height in sorted(heights)]
    level = [line.get_xydata().tolist() for line in axes.lines[1:]]
    assert level == [[[2, height], [3, height]] for height in sorted(heights)]
    assert all(0 <= text.xyann[1] <= 1 + 1e-12 for text in axes.texts)
    style.plt.close(figure)


def test_curves_that_hardly_leave_their_start_are_found(aggregate):
    """If every M does so, and in each metric by itself."""
    flat = aggregate.assign(optimality_gap=0.3, constraint_violation=0.1)
    assert report.flat(flat) == {
        (algorithm, metric): 0
        for algorithm in flat["algorithm"].unique()
        for metric in panels.METRIC_LABELS
    }
    moved = flat["algorithm"].eq("npgpd_hf") & flat["evaluators"].eq(16) & flat["iteration"].eq(20)
    flat.loc[moved, "optimality_gap"] = 0.3 * 1.0199
    assert report.flat(flat)["npgpd_hf", "optimality_gap"] == pytest.approx(0.3 * 0.0199)
    flat.loc[moved, "optimality_gap"] = 0.3 * 1.0201
    assert ("npgpd_hf", "optimality_gap") not in report.flat(flat)
    assert ("npgpd_hf", "constraint_violation") in report.flat(flat)


def test_panel_without_movement_says_so(aggregate):
    flat = aggregate.assign(optimality_gap=0.3)
    for metric, said in (("optimality_gap", True), ("constraint_violation", False)):
        axes = panels.panel(flat, "npgpd_hf", metric).axes[0]
        assert axes.get_title(loc="left").endswith("hardly moves: by 0 at most") == said
    style.plt.close("all")


@pytest.mark.parametrize("last", [900, 1000, 20_000, 50_000, 100_000])
def test_labels_of_iterations_do_not_collide(aggregate, last):
    style.use_style()
    figure = panels.figure1(aggregate.assign(iteration=aggregate["iteration"] * last // 20))
    figure.draw_without_rendering()
    for axes in figure.axes:
        labels = [label.get_window_extent() for label in axes.get_xticklabels()]
        assert len(labels) > 2
        assert all(one.x1 < other.x0 for one, other in itertools.pairwise(labels))
    style.plt.close(figure)


def test_labels_of_a_short_run_are_its_iterations(aggregate):
    style.use_style()
    short = aggregate[aggregate["iteration"].isin(aggregate["iteration"].unique()[:4])]
    number = short["iteration"].rank(method="dense").astype(int) - 1
    figure = panels.figure1(short.assign(iteration=number))
    figure.draw_without_rendering()
    for axes in figure.axes:
        labels = [label.get_text() for label in axes.get_xticklabels()]
        assert labels == ["0", "1", "2", "3"]
    style.plt.close(figure)


@pytest.mark.parametrize("scale", ["linear", "log"])
def test_look_changes_the_axis_and_the_size_and_no_number(aggregate, scale):
    style.use_style()
    figure = panels.figure1(aggregate, scale, width=10, height=3)
    assert figure.get_size_inches().tolist() == [10, 6]
    usual = panels.figure1(aggregate)
    for ours, theirs in zip(figure.axes, usual.axes, strict=True):
        assert (ours.get_xscale(), theirs.get_xscale()) == (scale, "linear")
        assert ours.get_xlim() == (scale == "log", 20)
        for one, other in zip(ours.lines, theirs.lines, strict=True):
            assert np.array_equal(one.get_ydata(), other.get_ydata())
    style.plt.close("all")


def test_colour_belongs_to_the_number_of_evaluators(aggregate):
    style.use_style()
    for chosen in ([4, 16], [16], [16, pd.NA]):
        table = aggregate[aggregate["evaluators"].isin(chosen)]
        axes = panels.panel(table, "npgpd_hf", "optimality_gap").axes[0]
        (line,) = [line for line in axes.lines if line.get_label() == "$M = 16$"]
        assert line.get_color() == style.evaluators_color(16)
    style.plt.close("all")


@pytest.mark.parametrize(
    "colors",
    [style.colors(3), [style.evaluators_color(number) for number in (16, 64, 256)]],
    ids=["in order", "of evaluators"],
)
def test_colors_differ_in_lightness(colors):
    """Relative luminance (sRGB weights) falls by a visible step from each to the next."""
    colors = np.array(colors)[:, :3]
    luminance = colors @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) < -0.1).all()


def test_more_evaluators_are_darker():
    numbers = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
    luminance = np.array([style.evaluators_color(number)[:3] for number in numbers]).sum(1)
    assert (np.diff(luminance) < 0).all()


@pytest.mark.parametrize("ending", style.FORMATS)
def test_same_content_gives_the_same_bytes(aggregate, tmp_path, ending):
    style.use_style()
    for name in ("one", "two"):
        figure = panels.panel(aggregate, "npgpd_hf", "constraint_violation")
        style.save(figure, tmp_path, name, [ending])
        style.plt.close(figure)
    one, two = (tmp_path.joinpath(f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert len(one) > 2000


def test_words_say_where_the_curves_begin_and_end(aggregate):
    text = panels.describe_panel(aggregate, "npgpd_hf", "optimality_gap")
    curve = aggregate.query("algorithm == 'npgpd_hf' and evaluators == 16")["optimality_gap"]
    assert text.startswith("Optimality gap of NPGPD-HF against iterations")
    assert f"from {curve.iloc[0]:.3f} to" in text
    assert f"{curve.iloc[-1]:.3f} for M = 16" in text
    assert "for M = ∞" in text


def test_shown_figure_has_its_words_and_is_closed(monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr("IPython.display.display", shown.append)
    style.use_style()
    for saved in (None, tmp_path / "dot.png"):
        figure = style.plt.figure(figsize=(2, 1))
        if saved:
            style.save(figure, tmp_path, "dot")
        style.show(figure, "A dot.", saved)
        assert not style.plt.fignum_exists(figure.number)
    assert [picture.metadata["alt"] for picture in shown] == ["A dot.", "A dot."]
    assert style.plt.imread(io.BytesIO(shown[0].data)).shape[:2] == (150, 300)
    assert shown[1].data == (tmp_path / "dot.png").read_bytes()
    assert (shown[1].width, shown[1].height) == (300, 150)  # half the pixels of the file


@pytest.mark.parametrize(
    ("limits", "expected"),
    [
        ((0.06, 0.16), [0.07, 0.1, 0.15]),
        ((0.011, 0.3), [0.02, 0.05, 0.1, 0.2]),
        ((2e-5, 0.9), [1e-4, 1e-3, 1e-2, 1e-1]),
    ],
)
def test_logarithmic_axis_has_plain_numbers(limits, expected):
    axes = style.plt.figure().gca()
    axes.set(yscale="log", ylim=limits)
    style.plain_decades(axes.yaxis)
    ticks = [tick for tick in axes.get_yticks() if limits[0] <= tick <= limits[1]]
    assert ticks == pytest.approx(expected)


def test_legend_has_each_label_once():
    figure, panels = style.plt.subplots(1, 2)
    for axes in panels:
        axes.plot([0, 1], label="curve")
    style.share_legend(figure, 2)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["curve"]


@pytest.mark.parametrize(
    ("people", "algorithm", "radius", "said"),
    [
        (None, "zpgpd_hf", "theorem", True),
        (16, "zpgpd_hf", "theorem", False),
        (None, "npgpd_hf", "theorem", False),
        (None, "zpgpd_hf", 0.3, False),
        (None, "zpgpd_hf", "calibrated", False),
        (None, "npgpd_hf", None, False),
    ],
)
def test_unlimited_people_are_explained_where_the_formula_makes_them_worse(
    aggregate, people, algorithm, radius, said
):
    """That is ZPGPD-HF's with the radius of Theorem 2; other curves do not matter."""
    limited, wanted = aggregate["evaluators"].notna(), aggregate["evaluators"].eq(people)
    drawn = aggregate[(aggregate["algorithm"] == algorithm) & (wanted if people else ~limited)]
    others = aggregate[(aggregate["algorithm"] != algorithm) & limited]
    assert panels.worse_without_limit(pd.concat([drawn, others]), radius) is said


def test_marker_of_a_number_of_people_is_the_same_in_all_panels(aggregate):
    """Also beside a panel that has only one of them."""
    fewer = aggregate.query("algorithm == 'npgpd_hf' or evaluators == 16")
    looks = {}
    for algorithm in ("npgpd_hf", "zpgpd_hf"):
        axes = panels.panel(fewer, algorithm, "optimality_gap").axes[0]
        for line in axes.lines:
            if line.get_label().startswith("$M"):
                looks.setdefault(line.get_label(), set()).add(line.get_marker())
    assert len(looks) == 3
    assert all(len(markers) == 1 for markers in looks.values())
