"""Studies as they are run: checked as a whole, and without what their environment rules out.

Snakemake merges a study's file into config/config.yaml, so that a study can add and change, but not
take away. What config/config.yaml says about other environments is taken away here, where it would
mean nothing: an archive holds one process, and nothing to draw or to change others from.
"""

import copy
from pathlib import Path

from pgpd_hf import claims, configuration, grid, readings, schedules, sweeps


def admit(config, folder):
    """Refuse a study that cannot be run; leave out what its environment rules out.

    Parameters
    ----------
    config : dict
        The configuration; stays as it is.
    folder : path-like
        Where the Snakefile is.

    Returns
    -------
    config : dict
        What is run.
    lines : list of str
        What is left out, and why.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    schema = load_schema(folder, "config")
    configuration.conform(config, schema)
    config, lines = settle(config, folder)
    configuration.check(config, schema)
    sweeps.check(config)
    schedules.check(config)
    grid.check(config)
    claims.load_claims(Path(folder, "config/claims.yaml"), load_schema(folder, "claims"))
    readings.check(config, load_readings(config, folder), schema)
    return config, lines


def settle(config, folder):
    """Leave out what a study's environment rules out, without checking anything.

    Parameters
    ----------
    config : dict
        A configuration that follows its schema; stays as it is.
    folder : path-like
        Where the Snakefile is.

    Returns
    -------
    config : dict
        What is run.
    lines : list of str
        What is left out, and why.
    """
    file = config["environment"]["file"]
    if file is None:
        return config, []
    config = copy.deepcopy(config)
    loaded = load_readings(config, folder)
    left = {
        "bounds.settings": [
            name
            for name, options in config["bounds"]["settings"].items()
            if _differs(options["environment"])
        ],
        "claims.readings": [
            name
            for name, reading in loaded.items()
            if _differs(reading["config"].get("environment", {}))
        ],
        "claims.instances.groups": list(config["claims"]["instances"]["groups"]),
        "sweeps": [name for name in sweeps.SIZES if name in config["sweeps"]],
        "grid.algorithms": list(config["grid"]["algorithms"]),
    }
    for key, names in left.items():
        _remove(config, key, names)
    said = "; ".join(f"{key}: {', '.join(names)}" for key, names in left.items() if names)
    reason = f"{file} holds one process, and nothing to draw or to change others from"
    return config, [f"left out, because {reason}: {said}"] if said else []


def load_readings(config, folder):
    """Read the readings of a study.

    Parameters
    ----------
    config : dict
        A configuration.
    folder : path-like
        Where the Snakefile is.

    Returns
    -------
    dict
        Readings by name.
    """
    schema = load_schema(folder, "reading")
    return {
        name: readings.load_reading(Path(folder, "config/readings"), name, schema)
        for name in config["claims"]["readings"]
    }


def load_schema(folder, name):
    """Read a JSON Schema.

    Parameters
    ----------
    folder : path-like
        Where the Snakefile is.
    name : str
        Kind of configuration file: "config", "claims" or "reading".

    Returns
    -------
    dict
    """
    return configuration.read_yaml(Path(folder, f"workflow/schemas/{name}.schema.yaml"))


def _differs(changes):
    """Whether changes of an environment describe a random one; another file is a process, too."""
    return bool(set(changes) - {"file"})


def _remove(config, key, names):
    """Remove entries of a table or a list."""
    *parents, last = key.split(".")
    for parent in parents:
        config = config[parent]
    if isinstance(config[last], dict):
        config[last] = {name: config[last][name] for name in config[last] if name not in names}
    else:
        config[last] = [name for name in config[last] if name not in names]
