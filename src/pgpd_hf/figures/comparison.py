"""Figures of the comparison of methods: what is reached against human answers, or steps."""

import matplotlib as mpl
import numpy as np

from pgpd_hf.figures import style

COST_LABELS = {"answers": "human answers", "steps": "environment steps"}
QUANTITIES = {
    "priced_gap": "priced gap",
    "violation": r"violation  $b - V_g$",
    "violates_002": "share with violation > 0.02",
}
FURTHER = {"gap": r"gap  $V_r^* - V_r$", "violates_0": "share with violation > 0"}
# Colour-blind safe (Okabe and Ito 2008), by how a method asks and what it does with the answers.
_PAPER = {"color": "#000000"}, {"color": "#8a8a8a"}
_OTHERS = ("#0072B2", "#56B4E9", "#009E73", "#CC79A7", "#D55E00", "#E69F00", "#7a5195", "#8c6d31")
_PAPER_METHODS = ("npgpd_hf", "zpgpd_hf")
_LEAST = 1e-5  # lower end of intervals on a logarithmic axis
_DECADES = 4.0  # of priced gaps that are shown


def comparison_figure(table, labels, limit=None, cost="answers", quantities=QUANTITIES):
    """Priced gap, violation and share of violations against a cost; a row per kind of unit.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.comparison.tabulate`.
    labels : dict of str
        Of methods.
    limit : pandas.DataFrame, optional
        The information limit on random environments: budget and priced_gap.
    cost : {"answers", "steps"}
        Of the horizontal axis.
    quantities : dict of str
        Columns of the table and their titles: :data:`QUANTITIES` or :data:`FURTHER`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    table = table[table["answers"].notna()]
    kinds = {"seeds": "one environment", "instances": "random environments"}
    curves = list(dict.fromkeys(zip(table["method"], table["design"], strict=True)))
    looks = _looks(curves)
    figure, grid = style.panels(len(kinds), len(quantities), 2.5)
    ends = table[cost].min() / 1.5, table[cost].max() * 1.5
    for (kind, title), row in zip(kinds.items(), grid, strict=True):
        shown = table[table["units"].str.endswith(kind)]
        for axes, (quantity, name) in zip(row, quantities.items(), strict=True):
            for curve in curves:
                line = shown[(shown["method"] == curve[0]) & (shown["design"] == curve[1])]
                _draw(axes, line, cost, quantity, looks[curve], _label(labels, *curve))
            axes.set(xscale="log", xlim=ends, xlabel=COST_LABELS[cost])
            axes.set_title(name)
            axes.xaxis.set_major_locator(mpl.ticker.LogLocator(numticks=8))
            axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
            if quantity in ("violation", "gap"):
                style.zero_line(axes)
            elif quantity == "priced_gap":
                _scale_priced_gap(axes, shown)
            else:
                axes.set_ylim(-0.03, 1.03)
        if limit is not None and kind == "instances":
            look = {"color": "0.35", "linestyle": (0, (2, 1.2)), "linewidth": 1.2}
            row[0].plot(limit["budget"], limit["priced_gap"], label="information limit", **look)
        count = shown["units"].iloc[0] if len(shown) else "none"
        row[0].set_ylabel(f"{title}\n({count})")
    style.share_legend(figure, 3)
    return figure


def people_figure(table, labels, curves):
    """Priced gap with its interval for each kind of people; a panel per budget.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.misspecification.tabulate`.
    labels : dict of str
        Of methods.
    curves : sequence of tuple
        Method and design of all curves of :func:`comparison_figure`, which give each its look.

    Returns
    -------
    matplotlib.figure.Figure
    """
    looks = _looks([tuple(curve) for curve in curves])
    curves = list(dict.fromkeys(zip(table["method"], table["design"], strict=True)))
    people, budgets = (list(dict.fromkeys(table[name])) for name in ("people", "budget"))
    figure, grid = style.panels(1, len(budgets), 3.4)
    positive = table.loc[table["priced_gap"] > 0, "priced_gap"]
    ends = positive.min() / 2, 2 * positive.max()
    for axes, budget in zip(grid[0], budgets, strict=True):
        for place, curve in enumerate(curves):
            line = table[(table["method"] == curve[0]) & (table["design"] == curve[1])]
            line = line[line["budget"] == budget].set_index("people").reindex(people)
            low = line["priced_gap"] - line["priced_gap_low"].clip(lower=_LEAST)
            high = line["priced_gap_high"] - line["priced_gap"]
            axes.errorbar(
                line["priced_gap"],
                np.arange(len(people)) + 0.7 * ((place + 0.5) / len(curves) - 0.5),
                xerr=[low, high],
                label=_label(labels, *curve),
                linestyle="none",
                markersize=3.2,
                elinewidth=0.7,
                **looks[curve],
            )
        axes.set(xscale="log", xlabel="priced gap", ylim=(len(people) - 0.5, -0.5), xlim=ends)
        axes.set_yticks(range(len(people)), people if axes is grid[0][0] else [""] * len(people))
        axes.set_title(f"{budget:,} answers")
        axes.grid(visible=False, axis="y")
        for border in np.arange(len(people) - 1) + 0.5:
            axes.axhline(border, color="0.9", linewidth=0.5)
        style.plain_decades(axes.xaxis)
    style.share_legend(figure, 3)
    return figure


def _scale_priced_gap(axes, table):
    """Make the axis logarithmic, over as many decades as are of interest."""
    positive = table.loc[table["priced_gap"] > 0, "priced_gap"]
    axes.set_yscale("log")
    axes.set_ylim(max(positive.min() / 1.6, positive.max() / 10**_DECADES), 0.6)
    style.plain_decades(axes.yaxis)


def _draw(axes, line, cost, quantity, look, label):
    interval = f"{quantity}_low" in line
    if interval:
        low, high = line[f"{quantity}_low"], line[f"{quantity}_high"]
        if quantity == "priced_gap":
            low = low.clip(lower=_LEAST)
        style.band(axes, line[cost], low, high, look["color"], 0.08)
    axes.plot(line[cost], line[quantity], label=label, markersize=3.2, linewidth=1.1, **look)


def _looks(curves):
    """Colours and markers; the paper's methods are black and grey, with filled markers."""
    looks, others = {}, 0
    for index, (method, design) in enumerate(curves):
        if method in _PAPER_METHODS:
            look = dict(_PAPER[_PAPER_METHODS.index(method)])
        else:
            look = {"color": _OTHERS[others % len(_OTHERS)], "markerfacecolor": "none"}
            others += 1
        looks[method, design] = look | {"marker": style.marker(index)}
    return looks


def _label(labels, method, design):
    return labels[method] + ("" if design == "its own" else f" ({design})")
