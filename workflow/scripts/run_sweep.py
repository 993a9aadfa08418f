"""Run one algorithm through all cases of a sweep, for several seeds."""

import argparse
import json

import pandas as pd

from pgpd_hf.analyses import sweeps
from pgpd_hf.core import cmdp
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--sweep", required=True, help="its name")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--seeds", type=int, nargs=2, required=True, help="the first and the last")
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument("--output", required=True, help="Parquet file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    sweep, name = study["sweep"], arguments.algorithm
    process = cmdp.CMDP.load(arguments.environment)
    studied = sweeps.studied(name)
    setting = configuration.run_setting(
        study, studied, None, configuration.read_steps(arguments.steps)
    )
    setting = sweeps.with_numbers(process, studied, setting)
    cases = sweeps.make_cases(sweep["varies"], sweep["algorithms"][name], setting, process.discount)
    seeds = range(arguments.seeds[0], arguments.seeds[1] + 1)
    options = {key: value for key, value in study["environment"].items() if key != "file"}
    tables = []
    for case in cases:
        if case.size:  # the seed is the instance, too
            tables += [
                sweeps.run_case(
                    sweeps.draw_process(options, case.size, seed),
                    *(name, case, [seed], arguments.sweep),
                )
                for seed in seeds
            ]
        else:
            tables.append(sweeps.run_case(process, name, case, seeds, arguments.sweep))
        print(f"{case.curve} {case.axis} = {case.value}: done".strip(), flush=True)
    storage.write_table(arguments.output, pd.concat(tables, ignore_index=True))


if __name__ == "__main__":
    main()
