"""Cases of sweeps: what is run with which options and random streams."""

import itertools
import json
import math
from typing import NamedTuple

LIMITS = {"npg_pd": "npgpd_hf", "pg_pd": "zpgpd_hf"}  # whose exact limits these algorithms are
STEPS = ("primal_step", "dual_step")
WORDS = {"steps": "{} steps", "evaluators": "M = {}", "perturbation": "μ = {}"}  # of legends
# Names of random streams, which no other name may change.
STREAMS = {
    "iterations": "sweep length",
    "corollary": "sweep corollary",
    "evaluators": "sweep people",
    "horizon": "sweep horizon",
    "rounds": "sweep pairs",
    "constant": "schedule constant",
    "both grow": "schedule growing",
    "evaluators grow": "schedule people grow",
}


class Case(NamedTuple):
    """One point of a curve: T, other options of the algorithm, and the family of streams."""

    curve: str
    axis: str  # what varies
    value: float
    iterations: int
    options: dict
    purpose: str


def cases(experiment, name, algorithm, grid):
    """Cases of an algorithm in a sweep, curve by curve."""
    varies = "iterations" if name == "corollary" else name
    lists = {key: it if isinstance(it, list) else [it] for key, it in grid.items()}
    others = [key for key in lists if key != varies]
    found = []
    for choice in itertools.product(*(lists[key] for key in others)):
        fixed = dict(zip(others, choice, strict=True))
        words = {key: "∞" if it is None else it for key, it in fixed.items()}
        several = [key for key in others if len(lists[key]) > 1]
        curve = ", ".join(WORDS[key].format(words[key]) for key in several)
        for value in lists[varies]:
            place = math.inf if value is None else float(value)
            told = _told(experiment, name, algorithm, fixed | {varies: value})
            found.append(Case(curve, varies, place, *told))
    return found


def usual_options(experiment, algorithm):
    """Options of an algorithm in the experiment; of an exact limit, those of its algorithm."""
    usual = experiment["algorithms"][LIMITS.get(algorithm, algorithm)]
    return {"horizon": experiment["horizon"], "link": experiment["link"]} | usual


def _told(experiment, name, algorithm, choice):
    """T, options with numbers in place of words, and the purpose, which tells all of them."""
    usual = usual_options(experiment, algorithm)
    options = {"evaluators": None} | usual | choice
    rule = options.pop("steps", "study")
    iterations, discount = options["iterations"], experiment["environment"]["discount"]
    if options["evaluators"] == "corollary":
        options["evaluators"] = math.ceil(iterations * math.log(iterations))
    if options["horizon"] == "corollary":
        options["horizon"] = math.ceil(math.log(iterations) / (2 * math.log(1 / discount)))
    if rule == "theorem":
        options |= dict.fromkeys(STEPS, "theorem")
    else:
        scale = math.sqrt(usual["iterations"] / iterations)
        for step in STEPS if rule == "falling" else STEPS[1:]:
            options[step] *= scale
    options = {key: None if it == "theorem" else it for key, it in options.items()}
    told = {"pairs" if key == "rounds" else key: it for key, it in options.items()}
    if algorithm == "zpgpd_hf":
        told = {"perturbation": None, "directions": "sphere", "parameterization": "direct"} | told
    told = json.dumps(told | {"step_rule": rule}, sort_keys=True)
    del options["iterations"]
    if algorithm in LIMITS:
        options = {key: options[key] for key in STEPS}
    return iterations, options, f"{experiment['purpose']}: {STREAMS[name]}: {told}"
