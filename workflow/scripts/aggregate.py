"""Means over seeds, with 95 % intervals."""

import argparse
import json

from pgpd_hf import ALGORITHMS, aggregate
from pgpd_hf.runs import load_class
from pgpd_hf.tables import one_line, read_traces, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("traces", nargs="+", help="CSV files of runs")
parser.add_argument("--own", type=json.loads, default={}, help="classes by name, as JSON")
parser.add_argument("--table", required=True, help="CSV file that is written")
options = parser.parse_args()

with one_line():
    table = aggregate(read_traces(options.traces))
    labels = {name: load_class(place).label or name for name, place in options.own.items()}
    known = [*labels.values(), *(kind.label for kind in ALGORITHMS.values())]
    for name, label in labels.items():  # those of one class have one label
        label = label if known.count(label) == 1 else f"{label} ({name})"
        table.loc[table["algorithm"] == name, "label"] = label
    write_table(table, options.table)
