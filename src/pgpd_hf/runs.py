r"""Runs: from a CMDP, an algorithm and seeds to a trace, with a row per seed and checkpoint.

Values are exact: the policy of every iterate is evaluated by a linear solve, so that the running
averages, which the theorems bound, are over all iterates.
"""

from __future__ import annotations  # help() shows names of types

import difflib
import itertools
import runpy
import traceback
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import fields
from threading import Event
from typing import Any, Literal, overload

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from pgpd_hf.arguments import (
    require_instance,
    require_integer,
    require_number,
    require_one_of,
    shown,
)
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.compilation import announce
from pgpd_hf.npgpd_hf import NPGPD, NPGPDHF
from pgpd_hf.optimum import Optimum, given_optimum
from pgpd_hf.primal_dual import MOST_ITERATIONS, HumanFeedback, PrimalDual, Run, State
from pgpd_hf.tables import VALUES
from pgpd_hf.zpgpd_hf import PGPD, ZPGPDHF

ALGORITHMS: dict[str, type[PrimalDual]] = {
    kind.name: kind for kind in (NPGPDHF, ZPGPDHF, NPGPD, PGPD)
}
COLUMNS = ("algorithm", "evaluators", "seed", "iteration", *VALUES)
_CHUNK_ITERATIONS, _CHUNK_WORDS, _CHUNK_ENTRIES = 1024, 2**18, 2**16  # what fits into a cache
_LONGEST_LIST = 10**6  # seeds, or checkpoints
_POINTS = 100


class NoPolicy(ValueError):
    """A run whose steps are too large, or whose update is wrong: an iterate is no policy."""


@overload
def run(
    cmdp: CMDP,
    algorithm: PrimalDual | str,
    *,
    seeds: Iterable[int],
    iterations: int,
    return_policies: Literal[True],
    **options: Any,
) -> tuple[pd.DataFrame, Array]: ...


@overload
def run(
    cmdp: CMDP,
    algorithm: PrimalDual | str,
    *,
    seeds: Iterable[int],
    iterations: int,
    return_policies: Literal[False] = False,
    **options: Any,
) -> pd.DataFrame: ...


def run(
    cmdp: CMDP,
    algorithm: PrimalDual | str,
    *,
    seeds: Iterable[int],
    iterations: int,
    initial_policy: ArrayLike | None = None,
    initial_multiplier: float = 0.0,
    checkpoints: Iterable[int] | None = None,
    purpose: str = "run",
    optimum: Optimum | None = None,
    threads: int = 1,
    progress: bool = False,
    return_policies: bool = False,
    **options: Any,
) -> pd.DataFrame | tuple[pd.DataFrame, Array]:
    r"""Run an algorithm once per seed, and evaluate it exactly.

    Parameters
    ----------
    cmdp : CMDP
    algorithm : PrimalDual or str
        An algorithm with its options, such as ``NPGPDHF(evaluators=64)``, or its name: "npgpd_hf",
        "zpgpd_hf", "npg_pd" or "pg_pd".
    seeds : iterable of int
        Each gives a run, whose numbers do not depend on the other seeds.
    iterations : int
        T.
    initial_policy : array_like, float, shape (S, A) or (seeds, S, A), optional
        By default uniform; several in the order of `seeds`.
    initial_multiplier : float
        :math:`\lambda^{(0)}`; a dual step of 0 freezes it.
    checkpoints : iterable of int, optional
        Numbers of completed updates, in [0, T], that get a row; by default :func:`checkpoint_grid`.
    purpose : str
        Family of random streams; runs with different purposes share no random numbers.
    optimum : Optimum, optional
        Of this CMDP, if known.
    threads : int
        Seeds that run at the same time; results do not depend on it.
    progress, return_policies : bool
        Whether to draw a bar on the error stream, and to return the last policies as well.
    **options
        Options of the algorithm, where its name is given.

    Returns
    -------
    trace : pandas.DataFrame
        Columns `algorithm`, `evaluators`, `seed`, `iteration`, `reward_value`, `utility_value`,
        `multiplier`, `optimality_gap`, `constraint_violation`, `mean_optimality_gap`,
        `mean_constraint_violation`, `answers` and `env_steps`, and `label` for an algorithm of
        one's own, sorted by seed and iteration, in stored units: gaps times
        ``cmdp.units.reward_unit`` and violations times ``cmdp.units.cost_unit`` are in the user's.
        `evaluators` is <NA> for infinitely many. The gap :math:`V_r^\star - V_r` and the violation
        :math:`b - V_g` are signed; `mean_*` are averages over the iterates 0 to `iteration`;
        `answers`, 0 for infinitely many evaluators, and `env_steps` are cumulative.
    policies : ndarray, float64, shape (seeds, S, A)
        After the last iteration, by increasing seed, folded to allowed actions; only with
        `return_policies`.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp()
    >>> trace = pgpd_hf.run(cmdp, "npg_pd", primal_step=1, dual_step=0.1, seeds=[0], iterations=60)
    >>> trace["optimality_gap"].iloc[[0, -1]].round(3).tolist()
    [0.248, -0.031]
    """
    require_instance("cmdp", cmdp, CMDP)
    algorithm = make_algorithm(algorithm, options)
    seeds = _integers("seeds", seeds)
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"seeds: different seeds expected, got {shown(seeds)}")
    grid = checkpoint_grid(iterations)
    if checkpoints is not None:
        grid = np.unique(np.array(_integers("checkpoints", checkpoints), dtype=np.int64))
    require_integer("checkpoints", grid[-1], 0, iterations)
    threads = require_integer("threads", threads, 1, 1024)
    require_instance("purpose", purpose, str)
    optimum = given_optimum(cmdp, optimum)
    setting = algorithm.prepare(cmdp, optimum, iterations)
    starts = _starts(algorithm, setting, initial_policy, initial_multiplier, seeds)
    announce()
    seeds, stopped = sorted(seeds), Event()
    bar = tqdm(total=setting.iterations * len(seeds), unit="iterations", disable=not progress)
    with bar, ThreadPoolExecutor(threads) as pool:
        try:
            cases = [(Run(algorithm, setting, seed, purpose), starts[seed]) for seed in seeds]
            runs = [pool.submit(_trace, *case, grid, bar, stopped) for case in cases]
            for finished in as_completed(runs):
                finished.result()
        finally:  # after an error or an interrupt, what still runs ends soon
            stopped.set()
            pool.shutdown(cancel_futures=True)
    traces, last = zip(*(it.result() for it in runs), strict=True)
    table = _table(algorithm, setting, seeds, grid, np.concatenate(traces, axis=1))
    return (table, cmdp.fold(np.stack(last))) if return_policies else table


def make_algorithm(algorithm, options):
    """Return an algorithm, or make it from its name and options."""
    if isinstance(algorithm, PrimalDual):
        if options:
            name = next(iter(options))
            raise ValueError(f"{name}: options are set when the algorithm is made, got {algorithm}")
        if ALGORITHMS.get(algorithm.name, type(algorithm)) is not type(algorithm):
            told = f"another name than {algorithm.name!r}, which is the paper's, expected"
            raise ValueError(f"class {type(algorithm).__name__}: {told}")
        if algorithm.streams:
            require_one_of(
                f"class {type(algorithm).__name__}: streams", algorithm.streams, ALGORITHMS
            )
        return algorithm
    if not isinstance(algorithm, str) or algorithm not in ALGORITHMS:
        told = f"one of {', '.join(ALGORITHMS)}, or an object of a subclass of PrimalDual expected"
        raise ValueError(f"algorithm: {told}, got {shown(algorithm)}")
    return with_options(ALGORITHMS[algorithm], options)


def with_options(kind, options):
    """Algorithm of a class; options that it does not have are refused."""
    known = [field.name for field in fields(kind)]
    for name in options:
        if name not in known:
            if "__dataclass_fields__" not in vars(kind):
                told = f"@dataclass(frozen=True, kw_only=True) expected above {kind.__name__}"
                raise ValueError(f"{name}: {told}, so that fields are options")
            near = difflib.get_close_matches(name, known, 1)
            hint = f" (did you mean {near[0]!r}?)" if near else ""
            if name in vars(kind):
                hint = f" (a field has a type: {name}: float = ...)"
            listed = ", ".join(known)
            raise ValueError(f"{name}: no option of {kind.name}{hint}; its options are {listed}")
    if "evaluators" in known and "evaluators" not in options:
        raise ValueError(f"evaluators: a number (None: infinitely many) expected by {kind.name}")
    return make_algorithm(kind(**options), {})


def configured(name, options, evaluators):
    """Class and options of an algorithm of an experiment with M evaluators, if it has any."""
    options = dict(options)
    place = options.pop("class", None)
    kind = load_class(place) if place else ALGORITHMS[name]
    if "evaluators" in kind.__dataclass_fields__:
        options["evaluators"] = evaluators
    return kind, options


def load_class(place):
    """Class of an algorithm of one's own, such as mine.py:Mine; the module is executed."""
    file, name = place.rsplit(":", 1)
    try:
        kind = runpy.run_path(file).get(name)
    except Exception as error:  # whatever a mistake in the file raises
        frames = traceback.extract_tb(error.__traceback__)
        lines = [it.lineno for it in frames if it.filename == file] or [getattr(error, "lineno", 1)]
        told = f"{type(error).__name__}: {error}"
        raise ValueError(f"{file}, line {lines[-1]}: {told}") from error
    if kind is None:
        raise ValueError(f"{file}: a class {name} expected, got none of this name")
    if not (isinstance(kind, type) and issubclass(kind, HumanFeedback)):
        raise ValueError(f"{file}: {name}, a subclass of NPGPDHF or ZPGPDHF, expected")
    return kind


def checkpoint_grid(iterations: int) -> NDArray[np.int64]:
    """Iterations at which a run is recorded: a logarithmic and an even grid of 100 points each.

    It contains T - 1, since the running average at T - 1 is what the theorems bound.
    """
    iterations = require_integer("iterations", iterations, 1, MOST_ITERATIONS)
    even = np.linspace(0, iterations, _POINTS + 1)
    logarithmic = np.geomspace(1, iterations, _POINTS)
    ends = [0, iterations - 1, iterations]
    return np.unique(np.rint(np.concatenate([even, logarithmic, ends])).astype(np.int64))


def iterates(case, state):
    """Yield policies, multipliers and numbers of asked iterations of all iterates, in chunks.

    `case` is a :class:`~pgpd_hf.primal_dual.Run`. The last of the T + 1 iterates is a chunk of its
    own.
    """
    total, words = case.setting.iterations, max(1, case.setting.words)
    fitting = min(_CHUNK_ITERATIONS, _CHUNK_ENTRIES // state.theta.size, _CHUNK_WORDS // words)
    rows = max(1, fitting)
    for first in range(0, total, rows):
        try:
            *iterated, state = case.advance(state, min(rows, total - first))
        except ValueError:  # an exact gradient or advantage has been asked of no policy
            if type(case.algorithm) in ALGORITHMS.values():
                raise NoPolicy(_too_large(case)) from None
            raise
        yield iterated
    policy = case.algorithm.policy(state.theta)
    yield policy[None], np.array([state.multiplier]), np.array([case.asked])


def _too_large(case):
    """What is said of primal steps that lead to no policy."""
    name, step = case.algorithm.name, case.setting.steps.primal
    return f"primal_step: {step:g} is so large that rounding destroys the policy of {name}"


def _trace(case, state, grid, bar, stopped):
    """Values of a run that `_table` unpacks, (6, checkpoints), and its last policy."""
    sums, rows, first = np.zeros(2), np.empty((6, len(grid))), 0
    for policies, multipliers, asked in iterates(case, state):
        try:
            values = np.stack(case.cmdp.evaluate(policies))
        except ValueError as error:
            told = _too_large(case)
            if type(case.algorithm) not in ALGORITHMS.values():
                told = f"algorithm: update of {case.algorithm.name} led to no policy ({error})"
                if case.algorithm.parameterization == "direct":
                    told += "; policies.project_rows(theta, theta) makes theta a policy"
            raise NoPolicy(told) from None
        # Values are added one by one, so that the bits do not depend on where a run is cut.
        totals = np.cumsum(np.column_stack([sums, values]), axis=1)[:, 1:]
        sums, end = totals[:, -1], first + len(multipliers)
        columns = slice(*np.searchsorted(grid, [first, end]))
        means = totals / np.arange(first + 1, end + 1)
        table = np.vstack([values, multipliers[None], means, asked[None]])
        rows[:, columns] = table[:, grid[columns] - first]
        bar.update(min(end, case.setting.iterations) - first)
        first = end
        if stopped.is_set():
            break
    return rows, policies[-1]


def _table(algorithm, setting, seeds, grid, values):
    v_r, v_g, multiplier, mean_v_r, mean_v_g, asked = values
    best, threshold = setting.optimum.reward_value, setting.cmdp.threshold
    asked = asked.astype(np.int64)
    evaluators = getattr(algorithm, "evaluators", None)
    columns = {
        "algorithm": algorithm.name,
        "evaluators": pd.array([evaluators], dtype="Int64").repeat(len(v_r)),
        "seed": np.repeat(seeds, len(grid)),
        "iteration": np.tile(grid, len(seeds)),
        "reward_value": v_r,
        "utility_value": v_g,
        "multiplier": multiplier,
        "optimality_gap": best - v_r,
        "constraint_violation": threshold - v_g,
        "mean_optimality_gap": best - mean_v_r,
        "mean_constraint_violation": threshold - mean_v_g,
        "answers": asked * (evaluators or 0) * setting.questions,
        "env_steps": asked * setting.env_steps,
    }
    if algorithm.name not in ALGORITHMS:
        columns["label"] = algorithm.label or algorithm.name
    table = pd.DataFrame(columns)
    table.attrs["units"] = setting.cmdp.units and setting.cmdp.units._asdict()
    return table


def _starts(algorithm, setting, policy, multiplier, seeds):
    """State before the first iteration, by seed."""
    bound = setting.steps.multiplier_bound
    multiplier = require_number("initial_multiplier", multiplier, at_least=0, at_most=bound)
    several = np.asarray(policy, dtype=object).ndim == 3
    policies = policy if several else [policy] * len(seeds)
    if len(policies) != len(seeds):
        told = f"one policy, or {len(seeds)} for as many seeds, expected, got {len(policies)}"
        raise ValueError(f"initial_policy: {told}")
    given = zip(seeds, policies, strict=True)
    return {seed: State(algorithm.start(setting.cmdp, it), multiplier) for seed, it in given}


def _integers(name, values):
    """List of at least one integer, none of which is negative."""
    try:
        if isinstance(values, str | bytes):
            raise TypeError
        values = list(itertools.islice(values, _LONGEST_LIST + 1))
    except TypeError:
        raise ValueError(f"{name}: a list of integers expected, got {shown(values)}") from None
    require_integer(f"number of {name}", len(values), 1, _LONGEST_LIST)
    return [require_integer(f"{name}[{place}]", value, 0) for place, value in enumerate(values)]
