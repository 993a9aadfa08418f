"""Figure of splits of answers: many people per question, or many questions."""

import numpy as np

from pgpd_hf.algorithms import get_algorithm
from replication.figures import style

QUANTITIES = {
    "optimality_gap": r"optimality gap  $V_r^\star - V_r$",
    "constraint_violation": r"violation  $b - V_g$",
}


def splits_figure(table):
    """Gap and violation against M and N at equal M N; a row, with one scale, per algorithm."""
    algorithms = list(dict.fromkeys(table["algorithm"]))
    estimators = list(dict.fromkeys(table["estimator"]))
    figure, grid = style.panels(len(algorithms), len(QUANTITIES), 2.2)
    for algorithm, row in zip(algorithms, grid, strict=True):
        shown = table[table["algorithm"] == algorithm]
        splits = shown[["evaluators", "rounds"]].drop_duplicates().sort_values("rounds")
        for axes, (quantity, name) in zip(row, QUANTITIES.items(), strict=True):
            if axes is not row[0]:
                axes.sharey(row[0])
            for place, estimator in enumerate(estimators):
                line = shown[shown["estimator"] == estimator].sort_values("rounds")
                axes.errorbar(
                    np.log2(line["rounds"]) + 0.12 * (place - 0.5),
                    line[quantity],
                    yerr=style.ends(line, quantity),
                    color=style.ESTIMATOR_COLORS[estimator],
                    label=style.ESTIMATORS[estimator],
                    marker=style.marker(place),
                    linestyle="none",
                    markersize=3.5,
                    elinewidth=1,
                )
            axes.set_title(f"{get_algorithm(algorithm).label}: {name}")
            names = [f"{m} × {n}" for m, n in splits.itertuples(index=False)]
            axes.set_xticks(np.log2(splits["rounds"]), names)
            style.zero_line(axes)
    style.name_axes(grid, "people asked per question $M$ × questions $N$")
    style.share_legend(figure, len(estimators))
    return figure
