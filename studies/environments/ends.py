"""How runs begin and end, in the user's units: a row for each M."""

import argparse

import pandas as pd

from pgpd_hf import CMDP
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_optimum, read_traces, write_table


def ends(traces, cmdp, optimum):
    """First and last gap, violation and Lagrangian gap, the last with their intervals."""
    units, rows = (1.0, 1.0) if cmdp.units is None else cmdp.units[:2], []
    gap, violation = (
        unit * traces[column]
        for unit, column in zip(units, ("optimality_gap", "constraint_violation"), strict=True)
    )
    price = optimum.multiplier * units[0] / units[1]  # of a unit of violation
    columns = {"gap": gap, "violation": violation, "lagrangian_gap": gap + price * violation}
    for m, runs in traces.assign(**columns).groupby("evaluators"):
        last, first = (runs[runs["iteration"] == t] for t in (runs["iteration"].max(), 0))
        row = {"evaluators": m, "seeds": len(last), "answers": last["answers"].iloc[0]}
        for name in columns:
            names = name, f"{name}_low", f"{name}_high"
            row[f"{name}_first"] = first[name].iloc[0]
            row |= dict(zip(names, mean_interval(last[name]), strict=True))
        rows.append(row | {"safe": (last["violation"] <= 0).mean()})
    return pd.DataFrame(rows).assign(best=units[0] * optimum.reward_value, price=price)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, help="NumPy archive")
    parser.add_argument("--optimum", required=True, help="JSON file")
    parser.add_argument("--labels", required=True, nargs=2, help="environment and algorithm")
    parser.add_argument("--runs", required=True, nargs="+", help="CSV files")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    with one_line():
        cmdp, optimum = CMDP.load(options.environment), read_optimum(options.optimum)
        table = ends(read_traces(options.runs), cmdp, optimum)
        for place, name in enumerate(("environment", "algorithm")):
            table.insert(place, name, options.labels[place])
        write_table(table, options.table)
