"""Random instances as replicates: runs on other draws of P, r and g, with their own step sizes."""

import pandas as pd

from pgpd_hf.runs import run
from pgpd_hf.studies import calibration, configuration


def run_instance(study, algorithm, number, threads=1):
    """Calibrate an algorithm on one instance, and run it there.

    Parameters
    ----------
    study : dict
        The configuration of the instance's group.
    algorithm : str
        A key of its `algorithms`.
    number : int
        Which draw of the environment. No two instances share random numbers: they are replicates.
    threads : int
        Calibration seeds run side by side.

    Returns
    -------
    scores : pandas.DataFrame
        As of :func:`pgpd_hf.studies.calibration.score_grid`; empty where step sizes are given.
    traces : pandas.DataFrame
        Rows of :func:`pgpd_hf.run` for every M and seed of the study.
    """
    cmdp, purpose = configuration.instance(study, number), f"instance {number}"
    scores, steps = pd.DataFrame(), None
    if study["algorithms"][algorithm]["primal_step"] == "calibrated":
        scores, steps = calibration.choose(
            cmdp, algorithm, study, threads, f"calibration, {purpose}"
        )
    traces = [
        run(
            cmdp,
            algorithm,
            seeds=range(study["seeds"]),
            purpose=purpose,
            **configuration.run_setting(study, algorithm, people, steps),
        )
        for people in study["evaluators"]
    ]
    return scores, pd.concat(traces, ignore_index=True)
