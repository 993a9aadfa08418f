"""Run an algorithm in all cases of a sweep, or along all schedules, for a block of seeds."""

import argparse
import itertools
import json

import pandas as pd
from effects.sweeps import STREAMS, cases, phases, usual_options

from pgpd_hf import ALGORITHMS, CMDP, checkpoint_grid, run
from pgpd_hf.tables import one_line, read_optimum, write_table

MEANS = {"gap": "mean_optimality_gap", "violation": "mean_constraint_violation"}
COSTS = ["answers", "env_steps"]


def run_case(case, cmdp, algorithm, **known):
    """Averages over the first T iterates, which the theorems bound, and costs of T iterations."""
    T = case.iterations
    given = {"iterations": T, "checkpoints": [T - 1, T], "purpose": case.purpose}
    trace = run(cmdp, algorithm, **given, **case.options, **known)
    before, table = (trace[trace["iteration"] == t].reset_index(drop=True) for t in (T - 1, T))
    means = {name: before[column] for name, column in MEANS.items()}
    return table[["seed", *COSTS]].assign(curve=case.curve, value=case.value, **means)


def run_schedule(lists, purpose, cmdp, algorithm, *, iterations, **options):
    """Trace of one seed; each phase begins where the one before has ended."""
    options = {key: None if it == "theorem" else it for key, it in options.items()}
    grid, begin, state, before, spent, tables = checkpoint_grid(iterations), 0, {}, {}, {}, []
    parts = phases(iterations, **lists)
    for k, (length, evaluators, horizon) in enumerate(parts):
        end, stream = begin + length, purpose if len(parts) == 1 else f"{purpose}, phase {k}"
        inside = grid[(grid >= begin) & (grid < end + (end == iterations))]
        given = {"iterations": length, "checkpoints": [*(inside - begin), length - 1, length]}
        given |= {"evaluators": evaluators, "horizon": horizon, "purpose": stream}
        trace, last = run(cmdp, algorithm, return_policies=True, **options | given, **state)
        state = {"initial_policy": last[0], "initial_multiplier": trace["multiplier"].iloc[-1]}
        done = trace["iteration"] + 1
        trace["iteration"] += begin
        for column in MEANS.values():  # over all iterates of the phases so far
            sums = before.get(column, 0) * begin + trace[column] * done
            trace[column] = sums / (begin + done)
        for column in COSTS:
            trace[column] += spent.get(column, 0)
        before, spent = trace[done == length].iloc[0], trace.iloc[-1]
        tables.append(trace[trace["iteration"].isin(inside)])
        begin = end
    return pd.concat(tables)


def main():
    """Read arguments, run, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="NumPy archive")
    parser.add_argument("--optimum", required=True, help="JSON file")
    parser.add_argument("--experiment", required=True, type=json.loads, help="its keys, as JSON")
    parser.add_argument("--algorithm", required=True, choices=ALGORITHMS)
    parser.add_argument("--given", required=True, type=json.loads, help="the sweep, as JSON")
    parser.add_argument("--seeds", required=True, nargs=2, type=int, help="first and last")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    arguments = parser.parse_args()
    experiment, algorithm, sweep = arguments.experiment, arguments.algorithm, arguments.given
    cmdp, known = CMDP.load(arguments.environment), {"optimum": read_optimum(arguments.optimum)}
    seeds = range(arguments.seeds[0], arguments.seeds[1] + 1)
    name, grid, tables = sweep["name"], sweep["grid"], []
    if name == "schedules":
        options = usual_options(experiment, algorithm) | grid | known
        for (schedule, lists), seed in itertools.product(sweep["phases"].items(), seeds):
            purpose = f"{experiment['purpose']}: {STREAMS[schedule]}"
            trace = run_schedule(lists, purpose, cmdp, algorithm, seeds=[seed], **options)
            tables.append(trace.assign(schedule=schedule))
    else:
        labels = {"sweep": name, "algorithm": algorithm, "axis": sweep["varies"]}
        for case in cases(experiment, name, sweep["varies"], algorithm, grid):
            table = run_case(case, cmdp, algorithm, seeds=seeds, **known)
            tables.append(table.assign(**labels))
    write_table(pd.concat(tables), arguments.table)


if __name__ == "__main__":
    with one_line():
        main()
