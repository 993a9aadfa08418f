"""Readings: named answers to what the paper leaves open, as overlays of a study's configuration."""

import copy
from pathlib import Path

from pgpd_hf.core.arguments import located, require_one_of
from pgpd_hf.studies import configuration

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
            configuration.vary(config, reading["config"].get("environment", {}))
            configuration.check(overlay(config, reading["config"]), schema)
    instances = config["claims"]["instances"]
    if any(group["numbers"] for group in instances["groups"].values()):
        configuration.require_candidates(
            "claims.instances.calibration", instances["calibration"], config["algorithms"]
        )
    for group, options in instances["groups"].items():
        key = f"claims.instances.groups.{group}"
        for name in {"file", "instance"} & set(options.get("environment", {})):
            raise ValueError(f"{key}.environment.{name}: the instances are those of {key}.numbers")
        for number in options["numbers"]:
            changes = {**options.get("environment", {}), "instance": number}
            configuration.check_environment(f"{key}.environment", config, changes, schema)
