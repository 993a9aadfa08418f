"""Run ZPGPD-HF in one setting on some instances: with frozen multipliers, or as it is."""

import argparse
import json
from dataclasses import replace

import numpy as np
import pandas as pd

from pgpd_hf import ZPGPDHF, random_cmdp, run, solve
from pgpd_hf.tables import one_line, write_table

SKIPPED = 0.2  # of a run at a frozen multiplier
LATE = 0.75  # where the last quarter begins
POINTS = 24  # checkpoints of other runs
USUAL_STEP = 0.001  # a primal step, for which the iterations at frozen multipliers are meant


def stream_name(part, algorithm, iterations, **labels):
    """Name of the random streams of a run; another name is other random numbers."""
    told = labels | {"iterations": iterations, "pairs": algorithm.rounds}
    for name in ("evaluators", "horizon", "link", "primal_step", "dual_step"):
        told[name] = getattr(algorithm, name)
    for name in ("perturbation", "directions", "parameterization"):
        told[name] = getattr(algorithm, name)
    if algorithm.normalize != "none":
        told["normalize"] = algorithm.normalize
    return f"stability {part}: {json.dumps(told, sort_keys=True)}"


def frozen_length(algorithm, multiplier, iterations):
    """Iterations at a frozen multiplier, during which all steps lead equally far."""
    divided = {"none": 1.0, "linear": 1.0 + multiplier, "quadratic": 1.0 + multiplier**2}
    slower = divided[algorithm.normalize] * (USUAL_STEP / algorithm.primal_step)
    return round(iterations * slower)


def run_frozen(cmdp, algorithm, multipliers, iterations, seeds):
    """Traces at multipliers that stay what they are."""
    frozen, optimum, traces = replace(algorithm, dual_step=0.0), solve(cmdp), []
    for multiplier in multipliers:
        last = frozen_length(algorithm, multiplier, iterations)
        trace = run(
            cmdp,
            frozen,
            seeds=range(seeds),
            iterations=last,
            initial_multiplier=multiplier,
            checkpoints=[round(SKIPPED * last), last],
            purpose=stream_name("frozen", frozen, last, initial_multiplier=multiplier),
            optimum=optimum,
        )
        traces.append(trace.assign(initial_multiplier=multiplier))
    return pd.concat(traces)


def run_long(cmdp, algorithm, part, instance, iterations, seeds):
    """Traces of runs; the last quarter lies between the last two checkpoints."""
    last = iterations // algorithm.rounds
    marks = np.rint(np.geomspace(last / 1000, last, POINTS)).astype(int)
    trace = run(
        cmdp,
        algorithm,
        seeds=range(seeds),
        iterations=last,
        checkpoints=[0, *marks, round(LATE * last)],
        purpose=stream_name(part, algorithm, last, instance=instance),
    )
    return trace.assign(initial_multiplier=0.0)


def run_part(part, instance, environment, algorithm, plan):
    """Traces of a part of the study on one instance."""
    cmdp, length = random_cmdp(**environment | {"instance": instance}), plan["iterations"]
    if part == "frozen":
        return run_frozen(cmdp, algorithm, plan["multipliers"], length, plan["seeds"])
    return run_long(cmdp, algorithm, part, instance, length, plan["seeds"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", required=True, choices=["frozen", "long", "fresh"])
    parser.add_argument("--setting", required=True, help="its name")
    parser.add_argument("--options", required=True, type=json.loads, help="of ZPGPD-HF, as JSON")
    parser.add_argument("--environment", required=True, type=json.loads, help="options, as JSON")
    parser.add_argument("--plan", required=True, type=json.loads, help="of the part, as JSON")
    parser.add_argument("--instances", required=True, nargs="+", type=int, help="their numbers")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    given = parser.parse_args()
    with one_line():
        algorithm, tables = ZPGPDHF(**given.options), []
        for instance in given.instances:
            trace = run_part(given.part, instance, given.environment, algorithm, given.plan)
            tables.append(trace.assign(instance=instance, setting=given.setting))
        write_table(pd.concat(tables), given.table)
