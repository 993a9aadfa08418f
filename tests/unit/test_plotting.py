import numpy as np
import pandas as pd
import pytest

from pgpd_hf import plotting, random_cmdp, run, statistics


@pytest.fixture(scope="module")
def aggregate():
    traces = [
        run(random_cmdp(), algorithm, evaluators=people, seeds=range(3), iterations=20, horizon=5)
        for algorithm in ("npgpd_hf", "zpgpd_hf")
        for people in (4, 16, None)
    ]
    return statistics.aggregate(pd.concat(traces))


def test_panel_shows_the_numbers_of_the_aggregate(aggregate):
    plotting.use_style()
    axes = plotting.panel(aggregate, "zpgpd_hf", "optimality_gap").axes[0]
    solid = [line for line in axes.lines if line.get_label().startswith("$M")]
    assert [line.get_label() for line in solid] == ["$M = 4$", "$M = 16$", r"$M = \infty$"]
    curve = aggregate.query("algorithm == 'zpgpd_hf' and evaluators == 16")
    np.testing.assert_array_equal(solid[1].get_xdata(), curve["iteration"])
    np.testing.assert_array_equal(solid[1].get_ydata(), curve["optimality_gap"])


def test_figure_has_a_row_per_algorithm_and_a_column_per_metric(aggregate):
    figure = plotting.figure1(aggregate)
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles == ["(a) NPGPD-HF", "(b) NPGPD-HF", "(c) ZPGPD-HF", "(d) ZPGPD-HF"]


def test_colors_differ_in_lightness():
    """Relative luminance (sRGB weights) falls by a visible step from each to the next."""
    colors = np.array(plotting.crowd_colors(3))[:, :3]
    luminance = colors @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(luminance) < -0.1).all()


@pytest.mark.parametrize("ending", plotting.FORMATS)
def test_same_content_gives_the_same_bytes(aggregate, tmp_path, ending):
    plotting.use_style()
    for name in ("one", "two"):
        figure = plotting.panel(aggregate, "npgpd_hf", "constraint_violation")
        plotting.save(figure, tmp_path, name, [ending])
        plotting.plt.close(figure)
    one, two = (tmp_path.joinpath(f"{name}.{ending}").read_bytes() for name in ("one", "two"))
    assert one == two
    assert len(one) > 2000
