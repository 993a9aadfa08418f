"""Run an algorithm in all cases of a sweep, or along all schedules, for a block of seeds."""

import argparse
import itertools
import json

import pandas as pd
from effects.sweeps import STREAMS, cases, usual_options

from pgpd_hf import ALGORITHMS, CMDP, checkpoint_grid, run
from pgpd_hf.tables import one_line, read_optimum, write_table

MEANS = {"mean_optimality_gap": "gap", "mean_constraint_violation": "violation"}
COSTS = ["answers", "env_steps"]
LATE = 0.1  # share of a schedule's iterations


def run_case(case, cmdp, algorithm, **known):
    """Averages over the first T iterates, which the theorems bound, and costs of T iterations."""
    T = case.iterations
    given = {"iterations": T, "checkpoints": [T - 1, T], "purpose": case.purpose}
    trace = run(cmdp, algorithm, **given, **case.options, **known)
    before, table = (trace[trace["iteration"] == t].reset_index(drop=True) for t in (T - 1, T))
    means = before[[*MEANS]].rename(columns=MEANS)
    labels = {"curve": case.curve, "axis": case.axis, "value": case.value}
    return table[["seed", *COSTS]].assign(**labels, **means)


def run_schedule(phases, purpose, cmdp, algorithm, *, iterations, **options):
    """Averages of one seed over all T iterates, and over those after the first (1 - LATE) T.

    A phase has its M and H, and begins where the one before has ended; early ones may be longer by
    one iteration.
    """
    T, begin, whole, state = iterations, 0, 0.0, {}
    last_early = max(t for t in checkpoint_grid(T) if t <= (1 - LATE) * T)
    for k, (evaluators, horizon) in enumerate(phases):
        length = T // len(phases) + (k < T % len(phases))
        stream = purpose if len(phases) == 1 else f"{purpose}, phase {k}"
        marks = {length - 1, last_early - begin} & {*range(length)}
        given = {"iterations": length, "checkpoints": [*marks, length], "purpose": stream}
        given |= {"evaluators": evaluators, "horizon": horizon}
        trace, last = run(cmdp, algorithm, return_policies=True, **options | given | state)
        state = {"initial_policy": last[0], "initial_multiplier": trace["multiplier"].iloc[-1]}
        means = trace.set_index("iteration")[[*MEANS]].rename(columns=MEANS)
        done = means.index.to_numpy() + 1
        # Over all iterates of the phases so far.
        means = (whole * begin + means.mul(done, axis=0)).div(begin + done, axis=0)
        whole = means.loc[length - 1]
        if last_early - begin in marks:
            early = means.loc[last_early - begin]
        begin += length
    late = (T * whole - (last_early + 1) * early) / (T - last_early - 1)
    return pd.concat([whole, late.add_prefix("late_")])


def main():
    """Read arguments, run, and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="NumPy archive")
    parser.add_argument("--optimum", required=True, help="JSON file")
    parser.add_argument("--experiment", required=True, type=json.loads, help="its keys, as JSON")
    parser.add_argument("--sweep", required=True, help="its name")
    parser.add_argument("--algorithm", required=True, choices=ALGORITHMS)
    parser.add_argument("--grid", required=True, type=json.loads, help="what is run, as JSON")
    parser.add_argument("--seeds", required=True, nargs=2, type=int, help="first and last")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    arguments = parser.parse_args()
    experiment, algorithm, name = arguments.experiment, arguments.algorithm, arguments.sweep
    cmdp, known = CMDP.load(arguments.environment), {"optimum": read_optimum(arguments.optimum)}
    seeds = range(arguments.seeds[0], arguments.seeds[1] + 1)
    grid = {key: it for key, it in arguments.grid.items() if key != "seeds"}
    phases_of = grid.pop("phases", {})
    if name == "schedules":
        rows, usual = [], usual_options(experiment, algorithm) | grid
        options = {key: None if it == "theorem" else it for key, it in usual.items()} | known
        for (schedule, phases), seed in itertools.product(phases_of.items(), seeds):
            purpose = f"{experiment['purpose']}: {STREAMS[schedule]}"
            averages = run_schedule(phases, purpose, cmdp, algorithm, seeds=[seed], **options)
            row = {"algorithm": algorithm, "schedule": schedule, "seed": seed}
            rows.append(row | averages.to_dict())
        table = pd.DataFrame(rows)
    else:
        found = cases(experiment, name, algorithm, grid)
        table = pd.concat(run_case(case, cmdp, algorithm, seeds=seeds, **known) for case in found)
        table = table.assign(sweep=name, algorithm=algorithm)
    multiplier = known["optimum"].multiplier
    for late in ("", "late_") if name == "schedules" else ("",):
        gap, violation = table[f"{late}gap"], table[f"{late}violation"]
        table[f"{late}lagrangian_gap"] = gap + multiplier * violation
    write_table(table, arguments.table)


if __name__ == "__main__":
    with one_line():
        main()
