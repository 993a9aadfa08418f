"""Certificates along runs of one algorithm, on the study's environment and on random ones."""

import math

from pgpd_hf.core.arguments import located, require_one_of
from pgpd_hf.core.cmdp import CMDP
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration, resources
from replication.study.cases import run_setting, with_steps

TARGET = "theory"
TABLES = {"certificates/{algorithm}": Table()}
READS = ("environment", "steps")


def check(config):
    for name in config["certificates"]["iterations"]:
        with located(f"certificates.iterations.{name}"):
            configuration.require_algorithm(config, name)
            require_one_of("name", name, ("npgpd_hf", "zpgpd_hf"))  # whose estimates are recorded


def arguments(config, algorithm):
    options, numbers = config["certificates"], config["evaluators"]
    length = {"iterations": options["iterations"][algorithm]}
    return {
        "settings": [run_setting(config, algorithm, number) | length for number in numbers],
        "seeds": options["seeds"],
        "draws": options["draws"],
        "algorithm": algorithm,
    }


def seconds(config, algorithm):
    options = config["certificates"]
    iterates = len(config["evaluators"]) * options["seeds"] * options["iterations"][algorithm]
    draws = options["draws"] * resources.CERTIFIED_DRAW
    return iterates * resources.CERTIFIED_ITERATION + draws


def megabytes(config, algorithm):
    """Memory of one run with all its estimates."""
    iterates = config["certificates"]["iterations"][algorithm]
    return math.prod(configuration.size(config)) * iterates * resources.CERTIFIED_ENTRY


def tables(environment, steps, settings, seeds, draws, algorithm):
    import pandas as pd

    from replication.theory import certificates
    from replication.theory.constants import OutsideAssumptions
    from replication.theory.setting import Setting

    cmdp = CMDP.load(environment)
    calibrated = storage.read_json(steps[0]) if steps else None
    found = []
    for setting in (Setting(**with_steps(it, calibrated)) for it in settings):
        try:
            table = certificates.run_certificates(cmdp, algorithm, setting, range(seeds))
        except OutsideAssumptions as error:
            print(f"M = {setting.evaluators}: left out, {error}")
            continue
        found.append(table.assign(case="study"))
        print(f"M = {setting.evaluators}: done")
    random = certificates.random_certificates(range(draws), algorithm)
    table = pd.concat([*found, random.assign(case="random")], ignore_index=True)
    table.insert(0, "case", table.pop("case"))
    return {algorithm: table}
