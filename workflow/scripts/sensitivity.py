"""Run some of the settings around the study's along one axis."""

import argparse
import json

from pgpd_hf import claims
from pgpd_hf.analyses import sensitivity, sweeps
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="archive of the process")
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--algorithm", required=True)
    parser.add_argument("--axis", required=True, choices=sensitivity.AXES)
    parser.add_argument("--steps", help="JSON file with calibrated step sizes")
    parser.add_argument(
        "--settings", type=int, nargs=2, required=True, help="the first and the last"
    )
    parser.add_argument("--options", required=True, help="the config's sensitivity, as JSON")
    parser.add_argument("--claims", required=True, help="YAML file of the statements")
    parser.add_argument("--schema", required=True, help="its JSON Schema, as YAML")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    process = CMDP.load(arguments.environment)
    crowds = [people for people in study["evaluators"] if people is not None]
    setting = configuration.run_setting(
        study, arguments.algorithm, crowds[0], configuration.read_steps(arguments.steps)
    )
    setting = sweeps.with_numbers(process, arguments.algorithm, setting)  # to be multiplied
    schema = configuration.read_yaml(arguments.schema)
    statements = claims.load_claims(arguments.claims, schema)
    options = json.loads(arguments.options)
    first, last = arguments.settings
    table = sensitivity.explore(
        process,
        arguments.algorithm,
        sensitivity.neighbours(setting, arguments.axis, options)[first : last + 1],
        crowds,
        options["seeds"],
        statements,
    )
    table.insert(0, "axis", arguments.axis)
    storage.write_table(arguments.output, table)


if __name__ == "__main__":
    main()
