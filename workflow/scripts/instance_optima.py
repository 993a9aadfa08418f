"""Solve the random instances of a group."""

import argparse
import json
import sys

import pandas as pd

from pgpd_hf.core import optima
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


def describe(study, number):
    """One instance: its sizes, the largest value, and its optimum."""
    process = configuration.instance(study, number)
    optimum = optima.solve(process)
    return {
        "instance": number,
        "states": process.states,
        "actions": process.actions,
        "value_bound": process.value_bound,
        "reward_value": optimum.reward_value,
        "utility_value": optimum.utility_value,
        "multiplier": optimum.multiplier,
        "slack": optimum.slack,
        "binding": optimum.multiplier > 0,
    }


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--study", required=True, help="what of the config matters here, as JSON")
    parser.add_argument("--group", required=True, help="its name in the config, for messages")
    parser.add_argument("--instances", type=int, nargs="+", required=True)
    parser.add_argument("--expect", choices=["binding", "slack"], help="stop if one is not")
    parser.add_argument("--output", required=True, help="CSV file to write")
    arguments = parser.parse_args()

    study = json.loads(arguments.study)
    table = pd.DataFrame([describe(study, number) for number in arguments.instances])
    if arguments.expect is not None:
        wrong = table.loc[table["binding"] != (arguments.expect == "binding"), "instance"]
        if len(wrong):
            verb = "does not bind" if arguments.expect == "binding" else "binds"
            key = f"claims.instances.groups.{arguments.group}.binding"
            sys.exit(f"{key}: the constraint of instance {wrong.iloc[0]} {verb}")
    storage.write_table(arguments.output, table)


if __name__ == "__main__":
    main()
