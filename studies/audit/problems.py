"""A CMDP under a setting, what several checks share, and the result of a check."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from audit import exact
from audit.printed import Constants, OutsideAssumptions, Setting

from pgpd_hf import CMDP, NPGPDHF, ZPGPDHF, Optimum, run
from pgpd_hf.optimum import maximize
from pgpd_hf.statistics import mean_interval
from pgpd_hf.streams import generator

ROUNDING = 1e-9  # relative to the largest value: accuracy of linear solves and of the LP
_GRID = 801  # differences of returns at which the error of an answer is computed


@dataclass(frozen=True)
class Result:
    """A part of a statement: what was measured, and its bound."""

    key: str  # of statements.STATEMENTS
    measured: float  # the left side of the inequality, exact or a mean of samples
    bound: float  # the right side
    method: str = "exact"  # or "exact upper bound", "Monte Carlo", "runs"
    error: float = 0.0  # half width of the 95 % interval of `measured`
    reason: str = ""
    # The largest `measured` that the ranges of values, answers and multipliers allow.
    trivial: float = math.inf


@dataclass(frozen=True, eq=False)
class Problem:
    """A CMDP under a setting."""

    cmdp: CMDP
    optimum: Optimum
    setting: Setting
    seeds: range
    constants: Constants

    @property
    def signals(self):
        """Reward and utility, each (S, A)."""
        return self.cmdp.reward, self.cmdp.utility

    @cached_property
    def largest(self):
        """Largest gap and largest violation of any policy."""
        return largest_values(self.cmdp, self.optimum)

    @cached_property
    def policies(self):
        """Uniform, optimal, random and deterministic policies, (K, S, A)."""
        states, actions = self.cmdp.reward.shape
        random = generator(purpose="theory", check="policies")
        mixed = random.dirichlet(np.ones(actions), size=(30, states))
        pure = np.eye(actions)[random.integers(actions, size=(10, states))]
        named = np.stack([np.full((states, actions), 1 / actions), self.optimum.policy])
        return np.concatenate([named, mixed, pure])

    @cached_property
    def natural(self):
        """Averages of runs of NPGPD-HF, with the printed steps."""
        return self.averages(NPGPDHF)

    @cached_property
    def zeroth(self):
        """Averages of runs of ZPGPD-HF, with the printed steps and radius."""
        return self.averages(ZPGPDHF)

    def averages(self, kind, **options):
        """Averages over the iterates 0..T-1 of runs of an algorithm, a row for each seed."""
        algorithm = self.setting.algorithm(kind, **options)
        iterations = self.setting.iterations
        given = {"seeds": self.seeds, "iterations": iterations, "optimum": self.optimum}
        try:
            trace = run(self.cmdp, algorithm, checkpoints=range(iterations), **given)
        except ValueError as error:
            raise OutsideAssumptions(str(error)) from None
        gap = trace["optimality_gap"]
        weighted = trace["multiplier"] * (self.optimum.utility_value - trace["utility_value"])
        table = trace[["seed"]].assign(gap=gap, violation=trace["constraint_violation"])
        table = table.assign(lagrangian=gap + weighted, dual=-weighted)
        return table.groupby("seed").mean()

    def feedback_error(self, low, high):
        """Error of an answer, on a grid of differences from `low` to `high`."""
        setting, grid = self.setting, np.linspace(low, high, _GRID)
        how = setting.evaluators, setting.link, self.constants.return_bound, setting.estimator
        return exact.feedback_error(grid, *how)

    def answer_bias(self, low, high):
        """Largest bias of an answer about differences from `low` to `high`."""
        return float(np.abs(self.feedback_error(low, high).bias).max())


def largest_values(cmdp, optimum):
    """Largest gap and largest violation of any policy: bounds say something below them."""
    worst, unsafest = (maximize(cmdp, it.max() - it) for it in (cmdp.reward, cmdp.utility))
    gap = optimum.reward_value - float(cmdp.evaluate(worst)[0])
    return gap, cmdp.threshold - float(cmdp.evaluate(unsafest)[1])


def averaged(keys, samples, limits, largest):
    """Results of parts whose left sides are means over runs."""
    results = []
    for key, sample, limit, trivial in zip(keys, samples, limits, largest, strict=True):
        mean, error = mean_error(sample)
        results.append(Result(key, mean, float(limit), "runs", error, trivial=trivial))
    return results


def mean_error(samples):
    """Mean of samples, and half the width of its 95 % interval."""
    mean, _, high = mean_interval(samples)
    return mean, high - mean
