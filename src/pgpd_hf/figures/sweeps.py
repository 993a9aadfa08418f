"""Figures of sweeps and schedules, in the style of :mod:`pgpd_hf.figures.panels`."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.figures import style

QUANTITY_LABELS = {
    "gap": r"gap  $V_r^\star - V_r$",
    "violation": r"violation  $b - V_g$",
    "priced_gap": r"gap $+\ \lambda^\star$ violation",
    "misread": "misread by the dual step",
}
AXIS_LABELS = {
    "iterations": "iterations $T$",
    "evaluators": "people per question $M$",
    "pairs": "pairs per iteration $N$",
    "horizon": "horizon $H$",
    "states": r"states $|\mathcal{S}|$",
    "actions": r"actions $|\mathcal{A}|$",
}
_LEAST = 1e-9  # where intervals end on a logarithmic axis
_GUIDES = ["--", "-.", ":"]


def slopes_figure(means, algorithm, limit, power):
    """Violation and priced gap against T, beside the exact limit and the promised slope.

    Parameters
    ----------
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.summaries.means`, of one sweep over T.
    algorithm, limit : str
        The algorithm, and the exact method that is its limit.
    power : float
        The promised slope; drawn as a dashed line whose height means nothing.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = _panels(1, 2, 3.0)
    for axes, metric in zip(panels[0], ("violation", "priced_gap"), strict=True):
        chosen = means[means["algorithm"].eq(algorithm) & means["metric"].eq(metric)]
        exact = means[means["algorithm"].eq(limit) & means["metric"].eq(metric)]
        draw_sweep(axes, chosen, metric)
        lines = exact.groupby("curve", sort=False)
        for index, (curve, line) in enumerate(lines):
            axes.plot(
                line["value"],
                line["mean"].where(line["mean"] > 0),
                color="0.25",
                linewidth=1.1,
                linestyle=[":", (0, (3, 1, 1, 1)), "-"][index % 3],
                label=f"exact limit, {curve}" if curve else "exact limit",
            )
        ends = np.array([chosen["value"].min(), chosen["value"].max()])
        height = 1.3 * max(chosen["mean"].max(), exact["mean"].max())
        axes.plot(
            ends,
            height * (ends / ends[0]) ** power,
            color="0.5",
            linestyle=(0, (5, 3)),
            linewidth=1,
            label=f"promised slope {power:g}".replace("-", "−"),
        )
        _set_ticks(axes, {*chosen["value"], *exact["value"]})
        axes.set_title(get_algorithm(algorithm).label)
    style.share_legend(figure, 4)
    return figure


def costs_figure(lines):
    """Priced gap against T and against both costs.

    Parameters
    ----------
    lines : dict
        Rows of :func:`pgpd_hf.analyses.summaries.means` of one curve and metric, by label.

    Returns
    -------
    matplotlib.figure.Figure
    """
    figure, panels = _panels(1, 3, 2.8)
    costs = {"value": "iterations $T$", "queries": "human queries", "steps": "environment steps"}
    for axes, (cost, title) in zip(panels[0], costs.items(), strict=True):
        colors = style.crowd_colors(len(lines))
        for index, ((label, line), color) in enumerate(zip(lines.items(), colors, strict=True)):
            low, high = line["low"].clip(lower=_LEAST), line["high"]
            axes.fill_between(line[cost], low, high, color=color, alpha=0.15, linewidth=0)
            marker = style.MARKERS[index % len(style.MARKERS)]
            axes.plot(
                line[cost], line["mean"], color=color, marker=marker, markersize=3, label=label
            )
        axes.set(xscale="log", yscale="log", xlabel=title)
        heights = np.concatenate([line["mean"] for line in lines.values()])
        axes.set_ylim(0.5 * heights[heights > 0].min(), 2 * heights.max())
        style.plain_decades(axes)
    panels[0, 0].set_ylabel(QUANTITY_LABELS["priced_gap"])
    style.share_legend(figure, 2)
    return figure


def excess_figure(means, scales):
    r"""Excess over infinitely many people against M, with scales for its slope.

    Parameters
    ----------
    means : pandas.DataFrame
        Means of :func:`pgpd_hf.analyses.summaries.excess`.
    scales : dict
        Functions of M, by label; each is drawn through the middle point of the first curve.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(means["algorithm"].drop_duplicates())
    figure, panels = _panels(1, len(algorithms), 2.9)
    for axes, algorithm in zip(panels[0], algorithms, strict=True):
        chosen = means[means["algorithm"].eq(algorithm) & means["metric"].eq("priced_gap")]
        draw_sweep(axes, chosen, "priced_gap")
        last = chosen[chosen["curve"] == chosen["curve"].iloc[-1]]
        x, y = last["value"].to_numpy(), last["mean"].to_numpy()
        middle = len(x) // 2
        for (label, scale), dashes in zip(scales.items(), _GUIDES, strict=False):
            heights = scale(x)
            axes.plot(
                x,
                y[middle] * heights / heights[middle],
                color="0.35",
                linestyle=dashes,
                linewidth=1,
                label=label,
            )
        axes.set_ylabel(r"excess of gap $+\ \lambda^\star$ violation")
        axes.set_title(get_algorithm(algorithm).label)
    style.share_legend(figure, 5)
    return figure


def horizon_figure(means, predicted):
    """What the dual step misread, and what became of the policy, against H.

    Parameters
    ----------
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.summaries.means`, of one sweep over H.
    predicted : pandas.DataFrame
        By `horizon`: `misread`, `late_violation` and `late_gap`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(means["algorithm"].drop_duplicates())
    figure, panels = _panels(len(algorithms), 3, 2.3)
    for row, algorithm in zip(panels, algorithms, strict=True):
        chosen = means[means["algorithm"] == algorithm].assign(curve="measured")
        for axes, metric in zip(row, ("misread", "late_violation", "late_gap"), strict=True):
            draw_sweep(axes, chosen, metric, scale="linear")
            axes.plot(
                predicted["horizon"],
                predicted[metric],
                color="0.2",
                linestyle="--",
                linewidth=1.1,
                label="predicted",
            )
            axes.set_title(get_algorithm(algorithm).label)
    style.share_legend(figure, 4)
    return figure


def sweep_figure(means, metric="priced_gap"):
    """A metric of one sweep, one panel per algorithm, one line per curve.

    Parameters
    ----------
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.summaries.means`.
    metric : str
        A value of its column `metric`.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(means["algorithm"].drop_duplicates())
    figure, panels = _panels(1, len(algorithms), 2.7)
    for axes, algorithm in zip(panels[0], algorithms, strict=True):
        draw_sweep(axes, means[means["algorithm"] == algorithm], metric)
        axes.set_title(get_algorithm(algorithm).label)
    style.share_legend(figure, 4)
    return figure


def sizes_figure(means):
    """What is left of the priced gap of the start, against |S| and |A|.

    Parameters
    ----------
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.summaries.means`, of sweeps over
        sizes, in shares of the start.

    Returns
    -------
    matplotlib.figure.Figure
    """
    names = list(means["sweep"].drop_duplicates())
    figure, panels = _panels(1, len(names), 2.7)
    for axes, name in zip(panels[0], names, strict=True):
        chosen = means[means["sweep"] == name]
        labels = [get_algorithm(algorithm).label for algorithm in chosen["algorithm"]]
        draw_sweep(axes, chosen.assign(curve=labels), "priced_gap")
        axes.set_ylabel("share of the start that is left")
    style.share_legend(figure, 4)
    return figure


def schedules_figure(curves, schedules):
    """Priced gap of the iterate against what has been spent.

    Parameters
    ----------
    curves : pandas.DataFrame
        Means and intervals by algorithm, schedule and iteration, with both costs.
    schedules : list of str
        Those to draw.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(curves["algorithm"].drop_duplicates())
    figure, panels = _panels(len(algorithms), 2, 2.4)
    costs = {"queries": "human queries", "steps": "environment steps"}
    for row, algorithm in zip(panels, algorithms, strict=True):
        for axes, (cost, label) in zip(row, costs.items(), strict=True):
            for name, color in zip(schedules, style.crowd_colors(len(schedules)), strict=True):
                line = curves[curves["algorithm"].eq(algorithm) & curves["schedule"].eq(name)]
                axes.fill_between(
                    line[cost], line["low"], line["high"], color=color, alpha=0.15, linewidth=0
                )
                axes.plot(line[cost], line["mean"], color=color, label=name)
            axes.set_ylim(0, 1.15 * line["mean"].max())
            axes.set_xlim(0, line[cost].max())
            axes.xaxis.set_major_formatter(mpl.ticker.EngFormatter(sep=""))
            axes.set_xlabel(label)
            axes.set_title(get_algorithm(algorithm).label)
        row[0].set_ylabel(QUANTITY_LABELS["priced_gap"])
    style.share_legend(figure, 4)
    return figure


def differences_figure(compared, reference):
    """Differences of schedules from a reference, with intervals.

    Parameters
    ----------
    compared : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.summaries.compare`.
    reference : str
        The schedule that the others are compared to.

    Returns
    -------
    matplotlib.figure.Figure
    """
    algorithms = list(compared["algorithm"].drop_duplicates())
    figure, panels = _panels(1, len(algorithms), 2.3)
    parts = {"priced_gap": "average over the run", "late_priced_gap": "last tenth"}
    for axes, algorithm in zip(panels[0], algorithms, strict=True):
        chosen = compared[compared["algorithm"].eq(algorithm) & compared["schedule"].ne(reference)]
        for (metric, label), color, shift in zip(
            parts.items(), style.crowd_colors(2), (0.14, -0.14), strict=True
        ):
            rows = chosen[chosen["metric"] == metric]
            centre = rows["difference"]
            axes.errorbar(
                centre,
                shift - np.arange(len(rows)),
                xerr=[centre - rows["difference_low"], rows["difference_high"] - centre],
                color=color,
                fmt="o",
                markersize=4,
                label=label,
            )
        axes.axvline(0, color="0.3", linewidth=0.8)
        axes.xaxis.set_major_locator(mpl.ticker.MaxNLocator(5))
        axes.set_yticks(-np.arange(len(rows)), rows["schedule"])
        axes.set_xlabel(f"priced gap minus that of {reference}")
        axes.set_title(get_algorithm(algorithm).label)
    style.share_legend(figure, 4)
    return figure


def draw_sweep(axes, means, metric, *, scale="log"):
    """Draw a metric of a sweep against its axis, one line per curve, with intervals over seeds.

    Infinity has its place, and tick, one step beyond the largest number.

    Parameters
    ----------
    axes : matplotlib.axes.Axes
        Where to draw; its horizontal axis becomes logarithmic.
    means : pandas.DataFrame
        Made by :func:`pgpd_hf.analyses.sweeps.means`, of one sweep.
    metric : str
        A value of its column `metric`.
    scale : {"log", "linear"}
        Of the vertical axis; where it is logarithmic, means that are not positive are left out.
    """
    chosen = means[means["metric"] == metric]
    curves = list(chosen["curve"].drop_duplicates())
    if len(curves) == 1:
        colors = dict.fromkeys(curves, style.ALONE)
    else:
        colors = dict(zip(curves, style.crowd_colors(len(curves)), strict=True))
    for index, curve in enumerate(curves):
        line = chosen[chosen["curve"] == curve]
        place = _places(line["value"])
        high = line["high"].fillna(line["mean"])
        low = line["low"].fillna(line["mean"]).clip(lower=_LEAST if scale == "log" else None)
        shown = (line["mean"] > 0).to_numpy() | (scale == "linear")
        axes.fill_between(
            place, low, high, where=shown, color=colors[curve], alpha=0.18, linewidth=0
        )
        axes.plot(
            place[shown],
            line["mean"][shown],
            color=colors[curve],
            marker=style.MARKERS[index % len(style.MARKERS)],
            markersize=3.4,
            label=curve or None,
        )
    axes.set_xscale("log")
    _set_ticks(axes, set(chosen["value"]))
    axes.set_yscale(scale)
    positive = chosen.loc[chosen["mean"] > 0, "mean"]
    if scale == "linear":
        axes.axhline(0, color="0.3", linewidth=0.8)
    elif len(positive):
        axes.set_ylim(0.4 * positive.min(), 2.5 * positive.max())
        style.plain_decades(axes)
    axes.set_xlabel(AXIS_LABELS[chosen["axis"].iloc[0]])
    axes.set_ylabel(QUANTITY_LABELS[metric.removeprefix("late_")])


def _panels(rows, columns, height):
    """Empty panels, two columns of a page wide; the height is that of a row, in inches."""
    size = (style.TWO_COLUMNS, height * rows)
    return plt.subplots(rows, columns, figsize=size, squeeze=False)


def _places(values):
    """Where values stand on a logarithmic axis: infinity one step beyond the largest number."""
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    return np.append(finite, finite[-1] ** 2 / finite[-2])[: len(values)]


def _set_ticks(axes, values):
    """Put a tick at each value of the horizontal axis, and none between."""
    values = sorted(values)
    axes.set_xticks(_places(values), [_tick(value) for value in values], minor=False)
    axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())


def _tick(value):
    """Name a value of the horizontal axis."""
    if np.isinf(value):
        return "∞"
    return f"{value / 1000:.0f}k" if value % 1000 == 0 else f"{value:.0f}"
