"""Pictures of policies: what they show is what the policies do."""

import re
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pytest

import pgpd_hf
from pgpd_hf.core.cmdp import Map


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture
def corridor():
    """Start, middle and a hole on the left; the goal on the right. Right succeeds surely."""
    transition = np.zeros((4, 2, 4))
    transition[0, 0, 2] = transition[0, 1, 1] = 1
    transition[1, 0, 0] = transition[1, 1, 3] = 1
    transition[2:, :, 2:] = np.eye(2)[:, None]
    return pgpd_hf.CMDP(
        transition,
        reward=[[0, 0], [0, 0], [0, 0], [0.1, 0.1]],
        utility=[[0.1, 0.1], [0.1, 0.1], [0, 0], [0.1, 0.1]],
        initial=[1, 0, 0, 0],
        discount=0.9,
        threshold=0.5,
        scale=0.1,
        map=Map(np.array([["H", "S", "F", "G"]]), np.array([1, 2, 0, 3]), [[0, -1], [0, 1]]),
    )


def texts(axes):
    return {(text.get_text(), *np.round(text.get_position(), 2)) for text in axes.texts}


def arrows(axes):
    """Where arrows begin and end."""
    return {
        (tuple(np.round(it.xyann, 3)), tuple(np.round(it.xy, 3)))
        for it in axes.texts
        if getattr(it, "arrowprops", None)
    }


@pytest.mark.parametrize("discount", [0.9, 0.4])
def test_map_shows_arrows_and_where_one_ends(corridor, discount):
    corridor = replace(corridor, discount=discount, threshold=0.05)
    policy = np.array([[0.25, 0.75], [0, 1], [0.5, 0.5], [0.5, 0.5]])
    (axes,) = pgpd_hf.plot_policy(corridor, policy).axes
    assert arrows(axes) == {
        ((1.5, 0.5), (1.5 - 0.44 * 0.25, 0.5)),
        ((1.5, 0.5), (1.5 + 0.44 * 0.75, 0.5)),
        ((2.5, 0.5), (2.94, 0.5)),
    }
    shown = texts(axes)
    # The hole after one step with probability 1/4, the goal after two with 3/4.
    assert (f"{discount * 0.25:.2f}", 0.5, 0.5) in shown
    assert (f"{discount**2 * 0.75:.2f}", 3.5, 0.5) in shown
    assert {("H", 0.06, 0.06), ("S", 1.06, 0.06), ("G", 3.06, 0.06)} < shown


def test_heads_of_arrows_can_be_seen_and_grow_with_the_probability(corridor):
    policy = np.array([[0.03, 0.97], [0, 1], [0.5, 0.5], [0.5, 0.5]])
    (axes,) = pgpd_hf.plot_policy(corridor, policy).axes
    drawn = [it for it in axes.texts if getattr(it, "arrowprops", None)]
    drawn.sort(key=lambda it: abs(it.xy[0] - it.xyann[0]))
    styles = [it.arrow_patch.get_arrowstyle() for it in drawn]
    for sizes in ([it.head_width for it in styles], [it.head_length for it in styles]):
        assert sizes == sorted(set(sizes))
        assert 0.03 < sizes[0] < 0.05
        assert 0.15 < sizes[-1] < 0.25


@pytest.mark.parametrize("shape", [(1, 4), (2, 2), (4, 1)])
def test_figure_of_one_map_is_made_for_square_cells(corridor, shape):
    drawn = corridor.map._replace(letters=corridor.map.letters.reshape(shape))
    figure = pgpd_hf.plot_policy(replace(corridor, map=drawn), np.full((4, 2), 0.5))
    width, height = figure.get_size_inches() - (0.6, 0.35)  # of the scale; of the title
    assert height / width == pytest.approx(shape[0] / shape[1])


def test_cell_in_which_episodes_end_in_several_ways_shows_their_sum():
    """Holes cost one, and one and a quarter if going up leads there."""
    given = {"cost": lambda s, a, to: (to in (5, 7, 11, 12)) * (1 + 0.25 * (a == 3)), "at_most": 1}
    plain = pgpd_hf.from_gymnasium("FrozenLake-v1", cost="holes", at_most=0.5)
    split = pgpd_hf.from_gymnasium("FrozenLake-v1", **given)
    assert split.states == plain.states + 4
    drawn = [
        texts(pgpd_hf.plot_policy(cmdp, np.full((cmdp.states, 4), 0.25)).axes[0])
        for cmdp in (plain, split)
    ]
    assert drawn[0] == drawn[1]


def test_map_without_a_state_that_is_left_is_drawn(corridor):
    staying = np.repeat(np.eye(4)[:, None], 2, axis=1)
    policy = np.full((4, 2), 0.5)
    (axes,) = pgpd_hf.plot_policy(replace(corridor, transition=staying), policy).axes
    assert arrows(axes) == set()


def test_darker_is_more_often_visited(corridor):
    (axes,) = pgpd_hf.plot_policy(
        corridor, np.array([[0.0, 1.0], [0.4, 0.6]] + [[0.5, 0.5]] * 2)
    ).axes
    red = axes.images[0].get_array()[0, :, 0]
    visits = corridor.state_occupancy([[0.0, 1.0], [0.4, 0.6]] + [[0.5, 0.5]] * 2)
    assert visits[0] > visits[1]
    assert red[1] < red[2]


def test_titles_hold_names_and_values(corridor):
    policy = pgpd_hf.solve(corridor).policy
    figure = pgpd_hf.plot_policy(corridor, {"best": policy, "uniform": np.full((4, 2), 0.5)})
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    v_r, v_g = corridor.evaluate(policy)
    assert titles[0] == f"best: $V_r$ = {v_r:.3f}, $V_g$ = {v_g:.3f} (b = 0.5)"
    assert titles[1].startswith("uniform: ")


def test_titles_may_be_numbers_such_as_seeds(corridor):
    figure = pgpd_hf.plot_policy(corridor, {seed: np.full((4, 2), 0.5) for seed in range(2)})
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert [title.partition(":")[0] for title in titles] == ["0", "1"]


def test_policy_that_just_meets_a_threshold_of_four_digits_does_not_look_unsafe(corridor):
    policy = np.array([[0.28, 0.72], [0.5, 0.5], [0.5, 0.5], [0.5, 0.5]])
    value = corridor.evaluate(policy)[1]
    assert round(value, 3) < round(value, 4) == 0.6443
    (axes,) = pgpd_hf.plot_policy(replace(corridor, threshold=0.6443), policy).axes
    assert axes.get_title(loc="left").endswith("$V_g$ = 0.6443 (b = 0.6443)")


def test_strip_shows_probabilities_and_visits():
    cmdp = pgpd_hf.random_cmdp(6, 3)
    policy = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    bars, strip, _ = pgpd_hf.plot_policy(cmdp, policy).axes
    assert (strip.images[0].get_array() == policy.T).all()
    heights = [bar.get_height() for bar in bars.patches]
    np.testing.assert_allclose(heights, 0.1 * cmdp.state_occupancy(policy))


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("states", [2, 3, 20])
def test_titles_of_strips_do_not_meet_and_states_have_numbers(states, count):
    cmdp = pgpd_hf.random_cmdp(states, 3)
    named = {f"{k}": np.full((states, 3), 1 / 3) for k in range(count)}
    figure = pgpd_hf.plot_policy(cmdp, named)
    figure.canvas.draw()
    titles = [axes for axes in figure.axes if axes.get_title("left")]
    boxes = [axes._left_title.get_window_extent() for axes in titles]
    for k, one in enumerate(boxes):
        assert one.x1 < figure.bbox.x1
        assert not any(one.overlaps(other) for other in boxes[k + 1 :])
    strips = [axes for axes in figure.axes if axes.images and axes.get_visible()]
    lowest = strips[-2:] if count > 1 else strips
    for axes in lowest:
        assert axes.get_xlabel() == "state"
        assert axes.xaxis.get_tick_params()["labelbottom"]


def test_rows_of_strips_have_the_same_height_with_room_for_the_axis_below_the_last():
    cmdp = pgpd_hf.random_cmdp(6, 3)
    named = {f"{k}": np.full((6, 3), 1 / 3) for k in range(5)}
    heights = [
        pgpd_hf.plot_policy(cmdp, dict([*named.items()][:count])).get_figheight()
        for count in (1, 3, 5)  # two beside each other
    ]
    row, other = np.diff(heights)
    assert row == pytest.approx(other)
    assert row < heights[0] < 1.5 * row


@pytest.mark.parametrize("count", [1, 2, 3])
def test_strips_may_have_names(count):
    cmdp = pgpd_hf.media_streaming(6)
    states, actions = ["empty", "1", "2", "3", "4", "full"], ["slow", "fast"]
    named = {f"{k}": np.full((6, 2), 0.5) for k in range(count)}
    figure = pgpd_hf.plot_policy(cmdp, named, states=states, actions=actions)
    figure.canvas.draw()
    strips = [axes for axes in figure.axes if axes.images and axes.get_visible()]
    lowest = strips[-2:] if count > 1 else strips
    for axes in strips:
        assert [it.get_text() for it in axes.get_yticklabels()] == actions
    for axes in lowest:
        assert [it.get_text() for it in axes.get_xticklabels() if it.get_visible()] == states


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"states": ["a", "b"]}, "states: 3 names expected, got 2"),
        ({"actions": "ab"}, "actions: names expected, got 'ab'"),
        ({"actions": [0, 1]}, "actions: names expected, got [0, 1]"),
        ({"actions": 2}, "actions: names expected, got 2"),
        ({"actions": np.array([0.5, 1.0])}, "actions: names expected, got array([0.5, 1. ])"),
    ],
)
def test_wrong_names_are_refused(names, message):
    cmdp = pgpd_hf.random_cmdp(3, 2)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        pgpd_hf.plot_policy(cmdp, np.full((3, 2), 0.5), **names)


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        ({}, "policy: at least one expected"),
        (np.full((3, 4, 2), 0.5), "policy: shape (4, 2) expected, got (3, 4, 2)"),
        (np.ones((4, 2)), "policy: probabilities at (0,) sum to 2.0, not to 1"),
    ],
)
def test_what_is_no_policy_is_refused(corridor, policy, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        pgpd_hf.plot_policy(corridor, policy)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("map", "map: a Map of letters, cells and moves expected, got 'map'"),
        (Map(["SG"], [0, 1, 0, 1], np.zeros((2, 2), int)), "map.letters: a rectangle of letters"),
        (Map([["S"]], [0, 1], np.zeros((2, 2), int)), "map.cells: integers of shape (4,) expected"),
        (Map([["S"]], [0, 1, 0, 0], np.zeros((2, 2), int)), "map.cells: numbers of the 1 cells"),
        (Map([["S"]], [0] * 4, np.zeros((2, 3), int)), "map.moves: integers of shape (2, 2)"),
    ],
)
def test_map_that_does_not_fit_is_refused(corridor, value, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        replace(corridor, map=value)
