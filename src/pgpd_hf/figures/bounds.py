"""Figure of bounds: how tight the paper's bounds are, statement by statement."""

import re

import matplotlib.pyplot as plt

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


def _statement_name(row):
    text = _SYMBOL.sub(lambda match: _SYMBOLS[match.group()], row.statement)
    return f"{text}  ({row.line})   {row.item}{row.part}".replace("$", r"\$")
