"""Figures of bounds: how tight each statement is, and bounds over T beside measured values."""

import functools
import itertools
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from replication.figures import style
from replication.theory.measured import RUNS

# Tables write statements in ASCII; figures typeset them.
_GREEK = "Delta beta eps eta gamma lambda mu pi rho sigma tau theta".split()
_SYMBOLS = {"<=": "≤", "=>": "⇒", "..": "…", "^2": "²", "grad ": "∇", "grad": "∇"}
_SYMBOLS |= dict(zip(_GREEK, "Δβεηγλμπρστθ", strict=True))
_SYMBOL = re.compile(
    "|".join(
        rf"(?<![A-Za-z]){name}(?![a-z])" if name.isalpha() else re.escape(name) for name in _SYMBOLS
    )
)


_RUNS = {  # looks of the kinds of runs that measured.RUNS names
    "figure": {"linestyle": "-", "linewidth": 1.6},
    "study": {"linestyle": "none", "marker": "o", "markersize": 3.2},
    "theorem": {"linestyle": "none", "marker": "x", "markersize": 4.5},
}
_SHORTEST = 10  # T from which on averages over Figure 1's runs are drawn


def bounds_figure(table):
    """Measured over bound for each statement, with one marker for each value of `setting`."""
    table = table.assign(
        part=table["part"].fillna(""), vacuous=table["reason"].fillna("").str.startswith("vacuous")
    )
    table["place"] = -table.groupby(["item", "part"], sort=False).ngroup()
    names = table.drop_duplicates("place")
    settings = list(table["setting"].drop_duplicates())
    figure, axes = plt.subplots(figsize=(style.TWO_COLUMNS, 0.2 * len(names) + 0.9))
    for index, (setting, color) in enumerate(
        zip(settings, style.colors(len(settings)), strict=True)
    ):
        rows = table[table["setting"].eq(setting) & table["ratio"].gt(0)]
        for hollow in (False, True):
            chosen = rows[rows["vacuous"] == hollow]
            axes.scatter(
                chosen["ratio"],
                chosen["place"] + 0.25 - 0.5 * index / max(2, len(settings) - 1),
                s=14,
                marker=style.marker(index),
                facecolor="none" if hollow else color,
                edgecolor=color,
                linewidth=0.9,
                label=None if hollow else setting,
            )
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_yticks(names["place"], [_statement_name(row) for row in names.itertuples()])
    axes.set(
        xscale="log",
        ylim=(-len(names) + 0.4, 0.6),
        ylabel="statement, its line in the paper's source, and its number",
        xlabel="measured / bound   (hollow: the bound is vacuous)",
    )
    figure.legend(loc="outside upper center", ncols=len(settings))
    return figure


def lengths_figure(table, largest, measured):
    """Bounds over T, and what is measured: M across, N down, a colour for each statement."""
    # Everything is the larger of gap and violation. Bounds with the plug-in estimator are dashed,
    # those with the unbiased one solid; single markers in the same colour are measured with the
    # same steps, hollow for votes as printed. Black is what other runs measure, and the horizontal
    # line the value from which on a bound is vacuous. Rows without T say why they have none.
    if table["iterations"].isna().all():
        return _left_out(table["reason"].unique())
    table = table.dropna(subset="iterations")
    statements = list(table["statement"].drop_duplicates())
    colors = dict(zip(statements, style.colors(len(statements)), strict=True))
    evaluators, rounds = (list(table[key].drop_duplicates()) for key in ("evaluators", "rounds"))
    figure, grid = style.panels(len(rounds), len(evaluators), 2.3, sharex=True, sharey=True)
    for axes, (n, m) in zip(grid.flat, itertools.product(rounds, evaluators), strict=True):
        shown = style.choose(table, evaluators=m, rounds=n)
        for (statement, reading), rows in shown.groupby(["statement", "estimator"], sort=False):
            color, printed = colors[statement], reading == "plug-in"
            worse = rows[["gap", "violation"]].max(axis=1)
            axes.plot(rows["iterations"], worse, "--" if printed else "-", color=color)
            if "measured_gap" in rows:
                axes.plot(
                    rows["iterations"],
                    rows[["measured_gap", "measured_violation"]].max(axis=1),
                    linestyle="none",
                    marker=style.marker(statements.index(statement)),
                    markersize=4,
                    color=color,
                    markerfacecolor="none" if printed else color,
                )
        shown = style.choose(measured, evaluators=m, rounds=n)
        for runs, rows in shown.groupby("runs", sort=False):
            rows = rows[rows["iterations"] >= _SHORTEST]
            axes.plot(rows["iterations"], rows["mean"], color="black", **_RUNS[runs])
        axes.axhline(largest, color="0.3", linewidth=0.8)
        axes.set(xscale="log", yscale="log", title=f"{style.evaluators_label(m)}, $N = {n}$")
    style.name_axes(grid, "iterations $T$", "larger of gap and violation")
    keys = _keys_of_lengths(colors, "measured_gap" in table, measured)
    figure.legend(handles=list(keys), loc="outside upper center", ncols=3)
    return figure


def _keys_of_lengths(colors, own, measured):
    """Keys of the legend: statements, readings of votes, runs, and the line."""
    line = functools.partial(mpl.lines.Line2D, [], [])
    for number, (statement, color) in enumerate(colors.items()):
        marker = style.marker(number) if own else None
        yield line(color=color, marker=marker, markersize=4, label=statement)
    for reading, dashes in (("plug-in", "--"), ("unbiased", "-")):
        yield line(color="0.3", linestyle=dashes, label=style.ESTIMATORS[reading])
    for runs in measured["runs"].drop_duplicates():
        yield line(color="black", label=f"measured: {RUNS[runs]}", **_RUNS[runs])
    yield line(color="0.3", linewidth=0.8, label="vacuous above")


def seen_figure(table, largest):
    """Gap and violation of runs, and their bounds, at several T: M across, quantities down."""
    # A line leads from what is measured, a marker by N, to the bound, a bar; its colour is that of
    # the estimator. Where nothing above zero is measured, the bar stands alone. A bound is
    # informative below `largest`.
    if table["iterations"].isna().all():
        return _left_out(table["reason"].unique())
    table = table.dropna(subset="iterations")
    quantities, evaluators, rounds, lengths = (
        list(table[name].drop_duplicates())
        for name in ("quantity", "evaluators", "rounds", "iterations")
    )
    figure, grid = style.panels(len(quantities), len(evaluators), 2.3)
    for axes, (quantity, m) in zip(
        grid.flat, itertools.product(quantities, evaluators), strict=True
    ):
        axes.set_yscale("log", nonpositive="clip")
        shown = style.choose(table, quantity=quantity, evaluators=m)
        slots = shown.groupby("iterations").cumcount() + 0.5
        slots = slots / shown.groupby("iterations")["bound"].transform("size") - 0.5
        shown = shown.assign(x=shown["iterations"].map(lengths.index) + 0.8 * slots)
        for (estimator, n), rows in shown.groupby(["estimator", "rounds"], sort=False):
            x, color = rows["x"], style.ESTIMATOR_COLORS[estimator]
            measured = rows["measured"].where(rows["measured"] > 0)
            axes.vlines(x, measured, rows["bound"], color=color, linewidth=0.9)
            error = {"yerr": rows["bound_error"], "elinewidth": 2.4, "alpha": 0.35}
            axes.errorbar(x, rows["bound"], color=color, linestyle="none", **error)
            axes.plot(x, rows["bound"], linestyle="none", marker="_", markersize=6, color=color)
            axes.plot(
                x,
                measured,
                linestyle="none",
                marker=style.marker(rounds.index(n)),
                markersize=3.6,
                color=color,
                markerfacecolor=color if estimator == "plug-in" else "white",
                label=f"{style.ESTIMATORS[estimator]}, $N = {n}$",
            )
        axes.axhline(largest, color="0.3", linewidth=0.9, linestyle=(0, (4, 2)))
        axes.set_title(f"{(shown['bound'] < largest).sum()} of {len(shown)} informative")
        axes.set_xticks(range(len(lengths)), [f"{length:,.0f}" for length in lengths])
        axes.grid(visible=False, axis="x")
        for border in np.arange(len(lengths) - 1) + 0.5:
            axes.axvline(border, color="0.9", linewidth=0.5)
    for axes, m in zip(grid[0], evaluators, strict=True):
        style.head(axes, style.evaluators_label(m))
    style.name_axes(grid, "iterations $T$")
    for row, quantity in zip(grid, quantities, strict=True):
        row[0].set_ylabel(f"← better      {quantity}")
        style.same_heights(row)
        for axes in row:
            style.plain_decades(axes.yaxis)
    first, look = grid[0, 0], {"color": "0.3", "linestyle": "none"}
    look |= {"marker": "_", "markersize": 6, "elinewidth": 2.4, "ecolor": "0.75"}
    first.errorbar([], [], [], label="bound, with its 95 % interval", **look)
    label = f"bounds are informative below {largest:.3g}"
    first.plot([], [], color="0.3", linewidth=0.9, linestyle=(0, (4, 2)), label=label)
    style.share_legend(figure, 2, "markers: measured, where above zero")
    return figure


def _left_out(reasons):
    """What stands where there is nothing to draw."""
    figure, ((axes,),) = style.panels(1, 1, 0.5)
    axes.set_axis_off()
    axes.text(0, 0.5, f"Left out: {'; '.join(reasons)}.", va="center", wrap=True)
    return figure


def _statement_name(row):
    text = _SYMBOL.sub(lambda match: _SYMBOLS[match.group()], row.statement)
    return f"{text}  ({row.line})   {row.item}{row.part}".replace("$", r"\$")
