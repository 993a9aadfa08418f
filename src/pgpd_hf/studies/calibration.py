r"""The choice of step sizes, by a rule that never looks at the paper's statements.

The paper does not give the step sizes of its experiment. The rule: among the pairs of a grid, take
the one with the smallest mean positive gap plus mean positive violation, averaged over evenly
spaced iterations and over seeds whose random streams are used for nothing else.
"""

import itertools
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core.optima import solve
from pgpd_hf.runs import values_at
from pgpd_hf.studies import configuration

_CHECKPOINTS = 100


def choose(cmdp, algorithm, study, threads=1, purpose="calibration"):
    r"""Score the candidates of a study, and choose.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of the study's `algorithms`.
    study : dict
        A configuration.
    threads : int
        Seeds run side by side.
    purpose : str
        Names a family of random streams that no reported run uses.

    Returns
    -------
    scores : pandas.DataFrame
        As of :func:`score_grid`.
    steps : tuple of float
        The chosen :math:`(\eta_1, \eta_2)`.
    """
    options = study["calibration"]
    setting = configuration.run_setting(study, algorithm, options["evaluators"])
    grid = options["grid"][algorithm]
    scores = score_grid(cmdp, algorithm, setting, grid, options["seeds"], threads, purpose)
    chosen = scores[scores["chosen"]].iloc[0]
    return scores, (float(chosen["primal_step"]), float(chosen["dual_step"]))


def score_grid(cmdp, algorithm, setting, grid, seeds, threads=1, purpose="calibration"):
    """Score every pair of step sizes.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`; its step sizes are replaced.
    grid : dict
        Lists of candidates: `primal_step` and `dual_step`.
    seeds : int
        Number of calibration seeds.
    threads : int
        Seeds run side by side.
    purpose : str
        As in :func:`choose`.

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
    for primal_step, dual_step in itertools.product(grid["primal_step"], grid["dual_step"]):
        steps = {"primal_step": primal_step, "dual_step": dual_step}
        process = get_algorithm(algorithm)(cmdp, optimum, Setting(**{**setting, **steps}))

        def values(seed, process=process):
            return values_at(process, seed, checkpoints, purpose=purpose)

        with ThreadPoolExecutor(threads) as pool:
            reward_values, utility_values = np.stack(list(pool.map(values, range(seeds))), axis=1)
        gap = np.maximum(optimum.reward_value - reward_values, 0).mean()
        violation = np.maximum(cmdp.threshold - utility_values, 0).mean()
        rows.append({**steps, "positive_gap": gap, "positive_violation": violation})
    table = pd.DataFrame(rows)
    table["score"] = table["positive_gap"] + table["positive_violation"]
    table["chosen"] = table.index == table["score"].idxmin()
    return table
