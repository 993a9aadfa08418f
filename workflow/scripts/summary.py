"""Say how an experiment ended."""

import argparse
import json
from pathlib import Path

import pandas as pd
import yaml

from pgpd_hf import ALGORITHMS, CMDP, aggregate
from pgpd_hf.figures import METRICS, algorithm_labels, in_units
from pgpd_hf.runs import load_class
from pgpd_hf.tables import VALUES, one_line, read_json, read_table, read_traces
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
parser.add_argument("--traces", nargs="*", default=[], help="CSV files, for own algorithms")
parser.add_argument("--text", required=True, help="text file that is written")
options = parser.parse_args()


def intervals(table, name, low, high):
    """Values with their intervals, which one seed does not have."""
    rows = zip(table[name], table[low], table[high], strict=True)
    texts = [f"{value:+.4f} [{start:+.4f}, {end:+.4f}]" for value, start, end in rows]
    return [text.replace(" [+nan, +nan]", "").replace("+nan", "none") for text in texts]


def show(table, columns):
    """A table as text, with M and the algorithms' names as readers know them."""
    table["M"] = table["evaluators"].astype(object).fillna("inf")
    table["algorithm"] = table["algorithm"].map(algorithm_labels(table))
    return table[columns].to_string(index=False)


def show_ends(table):
    """Gaps and violations as text, from means and their intervals."""
    for name, metric in zip(("gap", "violation"), METRICS, strict=True):
        table[name] = intervals(table, metric, f"{metric}_low", f"{metric}_high")
    return show(table, ["algorithm", "M", "gap", "violation"])


def environment(optimum):
    """What to know of the environment, in the user's units."""
    units = optimum.get("units") or {"reward_unit": 1, "reward_zero": 0, "cost_unit": 1}
    best = units["reward_zero"] + units["reward_unit"] * optimum["reward_value"]
    slack = units["cost_unit"] * optimum["slack"]
    multiplier = optimum["multiplier"] * units["reward_unit"] / units["cost_unit"]
    yield f"The best safe policy has reward value {best:.4g} and multiplier {multiplier:.4g}."
    yield f"The safest policy is {slack:.4g} safer than required."
    if multiplier == 0:
        yield "The constraint does not bind: the best policy without it is safe."
    if "units" in optimum:
        yield "Gaps are in units of the reward, violations in units of the cost."


def cautions(config, default):
    """Where the default's step sizes are used, and what they were not found for."""
    named = {"evaluators": "M", "horizon": "H", "iterations": "T", "rounds": "N"}
    keys = ("environment", "evaluators", "horizon", "link")
    other = [key for key in keys if config[key] != default[key]]
    for name, kept in options.kept.items():
        own, usual = config["algorithms"][name], default["algorithms"][name]
        changed = other + [key for key in own if own[key] != usual.get(key)]
        kept = [key for key in kept if key not in changed]
        if kept and changed:
            told = ", ".join(named.get(key, key) for key in changed)
            kept, label = " and ".join(kept), ALGORITHMS[name].label
            yield f"{label} has the default's {kept}, found for another {told}: see make steps."


def pairs(labels, trace):
    """Ends of an algorithm of one's own less those of the algorithm whose streams it shares."""
    ends = trace.groupby(["algorithm", "evaluators", "seed"], dropna=False)[[*VALUES]].last()
    for name, place in options.own.items():
        other = load_class(place).streams
        if other in ends.index:
            less = (ends.loc[name] - ends.loc[other]).dropna().reset_index()
            both = f"{labels[name]} minus {labels[other]}"
            yield aggregate(less.assign(algorithm=both, iteration=0))


with one_line():
    record, optimum = read_json(options.provenance), read_json(options.optimum)
    units = optimum.get("units")
    curves = in_units(read_table(options.aggregate), units)
    last = curves.groupby("algorithm")["iteration"].transform("max")
    ends = curves[curves["iteration"] == last].copy()
    text = [
        f"Experiment {record['config']['name']}.",
        *environment(optimum),
        f"\nAfter the last iteration, means over {ends['seeds'].max()} seeds, 95 % intervals:",
        show_ends(ends),
        "Gap: reward missing to the best safe policy. Negative violation: safer than required.",
    ]
    if options.own:
        traces = in_units(read_traces(options.traces), units)
        if differences := [*pairs(algorithm_labels(curves), traces)]:
            text.append("\nOn the same random numbers, differences by seed, 95 % intervals:")
            text.append(show_ends(pd.concat(differences)))
    if options.rates:
        slopes = read_table(options.rates).query("metric == 'gap'").copy()
        slopes["slope of the gap in T"] = intervals(slopes, "slope", "low", "high")
        slopes["steps"] = slopes["step_rule"].replace({"study": "own", "theorem": "theorem's"})
        columns = ["algorithm", "M", "steps", "slope of the gap in T", "promised"]
        text += ["\nRates in T, from runs of their own (key rates; null leaves them out):"]
        text.append(show(slopes, columns))
        text.append(
            "promised: of an upper bound; where other terms of it lead, slopes may be flatter."
        )
        if slopes["slope"].isna().any():
            text.append("none: an average gap is not positive, and has no logarithm.")
    default = yaml.safe_load(Path(options.default).read_text(encoding="utf-8"))
    text += ["", *cautions(record["config"], default)]
    discount = CMDP.load(options.environment).discount
    if told := horizon_caution(discount, record["config"]["horizon"]):
        text.append(told)
    text.append(f"The figure is {options.figure}.")
    if record["commit"] is None:
        text.append(f"No commit is recorded: {record['why']}.")
    else:
        changes = " with uncommitted changes" if record["changed"] else ""
        text.append(f"Made by commit {record['commit'][:10]}{changes}.")
    Path(options.text).write_text("\n".join(text) + "\n", encoding="utf-8")
