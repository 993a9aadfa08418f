"""Step sizes by successive elimination (Even-Dar, Mannor and Mansour 2006).

The score is that of :func:`choose_steps`. By strong duality a violation v raises the reward by at
most lambda* v, so that with a weight of 2 lambda* nothing is gained by an unsafe policy. All pairs
run on the same random numbers, which no reported run uses. After 8, 16, 32, ... seeds a paired t
test drops the pairs that are worse than the best pair. Scores within one percent of the best count
as equal, so that noise does not choose.
"""

from __future__ import annotations  # help() shows names of types

import itertools
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd
from tqdm import tqdm

from pgpd_hf.arguments import require_integer, require_number, shown
from pgpd_hf.cmdp import CMDP
from pgpd_hf.optimum import solve
from pgpd_hf.primal_dual import PrimalDual
from pgpd_hf.runs import NoPolicy, make_algorithm, run
from pgpd_hf.statistics import mean_interval

NAMES = ("primal_step", "dual_step")
CANDIDATES = {  # where a search begins
    "npgpd_hf": {"primal_step": [0.1, 0.3, 1], "dual_step": [0.03, 0.1, 0.3]},
    "zpgpd_hf": {"primal_step": [0.0003, 0.001, 0.003], "dual_step": [0.0003, 0.001, 0.003]},
}
CHOSEN, TIED, DROPPED = "chosen", "tied", "dropped"
LEVEL = 0.05  # largest probability that the best pair is dropped, if differences are normal
_HARDLY = 0.9  # share of the uniform policy's score
_SCORED_PLACES = 100  # evenly over a run
_FIRST_SEEDS, _MOST_SEEDS = 8, 10**4
_EQUAL_WITHIN = 0.01
_COLUMNS = [*NAMES, "seeds", "positive_gap", "positive_violation", "score"]
_COLUMNS += ["behind", "behind_low", "behind_high", "standing"]
_LONGEST = 7  # values to which a list may grow


class StepSizes(TypedDict):
    """Both step sizes, as options of an algorithm."""

    primal_step: float
    dual_step: float


def choose_steps(
    cmdp: CMDP,
    algorithm: PrimalDual | str,
    *,
    iterations: int,
    candidates: Mapping[str, Iterable[float]] | None = None,
    seeds: int = 8,
    threads: int = 1,
    progress: bool = False,
    **options: Any,
) -> StepSizes:
    r"""Choose step sizes for :func:`pgpd_hf.run` by successive elimination, as a dict of options.

    The score of a pair of steps, the smaller the better, is the positive part of the gap plus
    :math:`\max(1, 2\lambda^\star)` times that of the violation, in stored units: half of it the
    mean over whole runs, half over their last quarters, averaged over M. A list grows at an end at
    which the best pair lies, to at most seven values. Warnings say if the best pair is at an end
    after all, since better steps may lie beyond, and if the chosen steps hardly learn.

    Parameters
    ----------
    cmdp, algorithm, iterations, threads, progress, **options
        As for :func:`pgpd_hf.run`. Step sizes are replaced; beside an algorithm's name `evaluators`
        may be a list.
    candidates : dict, optional
        Lists `primal_step` and `dual_step` of positive numbers, by default those of
        :data:`pgpd_hf.steps.CANDIDATES` for the algorithm or its `streams`. A list with a single
        number does not grow.
    seeds : int
        The largest number of seeds for each pair; of few seeds chance chooses.

    Returns
    -------
    dict
        `primal_step` and `dual_step`, floats: of the pairs within one percent of the best score,
        that with the smallest primal step, then the smallest dual step.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp, setting = pgpd_hf.random_cmdp(), {"evaluators": 64, "iterations": 100}
    >>> steps = pgpd_hf.choose_steps(cmdp, "npgpd_hf", seeds=2, **setting)
    >>> trace = pgpd_hf.run(cmdp, "npgpd_hf", seeds=[0], **setting, **steps)
    """
    options |= {"iterations": iterations, "candidates": candidates, "seeds": seeds}
    scores = search_steps(cmdp, algorithm, threads=threads, progress=progress, **options)
    chosen = scores[scores["standing"] == CHOSEN].iloc[0]
    steps = _steps(chosen)
    survivors = scores[scores["standing"] != DROPPED]
    best = survivors.loc[survivors["score"].idxmin()]
    if best["at_end"]:
        tried = [f"{name} {scores[name].min():g} to {scores[name].max():g}" for name in NAMES]
        told = f"longer lists expected, since {_steps(best)} is at an end of {', '.join(tried)}"
        warnings.warn(f"candidates: {told}", stacklevel=2)
    optimum, uniform = solve(cmdp), np.full_like(cmdp.reward, 1 / cmdp.actions)
    v_r, v_g = cmdp.evaluate(uniform)
    positive = np.maximum([optimum.reward_value - v_r, cmdp.threshold - v_g], 0)
    if chosen["score"] > _HARDLY * (positive @ _weights(optimum)):
        told = f"more expected, since with {steps} runs are hardly better than the uniform policy"
        warnings.warn(f"iterations: {told}", stacklevel=2)
    return steps


def search_steps(
    cmdp, algorithm, *, iterations, candidates=None, seeds=8, threads=1, progress=False, **options
):
    """Scores of all pairs in a search, as :func:`choose_steps` makes it.

    The table has a row for each pair: its steps; `seeds`; `positive_gap`, `positive_violation` and
    `score`, which is infinite where rounding destroys the policy; `behind`, by how much the score
    exceeds that of the chosen pair on the same seeds, with a 95 % interval, `behind_low` and
    `behind_high`; `standing`: chosen, tied or dropped; `at_end`, of the grid.
    """
    numbers = options.get("evaluators")
    each = [{"evaluators": it} for it in numbers] if np.iterable(numbers) else []
    algorithms = [make_algorithm(algorithm, options | it) for it in each or [{}]]
    grid = _grid(candidates, algorithms[0])
    seeds = require_integer("seeds", seeds, 1, _MOST_SEEDS)
    optimum, pairs, scores = solve(cmdp), [*itertools.product(*grid.values())], {}
    for it in algorithms:  # what cannot run is refused
        replace(it, **dict(zip(NAMES, pairs[0], strict=True))).prepare(cmdp, optimum, iterations)
    weights = _weights(optimum)
    stages = [end for end in (_FIRST_SEEDS * 2**k for k in range(20)) if end < seeds] + [seeds]
    options = {"iterations": iterations, "optimum": optimum, "threads": threads}

    def mean(pair):
        return scores[pair].sum(1).mean()

    def extend(pairs, end):
        """Run pairs until they have a number of seeds."""
        bar.total = bar.n + sum(end - len(scores.get(pair, ())) for pair in pairs)
        for pair in pairs:
            begun = scores.get(pair, np.empty((0, 2)))
            steps = dict(zip(NAMES, pair, strict=True))
            with_steps = [replace(it, **steps) for it in algorithms]
            found = _score(cmdp, with_steps, range(len(begun), end), **options)
            scores[pair] = np.concatenate([begun, weights * found])
            bar.update(len(found))

    with tqdm(unit="runs", disable=not progress) as bar:
        for end in stages:
            extend(pairs, end)
            while added := _beyond(grid, min(pairs, key=mean), pairs):
                extend(added, end)
                pairs += added
            pairs = [pair for pair in pairs if np.isfinite(mean(pair))]
            if not pairs:
                told = "smaller steps expected; with these no run keeps a policy"
                raise ValueError(f"candidates: {told}")
            best = min(pairs, key=mean)
            level = 1 - 2 * LEVEL / len(stages) / max(1, len(pairs) - 1)  # of a one-sided test
            behind = {pair: _behind(scores, pair, best, level) for pair in pairs}
            pairs = [pair for pair, (_, low, _) in behind.items() if not low > 0]
            if len(pairs) == 1:
                break
    most = (1 + _EQUAL_WITHIN) * min(map(mean, pairs))
    chosen, rows = min(pair for pair in pairs if mean(pair) <= most), []
    for pair in sorted(scores):
        gap, violation = scores[pair].mean(0) / weights
        score, behind = gap + weights[1] * violation, _behind(scores, pair, chosen)
        standing = CHOSEN if pair == chosen else TIED if pair in pairs else DROPPED
        rows.append((*pair, len(scores[pair]), gap, violation, score, *behind, standing))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    values = table[[*NAMES]]
    ends = ((values == values.min()) | (values == values.max())) & (values.nunique() > 1)
    return table.assign(at_end=ends.any(axis=1))


def _weights(optimum):
    """Weights of a gap and of a violation, which counts for more than it is worth."""
    return np.array([1.0, max(1.0, 2 * optimum.multiplier)])


def _steps(row):
    return StepSizes(primal_step=float(row[NAMES[0]]), dual_step=float(row[NAMES[1]]))


def _grid(candidates, algorithm):
    """Increasing values, by name."""
    if candidates is None:
        candidates = CANDIDATES.get(algorithm.streams or algorithm.name)
    if not isinstance(candidates, Mapping) or {*candidates} != {*NAMES}:
        listed = " and ".join(NAMES)
        raise ValueError(f"candidates: lists {listed} expected, got {shown(candidates)}")
    grid = {}
    for name in NAMES:
        values = np.ravel(candidates[name]).tolist() or [None]
        grid[name] = sorted({require_number(f"candidates.{name}", it, above=0) for it in values})
    return grid


def _beyond(grid, best, pairs):
    """Add a value to the grid beyond an end at which the best pair is; return the new pairs.

    A list goes on with its own spacing: 0.1, 0.3, 1 are followed by 3.
    """
    for place, values in enumerate(grid.values()):
        for end in (0, -1):
            if 1 < len(values) < _LONGEST and best[place] == values[end]:
                *rest, last = values if end else values[::-1]
                factor = last / rest[-1] if len(rest) == 1 else rest[-1] / rest[-2]
                value = float(f"{last * factor:.12g}")
                values.insert(len(values) if end else 0, value)
                return sorted({(*pair[:place], value, *pair[place + 1 :]) for pair in pairs})
    return []


def _score(cmdp, algorithms, seeds, iterations, **options):
    """Positive gap and violation of each seed (seeds, 2), averaged over M."""
    places = np.unique(np.rint(np.linspace(0, iterations, _SCORED_PLACES + 1)).astype(np.int64))
    options |= {"iterations": iterations, "checkpoints": places, "purpose": "calibration"}
    parts = []
    for algorithm in algorithms:
        try:
            trace = run(cmdp, algorithm, seeds=seeds, **options)
        except NoPolicy:  # the steps are too large
            return np.full((len(seeds), 2), np.inf)
        positive = trace[["optimality_gap", "constraint_violation"]].clip(lower=0).to_numpy()
        positive = positive.reshape(-1, len(places), 2)
        late = positive[:, places >= 0.75 * iterations]
        parts.append((positive.mean(1) + late.mean(1)) / 2)
    return np.mean(parts, axis=0)


def _behind(scores, pair, other, level=0.95):
    """Mean difference between two pairs on the seeds that both have run, and its interval."""
    seeds = min(len(scores[pair]), len(scores[other]))
    with np.errstate(invalid="ignore"):  # a score may be infinite
        return mean_interval(scores[pair][:seeds].sum(1) - scores[other][:seeds].sum(1), level)
