"""When a run has settled: the smallest T from which on nothing moves over a whole further T.

A run has settled at T if, for every M, each of gap, violation and multiplier is shown to stay
within the margin: its mean over each quarter of the further T, from T to 2T, differs from its mean
over the last quarter up to T by less than the margin, in the units of the criteria. "Shown" means
that the 95 % interval over seeds lies within the margin. Candidates for T are 1, 2 and 5 times
powers of ten, up to a longest one that the study's time allows, and a T is chosen only if the run
has also settled at all longer candidates: a slow method hardly moves in its first iterations, and
one that breaks down may rest before it does. What has not settled at the longest T is labelled, and
runs on.

Two statements judge what this rule looks at, "plateaus" and "steady state". Where it finds a T they
hold by this choice, and are no evidence.
"""

import numpy as np
import pandas as pd

from pgpd_hf.statistics import mean_interval
from replication.statements.evidence import window_means

MARGIN = 0.1  # that of "plateaus"
SHORTEST = 100
STILL = "still moving"
CURVES = ("optimality_gap", "constraint_violation", "multiplier")
COLUMNS = ("evaluators", "curve", "quarter", "move", "low", "high")


def lengths(longest):
    """Candidates for T: 1, 2 and 5 times powers of ten, from :data:`SHORTEST` to the longest."""
    powers = 10 ** np.arange(int(np.log10(longest)) + 1)
    found = sorted(int(factor * power) for power in powers for factor in (1, 2, 5))
    return [length for length in found if SHORTEST <= length <= longest]


def moves(traces, length, scales):
    """How far curves move after T, with 95 % intervals: a row per M, curve and quarter."""
    # Traces are those of one algorithm, and go on to 2T at least; `scales` has the unit of each
    # curve. A curve without a unit, such as the multiplier where the constraint does not bind, is
    # left out.
    if traces["iteration"].max() < 2 * length:
        raise ValueError(f"traces: at least {2 * length} iterations expected, to judge {length}")
    rows = []
    for evaluators, runs in traces.groupby("evaluators", dropna=False):
        table = runs.pivot(index="seed", columns="iteration")
        for curve in [it for it in CURVES if scales.get(it, 0) > 0]:
            values = table[curve].to_numpy() / scales[curve]
            iterations = table[curve].columns.to_numpy()
            before = window_means(values, iterations, 0.75 * length, length)
            for quarter in range(4):
                ends = (length * (1 + (quarter + k) / 4) for k in (0, 1))
                move = np.subtract(window_means(values, iterations, *ends), before)
                rows.append((evaluators, curve, quarter, *mean_interval(move)))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def settled_length(found):
    """The smallest T from which on curves have settled, of tables of moves by T; else None."""
    settled = None
    for length, table in sorted(found.items(), reverse=True):
        if not ((table["low"] > -MARGIN).all() and (table["high"] < MARGIN).all()):
            break
        settled = length
    return settled


def label(length, longest):
    """T, and what a panel says about it: nothing, or that its curves still move at the end."""
    return (longest, STILL) if length is None else (length, "")
