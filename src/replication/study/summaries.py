r"""Summaries of sweeps and schedules: what is read off runs, and how it spreads over seeds.

What is read off a run (:func:`averages`):

* averages over iterates :math:`0..T-1`, which the theorems bound;
* averages over the later half of them, which depend little on the start;
* what the dual step owes, :math:`\lambda^{(T)} / (\eta_2 T)`. Where the multiplier was not
  projected, the average violation is this plus the average of :math:`\hat h_c - (V_g - b)`, which
  is kept as `misread`;
* for the first two, the gap :math:`V_r^\star - V_r`, the violation :math:`b - V_g`, and the
  *priced gap* :math:`V_r^\star - V_r + \lambda^\star (b - V_g)`.

Gap and violation can be negative: an unsafe policy may earn more than the optimum. The priced gap
never is, by strong duality, and it is zero exactly where the Lagrangian at the optimal multiplier
is maximal; so it is what slopes on logarithmic axes are fitted to.
"""

import math

import numpy as np
import pandas as pd

from pgpd_hf import statistics
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.statistics import difference_interval, intervals, loglog_slope, power_with_floor

FASTER = ("at least as fast", "slower")  # a slope beside a promised exponent
LOWER = ("lower", "higher")  # a difference beside zero
QUANTITIES = ("gap", "violation", "priced_gap")
OUTCOMES = (*QUANTITIES, *(f"late_{name}" for name in QUANTITIES))
METRICS = (*OUTCOMES, "owed", "misread")
CURVE = ["sweep", "algorithm", "curve"]


def averages(traces, names=(), last_early=None):
    """What is kept of runs with the checkpoints of a sweep: a row of :data:`METRICS` for each."""
    length = traces["iterations"]
    # The last iteration that is not late: that before T/2. The only iterate of T = 1 is late.
    if last_early is None:
        last_early = (length // 2 - 1).clip(lower=0)

    def at(iteration):
        return traces[traces["iteration"] == iteration].reset_index(drop=True)

    # The average over iterates 0..t stands at iteration t.
    start, early, whole, table = at(0), at(last_early), at(length - 1), at(length)
    length = table["iterations"]
    half = (early["iteration"] + 1).clip(upper=length - 1)
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        table[name] = whole[f"mean_{column}"]
        sums = length * table[name] - half * early[f"mean_{column}"]
        table[f"late_{name}"] = sums / (length - half)
    table["start_priced_gap"] = priced_gap(start)
    for late in ("", "late_"):
        table[f"{late}priced_gap"] = priced_gap(table, f"{late}gap", f"{late}violation")
    table["owed"] = table["multiplier"] / (table["dual_step"] * length)
    table["misread"] = table["violation"] - table["owed"]
    if names:
        order = table["sweep"].map(names.index)
        table = table.iloc[order.argsort(kind="stable")].reset_index(drop=True)
    return table


def priced_gap(runs, gap="optimality_gap", violation="constraint_violation"):
    """Lagrangian gap at λ*, the optimal multiplier: gap and violation at this price."""
    return runs[gap] + runs["optimal_multiplier"] * runs[violation]


def means(table, metrics=METRICS, keys=(*CURVE, "axis", "value")):
    """Means over seeds of metrics of runs, with intervals: a row per case and metric."""
    costs = ["answers", "steps"]  # the same for all runs of a case
    found = intervals(table, [*keys, *costs], metrics)
    return found[[*keys, "metric", "mean", "low", "high", "seeds", *costs]]


def excess(runs, exact, keys, metrics=METRICS):
    """Subtract from each other run the `exact` one with the same algorithm, seed and `keys`."""
    # Streams are independent, so a difference has the noise of both runs.
    keys = ["algorithm", "seed", *keys]
    others = runs.loc[exact, [*keys, *metrics]]
    both = runs[~exact].merge(others, on=keys, suffixes=("", "_exact"), validate="many_to_one")
    for metric in metrics:
        both[metric] -= both.pop(f"{metric}_exact")
    return both


def slopes(table, metrics=METRICS, floor=False, keys=CURVE):
    """Slopes of log mean against the log of the axis by curve, and fits of a floor and a power."""
    rows = []  # infinity is no position on the axis, so such points are left out
    finite = table[table["value"] < math.inf]
    for key, group in finite.groupby(keys, sort=False, dropna=False):
        values = sorted(group["value"].unique())
        for metric in metrics:
            samples = [group.loc[group["value"] == x, metric].to_numpy() for x in values]
            row = [*key, metric, *loglog_slope(values, samples)]
            if floor:
                row += [number for part in power_with_floor(values, samples) for number in part]
            rows.append([*row, min(map(len, samples))])
    columns = [*keys, "metric", "slope", "slope_low", "slope_high"]
    if floor:
        columns += ["floor", "floor_low", "floor_high", "power", "power_low", "power_high"]
    return pd.DataFrame(rows, columns=[*columns, "seeds"])


def local_slopes(table, means, digits=2):
    """Slopes between neighbouring positions as text, whose spread a fitted slope hides."""
    # Where means oscillate, a fitted slope depends on the phase at which the positions lie. All
    # seeds oscillate alike, so an interval over seeds does not show this.
    keys = [*CURVE, "metric"]
    lines = dict(iter(means[means["value"] < math.inf].groupby(keys, sort=False)))
    texts = []
    for key in table[keys].itertuples(index=False, name=None):
        line = lines[key].sort_values("value")
        heights = np.log(line["mean"].where(line["mean"] > 0).to_numpy())
        found = np.diff(heights) / np.diff(np.log(line["value"].to_numpy()))
        texts.append(", ".join("—" if np.isnan(x) else f"{x:.{digits}f}" for x in found))
    return texts


def scale_slopes(table, scale):
    """Slopes of a function of the axis, fitted where the runs are, in the order of `slopes`."""
    found = []
    for _, group in table[table["value"] < math.inf].groupby(CURVE, sort=False):
        values = np.array(sorted(group["value"].unique()))
        found.append(loglog_slope(values, scale(values)[:, None])[0])
    return found


def side(low, high, edge, words=FASTER):
    """Say on which side of a value an interval lies: one of the two words, or "open"."""
    return statistics.verdict(high <= edge, low > edge, (*words, "open"))


def slope_verdicts(table, promised, words=FASTER):
    """Verdicts on slopes beside promised exponents (one, or one for each), or why there is none."""
    texts = []
    rows = table[["algorithm", "slope", "slope_low", "slope_high"]].itertuples(index=False)
    for row, edge in zip(rows, np.broadcast_to(promised, len(table)), strict=True):
        if math.isnan(row.slope):
            texts.append("no slope: a mean ≤ 0")
        elif not math.isnan(row.slope_low):
            texts.append(side(row.slope_low, row.slope_high, edge, words))
        elif get_algorithm(row.algorithm).limit_of:
            texts.append("no interval: exact")
        else:
            texts.append("no interval: one seed, or a resampled mean ≤ 0")
    return texts


def difference_verdicts(table):
    """Verdicts on differences beside zero; a dash for the reference, and for one seed."""
    ends = table[["difference_low", "difference_high"]].to_numpy(dtype=float)
    return [
        "—" if math.isnan(low) or math.isnan(high) else side(low, high, 0, LOWER)
        for low, high in ends
    ]


def outcomes(traces, share=0.1):
    """What schedules achieve: averages of runs whose late part is a share."""
    # Late are the iterates after the first (1 - share) T steps, or after the last checkpoint before
    # them, and one at least: iterates 901 to 999 of T = 1000 with a share of 0.1.
    length = traces["iterations"]
    last = ((1 - share) * length).clip(upper=length - 2).clip(lower=0)
    early = traces["iteration"].where(traces["iteration"] <= last)
    run = [traces[key] for key in ("algorithm", "schedule", "seed")]
    return averages(traces, last_early=early.groupby(run).transform("max"))


def spent(traces):
    """Means over seeds of the priced gap along runs, with what has been spent."""
    keys = ["algorithm", "schedule", "iteration", "answers", "steps"]
    return intervals(traces, keys, ["priced_gap"]).drop(columns=["metric", "seeds"])


def with_interval(table, name, digits=3):
    """Estimates of a table and their intervals as text for people."""
    rows = table.to_dict("records")
    return [statistics.with_interval(row, name, f".{digits}f") for row in rows]


def compare(results, reference):
    """Outcomes of schedules, and their differences from a reference's with Welch's intervals."""
    keys = ["algorithm", "schedule"]
    table = intervals(results, keys, OUTCOMES)
    groups = dict(iter(results.groupby(keys)))
    table[["difference", "difference_low", "difference_high"]] = [
        (0.0, np.nan, np.nan)
        if row.schedule == reference
        else difference_interval(
            groups[row.algorithm, row.schedule][row.metric],
            groups[row.algorithm, reference][row.metric],
        )
        for row in table.itertuples()
    ]
    return table
