"""Run one algorithm for one M and some seeds over values of T, with fresh randomness for each."""

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
    parser.add_argument("--evaluators", required=True, help="M, or inf")
    parser.add_argument("--iterations", type=int, nargs="+", required=True, help="values of T")
    parser.add_argument("--seeds", type=int, nargs=2, required=True, help="the first and the last")
    parser.add_argument("--step-rule", required=True, help="of the step sizes: study or theorem")
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    process = cmdp.CMDP.load(arguments.environment)
    steps = configuration.read_steps(arguments.steps)
    people = configuration.parse_crowd(arguments.evaluators)
    setting = configuration.run_setting(study, arguments.algorithm, people, steps)
    first, last = arguments.seeds
    tables = []
    for iterations in arguments.iterations:
        trace = runs.run(
            process,
            arguments.algorithm,
            seeds=range(first, last + 1),
            purpose=f"rates with the steps of the {arguments.step_rule}, T = {iterations}",
            **configuration.sweep_setting(setting, iterations, arguments.step_rule),
        )
        trace.insert(2, "iterations", iterations)
        trace.insert(3, "step_rule", arguments.step_rule)
        tables.append(trace)
        print(f"T = {iterations}: done", flush=True)
    storage.write_table(arguments.output, pd.concat(tables, ignore_index=True))


if __name__ == "__main__":
    main()
