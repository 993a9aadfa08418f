"""Say how an experiment ended."""

import argparse
import json
from pathlib import Path

import pandas as pd
import yaml

from pgpd_hf import ALGORITHMS, CMDP, aggregate
from pgpd_hf.costs import Units
from pgpd_hf.figures import METRICS, algorithm_labels, in_units
from pgpd_hf.runs import load_class
from pgpd_hf.tables import VALUES, one_line, read_json, read_optimum, read_table, read_traces
from pgpd_hf.trajectories import horizon_caution

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--default", required=True, help="default configuration, a YAML file")
parser.add_argument("--aggregate", required=True, help="CSV file")
parser.add_argument("--optimum", required=True, help="JSON file")
parser.add_argument("--environment", required=True, help="NumPy archive")
parser.add_argument("--rates", nargs="?", help="CSV file")
parser.add_argument("--provenance", required=True, help="JSON file")
parser.add_argument("--figure", required=True, help="the picture of all panels")
parser.add_argument("--own", required=True, type=json.loads, help="classes by name, as JSON")
parser.add_argument("--traces", required=True, nargs="+", help="CSV files of runs")
parser.add_argument("--text", required=True, help="text file that is written")
options = parser.parse_args()


def show(table, values, **columns):
    """Values of a table with their intervals, and further columns, by algorithm and M, as text."""
    shown = {"algorithm": table["algorithm"].map(algorithm_labels(table))}
    shown["M"] = table["evaluators"].astype(object).fillna("inf")
    for name, told in values.items():
        ends = table[[name, f"{name}_low", f"{name}_high"]].to_numpy()
        texts = [f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]" for mean, low, high in ends]
        shown[told] = [text.replace(" [+nan, +nan]", "").replace("+nan", "none") for text in texts]
    return pd.DataFrame(shown | columns).to_string(index=False)


def safe_runs(ends, runs):
    """How many runs of each algorithm and M end safe."""
    safe = (runs["constraint_violation"] <= 0).groupby(level=[0, 1], dropna=False).sum()
    counts = ends[["algorithm", "evaluators", "seeds"]].merge(safe.rename("safe").reset_index())
    return (counts["safe"].astype(str) + " of " + counts["seeds"].astype(str)).to_numpy()


def differences(runs, labels):
    """Ends of an own algorithm less those of the algorithm with its streams, if T is equal."""
    lengths = {name: it["iterations"] for name, it in config["algorithms"].items()}
    for name, place in options.own.items():
        other = load_class(place).streams
        if other in runs.index and lengths[other] == lengths[name]:
            less = (runs.loc[name] - runs.loc[other]).dropna().reset_index()
            both = f"{labels[name]} minus {labels[other]}"
            yield aggregate(less.assign(algorithm=both, iteration=0))


def cautions(config, default):
    """Where the default's step sizes are used, and what they were not found for."""
    keys = ("environment", "evaluators", "horizon", "link")
    others = [key for key in keys if config[key] != default[key]]
    for name, usual in default["algorithms"].items():
        given = config["algorithms"].get(name, {})
        kept = [key for key in ("primal_step", "dual_step") if given.get(key) == usual[key]]
        changed = others + [key for key in given if given[key] != usual.get(key)]
        if kept and changed:
            start = f"{ALGORITHMS[name].label} has the default's {' and '.join(kept)}"
            yield f"{start}, found with other values of {', '.join(changed)}: see make steps."


with one_line():
    record, optimum = read_json(options.provenance), read_optimum(options.optimum)
    config, cmdp = record["config"], CMDP.load(options.environment)
    units = cmdp.units or Units(1.0, 1.0)
    curves = in_units(read_table(options.aggregate), units._asdict())
    ends = curves[curves["iteration"] == curves.groupby("algorithm")["iteration"].transform("max")]
    traces = in_units(read_traces(options.traces), units._asdict())
    runs = traces.groupby(["algorithm", "evaluators", "seed"], dropna=False)[[*VALUES]].last()
    best, _ = units.of_values(optimum.reward_value, optimum.utility_value)
    multiplier = optimum.multiplier * units.reward_unit / units.cost_unit
    values = dict(zip(METRICS, ("gap", "violation"), strict=True))
    text = [
        f"Experiment {config['name']}.",
        f"The best safe policy has reward value {best:.4g} and multiplier {multiplier:.4g}.",
    ]
    if multiplier == 0:
        text.append("The constraint does not bind: the best policy without it is safe.")
    if cmdp.units:
        text.append("Gaps are in units of the reward, violations in units of the cost.")
    text += [
        "\nAfter the last iteration, means over seeds with 95 % intervals:",
        show(ends, values, safe=safe_runs(ends, runs)),
        "Gap: reward missing to the best safe policy. Negative violation: safer than required.",
        "Safe: runs that end without a violation.",
    ]
    if tables := [*differences(runs, algorithm_labels(curves))]:
        text.append("\nDifferences by seed, with 95 % intervals:")
        text.append(show(pd.concat(tables), values))
    if options.rates:
        slopes = read_table(options.rates).query("metric == 'gap'")
        slopes = slopes.rename(columns={"low": "slope_low", "high": "slope_high"})
        steps = slopes["step_rule"].replace({"study": "own", "theorem": "theorem's"})
        text.append("\nRates in T, from runs of their own (key rates; null leaves them out):")
        told = {"slope": "slope of the gap in T"}
        text.append(show(slopes, told, steps=steps, promised=slopes["promised"]))
        text.append("promised: of an upper bound; other terms of it may lead, with flatter slopes.")
        usual = config["algorithms"].get("zpgpd_hf", {}).get("perturbation", "theorem") == "theorem"
        if usual and len(slopes.query("algorithm == 'zpgpd_hf' and evaluators.isna()")):
            text.append("M = inf: Theorem 2's mu is small there, and ZPGPD-HF's noise like 1 / mu.")
        if slopes["slope"].isna().any():
            text.append("none: a gap is not positive, or rho is zero somewhere (Theorem 2).")
    default = yaml.safe_load(Path(options.default).read_text(encoding="utf-8"))
    text += ["", *cautions(config, default)]
    if told := horizon_caution(cmdp.discount, config["horizon"]):
        text.append(told)
    text.append(f"The figure is {options.figure}.")
    if record["commit"] is None:
        text.append(f"No commit is recorded: {record['why']}.")
    else:
        changes = " with uncommitted changes" if record["changed"] else ""
        text.append(f"Commit {record['commit'][:10]}{changes}.")
    Path(options.text).write_text("\n".join(text) + "\n", encoding="utf-8")
