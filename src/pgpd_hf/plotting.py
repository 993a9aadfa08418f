"""Policies as pictures: on the map where there is one, otherwise as strips of states by actions."""

from __future__ import annotations

import math
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from pgpd_hf.core.arguments import shown
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import require_cmdp

STYLE: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "0.3",
    "axes.grid": True,
    "axes.labelsize": 8,
    "axes.linewidth": 0.6,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 8.5,
    "figure.constrained_layout.use": True,
    "figure.dpi": 150,
    "font.family": "DejaVu Sans",
    "font.size": 8,
    "grid.color": "0.9",
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "pdf.fonttype": 42,
    "savefig.dpi": 300,
    "svg.fonttype": "path",
    "svg.hashsalt": "pgpd_hf",
    "xtick.color": "0.3",
    "xtick.labelsize": 8,
    "ytick.color": "0.3",
    "ytick.labelsize": 8,
}
ALONE = "#1b5e7d"  # colour of the only curve of a panel, and of infinitely many evaluators
_VISITS = "Blues"
_CELLS = {"H": "0.25", "C": "0.25", "G": "#f0d77b"}  # colours of holes, cliff and goal
_NAMES = {"S": "start", "G": "goal", "H": "hole", "C": "cliff"}
_RARELY = 1e-3  # of the visits of the busiest state; fainter arrows below
_CELL, _STRIP = 0.42, 0.16  # inches: side of a cell of a map, width of a state of a strip
_TITLE = 2.8  # inches: a panel is as wide as its title
_MOST_BESIDE = 30  # states of strips that stand beside each other


def plot_policy(
    cmdp: CMDP,
    policy: ArrayLike | dict[str, ArrayLike],
    *,
    states: list[str] | None = None,
    actions: list[str] | None = None,
) -> Figure:
    r"""Draw a policy, or several beside each other.

    On a map, an arrow is as long as its action is probable, and the darker a cell, the more often
    it is visited: :math:`\sum_t \gamma^t P(s_t = s)`, on a square-root scale that all policies
    share. Arrows in states that are hardly ever visited are faint. Holes and the goal show the
    probability of ending there. Without a map, a strip shows the probability of each action (up)
    in each state (across), below bars that show the visits.

    Parameters
    ----------
    cmdp : CMDP
        The environment.
    policy : array_like, float, shape (S, A), or dict of these
        :math:`\pi(a|s)`; the keys of a dict are titles.
    states, actions : list of str, optional
        Names of states and actions in strips, by default their numbers; a map needs none.

    Returns
    -------
    matplotlib.figure.Figure

    Raises
    ------
    ValueError
        If an argument is not a CMDP, or not a policy of it, or names are too many or too few.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.media_streaming()
    >>> optima = {"safe": pgpd_hf.solve(cmdp), "free": pgpd_hf.solve_unconstrained(cmdp)}
    >>> figure = pgpd_hf.plot_policy(cmdp, {name: it.policy for name, it in optima.items()})
    >>> [axes.get_title("left") for axes in figure.axes if axes.get_title("left")]
    ['safe\n$V_r$ = 0.711, $V_g$ = 0.900 (b = 0.9)', 'free\n$V_r$ = 1.000, $V_g$ = 0.586 (b = 0.9)']
    """
    require_cmdp(cmdp)
    named = policy if isinstance(policy, dict) else {"": policy}
    if not named:
        raise ValueError("policy: at least one expected")
    policies = {name: cmdp.check_policy(it, single=True) for name, it in named.items()}
    names = (
        _names("states", states, cmdp.states, "state"),
        _names("actions", actions, cmdp.actions, "action"),
    )
    visits = {name: np.maximum(cmdp.state_occupancy(it), 0) for name, it in policies.items()}
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        if cmdp.map is None:
            figure = _strips(cmdp, policies, visits, *names)
        else:
            figure = _maps(cmdp, policies, visits)
        # A notebook's backend, loaded by the first figure, shows figures only in this mode.
        interactive = mpl.is_interactive()
    mpl.interactive(interactive)
    return figure


def _names(argument, names, count, kind):
    """Label of an axis, and the names of what it shows, if they are given."""
    if names is None:
        return kind, None
    several = isinstance(names, list | tuple | np.ndarray)
    if not (several and all(isinstance(name, str) for name in names)):
        raise ValueError(f"{argument}: names expected, got {shown(names)}")
    if len(names) != count:
        raise ValueError(f"{argument}: {count} names expected, got {len(names)}")
    return "", list(names)


def _set_title(axes, cmdp, name, policy, across):
    """Name and values of a policy; below each other where panels stand side by side."""
    v_r, v_g = cmdp.evaluate(policy)
    b = f"{cmdp.threshold:.4g}"
    digits = max(3, len(b.partition(".")[2]))  # a policy with V_g = b must not look unsafe
    values = f"$V_r$ = {v_r:.3f}, $V_g$ = {v_g:.{digits}f} (b = {b})"
    apart = "\n" if across > 1 else ": "
    axes.set_title(values if name == "" else f"{name}{apart}{values}")


def _maps(cmdp, policies, visits):
    """One map for each policy."""
    rows, columns = cmdp.map.letters.shape
    across = 1 if len(policies) == 1 or columns > 2 * rows else 2
    down = math.ceil(len(policies) / across)
    side = max(_CELL, 1.6 / rows, _TITLE / columns)
    size = (across * columns * side + 0.6, down * (rows * side + 0.35))
    figure, grid = plt.subplots(down, across, figsize=size, squeeze=False)
    absorbing = np.diagonal(cmdp.transition.min(1)) == 1
    most = max(it[~absorbing].max(initial=0) for it in visits.values()) or 1.0
    for axes in grid.flat[len(policies) :]:
        axes.set_visible(False)
    for axes, (name, policy) in zip(grid.flat, policies.items(), strict=False):
        _draw_map(axes, cmdp, policy, visits[name], absorbing, most)
        _set_title(axes, cmdp, name, policy, across)
    return figure


def _draw_map(axes, cmdp, policy, visits, absorbing, most):
    letters, cells, moves = cmdp.map
    rows, columns = letters.shape
    shade, norm = mpl.colormaps[_VISITS], mpl.colors.PowerNorm(0.5, 0, most)
    colours = np.full((rows, columns, 4), mpl.colors.to_rgba("white"))
    for state in np.flatnonzero(~absorbing):
        colours[divmod(cells[state], columns)] = shade(0.85 * norm(visits[state]))
    for place, letter in np.ndenumerate(letters):
        if letter in _CELLS:
            colours[place] = mpl.colors.to_rgba(_CELLS[letter])
    axes.imshow(colours, extent=(0, columns, rows, 0))
    for cell in np.unique(cells[absorbing]):  # where episodes may end in several ways
        row, column = divmod(int(cell), columns)
        ends = (1 - cmdp.discount) * visits[absorbing & (cells == cell)].sum()
        ink = "white" if letters[row, column] in "HC" else "black"
        place = {"ha": "center", "va": "center", "fontsize": 6.5}
        axes.text(column + 0.5, row + 0.5, f"{ends:.2f}", color=ink, **place)
    for state in np.flatnonzero(~absorbing):
        row, column = divmod(int(cells[state]), columns)
        middle = np.array([column, row]) + 0.5
        ink = "white" if visits[state] > 0.45 * most else "black"
        faint = 0.35 if visits[state] < _RARELY * most else 1.0
        for probability, (down, right) in zip(policy[state], moves, strict=True):
            if probability > 0.02:
                tip = middle + 0.44 * probability * np.array([right, down])
                width, length = 0.13 * probability + 0.03, 0.2 * probability + 0.04
                style = f"-|>,head_width={width},head_length={length}"
                look = {"arrowstyle": style, "color": ink, "alpha": faint, "linewidth": 0.9}
                axes.annotate("", tip, middle, arrowprops={**look, "shrinkA": 0, "shrinkB": 0})
    for place, letter in np.ndenumerate(letters):
        if letter in _NAMES:
            ink = "white" if letter in "HC" or colours[place][0] < 0.3 else "0.25"
            look = {"color": ink, "ha": "left", "va": "top", "fontsize": 5.5}
            axes.text(place[1] + 0.06, place[0] + 0.06, letter, **look)
    axes.set(xticks=np.arange(columns + 1), yticks=np.arange(rows + 1))
    axes.grid(True, color="0.8", linewidth=0.4)
    axes.set_axisbelow(False)
    axes.tick_params(length=0, labelbottom=False, labelleft=False)
    for spine in axes.spines.values():
        spine.set(visible=True, linewidth=0.6)


def _strips(cmdp, policies, visits, states, actions):
    """For each policy bars of its visits above a strip of its probabilities."""
    across = 1 if len(policies) == 1 or cmdp.states > _MOST_BESIDE else 2
    down = math.ceil(len(policies) / across)
    width = min(across * (max(cmdp.states * _STRIP, _TITLE) + 0.6) + 0.8, 12.0)
    heights = [0.45, 0.14 * cmdp.actions + 0.12]
    size = (width, down * (sum(heights) + 0.6) + 0.3)
    figure, grid = plt.subplots(
        2 * down, across, figsize=size, height_ratios=heights * down, sharex=True, squeeze=False
    )
    for axes in grid[-2:, len(policies) - across * (down - 1) :].flat:
        axes.set_visible(False)
    numbers = np.arange(cmdp.states)
    for k, (name, policy) in enumerate(policies.items()):
        row, column = divmod(k, across)
        bars, strip = grid[2 * row : 2 * row + 2, column]
        bars.bar(numbers, (1 - cmdp.discount) * visits[name], width=0.9, color=ALONE)
        _set_title(bars, cmdp, name, policy, across)
        bars.set_ylabel("visits")
        bars.tick_params(which="both", length=0)
        image = strip.imshow(policy.T, vmin=0, vmax=1, cmap=_VISITS, aspect="auto")
        strip.set(ylabel=actions[0])
        strip.set_yticks(np.arange(cmdp.actions), labels=actions[1])
        strip.set_yticks(np.arange(cmdp.actions + 1) - 0.5, minor=True)
        strip.set_xticks(np.arange(cmdp.states + 1) - 0.5, minor=True)
        strip.grid(True, which="minor", color="0.85", linewidth=0.4)
        strip.tick_params(which="both", length=0)
    for column in range(across):
        lowest = grid[2 * ((len(policies) - 1 - column) // across) + 1, column]
        lowest.set_xlabel(states[0])
        lowest.tick_params(labelbottom=True)
        if states[1] is None:
            lowest.xaxis.set_major_locator(mpl.ticker.MaxNLocator(10, integer=True))
        else:
            lowest.set_xticks(numbers, labels=states[1], rotation=90)
    label = {"label": "probability", "pad": 0.02, "aspect": 30 * down}
    figure.colorbar(image, ax=grid.ravel().tolist(), **label)
    return figure
