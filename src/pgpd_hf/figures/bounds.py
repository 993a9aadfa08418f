"""Figures of bounds: how tight they are, statement by statement, and what runs show over T."""

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


def seen_figure(table):
    """Gap and violation of runs and what bounds them, over T: readings across, quantities down.

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
        figure, ((axes,),) = style.panels(1, 1, 0.5)
        axes.set_axis_off()
        axes.text(0, 0.5, f"Left out: {'; '.join(reasons)}.", va="center", wrap=True)
        return figure
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
            same = chosen["evaluators"].isna() if pd.isna(m) else chosen["evaluators"].eq(m)
            rows = chosen[same & chosen["pairs"].eq(n)]
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
        ends = np.array([axes.get_ylim() for axes in row])
        for axes in row:
            axes.set_ylim(ends.min(), ends.max())
            style.plain_decades(axes.yaxis)
    style.share_legend(figure, 3)
    return figure


def _statement_name(row):
    text = _SYMBOL.sub(lambda match: _SYMBOLS[match.group()], row.statement)
    return f"{text}  ({row.line})   {row.item}{row.part}".replace("$", r"\$")
