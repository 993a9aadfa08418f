"""Figures of rates, bounds and certificates, in the style of :mod:`pgpd_hf.figures.panels`."""

import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.figures import style

_RULE_STYLES = {"study": "-", "theorem": ":"}
# Okabe and Ito's, which differ for any colour vision; light grey for what is no error.
_PART_COLORS = ["#0072b2", "#56b4e9", "#009e73", "#f0e442", "#d55e00", "#dddddd"]
# Tables write statements in ASCII; figures set them.
_SIGNS = {
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
_SIGN = re.compile(
    "|".join(
        rf"(?<![A-Za-z]){sign}(?![a-z])" if sign.isalpha() else re.escape(sign) for sign in _SIGNS
    )
)


def rates_figure(means, promised):
    """Averages against T, both axes logarithmic: algorithms down, metrics across.

    Parameters
    ----------
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.rates.mean_averages`.
    promised : dict
        Exponent by algorithm; drawn as a dashed line whose height means nothing.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(means["algorithm"].drop_duplicates())
    metrics = list(means["metric"].drop_duplicates())
    crowds = list(means["crowd"].drop_duplicates())
    colors = dict(zip(crowds, style.crowd_colors(len(crowds)), strict=True))
    figure, grid = plt.subplots(
        len(algorithms),
        len(metrics),
        figsize=(style.TWO_COLUMNS, 2.5 * len(algorithms)),
        squeeze=False,
    )
    for row, algorithm in zip(grid, algorithms, strict=True):
        for axes, metric in zip(row, metrics, strict=True):
            chosen = means[(means["algorithm"] == algorithm) & (means["metric"] == metric)]
            for (rule, crowd), line in chosen.groupby(["step_rule", "crowd"], sort=False):
                positive = line[line["mean"] > 0]
                axes.errorbar(
                    positive["iterations"],
                    positive["mean"],
                    yerr=[positive["mean"] - positive["low"], positive["high"] - positive["mean"]],
                    color=colors[crowd],
                    linestyle=_RULE_STYLES[rule],
                    marker=style.MARKERS[crowds.index(crowd) % len(style.MARKERS)],
                    markersize=3.2,
                    elinewidth=0.8,
                    label=f"{style.crowd_label(crowd)}, steps of the {rule}",
                )
            axes.set_xscale("log")
            axes.set_xticks(chosen["iterations"].unique(), minor=False)
            axes.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:,.0f}"))
            axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
            axes.set_title(get_algorithm(algorithm).label)
            axes.set_xlabel("iterations $T$")
            axes.set_ylabel(f"average {metric}")
            if not (chosen["mean"] > 0).any():
                # Such as the violation of a constraint that does not bind.
                axes.set_yticks([])
                axes.text(0.5, 0.5, "no average is positive", transform=axes.transAxes, ha="center")
                continue
            axes.set_yscale("log", nonpositive="clip")
            if algorithm in promised:
                ends = np.array([chosen["iterations"].min(), chosen["iterations"].max()], float)
                slope = chosen["high"].max() * (ends / ends[0]) ** promised[algorithm]
                axes.plot(
                    ends, slope, color="0.4", linestyle="--", linewidth=1, label="promised slope"
                )
            style.plain_decades(axes)
    style.share_legend(figure, 3)
    return figure


def bounds_figure(table):
    """How tight each statement's bound is: measured over bound, one marker per setting.

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
    names = table.drop_duplicates(["item", "part"])
    heights = {key: -k for k, key in enumerate(zip(names["item"], names["part"], strict=True))}
    settings = list(table["setting"].drop_duplicates())
    figure, axes = plt.subplots(figsize=(style.TWO_COLUMNS, 0.19 * len(names) + 0.9))
    for index, color in enumerate(style.crowd_colors(len(settings))):
        rows = table[table["setting"].eq(settings[index]) & table["ratio"].gt(0)]
        y = np.array([heights[key] for key in zip(rows["item"], rows["part"], strict=True)])
        for hollow in (False, True):
            chosen = (rows["vacuous"] == hollow).to_numpy()
            axes.scatter(
                rows["ratio"][chosen],
                y[chosen] + 0.25 * (1 - index),
                s=14,
                marker=style.MARKERS[index % len(style.MARKERS)],
                facecolor="none" if hollow else color,
                edgecolor=color,
                linewidth=0.9,
                label=None if hollow else settings[index],
            )
    axes.axvline(1, color="0.3", linewidth=0.8)
    axes.set_xscale("log")
    labels = [_statement_name(row) for row in names.itertuples()]
    axes.set_yticks(list(heights.values()), labels, fontsize=6.5)
    axes.set_ylim(-len(names) + 0.4, 0.6)
    axes.set_ylabel("statement, its line in the paper's source, and its number")
    axes.set_xlabel("measured / bound   (hollow: the bound is vacuous)")
    figure.legend(loc="outside upper center", ncols=len(settings))
    return figure


def certificate_figure(table, parts):
    """Parts of the certificates of the average gap, stacked, one panel per algorithm.

    Parameters
    ----------
    table : pandas.DataFrame
        Rows of :func:`pgpd_hf.theory.certify` for one quantity.
    parts : sequence of str
        Columns to stack; negative ones go down from zero.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(table["algorithm"].drop_duplicates())
    figure, grid = plt.subplots(1, len(algorithms), figsize=(style.TWO_COLUMNS, 2.8), squeeze=False)
    for axes, algorithm in zip(grid[0], algorithms, strict=True):
        rows = table[table["algorithm"] == algorithm]
        means = rows.groupby("evaluators", dropna=False)[[*parts, "measured"]].mean()
        up, down = np.zeros(len(means)), np.zeros(len(means))
        for part, color in zip(parts, _PART_COLORS, strict=True):
            height = means[part].to_numpy()
            base = np.where(height >= 0, up, down)
            axes.bar(
                range(len(means)),
                height,
                bottom=base,
                color=color,
                edgecolor="0.3",
                linewidth=0.4,
                width=0.6,
                label=part.replace("_", " "),
            )
            up, down = up + np.maximum(height, 0), down + np.minimum(height, 0)
        axes.hlines(
            means["measured"],
            np.arange(len(means)) - 0.38,
            np.arange(len(means)) + 0.38,
            color="black",
            linewidth=2,
            label="measured",
        )
        axes.axhline(0, color="0.3", linewidth=0.8)
        labels = [style.crowd_label(pd.NA if pd.isna(M) else int(M)) for M in means.index]
        axes.set_xticks(range(len(means)), labels)
        axes.set_title(get_algorithm(algorithm).label)
    grid[0, 0].set_ylabel("average optimality gap")
    style.share_legend(figure, 4)
    return figure


def _statement_name(row):
    """Label of a statement."""
    text = _SIGN.sub(lambda match: _SIGNS[match.group()], row.statement)
    return f"{text}  ({row.line})   {row.item}{row.part}".replace("$", r"\$")
