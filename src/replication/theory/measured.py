r"""What runs measure beside what theorems promise, for the same M, N and T.

Each bound is about runs with step sizes and a cap of multipliers of its own. Of the runs here those
with the printed steps are what a printed theorem bounds; for the others the comparison says how far
the best guarantee for their M, N and T is from what they attain.
"""

import numpy as np
import pandas as pd

from pgpd_hf.runs.traces import COLUMNS
from pgpd_hf.statistics import intervals
from replication.theory.lengths import THEOREMS, bounds_at

RUNS = {  # for people
    "figure": "Figure 1",
    "study": "the study's steps for T",
    "theorem": "the printed steps for T",
}
_PLACE = ["algorithm", "evaluators", "rounds", "iterations"]


def measure(traces, rounds):
    """Means over seeds of averages over the first T iterates: the larger of gap and violation."""
    # Runs of Figure 1 give an average for every checkpoint, those of analyses/rates.py only for
    # their own T.
    table = traces[traces["algorithm"].isin(THEOREMS) & traces["iteration"].gt(0)]
    table = table.reindex(columns=[*COLUMNS, "rounds", "step_rule", "iterations"])
    length = table["iteration"]
    table = table[table["iterations"].isna() | table["iterations"].eq(length)].copy()
    table["rounds"] = table["rounds"].fillna(table["algorithm"].map(rounds)).astype(int)
    table["runs"] = table["step_rule"].astype(object).fillna("figure")
    table["iterations"] = length = table["iteration"]
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        # The mean at T includes the iterate T, which is not among the first T.
        table[name] = ((length + 1) * table[f"mean_{column}"] - table[column]) / length
    table["violation"] = table["violation"].clip(lower=0)
    found = intervals(table, [*_PLACE, "runs"], ["gap", "violation"])
    larger = found.groupby([*_PLACE, "runs"], dropna=False)["mean"].idxmax()
    found = found.loc[np.sort(larger)].reset_index(drop=True)
    return found.astype({"evaluators": "Int64"})


def beside(measured, cmdp, optimum, setting, estimators):
    """What is measured and what is promised, side by side: the larger one of gap and violation."""
    # Of Figure 1 only those T are taken of which there are other runs, and the last one. Each bound
    # is taken at step sizes of its own: `printed` and `corrected` for votes as the runs read them,
    # `best` for votes read without bias. Cells are empty where there are no runs, or outside a
    # bound's assumptions.
    last = measured.groupby(["algorithm", "runs"])["iterations"].transform("max")
    lengths = measured[measured["runs"].ne("figure") | measured["iterations"].eq(last)]
    table = measured.merge(lengths[["algorithm", "iterations"]].drop_duplicates())
    rows = []
    for place, runs in table.groupby(_PLACE, sort=False, dropna=False):
        row = dict(zip(_PLACE, place, strict=True))
        row |= _bounds(row, cmdp, optimum, setting, estimators)
        for it in runs.itertuples():
            row |= {it.runs: it.mean, f"{it.runs}_error": (it.high - it.low) / 2}
        rows.append(row | {"measured": runs["mean"].max()})
    columns = [*_PLACE, "printed", "corrected", "best"]
    columns += [name + end for name in RUNS for end in ("", "_error")]
    table = pd.DataFrame(rows, columns=[*columns, "measured"]).astype({"evaluators": "Int64"})
    return table.sort_values(_PLACE, ignore_index=True)


def _bounds(place, cmdp, optimum, setting, estimators):
    printed, corrected, best = THEOREMS[place["algorithm"]]
    m = None if pd.isna(place["evaluators"]) else int(place["evaluators"])
    lists = [m], [place["rounds"]], [place["iterations"]]
    statements = dict.fromkeys((printed, corrected, best))
    found = bounds_at(cmdp, optimum, setting, statements, *lists)
    worse = found.set_index(["statement", "estimator"])[["gap", "violation"]].max(axis=1)
    reading = estimators[place["algorithm"]]
    return {
        "printed": worse.get((printed, reading), np.nan),  # it is about the printed reading
        "corrected": worse[corrected, reading],
        "best": worse[best, "unbiased"],
    }
