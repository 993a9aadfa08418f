"""Figures of the comparison of methods: what is reached against human answers."""

import math

import matplotlib as mpl
import numpy as np

from replication.figures import style

PRICED = r"priced gap = gap + $\lambda^\star$ × violation"
QUANTITIES = {
    "priced_gap": PRICED,
    "violates_002": "share with violation > 0.02",
    "gap": r"gap  $V_r^\star - V_r$",
    "violation": r"violation  $b - V_g$",
}
LINES = {  # heights that are named
    "priced_gap": (0.02, "target 0.02"),
    "gap": (0, "best safe policy"),
    "violation": (0, "safe below"),
}
DESIGNS = {  # The trajectories or pairs that a method asks about stand after its name.
    "uniform": "uniform policy",
    "deterministic": "deterministic policies",
    "state-action": "state-action pairs",
}
VARIANTS = {  # Methods with one thing changed or left out, and what they are variants of.
    "zpg": "zpgpd_hf",
    "safe_rlhf_estimated": "safe_rlhf",
    "safe_rlhf_npg_pd": "safe_rlhf",
    "safe_rlhf_zero_prior": "safe_rlhf",
}
_PAPER = {"npgpd_hf": "#000000", "zpgpd_hf": "#8a8a8a"}
# Okabe and Ito's (2008), for any colour vision, in an order in which they differ in grey as well.
_OTHERS = "#0072B2 #E69F00 #CC79A7 #009E73 #56B4E9 #D55E00".split()
_LEAST = 1e-5  # lower end of intervals on a logarithmic axis
_DECADES = 4.0  # So many decades of priced gaps are shown.


def comparison_figure(table, labels, kind, limit=None):
    """All quantities against answers, for each method with its best design."""
    table = of_kind(table, kind)
    designs, looks = best_designs(table), _looks(labels)
    figure, grid = style.panels(2, 2, 2.5)
    budget = max(_common(table, designs), default=None)
    for axes, (quantity, name) in zip(grid.flat, QUANTITIES.items(), strict=True):
        ends = []
        for method, design in designs.items():
            line = style.choose(table, method=method, design=design)
            _draw(axes, line, quantity, looks[method])
            last = line.iloc[-1]
            ends.append((last["answers"], last[quantity], labels[method], looks[method]["color"]))
        _scale_answers(axes)
        if quantity == "priced_gap":
            if limit is not None and len(limit):
                look = {"color": "0.35", "linestyle": (0, (2, 1.2)), "linewidth": 1.2}
                axes.plot(limit["budget"], limit["priced_gap"], **look)
                last = limit.iloc[-1]
                ends.append((last["budget"], last["priced_gap"], "information limit", "0.35"))
            _scale_priced_gap(axes, table)
        if quantity in LINES:
            height, text = LINES[quantity]
            axes.axhline(height, color="0.3", linewidth=0.8)
            ends.append((axes.get_xlim()[1], height, text, "0.3"))
        axes.set_title(f"{name}\n{_lowest(table, designs, quantity, labels, budget)}")
        axes.set_ylabel("← better")
        style.label_ends(axes, ends)
    style.name_axes(grid, "human answers")
    _name_markers(figure, budget)
    return figure


def variants_figure(table, labels, kind):
    """Priced gaps of variants, and of other designs, each beside what it is a variant of."""
    table = of_kind(table, kind)
    designs, looks = best_designs(table), _looks(labels)
    curves = dict.fromkeys(zip(table["method"], table["design"], strict=True))
    pairs = [(VARIANTS.get(method, method), (method, design)) for method, design in curves]
    pairs = [(own, it) for own, it in pairs if own in designs and it != (own, designs[own])]
    rows = max(1, math.ceil(len(pairs) / 3))
    figure, grid = style.panels(rows, 3, 2.2)
    for axes in grid.flat[len(pairs) :]:
        axes.set_axis_off()
    for axes, (own, (method, design)) in zip(grid.flat, pairs, strict=False):
        base = style.choose(table, method=own, design=designs[own])
        line = style.choose(table, method=method, design=design)
        _draw(axes, base, "priced_gap", looks[own], labels[own])
        look = {"color": "#D55E00", "marker": "x", "linestyle": (0, (4, 2))}
        _draw(axes, line, "priced_gap", look, "the variant")
        both = base.merge(line, on="budget").iloc[-1]
        ratio = both["priced_gap_y"] / both["priced_gap_x"]
        name = labels[method] if method != own else f"{labels[own]}, {DESIGNS.get(design, design)}"
        axes.set_title(f"{name}\n{ratio:.2f} × {labels[own]}'s at {_count(both['budget'])}")
        _scale_answers(axes)
        _scale_priced_gap(axes, table)
    style.name_axes(grid, "human answers", "← better      priced gap")
    style.share_legend(figure, 3, PRICED)
    return figure


def people_figure(table, decided, labels):
    """Priced gap with its interval for each kind of people; a panel per budget."""
    designs, looks = best_designs(table), _looks(labels)
    people, budgets = (list(dict.fromkeys(table[name])) for name in ("people", "budget"))
    figure, grid = style.panels(1, len(budgets), 3.4)
    ends = [_ends(table.loc[table["budget"] == budget, "priced_gap"]) for budget in budgets]
    # As many inches for a decade in every panel.
    grid[0, 0].get_gridspec().set_width_ratios([np.log10(high / low) for low, high in ends])
    for axes, budget, shown in zip(grid[0], budgets, ends, strict=True):
        for place, (method, design) in enumerate(designs.items()):
            line = style.choose(table, method=method, design=design, budget=budget)
            line = line.set_index("people").reindex(people)
            low = line["priced_gap"] - line["priced_gap_low"].clip(lower=_LEAST)
            high = line["priced_gap_high"] - line["priced_gap"]
            axes.errorbar(
                line["priced_gap"],
                np.arange(len(people)) + 0.7 * ((place + 0.5) / len(designs) - 0.5),
                xerr=[low, high],
                label=labels[method],
                elinewidth=0.7,
                **looks[method] | {"linestyle": "none"},
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
    figure.supxlabel(f"← better      {PRICED}", fontsize=8)
    style.share_legend(figure, 3, _skipping(decided, labels))
    return figure


def of_kind(table, kind):
    """Rows with a result whose units are seeds, or instances."""
    return table[table["answers"].notna() & table["units"].str.endswith(kind)]


def best_designs(table):
    """For each method that is no variant, the design with the smallest priced gap at the end."""
    own = table[~table["method"].isin(VARIANTS)]
    order = own["method"].drop_duplicates()
    last = own[own["budget"] == own.groupby("method")["budget"].transform("max")]
    means = last.groupby(["method", "design"])["priced_gap"].mean().sort_values(kind="stable")
    best = dict(reversed(means.index))
    return {method: best[method] for method in order}


def _common(table, designs):
    """Budgets that all methods were given."""
    curves = [style.choose(table, method=it, design=how) for it, how in designs.items()]
    return set.intersection(*(set(line["budget"]) for line in curves)) if curves else set()


def _lowest(table, designs, quantity, labels, budget):
    """Which method is lowest at a budget."""
    rows = table[table["budget"] == budget].set_index(["method", "design"])[quantity]
    values = {method: rows[method, design] for method, design in designs.items() if len(rows)}
    least = min(values.values(), default=None)
    names = [labels[method] for method, value in values.items() if value == least]
    return f"lowest: {' and '.join(names)}, {least:.2g}".replace("-", "−") if names else ""


def _skipping(decided, labels):
    """How often it pays off to skip reward learning, and with which methods at best."""
    first = decided["skipping"].str.partition(", ")[0].map(labels)
    pays, fails = (decided["pays_off"].eq(word).sum() for word in ("yes", "no"))
    return (
        f"Skipping reward learning, which {' or '.join(first.unique())} does best, pays off in "
        f"{pays} of {len(decided)} cases and is worse in {fails}"
    )


def _count(number):
    """A number of answers, as a power of ten where it is one."""
    power = math.log10(number)
    return f"$10^{{{power:.0f}}}$" if power.is_integer() else f"{number:,}"


def _ends(gaps):
    """Ends of a logarithmic axis on which priced gaps are shown."""
    positive = gaps[gaps > 0]
    return (positive.min() / 2, 1.5 * positive.max()) if len(positive) else (_LEAST, 1)


def _scale_answers(axes):
    """Make the axis logarithmic, with a label per decade."""
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(mpl.ticker.LogLocator(numticks=8))
    axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())


def _scale_priced_gap(axes, table):
    """Make the axis logarithmic, over as many decades as are of interest."""
    low, high = _ends(table["priced_gap"])
    axes.set(yscale="log", ylim=(max(low, high / 10**_DECADES), 0.6))
    style.plain_decades(axes.yaxis)


def _draw(axes, line, quantity, look, label=None):
    if f"{quantity}_low" in line:
        low, high = line[f"{quantity}_low"], line[f"{quantity}_high"]
        if quantity == "priced_gap":
            low = low.clip(lower=_LEAST)
        style.band(axes, line["answers"], low, high, look["color"], 0.12)
    axes.plot(line["answers"], line[quantity], label=label, linewidth=1.2, **look)


def _looks(labels):
    """Colours and markers by method; those of the paper's methods are filled."""
    looks = {}
    for index, method in enumerate(it for it in labels if it not in VARIANTS):
        look = {"marker": style.marker(index), "markersize": 4}
        others = len(looks) - sum(it in _PAPER for it in looks)
        color = _PAPER.get(method, _OTHERS[others % len(_OTHERS)])
        fill = {} if method in _PAPER else {"markerfacecolor": "white"}
        looks[method] = look | fill | {"color": color}
    return looks


def _name_markers(figure, budget):
    """Say what filled and hollow markers are, bands, and where a method is the lowest."""
    axes, look = figure.axes[0], {"linestyle": "none", "color": "0.2"}
    axes.plot([], [], "o", label="the paper's methods", **look)
    axes.plot([], [], "o", label="other methods", markerfacecolor="white", **look)
    axes.fill_between([], [], color="0.3", alpha=0.2, linewidth=0, label="band: 95 %")
    style.share_legend(figure, 3, f"lowest: after {_count(budget)} answers" if budget else None)
