"""Figure of stability: what a multiplier buys, long runs, and whether a break is foreseen."""

import itertools

import matplotlib as mpl

from replication.figures import style

_COLORS = ("#D55E00", "#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#000000")
_DASHES = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (8, 2)),
    (0, (2, 2)),
    (0, (10, 1, 1, 1)),
)
_TOLD, _UNTOLD = "#a4133c", "0.5"  # of runs that are predicted to break, and of others
_LOWEST = 0.03  # multiplier at the lower end of a logarithmic axis
_MARKS = "X*<>phd"  # of variants; settings have those of other figures


def stability_figure(frozen, long, fresh, optimum, own_steps=()):
    """Panels of utility at frozen multipliers, of long runs, and of predictions if any are."""
    # Variants of `own_steps`, whose step sizes are not those of the others, have an asterisk.
    figure, (panels,) = style.panels(1, 3 if len(fresh) else 2, 3.2)
    dressed = zip(frozen["variant"].unique(), itertools.cycle(_COLORS), itertools.cycle(_DASHES))
    looks = {name: {"color": color, "linestyle": dashes} for name, color, dashes in dressed}
    variants = frozen.groupby("variant", sort=False)
    for (variant, rows), mark in zip(variants, itertools.cycle(_MARKS), strict=False):
        look = looks[variant]
        label = variant + " *" * (variant in own_steps)
        panels[0].plot(rows["multiplier"], -rows["predicted_violation"], label=label, **look)
        panels[0].errorbar(
            rows["multiplier"],
            -rows["constraint_violation"],
            yerr=style.ends(rows, "constraint_violation")[::-1],
            markersize=5,
            elinewidth=0.8,
            **look | {"linestyle": "none", "marker": mark},
        )
    panels[0].set_xscale("log", base=2)
    panels[0].xaxis.set_major_formatter("{x:g}")
    panels[0].set(xlabel=r"frozen multiplier $\lambda$", ylabel="mean $V_g - b$  (safe above 0)")
    panels[0].set_title(f"{_bought(frozen)}\nlines predicted, marks measured")
    style.zero_line(panels[0])

    shown = style.choose(long, **long[["instance", "evaluators"]].iloc[0])
    for variant, rows in shown.groupby("variant", sort=False):
        panels[1].plot(rows["answers"] / 1e6, rows["multiplier"], **looks[variant])
    panels[1].axhline(optimum.multiplier, color="0.4", linestyle=":", linewidth=0.8)
    place = {"xycoords": ("axes fraction", "data"), "textcoords": "offset points"}
    at = (1, optimum.multiplier)
    panels[1].annotate(r"$\lambda^\star$", at, (2, 0), ha="left", va="center", **place)
    panels[1].set_yscale("log")
    panels[1].set_ylim(bottom=_LOWEST)
    panels[1].yaxis.set_major_formatter("{x:g}")
    panels[1].yaxis.set_minor_formatter("")
    panels[1].set(xlabel="millions of answers", ylabel=r"multiplier $\lambda$")
    panels[1].set_title(_ended(shown))

    if len(fresh):
        _draw_predictions(panels[2], fresh)
    style.share_legend(figure, 4, "* with step sizes of its own" if len(own_steps) else None)
    return figure


def _draw_predictions(panel, fresh):
    """Late violations of runs on fresh instances against what was predicted."""
    keys = []
    for place, (setting, rows) in enumerate(fresh.groupby("setting", sort=False)):
        look = {"marker": style.marker(place), "markersize": 3, "linestyle": "none"}
        key = mpl.lines.Line2D([], [], color="0.25", markerfacecolor="none", label=setting, **look)
        keys.append(key)
        for (broke, told), some in rows.groupby(["late_broke", "breaks"]):
            look |= {"color": _TOLD, "zorder": 3} if told else {"color": _UNTOLD, "zorder": 2}
            look["markerfacecolor"] = look["color"] if broke else "none"
            panel.plot(some["peak"], some["late_violation"], **look)
    panel.axvline(0, color="0.2", linewidth=0.8)
    style.zero_line(panel)
    panel.set(xlabel="predicted largest $V_g - b$", ylabel="late violation (filled: it broke)")
    panel.set_title(_foreseen(fresh))
    panel.figure.legend(handles=keys, loc="outside lower right", ncols=len(keys))


def _bought(frozen):
    """What a multiplier buys in the first variant, in a few words."""
    name = frozen["variant"].iloc[0]
    rows = frozen[frozen["variant"] == name]
    safe = rows.loc[rows["constraint_violation"] <= 0, "multiplier"]
    if safe.empty:
        return rf"{name}: no $\lambda$ is safe"
    if (rows.loc[rows["multiplier"] >= safe.min(), "constraint_violation"] > 0).any():
        return rf"{name}: safe for {len(safe)} of {len(rows)} $\lambda$"
    return rf"{name}: safe from $\lambda$ = {safe.min():g}"


def _foreseen(fresh):
    """How many of the runs that broke were predicted to, and how many that did not."""
    broke = fresh["late_broke"]
    if not broke.any():
        return "no run broke"
    told, false = (fresh.loc[rows, "breaks"].sum() for rows in (broke, ~broke))
    alarms = f"{false} false alarm{'' if false == 1 else 's'}"
    return f"{told} of {broke.sum()} breaks foreseen\n(red), {alarms}"


def _ended(long):
    """Where the multiplier of the first variant ends, in a few words."""
    last = long[long["variant"] == long["variant"].iloc[0]].iloc[-1]
    return rf"{last['variant']}: $\lambda$ ends at {last['multiplier']:.2g}"
