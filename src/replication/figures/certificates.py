"""Figure of certificates: what the average optimality gap is made of."""

import numpy as np
import pandas as pd

from replication.figures import style

# Okabe and Ito's colours, distinct for all colour vision; light grey for "remaining", which is not
# an error.
_PART_COLORS = ["#0072b2", "#56b4e9", "#009e73", "#f0e442", "#d55e00", "#dddddd"]


def certificate_figure(table, parts):
    """Parts of the certificates of the average gap, stacked up or down, a panel per algorithm."""
    figure, panels = style.algorithm_panels(table, 2.8)
    for _, rows, (axes,) in panels:
        means = rows.groupby("evaluators", dropna=False)[[*parts, "measured"]].mean()
        x = np.arange(len(means))
        up, down = np.zeros(len(means)), np.zeros(len(means))
        for part, color in zip(parts, _PART_COLORS, strict=True):
            height = means[part].to_numpy()
            base = np.where(height >= 0, up, down)
            edge = {"edgecolor": "0.3", "linewidth": 0.4}
            label = part.replace("_", " ")
            axes.bar(x, height, bottom=base, color=color, width=0.6, label=label, **edge)
            up, down = up + np.maximum(height, 0), down + np.minimum(height, 0)
        ends = x - 0.38, x + 0.38
        axes.hlines(means["measured"], *ends, color="black", linewidth=2, label="measured")
        style.zero_line(axes)
        labels = [style.evaluators_label(pd.NA if pd.isna(m) else int(m)) for m in means.index]
        axes.set_xticks(x, labels)
    figure.axes[0].set_ylabel("average optimality gap")
    style.share_legend(figure, 4)
    return figure
