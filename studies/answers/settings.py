"""What a number of answers pays for: the settings among which a method is tuned.

An answer is one evaluator's answer to one question. Methods that iterate spend K answers on T = K /
(Q N M) iterations with Q questions in a round. Methods that learn from pairs of trajectories spend
them on N pairs with Q questions each, which as few evaluators M answer as `most_pairs` allows.
"""

import itertools
import math

ITERATIVE = ("npgpd_hf", "zpgpd_hf", "zpg")
METHODS = (*ITERATIVE, "safe_rlhf", "safe_rlhf_uniform", "trajectory_dpo")
COUNTS = ("evaluators", "rounds")
PARTS = (
    *("evaluators", "rounds", "iterations", "estimator", "perturbation"),
    *("primal_step", "dual_step", "ridge", "temperature", "utility_weight"),
)
_KEYS = {
    *("budgets", "seeds", "environments", "tuning", "most_pairs", "random_answers"),
    *("random_budgets", "methods", "decisions"),
}


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
        if setting.get("perturbation") == "theorem":
            setting["perturbation"] = None
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


def budgets(declared, method):
    """Budgets of a method."""
    most = declared["methods"][method]["most_answers"]
    return [budget for budget in declared["budgets"] if budget <= most]


def check(declared, size):
    """Refuse what cannot be compared, in one line that names the key."""
    if wrong := sorted(_KEYS ^ {*map(str, declared or ())}):
        raise ValueError(f"{wrong[0]}: exactly {', '.join(sorted(_KEYS))} expected as keys")
    for name in ("seeds", "most_pairs"):
        if type(declared[name]) is not int or declared[name] < 1:
            raise ValueError(f"{name}: a number of at least 1 expected, got {declared[name]!r}")
    for name in ("random_budgets", "decisions.budgets"):
        budgets_of = declared["decisions"]["budgets"] if "." in name else declared[name]
        if wrong := [it for it in budgets_of if it not in declared["budgets"]]:
            raise ValueError(f"{name}: one of {declared['budgets']} expected, got {wrong[0]}")
    for methods in declared["decisions"]["transitions"].values():
        if wrong := [it for it in methods if it not in declared["methods"]]:
            raise ValueError(f"decisions.transitions: {wrong[0]} is none of the methods")
    for method in declared["methods"]:
        if method not in METHODS:
            raise ValueError(f"methods: one of {', '.join(METHODS)} expected, got {method!r}")
        for budget in budgets(declared, method):
            tried = lists(declared["methods"][method], budget)
            if wrong := sorted(tried.keys() - {*PARTS}):
                raise ValueError(f"methods.{method}.candidates: {wrong[0]} is no part of a setting")
            values = [it for them in tried.values() for it in them if not isinstance(it, str)]
            if min(values) <= 0:
                raise ValueError(f"methods.{method}.candidates: {min(values)} is not positive")
            if not affordable(declared, method, budget, size):
                raise ValueError(
                    f"methods.{method}: candidates that {budget} answers pay for expected"
                )
