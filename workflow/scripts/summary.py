"""Say how an experiment ended."""

import argparse
import json
from pathlib import Path

import numpy as np
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
parser.add_argument("--kept", required=True, type=json.loads, help="the default's steps, as JSON")
parser.add_argument("--traces", required=True, nargs="+", help="CSV files of runs")
parser.add_argument("--text", required=True, help="text file that is written")
options = parser.parse_args()


def intervals(table, name):
    """Means with their intervals, which one seed does not have."""
    columns = table[[name, f"{name}_low", f"{name}_high"]].to_numpy()
    texts = [f"{mean:+.4f} [{low:+.4f}, {high:+.4f}]" for mean, low, high in columns]
    return [text.replace(" [+nan, +nan]", "").replace("+nan", "none") for text in texts]


def show(table, columns):
    """Columns of a table as text, behind the names of algorithms as readers know them, and M."""
    labels = table["algorithm"].map(algorithm_labels(table))
    numbers = table["evaluators"].astype(object).fillna("inf")
    shown = pd.DataFrame({"algorithm": labels, "M": numbers} | columns)
    return shown.to_string(index=False)


def show_ends(table, **columns):
    """Gaps and violations of a table, and further columns, as text."""
    gap, violation = (intervals(table, metric) for metric in METRICS)
    return show(table, {"gap": gap, "violation": violation} | columns)


def about_environment(cmdp, optimum):
    """What to know of the environment, in the user's units."""
    units = cmdp.units or Units(1.0, 1.0)
    best, _ = units.of_values(optimum.reward_value, optimum.utility_value)
    multiplier = optimum.multiplier * units.reward_unit / units.cost_unit
    yield f"The best safe policy has reward value {best:.4g} and multiplier {multiplier:.4g}."
    yield f"The safest policy is {units.cost_unit * optimum.slack:.4g} safer than required."
    if multiplier == 0:
        yield "The constraint does not bind: the best policy without it is safe."
    v_r, v_g = cmdp.evaluate(np.full_like(cmdp.reward, 1 / cmdp.actions))
    gap = units.reward_unit * (optimum.reward_value - v_r)
    violation = units.cost_unit * (cmdp.threshold - v_g)
    yield f"The uniform policy has gap {gap:+.4f} and violation {violation:+.4f}."
    if cmdp.units:
        yield "Gaps are in units of the reward, violations in units of the cost."
        yield f"Cost is to be at most {units.of_values(0.0, cmdp.threshold)[1]:.4g}."


def about_safety(ends, runs):
    """How many runs end safe, and whether they are safe on average, by the intervals."""
    violation = runs["constraint_violation"].groupby(level=[0, 1], dropna=False)
    counts = violation.agg(safe=lambda it: (it <= 0).sum(), runs="size").reset_index()
    counts = ends[["algorithm", "evaluators"]].merge(counts, "left")
    low, high = ends["constraint_violation_low"], ends["constraint_violation_high"]
    exact = ends["algorithm"].isin(["npg_pd", "pg_pd"])  # which chance has no part in
    low, high = (it.mask(exact, ends["constraint_violation"]) for it in (low, high))
    safe = counts["safe"].astype(str) + " of " + counts["runs"].astype(str)
    return {
        "safe runs": safe.to_numpy(),
        "on average": np.select([low > 0, high <= 0], ["unsafe", "safe"], "open"),
    }


def differences(runs, labels, algorithms):
    """Ends of an algorithm of one's own less those of the algorithm whose streams it shares."""
    for name, place in options.own.items():
        other = load_class(place).streams
        if other in runs.index:
            less = (runs.loc[name] - runs.loc[other]).dropna().reset_index()
            both = f"{labels[name]} minus {labels[other]}"
            if algorithms[name]["iterations"] != algorithms[other]["iterations"]:
                both += " (T differs)"
            yield aggregate(less.assign(algorithm=both, iteration=0))


def cautions(config, default):
    """Where the default's step sizes are used, and what they were not found for."""
    named = {"evaluators": "M", "horizon": "H", "iterations": "T", "rounds": "N"}
    keys = ("environment", "evaluators", "horizon", "link")
    others = [key for key in keys if config[key] != default[key]]
    for name, kept in options.kept.items():
        given, usual = config["algorithms"][name], default["algorithms"][name]
        changed = others + [key for key in given if given[key] != usual.get(key)]
        steps = " and ".join(key for key in kept if key not in changed)
        if steps and changed:
            told = ", ".join(named.get(key, key) for key in changed)
            start = f"{ALGORITHMS[name].label} has the default's {steps}"
            yield f"{start}, found for another {told}: see make steps."


with one_line():
    record, optimum = read_json(options.provenance), read_optimum(options.optimum)
    config, cmdp = record["config"], CMDP.load(options.environment)
    units = cmdp.units and cmdp.units._asdict()
    curves = in_units(read_table(options.aggregate), units)
    ends = curves[curves["iteration"] == curves.groupby("algorithm")["iteration"].transform("max")]
    traces = in_units(read_traces(options.traces), units)
    runs = traces.groupby(["algorithm", "evaluators", "seed"], dropna=False)[[*VALUES]].last()
    text = [
        f"Experiment {config['name']}.",
        *about_environment(cmdp, optimum),
        "\nAfter the last iteration, means over seeds with 95 % intervals:",
        show_ends(ends, **about_safety(ends, runs)),
        "Gap: reward missing to the best safe policy. Negative violation: safer than required.",
        "On average: safe or unsafe if the violation's whole interval is; open if 0 lies inside.",
    ]
    if tables := [*differences(runs, algorithm_labels(curves), config["algorithms"])]:
        text.append("\nOn the same random numbers, differences by seed, 95 % intervals:")
        text.append(show_ends(pd.concat(tables)))
    if options.rates:
        slopes = read_table(options.rates).query("metric == 'gap'")
        slopes = slopes.rename(columns={"low": "slope_low", "high": "slope_high"})
        columns = {
            "steps": slopes["step_rule"].replace({"study": "own", "theorem": "theorem's"}),
            "slope of the gap in T": intervals(slopes, "slope"),
            "promised": slopes["promised"],
        }
        text += [
            "\nRates in T, from runs of their own (key rates; null leaves them out):",
            show(slopes, columns),
            "promised: of an upper bound; where other terms of it lead, slopes may be flatter.",
        ]
        usual = config["algorithms"].get("zpgpd_hf", {}).get("perturbation", "theorem") == "theorem"
        if usual and len(slopes.query("algorithm == 'zpgpd_hf' and evaluators.isna()")):
            text.append("M = inf: Theorem 2's mu is small there, and ZPGPD-HF's noise like 1 / mu.")
        if slopes["slope"].isna().any():
            text.append("none: an average gap is not positive, and has no logarithm.")
    text.append("")
    default = yaml.safe_load(Path(options.default).read_text(encoding="utf-8"))
    text += cautions(config, default)
    if told := horizon_caution(cmdp.discount, config["horizon"]):
        text.append(told)
    text.append(f"The figure is {options.figure}.")
    if record["commit"] is None:
        text.append(f"No commit is recorded: {record['why']}.")
    else:
        changes = " with uncommitted changes" if record["changed"] else ""
        text.append(f"Commit {record['commit'][:10]}{changes}.")
    Path(options.text).write_text("\n".join(text) + "\n", encoding="utf-8")
