r"""Evidence: numbers per seed or per instance, read off the curves of runs.

A statistic is the mean of a curve over a window of the run, such as its last quarter. A contrast is
a weighted sum of such means over algorithms and numbers of evaluators. All values are in units of
the largest possible value, scale :math:`/(1-\gamma)`, so that a margin means the same in any scale.

The unit of replication is the seed; for random instances it is the instance, whose seeds are
averaged first. Seeds of different algorithms and M are independent, so their errors add; all
numbers of one instance belong together, and are subtracted from each other instance by instance.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

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
_POINTS = 51  # of a window
_DECIMALS = 12  # beyond them, equal values differ by rounding only


class Undecidable(Exception):
    """The evidence cannot decide; the message says why."""


@dataclass(frozen=True)
class Member:
    r"""Runs on one process.

    Attributes
    ----------
    traces : pandas.DataFrame
        Rows of :func:`pgpd_hf.run`.
    value_bound : float
        Largest possible value.
    pairs : int
        :math:`|S||A|`.
    shift : float
        Added to the optimality gap: nonzero if it refers to another optimum.
    instance : int
        Which process of its group.
    group : str
        Processes of the same kind; the first group of the evidence is what criteria look at unless
        they name another.
    """

    traces: pd.DataFrame
    value_bound: float
    pairs: int
    shift: float = 0.0
    instance: int = 0
    group: str = ""


@dataclass(frozen=True)
class Term:
    """One weighted number of a contrast.

    Attributes
    ----------
    weight : float
        Its factor.
    algorithm : str
        Whose runs.
    evaluators : int
        M.
    column : str
        One of :data:`COLUMNS`, or "questions": questions per iteration and state-action pair.
    statistic : str
        A key of :data:`STATISTICS`.
    clock : str, optional
        The window is a share of this algorithm's T.
    group : str, optional
        Of processes; by default the first.
    """

    weight: float
    algorithm: str
    evaluators: int
    column: str
    statistic: str
    clock: str | None = None
    group: str | None = None


@dataclass(frozen=True)
class SlopeTerm:
    """One weighted slope of the sweep over T.

    Attributes
    ----------
    weight : float
        Its factor.
    algorithm, steps, evaluators, column : str
        Row of the table of rates: algorithm, step_rule, crowd and metric.
    """

    weight: float
    algorithm: str
    steps: str
    evaluators: str
    column: str


@dataclass(frozen=True)
class Estimate:
    """A contrast as measured.

    Attributes
    ----------
    value, error : float
        Estimate and its standard error.
    freedom : float
        Degrees of freedom.
    single : ndarray, float64, shape (n,), optional
        What each unit alone would have shown.
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
            Probability beyond each end.

        Returns
        -------
        low, high : float
        """
        half = 0.0
        if self.error > 0:
            half = float(stats.t.ppf(1 - level, self.freedom) * self.error)
        return self.value - half, self.value + half


class Evidence:
    """What the runs of one reading, or of many instances, show.

    Parameters
    ----------
    members : sequence of Member
        The processes and their runs.
    unit : {"seed", "instance"}
        What is replicated.
    curve : {"iterate", "average"}
        Whether a curve is the iterate's value or the running average.
    violation : {"signed", "positive"}
        Whether negative violations count as zero.
    rates : pandas.DataFrame, optional
        Made by :func:`pgpd_hf.analyses.rates.slopes`; `crowd` is text.
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
        for (algorithm, people), runs in traces.groupby(["algorithm", "evaluators"], sort=False):
            runs = runs.sort_values(["seed", "iteration"])
            seeds = runs["seed"].unique()
            shape = (len(seeds), -1)
            iterations = runs["iteration"].to_numpy().reshape(shape)[0]
            gap = (runs[f"{prefix}optimality_gap"].to_numpy().reshape(shape)) + member.shift
            unsafe = runs[f"{prefix}constraint_violation"].to_numpy().reshape(shape)
            if violation == "positive":
                unsafe = unsafe.clip(min=0)
            asked = runs["queries"].to_numpy().reshape(shape)[:, -1:] / people
            values = {
                "optimality_gap": gap / member.value_bound,
                "constraint_violation": unsafe / member.value_bound,
                "questions": np.broadcast_to(
                    asked / iterations[-1] / member.pairs, (len(seeds), len(iterations))
                ),
            }
            units = seeds
            if self.unit == "instance":
                values = {name: value.mean(0, keepdims=True) for name, value in values.items()}
                units = np.array([member.instance])
            key = (member.group, algorithm, int(people))
            self._curves.setdefault(key, []).append((units, iterations, values))

    def start(self, column, algorithm, evaluators):
        """Mean value before the first update.

        Parameters
        ----------
        column, algorithm : str
            Of which curve.
        evaluators : int
            M.

        Returns
        -------
        float
        """
        return float(self.samples(Term(1, algorithm, evaluators, column, "start"))[1].mean())

    def samples(self, term):
        """Value of one term for every unit, without its weight.

        Parameters
        ----------
        term : Term
            What is asked.

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
                for label, curve in zip(labels, curves[term.column], strict=True):
                    units.append(label)
                    values.append(np.interp(points, iterations, curve).mean())
            self._cache[name] = np.array(units), np.round(values, _DECIMALS)
        return self._cache[name]

    def _length(self, group, algorithm):
        """T of an algorithm."""
        for (other, name, _), runs in self._curves.items():
            if (other, name) == (group, algorithm):
                return runs[0][1][-1]
        raise Undecidable(f"{algorithm} was not run")

    def estimate(self, terms):
        """Estimate a contrast.

        Parameters
        ----------
        terms : sequence of Term or SlopeTerm
            What is added up.

        Returns
        -------
        Estimate

        Raises
        ------
        Undecidable
            If the runs are missing, or too few for an interval.
        """
        if isinstance(terms[0], SlopeTerm):
            return self._slope(terms)
        sums = {}
        for term in terms:
            units, values = self.samples(term)
            # Numbers of one run belong together, and so do all numbers of one instance.
            run = () if self.unit == "instance" else (term.algorithm, term.evaluators)
            known, total = sums.get((term.group, *run), (units, np.zeros(len(units))))
            if not np.array_equal(known, units):
                raise Undecidable(f"the runs do not share their {self.unit}s")
            sums[term.group, *run] = units, total + term.weight * values
        samples = [np.round(total, _DECIMALS) for _, total in sums.values()]
        least = min(len(sample) for sample in samples)
        if least < 2:
            raise Undecidable(f"one {self.unit} has no interval")
        variances = np.array([sample.var(ddof=1) / len(sample) for sample in samples])
        freedom = np.inf
        if variances.sum() > 0:  # Welch and Satterthwaite
            shares = variances**2 / np.array([len(sample) - 1 for sample in samples])
            freedom = variances.sum() ** 2 / shares.sum()
        labels = [units for units, _ in sums.values()]
        shared = all(np.array_equal(labels[0], other) for other in labels[1:])
        return Estimate(
            float(sum(sample.mean() for sample in samples)),
            float(np.sqrt(variances.sum())),
            float(freedom),
            np.sum(samples, axis=0) if shared else None,
        )

    def _slope(self, terms):
        if self.rates is None:
            raise Undecidable("there is no sweep over T under this reading")
        value, variance = 0.0, 0.0
        for term in terms:
            table = self.rates
            row = table[
                (table["algorithm"] == term.algorithm)
                & (table["step_rule"] == term.steps)
                & (table["crowd"] == term.evaluators)
                & (table["metric"] == term.column)
            ]
            if row.empty:
                raise Undecidable(
                    f"the sweep over T has no runs of {term.algorithm} with M = {term.evaluators}"
                )
            slope, low, high = row.iloc[0][["slope", "low", "high"]].astype(float)
            if not np.isfinite([slope, low, high]).all():
                raise Undecidable(
                    f"the average {term.column} of {term.algorithm} with M = {term.evaluators} is "
                    "not positive at every T, so it has no slope"
                )
            value += term.weight * slope
            variance += (term.weight * (high - low) / 2 / stats.norm.ppf(0.975)) ** 2
        return Estimate(value, float(np.sqrt(variance)), np.inf)
