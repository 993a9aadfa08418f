"""Figures of sweeps: what runs achieve against T, M, N, H, |S| or |A|."""

import matplotlib as mpl
import numpy as np

from pgpd_hf.algorithms import get_algorithm
from replication.figures import style

QUANTITY_LABELS = {
    "gap": r"gap  $V_r^\star - V_r$",
    "violation": r"violation  $b - V_g$",
    "priced_gap": r"gap $+\ \lambda^\star$ violation",
    "misread": r"bias of $\hat{h}_c$",
}
AXIS_LABELS = {
    "iterations": "iterations $T$",
    "evaluators": "evaluators per question $M$",
    "rounds": "rounds per iteration $N$",
    "horizon": "horizon $H$",
    "states": r"states $|\mathcal{S}|$",
    "actions": r"actions $|\mathcal{A}|$",
}
_LEAST = 1e-9  # lower end of intervals on a logarithmic axis
_GUIDES = ["--", "-.", ":"]


def slopes_figure(means, algorithm, limit, power):
    """Violation and priced gap against T, beside the exact limit and the promised slope."""
    figure, panels = style.panels(1, 2, 3.0)
    for axes, metric in zip(panels[0], ("violation", "priced_gap"), strict=True):
        chosen = style.choose(means, algorithm=algorithm, metric=metric)
        exact = style.choose(means, algorithm=limit, metric=metric)
        draw_sweep(axes, chosen, metric)
        for index, (curve, line) in enumerate(exact.groupby("curve", sort=False)):
            dashes = [":", (0, (3, 1, 1, 1)), "-"][index % 3]
            label = f"exact limit, {curve}" if curve else "exact limit"
            _guide(axes, line["value"], line["mean"].where(line["mean"] > 0), "0.25", dashes, label)
        ends = np.array([chosen["value"].min(), chosen["value"].max()])
        height = 1.3 * max(chosen["mean"].max(), exact["mean"].max())
        label = f"promised slope {power:g}".replace("-", "−")
        _guide(axes, ends, height * (ends / ends[0]) ** power, "0.5", (0, (5, 3)), label, 1)
        _set_ticks(axes, {*chosen["value"], *exact["value"]})
        axes.set_title(get_algorithm(algorithm).label)
    style.share_legend(figure, 4)
    return figure


def costs_figure(lines):
    """Priced gap against T and against both costs."""
    figure, panels = style.panels(1, 3, 2.8)
    costs = {"value": "iterations $T$", "answers": "answers", "steps": "environment steps"}
    for axes, (cost, title) in zip(panels[0], costs.items(), strict=True):
        colors = style.colors(len(lines))
        for index, ((label, line), color) in enumerate(zip(lines.items(), colors, strict=True)):
            style.band(axes, line[cost], line["low"].clip(lower=_LEAST), line["high"], color, 0.15)
            look = {"color": color, "marker": style.marker(index), "markersize": 3}
            axes.plot(line[cost], line["mean"], label=label, **look)
        axes.set(xscale="log", yscale="log", xlabel=title)
        heights = np.concatenate([line["mean"] for line in lines.values()])
        axes.set_ylim(0.5 * heights[heights > 0].min(), 2 * heights.max())
        style.plain_decades(axes.yaxis)
    panels[0, 0].set_ylabel(QUANTITY_LABELS["priced_gap"])
    style.share_legend(figure, 2)
    return figure


def excess_figure(means, scales):
    """Excess over M = ∞ against M, beside functions of M with which it may scale."""
    figure, panels = style.algorithm_panels(means, 2.9)
    for _, table, (axes,) in panels:
        chosen = table[table["metric"] == "priced_gap"]
        draw_sweep(axes, chosen, "priced_gap")
        last = chosen[chosen["curve"] == chosen["curve"].iloc[-1]]
        x, y = last["value"].to_numpy(), last["mean"].to_numpy()
        middle = len(x) // 2
        for (label, scale), dashes in zip(scales.items(), _GUIDES, strict=False):
            heights = scale(x)
            _guide(axes, x, y[middle] * heights / heights[middle], "0.35", dashes, label, 1)
        axes.set_ylabel(r"excess of gap $+\ \lambda^\star$ violation")
    style.share_legend(figure, 5)
    return figure


def estimators_figure(errors):
    """Largest bias and standard deviation of an answer against M, for each estimator."""
    figure, panels = style.panels(1, 2, 2.8)
    labels = {"plug-in": "as printed (plug-in)", "unbiased": "power series (unbiased)"}
    titles = {"bias": "largest |bias| of an answer", "deviation": "largest standard deviation"}
    for axes, (quantity, title) in zip(panels[0], titles.items(), strict=True):
        for index, (estimator, rows) in enumerate(errors.groupby("estimator", sort=False)):
            look = {"color": style.colors(2)[index], "marker": style.marker(index)}
            x, y = rows["evaluators"], rows[quantity]
            axes.plot(x, y, label=labels[estimator], markersize=3.4, **look)
        axes.set(xscale="log", yscale="log", xlabel=AXIS_LABELS["evaluators"], ylabel=title)
        _set_ticks(axes, sorted(set(errors["evaluators"]))[::2])
    style.plain_decades(panels[0, 1].yaxis)
    panels[0, 0].yaxis.set_minor_locator(mpl.ticker.NullLocator())
    printed = errors[errors["estimator"] == "plug-in"]
    x, y = printed["evaluators"], printed["promised"].where(printed["evaluators"] > 1)
    _guide(panels[0, 0], x, y, "0.35", "--", "the paper's bound of the bias", 1)
    style.share_legend(figure, 3)
    return figure


def horizon_figure(means, predicted):
    """Misread utility, violation and gap of the later half against H, beside predictions."""
    figure, panels = style.algorithm_panels(means.assign(curve="measured"), 2.3, 3)
    for _, chosen, row in panels:
        for axes, metric in zip(row, ("misread", "late_violation", "late_gap"), strict=True):
            draw_sweep(axes, chosen, metric, scale="linear")
            _guide(axes, predicted["horizon"], predicted[metric], "0.2", "--", "predicted")
    style.share_legend(figure, 4)
    return figure


def sweep_figure(means, metric="priced_gap"):
    """A metric of one sweep, one panel per algorithm, one line per curve."""
    figure, panels = style.algorithm_panels(means, 2.7)
    for _, table, (axes,) in panels:
        draw_sweep(axes, table, metric)
    style.share_legend(figure, 4)
    return figure


def sizes_figure(means):
    """Remaining share of the initial priced gap, against |S| and against |A|."""
    names = list(means["sweep"].drop_duplicates())
    figure, panels = style.panels(1, len(names), 2.7)
    for axes, name in zip(panels[0], names, strict=True):
        chosen = means[means["sweep"] == name]
        labels = [get_algorithm(algorithm).label for algorithm in chosen["algorithm"]]
        draw_sweep(axes, chosen.assign(curve=labels), "priced_gap")
        axes.set_ylabel("share of the start that is left")
    style.share_legend(figure, 4)
    return figure


def draw_sweep(axes, means, metric, *, scale="log"):
    """Draw a metric of a sweep, one line per curve, with intervals over seeds."""
    # Infinity is drawn, with its own tick, one step beyond the largest number. On a logarithmic
    # axis means that are not positive are left out.
    chosen = means[means["metric"] == metric]
    curves = list(chosen["curve"].drop_duplicates())
    colors = style.colors(len(curves)) if len(curves) > 1 else [style.ALONE]
    for index, (curve, color) in enumerate(zip(curves, colors, strict=True)):
        line = chosen[chosen["curve"] == curve]
        place = _places(line["value"])
        high = line["high"].fillna(line["mean"])
        low = line["low"].fillna(line["mean"]).clip(lower=_LEAST if scale == "log" else None)
        shown = (line["mean"] > 0).to_numpy() | (scale == "linear")
        style.band(axes, place, low, high, color, 0.18, where=shown)
        look = {"color": color, "marker": style.marker(index), "markersize": 3.4}
        axes.plot(place[shown], line["mean"][shown], label=curve or None, **look)
    axes.set(
        xscale="log",
        yscale=scale,
        xlabel=AXIS_LABELS[chosen["axis"].iloc[0]],
        ylabel=QUANTITY_LABELS[metric.removeprefix("late_")],
    )
    _set_ticks(axes, set(chosen["value"]))
    positive = chosen.loc[chosen["mean"] > 0, "mean"]
    if scale == "linear":
        style.zero_line(axes)
    elif len(positive):
        axes.set_ylim(0.4 * positive.min(), 2.5 * positive.max())
        style.plain_decades(axes.yaxis)


def _guide(axes, x, y, color, linestyle, label, linewidth=1.1):
    """Draw a line for comparison."""
    axes.plot(x, y, color=color, linestyle=linestyle, linewidth=linewidth, label=label)


def _places(values):
    """Positions on a logarithmic axis: infinity is one step beyond the largest number."""
    values = np.asarray(values, dtype=float)
    finite = values[np.isfinite(values)]
    beyond = finite[-1] ** 2 / finite[-2] if len(finite) > 1 else 2 * finite[-1]
    return np.append(finite, beyond)[: len(values)]


def _set_ticks(axes, values):
    """Put ticks on the horizontal axis at the values only."""
    values = sorted(values)
    axes.set_xticks(_places(values), [_tick(value) for value in values], minor=False)
    axes.xaxis.set_minor_locator(mpl.ticker.NullLocator())


def _tick(value):
    """Label of a value on the horizontal axis."""
    if np.isinf(value):  # Only M can be infinite.
        return style.evaluators_number(None)
    return f"{value / 1000:.0f}k" if value % 1000 == 0 else f"{value:.0f}"
