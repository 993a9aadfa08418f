"""How runs begin and end, in the user's units: a row for each environment, algorithm and M."""

import argparse
from pathlib import Path

import pandas as pd

from pgpd_hf import CMDP
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_optimum, read_traces, write_table


def ends(traces, cmdp, optimum):
    """First and last gap and violation, the last with their intervals."""
    of_reward, of_cost = (1.0, 1.0) if cmdp.units is None else cmdp.units[:2]
    gap, violation = of_reward * traces["optimality_gap"], of_cost * traces["constraint_violation"]
    keys, rows = ["environment", "algorithm", "evaluators"], []
    for key, runs in traces.assign(gap=gap, violation=violation).groupby(keys, sort=False):
        last, first = (runs[runs["iteration"] == t] for t in (runs["iteration"].max(), 0))
        row = dict(zip(keys, key, strict=True))
        row |= {"seeds": len(last), "answers": last["answers"].iloc[0]}
        for name in ("gap", "violation"):
            names = name, f"{name}_low", f"{name}_high"
            row[f"{name}_first"] = first[name].iloc[0]
            row |= dict(zip(names, mean_interval(last[name]), strict=True))
        rows.append(row | {"safe": (last["violation"] <= 0).mean()})
    return pd.DataFrame(rows).assign(best=of_reward * optimum.reward_value)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", required=True, nargs="+", help="CSV files")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    with one_line():
        tables, paths = [], {}
        for path in options.runs:  # of environment/runs/algorithm/M/seeds
            paths.setdefault(Path(path).parents[3], []).append(path)
        for folder, of_environment in paths.items():
            runs = read_traces(of_environment).assign(environment=folder.name)
            cmdp = CMDP.load(folder / "environment.npz")
            tables.append(ends(runs, cmdp, read_optimum(folder / "optimum.json")))
        write_table(pd.concat(tables), options.table)
