"""The typical environment: the random instance nearest to the median of the first ones that bind.

Of the first hundred instances whose constraint binds, each is described by four numbers: its slack,
the violation and the gap of the uniform policy, and the optimal multiplier. Each number is scaled
robustly, by its distance from the median in units of the median such distance, so that no extreme
instance decides what typical means. The instance with the smallest Euclidean distance is the most
typical one; of equal ones it is the first.
"""

import itertools

import numpy as np
import pandas as pd

from pgpd_hf import solve
from pgpd_hf.core.optima import utility_range
from pgpd_hf.core.policies import uniform_policy

PROPERTIES = ("slack", "initial_violation", "multiplier", "initial_gap")
COUNT = 100


def describe(cmdp):
    """Numbers by which instances are compared."""
    optimum = solve(cmdp)
    reward_value, utility_value = cmdp.evaluate(uniform_policy(cmdp.states, cmdp.actions))
    return {
        "slack": optimum.slack,
        "initial_violation": cmdp.threshold - utility_value,
        "multiplier": optimum.multiplier,
        "initial_gap": optimum.reward_value - reward_value,
    }


def first_binding(make, count=COUNT):
    """Table of the first instances whose constraint binds, numbered from 1, which `make` makes."""
    binding = (
        {"instance": number, **describe(cmdp)}
        for number, cmdp in ((number, make(number)) for number in itertools.count(1))
        if utility_range(cmdp)[0] < cmdp.threshold
    )
    return pd.DataFrame(itertools.islice(binding, count))


def most_typical(table):
    """Instances of a table, the most typical one first."""
    values = table[[*PROPERTIES]].to_numpy()
    distances = np.abs(values - np.median(values, axis=0))
    scaled = distances / np.median(distances, axis=0)
    order = np.argsort(np.linalg.norm(scaled, axis=1), kind="stable")
    return [int(number) for number in table["instance"].to_numpy()[order]]
