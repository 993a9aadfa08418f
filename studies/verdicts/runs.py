"""Run an algorithm with all M on a variant of the experiment: a block of seeds, or of instances."""

import argparse
import itertools
import json

import pandas as pd
from verdicts.statements import NP, ZP

from pgpd_hf import ALGORITHMS, random_cmdp, run, solve
from pgpd_hf.optimum import utility_range
from pgpd_hf.runs import VALUES
from pgpd_hf.tables import one_line, write_table

LIMITS = {NP: "npg_pd", ZP: "pg_pd"}

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--experiment", required=True, type=json.loads, help="configuration, as JSON")
parser.add_argument("--variant", required=True, type=json.loads, help="what differs, as JSON")
parser.add_argument("--algorithm", required=True, choices=LIMITS)
parser.add_argument("--block", required=True, nargs=2, type=int, help="first and last place")
parser.add_argument("--table", required=True, help="CSV file that is written")
arguments = parser.parse_args()
experiment, variant, name = arguments.experiment, arguments.variant, arguments.algorithm


def binding(environment, first):
    """Numbers and environments of the instances from a number on whose constraint binds."""
    for number in itertools.count(first):
        cmdp = random_cmdp(**environment | {"instance": number})
        unsafe, safest = utility_range(cmdp)
        if unsafe < cmdp.threshold < safest:
            yield number, cmdp


def options_of(m):
    """Options with M evaluators, whom a variant may be about alone; None is the theorem's."""
    options = {key: experiment[key] for key in ("horizon", "link")} | experiment["algorithms"][name]
    if variant.get("only", m) == m:
        options |= variant.get("all", {}) | variant.get(name, {})
    return {key: None if it == "theorem" else it for key, it in options.items()}


def run_all(cmdp, seeds, purpose):
    """Traces for all M; the exact limit has the same for all M and seeds."""
    setting = {"purpose": purpose, "optimum": solve(cmdp)}
    traces = []
    for m in experiment["evaluators"]:
        options = options_of(m)
        iterations = options.pop("iterations")
        if variant.get("exact"):
            steps = {key: options[key] for key in ("primal_step", "dual_step")}
            trace = run(cmdp, LIMITS[name], seeds=[0], iterations=iterations, **setting, **steps)
            trace = trace.drop(columns=["algorithm", "evaluators", "seed"])
            keys = pd.DataFrame({"algorithm": name, "evaluators": m, "seed": seeds})
            traces.append(keys.merge(trace, how="cross"))
        else:
            algorithm = ALGORITHMS[name](evaluators=m, **options)
            traces.append(run(cmdp, algorithm, seeds=seeds, iterations=iterations, **setting))
    return pd.concat(traces)


with one_line():
    first, last = arguments.block
    purpose = variant.get("purpose", experiment["purpose"])
    environment = experiment["environment"] | variant.get("environment", {})
    if "instances" not in variant:
        table = run_all(random_cmdp(**environment), range(first, last + 1), purpose)
    else:
        numbers = itertools.islice(binding(environment, variant["first"]), first, last + 1)
        means = []
        for place, (number, cmdp) in enumerate(numbers, first):
            runs = run_all(cmdp, range(variant["seeds"]), f"{purpose}, instance {number}")
            keys = ["algorithm", "evaluators", "iteration"]
            mean = runs.groupby(keys, as_index=False)[[*VALUES]].mean()
            means.append(mean.assign(seed=place, instance=number))
        table = pd.concat(means)
    write_table(table, arguments.table)
