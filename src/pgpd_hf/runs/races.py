r"""The choice of step sizes by a race, which never looks at the paper's statements.

The paper does not give the step sizes of its experiment. The rule: the pair with the smallest score
wins, which is the mean positive gap plus the mean positive violation over the whole run, averaged
over all numbers of evaluators that the study reports. So that a good end counts, a part of the
score can be the same mean over the last quarter of the run.

Scores are noisy, so pairs race. All run on the same random streams, which no reported result uses.
After 8, 16, 32, ... seeds every pair is dropped that is worse than the leader beyond doubt, by a
paired t test; the others run on. The grid grows where the leader is on its edge.
Pairs that remain at the end are tied. Of those whose score is within one percent of the best, the
one with the smallest steps is chosen, so that noise does not choose among equals.

A zeroth-order method can also race its perturbation radius: then triples race.
"""

from __future__ import annotations

import itertools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from copy import copy
from typing import Any

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Algorithm, get_algorithm, kind_and_options
from pgpd_hf.algorithms.base import MOST_ITERATIONS, RACED, STEPS
from pgpd_hf.core.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.core.cmdp import CMDP, Array
from pgpd_hf.core.optima import require_cmdp, solve
from pgpd_hf.core.progress import Progress
from pgpd_hf.statistics import mean_interval, mean_test

CHOSEN, TIED, DROPPED = STANDINGS = ("chosen", "tied", "dropped")
CANDIDATES = {  # as in config/config.yaml
    "npgpd_hf": {"primal_step": [0.1, 0.3, 1], "dual_step": [0.03, 0.1, 0.3]},
    "zpgpd_hf": {"primal_step": [0.0003, 0.001, 0.003], "dual_step": [0.0003, 0.001, 0.003]},
}
LEVEL = 0.05  # probability that the best pair is dropped, at most, if scores are normal
_CHECKPOINTS = 100
_FIRST_SEEDS = 8
_EQUAL = 0.01  # scores that exceed the best one by less than this share of it are equal
_SYMBOLS = dict(zip(RACED, ("eta_1", "eta_2", "mu"), strict=True))
_LISTED = 10  # ties that a sentence names, at most
_GROWTH = 4  # values that are added at either end of a grid, at most


def race(
    cmdps: Sequence[CMDP],
    algorithm: str | type[Algorithm],
    setting: dict[str, Any],
    evaluators: Sequence[int | None],
    candidates: Mapping[str, Sequence[float] | Array],
    seeds: int,
    threads: int = 1,
    progress: bool | Callable[[int, int], Any] = False,
    runs: int | None = None,
    late: float = 0.0,
) -> pd.DataFrame:
    r"""Race pairs of step sizes.

    Without a limit pairs run for 8, 16, 32, ... seeds, and after each stage those that are shown to
    be worse than the leader drop out. With a limit, half of it is for one seed of each pair, and
    for pairs by which the grid grows; where it does not suffice, these runs are shortened. The
    other half is for more seeds of the best third, which nothing has shown to be better. Radii then
    end where all policies are within reach.

    Parameters
    ----------
    cmdps : sequence of CMDP
        The environments; seed k runs on number k modulo their number.
    algorithm : str or type
        A key of :data:`pgpd_hf.ALGORITHMS`, or the algorithm's class.
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`; its step sizes and evaluators are replaced.
    evaluators : sequence of int or None
        Values of M, over which scores are averaged.
    candidates : dict
        `primal_step` and `dual_step`: values of :math:`\eta_1` and :math:`\eta_2` at the start; of
        :math:`\mu`, if that races as well, `perturbation`. Two or more numbers grow with their own
        spacing, a single one does not.
    seeds : int
        The largest number of seeds that a pair runs.
    threads : int
        Pairs run side by side.
    progress : bool or callable
        As for :func:`pgpd_hf.run`; what is counted are runs, of one pair and seed each.
    runs : int, optional
        Limit of what the race costs, in runs of all iterations.
    late : float
        Weight of the last quarter of a run in its score, from 0 to 1; the whole run has the rest.

    Returns
    -------
    pandas.DataFrame
        A row per pair, in the order of the steps: what has raced; seeds that it has run;
        positive_gap, positive_violation and their sum, score, in units of value; behind,
        behind_low and behind_high, by how much its score exceeds that of the chosen pair on the
        same seeds, with a 95 % interval (NaN with one seed); standing, one of :data:`STANDINGS`.
        Where rounding destroys the policy, the score is infinite. With a limit, also iterations,
        which the scores of a pair are about.

    Raises
    ------
    ValueError
        If no pair has a finite score.

    Examples
    --------
    >>> import pgpd_hf
    >>> from pgpd_hf.runs.races import race
    >>> candidates = {"primal_step": [0.01, 0.1, 1], "dual_step": [0.1]}
    >>> cmdps, setting = [pgpd_hf.random_cmdp()], {"iterations": 50}
    >>> table = race(cmdps, "npgpd_hf", setting, [64], candidates, seeds=8)
    >>> table["primal_step"].tolist()  # the grid has grown
    [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0, 10000.0]
    >>> table["standing"].tolist()
    ['dropped', 'dropped', 'tied', 'tied', 'chosen', 'tied', 'tied']
    """
    names = [name for name in RACED if name in candidates]
    grid = Grid({name: sorted({*map(float, candidates[name])}) for name in names})
    with Progress(progress, "runs") as done, ThreadPoolExecutor(threads) as pool:
        whole = _Runs(cmdps, algorithm, setting, evaluators, names, late, pool.map, done)
        if runs is None:
            return _table([whole], _drop_worse(whole, grid, seeds))
        form = setting.get("parameterization", whole.algorithm.parameterization)
        if form != "softmax":  # no two policies are further apart
            grid.most["perturbation"] = math.sqrt(2 * max(cmdp.states for cmdp in cmdps))
        rounds, running = _halve(whole, grid, seeds, runs)
        lengths = [last.iterations for last in _last_rounds(rounds).values()]
        return _table(rounds, running).assign(iterations=lengths)


def _drop_worse(runs, grid, seeds):
    """Drop pairs that are shown to be worse, until seeds are used up; give back the others."""
    running, ends = grid.combinations(), _ends_of_stages(seeds)
    for end in ends:
        runs.extend(running, end)
        while new := sorted(grid.grow(runs.leader(running), running)):
            runs.extend(new, end)
            running += new
        running = runs.undecided(running, LEVEL / len(ends))
        if len(running) == 1:
            break
    return running


def _halve(whole, grid, seeds, most):
    """Race within a number of whole runs; give back the rounds, and the pairs that are left."""
    running = grid.combinations()
    part = min(1.0, most / 2 / len(running))  # of all iterations, so that each pair can run once
    first = whole.shortened(max(1, int(part * whole.iterations)))
    first.extend(running, 1)
    while new := sorted(grid.grow(first.leader(running), running)):
        if part * (len(running) + len(new)) > most / 2:
            break
        first.extend(new, 1)
        running += new
    running = first.best(running, max(2, math.ceil(len(running) / 3)))
    more = int(most / 2) // len(running)
    last = whole if part < 1 and more else first
    last.extend(running, min(seeds, more + (part == 1)))
    return [first, last], last.undecided(running, LEVEL)


def choose_steps(
    cmdp: CMDP,
    algorithm: Algorithm | str,
    *,
    iterations: int,
    candidates: Mapping[str, Sequence[float] | Array] | None = None,
    seeds: int = 8,
    threads: int = 1,
    progress: bool | Callable[[int, int], Any] = False,
    runs: int | None = None,
    **options: Any,
) -> dict[str, float]:
    r"""Choose step sizes for :func:`pgpd_hf.run` by a race.

    Parameters
    ----------
    cmdp : CMDP
        The environment.
    algorithm : Algorithm or str
        The algorithm with its options, or its name, as for :func:`pgpd_hf.run`. Step sizes that it
        has, or that are given, are replaced; to keep one, let it race alone, in `candidates`.
    iterations : int
        T.
    candidates : dict, optional
        `primal_step` and `dual_step`: lists or arrays of numbers; by default, for the paper's two
        algorithms, those that the default study begins with. A list `perturbation` lets the
        radius :math:`\mu` of zeroth-order methods race as well.
    seeds : int
        The largest number of seeds that a pair runs.
    threads : int
        Pairs run side by side.
    progress : bool or callable
        True draws a bar on the error stream. A function is called with the number of runs that are
        done, of one pair and seed each, and with the number that is known to be needed, which grows
        from stage to stage.
    runs : int, optional
        Limit of what the race costs, in runs of all iterations; :func:`race` says how it is spent.
    **options
        Options of the algorithm, where only its name is given, such as `rounds`. `evaluators` may
        be a list or array of values of M, over which scores are averaged.

    Returns
    -------
    dict
        `primal_step`, `dual_step` and what else has raced: options of the algorithm.

    Raises
    ------
    ValueError
        If an argument is out of range, or all runs fail; the message names what.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp, setting = pgpd_hf.random_cmdp(), {"evaluators": 64, "iterations": 50}
    >>> steps = pgpd_hf.choose_steps(cmdp, "npgpd_hf", **setting)
    >>> sorted(steps)
    ['dual_step', 'primal_step']
    >>> trace = pgpd_hf.run(cmdp, "npgpd_hf", seeds=[0], **setting, **steps)

    An algorithm that is an object gets its steps by ``dataclasses.replace``.

    >>> from dataclasses import replace
    >>> algorithm = pgpd_hf.NPGPDHF(evaluators=64, rounds=2)
    >>> steps = pgpd_hf.choose_steps(cmdp, algorithm, iterations=20, seeds=2)
    >>> replace(algorithm, **steps).rounds
    2
    """
    require_cmdp(cmdp)
    kind, options = kind_and_options(algorithm, options)
    if not kind.has_steps:
        raise ValueError(f"algorithm: {kind.name} has no step sizes")
    candidates = CANDIDATES.get(kind.name) if candidates is None else candidates
    if candidates is None:
        raise ValueError(f"candidates: needed for {kind.name}: lists for {' and '.join(STEPS)}")
    candidates = dict(candidates) if isinstance(candidates, Mapping) else {}
    for name in candidates:
        require_one_of("candidates", name, RACED)
    for name in dict.fromkeys((*STEPS, *candidates)):
        candidates[name] = values = _as_list(candidates.get(name))
        if not isinstance(values, list | tuple) or not values:
            raise ValueError(f"candidates: a dict with a list {name} expected")
        if not min(require_number(f"candidates.{name}", value) for value in values) > 0:
            raise ValueError(f"candidates.{name}: positive numbers expected, got {shown(values)}")
    seeds = require_integer("seeds", seeds, 1, 10**4)
    threads = require_integer("threads", threads, 1, 1024)
    iterations = require_integer("iterations", iterations, 1, MOST_ITERATIONS)
    numbers = _as_list(options.get("evaluators"))
    numbers = list(numbers) if isinstance(numbers, list | tuple) else [numbers]
    if not numbers:
        raise ValueError("evaluators: at least one number expected")
    for number in numbers:  # refuses what cannot be run
        kind.having(options | ({"evaluators": number} if "evaluators" in options else {}))
    kind.refuse_unknown(candidates)
    setting = {"iterations": iterations, **options}
    if runs is not None:
        runs = require_integer("runs", runs, 1, 10**6)
    table = race([cmdp], kind, setting, numbers, candidates, seeds, threads, progress, runs)
    return chosen_steps(table)


def _as_list(values):
    """Make a list of an array, a pandas.Series or a range; everything else stays as it is."""
    if isinstance(values, range):
        return list(values)
    return values.tolist() if getattr(values, "ndim", 0) == 1 else values


def _ends_of_stages(seeds):
    """Numbers of seeds after which pairs are dropped."""
    ends = [_FIRST_SEEDS]
    while ends[-1] < seeds:
        ends.append(2 * ends[-1])
    return [*ends[:-1], seeds]


class Grid:
    """Increasing values of what races, and how far they may still grow at either end.

    Parameters
    ----------
    values : dict
        Lists by name.
    least : int
        Lists with fewer numbers do not grow, nor do lists of other things, or with numbers that are
        not positive.
    """

    def __init__(self, values: dict[str, list[Any]], least: int = 2):
        self.values = values
        self.most: dict[str, float] = {}  # by name, beyond which no value is of use
        growing = [
            name
            for name, them in values.items()
            if len(them) >= least and not any(isinstance(it, str) for it in them) and min(them) > 0
        ]
        self.room = {(name, end): _GROWTH for name in growing for end in (0, -1)}

    def combinations(self) -> list[tuple[Any, ...]]:
        """All combinations of values."""
        return list(itertools.product(*self.values.values()))

    def grow(self, leader: tuple[Any, ...], running: Sequence[tuple[Any, ...]]) -> set[Any]:
        """Add a value beyond an edge on which the leader stands; give back new combinations."""
        for (name, end), room in self.room.items():
            place, values = list(self.values).index(name), self.values[name]
            if room and leader[place] == values[end]:
                self.room[name, end] -= 1
                step = _next(values if end else values[::-1])
                if step > self.most.get(name, math.inf):
                    continue
                self.values[name] = sorted([*values, step])
                return {(*it[:place], step, *it[place + 1 :]) for it in running}
        return set()


def reach(values: Sequence[float]) -> list[float]:
    """All values that a list of candidates may have in a race.

    Parameters
    ----------
    values : sequence of float
        Candidates at the start.

    Returns
    -------
    list of float
        Those and what may be added at either end, in increasing order.
    """
    values = sorted(values)
    for _ in range(_GROWTH * (len(values) > 1)):
        values = [_next(values[::-1]), *values, _next(values)]
    return values


def _next(values):
    """Continue a list with its own spacing: 0.1, 0.3, 1 are followed by 3."""
    *_, before, last = values
    factor = last / before if len(values) == 2 else before / values[-3]
    return float(f"{last * factor:.12g}")


class Contest(ABC):
    """What contestants have scored so far: a row of gap and violation for each unit.

    Parameters
    ----------
    run : callable
        `map`, or what is like it.
    done : Progress, optional
        Told how many units are needed, and how many have been run.
    """

    def __init__(self, run: Any = map, done: Progress | None = None) -> None:
        self.scores: dict[Any, list[Any]] = {}
        self._run, self._done = run, done or Progress(False, "units")

    @abstractmethod
    def score(self, task: tuple[Any, int]) -> tuple[float, float]:
        """Positive gap and violation of a contestant on a unit; the task is the two of them."""

    def extend(self, contestants: Sequence[Any], units: int) -> None:
        """Run contestants until they have a number of units."""
        tasks = [
            (contestant, unit)
            for contestant in contestants
            for unit in range(len(self.scores.get(contestant, ())), units)
        ]
        self._done.add(needed=len(tasks))
        for (contestant, _), score in zip(tasks, self._run(self.score, tasks), strict=True):
            self.scores.setdefault(contestant, []).append(score)
            self._done.add(1)

    def sums(self, contestant: Any) -> Array:
        """Scores of a contestant by unit."""
        return np.sum(self.scores[contestant], axis=1)

    def leader(self, contestants: Sequence[Any]) -> Any:
        """The contestant with the lowest mean score."""
        return min(contestants, key=lambda it: self.sums(it).mean())

    def best(self, contestants: Sequence[Any], count: int) -> list[Any]:
        """Contestants with the lowest mean scores, in the order in which they are given."""
        chosen = {*sorted(contestants, key=lambda it: self.sums(it).mean())[:count]}
        return [it for it in contestants if it in chosen]

    def undecided(self, contestants: Sequence[Any], level: float) -> list[Any]:
        """Contestants that are not worse than the leader beyond doubt.

        Each t test is at the level divided by the number of rivals, so that the best one is
        dropped here with at most the level's probability, whichever leads, if units are
        independent and differences normal.
        """
        leader = self.leader(contestants)
        return [
            it
            for it in contestants
            if it == leader or _p_value(self.behind(it, leader)) > level / (len(contestants) - 1)
        ]

    def behind(self, contestant: Any, other: Any) -> Array:
        """Differences of the scores of two contestants on the units that both have run."""
        units = min(len(self.scores[contestant]), len(self.scores[other]))
        with np.errstate(invalid="ignore"):  # both may be infinite
            return self.sums(contestant)[:units] - self.sums(other)[:units]


class _Runs(Contest):
    """Pairs of a race, whose units are seeds."""

    def __init__(self, cmdps, algorithm, setting, evaluators, names, late, run, done):
        super().__init__(run, done)
        self.names, self.late, self.error = names, late, None
        self.problems = [(cmdp, solve(cmdp)) for cmdp in cmdps]
        self.algorithm = algorithm if isinstance(algorithm, type) else get_algorithm(algorithm)
        self.settings = [setting | {"evaluators": number} for number in evaluators]
        self._begin(setting["iterations"])

    def _begin(self, iterations):
        even = np.linspace(0, iterations, _CHECKPOINTS + 1)
        self.checkpoints = np.unique(np.rint(even).astype(np.int64))
        self.iterations, self.scores = iterations, {}
        self.last_quarter = self.checkpoints >= 0.75 * iterations

    def shortened(self, iterations):
        """The same runs, of fewer iterations, none of which has been made yet."""
        runs = copy(self)
        runs._begin(iterations)
        return runs

    def score(self, task):
        """Positive gap and violation of one pair on one seed, averaged over time and M."""
        from pgpd_hf.runs.traces import (
            values_at,  # who only reads the outcome of a race does without
        )

        pair, seed = task
        cmdp, optimum = self.problems[seed % len(self.problems)]
        steps, parts = dict(zip(self.names, pair, strict=True)), []
        for setting in self.settings:
            algorithm = self.algorithm(**self.algorithm.pick(setting | steps))
            run = algorithm.prepare(cmdp, optimum, self.iterations)
            try:
                values = values_at(run, seed, self.checkpoints, purpose="calibration")
            except ValueError as error:  # most likely rounding destroys the policy
                self.error = error
                return math.inf, math.inf
            gap, violation = optimum.reward_value - values[0], cmdp.threshold - values[1]
            parts.append([self._mean(np.maximum(it, 0)) for it in (gap, violation)])
        return tuple(np.mean(parts, axis=0))

    def _mean(self, curve):
        return (1 - self.late) * curve.mean() + self.late * curve[self.last_quarter].mean()


def _table(rounds, running):
    """Scores of each pair in its last round, beside those of the chosen one there."""
    last = rounds[-1]
    most = (1 + _EQUAL) * last.sums(last.leader(running)).mean()
    if not math.isfinite(most):
        raise ValueError(f"candidates: all runs with them fail ({last.error})")
    chosen = min(pair for pair in running if last.sums(pair).mean() <= most)
    rows = []
    for pair, runs in _last_rounds(rounds).items():
        scores = runs.scores[pair]
        gap, violation = np.mean(scores, axis=0)
        row = dict(zip(runs.names, pair, strict=True)) | {"seeds": len(scores)}
        row |= {"positive_gap": gap, "positive_violation": violation, "score": gap + violation}
        behind = (math.inf, math.nan, math.nan)
        if math.isfinite(gap):
            behind = mean_interval(runs.behind(pair, chosen))
        row |= dict(zip(("behind", "behind_low", "behind_high"), behind, strict=True))
        row["standing"] = TIED if pair in running else DROPPED
        rows.append(row | ({"standing": CHOSEN} if pair == chosen else {}))
    return pd.DataFrame(rows)


def _last_rounds(rounds):
    """By pair, in the order of the steps, the runs of the last round that it was in."""
    last = {pair: runs for runs in rounds for pair in runs.scores}
    return {pair: last[pair] for pair in sorted(last)}


def _p_value(differences):
    """One-sided p value of a t test that the mean is positive; one if nothing speaks for it."""
    mean = differences.mean()
    if len(differences) < 2 or not mean > 0:
        return 1.0
    return mean_test(differences)[0] if math.isfinite(mean) else 0.0


def chosen_steps(scores: pd.DataFrame) -> dict[str, float]:
    r"""Chosen step sizes, and what else has raced.

    Parameters
    ----------
    scores : pandas.DataFrame
        Made by :func:`race`.

    Returns
    -------
    dict
        Numbers by name, of :data:`RACED`.
    """
    chosen = scores[scores["standing"] == CHOSEN].iloc[0]
    return {name: float(chosen[name]) for name in RACED if name in scores}


def describe_race(scores: pd.DataFrame) -> str:
    """Say in a sentence what a race has chosen, and how clearly.

    Parameters
    ----------
    scores : pandas.DataFrame
        Made by :func:`race`.

    Returns
    -------
    str
        Steps, runner-up, pairs tied with the chosen one, and whether the grid ends at any of these.
    """
    chosen = scores[scores["standing"] == CHOSEN].iloc[0]
    names = [name for name in RACED if name in scores]
    kind = "pairs" if len(names) == 2 else "triples"
    text = ", ".join(f"{_SYMBOLS[name]} = {chosen[name]:g}" for name in names)
    if len(scores) == 1:
        kind = kind.removesuffix("s")
    seeds = int(chosen["seeds"])
    text += f" (of {len(scores)} {kind}, {seeds} seed{'s' * (seeds > 1)})"
    others = scores.drop(index=chosen.name)
    if others.empty:
        return text
    runner_up = others.loc[others["behind"].idxmin()]
    text += f"; runner-up {_numbers(runner_up[names])}"
    if chosen["score"] > 0:
        text += f", {runner_up['behind'] / chosen['score']:+.1%} in the score"
    tied = scores.loc[scores["standing"] == TIED, names]
    listed = [_numbers(row) for _, row in tied.iterrows()]
    if len(listed) > _LISTED:
        listed[_LISTED:] = [f"and {len(listed) - _LISTED} more"]
    text += f"; tied with it: {', '.join(listed) or 'none'}"
    for name in names:
        ends = {scores[name].min(), scores[name].max()}
        if len(ends) > 1 and chosen[name] in ends:
            text += f"; WARNING: the grid ends at this {name}, a better one may lie beyond"
        elif found := ends & {*tied[name]}:
            end = " and ".join(f"{value:g}" for value in sorted(found))
            text += f"; WARNING: ties reach the end of the grid, {name} {end}"
    return text + "."


def _numbers(pair):
    return "(" + ", ".join(f"{value:g}" for value in pair) + ")"
