"""Measure what runs cost on this machine: the constants of src/replication/study/resources.py.

    OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 python -m benchmarks.costs

Runs of different T, N, H, M and sizes are timed, and non-negative coefficients fitted to their
times with equal relative weights. Takes half a minute; nothing else should run meanwhile.
"""

import itertools
import time

import numpy as np
from scipy.optimize import nnls

from pgpd_hf import ALGORITHMS, run
from pgpd_hf.environments.random import random_cmdp
from replication.study import resources

OPTIONS = {"discount": 0.9, "concentration": 5, "scale": "normalized"}
SIZES = [(5, 3), (10, 4), (20, 6), (40, 4), (80, 4)]
SETTINGS = list(itertools.product([1, 10], [20, 80], [None, 64, 4096]))  # N, H, M
SECONDS = 0.1  # that a run should take, by the estimate
NAMES = ("RUN", "ITERATION", "STEP", "QUESTION", "VOTE", "ENTRY", "EVALUATION")


def terms(algorithm, iterations, rounds, horizon, evaluators, states, actions):
    """What the estimate multiplies by its constants, in the order of their names."""
    trajectories, questions = ALGORITHMS[algorithm].effort(states, actions, rounds)
    votes = questions * (evaluators or 0)
    each = [1, trajectories * (horizon + 1), questions, votes, states * actions, states**2]
    return np.array([1, *(iterations * number for number in each)], dtype=float)


def timed(cmdp, algorithm, iterations, rounds, horizon, evaluators):
    """Seconds of processor time of one run, after a short one that compiles."""
    options = {"rounds": rounds, "horizon": horizon, "evaluators": evaluators}
    options |= {"primal_step": 0.1, "dual_step": 0.1, "perturbation": 1.0, "seeds": [0]}
    run(cmdp, algorithm, iterations=2, **options)
    start = time.process_time()
    run(cmdp, algorithm, iterations=iterations, **options)
    return time.process_time() - start


def main():
    rows, seconds = [], []
    for states, actions in SIZES:
        cmdp = random_cmdp(states=states, actions=actions, threshold="midway", **OPTIONS)
        for algorithm in ("npgpd_hf", "zpgpd_hf"):
            for rounds, horizon, evaluators in SETTINGS:
                setting = {"iterations": 1000, "rounds": rounds, "horizon": horizon}
                setting["evaluators"] = evaluators
                work = resources.run_seconds(algorithm, setting, states, actions) - resources.RUN
                iterations = max(20, int(1000 * SECONDS / work))
                row = terms(algorithm, iterations, rounds, horizon, evaluators, states, actions)
                rows.append(row)
                seconds.append(timed(cmdp, algorithm, iterations, rounds, horizon, evaluators))
    weights = 1 / np.array(seconds)
    matrix = np.array(rows) * weights[:, None]
    scale = np.abs(matrix).max(axis=0)
    fitted = nnls(matrix / scale, np.ones(len(rows)))[0] / scale
    ratio = np.array(rows) @ np.array([getattr(resources, name) for name in NAMES]) * weights
    for name, value in zip(NAMES, fitted, strict=True):
        print(f"{name:<12}{value:.1e}   (declared {getattr(resources, name):.1e})")
    print(f"declared over measured time of a run: {ratio.min():.2f} to {ratio.max():.2f}")


if __name__ == "__main__":
    main()
