r"""Runs: from a CMDP, an algorithm and seeds to a trace.

The trace has one row per seed and checkpoint. Values are exact: the policy of every iterate is
evaluated by a linear solve, so that the running averages, which the theorems bound, are over all
iterates and not only over those at checkpoints.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Event
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from pgpd_hf.algorithms import Algorithm, State, kind_and_options
from pgpd_hf.algorithms.base import (
    MOST_ITERATIONS,
    Run,
    require_explicit_state,
    require_multipliers,
)
from pgpd_hf.core import optima, streams
from pgpd_hf.core.arguments import located, require_integer, require_one_of, shown
from pgpd_hf.core.cmdp import CMDP, Array
from pgpd_hf.core.evaluators import wide_values
from pgpd_hf.core.normals import draw_normals
from pgpd_hf.core.progress import Progress
from pgpd_hf.core.sampling import cut_off
from pgpd_hf.stability import StabilityWarning, forecast, runaway
from pgpd_hf.statistics import VALUES

COLUMNS = ("algorithm", "evaluators", "seed", "iteration", *VALUES)
# What a call of a kernel takes on. Between calls a thread needs the interpreter's lock, so smaller
# chunks cost time, most of all on several cores; larger ones leave the cache.
_CHUNK_WORDS = 2**18  # random words drawn at once: 2 MiB
_CHUNK_ENTRIES = 2**16  # of policies that are evaluated at once: 512 KiB
_CHUNK_ITERATIONS = 1024
_CHUNK_FITS = 8  # iterations that fit a policy, each: an interrupt waits for the end of a chunk
_CHECKED_ITERATIONS = 3  # of an algorithm, before its first run
# Algorithms that have been checked, with their options that are no numbers.
_CHECKED: set[Any] = set()
_MOVES = 0.02  # share of its first value by which a curve has to leave it
_SHORTEST_RUN = 1000  # iterations in which a curve can be expected to move
_MOST_ENTRIES = 10**6  # of a list of seeds, checkpoints or phases
_PHASE = ("iterations", "evaluators", "rounds", "horizon")  # that phases may differ in


@overload
def run(
    cmdp: CMDP,
    algorithm: Algorithm | str,
    *,
    seeds: Iterable[int],
    iterations: int | None = None,
    phases: list[dict[str, Any]] | None = None,
    initial_policy: ArrayLike | None = None,
    checkpoints: Iterable[int] | None = None,
    threads: int = 1,
    purpose: str = "run",
    optimum: optima.Optimum | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    return_policies: Literal[False] = False,
    **options: Any,
) -> pd.DataFrame: ...


@overload
def run(
    cmdp: CMDP,
    algorithm: Algorithm | str,
    *,
    seeds: Iterable[int],
    iterations: int | None = None,
    phases: list[dict[str, Any]] | None = None,
    initial_policy: ArrayLike | None = None,
    checkpoints: Iterable[int] | None = None,
    threads: int = 1,
    purpose: str = "run",
    optimum: optima.Optimum | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    return_policies: Literal[True],
    **options: Any,
) -> tuple[pd.DataFrame, Array]: ...


def run(
    cmdp: CMDP,
    algorithm: Algorithm | str,
    *,
    seeds: Iterable[int],
    iterations: int | None = None,
    phases: list[dict[str, Any]] | None = None,
    initial_policy: ArrayLike | None = None,
    checkpoints: Iterable[int] | None = None,
    threads: int = 1,
    purpose: str = "run",
    optimum: optima.Optimum | None = None,
    progress: bool | Callable[[int, int], Any] = False,
    return_policies: bool = False,
    **options: Any,
) -> pd.DataFrame | tuple[pd.DataFrame, Array]:
    r"""Run an algorithm once per seed and evaluate it exactly.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    algorithm : Algorithm or str
        The algorithm with its options, such as ``NPGPDHF(evaluators=64)``; or its name, a key of
        :data:`pgpd_hf.ALGORITHMS`.
    seeds : iterable of int
        Each gives one run, whose numbers do not depend on the other seeds.
    iterations : int, optional
        T; may be left out if there are phases.
    phases : list of dict, optional
        For runs whose M, N or H change on the way: each phase has its own `iterations`, and those
        of `evaluators`, `rounds` and `horizon` that differ from the algorithm's. A phase takes over
        the state of the one before it, and has random streams of its own. Step sizes are the same
        in all phases; those left to the theorem are for the total number of iterations.
    initial_policy : array_like, float, shape (S, A), optional
        By default uniform.
    checkpoints : iterable of int, optional
        Numbers of completed updates, in [0, T], at which a row is written; by default
        :func:`checkpoint_grid`.
    threads : int
        Number of seeds that run at the same time; results do not depend on it.
    purpose : str
        Name of a family of random streams; runs with different purposes share no random numbers.
    optimum : Optimum, optional
        Optimum of this CMDP, if known; by default it is found by a linear program.
    progress : bool or callable
        True draws a bar on the error stream. A function is called with the number of iterations
        that are done, over all seeds, and with the number of all of them.
    return_policies : bool
        Whether to also return the policies that the runs end with.
    **options
        Options of the algorithm, where only its name is given, such as `evaluators` or
        `primal_step`; ``help(pgpd_hf.NPGPDHF)`` lists them. An option that all methods with step
        sizes have may also be given to a method without step sizes, which ignores it; likewise
        those of methods that ask people.

    Returns
    -------
    trace : pandas.DataFrame
        Columns :data:`COLUMNS`, sorted by seed and iteration. `evaluators` is <NA> for infinitely
        many, and with phases the number that the next iteration asks. `constraint_violation` is
        :math:`b - V_g` and `optimality_gap` is :math:`V_r^\star - V_r`, both signed; `mean_*` are
        averages over iterates 0..iteration. `answers` and `steps` are cumulative.
    policies : ndarray, float64, shape (seeds, S, A)
        If `return_policies`: after the last iteration, by increasing seed.

    Warns
    -----
    StabilityWarning
        If ZPGPD-HF is predicted not to settle (:func:`pgpd_hf.predict_stability`), unless the run
        is short; and if the multiplier runs away in the trace (:func:`~pgpd_hf.stability.runaway`).
    UserWarning
        If values lie beyond [0, 1], where votes say little; if the multiplier cannot reach that of
        the optimum; and if the theorem's steps leave the policy where it starts.

    Raises
    ------
    ValueError
        If an argument is out of range, or the algorithm keeps state outside of its
        :class:`~pgpd_hf.algorithms.State`; the message names it.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> exact = pgpd_hf.run(cmdp, "npg_pd", seeds=[0], iterations=60)
    >>> exact["optimality_gap"].iloc[[0, -1]].round(3).tolist()
    [0.248, -0.04]
    >>> phases = [{"iterations": 5, "evaluators": 16}, {"iterations": 5, "evaluators": 64}]
    >>> trace = pgpd_hf.run(cmdp, "npgpd_hf", seeds=[0, 1], phases=phases, checkpoints=[0, 5, 10])
    >>> print(trace[["seed", "iteration", "evaluators", "answers"]].to_string(index=False))
     seed  iteration  evaluators  answers
        0          0          16        0
        0          5          64     6480
        0         10          64    32400
        1          0          16        0
        1          5          64     6480
        1         10          64    32400
    """
    optima.require_cmdp(cmdp)
    algorithms, lengths = _phases(algorithm, options, iterations, phases)
    total = sum(lengths)
    seeds = _seeds(seeds)
    grid = checkpoint_grid(total) if checkpoints is None else _grid(checkpoints, total)
    threads = require_integer("threads", threads, 1, 1024)
    done = Progress(progress, "iterations")
    if not isinstance(purpose, str):
        raise ValueError(f"purpose: a string expected, got {shown(purpose)}")
    optimum = optima.given_optimum(cmdp, optimum)
    own = algorithms[0]
    if len(algorithms) > 1 and own.has_steps:
        steps = own.steps(cmdp, optimum, total)
        steps = dict(zip(("primal_step", "dual_step"), steps, strict=True))
        algorithms = [replace(each, **steps) for each in algorithms]
    parts = [
        each.prepare(cmdp, optimum, length)
        for each, length in zip(algorithms, lengths, strict=True)
    ]
    _check(parts[0], initial_policy)
    if getattr(own, "evaluators", None) is not None:
        _warn(wide_values(cmdp))
        if getattr(own, "horizon", 0) is None:
            _warn(cut_off(cmdp.discount))
    _warn(optima.low_bound(parts[0].multiplier_bound, optimum))
    if len(parts) == 1:
        steps = len(seeds) * total * parts[0].steps_per_iteration
        _warn(forecast(cmdp, own, optimum, steps), StabilityWarning)

    def trace(seed, stopped):
        return _trace(parts, seed, initial_policy, grid, purpose, done, stopped)

    with done:
        done.add(needed=total * len(seeds))
        traces, last = zip(*_in_threads(trace, seeds, threads), strict=True)
    table = _table(parts, seeds, grid, traces)
    _warn(runaway(table, parts[-1].algorithm, optimum), StabilityWarning)
    _warn(_stands_still(table, own))
    return (table, np.stack(last)) if return_policies else table


def checkpoint_grid(iterations: int, points: int = 100) -> NDArray[np.int64]:
    """Iterations at which a run is recorded: a logarithmic grid and an even one, together.

    Parameters
    ----------
    iterations : int
        T >= 1.
    points : int
        Number of points of each of the two grids.

    Returns
    -------
    ndarray, int64
        Increasing, from 0 to T. It contains T - 1, since the running average at T - 1 is the one
        that the theorems bound.

    Raises
    ------
    ValueError
        If an argument is no positive integer, or too large.

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.checkpoint_grid(1000, points=4).tolist()
    [0, 1, 10, 100, 250, 500, 750, 999, 1000]
    """
    iterations = require_integer("iterations", iterations, 1, MOST_ITERATIONS)
    points = require_integer("points", points, 1, _MOST_ENTRIES)
    even = np.linspace(0, iterations, points + 1)
    logarithmic = np.geomspace(1, iterations, points)
    ends = [0, iterations - 1, iterations]
    return np.unique(np.rint(np.concatenate([even, logarithmic, ends])).astype(np.int64))


def iterates(
    run: Run,
    seed: int,
    *,
    purpose: str = "run",
    initial_policy: ArrayLike | None = None,
    state: State | None = None,
) -> Iterator[tuple[Array, Array, State]]:
    """Yield all iterates of one run, in chunks.

    Parameters
    ----------
    run : Run
        Made by :meth:`pgpd_hf.algorithms.Algorithm.prepare`.
    seed : int
        Names the run's streams.
    purpose : str
        Names the family of streams.
    initial_policy : array_like, float, shape (S, A), optional
        Where to start; by default the uniform policy.
    state : State, optional
        Continue from this state instead, for as many iterations as a whole run has. Random streams
        begin anew, so give another purpose than that of the run which is continued.

    Yields
    ------
    policies : ndarray, float64, shape (iterates, S, A)
        Consecutive policies; T + 1 in all, the last of which is a chunk of its own.
    multipliers : ndarray, float64, shape (iterates,)
        Their multipliers.
    state : State
        After the iterations of the chunk; with the last policy, the state that it is the policy of.

    Examples
    --------
    >>> import pgpd_hf
    >>> from pgpd_hf.runs.traces import iterates
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> run = pgpd_hf.ZPGPDHF(evaluators=16).prepare(cmdp, pgpd_hf.solve(cmdp), iterations=1500)
    >>> [(len(policies), state.iteration) for policies, _, state in iterates(run, seed=0)]
    [(1024, 1024), (476, 1500), (1, 1500)]
    """
    seed = require_integer("seed", seed, 0)
    axes = {"purpose": purpose, "algorithm": run.algorithm.streams, "seed": seed}
    axes["evaluators"] = _evaluators(run)
    width, dimension = run.words_per_iteration, run.normals_per_iteration
    stream = streams.word_stream(kind="words", **axes) if width else None
    normal_stream = streams.word_stream(kind="normals", **axes) if dimension else None
    if state is None:
        state = run.initial_state(initial_policy)
    length = run.iterations
    rows = min(_rows(run), length)
    chunk = min(_most(run), max(1, _CHUNK_ENTRIES // state.theta.size))
    chunk = max(1, chunk // rows) * rows
    words, normals = np.empty((rows, width), np.uint64), np.empty((rows, dimension))
    for begin in range(0, length, chunk):
        parts = []
        for first in range(begin, min(begin + chunk, length), rows):
            count = min(rows, length - first)
            if width:
                streams.draw_words(stream, words[:count])
            if dimension:
                draw_normals(normal_stream, normals[:count])
            *part, state = run.advance(state, words[:count], normals[:count])
            parts.append(part)
        if len(parts) > 1:
            part = map(np.concatenate, zip(*parts, strict=True))
        policies, multipliers = part
        require_multipliers(run, multipliers)
        yield policies, multipliers, state
    multipliers = np.array([state.multiplier], dtype=float)
    require_multipliers(run, multipliers)
    yield run.policy(state.theta)[None], multipliers, state


def values_at(run: Run, seed: int, checkpoints: NDArray[np.int64], purpose: str = "run") -> Array:
    """Exact values of some iterates of one run, without its running averages.

    Parameters
    ----------
    run : Run
        Made by :meth:`pgpd_hf.algorithms.Algorithm.prepare`.
    seed : int
        Names the run's streams.
    checkpoints : ndarray, int64
        Increasing numbers of completed updates.
    purpose : str
        Names the family of streams.

    Returns
    -------
    ndarray, float64, shape (2, checkpoints)
        Reward and utility values, the same bits as in :func:`run`.
    """
    _check(run, None)
    chosen, first = [], 0
    for policies, _, _ in iterates(run, seed, purpose=purpose):
        at = checkpoints[(checkpoints >= first) & (checkpoints < first + len(policies))] - first
        chosen.append(policies[at])
        first += len(policies)
    return np.stack(run.cmdp.evaluate(np.concatenate(chosen)))


def _warn(line, kind=UserWarning):
    """Warn the caller of :func:`run`, if there is something to say."""
    if line:
        warnings.warn(line, kind, stacklevel=3)


def _phases(algorithm, options, iterations, phases):
    """The algorithm of each phase of a run, and the numbers of iterations."""
    kind, options = kind_and_options(algorithm, options)
    if phases is None:
        return [kind.having(options)], [_length(iterations)]
    if not isinstance(phases, list | tuple) or not 1 <= len(phases) <= _MOST_ENTRIES:
        raise ValueError(f"phases: a list of dicts expected, got {shown(phases)}")
    algorithms, lengths = [], []
    for k, phase in enumerate(phases):
        if not isinstance(phase, dict):
            raise ValueError(f"phases[{k}]: a dict expected, got {shown(phase)}")
        with located(f"phases[{k}]"):
            for name in phase:
                require_one_of("name", name, _PHASE)
            lengths.append(_length(phase.get("iterations")))
            changed = {name: value for name, value in phase.items() if name != "iterations"}
            algorithms.append(kind.having({**options, **changed}))
    total = _length(sum(lengths))
    if iterations is not None and _length(iterations) != total:
        raise ValueError(
            f"iterations: {total}, the sum over the phases, or None expected, got {iterations}"
        )
    return algorithms, lengths


def _length(iterations):
    return require_integer("iterations", iterations, 1, MOST_ITERATIONS)


def _evaluators(run):
    """M of a run; None also for an algorithm that asks nobody."""
    return getattr(run.algorithm, "evaluators", None)


def _rows(run):
    """Number of iterations whose randomness is drawn at once."""
    return min(_most(run), max(1, _CHUNK_WORDS // max(1, run.words_per_iteration)))


def _most(run):
    """Largest number of iterations of a chunk."""
    return _CHUNK_ITERATIONS if run.algorithm.has_steps else _CHUNK_FITS


def _in_threads(function, items, threads):
    """Call a function with each item; a thread takes the next one when it has finished another.

    The results are in the order of the items. Giving each item to the pool would wake the calling
    thread after every run, and the others would wait for it. After an error, or an interrupt,
    nothing new is begun, and the event that the function is given is set.
    """
    # One thread is not that of the caller, either: kernels do not stand an interrupt.
    results, remaining, stopped = [None] * len(items), iter(enumerate(items)), _Stop()

    def work(_):
        with stopped:
            for place, item in remaining:
                if stopped.is_set():
                    return
                results[place] = function(item, stopped)

    with ThreadPoolExecutor(threads) as pool, stopped:
        list(pool.map(work, range(threads)))
    return results


class _Stop(Event):
    """An event that an error in its context sets, or an interrupt."""

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.set()


def _check(run, initial_policy):
    """Refuse an algorithm that keeps state in itself, once for all options of the same kind."""
    options = [it for it in vars(run.algorithm).values() if type(it) not in (int, float)]
    kind = (type(run.algorithm), *options)
    if kind in _CHECKED:
        return
    random = np.random.default_rng(0)  # any numbers that no run shares
    rows = min(_CHECKED_ITERATIONS, _rows(run))
    shape = rows, run.words_per_iteration
    words = random.integers(2**64, size=shape, dtype=np.uint64)
    normals = random.standard_normal((rows, run.normals_per_iteration))
    require_explicit_state(run, words, normals, initial_policy)
    _CHECKED.add(kind)


def _trace(parts, seed, initial_policy, grid, purpose, done, stopped):
    """Numbers of one seed's run through all phases, (5, checkpoints), and its last policy.

    The rows are those of :func:`_record`; if the run is stopped, later checkpoints are missing.
    """
    sums, rows = np.zeros(2), np.empty((5, len(grid)))
    first, state = 0, None  # number of the next iterate, and the state after the last phase
    end = sum(run.iterations for run in parts)
    for k, run in enumerate(parts):
        stream = purpose if len(parts) == 1 else f"{purpose}, phase {k}"
        chunks = iterates(run, seed, purpose=stream, initial_policy=initial_policy, state=state)
        for policies, multipliers, state in chunks:
            if first == state.iteration < end:
                break  # the last policy of this phase is the first one of the next
            try:
                values = run.cmdp.evaluate(policies)
            except ValueError as error:
                raise ValueError(_destroyed(run, state, error)) from None
            _record(values, multipliers, first, grid, sums, rows)
            done.add(min(len(policies), end - first))
            first += len(policies)
            if stopped.is_set():
                return rows, policies[-1]
    run.algorithm.require_result(state)
    return rows, policies[-1]


def _record(values, multipliers, first, grid, sums, rows):
    """Fill in what checkpoints among consecutive iterates record: values, multiplier and means.

    One value is added to the sums after the other, so that the bits do not depend on where a run is
    cut; `first` is the number of the first iterate.
    """
    totals = np.cumsum(np.column_stack([sums, values]), axis=1)[:, 1:]
    sums[:] = totals[:, -1]
    end = first + len(multipliers)
    columns = slice(*np.searchsorted(grid, [first, end]))
    means = totals / np.arange(first + 1, end + 1)
    rows[:, columns] = np.vstack([*values, multipliers, means])[:, grid[columns] - first]


def _table(parts, seeds, grid, traces):
    """Make one table of the runs of all seeds; a table for each takes a millisecond."""
    v_r, v_g, multiplier, mean_v_r, mean_v_g = np.concatenate(traces, axis=1)
    best, threshold = parts[0].optimum.reward_value, parts[0].cmdp.threshold
    columns = {
        "algorithm": parts[0].name,
        "seed": np.repeat(seeds, len(grid)),
        "iteration": np.tile(grid, len(seeds)),
        "reward_value": v_r,
        "utility_value": v_g,
        "multiplier": multiplier,
        "optimality_gap": best - v_r,
        "constraint_violation": threshold - v_g,
        "mean_optimality_gap": best - mean_v_r,
        "mean_constraint_violation": threshold - mean_v_g,
        **_costs(parts, np.tile(grid, len(seeds))),
    }
    return pd.DataFrame(columns, columns=list(COLUMNS))


def _destroyed(run, state, error):
    """Say why a policy is no longer valid."""
    name, kind = run.name, state.theta.dtype
    wrong = f"algorithm: update of {name} returned no policy ({error}; theta is {kind})"
    if not run.algorithm.has_steps:
        return wrong
    if not type(run.algorithm).__module__.startswith("pgpd_hf."):  # somebody's own
        return f"{wrong}, or primal_step: {run.primal_step} is too large for it"
    cause = f"primal_step: {run.primal_step} is so large"
    if "perturbation" in vars(run):  # estimates grow like 1/mu
        cause += f", or perturbation: {run.perturbation.radius:.3g} so small,"
    return f"{cause} that rounding destroys the policy of {name} ({error}; theta is {kind})"


def _costs(parts, iterations):
    """Columns `evaluators`, `answers` and `steps`, which do not depend on the seed."""
    answers, steps, begin, begins = np.zeros_like(iterations), np.zeros_like(iterations), 0, []
    for run in parts:
        done = np.clip(iterations - begin, 0, run.iterations)  # iterations of this phase
        answers += done * (_evaluators(run) or 0) * run.questions_per_iteration
        steps += done * run.steps_per_iteration
        begins.append(begin)
        begin += run.iterations
    phases = np.searchsorted(begins, iterations, side="right") - 1
    evaluators = pd.array([_evaluators(run) for run in parts], dtype="Int64")
    return {"evaluators": evaluators[phases], "answers": answers, "steps": steps}


def _stands_still(trace, algorithm):
    """Say in one line that the theorem's steps leave the policy where it starts, if they do."""
    # They do if the mean gap over seeds never leaves its first value by a fiftieth of it.
    last, means = trace["iteration"].max(), trace.groupby("iteration")["optimality_gap"].mean()
    distance = (means - means.iloc[0]).abs().max()
    own_steps = not algorithm.has_steps or getattr(algorithm, "primal_step", None) is not None
    if own_steps or last < _SHORTEST_RUN or distance >= _MOVES * abs(means.iloc[0]):
        return ""
    return (
        f"{algorithm.label} hardly moves with the theorem's steps: in {last:,} iterations its mean "
        f"gap, {means.iloc[0]:.3g} at first, changes by at most {distance:.1g}; choose_steps finds "
        "steps that do more"
    )


def _seeds(seeds):
    """Distinct seeds in increasing order."""
    seeds = _integers("seeds", seeds)
    known = set()
    for place, seed in enumerate(seeds):
        if seed in known:
            raise ValueError(f"seeds[{place}]: {seed} is given twice")
        known.add(seed)
    return sorted(seeds)


def _grid(checkpoints, iterations):
    """Checkpoints up to the last iteration in increasing order, without repetition."""
    grid = _integers("checkpoints", checkpoints)
    if max(grid) > iterations:
        place = next(k for k, checkpoint in enumerate(grid) if checkpoint > iterations)
        raise ValueError(
            f"checkpoints[{place}]: {grid[place]} is beyond the last iteration, {iterations}"
        )
    return np.unique(np.array(grid, dtype=np.int64))


def _integers(name, values):
    """A list of at least one non-negative integer."""
    try:
        values = list(itertools.islice(values, _MOST_ENTRIES + 1))
    except TypeError:
        raise ValueError(f"{name}: a list of integers expected, got {shown(values)}") from None
    if not 1 <= len(values) <= _MOST_ENTRIES:
        wrong = "at most a million" if values else "at least one"
        raise ValueError(f"{name}: {wrong} expected")
    return [require_integer(f"{name}[{place}]", value, 0) for place, value in enumerate(values)]
