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
from scipy import special

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.optima import utility_span
from pgpd_hf.statistics import error_of_sum

STATISTICS = {  # windows of a run, as shares of T
    "start": (0.0, 0.0),
    "second_tenth": (0.1, 0.2),
    "first_half": (0.0, 0.5),
    "third_quarter": (0.5, 0.75),
    "last_quarter": (0.75, 1.0),
    "whole": (0.0, 1.0),
}
COLUMNS = {  # of curves, and what they are measured in
    "optimality_gap": "V_r* − V_r, in units of V_r* − V_r of the start",
    "constraint_violation": "b − V_g, in units of max V_g − min V_g over all policies",
}
RATE_COLUMNS = ("gap", "violation", "priced_gap")
_MISSING_UNITS = {
    "optimality_gap": "the start is no worse than the optimum, so there is no gap to close",
    "constraint_violation": "all policies are equally safe",
    "multiplier": "the constraint does not bind, so the multiplier is compared with nothing",
}
_NOT_HERE = "not asked by this run"
_TINY = 1e-12  # units below it are rounding errors
_POINTS = 51  # points of a window at which a curve is interpolated
_DECIMALS = 12  # values are rounded, so that constant samples have no variance

# Of one algorithm and M on one CMDP: seeds, or the instance; iterations; curves by column, divided
# by their scales; these scales; whether the start violates the constraint.
_Runs = namedtuple("_Runs", "units iterations curves scales unsafe")


class Undecidable(Exception):
    """The evidence cannot decide a statement; the message says why."""


@dataclass(frozen=True)
class Member:
    r"""Runs on one CMDP, all from the same start.

    Attributes
    ----------
    traces : pandas.DataFrame
        Rows of :func:`pgpd_hf.run`, those of iteration 0 among them.
    utility_span : float
        :math:`\max_\pi V_g - \min_\pi V_g`, made by :func:`pgpd_hf.core.optima.utility_span`.
    multiplier : float
        :math:`\lambda^\star`.
    states, actions : int
        :math:`|S|` and :math:`|A|`.
    shift : float
        Added to the optimality gap; nonzero if the gap is to refer to another optimum.
    instance : int
        Number of the CMDP in its group.
    group : str
        Name of a group of random instances. Criteria that name no group use the first one.
    """

    traces: pd.DataFrame
    utility_span: float
    multiplier: float
    states: int
    actions: int
    shift: float = 0.0
    instance: int = 0
    group: str = ""

    @classmethod
    def on(cls, cmdp, multiplier, traces, **others):
        r"""Runs on a CMDP that is at hand.

        Parameters
        ----------
        cmdp : CMDP
            The environment.
        multiplier : float
            :math:`\lambda^\star`.
        traces : pandas.DataFrame
            Rows of :func:`pgpd_hf.run`.
        **others
            Further attributes.

        Returns
        -------
        Member
        """
        return cls(traces, utility_span(cmdp), multiplier, cmdp.states, cmdp.actions, **others)


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
        One of :data:`COLUMNS`, "multiplier", or "questions": questions per iteration and
        state-action pair.
    statistic : str
        A key of :data:`STATISTICS`.
    clock : str, optional
        Algorithm whose T the window is a share of; by default the same algorithm.
    group : str, optional
        Group of instances; by default the first.
    violated : bool
        Look only where the start violates the constraint.
    """

    algorithm: str
    evaluators: int
    column: str
    statistic: str
    clock: str | None = None
    group: str | None = None
    violated: bool = False


@dataclass(frozen=True)
class Entry:
    r"""A number with a 95 % interval in the table of an analysis, which has a column `seeds`.

    The interval of a mean is read as Student's. That of a slope, which comes from a bootstrap, and
    that of a difference are read as normal ones.

    Attributes
    ----------
    table : str
        Name of the table, such as "rates".
    where : tuple of pairs
        Columns and what stands there; None where nothing does.
    name : str
        Column of the number. The ends of its interval are in `NAME_low` and `NAME_high`, or else in
        `low` and `high`.
    per : str, optional
        One of :data:`COLUMNS` in whose unit the number is taken.
    discounted : int
        The number is multiplied by :math:`\gamma` to this power.
    """

    table: str
    where: tuple
    name: str
    per: str | None = None
    discounted: int = 0


class Contrast(dict):
    """A weighted sum: the weight of each term or entry.

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
    units : int
        Seeds or instances of the curve or entry that has fewest.
    single : ndarray, float64, shape (n,), optional
        The contrast of each unit alone, if all terms have the same units.
    """

    value: float
    error: float
    freedom: float
    units: int
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


class Evidence:
    r"""Curves of the runs of one reading, or of many instances.

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
    tables : dict of pandas.DataFrame, optional
        Tables of analyses by name: rates, effects, effects_means, slopes, schedules.
    discount : float, optional
        :math:`\gamma` of the CMDP that the tables are about.
    """

    def __init__(
        self,
        members,
        unit="seed",
        curve="iterate",
        violation="signed",
        tables=None,
        discount=None,
    ):
        self.unit = unit
        self.tables = tables or {}
        self.discount = discount
        self.groups = list(dict.fromkeys(member.group for member in members))
        self._size = members[0].states, members[0].actions
        self._runs = {}  # lists of _Runs, one for each member, by group, algorithm and M
        for member in members:
            self._read(member, curve, violation)
        self._cache = {}
        self._drawn = {}  # units of a resample, by group

    def resample(self, random):
        """Draw as many units as there are, with replacement.

        Parameters
        ----------
        random : numpy.random.Generator
            Source of the draws.

        Returns
        -------
        Evidence
            The drawn units, the same for all algorithms and M of a group; tables stay as they are.
        """
        other = copy.copy(self)
        other._drawn = {}
        for (group, *_), runs in self._runs.items():
            units = np.concatenate([it.units for it in runs])
            if group not in other._drawn:
                other._drawn[group] = random.choice(units, len(units))
        return other

    def _read(self, member, curve, violation):
        prefix = {"iterate": "", "average": "mean_"}[curve]
        pairs = member.states * member.actions
        for (algorithm, m), runs in member.traces.groupby(["algorithm", "evaluators"], sort=False):
            table = runs.pivot(index="seed", columns="iteration")  # seeds down
            units, iterations = (axis.to_numpy() for axis in table["queries"].axes)
            table = {name: table[name].to_numpy() for name in table.columns.levels[0]}
            violations = table[f"{prefix}constraint_violation"]
            if violation == "positive":
                violations = violations.clip(min=0)
            asked = table["queries"][:, -1:] / m / iterations[-1] / pairs
            curves = {
                "optimality_gap": table[f"{prefix}optimality_gap"] + member.shift,
                "constraint_violation": violations,
                "multiplier": table["multiplier"],
                "questions": np.broadcast_to(asked, violations.shape),
            }
            scales = {
                "optimality_gap": table["optimality_gap"][0, 0] + member.shift,
                "constraint_violation": member.utility_span,
                "multiplier": member.multiplier,
                "questions": 1.0,
            }
            curves = {
                name: curve / scales[name] for name, curve in curves.items() if scales[name] > _TINY
            }
            if self.unit == "instance":
                curves = {name: curve.mean(0, keepdims=True) for name, curve in curves.items()}
                units = np.array([member.instance])
            unsafe = table["constraint_violation"][0, 0] > 0
            key = (member.group, algorithm, int(m))
            self._runs.setdefault(key, []).append(_Runs(units, iterations, curves, scales, unsafe))

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
            If there are no such runs, or there is nothing to measure them in.
        """
        group = self.groups[0] if term.group is None else term.group
        key = (group, term.algorithm, term.evaluators)
        if group not in self.groups:
            raise Undecidable(f"{_NOT_HERE}: there are no instances of the group {group!r}")
        if key not in self._runs:
            who = f"{term.algorithm} was not run with M = {term.evaluators}"
            raise Undecidable(f"{_NOT_HERE}: {who}")
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
            points = np.linspace(*(share * length for share in STATISTICS[term.statistic]), _POINTS)
            for it in runs:
                units += list(it.units)
                curves = it.curves[term.column]
                values += [np.interp(points, it.iterations, curve).mean() for curve in curves]
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
        raise Undecidable(f"{_NOT_HERE}: {algorithm} was not run")

    def estimate(self, contrast):
        """Estimate a contrast.

        Parameters
        ----------
        contrast : Contrast
            Of terms, or of entries.

        Returns
        -------
        Estimate

        Raises
        ------
        Undecidable
            If runs are missing, or too few for an interval.
        """
        if isinstance(next(iter(contrast)), Entry):
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
            raise Undecidable(f"{_NOT_HERE}; `make claims` has it")
        rows = self.tables[entry.table]
        for column, content in entry.where:
            rows = rows[rows[column].isna() if content is None else rows[column].eq(content)]
        place = ", ".join(f"{key} {'none' if x is None else x}" for key, x in entry.where)
        if rows.empty:
            raise Undecidable(f"{_NOT_HERE}: {entry.table}.csv has no row with {place}")
        row = rows.iloc[0]
        own = f"{entry.name}_low" in row
        ends = [f"{entry.name}_low", f"{entry.name}_high"] if own else ["low", "high"]
        value, low, high = row[[entry.name, *ends]].astype(float)
        if not np.isfinite([value, low, high]).all():
            raise Undecidable(
                f"not decided: {entry.table}.csv has no {entry.name} with an interval for {place}, "
                "as where an average is not positive, or of one seed"
            )
        seeds = int(row["seeds"])
        freedom = seeds - 1 if entry.name == "mean" else np.inf
        return value, (high - low) / 2 / special.stdtrit(freedom, 0.975), freedom, seeds

    def _unit_of(self, column):
        *_, runs = self._runs.values()  # tables are about the only CMDP
        if runs[-1].scales[column] <= _TINY:
            raise Undecidable(_MISSING_UNITS[column])
        return runs[-1].scales[column]

    def questions(self, algorithm):
        """Questions per iteration and state-action pair that an algorithm asks with N = 1.

        Parameters
        ----------
        algorithm : str
            A key of :data:`pgpd_hf.ALGORITHMS`.

        Returns
        -------
        float
        """
        states, actions = self._size
        return get_algorithm(algorithm).effort(states, actions, 1)[1] / (states * actions)
