"""Run one algorithm for some M and several seeds."""

import argparse
import json

import pandas as pd

from pgpd_hf import runs
from pgpd_hf.core import cmdp
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--evaluators", required=True, help="M or inf, several joined by +")
    parser.add_argument("--seeds", type=int, nargs=2, required=True, help="the first and the last")
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    steps = configuration.read_steps(arguments.steps)
    process = cmdp.CMDP.load(arguments.environment)
    first, last = arguments.seeds
    tables = []
    for people in map(configuration.parse_crowd, arguments.evaluators.split("+")):
        setting = configuration.run_setting(study, arguments.algorithm, people, steps)
        tables.append(
            runs.run(process, arguments.algorithm, seeds=range(first, last + 1), **setting)
        )
    storage.write_table(arguments.output, pd.concat(tables, ignore_index=True))


if __name__ == "__main__":
    main()
