"""Run one algorithm with one M for several seeds.

With --step-rule, these are runs for rates in T, for one T of --lengths after the other: with the
given step sizes, the dual step times sqrt(T0 / T), or with the theorem's. T0 is --iterations.
"""

import argparse
import json
import math

import numpy as np
import pandas as pd

from pgpd_hf import CMDP, run
from pgpd_hf.runs import COLUMNS, configured, with_options
from pgpd_hf.tables import one_line, read_optimum, write_table
from pgpd_hf.zpgpd_hf import OutsideAssumptions

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--environment", required=True, help="NumPy archive")
parser.add_argument("--optimum", required=True, help="JSON file")
parser.add_argument("--algorithm", required=True, help="name")
parser.add_argument("--options", required=True, type=json.loads, help="of the algorithm, as JSON")
parser.add_argument("--evaluators", required=True, help="M, or inf")
parser.add_argument("--iterations", required=True, type=int, help="T")
parser.add_argument("--seeds", required=True, nargs=2, type=int, help="first and last")
parser.add_argument("--purpose", required=True, help="family of random streams")
parser.add_argument("--step-rule", choices=["study", "theorem"], help="of runs for rates")
parser.add_argument("--lengths", nargs="+", default=[], type=int, help="T of runs for rates")
parser.add_argument("--trace", required=True, help="CSV file that is written")
parser.add_argument("--policies", help="NumPy archive that is written: what runs end with")
arguments = parser.parse_args()

with one_line():
    cmdp = CMDP.load(arguments.environment)
    M = None if arguments.evaluators == "inf" else int(arguments.evaluators)
    kind, options = configured(arguments.algorithm, arguments.options, M)
    seeds = range(arguments.seeds[0], arguments.seeds[1] + 1)
    known = {"seeds": seeds, "optimum": read_optimum(arguments.optimum)}
    traces = []
    for T in arguments.lengths:
        steps = {"primal_step": None, "dual_step": None}  # the theorem's
        if arguments.step_rule == "study":
            steps = {name: options[name] for name in steps}
            if steps["dual_step"] is not None:  # falls like 1 / sqrt(T), as in the theorems
                steps["dual_step"] *= math.sqrt(arguments.iterations / T)
        purpose = f"{arguments.purpose}: rates with the steps of the {arguments.step_rule}, T = {T}"
        how = {"iterations": T, "checkpoints": [T - 1], "purpose": purpose}
        try:
            trace = run(cmdp, kind(**options | steps), **known, **how)
        except OutsideAssumptions:  # the theorem has no steps here, and the rows no numbers
            trace = pd.DataFrame({"seed": seeds}).reindex(columns=COLUMNS)
            trace["evaluators"] = M
        traces.append(trace.assign(T=T, step_rule=arguments.step_rule))
    if not arguments.lengths:
        how = {"iterations": arguments.iterations, "purpose": arguments.purpose}
        algorithm = with_options(kind, options)
        trace, policies = run(cmdp, algorithm, **known, **how, return_policies=True)
        traces.append(trace)
        if arguments.policies:
            np.savez(arguments.policies, seeds=seeds, policies=policies)
    write_table(pd.concat(traces).assign(algorithm=arguments.algorithm), arguments.trace)
