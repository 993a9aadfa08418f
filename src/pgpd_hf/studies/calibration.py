r"""The choice of step sizes, by a rule that never looks at the paper's statements.

The paper does not give the step sizes of its experiment. The rule: among the pairs of candidates,
take the one with the smallest mean positive gap plus mean positive violation, averaged over evenly
spaced iterations and over seeds whose random streams are used for nothing else.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.cases import STEPS
from pgpd_hf.core.optima import solve
from pgpd_hf.runs import values_at
from pgpd_hf.support.storage import read_json

_CHECKPOINTS = 100


def score(cmdp, algorithm, setting, candidates, seeds, threads=1, purpose="calibration"):
    r"""Score every pair of step sizes.

    Parameters
    ----------
    cmdp : CMDP
        The environment.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`; its step sizes are replaced.
    candidates : dict
        Lists of :math:`\eta_1` and :math:`\eta_2`: `primal_step` and `dual_step`.
    seeds : int
        Number of calibration seeds.
    threads : int
        Seeds run side by side.
    purpose : str
        Names a family of random streams that no reported run uses.

    Returns
    -------
    pandas.DataFrame
        A row per pair: primal_step, dual_step, positive_gap, positive_violation, score (their
        sum), and chosen, which is true for the smallest score, the first one if several share it.
    """
    even = np.linspace(0, setting["iterations"], _CHECKPOINTS + 1)
    checkpoints = np.unique(np.rint(even).astype(np.int64))
    optimum = solve(cmdp)
    rows = []
    for pair in itertools.product(*(candidates[name] for name in STEPS)):
        steps = dict(zip(STEPS, pair, strict=True))
        instance = get_algorithm(algorithm)(cmdp, optimum, Setting(**setting | steps))

        def values(seed, instance=instance):
            return values_at(instance, seed, checkpoints, purpose=purpose)

        with ThreadPoolExecutor(threads) as pool:
            reward_values, utility_values = np.stack(list(pool.map(values, range(seeds))), axis=1)
        gap = np.maximum(optimum.reward_value - reward_values, 0).mean()
        violation = np.maximum(cmdp.threshold - utility_values, 0).mean()
        rows.append({**steps, "positive_gap": gap, "positive_violation": violation})
    table = pd.DataFrame(rows)
    table["score"] = table["positive_gap"] + table["positive_violation"]
    table["chosen"] = table.index == table["score"].idxmin()
    return table


def chosen_steps(scores):
    r"""Chosen step sizes.

    Parameters
    ----------
    scores : pandas.DataFrame
        Made by :func:`score`.

    Returns
    -------
    primal_step, dual_step : float
        :math:`(\eta_1, \eta_2)`.
    """
    chosen = scores[scores["chosen"]].iloc[0]
    return tuple(float(chosen[name]) for name in STEPS)


def read_steps(path):
    r"""Read what a calibration has chosen.

    Parameters
    ----------
    path : path-like
        JSON file with `primal_step` and `dual_step`, or with these for each instance.

    Returns
    -------
    dict
        :math:`(\eta_1, \eta_2)` by instance; those of the study under None.
    """
    content = read_json(path)
    by_instance = {None: content} if STEPS[0] in content else content
    return {
        None if instance is None else int(instance): tuple(steps[name] for name in STEPS)
        for instance, steps in by_instance.items()
    }
