"""What a number of answers pays for: the settings among which a method is tuned.

An answer is one evaluator's answer to one question. Methods that iterate spend K answers on T = K /
(Q N M) iterations with Q questions in a round. Methods that learn from pairs of trajectories spend
them on N pairs with Q questions each, which as few evaluators M answer as `most_pairs` allows.
"""

import itertools
import math

ITERATIVE = ("npgpd_hf", "zpgpd_hf", "zpgpd_hf_softmax", "zpg")
COUNTS = ("evaluators", "rounds")
PARTS = (
    *("evaluators", "rounds", "iterations", "estimator", "perturbation"),
    *("primal_step", "dual_step", "ridge", "temperature", "utility_weight"),
)


def questions(method, states, actions):
    """Q: questions in a round, or about a pair of trajectories."""
    if method == "npgpd_hf":
        return 2 * states * actions + 1
    # Of ZPG's three only the helpful one: it has no use for the others.
    return {"zpg": 1, "trajectory_dpo": 2}.get(method, 3)


def trajectories(method, states, actions):
    """Trajectories in a round; two in a pair."""
    return states * (actions + 1) + 1 if method == "npgpd_hf" else 2


def lists(options, budget):
    """Values of each part of a setting, from a method's options in the configuration."""
    large = options.get("large")
    if large and budget >= large["at_least"]:
        return options["candidates"] | large["candidates"]
    return options["candidates"]


def affordable(declared, method, budget, size, combinations=None):
    """Settings that a budget pays for, by their values in the order of `lists`."""
    options, found = declared["methods"][method], {}
    tried = lists(options, budget)
    asked = questions(method, *size)
    for values in itertools.product(*tried.values()) if combinations is None else combinations:
        setting = {"rounds": 1, "iterations": 1} | dict(zip(tried, values, strict=True))
        if method in ITERATIVE:
            setting["iterations"] = budget // (asked * setting["rounds"] * setting["evaluators"])
            possible = 1 <= setting["iterations"] <= options["most_rounds"] / setting["rounds"]
        else:
            setting["evaluators"] = math.ceil(budget / (asked * declared["most_pairs"]))
            setting["rounds"] = budget // (asked * setting["evaluators"])
            possible = setting["rounds"] >= 1
        if possible:
            found[values] = setting
    return found


def answers(method, setting, size):
    """Answers that a setting takes."""
    per_evaluator = questions(method, *size) * setting["rounds"] * setting["iterations"]
    return per_evaluator * setting["evaluators"]


def env_steps(method, setting, size, horizon):
    """Environment steps that a setting takes."""
    followed = trajectories(method, *size) * setting["rounds"] * setting["iterations"]
    return followed * (horizon + 1)


def budgets(declared, method, kind="seeds"):
    """Budgets of a method on seeds, on environments, or with random answers."""
    most = declared["methods"][method]["most_answers"]
    allowed = declared["random_budgets" if kind.startswith("random") else "budgets"]
    if kind == "environments":
        most = min(most, declared["environments"]["budgets"])
    return [budget for budget in declared["budgets"] if budget in allowed and budget <= most]


def check(declared, size):
    """Refuse what cannot be compared, in one line that names the key."""
    known, most = declared["budgets"], declared["environments"]["budgets"]
    decisions = declared["decisions"]
    require_some_of("random_budgets", declared["random_budgets"], known)
    require_some_of("decisions.budgets", decisions["budgets"], [it for it in known if it <= most])
    for name, methods in decisions["transitions"].items():
        require_some_of(f"decisions.transitions.{name}", methods, declared["methods"])
    for method in declared["methods"]:
        if not all(budgets(declared, method, kind) for kind in ("environments", "random")):
            told = "at least one budget for environments, and one of random_budgets, expected"
            raise ValueError(f"methods.{method}.most_answers: {told}")
        for budget in budgets(declared, method):
            if not affordable(declared, method, budget, size):
                told = f"candidates that {budget} answers pay for expected"
                raise ValueError(f"methods.{method}: {told}")


def require_some_of(key, given, allowed):
    """Refuse a list with other entries."""
    if unknown := [it for it in given if it not in allowed]:
        told = ", ".join(map(str, allowed))
        raise ValueError(f"{key}: some of {told} expected, got {unknown[0]!r}")
