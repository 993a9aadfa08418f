"""Tables of the study, beside predictions without a run, from the traces of all runs."""

import argparse
import json
from pathlib import Path

import pandas as pd

from pgpd_hf import ZPGPDHF, predict_stability, random_cmdp
from pgpd_hf.statistics import mean_interval
from pgpd_hf.tables import one_line, read_table, write_table

VIOLATION = "constraint_violation"
METRICS = ("optimality_gap", VIOLATION)
RUN = ["instance", "setting", "initial_multiplier", "seed"]


def means_between(traces):
    """Means over the iterates between neighbouring checkpoints of each run: a row for the later."""
    rows = traces.sort_values([*RUN, "iteration"], kind="stable")
    keys = [rows[name] for name in RUN]
    count = rows["iteration"].groupby(keys).diff()
    for metric in METRICS:
        sums = (rows["iteration"] + 1) * rows[f"mean_{metric}"]
        rows[metric] = sums.groupby(keys).diff() / count
    return rows[count.notna()].reset_index(drop=True)


def predict(environment, options, instance, multipliers=None):
    """Return the prediction for a setting on an instance, and the threshold b there."""
    cmdp = random_cmdp(**environment | {"instance": int(instance)})
    found = predict_stability(cmdp, ZPGPDHF(**options), multipliers=multipliers)
    return found, cmdp.threshold


def frozen_table(traces, environment, settings):
    """Gap and violation at each multiplier, with intervals over seeds, and predicted violation."""
    rows = []
    for (instance, setting), group in means_between(traces).groupby(["instance", "setting"]):
        multipliers = group["initial_multiplier"].unique()
        found, threshold = predict(environment, settings[setting], instance, multipliers)
        for multiplier, utility in zip(multipliers, found.utilities, strict=True):
            row = {"instance": instance, "setting": setting, "multiplier": multiplier}
            for metric in METRICS:
                samples = group.loc[group["initial_multiplier"] == multiplier, metric]
                ends = mean_interval(samples)
                row |= dict(zip((metric, f"{metric}_low", f"{metric}_high"), ends, strict=True))
            rows.append(row | {"predicted_violation": threshold - utility})
    return pd.DataFrame(rows)


def long_table(traces):
    """Means over seeds between neighbouring checkpoints."""
    groups = means_between(traces).groupby(["instance", "setting", "iteration"], as_index=False)
    return groups[["answers", *METRICS, "multiplier"]].mean()


def ends_table(traces, environment, settings, violation, share):
    """How runs end: over the last quarter, which lies between the last two checkpoints."""
    rows = []
    initial = traces[traces["iteration"] == 0].set_index(RUN)[VIOLATION]
    for key, group in means_between(traces).groupby(RUN):
        row = dict(zip(RUN, key, strict=True)) | {"initial_violation": initial[key]}
        row["least_violation"] = least = group[VIOLATION].iloc[:-1].min()
        row |= group.iloc[-1][["answers", *METRICS, "multiplier"]]
        limit = max(violation, share * initial[key])
        row["unsafe"] = row[VIOLATION] > limit
        row["forgot"] = row["unsafe"] and least <= limit
        found, _ = predict(environment, settings[row["setting"]], row["instance"])
        rows.append(row | {"peak": found.peak, "breaks": found.breaks})
    return pd.DataFrame(rows).drop(columns="initial_multiplier")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--environment", required=True, type=json.loads, help="options, as JSON")
    parser.add_argument("--settings", required=True, type=json.loads, help="options, by name")
    parser.add_argument("--unsafe", required=True, type=json.loads, help="criteria, as JSON")
    for part in ("frozen", "long", "fresh"):
        parser.add_argument(f"--{part}", required=True, nargs="+", help="CSV files of runs")
    parser.add_argument("--folder", required=True, help="where tables are written")
    given = parser.parse_args()
    with one_line():
        parts = {name: getattr(given, name) for name in ("frozen", "long", "fresh")}
        frozen, long, fresh = (pd.concat(map(read_table, paths)) for paths in parts.values())
        known = given.environment, given.settings
        tables = {"frozen": frozen_table(frozen, *known), "long": long_table(long)}
        tables["ends"] = ends_table(long, *known, **given.unsafe)
        tables["fresh"] = ends_table(fresh, *known, **given.unsafe)
        for name, table in tables.items():
            write_table(table, Path(given.folder, f"{name}.csv"))
