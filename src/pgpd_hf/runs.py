r"""Runs: from a process, an algorithm and seeds to a trace.

The trace has one row per seed and checkpoint. Values are exact: every iterate's policy is
evaluated by the linear solve, so the running averages that the theorems bound include all iterates
and not only those at checkpoints.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.algorithms.base import LARGEST, OPTIONS
from pgpd_hf.core import optima, streams
from pgpd_hf.core.arguments import require_integer, shown

COLUMNS = (
    "algorithm",
    "evaluators",
    "seed",
    "iteration",
    "reward_value",
    "utility_value",
    "multiplier",
    "optimality_gap",
    "constraint_violation",
    "mean_optimality_gap",
    "mean_constraint_violation",
    "queries",
    "steps",
)
METRICS = ("optimality_gap", "constraint_violation")
_CHUNK_WORDS = 2**16  # random words drawn at once: 512 KiB, which stays in the cache
_CHUNK_ENTRIES = 2**15  # of policies that are evaluated at once: 256 KiB
_CHUNK_ITERATIONS = 512
_MOST_ENTRIES = 10**6  # of a list of seeds or checkpoints


def run(
    cmdp,
    algorithm,
    *,
    evaluators,
    seeds,
    iterations,
    pairs=1,
    horizon=80,
    primal_step=None,
    dual_step=None,
    multiplier_bound=None,
    link="logistic",
    perturbation=None,
    directions="sphere",
    parameterization=None,
    initial_policy=None,
    checkpoints=None,
    threads=1,
    purpose="run",
    optimum=None,
):
    r"""Run an algorithm once per seed and evaluate it exactly.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`: "npgpd_hf", "zpgpd_hf", "npg_pd" or "pg_pd".
    evaluators : int or None
        M, people per question; None for infinitely many, who know the difference itself.
    seeds : iterable of int
        Each gives one run, whose numbers do not depend on the other seeds.
    iterations : int
        T.
    pairs : int
        N, rounds of trajectories per iteration.
    horizon : int
        H; a trajectory has H + 1 steps.
    primal_step, dual_step : float, optional
        :math:`\eta_1, \eta_2 \ge 0`; by default those of the algorithm's theorem.
    multiplier_bound : float, optional
        Upper end of :math:`\Lambda`; by default :math:`2/((1-\gamma)\xi)`.
    link : str
        A key of :data:`pgpd_hf.LINKS`.
    perturbation : float, optional
        :math:`\mu > 0` of zeroth-order methods; by default that of Theorem 2. Other methods have
        none, nor directions.
    directions : {"sphere", "tangent"}
        Of the perturbation.
    parameterization : {"softmax", "direct"}, optional
        By default the paper's for this algorithm.
    initial_policy : array_like, float, shape (S, A), optional
        By default uniform.
    checkpoints : iterable of int, optional
        Numbers of completed updates, in [0, T], at which a row is written; by default
        :func:`checkpoint_grid`.
    threads : int
        Seeds run side by side; no number depends on it.
    purpose : str
        Names a family of random streams; runs for different purposes share no numbers.
    optimum : Optimum, optional
        Of this process, if it is at hand; by default it is found by linear program.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, sorted by seed and iteration. `evaluators` is <NA> for infinitely
        many. `constraint_violation` is :math:`b - V_g` and `optimality_gap` is
        :math:`V_r^\star - V_r`, both signed; `mean_*` average over iterates 0..iteration.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.
    """
    setting = Setting(
        evaluators=evaluators,
        iterations=iterations,
        pairs=pairs,
        horizon=horizon,
        primal_step=primal_step,
        dual_step=dual_step,
        multiplier_bound=multiplier_bound,
        link=link,
        perturbation=perturbation,
        directions=directions,
        parameterization=parameterization,
    )
    seeds = _seeds(seeds)
    grid = checkpoint_grid(iterations) if checkpoints is None else _grid(checkpoints, iterations)
    require_integer("threads", threads, 1, 1024)
    if not isinstance(purpose, str):
        raise ValueError(f"purpose: text expected, got {shown(purpose)}")
    kind = get_algorithm(algorithm)
    kind.refuse_idle([name for name in OPTIONS if getattr(setting, name) != getattr(Setting, name)])
    optima.require_process(cmdp)
    if optimum is None:
        optimum = optima.solve(cmdp)
    else:
        optima.require_optimum(cmdp, optimum)
    process = kind(cmdp, optimum, setting)
    process.initial_parameter(initial_policy)  # refuse a bad start before the first seed

    def trace(seed):
        return _trace(process, optimum, seed, initial_policy, grid, purpose)

    with ThreadPoolExecutor(threads) as pool:
        traces = list(pool.map(trace, seeds))
    columns = {name: np.concatenate([trace[name] for trace in traces]) for name in traces[0]}
    people = pd.array([evaluators] * len(columns["seed"]), dtype="Int64")
    columns.update(algorithm=process.name, evaluators=people)
    return pd.DataFrame(columns, columns=list(COLUMNS))


def checkpoint_grid(iterations, points=100):
    """Iterations at which a run is recorded, dense at the start and even on the plateau.

    Parameters
    ----------
    iterations : int
        T >= 1.
    points : int
        Number of points of the logarithmic and of the even grid.

    Returns
    -------
    ndarray, int64
        Increasing, from 0 to T; T - 1 is among them, where the running average is the theorems'.

    Raises
    ------
    ValueError
        If an argument is no positive integer.
    """
    require_integer("iterations", iterations, 1, LARGEST["iterations"])
    require_integer("points", points, 1)
    even = np.linspace(0, iterations, points + 1)
    logarithmic = np.geomspace(1, iterations, points)
    ends = [0, iterations - 1, iterations]
    return np.unique(np.rint(np.concatenate([even, logarithmic, ends])).astype(np.int64))


def iterates(process, seed, initial_policy=None, purpose="run", theta=None, multiplier=0.0):
    """Yield all iterates of one run, in chunks.

    Parameters
    ----------
    process : Algorithm
        Ready to iterate.
    seed : int
        Names the run's streams.
    initial_policy : array_like, optional
        Where to start.
    purpose : str
        Names the family of streams.
    theta : ndarray, float64, shape (S, A), optional
        Go on from this parameter; updated in place.
    multiplier : float
        Go on from this multiplier.

    Yields
    ------
    policies : ndarray, float64, shape (iterates, S, A)
        Consecutive policies; T + 1 in all, the last one after the last update.
    multipliers : ndarray, float64, shape (iterates,)
        Their multipliers.
    """
    axes = {"purpose": purpose, "algorithm": process.name, "seed": seed}
    axes["evaluators"] = process.setting.evaluators
    state = streams.word_state(kind="words", **axes)
    normal = np.random.Generator(streams.bit_generator(kind="normals", **axes))
    if theta is None:
        theta = process.initial_parameter(initial_policy)
    width, dimension = process.words_per_iteration, process.normals_per_iteration
    rows = min(_CHUNK_ITERATIONS, max(1, _CHUNK_WORDS // max(1, width)))
    chunk = min(_CHUNK_ITERATIONS, max(1, _CHUNK_ENTRIES // theta.size))
    chunk = -(-chunk // rows) * rows
    words, normals = np.empty((rows, width), np.uint64), np.empty((rows, dimension))
    done, length = 0, process.setting.iterations
    while done < length:
        policies, multipliers = [], []
        for begin in range(done, min(done + chunk, length), rows):
            count = min(rows, length - begin)
            streams.draw_words(state, words[:count])
            normal.standard_normal(out=normals[:count])
            advanced = process.advance(theta, multiplier, words[:count], normals[:count])
            policies.append(advanced[0])
            multipliers.append(advanced[1])
            multiplier = advanced[2]
        done += chunk
        yield np.concatenate(policies), np.concatenate(multipliers)
    yield process.policy(theta)[None], np.array([multiplier])


def values_at(process, seed, checkpoints, purpose="run"):
    """Exact values of some iterates of one run, without its running averages.

    Parameters
    ----------
    process : Algorithm
        Ready to iterate.
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
    chosen, first = [], 0
    for policies, _ in iterates(process, seed, purpose=purpose):
        at = checkpoints[(checkpoints >= first) & (checkpoints < first + len(policies))] - first
        chosen.append(policies[at])
        first += len(policies)
    return np.stack(process.cmdp.evaluate(np.concatenate(chosen)))


def _trace(process, optimum, seed, initial_policy, grid, purpose):
    """Columns of one seed, all but those that are the same for every seed."""
    total = np.zeros(2)
    rows = []
    first = 0
    for policies, multipliers in iterates(process, seed, initial_policy, purpose):
        try:
            values = np.stack(process.cmdp.evaluate(policies))  # (2, iterates)
        except ValueError as error:
            raise ValueError(
                f"primal_step: {process.primal_step} is so large that rounding destroys the "
                f"policy ({error})"
            ) from None
        # Sequential sums with a carry: the same bits whatever the chunk.
        sums = np.cumsum(np.concatenate([total[:, None], values], axis=1), axis=1)[:, 1:]
        total = sums[:, -1]
        chosen = grid[(grid >= first) & (grid < first + len(policies))]
        at = chosen - first
        rows.append((values[:, at], multipliers[at], sums[:, at] / (chosen + 1)))
        first += len(policies)
    values = np.concatenate([row[0] for row in rows], axis=1)
    means = np.concatenate([row[2] for row in rows], axis=1)
    people = process.setting.evaluators
    queries = 0 if people is None else people * process.questions_per_iteration
    return {
        "seed": np.full(len(grid), seed),
        "iteration": grid,
        "reward_value": values[0],
        "utility_value": values[1],
        "multiplier": np.concatenate([row[1] for row in rows]),
        "optimality_gap": optimum.reward_value - values[0],
        "constraint_violation": process.cmdp.threshold - values[1],
        "mean_optimality_gap": optimum.reward_value - means[0],
        "mean_constraint_violation": process.cmdp.threshold - means[1],
        "queries": grid * queries,
        "steps": grid * process.steps_per_iteration,
    }


def _seeds(seeds):
    seeds = _integers("seeds", seeds)
    known = set()
    for place, seed in enumerate(seeds):
        if seed in known:
            raise ValueError(f"seeds[{place}]: each may appear once, and {seed} does before")
        known.add(seed)
    return sorted(seeds)


def _grid(checkpoints, iterations):
    grid = _integers("checkpoints", checkpoints)
    if max(grid) > iterations:
        place = next(k for k, checkpoint in enumerate(grid) if checkpoint > iterations)
        raise ValueError(
            f"checkpoints[{place}]: {grid[place]} is beyond the last iteration, {iterations}"
        )
    return np.unique(np.array(grid, dtype=np.int64))


def _integers(name, values):
    """Non-negative integers, at least one, as a list."""
    try:
        values = list(itertools.islice(values, _MOST_ENTRIES + 1))
    except TypeError:
        raise ValueError(f"{name}: several integers expected, got {shown(values)}") from None
    if not 1 <= len(values) <= _MOST_ENTRIES:
        wrong = "at most a million expected" if values else "at least one expected"
        raise ValueError(f"{name}: {wrong}")
    for place, value in enumerate(values):
        require_integer(f"{name}[{place}]", value, 0)
    return [int(value) for value in values]
