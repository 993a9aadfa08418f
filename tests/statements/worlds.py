"""Made-up traces and tables whose truth is known: curves through given points, with noise."""

import copy
import math

import numpy as np
import pandas as pd

from replication.statements.evidence import Evidence, Member

KNOTS = (0, 0.1, 0.2, 0.5, 0.75, 1)
LENGTHS = {"npgpd_hf": 1000, "zpgpd_hf": 50000}
EVALUATORS = (16, 64, 256)
QUESTIONS = {"npgpd_hf": 81, "zpgpd_hf": 3}
STATES, ACTIONS = 10, 4
START = 0.25  # gap of the start, in which gaps are measured
SPAN = 0.25  # range of V_g, in which violations are measured
MULTIPLIER = 0.5  # the optimal one
DISCOUNT = 0.9
RATES = {"npgpd_hf": -0.6, "zpgpd_hf": -0.3}
CURVES = {
    "gap": "optimality_gap",
    "violation": "constraint_violation",
    "multiplier": "multiplier",
}


def paper():
    """Curves for which every statement of the paper is true."""
    world = {}
    for m, end in zip(EVALUATORS, (0.060, 0.012, 0.004), strict=True):
        world["npgpd_hf", m, "gap"] = [START, end + 0.01, end, end, end, end]
        world["npgpd_hf", m, "violation"] = [0.16, 0.12, 0.09, 0.01, 0, 0]
    for m, end in zip(EVALUATORS, (0.160, 0.050, 0.015), strict=True):
        world["zpgpd_hf", m, "gap"] = [START, 0.22, 0.20, end, end, end]
        world["zpgpd_hf", m, "violation"] = [0.16, 0.14, 0.12, 0.02, 0, 0]
    for algorithm in LENGTHS:
        for m in EVALUATORS:
            world[algorithm, m, "multiplier"] = [0, 0.2, 0.4, *[MULTIPLIER] * 3]
    return world


def shifted(world, change, *keys):
    """The same with some curves moved after the start, by one number or one per knot."""
    world = copy.deepcopy(world)
    change = np.broadcast_to(change, 6) * (np.arange(6) > 0)
    for key in keys:
        world[key] = list(np.array(world[key]) + change)
    return world


def make_traces(world, seeds=20, noise=0.002, number=0):
    """Traces with the columns of `pgpd_hf.run` that the evidence needs."""
    random = np.random.default_rng(number)
    tables = []
    for algorithm, length in LENGTHS.items():
        grid = np.linspace(0, length, 41)
        # Every knot after the start has noise of its own.
        hats = np.stack([np.interp(grid / length, KNOTS, knot) for knot in np.eye(6)[1:]])
        for m in EVALUATORS:
            table = {
                "seed": np.repeat(np.arange(seeds), len(grid)),
                "iteration": np.tile(grid.astype(int), seeds),
                "answers": np.tile(grid * m * QUESTIONS[algorithm], seeds),
            }
            for curve, name in CURVES.items():
                values = np.interp(grid / length, KNOTS, world[algorithm, m, curve])
                values = values + random.normal(scale=noise, size=(seeds, 5)) @ hats
                averages = np.cumsum(values, axis=1) / np.arange(1, len(grid) + 1)
                table[name], table[f"mean_{name}"] = values.ravel(), averages.ravel()
            evaluators = pd.array([m] * seeds * len(grid), dtype="Int64")
            tables.append(pd.DataFrame(table).assign(algorithm=algorithm, evaluators=evaluators))
    return pd.concat(tables, ignore_index=True)


SWEEP_SEEDS = 8


def make_rates(slopes=None, error=0.01):
    """Table of slopes as the sweep over T gives it."""
    rows = [
        (algorithm, rule, m, metric, slope, slope - 1.96 * error, slope + 1.96 * error, SWEEP_SEEDS)
        for algorithm, slope in (RATES | (slopes or {})).items()
        for rule in ("study", "theorem")
        for m in (256, None)
        for metric in ("gap", "violation", "priced_gap")
    ]
    columns = ["algorithm", "step_rule", "evaluators", "metric", "slope", "low", "high", "seeds"]
    return pd.DataFrame(rows, columns=columns).astype({"evaluators": "Int64"})


def make_tables(rates=None, error=0.01, **changes):
    """Tables of analyses for which every statement of the paper is true, but for `changes`.

    `people` is the slope of what finite M costs, `cost` what it costs ZPGPD-HF at M = 1, `joint`
    the slope of the corollary's sweep, `growing` and `horizon` what these schedules cost more than
    constant M and H, `decay` the factor of what is misread per step of H.
    """
    truth = {"people": -1.0, "cost": 3.0, "joint": -0.5, "growing": -0.03, "horizon": 0.0}
    truth |= {"decay": DISCOUNT} | changes
    half = 1.96 * error

    def table(columns, rows, name="slope", ends=("slope_low", "slope_high")):
        frame = pd.DataFrame(rows, columns=[*columns, name]).assign(seeds=SWEEP_SEEDS)
        return frame.assign(**{ends[0]: frame[name] - half, ends[1]: frame[name] + half})

    effects = table(
        ["sweep", "algorithm", "curve", "quantity", "metric"],
        [
            ("people", "npgpd_hf", None, f"excess over M = ∞, {which}", metric, slope)
            for which, metric, slope in (
                ("M ≥ 16", "priced_gap", 0.0),
                ("16 ≤ M ≤ 256", "priced_gap", truth["people"]),
                ("16 ≤ M ≤ 256", "violation", 0.0),
            )
        ],
    )
    people = [
        ("people", name, curve, m, "priced_gap", 0.02 + cost / m)
        for name, curve, cost in (("npgpd_hf", None, 1.0), ("zpgpd_hf", "μ = 1", truth["cost"]))
        for m in (16.0, 64.0, 256.0, math.inf)
    ]
    misread = [
        ("horizon", "npgpd_hf", None, float(h), "misread", -0.5 * truth["decay"] ** h)
        for h in (10, 20, 40, 80)
    ]
    means = table(
        ["sweep", "algorithm", "curve", "value", "metric"],
        [*people, *misread],
        "mean",
        ("low", "high"),
    )
    slopes = table(
        ["sweep", "algorithm", "curve", "metric"],
        [
            ("corollary", "npgpd_hf", "theorem steps", metric, truth["joint"])
            for metric in ("gap", "violation", "priced_gap")
        ],
    )
    schedules = table(
        ["algorithm", "schedule", "metric"],
        [
            ("npgpd_hf", name, "late_priced_gap", difference)
            for name, difference in (
                ("growing", truth["growing"]),
                ("horizon grows", truth["horizon"]),
            )
        ],
        "difference",
        ("difference_low", "difference_high"),
    )
    return {
        "rates": make_rates(rates, error),
        "effects": effects,
        "effects_means": means,
        "slopes": slopes,
        "schedules": schedules,
    }


def member(traces, **options):
    """Traces on a CMDP of these worlds."""
    fields = {"utility_span": SPAN, "multiplier": MULTIPLIER, "states": STATES, "actions": ACTIONS}
    return Member(traces, **(fields | options))


def evidence(traces, tables=None, **options):
    """Evidence of given traces of one CMDP."""
    return Evidence([member(traces)], tables=tables, discount=DISCOUNT, **options)


def seed_evidence(world, noise=0.002, seeds=20, tables=None, **options):
    """Evidence of one CMDP, with all tables unless others are given."""
    tables = make_tables(error=0.0005) if tables is None else tables
    return evidence(make_traces(world, seeds, noise), tables, **options)


def instance_evidence(small, large, noise=0.002, instances=6):
    """Evidence of several instances of two sizes."""
    members = [
        member(make_traces(world, 2, noise, 10 * i + k), instance=i, group=group)
        for k, (group, world) in enumerate((("binding", small), ("small", small), ("large", large)))
        for i in range(instances)
    ]
    return Evidence(members, unit="instance")
