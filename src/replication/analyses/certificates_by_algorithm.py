"""Certificates along runs of one algorithm, on the study's environment and on random ones."""

import math

from pgpd_hf.core.arguments import located
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration, resources
from replication.study.cases import Case, run_setting

TARGET = "theory"
TABLES = {"certificates/{algorithm}": Table()}
READS = ("environment", "steps")


def cases(config, algorithm):
    """Runs along which certificates are computed, one for each M."""
    options = config["certificates"]
    iterations = {"iterations": options["iterations"][algorithm]}
    seeds = tuple(range(options["seeds"]))
    return [
        Case(algorithm, run_setting(config, algorithm, evaluators) | iterations, seeds)
        for evaluators in config["evaluators"]
    ]


def check(config):
    for name in config["certificates"]["iterations"]:
        with located(f"certificates.iterations.{name}"):
            configuration.require_algorithm(config, name)


def arguments(config, algorithm):
    return {
        "cases": [vars(case) for case in cases(config, algorithm)],
        "draws": config["certificates"]["draws"],
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


def tables(environment, steps, cases, draws, algorithm):
    import pandas as pd

    from pgpd_hf.core.cmdp import CMDP
    from replication.study.cases import with_steps
    from replication.theory import certificates
    from replication.theory.constants import OutsideAssumptions
    from replication.theory.setting import Setting

    cmdp = CMDP.load(environment)
    calibrated = storage.read_json(steps[0]) if steps else None
    found = []
    for case in (Case(**case) for case in cases):
        setting = Setting(**with_steps(case.setting, calibrated))
        try:
            table = certificates.run_certificates(cmdp, case.algorithm, setting, case.seeds)
        except OutsideAssumptions as error:
            print(f"M = {setting.evaluators}: left out, {error}")
            continue
        found.append(table.assign(case="study"))
        print(f"M = {setting.evaluators}: done")
    random = certificates.random_certificates(draws, [algorithm])
    table = pd.concat([*found, random.assign(case="random")], ignore_index=True)
    table.insert(0, "case", table.pop("case"))
    return {algorithm: table}
