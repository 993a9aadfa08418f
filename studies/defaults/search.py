"""Search for step sizes: a table of the scores of all pairs."""

import argparse
import json

from pgpd_hf import CMDP
from pgpd_hf.steps import search_steps
from pgpd_hf.tables import one_line, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--environment", required=True, help="NumPy archive")
parser.add_argument("--algorithm", required=True, help="its name")
parser.add_argument("--options", required=True, type=json.loads, help="of search_steps, as JSON")
parser.add_argument("--name", required=True, help="of the search")
parser.add_argument("--table", required=True, help="CSV file that is written")
arguments = parser.parse_args()

with one_line():
    cmdp = CMDP.load(arguments.environment)
    scores = search_steps(cmdp, arguments.algorithm, **arguments.options)
    scores.insert(0, "search", arguments.name)
    scores.insert(1, "algorithm", arguments.algorithm)
    write_table(scores, arguments.table)
