"""Do two contestants compute the same thing? Two-sample tests on what they return."""

import itertools

import numpy as np
from scipy import stats

from benchmarks.task import Task

LEVEL = 1e-4  # probability that any peer is refused although all are right
STATISTICS = ("reward value", "utility value", "multiplier", "mean reward", "mean utility")
ITERATIONS = 4


def small_tasks():
    """Make tasks on which a deviation shows: few states, few evaluators, long steps.

    Yields
    ------
    Task
        Each algorithm with one and with three trajectories per question.
    """
    rng = np.random.default_rng(1)
    cmdp = {
        "transition": rng.dirichlet(np.full(3, 0.5), size=(3, 2)),
        "reward": rng.random((3, 2)),
        "utility": rng.random((3, 2)),
        "initial": np.array([0.6, 0.3, 0.1]),
        "discount": 0.7,
        "threshold": 2.0,
        "scale": 1.0,
    }
    for algorithm, rounds in itertools.product(("npgpd_hf", "zpgpd_hf"), (1, 3)):
        yield Task(
            algorithm=algorithm,
            evaluators=5,
            rounds=rounds,
            horizon=4,
            primal_step=0.3 if algorithm == "npgpd_hf" else 0.1,
            dual_step=0.3,
            multiplier_bound=2.0,
            perturbation=0.5,
            **cmdp,
        )


def disagreements(ours, theirs, comparisons):
    """A line for each statistic that differs between two samples of summaries of runs.

    The test is that of Kolmogorov and Smirnov; all statistics of as many comparisons share the
    error rate :data:`LEVEL`.
    """
    found = []
    # Single precision may move an atom, such as a multiplier at its bound, off its double.
    ours, theirs = np.round(ours, 5), np.round(theirs, 5)
    for column, name in enumerate(STATISTICS):
        test = stats.ks_2samp(ours[:, column], theirs[:, column])
        if not test.pvalue > LEVEL / (len(STATISTICS) * comparisons):
            found.append(f"{name}: distance {test.statistic:.3f}, p = {test.pvalue:.1e}")
    return found
