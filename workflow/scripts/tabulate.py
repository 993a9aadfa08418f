"""Put all verdicts into one table, and print it for people."""

import argparse
import json

import pandas as pd

from pgpd_hf.claims import report
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tables", nargs="+", help="CSV files")
    parser.add_argument("--titles", required=True, help="of the readings in this order, as JSON")
    parser.add_argument("--table", required=True, help="CSV file to write")
    parser.add_argument("--text", required=True, help="text file to write")
    arguments = parser.parse_args()

    tables = []
    for path, title in zip(arguments.tables, json.loads(arguments.titles), strict=True):
        table = storage.read_table(path)
        table.insert(0, "reading", title)
        tables.append(table)
    table = pd.concat(tables, ignore_index=True)
    storage.write_table(arguments.table, table)
    with storage.recording(arguments.text) as partial:
        partial.write_text(report.as_text(table), encoding="utf-8")


if __name__ == "__main__":
    main()
