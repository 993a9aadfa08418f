r"""Evidence: statistics of the curves of runs, per seed or per instance.

A statistic is the mean of a curve over a window of the run, such as its last quarter. A contrast is
a weighted sum of statistics of several algorithms and numbers of evaluators. All values are in
units of the largest possible value, scale :math:`/(1-\gamma)`, so that a margin means the same in
any scale.

The unit of replication is the seed; for random instances it is the instance, and its seeds are
averaged first. Runs of different algorithms and M are independent, so the variances of their means
add up. All statistics of one instance are dependent, so contrasts are computed per instance.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf.statistics import error_of_sum

STATISTICS = {  # windows of a run, as shares of T
    "start": (0.0, 0.0),
    "second_tenth": (0.1, 0.2),
    "first_half": (0.0, 0.5),
    "third_quarter": (0.5, 0.75),
    "last_quarter": (0.75, 1.0),
    "whole": (0.0, 1.0),
}
COLUMNS = ("optimality_gap", "constraint_violation")
RATE_COLUMNS = ("gap", "violation")
_POINTS = 51  # points of a window at which a curve is interpolated
_DECIMALS = 12  # values are rounded, so that constant samples have no variance


class Undecidable(Exception):
    """The evidence cannot decide a statement; the message says why."""


@dataclass(frozen=True)
class Member:
    r"""Runs on one CMDP.

    Attributes
    ----------
    traces : pandas.DataFrame
        Rows of :func:`pgpd_hf.run`.
    value_bound : float
        Largest possible value.
    pairs : int
        :math:`|S||A|`.
    shift : float
        Added to the optimality gap; nonzero if the gap is to refer to another optimum.
    instance : int
        Number of the CMDP in its group.
    group : str
        Name of a group of random instances. Criteria that name no group use the first one.
    """

    traces: pd.DataFrame
    value_bound: float
    pairs: int
    shift: float = 0.0
    instance: int = 0
    group: str = ""


@dataclass(frozen=True)
class Term:
    """A statistic of the runs of one algorithm with one M.

    Attributes
    ----------
    algorithm : str
        Name of the algorithm.
    evaluators : int
        M.
    column : str
        One of :data:`COLUMNS`, or "questions": questions per iteration and state-action pair.
    statistic : str
        A key of :data:`STATISTICS`.
    clock : str, optional
        Algorithm whose T the window is a share of; by default the same algorithm.
    group : str, optional
        Group of instances; by default the first.
    """

    algorithm: str
    evaluators: int
    column: str
    statistic: str
    clock: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class Slope:
    """A slope of the sweep over T.

    Attributes
    ----------
    algorithm, steps : str
        Algorithm and step rule in the table of rates.
    evaluators : int or None
        M; None for infinitely many.
    column : str
        One of :data:`RATE_COLUMNS`.
    """

    algorithm: str
    steps: str
    evaluators: int | None
    column: str


class Contrast(dict):
    """A weighted sum: the weight of each term or slope.

    Examples
    --------
    >>> start, end = Contrast(start=1.0), Contrast(end=1.0)
    >>> start - 0.5 * end
    {'start': 1.0, 'end': -0.5}
    """

    def __sub__(self, other):
        total = Contrast(self)
        for term, weight in other.items():
            total[term] = total.get(term, 0.0) - weight
        return total

    def __rmul__(self, factor):
        return Contrast({term: factor * weight for term, weight in self.items()})


@dataclass(frozen=True)
class Estimate:
    """An estimated contrast.

    Attributes
    ----------
    value, error : float
        Estimate and standard error.
    freedom : float
        Degrees of freedom of the t distribution.
    single : ndarray, float64, shape (n,), optional
        The contrast of each unit alone, if all terms have the same units.
    """

    value: float
    error: float
    freedom: float
    single: np.ndarray | None = None

    def interval(self, level):
        """Confidence interval.

        Parameters
        ----------
        level : float
            Probability beyond each end, in (0, 0.5).

        Returns
        -------
        low, high : float
        """
        half = float(special.stdtrit(self.freedom, 1 - level) * self.error)
        return self.value - half, self.value + half


def evaluators_text(evaluators):
    """Number of evaluators in the text of a criterion.

    Parameters
    ----------
    evaluators : int or None
        M.

    Returns
    -------
    str
        "inf" for infinitely many.
    """
    return "inf" if evaluators is None else str(evaluators)


class Evidence:
    """Curves of the runs of one reading, or of many instances.

    Parameters
    ----------
    members : sequence of Member
        The CMDPs and their runs.
    unit : {"seed", "instance"}
        Unit of replication.
    curve : {"iterate", "average"}
        Whether a curve shows the iterate's value or the running average.
    violation : {"signed", "positive"}
        Whether negative violations count as zero.
    rates : pandas.DataFrame, optional
        Made by :func:`pgpd_hf.analyses.rates.slopes`.
    """

    def __init__(self, members, unit="seed", curve="iterate", violation="signed", rates=None):
        self.unit = unit
        self.rates = rates
        self.groups = list(dict.fromkeys(member.group for member in members))
        self._curves = {}
        for member in members:
            self._read(member, curve, violation)
        self._cache = {}

    def _read(self, member, curve, violation):
        prefix = {"iterate": "", "average": "mean_"}[curve]
        traces = member.traces
        for (algorithm, m), runs in traces.groupby(["algorithm", "evaluators"], sort=False):
            curves = runs.pivot(index="seed", columns="iteration")  # seeds down
            seeds, iterations = (curves["queries"].axes[k].to_numpy() for k in (0, 1))
            violations = curves[f"{prefix}constraint_violation"].to_numpy()
            if violation == "positive":
                violations = violations.clip(min=0)
            gaps = curves[f"{prefix}optimality_gap"].to_numpy() + member.shift
            asked = curves["queries"].to_numpy()[:, -1:] / m / iterations[-1] / member.pairs
            values = {
                "optimality_gap": gaps / member.value_bound,
                "constraint_violation": violations / member.value_bound,
                "questions": np.broadcast_to(asked, gaps.shape),
            }
            units = seeds
            if self.unit == "instance":
                values = {name: value.mean(0, keepdims=True) for name, value in values.items()}
                units = np.array([member.instance])
            key = (member.group, algorithm, int(m))
            self._curves.setdefault(key, []).append((units, iterations, values))

    def samples(self, term):
        """Value of a term for every unit.

        Parameters
        ----------
        term : Term
            The statistic.

        Returns
        -------
        units : ndarray
            Seeds or instances.
        values : ndarray, float64
            One per unit.

        Raises
        ------
        Undecidable
            If there are no such runs.
        """
        group = self.groups[0] if term.group is None else term.group
        key = (group, term.algorithm, term.evaluators)
        if group not in self.groups:
            raise Undecidable(f"there are no instances of the group {group!r}")
        if key not in self._curves:
            raise Undecidable(f"{term.algorithm} was not run with M = {term.evaluators}")
        name = (key, term.column, term.statistic, term.clock)
        if name not in self._cache:
            units, values = [], []
            for labels, iterations, curves in self._curves[key]:
                length = self._length(group, term.clock or term.algorithm)
                low, high = STATISTICS[term.statistic]
                points = np.linspace(low * length, high * length, _POINTS)
                units += list(labels)
                values += [np.interp(points, iterations, x).mean() for x in curves[term.column]]
            self._cache[name] = np.array(units), np.round(values, _DECIMALS)
        return self._cache[name]

    def _length(self, group, algorithm):
        """T of an algorithm."""
        for (other, name, _), runs in self._curves.items():
            if (other, name) == (group, algorithm):
                return runs[0][1][-1]
        raise Undecidable(f"{algorithm} was not run")

    def estimate(self, contrast):
        """Estimate a contrast.

        Parameters
        ----------
        contrast : Contrast
            Of terms, or of slopes.

        Returns
        -------
        Estimate

        Raises
        ------
        Undecidable
            If runs are missing, or too few for an interval.
        """
        if isinstance(next(iter(contrast)), Slope):
            return self._estimate_slopes(contrast)
        sums = {}
        for term, weight in contrast.items():
            units, values = self.samples(term)
            # All terms of one run are dependent, and so are all terms of one instance.
            run = () if self.unit == "instance" else (term.algorithm, term.evaluators)
            known, total = sums.get((term.group, *run), (units, np.zeros(len(units))))
            if not np.array_equal(known, units):
                raise Undecidable(f"the runs do not share their {self.unit}s")
            sums[term.group, *run] = units, total + weight * values
        samples = [np.round(total, _DECIMALS) for _, total in sums.values()]
        if min(map(len, samples)) < 2:
            raise Undecidable(f"one {self.unit} has no interval")
        labels = [units for units, _ in sums.values()]
        shared = all(np.array_equal(labels[0], other) for other in labels[1:])
        return Estimate(
            float(sum(sample.mean() for sample in samples)),
            *error_of_sum(samples),
            np.sum(samples, axis=0) if shared else None,
        )

    def _estimate_slopes(self, contrast):
        if self.rates is None:
            raise Undecidable("there is no sweep over T under this reading")
        value, variance = 0.0, 0.0
        for term, weight in contrast.items():
            m, table = term.evaluators, self.rates
            who = f"{term.algorithm} with M = {evaluators_text(m)}"
            row = table[
                (table["algorithm"] == term.algorithm)
                & (table["step_rule"] == term.steps)
                & (table["evaluators"].isna() if m is None else table["evaluators"].eq(m))
                & (table["metric"] == term.column)
            ]
            if row.empty:
                raise Undecidable(f"the sweep over T has no runs of {who}")
            slope, low, high = row.iloc[0][["slope", "low", "high"]].astype(float)
            if not np.isfinite([slope, low, high]).all():
                raise Undecidable(
                    f"the average {term.column} of {who} is not positive at every T, so it has no "
                    "slope"
                )
            value += weight * slope
            variance += (weight * (high - low) / 2 / special.ndtri(0.975)) ** 2
        return Estimate(value, float(np.sqrt(variance)), np.inf)
