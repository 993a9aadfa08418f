"""The inference of N, which the paper does not give, from its statements about the experiment.

The score of an N is the number of statements of the experiment that are reproduced, minus those
that are contradicted, added over two tables of verdicts: one whose units are seeds on the default
environment, one whose units are instances. Seeds and instances are resampled, so that scores that
differ by chance are known as such. The N that is inferred is the smallest that cannot be told from
the one with the best score: among equals, the one that asks people the fewest questions.
"""

import numpy as np
import pandas as pd

from pgpd_hf.core import streams
from replication.statements.verdicts import judge, verdict_at

INFERRED, RUNNER_UP, TIED, WORSE = "inferred", "runner-up", "tied", "worse"
SHARE = 0.05  # of resamples in which an N is at least as good as the best, if it is tied
FACTORS = (0.5, 1.0, 2.0)  # of all margins, to see what hangs on them


def of_experiment(claims):
    """Statements that the paper makes about its experiment.

    Parameters
    ----------
    claims : dict
        Made by :func:`replication.statements.load_claims`.

    Returns
    -------
    dict
        Likewise, with these statements alone.
    """
    chosen = {
        name: claim
        for name, claim in claims["claims"].items()
        if claim["source"].endswith(", experiment")
    }
    return {**claims, "claims": chosen}


def score(table, factor=1.0):
    """How well runs bear out statements.

    Parameters
    ----------
    table : pandas.DataFrame
        Made by :func:`replication.statements.judge`.
    factor : float
        Multiplies all margins.

    Returns
    -------
    int
        Number of statements that are reproduced, minus those that are contradicted.
    """
    verdicts = [verdict_at(row, factor * row["margin"]) for _, row in table.iterrows()]
    return verdicts.count("reproduced") - verdicts.count("contradicted")


def resampled_scores(claims, evidence, count):
    """Score the statements again and again, each time on units drawn with replacement.

    Parameters
    ----------
    claims : dict
        Made by :func:`of_experiment`.
    evidence : Evidence
        Statistics of the runs.
    count : int
        Number of resamples. Two tables with the same units draw the same ones.

    Returns
    -------
    ndarray, int64, shape (count,)
    """
    random = np.random.Generator(streams.bit_generator(purpose="resample"))
    return np.array([score(judge(claims, evidence.resample(random))) for _ in range(count)])


def infer(tables, resampled):
    """Choose N by the rule of this module.

    Parameters
    ----------
    tables : dict of list of pandas.DataFrame
        By N, tables of verdicts on the statements of the experiment, each with its own units. At
        least two N.
    resampled : dict of ndarray
        By N, sums of the scores of these tables, one for each resample; shape (R,).

    Returns
    -------
    pandas.DataFrame
        A row per N: pairs; score, and score_F with all margins multiplied by F; as_good, the share
        of resamples in which the score is at least that of the best N; and standing: "inferred",
        "runner-up" (the best of the others), "tied" or "worse".

    Raises
    ------
    ValueError
        If there are fewer than two N.
    """
    numbers = sorted(tables)
    if len(numbers) < 2:
        raise ValueError(f"tables: at least two N expected, to choose among, got {numbers}")
    rows = pd.DataFrame({"pairs": numbers})
    for factor in FACTORS:
        name = "score" if factor == 1 else f"score_{factor:g}"
        rows[name] = [sum(score(table, factor) for table in tables[n]) for n in numbers]
    best = numbers[int(np.argmax(rows["score"]))]
    rows["as_good"] = [np.mean(resampled[n] >= resampled[best]) for n in numbers]
    tied = (rows["as_good"] >= SHARE) | (rows["pairs"] == best)
    rows["standing"] = np.where(tied, TIED, WORSE)
    inferred = tied.idxmax()
    runner_up = rows["score"].drop(inferred).idxmax()
    rows.loc[inferred, "standing"] = INFERRED
    rows.loc[runner_up, "standing"] = RUNNER_UP
    return rows
