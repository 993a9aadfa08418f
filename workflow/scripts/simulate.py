"""Run one algorithm for one M and several seeds."""

import argparse
import json

from pgpd_hf import cmdp, configuration, runs, storage


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--evaluators", required=True, help="M, or inf")
    parser.add_argument("--seeds", type=int, nargs=2, required=True, help="the first and the last")
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    setting = configuration.run_setting(
        json.loads(arguments.study),
        arguments.algorithm,
        configuration.parse_crowd(arguments.evaluators),
        configuration.read_steps(arguments.steps),
    )
    first, last = arguments.seeds
    trace = runs.run(
        cmdp.CMDP.load(arguments.environment),
        arguments.algorithm,
        seeds=range(first, last + 1),
        **setting,
    )
    storage.write_table(arguments.output, trace)


if __name__ == "__main__":
    main()
