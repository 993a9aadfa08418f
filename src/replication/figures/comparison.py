"""Figures of the comparison of methods: what is reached against human answers."""

import math
import textwrap

import matplotlib as mpl
import numpy as np

from replication.figures import style

PRICED = r"priced gap = gap + $\lambda^\star$ × violation"
QUANTITIES = {
    "priced_gap": PRICED,
    "violates_002": "share with violation > 0.02",
    "gap": r"gap  $V_r^\star - V_r$",
    "violation": r"violation  $b - V_g$,  safe below 0",
}
_JUDGED = ("priced_gap", "violates_002")  # a priced gap is never shown alone
# Horizontal lines, and words above them.
LINES = {"priced_gap": (0.02, "target 0.02"), "gap": (0, "best safe policy"), "violation": (0, "")}
VARIANTS = {  # Methods with one thing changed or left out, and what they are variants of.
    "sampled_npgpd_hf": "npgpd_hf",
    "npgpd_hf_divided": "npgpd_hf",
    "zpgpd_hf_divided": "zpgpd_hf",
    "zpg": "zpgpd_hf",
    "adaptive_safe_rlhf": "safe_rlhf",
    "safe_rlhf_estimated": "safe_rlhf",
    "safe_rlhf_npg_pd": "safe_rlhf",
    "safe_rlhf_zero_prior": "safe_rlhf",
}
_PAPER = ("npgpd_hf", "zpgpd_hf")
# Black, grey, and Okabe and Ito's (2008) for any colour vision, which differ in grey as well.
_COLORS = "#000000 #8a8a8a #0072B2 #E69F00 #CC79A7 #009E73 #56B4E9 #D55E00".split()
_LEAST = 1e-5  # lower end of intervals on a logarithmic axis
_DECADES = 4.0  # So many decades of priced gaps are shown.


def comparison_figure(table, labels, kind, limit=None):
    """All quantities against answers, for each method with its best design."""
    table = of_kind(table, kind)
    curves, looks = best_curves(table), _looks(labels)
    budgets = [set(line["budget"]) for line in curves.values()]
    common = max(set.intersection(*budgets), default=None) if budgets else None
    figure, grid = style.panels(2, 2, 2.3, sharex=True)
    for axes, (quantity, name) in zip(grid.flat, QUANTITIES.items(), strict=True):
        values = {}
        for method, line in curves.items():
            _draw(axes, line, quantity, looks[method], labels[method])
            values[labels[method]] = line.set_index("budget")[quantity].get(common)
        _scale_answers(axes)
        if quantity == "priced_gap":
            if limit is not None and len(limit):
                look = {"color": "0.35", "linestyle": (0, (2, 1.2)), "linewidth": 1.2}
                look["label"] = "information limit"
                axes.plot(limit["budget"], limit["priced_gap"], **look)
            _scale_priced_gap(axes, table)
        if quantity in LINES:
            height, text = LINES[quantity]
            axes.axhline(height, color="0.3", linewidth=0.8)
            place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
            axes.annotate(text, (0.01, height), (0, 2), color="0.3", **place)
        axes.set_title(name)
        if quantity != "violation":  # which may be too low
            axes.set_title(f"{name}\n{_lowest(values, common) if common else ''}")
            axes.set_ylabel("← better")
    style.name_axes(grid, "human answers")
    style.share_legend(figure, 4, "filled: the paper's methods; bands: 95 %")
    return figure


def variants_figure(table, labels, kind):
    """Priced gap of each variant or other design, beside that of the method it is a variant of."""
    table = of_kind(table, kind)
    curves, pairs = best_curves(table), []
    looks = (
        {"color": "black", "marker": "o", "markersize": 4},
        {"color": "#D55E00", "marker": "x", "linestyle": (0, (4, 2))},
    )
    for (method, design), line in table.groupby(["method", "design"], sort=False):
        own = VARIANTS.get(method, method)
        if own in curves and not (method == own and line.equals(curves[own])):
            name = labels[method] if method != own else f"{labels[own]}, {design}"
            pairs.append((own, name, line))
    figure, grid = style.panels(max(1, math.ceil(len(pairs) / 3)), 3, 2.2, sharey=True)
    for axes in grid.flat[len(pairs) :]:
        axes.set_axis_off()
    for axes, (own, name, line) in zip(grid.flat, pairs, strict=False):
        _draw(axes, curves[own], "priced_gap", looks[0], "the method")
        _draw(axes, line, "priced_gap", looks[1], "the variant")
        both = curves[own].merge(line, on="budget", suffixes=("", "_variant")).iloc[-1]
        ratio = both["priced_gap_variant"] / both["priced_gap"]
        axes.set_title(
            f"{name}\nat {_number(both['budget'])}: {ratio:.2f} × the priced gap\n"
            f"violate: {100 * both['violates_002_variant']:.0f} % "
            f"(the method: {100 * both['violates_002']:.0f} %)"
        )
        _scale_answers(axes)
        _scale_priced_gap(axes, table)
    figure.supxlabel("human answers", fontsize=8)
    for axes in grid[:, 0]:
        axes.set_ylabel("← better      priced gap")
    title = f"{PRICED}; violate: {QUANTITIES['violates_002']}; bands: 95 %"
    style.share_legend(figure, 2, title)
    return figure


def people_figure(table, decided, labels):
    """Priced gap, and share of violations, for each kind of people; a column per budget."""
    curves, looks = best_curves(table), _looks(labels)
    people, budgets = (list(dict.fromkeys(table[name])) for name in ("people", "budget"))
    figure, grid = style.panels(2, len(budgets), 2.7)
    ends = [_ends(table.loc[table["budget"] == budget, "priced_gap"]) for budget in budgets]
    # As many inches for a decade in every panel.
    grid[0, 0].get_gridspec().set_width_ratios([np.log10(high / low) for low, high in ends])
    for column, budget, shown in zip(grid.T, budgets, ends, strict=True):
        at_budget = {it: style.choose(line, budget=budget) for it, line in curves.items()}
        for axes, quantity in zip(column, _JUDGED, strict=True):
            named = axes in grid[:, 0]
            _people_panel(axes, at_budget, people, labels, looks, named, quantity)
        column[0].set_xlim(shown)
        column[0].set_title(f"{budget:,} answers")
        column[1].set(xlim=(-0.03, 1.03), xticks=(0, 0.5, 1))
    for row, quantity in zip(grid, _JUDGED, strict=True):
        row[0].set_ylabel("how people vote")
        row[len(budgets) // 2].set_xlabel(f"← better      {QUANTITIES[quantity]}")
    style.share_legend(figure, 3, _skipping(decided, labels))
    return figure


def discrimination_figure(table, labels):
    """Priced gap, and share of violations, against c² K: a column per method, a curve per c."""
    title = (
        "c: people tell returns apart c times as well; line: target 0.02; lower is better\n"
        "where curves coincide, c² × answers alone decides"
    )
    names = {it: f"c = {it:g}" for it in sorted(set(table["discrimination"]))}
    table = table.assign(name=names_of(table, labels))
    titles = {name: textwrap.fill(name, 16) for name in table["name"].unique()}
    across = "answers_scaled", r"$c^2$ × answers"
    return _worlds_figure(table, titles, "discrimination", names, across, 0.02, title)


def sizes_figure(table, labels, exponents):
    """Priced gap, and share of violations, against answers: a curve per size of environment."""
    target = exponents["target"].max()
    table = table.assign(name=names_of(table, labels))
    powers = exponents.assign(name=names_of(exponents, labels))
    powers = powers[powers["target"] == target].set_index("name")
    titles, width = {}, 75 // max(1, len(powers))  # letters that fit above a panel
    for name, row in powers.iterrows():
        power = f"p = {row['exponent']:.2f} ({row['low']:.2f}\xa0to\xa0{row['high']:.2f})"
        power = power.replace("-", "−")
        known = row[["exponent", "low", "high"]].notna().all()
        lines = name, power if known else "p unknown"
        titles[name] = "\n".join(textwrap.fill(line, width) for line in lines)
    title = (
        f"answers for a priced gap of {target:g} (line) grow like $(|S||A|)^p$ (95 % interval)\n"
        "p unknown: some size, or resample, does not cross the line; lower is better"
    )
    names = {it: f"$|S||A|$ = {it:g}" for it in sorted(set(table["size"]))}
    across = "budget", "human answers"
    return _worlds_figure(table, titles, "size", names, across, target, title)


def _worlds_figure(table, titles, key, names, across, target, title):
    """A column per name of a method, and a curve per named value of a key, against a column."""
    looks = style.colors(len(names))
    answers, answers_name = across
    figure, grid = style.panels(2, max(1, len(titles)), 1.9, sharex=True, sharey="row")
    figure.get_layout_engine().set(w_pad=0.1)  # between the last tick and that of the next panel
    for column, (method, rows) in zip(grid.T, table.groupby("name", sort=False), strict=False):
        for place, (value, name) in enumerate(names.items()):
            line = style.choose(rows, **{key: value}).sort_values(answers)
            look = {"marker": style.marker(place), "markersize": 4, "linewidth": 1.2}
            for axes, quantity in zip(column, _JUDGED, strict=True):
                axes.plot(line[answers], line[quantity], color=looks[place], label=name, **look)
                _scale_answers(axes)
        _scale_priced_gap(column[0], table)
        column[1].set_ylim(-0.06, 1.06)
        column[0].axhline(target, color="0.3", linewidth=0.8)
        column[0].set_title(titles[method])
    figure.supxlabel(answers_name, fontsize=8)
    for axes, quantity in zip(grid[:, 0], _JUDGED, strict=True):
        axes.set_ylabel(textwrap.fill(_name(quantity), 16))
    style.share_legend(figure, len(names), title)
    return figure


def votes_figure(table, labels):
    """Priced gap and share of violations for each kind of people, with the most answers."""
    people = list(dict.fromkeys(table["people"]))
    asked = [it for it, rows in table.groupby("discrimination") if rows["people"].nunique() > 1]
    most = table["answers_scaled"].max()
    table = table[table["answers_scaled"] == most]
    looks = _looks(labels)
    figure, grid = style.panels(max(1, len(asked)), 2, 2.6)
    for row, factor in zip(grid, asked, strict=False):
        curves = best_curves(style.choose(of_kind(table, "instances"), discrimination=factor))
        for axes, quantity in zip(row, _JUDGED, strict=True):
            _people_panel(axes, curves, people, labels, looks, axes is row[0], quantity)
            axes.set_title(f"c = {factor:g}: {_name(quantity)}")
        row[0].set_ylabel("how people vote")
        row[1].set_xlim(-0.03, 1.03)
    figure.supxlabel("← better", fontsize=8)
    told = f"people tell returns apart c times as well, and give {_number(most)} / c² answers"
    style.share_legend(figure, 3, f"{told}\n{PRICED}; bars: 95 %")
    return figure


def _people_panel(axes, curves, people, labels, looks, named, quantity):
    """A row for each kind of people, with a mark for each method."""
    for place, (method, line) in enumerate(curves.items()):
        line = line.set_index("people").reindex(people)
        error = None
        if f"{quantity}_low" in line:
            low = line[quantity] - line[f"{quantity}_low"].clip(lower=_LEAST)
            # On this axis a mean may lie below the least interval, as where it is zero.
            error = [low.clip(lower=0), line[f"{quantity}_high"] - line[quantity]]
        axes.errorbar(
            line[quantity],
            np.arange(len(people)) + 0.7 * ((place + 0.5) / len(curves) - 0.5),
            xerr=error,
            label=labels[method],
            elinewidth=0.7,
            **looks[method] | {"linestyle": "none"},
        )
    if quantity == "priced_gap":
        axes.set_xscale("log")
        style.plain_decades(axes.xaxis)
        # A decade is as wide in every panel, and has room for two labels.
        axes.xaxis.set_major_locator(mpl.ticker.LogLocator(subs=(1, 3)))
    axes.set_ylim(len(people) - 0.5, -0.5)
    axes.set_yticks(range(len(people)), people if named else [""] * len(people))
    axes.grid(visible=False, axis="y")
    for border in np.arange(len(people) - 1) + 0.5:
        axes.axhline(border, color="0.9", linewidth=0.5)


def names_of(table, labels):
    """What methods are called in a table, with the design where one has several."""
    names = table["method"].map(labels)
    several = table.groupby("method")["design"].transform("nunique") > 1
    return names.mask(several, names + ", " + table["design"])


def of_kind(table, kind):
    """Rows with a result whose units are seeds, or instances."""
    return table[table["answers"].notna() & table["units"].str.endswith(kind)]


def best_curves(table):
    """Rows of each method that is no variant, with the design of least priced gap at the end."""
    curves = {}
    for method, rows in table.groupby("method", sort=False):
        last = rows[rows["budget"] == rows["budget"].max()]
        best = last.groupby("design", sort=False)["priced_gap"].mean().idxmin()
        if method not in VARIANTS:
            curves[method] = rows[rows["design"] == best]
    return curves


def _lowest(values, budget):
    """Which of named values is the lowest after so many answers, in lines of a panel's width."""
    least = min(values.values())
    first, *more = (name for name, value in values.items() if value == least)
    name = f"{1 + len(more)} methods" if more else first  # names of several take too much room
    found = f"{name}, {f'{least:.2g}'.replace('-', '−')}"
    return textwrap.fill(f"lowest at {_number(budget)}: {found}", 50)


def _skipping(decided, labels):
    """How often it pays off to skip reward learning, and with which methods at best."""
    if decided.empty:
        return "none of the methods skip reward learning, or all do"
    first = decided["skipping"].str.split(", ").str[0].map(labels)
    pays, fails = (decided["pays_off"].eq(word).sum() for word in ("yes", "no"))
    return (
        f"Skipping reward learning pays off in {pays} of {len(decided)} cases and is worse in "
        f"{fails}\nbest without a reward: {' or '.join(first.unique())}; bars: 95 %"
    )


def _name(quantity):
    """What a quantity is called, without its formula."""
    return QUANTITIES[quantity].partition(" =")[0]


def _number(budget):
    """A number of answers, as a power of ten where it is one."""
    power = math.log10(budget)
    return f"$10^{{{power:.0f}}}$" if power.is_integer() else f"{budget:,.0f}"


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
        color = _COLORS[index % len(_COLORS)]
        fill = color if method in _PAPER else "white"
        look = {"marker": style.marker(index), "markersize": 4, "markerfacecolor": fill}
        looks[method] = look | {"color": color}
    return looks
