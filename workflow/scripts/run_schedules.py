"""Run one algorithm through all schedules, for several seeds."""

import argparse
import json

import pandas as pd

from pgpd_hf.analyses import schedules
from pgpd_hf.core import cmdp
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--seeds", type=int, nargs=2, required=True, help="the first and the last")
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    process = cmdp.CMDP.load(arguments.environment)
    setting = configuration.run_setting(
        study, arguments.algorithm, None, configuration.read_steps(arguments.steps)
    )
    setting |= study["schedules"]["algorithms"][arguments.algorithm]
    tables = []
    for name, lists in study["schedules"]["phases"].items():
        trace = schedules.run_schedule(
            process,
            arguments.algorithm,
            schedules.phases(setting, **lists),
            range(arguments.seeds[0], arguments.seeds[1] + 1),
            purpose=f"schedule {name}",
        )
        trace.insert(1, "schedule", name)
        tables.append(trace)
        print(f"{name}: done", flush=True)
    storage.write_table(arguments.output, pd.concat(tables, ignore_index=True))


if __name__ == "__main__":
    main()
