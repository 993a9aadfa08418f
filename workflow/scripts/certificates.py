"""Compute certificates along runs of one algorithm, on the study's process and on random ones."""

import argparse
import json

import pandas as pd

from pgpd_hf import theory
from pgpd_hf.algorithms import Setting
from pgpd_hf.core import cmdp
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    options = study["certificates"]
    process = cmdp.CMDP.load(arguments.environment)
    steps = configuration.read_steps(arguments.steps)
    tables = []
    for people in study["evaluators"]:
        setting = configuration.run_setting(study, arguments.algorithm, people, steps)
        setting["iterations"] = options["iterations"][arguments.algorithm]
        seeds = range(options["seeds"])
        tables.append(theory.certify(process, arguments.algorithm, Setting(**setting), seeds))
        print(f"M = {people}: done", flush=True)
    ours = pd.concat(tables, ignore_index=True)
    ours.insert(0, "case", "study")
    random = theory.random_certificates(options["draws"], [arguments.algorithm])
    random.insert(0, "case", "random")
    storage.write_table(arguments.output, pd.concat([ours, random], ignore_index=True))


if __name__ == "__main__":
    main()
