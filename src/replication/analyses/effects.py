"""Effects of M, H, N, |S| and |A|, beside exact predictions."""

import numpy as np
import pandas as pd

from replication.analyses import Table
from replication.files import storage
from replication.study import summaries, sweeps

TARGET = "theory"
TABLES = {
    "effects": Table("Effects of M, H, N, |S| and |A| (table)", "sweep algorithm curve quantity"),
    "effects_means": Table(
        "Means behind the effects (table)", "sweep algorithm curve value metric"
    ),
}
READS = ("runs",)
SHOWS = ("environment", "runs")
NEEDS = ("sweeps.people", "sweeps.horizon", "sweeps.rounds")  # what the page shows
SWEEPS = ("people", "horizon", "rounds", "states", "actions")


def plan(config):
    return sweeps.plan(config, SWEEPS)


def check(config):
    sweeps.check(config, SWEEPS)


def parts(table):
    """Runs, by the quantity whose slopes against the axis are fitted."""
    # The excess is the average over that of M = ∞. Of random sizes the quantity is the share that
    # is left of the priced gap of the start.
    people = table[table["sweep"].eq("people") & table["curve"].ne("μ = theorem")]
    votes = summaries.excess(people, np.isinf(people["value"]), ["curve"])
    rounds = table[table["sweep"] == "rounds"]
    exact = rounds["evaluators"].isna()
    sizes = table[table["sweep"].isin(["states", "actions"])]
    return {
        "excess over M = ∞, M ≥ 16": votes[votes["value"] >= 16],
        "excess over M = ∞, 16 ≤ M ≤ 256": votes[votes["value"].between(16, 256)],
        "excess over M = ∞": summaries.excess(rounds, exact, ["value"]),
        "M = ∞": rounds[exact],
        "share of the start that is left": sizes.assign(
            priced_gap=sizes["priced_gap"] / sizes["start_priced_gap"]
        ),
    }


def tables(runs):
    table = summaries.averages(storage.read_tables(runs), SWEEPS)
    slopes = []
    for quantity, part in parts(table).items():
        slopes.append(summaries.slopes(part, ["priced_gap"]))
        slopes[-1].insert(3, "quantity", quantity)
    return {
        "effects": pd.concat(slopes, ignore_index=True),
        "effects_means": summaries.means(table),
    }


def parameters(config):
    return {"link": config["link"]}
