"""Means and intervals over seeds."""

from replication.analyses import Table
from replication.files import storage

TARGET = "all"
PRIORITY = 1
TABLES = {"aggregate.parquet": Table()}
READS = ("traces",)
LOCAL = True


def tables(traces):
    from pgpd_hf import statistics

    return {"aggregate": statistics.aggregate(storage.read_traces(traces))}
