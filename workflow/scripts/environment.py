"""Make the environment of a study, and solve it in every way."""

import argparse
import json

from pgpd_hf.core import optima
from pgpd_hf.studies import configuration
from pgpd_hf.support import storage


def describe(optimum):
    """An optimum's numbers, without its policy."""
    return {
        "method": optimum.method,
        "reward_value": optimum.reward_value,
        "utility_value": optimum.utility_value,
        "multiplier": optimum.multiplier,
    }


@storage.one_line_errors()
def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--options", required=True, help="the config's environment, as JSON")
    parser.add_argument("--environment", required=True, help="archive to write")
    parser.add_argument("--optimum", required=True, help="JSON file to write")
    arguments = parser.parse_args()

    cmdp = configuration.environment({"environment": json.loads(arguments.options)})
    constrained = [optima.solve(cmdp, method) for method in optima.METHODS]
    content = {
        **describe(constrained[0]),
        "slack": constrained[0].slack,
        "binding": constrained[0].multiplier > 0,
        "check": describe(constrained[1]),
        "unconstrained": describe(optima.solve_unconstrained(cmdp)),
        "policy": constrained[0].policy.tolist(),
    }
    with storage.recording(arguments.environment) as partial:
        cmdp.save(partial)
    storage.write_json(arguments.optimum, content)


if __name__ == "__main__":
    main()
