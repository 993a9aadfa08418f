"""Run one algorithm with one M for several seeds, in one setting after the other."""

import argparse
import json

import numpy as np
import pandas as pd

from pgpd_hf import ALGORITHMS, CMDP, run
from pgpd_hf.runs import load_class, with_options
from pgpd_hf.tables import one_line, read_optimum, write_table

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--environment", required=True, help="NumPy archive")
parser.add_argument("--optimum", required=True, help="JSON file")
parser.add_argument("--algorithm", required=True, help="name")
parser.add_argument("--evaluators", required=True, help="M, or inf")
parser.add_argument("--settings", required=True, type=json.loads, help="list of tables, as JSON")
parser.add_argument("--seeds", required=True, nargs=2, type=int, help="first and last")
parser.add_argument("--trace", required=True, help="CSV file that is written")
parser.add_argument("--policies", help="NumPy archive that is written: what runs end with")
options = parser.parse_args()

with one_line():
    cmdp, optimum = CMDP.load(options.environment), read_optimum(options.optimum)
    seeds = range(options.seeds[0], options.seeds[1] + 1)
    evaluators = None if options.evaluators == "inf" else int(options.evaluators)
    traces, policies = [], []
    for setting in options.settings:
        given, labels = setting.pop("options"), setting.pop("labels", {})
        place = given.pop("class", None)
        kind = load_class(place) if place else ALGORITHMS[options.algorithm]
        if "evaluators" in kind.__dataclass_fields__:
            given["evaluators"] = evaluators
        known = {"seeds": seeds, "optimum": optimum, "return_policies": True}
        trace, last = run(cmdp, with_options(kind, given), **known, **setting)
        traces.append(trace.assign(algorithm=options.algorithm, **labels))
        policies.append(last)
    write_table(pd.concat(traces), options.trace)
    if options.policies:
        np.savez(options.policies, seeds=seeds, policies=np.concatenate(policies))
