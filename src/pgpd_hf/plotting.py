"""Curves of runs and pictures of policies; Matplotlib, which they need, is optional."""

from __future__ import annotations  # help() shows names of types

import io
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pgpd_hf.arguments import optional, require_instance, shown
from pgpd_hf.cmdp import CMDP
from pgpd_hf.costs import Units
from pgpd_hf.runs import ALGORITHMS

_METRICS = {"optimality_gap": "gap", "constraint_violation": "violation"}
_COLOURS = {"H": "0.3", "C": "0.3", "G": "#f0d77b"}  # of holes, cliff and goal
_MOST_WRITTEN = 30  # states, up to which a table shows probabilities as numbers


def plot_curves(curve: pd.DataFrame, cmdp: CMDP | None = None) -> Any:
    """Draw gap and violation against iterations, a row for each algorithm, a curve for each M.

    Bands are the intervals of the table, as far as they do not flatten the curves.

    Parameters
    ----------
    curve : pandas.DataFrame
        As :func:`pgpd_hf.aggregate` returns it.
    cmdp : CMDP, optional
        The process of the runs, if it has units in which gap and violation are to be shown. By
        default those in ``curve.attrs["units"]``, if there are any.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it; its method `savefig` writes it.

    Raises
    ------
    ValueError
        If Matplotlib is not installed, or a column is missing.
    """
    require_instance("curve", curve, pd.DataFrame)
    optional(require_instance, "cmdp", cmdp, CMDP)
    ends = [f"{metric}{end}" for metric in _METRICS for end in ("", "_low", "_high")]
    for name in ("algorithm", "evaluators", "iteration", *ends):
        if name not in curve:
            raise ValueError(f"curve: column {name!r} expected, as pgpd_hf.aggregate makes it")
    units = curve.attrs.get("units") if cmdp is None else cmdp.units
    scales = (1.0, 1.0) if units is None else Units(*units)[:2]
    labels = (r"$V_r^\star - V_r$", "$b - V_g$") if units is None else ("reward", "cost")
    numbers = [_of(number) for number in curve["evaluators"].sort_values().unique()]
    algorithms = curve["algorithm"].unique()
    figures = _figures()
    with figures.styled():
        figure = _shown(figures.Figure(figsize=(6.9, 2.2 * len(algorithms) + 0.4)))
        grid = figure.subplots(len(algorithms), 2, squeeze=False)
        for name, row in zip(algorithms, grid, strict=True):
            table = curve[curve["algorithm"] == name]
            for axes, metric, scale, label in zip(row, _METRICS, scales, labels, strict=True):
                _draw_curves(axes, table, metric, scale, numbers)
                title = ALGORITHMS[name].label if name in ALGORITHMS else name
                axes.set(title=f"{title}: {_METRICS[metric]}", ylabel=label)
        for axes in grid[-1]:
            axes.set_xlabel("iteration")
        labelled = [axes.get_legend_handles_labels() for axes in grid.flat]
        curves = {label: it for pair in labelled for it, label in zip(*pair, strict=True)}
        handles = [curves[number] for number in numbers]
        figure.legend(handles=handles, ncols=len(numbers), loc="outside upper center")
    return figure


def plot_policy(
    cmdp: CMDP,
    policy: ArrayLike,
    *,
    states: list[str] | None = None,
    actions: list[str] | None = None,
) -> Any:
    """Draw a policy, on a map where states lie on a grid, or else as a table.

    On a map, an arrow is as long as its action is probable, and the darker a cell, the more often
    it is visited. Holes and the cliff are dark, the goal is yellow; where episodes end stands the
    discounted probability of ending there. A table has a row of probabilities for each state.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    policy : array_like, float, shape (S, A)
        The policy.
    states, actions : list of str, optional
        Names for a table, instead of numbers.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it; its method `savefig` writes it.

    Raises
    ------
    ValueError
        If Matplotlib is not installed, or an argument does not fit the CMDP.
    """
    require_instance("cmdp", cmdp, CMDP)
    policy = cmdp.check_policy(policy, single=True)
    names = _names("states", states, cmdp.states), _names("actions", actions, cmdp.actions)
    width, height = 0.6 * cmdp.actions + 1.2, min(0.25 * cmdp.states, 9.0)
    if cmdp.map is not None:
        height, width = (0.45 * length for length in cmdp.map.letters.shape)
    (reward, cost), limit = cmdp.in_units(*cmdp.evaluate(policy)), cmdp.threshold
    title = f"$V_r$ = {reward:.4g}, $V_g$ = {cost:.4g} (at least {limit:.4g})"
    if cmdp.units is not None:
        limit = cmdp.in_units(0.0, limit)[1]
        title = f"reward {reward:.4g}, cost {cost:.4g} (at most {limit:.4g})"
    figures = _figures()
    with figures.styled():
        figure = _shown(figures.Figure(figsize=(max(width, 3.2), height + 0.8)))
        axes = figure.subplots()
        axes.set_title(title)
        axes.grid(False)
        axes.tick_params(length=0)
        if cmdp.map is None:
            _draw_table(axes, policy, *names)
        else:
            _draw_map(axes, cmdp, policy)
    return figure


def _figures():
    """The module of the paper's figures, which imports Matplotlib; that takes a while."""
    try:
        from pgpd_hf import figures
    except ImportError:
        needed = "pip install 'pgpd-hf[figures]' installs it"
        raise ValueError(f"matplotlib: not installed; {needed}") from None
    return figures


def _shown(figure):
    """The figure, which notebooks now show."""
    figure._repr_png_ = partial(_png, figure)
    return figure


def _png(figure):
    picture = io.BytesIO()
    figure.savefig(picture, format="png", dpi=150)
    return picture.getvalue()


def _names(argument, names, count):
    if names is None:
        return [str(number) for number in range(count)]
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"{argument}: a list of names expected, got {shown(names)}")
    if len(names) != count:
        raise ValueError(f"{argument}: {count} names expected, got {len(names)}")
    return [name.replace("$", r"\$") for name in names]


def _of(number):
    return r"$M = \infty$" if pd.isna(number) else f"$M = {number}$"


def _draw_curves(axes, table, metric, scale, numbers):
    lowest, highest = table[metric].min(), table[metric].max()
    margin = (highest - lowest) / 2
    for number, curve in table.groupby("evaluators", dropna=False):
        colour, x = f"C{numbers.index(_of(number))}", curve["iteration"]
        ends = (curve[f"{metric}_{end}"] for end in ("low", "high"))
        band = (scale * end.clip(lowest - margin, highest + margin) for end in ends)
        axes.fill_between(x, *band, color=colour, alpha=0.2, linewidth=0)
        axes.plot(x, scale * curve[metric], color=colour, label=_of(number))
    axes.axhline(0, color="0.3", linewidth=0.8)
    axes.margins(x=0)


def _draw_table(axes, policy, states, actions):
    axes.imshow(policy, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    axes.set(xlabel="action", ylabel="state")
    axes.set_xticks(range(len(actions)), actions)
    if len(states) <= _MOST_WRITTEN:
        axes.set_yticks(range(len(states)), states)
        for (s, a), probability in np.ndenumerate(policy):
            look = {"color": "white" if probability > 0.6 else "black", "fontsize": 7}
            if probability >= 0.005:
                axes.text(a, s, f"{probability:.2f}", ha="center", va="center", **look)


def _draw_map(axes, cmdp, policy):
    letters, cells, moves = cmdp.map
    rows, columns = letters.shape
    visits = np.maximum(cmdp.occupancy(policy), 0)
    ends = np.diagonal(cmdp.transition.min(1)) == 1
    shares = visits / (visits[~ends].max(initial=0) or 1.0)
    shades = np.zeros(letters.size)
    shades[cells[~ends]] = np.sqrt(shares[~ends])
    axes.imshow(shades.reshape(rows, columns), vmin=0, vmax=1.3, cmap="Blues")
    for (row, column), letter in np.ndenumerate(letters):
        if letter in _COLOURS:
            sides = [column - 0.5, column + 0.5]
            axes.fill_between(sides, row - 0.5, row + 0.5, color=_COLOURS[letter], linewidth=0)
    for cell in np.unique(cells[ends]):  # where episodes may end in several ways
        ended = (1 - cmdp.discount) * visits[ends & (cells == cell)].sum()
        row, column = divmod(int(cell), columns)
        look = {"color": "white" if letters[row, column] in "HC" else "black", "fontsize": 7}
        axes.text(column, row, f"{ended:.2f}", ha="center", va="center", **look)
    for state in np.flatnonzero(~ends):
        row, column = divmod(int(cells[state]), columns)
        ink = "white" if shares[state] > 0.5 else "black"
        for probability, (down, right) in zip(policy[state], moves, strict=True):
            if probability > 0.02:
                tip = column + 0.44 * probability * right, row + 0.44 * probability * down
                size = 0.2 * probability + 0.05
                style = {
                    "arrowstyle": f"-|>,head_width={size / 2},head_length={size}",
                    "color": ink,
                }
                axes.annotate(
                    "", tip, (column, row), arrowprops=style | {"shrinkA": 0, "shrinkB": 0}
                )
    axes.set(xticks=[], yticks=[])
    if "S" in letters:
        row, column = np.argwhere(letters == "S")[0]
        axes.text(column - 0.46, row - 0.46, "start", va="top", fontsize=6)
