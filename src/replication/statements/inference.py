"""The inference of N, which the paper does not give, from its statements about the experiment.

The score of an N is the number of statements of the experiment that are reproduced, minus those
that are contradicted, added over two tables of verdicts: one whose units are seeds on the default
environment, one whose units are instances. Seeds and instances are resampled, so that scores that
differ by chance are known as such. Inferred is one of the N that cannot be told from the one with
the best score. A study says at which margins scores are taken and added up, and which of the tied N
is inferred: the one that asks people the fewest questions, or the best one at half the margins.
"""

import numpy as np
import pandas as pd

from pgpd_hf.core import streams
from replication.statements.verdicts import judge, verdict_at

INFERRED, RUNNER_UP, TIED, WORSE = "inferred", "runner-up", "tied", "worse"
SHARE = 0.05  # An N is tied if it is at least as good as the best in this share of resamples.
FACTORS = (0.5, 1.0, 2.0)  # All margins are scaled by them, to see what hangs on margins.
SMALLEST, HALF_MARGINS = "smallest", "half_margins"  # which of the tied N is inferred


def of_experiment(claims):
    """The same claims with those statements alone that the paper makes about its experiment."""
    chosen = {
        name: claim
        for name, claim in claims["claims"].items()
        if claim["source"].endswith(", experiment")
    }
    return {**claims, "claims": chosen}


def score(table, factor=1.0):
    """Number of statements that are reproduced minus those contradicted, all margins scaled."""
    verdicts = [verdict_at(row, factor * row["margin"]) for _, row in table.iterrows()]
    return verdicts.count("reproduced") - verdicts.count("contradicted")


def total(table, margins):
    """Sum of the scores with all margins scaled by each of these factors."""
    return sum(score(table, factor) for factor in margins)


def resampled_scores(claims, evidence, count, margins=(1.0,)):
    """Score the statements again and again, each time on units drawn with replacement."""
    # Two tables with the same units draw the same ones.
    random = np.random.Generator(streams.bit_generator(purpose="resample"))
    return np.array(
        [total(judge(claims, evidence.resample(random)), margins) for _ in range(count)]
    )


def infer(tables, resampled, margins=(1.0,), of_tied=SMALLEST):
    """Choose N by this rule, from lists of tables of verdicts and (R,) resampled scores by N."""
    numbers = sorted(tables)
    rows = pd.DataFrame({"rounds": numbers})
    for factor in FACTORS:
        name = "score" if factor == 1 else f"score_{factor:g}"
        rows[name] = [sum(score(table, factor) for table in tables[n]) for n in numbers]
    rows["total"] = [sum(total(table, margins) for table in tables[n]) for n in numbers]
    best = numbers[int(np.argmax(rows["total"]))]
    # `as_good` is the share of resamples in which the total is at least that of the best N.
    rows["as_good"] = [np.mean(resampled[n] >= resampled[best]) for n in numbers]
    tied = (rows["as_good"] >= SHARE) | (rows["rounds"] == best)
    rows["standing"] = np.where(tied, TIED, WORSE)
    candidates = rows[tied]
    inferred = candidates.index[0]
    if of_tied == HALF_MARGINS:  # the smallest of those that are best there
        inferred = candidates["score_0.5"].idxmax()
    runner_up = rows["total"].drop(inferred).idxmax()
    rows.loc[inferred, "standing"] = INFERRED
    rows.loc[runner_up, "standing"] = RUNNER_UP
    return rows
