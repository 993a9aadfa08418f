"""Figure of splits of answers: many people per question, or many questions."""

import matplotlib as mpl
import numpy as np

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.figures import style

QUANTITIES = {
    "optimality_gap": r"optimality gap  $V_r^\star - V_r$",
    "constraint_violation": r"violation  $b - V_g$",
}


def splits_figure(table):
    """Gap and violation against M and N at equal M N; a row per algorithm.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.splits.tabulate`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(dict.fromkeys(table["algorithm"]))
    estimators = list(dict.fromkeys(table["estimator"]))
    looks = dict(zip(estimators, ("#0072B2", "#D55E00"), strict=False))
    figure, grid = style.panels(len(algorithms), len(QUANTITIES), 2.2)
    for algorithm, row in zip(algorithms, grid, strict=True):
        shown = table[table["algorithm"] == algorithm]
        splits = shown[["evaluators", "pairs"]].drop_duplicates().sort_values("pairs")
        for axes, (quantity, name) in zip(row, QUANTITIES.items(), strict=True):
            for place, (estimator, color) in enumerate(looks.items()):
                line = shown[shown["estimator"] == estimator].sort_values("pairs")
                middle = line[quantity]
                axes.errorbar(
                    np.log2(line["pairs"]) + 0.12 * (place - 0.5),
                    middle,
                    yerr=[middle - line[f"{quantity}_low"], line[f"{quantity}_high"] - middle],
                    color=color,
                    label=f"votes read {estimator}",
                    marker=style.marker(place),
                    linestyle="none",
                    markersize=3.5,
                    elinewidth=1,
                )
            axes.set_title(f"{get_algorithm(algorithm).label}: {name}")
            names = [f"{m}·{n}" for m, n in splits.itertuples(index=False)]
            axes.set_xticks(np.log2(splits["pairs"]), names)
            axes.set_xlabel("M·N")
            style.zero_line(axes)
            axes.yaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
    style.share_legend(figure, len(looks))
    return figure
