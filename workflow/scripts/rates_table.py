"""Averages over the first T iterates beside the theorems' bounds, and their slopes in T."""

import argparse
import json

import pandas as pd

from pgpd_hf import ALGORITHMS, CMDP
from pgpd_hf.statistics import loglog_slope, mean_interval
from pgpd_hf.tables import one_line, read_optimum, read_traces, write_table
from pgpd_hf.theory import RATES, OutsideAssumptions, printed_bounds

KEYS = ["algorithm", "step_rule", "evaluators"]
SLOPES = [*KEYS, "metric", "slope", "low", "high", "seeds", "promised"]
AVERAGES = [*KEYS, "metric", "T", "mean", "low", "high", "seeds", "bound"]

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("traces", nargs="+", help="CSV files of runs")
parser.add_argument("--environment", required=True, help="NumPy archive")
parser.add_argument("--optimum", required=True, help="JSON file")
parser.add_argument("--options", required=True, type=json.loads, help="by algorithm, as JSON")
parser.add_argument("--slopes", required=True, help="CSV file that is written")
parser.add_argument("--averages", required=True, help="CSV file that is written")
arguments = parser.parse_args()


def bounds_of(name, rule, evaluators, T):
    """Bounds of a theorem with its own steps; none for other steps or outside its assumptions."""
    if rule != "theorem":
        return {}
    options = arguments.options[name] | {"primal_step": None, "dual_step": None}
    options["evaluators"] = None if pd.isna(evaluators) else int(evaluators)
    try:
        return printed_bounds(cmdp, optimum, ALGORITHMS[name](**options), T)._asdict()
    except OutsideAssumptions:
        return {}


with one_line():
    cmdp, optimum = CMDP.load(arguments.environment), read_optimum(arguments.optimum)
    traces = read_traces(arguments.traces).sort_values("seed", kind="stable")
    signed = traces["mean_constraint_violation"]
    traces["gap"], traces["violation"] = traces["mean_optimality_gap"], signed.clip(lower=0)
    traces["lagrangian_gap"] = traces["gap"] + optimum.multiplier * signed
    slopes, averages = [], []
    for key, group in traces.groupby(KEYS, sort=False, dropna=False):
        seeds = group["seed"].nunique()
        for metric in ("gap", "violation", "lagrangian_gap"):
            samples = {T: runs[metric].to_numpy() for T, runs in group.groupby("T")}
            slope = loglog_slope([*samples], samples.values())
            slopes.append((*key, metric, *slope, seeds, RATES[key[0]]))
            for T, values in samples.items():
                bound = bounds_of(*key, T).get(metric)
                averages.append((*key, metric, T, *mean_interval(values), seeds, bound))
    write_table(pd.DataFrame(slopes, columns=SLOPES), arguments.slopes)
    write_table(pd.DataFrame(averages, columns=AVERAGES), arguments.averages)
