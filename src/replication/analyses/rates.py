r"""Rates in T, beside the explicit bounds of both theorems.

Both theorems bound averages over the first T iterates, :math:`\frac1T\sum_{t<T}(V_r^\star -
V_r^{(t)})` and :math:`[b - \frac1T\sum_{t<T} V_g^{(t)}]_+`, for step sizes that depend on T; a rate
is therefore measured with fresh runs for each T.
"""

import math

import pandas as pd

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.zpgpd_hf import SMALLEST
from pgpd_hf.core.arguments import located
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration, summaries, sweeps
from replication.study.cases import Case, by_seed, run_setting
from replication.study.radii import theorem_radius

TARGET = "all"
TABLES = {"rates": Table("Rates in T (table)", "algorithm step_rule evaluators metric")}
READS = ("runs",)
SHOWS = ("environment", "runs")
NEEDS = ("rates.iterations",)
METRICS = ("gap", "violation")
RUNS = ["algorithm", "step_rule", "evaluators"]


def plan(config):
    options = config["rates"]
    work = {}
    for algorithm, lengths in options["iterations"].items():
        rules = ["study"] + ["theorem"] * configuration.theorem_applies(config, algorithm)
        cases = [
            _case(config, algorithm, iterations, evaluators, rule)
            for evaluators in options["evaluators"]
            for rule in rules
            for iterations in lengths
        ]
        work[algorithm] = by_seed(cases, options["seeds"])
    return work


def fit(config, changes):
    """Leave out M = infinity where Theorem 2's radius is no use for it; the rates do without."""
    options = config["rates"]
    if None in config["evaluators"] or changes.says("rates", "evaluators"):
        return
    found = (config["algorithms"].get(name, {}) for name in options["iterations"])
    radii = [it.get("perturbation") for it in found]
    if None in options["evaluators"] and "theorem" in radii:
        radius = theorem_radius(config, None)
        if not SMALLEST < radius <= math.sqrt(2 * configuration.size(config)[0]):
            changes.leave_out(config, "rates.evaluators", None, "Theorem 2's radius is of no use")


def check(config):
    options = config["rates"]
    configuration.require_increasing("rates.evaluators", options["evaluators"])
    for name, lengths in options["iterations"].items():
        with located(f"rates.iterations.{name}"):
            configuration.require_algorithm(config, name)
        configuration.require_increasing(f"rates.iterations.{name}", lengths)
        configuration.check_runs(config, name, options["evaluators"], "rates.evaluators")


def tables(runs):
    return {"rates": slopes(averages(storage.read_tables(runs)))}


def parameters(config):
    return {"study": {key: config[key] for key in ("algorithms", "horizon", "link")}}


def setting(config, algorithm, iterations, evaluators, rule):
    """Setting of the runs for one T, and factors of its steps as of `sweeps.scaled_steps`."""
    usual = run_setting(config, algorithm, evaluators)
    return sweeps.scaled_steps(usual | {"iterations": iterations}, usual["iterations"], rule)


def averages(runs):
    """Averages over the first T iterates of each run, as the theorems bound them."""
    table = summaries.averages(runs)
    table["violation"] = table["violation"].clip(lower=0)
    order = ["algorithm", "evaluators", "step_rule", "value", "seed"]
    return table.sort_values(order, ignore_index=True)


def slopes(table):
    """Slopes of log mean average against log T beside the promised exponent, by curve."""
    found = summaries.slopes(table, summaries.QUANTITIES, keys=RUNS)
    found = found.rename(columns={"slope_low": "low", "slope_high": "high"})
    found["promised"] = pd.array(
        [get_algorithm(name).rate for name in found["algorithm"]], "Float64"
    )
    return found


def _case(config, algorithm, iterations, evaluators, rule):
    chosen, factors = setting(config, algorithm, iterations, evaluators, rule)
    name = f"rates with the steps of the {rule}, T = {iterations}"
    return Case(
        algorithm,
        chosen,
        purpose=configuration.stream_family(config, name),
        factors=factors,
        checkpoints=sweeps.checkpoints(iterations),
        labels={"step_rule": rule, "value": float(iterations)},
    )
