"""The input and the output of a check: a CMDP under a setting, and results."""

import math
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from pgpd_hf.core import optima, streams
from pgpd_hf.core.policies import uniform_policy
from pgpd_hf.runs.traces import iterates
from pgpd_hf.statistics import mean_interval
from replication.theory import exact
from replication.theory.constants import Constants, OutsideAssumptions

ROUNDING = 1e-9  # relative to the largest value: accuracy of the linear solves and of the LP
_GRID = 801  # differences of returns at which the error of an answer is computed


@dataclass(frozen=True)
class Result:
    """One part of a statement: what was measured, and its bound."""

    key: str  # of bounds.STATEMENTS
    measured: float  # the left side of the inequality, exact or a mean of samples
    bound: float  # the right side
    method: str = "exact"  # or "exact upper bound", "Monte Carlo", "runs"
    error: float = 0.0  # half width of the 95 % interval of `measured`
    reason: str = ""
    # The largest `measured` that the ranges of values, answers and multipliers allow. A bound that
    # is not below it is vacuous, and else informative.
    trivial: float = math.inf


@dataclass
class Problem:
    """A CMDP under a setting, with what several checks share."""

    cmdp: object
    optimum: object
    setting: object
    seeds: list
    constants: Constants
    _made: dict = field(default_factory=dict)

    @property
    def largest(self):
        """Tuple of float: :func:`largest_values`."""
        return largest_values(self.cmdp, self.optimum)

    @property
    def signals(self):
        """Tuple of ndarray, float64, shape (S, A): reward and utility."""
        return self.cmdp.reward, self.cmdp.utility

    def random(self, purpose):
        """numpy.random.Generator: random numbers of one check."""
        return np.random.Generator(streams.bit_generator(purpose="theory", check=purpose))

    def policies(self):
        """ndarray, float64, shape (K, S, A): uniform, optimal, random and deterministic ones."""
        shape = self.cmdp.states, self.cmdp.actions
        random = self.random("policies")
        mixed = random.dirichlet(np.ones(shape[1]), size=(30, shape[0]))
        pure = np.eye(shape[1])[random.integers(shape[1], size=(10, shape[0]))]
        named = np.stack([uniform_policy(*shape), self.optimum.policy])
        return np.concatenate([named, mixed, pure])

    def algorithm(self, name):
        """Run: an algorithm under this setting."""
        try:
            return self.setting.run(name, self.cmdp, self.optimum)
        except ValueError as error:  # the theorem's step or perturbation is not a positive number
            raise OutsideAssumptions(str(error)) from None

    def averages(self, name):
        """DataFrame: :func:`run_averages` of an algorithm, which runs once for all checks."""
        return self.once(name, lambda: run_averages(self.algorithm(name), self.optimum, self.seeds))

    def once(self, name, make):
        """object: what `make` returns, which is called once for all checks that ask for a name."""
        if name not in self._made:
            self._made[name] = make()
        return self._made[name]

    def feedback_error(self, low, high):
        """FeedbackError: error of an answer, on a grid of differences from `low` to `high`."""
        grid = np.linspace(low, high, _GRID)
        largest = self.constants.return_bound
        people, estimator = self.setting.evaluators, self.setting.estimator
        return exact.feedback_error(grid, people, self.constants.link, largest, estimator)

    def answer_bias(self, low, high):
        """float: largest bias of an answer about differences from `low` to `high`."""
        return np.abs(self.feedback_error(low, high).bias).max()

    def require_theorem_steps(self):
        """Check that the setting leaves the step sizes to the theorems."""
        if self.setting.primal_step is not None or self.setting.dual_step is not None:
            raise OutsideAssumptions(
                "primal_step, dual_step: the theorem is for its own step sizes"
            )


def largest_values(cmdp, optimum):
    """Largest gap and largest violation of any policy: bounds are informative below them."""
    worst, unsafest = (
        optima.maximize(cmdp, signal.max() - signal) for signal in (cmdp.reward, cmdp.utility)
    )
    gap = optimum.reward_value - float(cmdp.evaluate(worst)[0])
    return gap, cmdp.threshold - float(cmdp.evaluate(unsafest)[1])


def run_averages(algorithm, optimum, seeds):
    """Averages over iterates 0..T-1 of runs, as the theorems take them: a row for each seed."""
    return pd.DataFrame([averages_of(algorithm, optimum, *_whole_run(algorithm, s)) for s in seeds])


def _whole_run(algorithm, seed):
    """Policies 0..T-1, (T, S, A), and multipliers 0..T of a run."""
    policies, multipliers, _ = zip(*iterates(algorithm, seed), strict=True)
    return np.concatenate(policies[:-1]), np.concatenate(multipliers)


def averages_of(algorithm, optimum, policies, multipliers):
    """Averages of one run in units of value: gap, violation, and the parts of the Lagrangian's."""
    v_r, v_g = algorithm.cmdp.evaluate(policies)
    gap = optimum.reward_value - v_r
    weighted = multipliers[:-1] * (optimum.utility_value - v_g)
    return {
        "gap": gap.mean(),
        "violation": (algorithm.cmdp.threshold - v_g).mean(),
        "lagrangian": (gap + weighted).mean(),
        "dual": -weighted.mean(),
    }


def averaged(item, samples, limits, largest):
    """Results of an item's parts, whose left sides are means over runs; one part has no letter."""
    results = []
    for part, sample, limit, trivial in zip("abc", samples, limits, largest, strict=False):
        mean, error = mean_error(sample)
        key = f"{item}{part}" if len(samples) > 1 else item
        results.append(Result(key, mean, float(limit), "runs", error, trivial=trivial))
    return results


def mean_error(samples):
    """Mean of samples, and half the width of its 95 % interval."""
    mean, _, high = mean_interval(samples)
    return mean, high - mean
