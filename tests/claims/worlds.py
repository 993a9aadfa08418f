"""Made-up traces whose truth is known: curves through given points, with noise per seed."""

import copy

import numpy as np
import pandas as pd

from pgpd_hf.claims import Evidence, Member

KNOTS = (0, 0.1, 0.2, 0.5, 0.75, 1)
LENGTHS = {"npgpd_hf": 1000, "zpgpd_hf": 50000}
EVALUATORS = (16, 64, 256)
QUESTIONS = {"npgpd_hf": 81, "zpgpd_hf": 3}
PAIRS = 40
RATES = {"npgpd_hf": -0.6, "zpgpd_hf": -0.3}


def paper():
    """Curves for which every statement of the paper is true."""
    world = {}
    for m, end in zip(EVALUATORS, (0.060, 0.012, 0.004), strict=True):
        world["npgpd_hf", m, "gap"] = [0.25, end + 0.01, end, end, end, end]
        world["npgpd_hf", m, "violation"] = [0.16, 0.12, 0.09, 0.01, 0, 0]
    for m, end in zip(EVALUATORS, (0.160, 0.050, 0.015), strict=True):
        world["zpgpd_hf", m, "gap"] = [0.25, 0.22, 0.20, end, end, end]
        world["zpgpd_hf", m, "violation"] = [0.16, 0.14, 0.12, 0.05, 0.01, 0]
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
    for algorithm in LENGTHS:
        length = LENGTHS[algorithm]
        grid = np.unique(np.r_[np.linspace(0, length, 101), np.geomspace(1, length, 80)].round())
        for m in EVALUATORS:
            for seed in range(seeds):
                table = {
                    "algorithm": algorithm,
                    "evaluators": pd.array([m] * len(grid), dtype="Int64"),
                    "seed": seed,
                    "iteration": grid.astype(int),
                    "queries": grid * m * QUESTIONS[algorithm],
                }
                for column, name in (
                    ("gap", "optimality_gap"),
                    ("violation", "constraint_violation"),
                ):
                    curve = np.interp(grid / length, KNOTS, world[algorithm, m, column])
                    # Every knot after the start has noise of its own.
                    errors = np.r_[0, random.normal(scale=noise, size=5)]
                    table[name] = curve + np.interp(grid / length, KNOTS, errors)
                    table[f"mean_{name}"] = np.cumsum(table[name]) / np.arange(1, len(grid) + 1)
                tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)


def make_rates(slopes=None, error=0.01):
    """Table of slopes as the sweep over T gives it."""
    rows = [
        (algorithm, "study", m, metric, slope, slope - 1.96 * error, slope + 1.96 * error)
        for algorithm, slope in (RATES | (slopes or {})).items()
        for m in (256, None)
        for metric in ("gap", "violation")
    ]
    columns = ["algorithm", "step_rule", "evaluators", "metric", "slope", "low", "high"]
    return pd.DataFrame(rows, columns=columns).astype({"evaluators": "Int64"})


def seed_evidence(world, noise=0.002, seeds=20, rates=None, **options):
    """Evidence of one CMDP."""
    member = Member(make_traces(world, seeds, noise), value_bound=1.0, pairs=PAIRS)
    return Evidence([member], rates=make_rates() if rates is None else rates, **options)


def instance_evidence(small, large, noise=0.002, instances=6):
    """Evidence of several instances of two sizes."""
    members = [
        Member(make_traces(world, 2, noise, 10 * i + k), 1.0, PAIRS, instance=i, group=group)
        for k, (group, world) in enumerate((("binding", small), ("small", small), ("large", large)))
        for i in range(instances)
    ]
    return Evidence(members, unit="instance")
