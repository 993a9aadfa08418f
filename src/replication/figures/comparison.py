"""Figures of the comparison of methods: what is reached against human answers."""

import matplotlib as mpl
import numpy as np

from replication.figures import style

DESIGNS = {  # The trajectories or pairs that a method asks about stand after its name.
    "its own": "",
    "uniform": ": uniform policy",
    "deterministic": ": deterministic policies",
    "state-action": ": state-action pairs",
}
_DESIGNS = "after the colon: where the compared trajectories come from"
_PRICED = r"priced gap = gap + $\lambda^\star$ × violation"
QUANTITIES = {
    "priced_gap": "priced gap",
    "violation": r"violation  $b - V_g$",
    "violates_002": "share with violation > 0.02",
}
FURTHER = {"gap": r"gap  $V_r^* - V_r$", "violates_0": "share with violation > 0"}
# Colour-blind safe (Okabe and Ito 2008), by how a method asks and what it does with the answers.
_PAPER = {"color": "#000000"}, {"color": "#8a8a8a"}
_OTHERS = "#0072B2 #56B4E9 #009E73 #CC79A7 #D55E00 #E69F00 #7a5195 #8c6d31 #999933".split()
# Nearly equal to another method, whose hollow markers its own are inside of.
_INSIDE = {"safe_rlhf_estimated": {"marker": "o", "markersize": 1.7, "linestyle": ":"}}
_PAPER_METHODS = ("npgpd_hf", "zpgpd_hf")
_LEAST = 1e-5  # lower end of intervals on a logarithmic axis
_DECADES = 4.0  # So many decades of priced gaps are shown.


def comparison_figure(table, labels, limit=None, quantities=QUANTITIES):
    """Priced gap, violation and share of violations against answers; a row per kind of unit."""
    table = table[table["answers"].notna()]
    kinds = {"seeds": "one environment", "instances": "random environments"}
    curves = list(dict.fromkeys(zip(table["method"], table["design"], strict=True)))
    looks = _looks(curves)
    figure, grid = style.panels(len(kinds), len(quantities), 2.6)
    for (kind, title), row in zip(kinds.items(), grid, strict=True):
        shown = table[table["units"].str.endswith(kind)]
        asked = (shown if len(shown) else table)["answers"]
        ends = asked.min() / 1.5, asked.max() * 1.5
        for axes, (quantity, name) in zip(row, quantities.items(), strict=True):
            for curve in curves:
                line = style.choose(shown, method=curve[0], design=curve[1])
                _draw(axes, line, quantity, looks[curve], _label(labels, *curve))
            axes.set(xscale="log", xlim=ends)
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
    style.name_axes(grid, "human answers")
    priced = f";   {_PRICED}" if "priced_gap" in quantities else ""
    style.share_legend(figure, 2, _DESIGNS + priced)
    return figure


def people_figure(table, labels, curves):
    """Priced gap with its interval for each kind of people; a panel per budget."""
    looks = _looks([tuple(curve) for curve in curves])
    curves = list(dict.fromkeys(zip(table["method"], table["design"], strict=True)))
    people, budgets = (list(dict.fromkeys(table[name])) for name in ("people", "budget"))
    figure, grid = style.panels(1, len(budgets), 3.4)
    ends = [_ends(table.loc[table["budget"] == budget, "priced_gap"]) for budget in budgets]
    # As many inches for a decade in every panel.
    grid[0, 0].get_gridspec().set_width_ratios([np.log10(high / low) for low, high in ends])
    for axes, budget, shown in zip(grid[0], budgets, ends, strict=True):
        for place, curve in enumerate(curves):
            line = style.choose(table, method=curve[0], design=curve[1], budget=budget)
            line = line.set_index("people").reindex(people)
            low = line["priced_gap"] - line["priced_gap_low"].clip(lower=_LEAST)
            high = line["priced_gap_high"] - line["priced_gap"]
            axes.errorbar(
                line["priced_gap"],
                np.arange(len(people)) + 0.7 * ((place + 0.5) / len(curves) - 0.5),
                xerr=[low, high],
                label=_label(labels, *curve),
                elinewidth=0.7,
                **looks[curve] | {"linestyle": "none"},
            )
        axes.set(xscale="log", ylim=(len(people) - 0.5, -0.5), xlim=shown)
        axes.set_yticks(range(len(people)), people if axes is grid[0][0] else [""] * len(people))
        axes.set_title(f"{budget:,} answers")
        axes.grid(visible=False, axis="y")
        for border in np.arange(len(people) - 1) + 0.5:
            axes.axhline(border, color="0.9", linewidth=0.5)
        style.plain_decades(axes.xaxis)
        # A decade is as wide in every panel, and has room for two labels.
        axes.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 3)))
    grid[0, 0].set_ylabel("how people vote")
    figure.supxlabel(_PRICED, fontsize=8)
    style.share_legend(figure, 2, _DESIGNS)
    return figure


def _ends(gaps):
    """Ends of a logarithmic axis on which priced gaps are shown."""
    positive = gaps[gaps > 0]
    return (positive.min() / 2, 1.5 * positive.max()) if len(positive) else (_LEAST, 1)


def _scale_priced_gap(axes, table):
    """Make the axis logarithmic, over as many decades as are of interest."""
    positive = table.loc[table["priced_gap"] > 0, "priced_gap"]
    axes.set_yscale("log")
    axes.set_ylim(max(positive.min() / 1.6, positive.max() / 10**_DECADES), 0.6)
    style.plain_decades(axes.yaxis)


def _draw(axes, line, quantity, look, label):
    interval = f"{quantity}_low" in line
    if interval:
        low, high = line[f"{quantity}_low"], line[f"{quantity}_high"]
        if quantity == "priced_gap":
            low = low.clip(lower=_LEAST)
        style.band(axes, line["answers"], low, high, look["color"], 0.08)
    axes.plot(line["answers"], line[quantity], label=label, linewidth=1.1, **look)


def _looks(curves):
    """Colours and markers; the paper's methods are black and grey, with filled markers."""
    looks, others = {}, 0
    for index, (method, design) in enumerate(curves):
        if method in _PAPER_METHODS:
            look = dict(_PAPER[_PAPER_METHODS.index(method)])
        else:
            look = {"color": _OTHERS[others % len(_OTHERS)], "markerfacecolor": "none"}
            others += 1
        if method in _INSIDE:
            look |= _INSIDE[method] | {"markerfacecolor": look["color"]}
        looks[method, design] = {"marker": style.marker(index), "markersize": 3.8} | look
    return looks


def _label(labels, method, design):
    return labels[method] + DESIGNS.get(design, f": {design}")
