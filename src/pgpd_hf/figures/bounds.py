"""Figures of bounds: how tight each statement is, and bounds over T beside measured values."""

import itertools
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pgpd_hf.figures import style

# Tables write statements in ASCII; figures typeset them.
_SYMBOLS = {
    "<=": "≤",
    "=>": "⇒",
    "..": "…",
    "^2": "²",
    "grad ": "∇",
    "grad": "∇",
    "Delta": "Δ",
    "beta": "β",
    "eps": "ε",
    "eta": "η",
    "gamma": "γ",
    "lambda": "λ",
    "mu": "μ",
    "pi": "π",
    "rho": "ρ",
    "sigma": "σ",
    "tau": "τ",
    "theta": "θ",
}
_SYMBOL = re.compile(
    "|".join(
        rf"(?<![A-Za-z]){name}(?![a-z])" if name.isalpha() else re.escape(name) for name in _SYMBOLS
    )
)


_READINGS = {"plug-in": "as printed", "unbiased": "without bias"}


def bounds_figure(table):
    """Measured over bound for each statement, one marker per setting.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of :func:`pgpd_hf.theory.check_all` with a column `setting`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    table = table.assign(
        part=table["part"].fillna(""), vacuous=table["reason"].fillna("").str.startswith("vacuous")
    )
    table["place"] = -table.groupby(["item", "part"], sort=False).ngroup()
    names = table.drop_duplicates("place")
    settings = list(table["setting"].drop_duplicates())
    figure, axes = plt.subplots(figsize=(style.TWO_COLUMNS, 0.19 * len(names) + 0.9))
    for index, (setting, color) in enumerate(
        zip(settings, style.colors(len(settings)), strict=True)
    ):
        rows = table[table["setting"].eq(setting) & table["ratio"].gt(0)]
        for hollow in (False, True):
            chosen = rows[rows["vacuous"] == hollow]
            axes.scatter(
                chosen["ratio"],
                chosen["place"] + 0.25 * (1 - index),
                s=14,
                marker=style.marker(index),
                facecolor="none" if hollow else color,
                edgecolor=color,
                linewidth=0.9,
                label=None if hollow else setting,
            )
    axes.axvline(1, color="0.3", linewidth=0.8)
    labels = [_statement_name(row) for row in names.itertuples()]
    axes.set_yticks(names["place"], labels, fontsize=6.5)
    axes.set(
        xscale="log",
        ylim=(-len(names) + 0.4, 0.6),
        ylabel="statement, its line in the paper's source, and its number",
        xlabel="measured / bound   (hollow: the bound is vacuous)",
    )
    figure.legend(loc="outside upper center", ncols=len(settings))
    return figure


def lengths_figure(table, largest=None):
    """Bounds over T, and what is measured: M across, N down, a colour for each statement.

    Everything is the larger of gap and violation. Bounds with votes read as printed are dashed,
    those with votes read without bias solid; what is measured with the same steps are single
    markers, hollow for votes as printed.

    Parameters
    ----------
    table : pandas.DataFrame
        The first table of :func:`pgpd_hf.theory.lengths.lengths`. Rows without T say why they have
        none, and so does the figure if there are no others.
    largest : float, optional
        The value from which on a bound is vacuous, a horizontal line.

    Returns
    -------
    matplotlib.figure.Figure
    """
    reasons = table.loc[table["iterations"].isna(), "reason"].unique()
    table = table.dropna(subset="iterations")
    if table.empty:
        return _left_out(reasons)
    statements = list(table["statement"].drop_duplicates())
    colors = dict(zip(statements, style.colors(len(statements)), strict=True))
    evaluators, pairs = (list(table[key].drop_duplicates()) for key in ("evaluators", "pairs"))
    figure, grid = style.panels(len(pairs), len(evaluators), 2.3)
    for axes, (n, m) in zip(grid.flat, itertools.product(pairs, evaluators), strict=True):
        chosen = _asked(table, m, n)
        for (statement, reading), rows in chosen.groupby(["statement", "estimator"], sort=False):
            color, printed = colors[statement], reading == "plug-in"
            worse = rows[["gap", "violation"]].max(axis=1)
            axes.plot(rows["iterations"], worse, "--" if printed else "-", color=color)
            axes.plot(
                rows["iterations"],
                rows[["measured_gap", "measured_violation"]].max(axis=1),
                linestyle="none",
                marker=style.marker(statements.index(statement)),
                markersize=4,
                color=color,
                markerfacecolor="none" if printed else color,
            )
        if largest is not None:
            axes.axhline(largest, color="0.3", linewidth=0.8)
        axes.set(xscale="log", yscale="log", title=f"{style.evaluators_label(m)}, $N = {n}$")
    _same_heights(grid.flat)
    for axes in grid[-1]:
        axes.set_xlabel("iterations $T$")
    for axes in grid[:, 0]:
        axes.set_ylabel("larger of gap and violation")
    handles = [
        mpl.lines.Line2D([], [], color=color, marker=style.marker(k), markersize=4, label=name)
        for k, (name, color) in enumerate(colors.items())
    ]
    for reading, line in (("plug-in", "--"), ("unbiased", "-")):
        label = f"votes read {_READINGS[reading]}"
        handles.append(mpl.lines.Line2D([], [], color="0.3", linestyle=line, label=label))
    if largest is not None:
        label = "vacuous above"
        handles.append(mpl.lines.Line2D([], [], color="0.3", linewidth=0.8, label=label))
    figure.legend(handles=handles, loc="outside upper center", ncols=4)
    return figure


def seen_figure(table):
    """Gap and violation of runs, and their bounds, over T: readings across, quantities down.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.theory.seen.over_lengths`. Rows without T say why they have none,
        and so does the figure if there are no others.

    Returns
    -------
    matplotlib.figure.Figure
    """
    reasons = table.loc[table["iterations"].isna(), "reason"].unique()
    table = table.dropna(subset="iterations")
    if table.empty:
        return _left_out(reasons)
    quantities = list(table["quantity"].drop_duplicates())
    readings = list(table["estimator"].drop_duplicates())
    curves = list(table[["pairs", "evaluators"]].drop_duplicates().itertuples(index=False))
    colors = style.colors(len(curves))
    figure, grid = style.panels(len(quantities), len(readings), 2.5)
    for axes, (quantity, reading) in zip(
        grid.flat, itertools.product(quantities, readings), strict=True
    ):
        chosen = table[table["quantity"].eq(quantity) & table["estimator"].eq(reading)]
        for number, (n, m) in enumerate(curves):
            rows = _asked(chosen, m, n)
            options = {"color": colors[number], "marker": style.marker(number), "markersize": 3.2}
            label = f"{style.evaluators_label(m)}, $N = {n}$"
            for side, line in (("bound", "-"), ("measured", ":")):
                shown = rows[rows[side] > 0]
                axes.errorbar(
                    shown["iterations"],
                    shown[side],
                    yerr=shown["bound_error"] if side == "bound" else None,
                    linestyle=line,
                    elinewidth=0.7,
                    label=label if side == "bound" else None,
                    **options,
                )
        axes.set(xscale="log", title=f"{quantity}, votes read {_READINGS[reading]}")
        axes.set_yscale("log", nonpositive="clip")
        axes.set_xticks(table["iterations"].unique(), minor=False)
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
    for axes in grid[-1]:
        axes.set_xlabel("iterations $T$")
    for axes in grid[:, 0]:
        axes.set_ylabel("bound (solid), measured (dotted)")
    for row in grid:
        _same_heights(row)
    style.share_legend(figure, 3)
    return figure


def _asked(table, evaluators, pairs):
    """Rows of a table for M and N."""
    column = table["evaluators"]
    same = column.isna() if pd.isna(evaluators) else column.eq(evaluators)
    return table[same & table["pairs"].eq(pairs)]


def _left_out(reasons):
    """What stands where there is nothing to draw."""
    figure, ((axes,),) = style.panels(1, 1, 0.5)
    axes.set_axis_off()
    axes.text(0, 0.5, f"Left out: {'; '.join(reasons)}.", va="center", wrap=True)
    return figure


def _same_heights(panels):
    """Give panels one vertical axis, which is logarithmic."""
    panels = list(panels)
    ends = np.array([axes.get_ylim() for axes in panels])
    for axes in panels:
        axes.set_ylim(ends.min(), ends.max())
        style.plain_decades(axes.yaxis)


def _statement_name(row):
    text = _SYMBOL.sub(lambda match: _SYMBOLS[match.group()], row.statement)
    return f"{text}  ({row.line})   {row.item}{row.part}".replace("$", r"\$")
