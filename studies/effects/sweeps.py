"""Cases of sweeps and phases of schedules: what is run with which options and random streams."""

import itertools
import json
import math
from dataclasses import dataclass

LIMITS = {"npg_pd": "npgpd_hf", "pg_pd": "zpgpd_hf"}  # whose exact limits these algorithms are
STEPS = ("primal_step", "dual_step")
SIGNS = {"evaluators": "M", "rounds": "N", "horizon": "H", "perturbation": "μ"}
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


@dataclass(frozen=True)
class Case:
    """One point of a curve: T, other options of the algorithm, and the family of streams."""

    curve: str
    value: float  # of what varies
    iterations: int
    options: dict
    purpose: str


def cases(experiment, name, varies, algorithm, grid):
    """Cases of an algorithm in a sweep, curve by curve."""
    lists = {key: it if isinstance(it, list) else [it] for key, it in grid.items()}
    others = [key for key in lists if key != varies]
    found = []
    for choice in itertools.product(*(lists[key] for key in others)):
        fixed = dict(zip(others, choice, strict=True))
        curve = ", ".join(_word(key, fixed[key]) for key in others if len(lists[key]) > 1)
        for value in lists[varies]:
            place = math.inf if value is None else float(value)
            setting = _setting(experiment, algorithm, fixed | {varies: value})
            found.append(Case(curve, place, *_named(experiment, name, algorithm, *setting)))
    return found


def phases(iterations, evaluators, horizon):
    """T, M and H of each phase of a schedule; early phases may be longer by one iteration."""
    count = max(len(evaluators), len(horizon))
    return [
        (
            iterations // count + (k < iterations % count),
            evaluators[k % len(evaluators)],
            horizon[k % len(horizon)],
        )
        for k in range(count)
    ]


def usual_options(experiment, algorithm):
    """Options of an algorithm in the experiment; of an exact limit, those of its algorithm."""
    usual = experiment["algorithms"][LIMITS.get(algorithm, algorithm)]
    return {"horizon": experiment["horizon"], "link": experiment["link"]} | usual


def _setting(experiment, algorithm, choice):
    """Rule for the steps, and all options with numbers in place of words."""
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
    return rule, {key: None if it == "theorem" else it for key, it in options.items()}


def _named(experiment, name, algorithm, rule, options):
    """T, options that the algorithm takes, and the purpose, which tells all of them."""
    told = {"pairs" if key == "rounds" else key: it for key, it in options.items()}
    if algorithm == "zpgpd_hf":
        told = {"perturbation": None, "directions": "sphere", "parameterization": "direct"} | told
    purpose = f"{experiment['purpose']}: {STREAMS[name]}: "
    purpose += json.dumps(told | {"step_rule": rule}, sort_keys=True)
    iterations = options["iterations"]
    if algorithm in LIMITS:
        options = {key: options[key] for key in STEPS}
    return iterations, {key: it for key, it in options.items() if key != "iterations"}, purpose


def _word(key, value):
    """How a legend tells a setting."""
    if key == "steps":
        return f"{value} steps"
    return f"{SIGNS[key]} = {'∞' if value is None else value}"
