"""Reduce the traces of a study over seeds."""

from pgpd_hf import statistics
from replication.files import storage

with storage.job(snakemake):
    traces = storage.read_traces(snakemake.input.traces)
    storage.write_table(snakemake.output[0], statistics.aggregate(traces))
