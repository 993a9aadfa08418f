"""Means over seeds, with 95 % intervals."""

import argparse

from pgpd_hf import aggregate
from pgpd_hf.tables import one_line, read_traces, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("traces", nargs="+", help="CSV files of runs")
parser.add_argument("--table", required=True, help="CSV file that is written")
options = parser.parse_args()

with one_line():
    write_table(aggregate(read_traces(options.traces)), options.table)
