r"""Evidence: statistics of the curves of runs, per seed or per instance, and entries of tables.

A statistic is the mean of a curve over a window of the run, such as its last quarter. A contrast is
a weighted sum of statistics of several algorithms and numbers of evaluators, or of entries of the
tables of analyses.

Values are in units of what the curve can do, so that a margin means the same on every CMDP: a gap
in units of the gap of the start, :math:`V_r^\star - V_r`, a violation in units of
:math:`\max_\pi V_g - \min_\pi V_g`, the multiplier in units of :math:`\lambda^\star`. Where
such a unit is not positive, statements about that curve are undecidable.

The unit of replication is the seed; for random instances it is the instance, and its seeds are
averaged first. Runs of different algorithms and M are independent, so the variances of their means
add up. All statistics of one instance are dependent, so contrasts are computed per instance.
"""

import copy
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.optima import utility_span
from pgpd_hf.statistics import ends_of, error_of_sum, student_power, student_quantile

STATISTICS = {  # windows of a run, as shares of T
    "start": (0.0, 0.0),
    "second_tenth": (0.1, 0.2),
    "first_half": (0.0, 0.5),
    "third_quarter": (0.5, 0.75),
    "last_quarter": (0.75, 1.0),
    "whole": (0.0, 1.0),
}
COLUMNS = {  # curves, and what they are measured in
    "optimality_gap": "V_r* − V_r, in units of V_r* − V_r of the start",
    "constraint_violation": "b − V_g, in units of max V_g − min V_g over all policies",
}
RATE_COLUMNS = ("gap", "violation", "priced_gap")
_MISSING_UNITS = {
    "optimality_gap": "the start is no worse than the optimum, so there is no gap to close",
    "constraint_violation": "all policies are equally safe",
    "multiplier": "the constraint does not bind, so the multiplier is compared with nothing",
}
_TINY = 1e-12  # units below it are rounding errors
_POINTS = 51  # points of a window at which a curve is interpolated
_DECIMALS = 12  # values are rounded, so that constant samples have no variance

# The runs of one algorithm and M on one CMDP. Units are seeds, or the instance; curves are divided
# by their scales; "unsafe" says that the start violates the constraint.
_Runs = namedtuple("_Runs", "units iterations curves scales unsafe")


class Undecidable(Exception):
    """The evidence cannot decide a statement; the message says why."""


@dataclass(frozen=True)
class Member:
    """Runs on one CMDP, all from the same start, one of several CMDPs in its group."""

    traces: pd.DataFrame  # as a reading looks at them; iteration 0 is among them
    utility_span: float  # max V_g - min V_g over all policies
    multiplier: float  # λ*
    states: int
    actions: int
    instance: int = 0
    group: str = ""

    @classmethod
    def on(cls, cmdp, multiplier, traces, **others):
        """Runs on a CMDP that is at hand."""
        return cls(traces, utility_span(cmdp), multiplier, cmdp.states, cmdp.actions, **others)


@dataclass(frozen=True)
class Term:
    """A statistic of the runs of one algorithm with one M."""

    algorithm: str
    evaluators: int
    column: str  # one of COLUMNS, "multiplier", or "questions" per iteration and pair (s, a)
    statistic: str  # a key of STATISTICS
    clock: str | None = None  # the algorithm whose T the window is a share of, if it is another one
    group: str | None = None  # of instances; by default the first
    violated: bool = False  # only where the start violates the constraint


@dataclass(frozen=True)
class TableEntry:
    """A number with a 95 % interval in the table of an analysis, which has a column `seeds`."""

    table: str  # name of the table, such as "rates"
    where: tuple  # pairs of a column and what stands there; None where nothing does
    name: str  # column of the number; its ends are in NAME_low and NAME_high, or in low and high
    per: str | None = None  # one of COLUMNS in whose unit the number is taken
    discounted: int = 0  # the number is multiplied by γ to this power


class Contrast(dict):
    """A weighted sum: the weight of each term, or of each entry of a table."""

    def __sub__(self, other):
        total = Contrast(self)
        for term, weight in other.items():
            total[term] = total.get(term, 0.0) - weight
        return total

    def __rmul__(self, factor):
        return Contrast({term: factor * weight for term, weight in self.items()})


@dataclass(frozen=True)
class Estimate:
    """An estimated contrast."""

    value: float
    error: float  # standard error
    freedom: float  # degrees of freedom of the t distribution
    units: int  # seeds or instances of the curve or entry that has fewest
    single: np.ndarray | None = None  # the contrast of each unit alone, if all terms share units

    def interval(self, tail):
        """Confidence interval, with the probability `tail` beyond each end."""
        half = student_quantile(1 - tail, self.freedom) * self.error
        return self.value - half, self.value + half

    def power(self, distance, level):
        """Probability that a one-sided test shows a difference of a given size."""
        return student_power(distance, self.error, self.freedom, level)


class Evidence:
    """Curves of the runs of one reading (units are seeds), or on many instances (the units)."""

    def __init__(self, members, unit="seed", tables=None, discount=None):
        self.unit = unit
        self.tables = tables or {}  # of analyses by name: rates, effects, slopes, schedules, ...
        self.discount = discount  # of the CMDP that the tables are about
        self.groups = list(dict.fromkeys(member.group for member in members))
        self._size = members[0].states, members[0].actions
        self._runs = {}  # lists of _Runs, one for each member, by group, algorithm and M
        for member in members:
            self._read(member)
        self._cache = {}
        self._drawn = {}  # units of a resample, by group

    def resample(self, random):
        """Draw as many units as there are, with replacement, the same for all runs of a group."""
        other = copy.copy(self)
        other._drawn = {}
        for (group, *_), runs in self._runs.items():
            units = np.concatenate([it.units for it in runs])
            if group not in other._drawn:
                other._drawn[group] = random.choice(units, len(units))
        return other

    def _read(self, member):
        pairs = member.states * member.actions
        for (algorithm, m), runs in member.traces.groupby(["algorithm", "evaluators"], sort=False):
            table = runs.pivot(index="seed", columns="iteration")  # seeds down
            units, iterations = (axis.to_numpy() for axis in table["answers"].axes)
            table = {name: table[name].to_numpy() for name in table.columns.levels[0]}
            asked = table["answers"][:, -1:] / m / iterations[-1] / pairs
            table["questions"] = np.broadcast_to(asked, table["answers"].shape)
            scales = {
                "optimality_gap": table["optimality_gap"][0, 0],
                "constraint_violation": member.utility_span,
                "multiplier": member.multiplier,
                "questions": 1.0,
            }
            curves = {name: table[name] / scale for name, scale in scales.items() if scale > _TINY}
            if self.unit == "instance":
                curves = {name: curve.mean(0, keepdims=True) for name, curve in curves.items()}
                units = np.array([member.instance])
            unsafe = table["constraint_violation"][0, 0] > 0
            key = (member.group, algorithm, int(m))
            self._runs.setdefault(key, []).append(_Runs(units, iterations, curves, scales, unsafe))

    def samples(self, term):
        """Units (seeds or instances), and the value of a term for each of them."""
        group = self.groups[0] if term.group is None else term.group
        key = (group, term.algorithm, term.evaluators)
        if group not in self.groups:
            raise Undecidable(
                f"not asked by this run: there are no instances of the group {group!r}"
            )
        if key not in self._runs:
            raise Undecidable(
                f"not asked by this run: {term.algorithm} was not run with M = {term.evaluators}"
            )
        runs = [it for it in self._runs[key] if term.column in it.curves]
        if not runs:
            raise Undecidable(_MISSING_UNITS[term.column])
        runs = [it for it in runs if it.unsafe or not term.violated]
        if not runs:
            raise Undecidable("the start is safe, so there is no violation to decrease")
        name = (key, term.column, term.statistic, term.clock, term.violated)
        if name not in self._cache:
            units, values = [], []
            length = self._length(group, term.clock or term.algorithm)
            window = [share * length for share in STATISTICS[term.statistic]]
            if window[1] > min(it.iterations[-1] for it in runs):
                raise Undecidable(
                    f"not asked by this run: {term.algorithm} ends before T of {term.clock}"
                )
            for it in runs:
                units += list(it.units)
                values += window_means(it.curves[term.column], it.iterations, *window)
            self._cache[name] = np.array(units), np.round(values, _DECIMALS)
        units, values = self._cache[name]
        if group not in self._drawn:
            return units, values
        drawn = self._drawn[group]
        known = np.isin(drawn, units)  # a criterion may leave units out
        return np.flatnonzero(known), values[np.searchsorted(units, drawn[known])]

    def _length(self, group, algorithm):
        """T of an algorithm."""
        for (other, name, _), runs in self._runs.items():
            if (other, name) == (group, algorithm):
                return runs[0].iterations[-1]
        raise Undecidable(f"not asked by this run: {algorithm} was not run")

    def estimate(self, contrast):
        """Estimate a contrast of terms, or of entries of tables."""
        if isinstance(next(iter(contrast)), TableEntry):
            return self._estimate_entries(contrast)
        sums = {}
        for term, weight in contrast.items():
            units, values = self.samples(term)
            # All terms of one run are dependent, and so are all terms of one instance.
            run = () if self.unit == "instance" else (term.algorithm, term.evaluators)
            known, total = sums.get((term.group, *run), (units, np.zeros(len(units))))
            if not np.array_equal(known, units):
                raise Undecidable(f"not decided: the runs do not share their {self.unit}s")
            sums[term.group, *run] = units, total + weight * values
        samples = [np.round(total, _DECIMALS) for _, total in sums.values()]
        if min(map(len, samples)) < 2:
            raise Undecidable(f"not decided: one {self.unit} has no interval")
        labels = [units for units, _ in sums.values()]
        shared = all(np.array_equal(labels[0], other) for other in labels[1:])
        return Estimate(
            float(sum(sample.mean() for sample in samples)),
            *error_of_sum(samples),
            min(map(len, samples)),
            np.sum(samples, axis=0) if shared else None,
        )

    def _estimate_entries(self, contrast):
        value, variance, freedom, units = 0.0, 0.0, np.inf, []
        for entry, weight in contrast.items():
            estimate, error, known, seeds = self._look_up(entry)
            if entry.per is not None:
                weight = weight / self._unit_of(entry.per)
            if entry.discounted:
                weight = weight * self.discount**entry.discounted
            value += weight * estimate
            variance += (weight * error) ** 2
            freedom = min(freedom, known)
            units.append(seeds)
        return Estimate(value, float(np.sqrt(variance)), freedom, min(units))

    def _look_up(self, entry):
        """Number, standard error, degrees of freedom and seeds of an entry."""
        if entry.table not in self.tables:
            raise Undecidable("not asked by this run; `make claims` has it")
        rows = self.tables[entry.table]
        for column, content in entry.where:
            rows = rows[rows[column].isna() if content is None else rows[column].eq(content)]
        place = ", ".join(f"{key} {'none' if x is None else x}" for key, x in entry.where)
        if rows.empty:
            raise Undecidable(f"not asked by this run: {entry.table}.csv has no row with {place}")
        if len(rows) > 1:
            raise Undecidable(f"not decided: {entry.table}.csv has several rows with {place}")
        row = rows.iloc[0]
        value, low, high = row[[entry.name, *ends_of(entry.name, row)]].astype(float)
        if not np.isfinite([value, low, high]).all():
            raise Undecidable(
                f"not decided: {entry.table}.csv has no {entry.name} with an interval for {place}, "
                "as where an average is not positive, or of one seed"
            )
        seeds = int(row["seeds"])
        freedom = seeds - 1 if entry.name == "mean" else np.inf
        return value, (high - low) / 2 / student_quantile(0.975, freedom), freedom, seeds

    def _unit_of(self, column):
        if not self._runs:
            raise Undecidable("not asked by this run: it has no finite M")
        *_, runs = self._runs.values()  # tables are about the only CMDP
        if runs[-1].scales[column] <= _TINY:
            raise Undecidable(_MISSING_UNITS[column])
        return runs[-1].scales[column]

    def questions(self, algorithm):
        """Questions per iteration and state-action pair that an algorithm asks with N = 1."""
        states, actions = self._size
        return get_algorithm(algorithm).effort(states, actions, 1)[1] / (states * actions)


def window_means(curves, iterations, first, last):
    """Mean of each curve from one iteration to another."""
    points = np.linspace(first, last, _POINTS)
    return [np.interp(points, iterations, curve).mean() for curve in curves]
