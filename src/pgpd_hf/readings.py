"""Readings: named answers to what the paper leaves open, and the cases that a study consists of.

A case is a place for results below the folder of a study: the study itself (""), a reading
("readings/NAME/") or a group of random instances ("instances/NAME/"). Each has a configuration of
its own, the study's with an overlay. Two readings whose configurations agree in all that the runs
of an algorithm depend on share these runs: they are made once, by the first of them.
"""

import copy
import json
from pathlib import Path

from pgpd_hf import configuration
from pgpd_hf.arguments import located, require_one_of

DEFAULT = {"curve": "iterate", "optimum": "constrained", "violation": "signed"}


def load_reading(folder, name, schema):
    """Read one reading.

    Parameters
    ----------
    folder : path-like
        Where readings are.
    name : str
        File name without its ending.
    schema : dict
        JSON Schema of a reading.

    Returns
    -------
    dict
        With all keys of the schema.

    Raises
    ------
    ValueError
        One line that names the file and what is wrong.
    """
    known = sorted(file.stem for file in Path(folder).glob("*.yaml"))
    require_one_of("claims.readings", name, known)
    path = Path(folder) / f"{name}.yaml"
    content = configuration.read_yaml(path)
    with located(path):
        configuration.conform(content, schema)
    return {**DEFAULT, "config": {}, **content}


def overlay(config, changes):
    """Replace what differs, key by key.

    Parameters
    ----------
    config : dict
        A configuration; stays as it is.
    changes : dict
        The keys that differ, nested likewise.

    Returns
    -------
    dict
    """
    merged = copy.deepcopy(config)
    for key, value in changes.items():
        inner = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = overlay(merged[key], value) if inner else copy.deepcopy(value)
    return merged


def list_cases(config, readings):
    """Configurations of a study and its readings.

    Parameters
    ----------
    config : dict
        The study's.
    readings : dict
        Readings by name.

    Returns
    -------
    dict
        Configuration by case.
    """
    cases = {"": config}
    for name, reading in readings.items():
        cases[f"readings/{name}/"] = overlay(config, reading["config"])
    return cases


def list_groups(config):
    """Configurations of a study's groups of random instances.

    Parameters
    ----------
    config : dict
        The study's.

    Returns
    -------
    dict
        Configuration by group. The number of the instance is left to the runs.
    """
    instances = config["claims"]["instances"]
    return {
        group: overlay(
            config,
            {
                "seeds": instances["seeds"],
                "calibration": instances["calibration"],
                "environment": options.get("environment", {}),
            },
        )
        for group, options in instances["groups"].items()
    }


def simulation_key(config, algorithm):
    """All that the runs of an algorithm depend on.

    Parameters
    ----------
    config : dict
        A configuration.
    algorithm : str
        A key of its `algorithms`.

    Returns
    -------
    str
        Equal for two configurations if and only if their runs are.
    """
    options = config["algorithms"][algorithm]
    names = ("environment", "evaluators", "link", "horizon", "seeds")
    content = {name: config[name] for name in names} | {algorithm: options}
    if options["primal_step"] == "calibrated":
        calibration = config["calibration"]
        content["calibration"] = calibration | {"grid": calibration["grid"][algorithm]}
    return json.dumps(content, sort_keys=True)


def owners(cases, key):
    """For each case, the first one that has the same results.

    Parameters
    ----------
    cases : dict
        Configuration by case.
    key : callable
        Of a configuration; what decides.

    Returns
    -------
    dict
        Case by case.
    """
    first = {}
    return {case: first.setdefault(key(config), case) for case, config in cases.items()}


def check(config, readings, schema):
    """Refuse readings and instances that cannot be run.

    Parameters
    ----------
    config : dict
        The study's, which has been checked.
    readings : dict
        Readings by name.
    schema : dict
        JSON Schema of a configuration.

    Raises
    ------
    ValueError
        One line that names the reading or the instances, the key and what is allowed.
    """
    for name, reading in readings.items():
        unfit = {"study", "claims", "rates", "bounds", "certificates"} & set(reading["config"])
        with located(f"reading {name!r}"):
            if unfit:
                raise ValueError(f"a reading cannot change {min(unfit)!r}")
            configuration.check(overlay(config, reading["config"]), schema)
    instances = config["claims"]["instances"]
    for algorithm in config["algorithms"]:
        if algorithm not in instances["calibration"]["grid"]:
            raise ValueError(
                f"claims.instances.calibration.grid: no entry for the algorithm {algorithm!r}"
            )
    groups = instances["groups"].values()
    if config["environment"]["file"] is not None and any(group["numbers"] for group in groups):
        raise ValueError(
            "claims.instances: an environment from a file has no random instances; "
            "set claims.instances.groups to {}"
        )
    for group, options in instances["groups"].items():
        key = f"claims.instances.groups.{group}"
        if "instance" in options.get("environment", {}):
            raise ValueError(
                f"{key}.environment.instance: the instances are those of {key}.numbers"
            )
        for number in options["numbers"]:
            changes = {**options.get("environment", {}), "instance": number}
            configuration.check_environment(f"{key}.environment", config, changes, schema)
