"""One-sided t tests: is a statement shown to hold, shown not to hold, or neither?

A statement is reproduced if each of its contrasts is shown to lie in its interval (the largest p
value is at most the level), contradicted if a contrast is shown to lie outside (the smallest p
value, times their number), and else inconclusive. So either error has a chance of at most the
level. Runs of different algorithms or M are independent, but all runs on an instance are not.
"""

import numpy as np
import pandas as pd
from scipy import special
from verdicts.statements import GAP, VIOLATION, NotAsked, Part

WINDOWS = {  # shares of T
    "start": (0, 0),
    "second tenth": (0.1, 0.2),
    "first half": (0, 0.5),
    "third quarter": (0.5, 0.75),
    "last quarter": (0.75, 1),
    "whole": (0, 1),
}
COLUMNS = (
    *("data", "statement", "quote", "verdict", "estimate", "low", "high", "part", "above"),
    *("below", "p_reproduced", "p_contradicted", "replicates", "unit", "ratio_npgpd_hf"),
    *("ratio_zpgpd_hf", "source", "refuted_by", "why"),
)
_POINTS = 51  # of a window, at which curves are interpolated
_DECIMALS = 12  # so that equal runs have no variance


class Contrast(dict):
    """A weighted sum of means: the values of seeds, for each of the runs that are independent."""

    def __sub__(self, other):
        keys = {**self, **other}
        return Contrast({key: self.get(key, 0.0) - other.get(key, 0.0) for key in keys})

    def __rmul__(self, factor):
        return Contrast({key: factor * values for key, values in self.items()})

    def estimate(self):
        """Estimate, standard error and degrees of freedom (Welch, Satterthwaite)."""
        samples = [np.round(values, _DECIMALS) for values in self.values()]
        counts = np.array([len(sample) for sample in samples])
        if counts.min() < 2:
            raise NotAsked("a single run has no interval")
        value = round(float(sum(sample.mean() for sample in samples)), _DECIMALS)
        variances = np.array([sample.var(ddof=1) for sample in samples]) / counts
        error = float(np.sqrt(variances.sum()))
        if error < 10.0**-_DECIMALS:
            return value, 0.0, np.inf
        return value, error, float(variances.sum() ** 2 / (variances**2 / (counts - 1)).sum())


class Runs:
    """What statements are about: means of curves in units of panels' heights, and slopes in T.

    `traces` has the columns algorithm, evaluators, seed, iteration, and curves; runs on instances
    also have a column instance. `heights` has numbers by algorithm and curve; without it runs have
    their own. `slopes` is what :func:`slopes_by_seed` returns.
    """

    def __init__(self, traces=None, heights=None, slopes=None, columns=(GAP, VIOLATION)):
        self.slopes, self.own, self._curves, self._lengths = slopes or {}, heights is None, {}, {}
        if traces is None:
            return
        self.heights, self.paired = heights or own_heights(traces), "instance" in traces
        for (algorithm, m), group in traces.groupby(["algorithm", "evaluators"], sort=False):
            table = group.pivot(index="seed", columns="iteration", values=[*columns])
            self._lengths[algorithm] = group["iteration"].max()
            for it in columns:
                self._curves[algorithm, m, it] = table[it].columns.to_numpy(), table[it].to_numpy()

    def gap(self, algorithm, m, window, clock=None, beside=None):
        """Mean of the gap."""
        return self.mean(algorithm, m, GAP, window, clock, beside)

    def violation(self, algorithm, m, window):
        """Mean of the violation."""
        return self.mean(algorithm, m, VIOLATION, window)

    def mean(self, algorithm, m, column, window, clock=None, beside=None):
        """Mean over a window of the iterations of an algorithm, or of those of `clock`.

        The unit is the height of the panel, or the smaller height `beside` another algorithm's.
        """
        for name in (algorithm, clock or algorithm, beside or algorithm):
            if name not in self._lengths:
                raise NotAsked(f"no runs of {name}")
        if (algorithm, m, column) not in self._curves:
            raise NotAsked(f"no runs of {algorithm} with M = {m}")
        iterations, curves = self._curves[algorithm, m, column]
        height = min(self.heights[name][column] for name in (algorithm, beside or algorithm))
        ends = np.multiply(WINDOWS[window], self._lengths[clock or algorithm])
        if ends[1] > iterations[-1] or not height > 0:
            raise NotAsked(f"{algorithm} has a flat panel, or fewer iterations than {clock}")
        points = np.linspace(*ends, _POINTS)
        means = np.array([np.interp(points, iterations, curve).mean() for curve in curves])
        key = None if self.paired else (algorithm, m)
        return Contrast({key: np.round(means / height, _DECIMALS)})

    def slope(self, algorithm, rule, metric):
        """Slope of the logarithm of an average against log T."""
        values = self.slopes.get((algorithm, rule, metric))
        if values is None:
            raise NotAsked(f"no runs of {algorithm} for rates")
        if not np.isfinite(values).all():
            raise NotAsked("an average is not positive, so it has no logarithm")
        return Contrast({(algorithm, rule): values})


def own_heights(traces):
    """Largest minus smallest mean over seeds of each panel, by algorithm and curve."""
    means = traces.groupby(["algorithm", "evaluators", "iteration"])[[GAP, VIOLATION]].mean()
    panels = means.groupby("algorithm")
    return (panels.max() - panels.min()).to_dict("index")


def slopes_by_seed(traces, multiplier):
    """Slopes in T of the logarithms of averages, by algorithm, rule for the steps, and metric.

    A slope is a smooth function of the means over seeds. What a seed adds is the slope, and its
    derivative times the distance of the seed from the means: these values have the slope as their
    mean, and the variance of the delta method.
    """
    slopes, excess = {}, traces["mean_constraint_violation"]
    lagrangian_gap = traces["mean_optimality_gap"] + multiplier * excess
    traces = traces.assign(lagrangian_gap=lagrangian_gap, violation=excess.clip(lower=0))
    for key, group in traces.groupby(["algorithm", "step_rule"], sort=False):
        for metric in ("lagrangian_gap", "violation"):
            table = group.pivot(index="seed", columns="T", values=metric)
            logs, values = np.log(table.columns.to_numpy(dtype=float)), table.to_numpy()
            weights = (logs - logs.mean()) / ((logs - logs.mean()) ** 2).sum()
            means = np.where(values.mean(0) > 0, values.mean(0), np.nan)
            slopes[(*key, metric)] = (np.log(means) + values / means - 1) @ weights
    return slopes


def judge(statements, runs, level):
    """A row of :data:`COLUMNS` for each statement.

    Estimate and interval, beyond each end of which the truth lies with the probability `level`,
    are those of the part that contradicts; where all parts are shown, of the part that is nearest
    to an end of its range; or else of the part that is furthest from being shown.
    """
    rows = [_judge(statement, runs, level) for statement in statements]
    return pd.DataFrame(rows, columns=[*COLUMNS])


def _judge(statement, runs, level):
    names = ("quote", "source", "refuted_by")
    row = {"statement": statement.name} | {name: getattr(statement, name) for name in names}
    row["unit"] = "own" if runs.own else "declared"
    try:
        yielded = [*statement.parts(runs, statement.margin)]
        parts = [it for it in yielded if isinstance(it, Part)]
        estimates = [part.contrast.estimate() for part in parts]
    except NotAsked as reason:
        return row | {"verdict": "not asked", "why": str(reason)}
    inside, outside, distances = zip(*map(_test, parts, estimates), strict=True)
    shown, against = max(inside), min(1.0, len(parts) * min(outside))
    if shown <= level:  # then p values of all parts may be as good as zero
        ranks = distances
    else:  # of several parts with the same p value, the part that is furthest outside decides
        ranks = [*zip(outside if against <= level else np.negative(inside), distances, strict=True)]
    place = ranks.index(min(ranks))
    part, (value, error, freedom) = parts[place], estimates[place]
    half = float(special.stdtrit(freedom, 1 - level)) * error
    verdict = "contradicted" if against <= level else "inconclusive"
    row |= {"verdict": "reproduced" if shown <= level else verdict, "part": part.label}
    row |= {"estimate": value, "low": value - half, "high": value + half}
    row |= {"above": part.above, "below": part.below}
    row |= {"p_reproduced": shown, "p_contradicted": against}
    row["replicates"] = min(len(it) for part in parts for it in part.contrast.values())
    for beside in (it for it in yielded if isinstance(it, dict)):
        row |= beside
    return row


def _test(part, estimate):
    """P values of inside and of outside, and the distance to the nearest end, positive inside."""
    value, error, freedom = estimate
    ends = [it for it in (value - part.above, part.below - value) if np.isfinite(it)]
    if error == 0:
        return float(min(ends) <= 0), float(min(ends) > 0), min(ends)
    inside = special.stdtr(freedom, -np.divide(ends, error)).max()
    outside = special.stdtr(freedom, np.divide(ends, error)).min()
    return float(inside), min(1.0, len(ends) * float(outside)), min(ends)
