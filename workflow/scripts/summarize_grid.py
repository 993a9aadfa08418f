"""Reduce the runs of the grid to means over instances."""

import argparse

import pandas as pd

from pgpd_hf.analyses import grid
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help="Parquet files")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    tables = [storage.read_table(path) for path in arguments.runs]
    # A study whose environment comes from a file has none.
    runs = pd.concat(tables, ignore_index=True) if tables else pd.DataFrame(columns=grid.CELL)
    storage.write_table(arguments.output, grid.summarize(runs))


if __name__ == "__main__":
    main()
