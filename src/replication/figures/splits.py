"""Figure of splits of answers: many people per question, or many questions."""

import numpy as np

from pgpd_hf.algorithms import get_algorithm
from replication.figures import style
from replication.figures.comparison import PRICED

QUANTITIES = {
    "optimality_gap": r"optimality gap  $V_r^\star - V_r$",
    "constraint_violation": r"violation  $b - V_g$",
    "priced_gap": "priced gap",
}


def splits_figure(table):
    """All quantities against M and N at equal M N; a row, with one scale, per algorithm."""
    algorithms = list(dict.fromkeys(table["algorithm"]))
    estimators = list(dict.fromkeys(table["estimator"]))
    figure, grid = style.panels(len(algorithms), len(QUANTITIES), 2.2, sharey="row")
    for algorithm, row in zip(algorithms, grid, strict=True):
        shown = table[table["algorithm"] == algorithm]
        splits = shown[["evaluators", "rounds"]].drop_duplicates().sort_values("rounds")
        for axes, quantity in zip(row, QUANTITIES, strict=True):
            for place, estimator in enumerate(estimators):
                line = shown[shown["estimator"] == estimator].sort_values("rounds")
                axes.errorbar(
                    np.log2(line["rounds"]) + 0.3 * (place - 0.5),
                    line[quantity],
                    yerr=style.ends(line, quantity),
                    color=style.ESTIMATOR_COLORS[estimator],
                    label=style.ESTIMATORS[estimator],
                    marker=style.marker(place),
                    linestyle="none",
                    markersize=3.5,
                    elinewidth=1,
                )
            least = shown.loc[shown[quantity].idxmin()]
            names = [f"{m} × {n}" for m, n in splits.itertuples(index=False)]
            if quantity != "constraint_violation":  # which may be too low
                axes.set_title(
                    f"lowest: $M = {least['evaluators']}$, $N = {least['rounds']}$, "
                    f"{least['estimator']}"
                )
            axes.set_xticks(np.log2(splits["rounds"]), names)
            style.zero_line(axes)
        row[0].set_ylabel(get_algorithm(algorithm).label)
    for axes, name in zip(grid[0], QUANTITIES.values(), strict=True):
        style.head(axes, name)
    style.name_axes(grid, "evaluators $M$ × rounds $N$")
    figure.get_layout_engine().set(w_pad=0.08)  # between the last tick and that of the next panel
    title = f"{PRICED}; bars: 95 %\nzero: best safe policy, or the threshold"
    style.share_legend(figure, len(estimators), title)
    return figure
