"""Draw or read the environment of an experiment, and solve it in two independent ways."""

import argparse
import json

from pgpd_hf import solve, solve_unconstrained
from pgpd_hf.environments import make_environment
from pgpd_hf.tables import one_line, write_json

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--settings", required=True, type=json.loads, help="as JSON")
parser.add_argument("--folder", required=True, help="where the configuration lies")
parser.add_argument("--environment", required=True, help="NumPy archive that is written")
parser.add_argument("--optimum", required=True, help="JSON file that is written")
options = parser.parse_args()

with one_line():
    cmdp = make_environment(options.settings, options.folder)
    optima = {
        "optimum": solve(cmdp),
        "check": solve(cmdp, "policy_iteration"),
        "unconstrained": solve_unconstrained(cmdp),
    }
    told = {name: vars(it) | {"policy": it.policy.tolist()} for name, it in optima.items()}
    for optimum in told.values():
        del optimum["units"]  # which stand once
    if cmdp.units is not None:
        told["units"] = cmdp.units._asdict()
    cmdp.save(options.environment)
    write_json(told.pop("optimum") | told, options.optimum)
