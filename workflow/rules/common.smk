# Which runs there are, and what they are told.

import json
from hashlib import sha256

EXACT = CONFIGURATION["EXACT"]
RATES = config["rates"] or {"evaluators": [], "seeds": 1, "iterations": {}}
RATED = [name for name in config["algorithms"] if name in RATES["iterations"]]


def beside(name):
    """A file that the configuration names, which lies beside it."""
    return os.path.normpath(f"{FOLDER}/{name}")


# An environment of one's own, and algorithms: file and class.
OWN_ENVIRONMENT = [beside(config["environment"]["file"])] if "file" in config["environment"] else []
OWN = {
    name: beside(options["class"])
    for name, options in config["algorithms"].items()
    if "class" in options
}
OWN_FILES = {name: place.rsplit(":", 1)[0] for name, place in OWN.items()}


def sources(names):
    """Files of modules of the library."""
    return [f"{LIBRARY}/{name}.py" for name in names.split()]


# What the bits of a run depend on, beside the file of its algorithm.
ENGINE = sources(
    "arrays cmdp compilation costs evaluators optimum policies primal_dual runs streams tables"
    " trajectories"
)


def own_sources(wildcards):
    """Files of an algorithm: of the library, or beside the configuration with its parents."""
    if wildcards.algorithm in OWN_FILES:
        return [OWN_FILES[wildcards.algorithm], *sources("npgpd_hf zpgpd_hf")]
    return sources(EXACT.get(wildcards.algorithm, wildcards.algorithm))


def digests(files):
    """Digests of files, which may be replaced by older files."""
    return [sha256(Path(file).read_bytes()).hexdigest() for file in files]


def names(numbers):
    """Values of M as they stand in names of folders."""
    return ["inf" if number is None else number for number in numbers]


def blocks(seeds, size=10):
    """First and last seed of blocks; more seeds change only a partial last block."""
    return [f"{first:04d}-{min(first + size, seeds) - 1:04d}" for first in range(0, seeds, size)]


def run_names():
    """Algorithm, M and block of the figure's runs, in the order of the configuration."""
    for algorithm in config["algorithms"]:
        exact = algorithm in EXACT
        yield from collect(
            f"{algorithm}/M{{evaluators}}/seeds{{block}}",
            evaluators="inf" if exact else names(config["evaluators"]),
            block=blocks(1 if exact else config["seeds"]),
        )


def options_of(algorithm):
    """Options of an algorithm as the library takes them."""
    return CONFIGURATION["options_of"](algorithm, config, FOLDER)


def minutes(iterations):
    """What a job asks for: more than ten times what it takes in a small environment."""
    return 10 + iterations * (config["horizon"] + 1) // 1_000_000
