"""Means and intervals over seeds."""

import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from replication.analyses import Table
from replication.files import storage

TARGET = "all"
PRIORITY = 1
TABLES = {"aggregate.parquet": Table()}
READS = ("traces",)
LOCAL = True


def tables(traces):
    from pgpd_hf import statistics

    return {"aggregate": statistics.aggregate(without_repetition(storage.read_traces(traces)))}


def without_repetition(traces):
    """Traces in which exact algorithms, whose runs are the same for every M, have M = infinity."""
    names = traces["algorithm"].unique()
    exact = [name for name in names if "evaluators" not in get_algorithm(name).options()]
    numbers = traces["evaluators"].mask(traces["algorithm"].isin(exact), pd.NA)
    keys = ["algorithm", "evaluators", "seed", "iteration"]
    return traces.assign(evaluators=numbers).drop_duplicates(keys)
