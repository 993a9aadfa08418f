"""Figure of rates: averages over runs against T, beside the slopes that the theorems promise."""

import matplotlib as mpl
import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from replication.figures import style

_RULE_STYLES = {"study": "-", "theorem": ":"}


def rates_figure(means):
    """Averages against T on logarithmic axes: algorithms down, metrics across."""
    # A dashed line has the slope that the algorithm's theorem promises; its height has no meaning.
    metrics = list(means["metric"].drop_duplicates())
    numbers, known = pd.factorize(means["evaluators"], use_na_sentinel=False)
    colors = style.colors(len(known))
    means = means.assign(number=numbers)
    figure, rows = style.algorithm_panels(means, 2.5, len(metrics))
    for algorithm, table, panels in rows:
        for axes, metric in zip(panels, metrics, strict=True):
            chosen = table[table["metric"] == metric]
            for (rule, number), line in chosen.groupby(["step_rule", "number"], sort=False):
                positive = line[line["mean"] > 0]
                label = style.evaluators_label(known[number])
                axes.errorbar(
                    positive["iterations"],
                    positive["mean"],
                    yerr=style.ends(positive, "mean"),
                    color=colors[number],
                    linestyle=_RULE_STYLES[rule],
                    marker=style.marker(number),
                    markersize=3.2,
                    elinewidth=0.8,
                    label=f"{label}, steps of the {rule}",
                )
            axes.set(xscale="log", xlabel="iterations $T$", ylabel=f"average {metric}")
            axes.set_xticks(chosen["iterations"].unique(), minor=False)
            axes.xaxis.set_major_formatter("{x:,.0f}")
            axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())
            if not (chosen["mean"] > 0).any():  # the violation, if the constraint does not bind
                axes.set_yticks([])
                axes.text(0.5, 0.5, "no average is positive", transform=axes.transAxes, ha="center")
                continue
            axes.set_yscale("log", nonpositive="clip")
            rate = get_algorithm(algorithm).rate
            if rate is not None:
                ends = np.array([chosen["iterations"].min(), chosen["iterations"].max()], float)
                line = chosen["high"].max() * (ends / ends[0]) ** rate
                axes.plot(ends, line, "--", color="0.4", linewidth=1, label="promised slope")
            style.plain_decades(axes.yaxis)
    style.share_legend(figure, 3)
    return figure
