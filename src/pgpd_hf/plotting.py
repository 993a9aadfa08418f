"""Curves of runs and pictures of policies, for which Matplotlib has to be installed."""

from __future__ import annotations  # help() shows names of types

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pgpd_hf.arguments import require_instance
from pgpd_hf.cmdp import CMDP

_COLOURS = {"H": "0.3", "G": "#f0d77b"}  # of holes and goal
_MOVES = [(0, -1), (1, 0), (0, 1), (-1, 0)]  # left, down, right, up: rows down, columns right
_MOST_WRITTEN = 30  # most states with numbers in a table


def plot_curves(curve: pd.DataFrame) -> Any:
    """Draw gap and violation against iterations, as the paper's figure does.

    There is a row of panels for each algorithm and a curve for each M. Bands are the intervals of
    the table, cut off where they would flatten the curves. Notebooks show the figure, and its
    method `savefig` writes it.

    Parameters
    ----------
    curve : pandas.DataFrame
        As :func:`pgpd_hf.aggregate` returns it, with the units of the CMDP, if it has some, in
        ``curve.attrs["units"]``; after reading a table from a file, set it to ``cmdp.units``.
    """
    require_instance("curve", curve, pd.DataFrame)
    figures = _figures()
    needed = {f"{metric}{end}" for metric in figures.METRICS for end in ("", "_low", "_high")}
    needed |= {"algorithm", "evaluators", "iteration", "seeds", "answers"}
    if curve.empty or not needed <= {*curve}:
        raise ValueError(f"curve: a table of pgpd_hf.aggregate expected, got columns {[*curve]}")
    possible = dict.fromkeys(figures.METRICS, (-np.inf, np.inf))
    return figures.figure1(figures.in_units(curve, curve.attrs.get("units")), possible)


def plot_policy(
    cmdp: CMDP,
    policy: ArrayLike,
    *,
    states: list[str] | None = None,
    actions: list[str] | None = None,
) -> Any:
    """Draw a policy, on a map where states lie on a grid, or else as a table of probabilities.

    On a map, an arrow is as long as its action is probable, and the darker a cell, the more often
    it is visited. Holes are dark, the goal is yellow; a number where episodes end is the
    probability of ending there, times gamma for each step. Actions that are not allowed are folded
    into the first allowed action.

    Parameters
    ----------
    cmdp : CMDP
    policy : array_like, float, shape (S, A)
    states, actions : list of str, optional
        Names for a table, instead of numbers; names of more than 30 states are left out.
    """
    require_instance("cmdp", cmdp, CMDP)
    policy = cmdp.fold(cmdp.check_policy(policy, single=True))
    names = _names("states", states, cmdp.states), _names("actions", actions, cmdp.actions)
    v_r, v_g = map(float, cmdp.evaluate(policy))
    title = f"$V_r$ = {v_r:.4g}\n$V_g$ = {v_g:.4g} (at least {cmdp.threshold:.4g})"
    if cmdp.units is not None:
        reward, cost = cmdp.units.shown(v_r, v_g)
        title = f"reward {reward}\ncost {cost} (at most {cmdp.units.shown(0, cmdp.threshold)[1]})"
    figures = _figures()
    with figures.styled():
        figure = figures.Picture()
        axes = figure.subplots()
        axes.set_title(title)
        axes.grid(False)
        axes.tick_params(length=0)
        if cmdp.map is None:
            width, height = _draw_table(axes, policy, *names)
        else:
            _draw_map(axes, cmdp, policy)
            height, width = (0.45 * length for length in cmdp.map.shape)
        figure.set_size_inches(max(width, 3.2), height + 0.8)
    return figure


def _figures():
    """Import the figures only when they are drawn: Matplotlib is optional, and takes a while."""
    try:
        from pgpd_hf import figures
    except ImportError:
        raise ValueError("matplotlib: not installed; pip install matplotlib installs it") from None
    return figures


def _names(argument, names, count):
    names = require_instance(argument, [*range(count)] if names is None else names, list)
    if len(names) != count:
        raise ValueError(f"{argument}: {count} names expected, got {len(names)}")
    return [str(name).replace("$", r"\$") for name in names]


def _write(axes, column, row, number, color):
    place = {"ha": "center", "va": "center", "fontsize": 7}
    axes.text(column, row, f"{number:.2f}", color=color, **place)


def _draw_table(axes, policy, states, actions):
    """Draw probabilities; return the width and the height that names and numbers need."""
    axes.imshow(policy, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    axes.set(xlabel="action (darker: more probable)", ylabel="state")
    longest = max(map(len, actions))
    slanted = {"rotation": 45, "ha": "right"} if longest > 8 else {}
    axes.set_xticks(range(len(actions)), actions, **slanted)
    width, height = 0.6 * len(actions) + 1.2, min(0.25 * len(states), 9.0)
    if slanted:
        height += 0.05 * longest
    if len(states) <= _MOST_WRITTEN:
        width += 0.07 * max(map(len, states))
        axes.set_yticks(range(len(states)), states)
        for (s, a), probability in np.ndenumerate(policy):
            if probability >= 0.005:
                _write(axes, a, s, probability, "white" if probability > 0.6 else "black")
    return width, height


def _draw_map(axes, cmdp, policy):
    visits = np.maximum(cmdp.occupancy(policy), 0)
    ends = np.diagonal(cmdp.transition.min(1)) == 1
    shares = np.where(ends, 0, visits)
    shares /= shares.max() or 1.0
    axes.imshow(np.sqrt(shares).reshape(cmdp.map.shape), vmin=0, vmax=1.3, cmap="Blues")
    for state, ((row, column), letter) in enumerate(np.ndenumerate(cmdp.map)):
        if letter in _COLOURS:
            sides = [column - 0.5, column + 0.5]
            axes.fill_between(sides, row - 0.5, row + 0.5, color=_COLOURS[letter], linewidth=0)
        if ends[state]:
            ended = (1 - cmdp.discount) * visits[state]
            _write(axes, column, row, ended, "white" if letter == "H" else "black")
            continue
        ink = "white" if shares[state] > 0.5 else "black"
        for probability, (down, right) in zip(policy[state], _MOVES, strict=True):
            if probability > 0.02:
                tip = column + 0.44 * probability * right, row + 0.44 * probability * down
                size = 0.2 * probability + 0.05
                head = f"-|>,head_width={size / 2},head_length={size}"
                look = {"arrowstyle": head, "color": ink, "shrinkA": 0, "shrinkB": 0}
                axes.annotate("", tip, (column, row), arrowprops=look)
        if letter == "S":
            axes.text(column - 0.46, row - 0.46, "start", va="top", fontsize=6, color=ink)
    told = "longer arrow: likelier action; darker: visited more\n"
    told += "number: probability of ending there, discounted"
    axes.set(xticks=[], yticks=[])
    axes.set_xlabel(told, fontsize=6, color="0.3")
