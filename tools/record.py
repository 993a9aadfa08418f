"""Put results on record: write the tables of reference/ that targets of the workflow make.

The arguments are the folder of a study's results and the targets, such as `results/paper claims`.
"""

import sys
from pathlib import Path

from replication.files import validation
from replication.verify import checks
from replication.verify.tables import TABLES

if __name__ == "__main__":
    results, *targets = sys.argv[1:]
    made = [table for table in TABLES if table.target in targets]
    with validation.one_line((OSError, ValueError)):
        checks.write_reference(Path("reference"), Path(results), made)
