# Which runs there are, and what each of them is told.

import json
import math

# Exact limits, with the algorithm in whose file each stands. They draw nothing: one run is enough.
EXACT = {"npg_pd": "npgpd_hf", "pg_pd": "zpgpd_hf"}
RATES = config["rates"] or {"evaluators": [], "seeds": 1, "iterations": {}}
RATED = [name for name in config["algorithms"] if name in RATES["iterations"]]
OWN = [name for name, options in config["algorithms"].items() if "class" in options]
OWN_FILE = config["environment"].get("file")
# Files that the configuration names, of algorithms and of an environment, lie beside it.
OWN_FOLDER = os.path.relpath(FOLDER) if OWN or OWN_FILE else os.curdir
CLASSES = {name: f"{OWN_FOLDER}/{config['algorithms'][name]['class']}" for name in OWN}


def sources(names):
    """Files of modules of the library."""
    return [f"{LIBRARY}/{name}.py" for name in names.split()]


# What the bits of a run depend on, beside the file of its algorithm.
ENGINE = sources(
    "arrays cmdp compilation costs evaluators optimum policies primal_dual runs streams tables"
    " trajectories"
)


wildcard_constraints:
    algorithm=r"\w+",
    evaluators=r"\d+|inf",
    step_rule="study|theorem",
    first=r"\d+",
    last=r"\d+",


def names(numbers):
    """Values of M as they stand in names of folders."""
    return ["inf" if number is None else str(number) for number in numbers]


def blocks(seeds):
    """First and last seed of blocks of ten; more seeds change only a partial last block."""
    return [f"{first:04d}-{min(first + 10, seeds) - 1:04d}" for first in range(0, seeds, 10)]


def run_names():
    """Algorithm, M and block of the figure's runs, in the order of the configuration."""
    for algorithm in config["algorithms"]:
        exact = algorithm in EXACT
        for evaluators in ["inf"] if exact else names(config["evaluators"]):
            for block in blocks(1 if exact else config["seeds"]):
                yield f"{algorithm}/M{evaluators}/seeds{block}"


def options_of(algorithm, **changes):
    """Options of an algorithm; what a theorem gives is None in the library."""
    common = {} if algorithm in EXACT else {key: config[key] for key in ("horizon", "link")}
    options = common | config["algorithms"][algorithm] | changes
    options.pop("iterations")
    if algorithm in OWN:
        options["class"] = CLASSES[algorithm]
    return {key: None if value == "theorem" else value for key, value in options.items()}


def own_sources(wildcards):
    """Files of an algorithm: of the library, or beside the configuration with its parents."""
    if wildcards.algorithm in OWN:
        return [CLASSES[wildcards.algorithm].rsplit(":", 1)[0], *sources("npgpd_hf zpgpd_hf")]
    return sources(EXACT.get(wildcards.algorithm, wildcards.algorithm))


def minutes(iterations):
    """What a job asks for: more than ten times what it takes in a small environment."""
    return 10 + iterations * (config["horizon"] + 1) // 1_000_000


def figure_settings(wildcards):
    """What a run of the figure is told, as JSON."""
    setting = {
        "purpose": config["purpose"],
        "iterations": config["algorithms"][wildcards.algorithm]["iterations"],
        "options": options_of(wildcards.algorithm),
    }
    return json.dumps([setting], sort_keys=True)


def rates_settings(wildcards):
    """What runs for rates are told, one for each T, as JSON."""
    settings, given = [], config["algorithms"][wildcards.algorithm]
    for T in RATES["iterations"][wildcards.algorithm]:
        own = wildcards.step_rule == "study"
        steps = {key: given[key] if own else "theorem" for key in ("primal_step", "dual_step")}
        if steps["dual_step"] != "theorem":  # falls like 1 / sqrt(T), as in the theorems
            steps["dual_step"] *= math.sqrt(given["iterations"] / T)
        purpose = f"rates with the steps of the {wildcards.step_rule}, T = {T}"
        settings.append(
            {
                "purpose": f"{config['purpose']}: {purpose}",
                "iterations": T,
                "checkpoints": [T - 1],
                "options": options_of(wildcards.algorithm, **steps),
                "labels": {"step_rule": wildcards.step_rule, "T": T},
            }
        )
    return json.dumps(settings, sort_keys=True)
