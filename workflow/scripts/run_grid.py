"""Run one algorithm through all cases of the grid, on some instances and for some seeds."""

import argparse
import json

from pgpd_hf.analyses import grid, sweeps
from pgpd_hf.core import cmdp
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the study's process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    for name in ("instances", "seeds"):
        parser.add_argument(f"--{name}", type=int, nargs=2, required=True, help="first and last")
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    study, name = json.loads(arguments.study), arguments.algorithm
    process = cmdp.CMDP.load(arguments.environment)
    steps = configuration.read_steps(arguments.steps)
    setting = sweeps.with_numbers(
        process, name, configuration.run_setting(study, name, None, steps)
    )
    options = {key: value for key, value in study["environment"].items() if key != "file"}
    table = grid.run_block(
        options,
        name,
        sweeps.make_cases(grid.AXIS, study["grid"], setting, process.discount),
        range(arguments.instances[0], arguments.instances[1] + 1),
        range(arguments.seeds[0], arguments.seeds[1] + 1),
    )
    storage.write_table(arguments.output, table)


if __name__ == "__main__":
    main()
