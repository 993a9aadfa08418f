"""Run one algorithm on the random instances of a group, each with step sizes of its own."""

import argparse
import json

import pandas as pd

from pgpd_hf.analyses import instances
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--instances", type=int, nargs="+", required=True)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--scores", required=True, help="CSV file to write: candidates of steps")
    parser.add_argument("--output", required=True, help="Parquet file to write: the runs")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    candidates, traces = [], []
    for number in arguments.instances:
        scores, trace = instances.run_instance(
            study, arguments.algorithm, number, arguments.threads
        )
        candidates.append(scores.assign(instance=number))
        traces.append(trace.assign(instance=number))
        print(f"instance {number}: done", flush=True)
    storage.write_table(arguments.scores, pd.concat(candidates, ignore_index=True))
    storage.write_table(arguments.output, pd.concat(traces, ignore_index=True))


if __name__ == "__main__":
    main()
