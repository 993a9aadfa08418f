"""The study with the step sizes that its races could not tell from the chosen ones.

The runs have the random streams of the study's own, so differences are due to the steps alone.
"""

from pgpd_hf.races import STEPS
from replication.study import configuration
from replication.work.cases import Case, run_setting

TARGET = "claims"
TABLES = {}


def plan(config):
    return {
        algorithm: [(number, _cases(config, algorithm, number)) for number in range(len(pairs))]
        for algorithm, pairs in config["claims"]["ties"].items()
    }


def check(config, schema):
    for algorithm in config["claims"]["ties"]:
        configuration.require_algorithm(config, algorithm)


def _cases(config, algorithm, number):
    steps = dict(zip(STEPS, config["claims"]["ties"][algorithm][number], strict=True))
    return [
        Case(
            algorithm,
            run_setting(config, algorithm, evaluators) | steps,
            tuple(range(config["claims"]["seeds"])),
            labels={"tie": number},
        )
        for evaluators in config["evaluators"]
    ]
