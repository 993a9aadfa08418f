"""Put results on record: write the tables of reference/ that targets of the workflow make."""

import argparse
from pathlib import Path

from replication.files import validation
from replication.verify import checks
from replication.verify.tables import TABLES

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, help="folder of a study's results")
    known = sorted({table.target for table in TABLES})
    parser.add_argument(
        "targets", nargs="+", choices=known, metavar="target", help=", ".join(known)
    )
    given = parser.parse_args()
    made = [table for table in TABLES if table.target in given.targets]
    with validation.one_line((OSError, ValueError)):
        checks.write_reference(Path("reference"), given.results, made)
