"""Reduce the traces of a study over seeds."""

import argparse

from pgpd_hf import statistics
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("traces", nargs="+", help="Parquet files")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    traces = statistics.read_traces(arguments.traces)
    storage.write_table(arguments.output, statistics.aggregate(traces))


if __name__ == "__main__":
    main()
