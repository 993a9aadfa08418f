"""Figures of schedules: runs whose M and H change on the way, at equal cost."""

import matplotlib as mpl
import numpy as np

from replication.figures import style
from replication.figures.sweeps import QUANTITY_LABELS


def schedules_figure(curves):
    """Priced gap of the iterate against answers and against environment steps."""
    costs = {"answers": "answers", "steps": "environment steps"}
    schedules = curves["schedule"].unique()
    figure, panels = style.algorithm_panels(curves, 2.4, len(costs))
    for _, table, row in panels:
        for axes, (cost, label) in zip(row, costs.items(), strict=True):
            for name, color in zip(schedules, style.colors(len(schedules)), strict=True):
                line = table[table["schedule"] == name]
                style.band(axes, line[cost], line["low"], line["high"], color, 0.15)
                axes.plot(line[cost], line["mean"], color=color, label=name)
            ends = {"ylim": (0, 1.15 * table["mean"].max()), "xlim": (0, table[cost].max())}
            axes.set(xlabel=label, **ends)
            axes.xaxis.set_major_formatter(mpl.ticker.EngFormatter(sep=""))
        row[0].set_ylabel(QUANTITY_LABELS["priced_gap"])
    style.share_legend(figure, 4)
    return figure


def differences_figure(compared, reference):
    """Differences of schedules from a reference, with their intervals."""
    metrics = {"priced_gap": "average over the run", "late_priced_gap": "last tenth"}
    figure, panels = style.algorithm_panels(compared, 2.3)
    for _, table, (axes,) in panels:
        others = table[table["schedule"] != reference]
        for (metric, label), color, shift in zip(
            metrics.items(), style.colors(2), (0.14, -0.14), strict=True
        ):
            rows = others[others["metric"] == metric]
            y, look = -np.arange(len(rows)), {"color": color, "fmt": "o", "markersize": 4}
            ends = style.ends(rows, "difference")
            axes.errorbar(rows["difference"], shift + y, xerr=ends, label=label, **look)
        axes.axvline(0, color="0.3", linewidth=0.8)
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
        axes.set_yticks(y, rows["schedule"])
        axes.set_xlabel(f"priced gap minus that of {reference}")
    style.share_legend(figure, 4)
    return figure
