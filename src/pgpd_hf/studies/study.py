"""Studies as they are run: checked as a whole, and without what their environment rules out.

Snakemake merges a study's file into config/config.yaml, so that a study can add and change, but not
take away. What config/config.yaml says about environments beside its own would refuse a study of
another environment, or say under an old name something new. So it is taken away here:

* if the environment comes from a file, which holds one process, all that is about others;
* if a study changes its environment, what was chosen for that of config/config.yaml, unless the
  study says it itself: settings of bounds and readings with an environment of their own, and the
  numbers of random instances.
"""

import copy
from pathlib import Path

from pgpd_hf import claims
from pgpd_hf.analyses import grid, schedules, sweeps
from pgpd_hf.studies import configuration, readings


def admit(config, folder, own, defaults):
    """Refuse a study that cannot be run; leave out what its environment rules out.

    Parameters
    ----------
    config : dict
        The configuration; stays as it is.
    folder : path-like
        Where the Snakefile is.
    own : dict
        What the study says itself, in its file and on the command line.
    defaults : dict
        What config/config.yaml says.

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
    config, lines = settle(config, folder, own, defaults)
    configuration.check(config, schema)
    configuration.check_bounds(config, schema)
    sweeps.check(config)
    schedules.check(config)
    grid.check(config)
    claims.load_claims(Path(folder, "config/claims.yaml"), load_schema(folder, "claims"))
    readings.check(config, load_readings(config, folder), schema)
    return config, lines


def settle(config, folder, own, defaults):
    """Leave out what a study's environment rules out, without checking anything.

    Parameters
    ----------
    config : dict
        A configuration that follows its schema; stays as it is.
    folder : path-like
        Where the Snakefile is.
    own : dict
        What the study says itself, in its file and on the command line.
    defaults : dict
        What config/config.yaml says.

    Returns
    -------
    config : dict
        What is run.
    lines : list of str
        What is left out, and why.
    """
    file = config["environment"]["file"]
    said = own.get("environment", {})
    changed = [
        f"environment.{key}"
        for key, value in said.items()
        if key != "file" and value != defaults["environment"][key]
    ]
    # Another draw is as good as that of config/config.yaml.
    if file is None and not set(changed) - {"environment.instance"}:
        return config, []

    def inherited(*keys):
        return file is not None or not _says(own, keys)

    config = copy.deepcopy(config)
    left = {
        "bounds.settings": [
            name
            for name, options in config["bounds"]["settings"].items()
            if _differs(options["environment"])
            and inherited("bounds", "settings", name, "environment")
        ],
        "claims.readings": [
            name
            for name, reading in load_readings(config, folder).items()
            if _differs(reading["config"].get("environment", {}))
            and inherited("claims", "readings")
        ],
        "claims.instances.groups": [
            name
            for name in config["claims"]["instances"]["groups"]
            if inherited("claims", "instances", "groups", name, "numbers")
        ],
    }
    if file is not None:
        left["sweeps"] = [name for name in sweeps.SIZES if name in config["sweeps"]]
        left["grid.algorithms"] = list(config["grid"]["algorithms"])
    for key, names in left.items():
        _remove(config, key, names)
    listed = "; ".join(f"{key}: {', '.join(names)}" for key, names in left.items() if names)
    if file is not None:
        listed = "; ".join(filter(None, [*changed, listed]))
        reason = f"because {file} holds one process, and nothing to draw or to change others from"
        advice = ""
    else:
        reason = f"because chosen for another environment, of which {', '.join(changed)} differs"
        advice = (
            ". To have them, say in the study's own file what they shall be: the environment of a "
            "setting, the list of readings, the numbers of a group"
        )
    return config, [f"left out, {reason}: {listed}{advice}"] if listed else []


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


def _says(own, keys):
    """Whether a study says something itself."""
    for key in keys:
        if key not in own:
            return False
        own = own[key]
    return True


def _remove(config, key, names):
    """Remove entries of a table or a list."""
    *parents, last = key.split(".")
    for parent in parents:
        config = config[parent]
    if isinstance(config[last], dict):
        config[last] = {name: config[last][name] for name in config[last] if name not in names}
    else:
        config[last] = [name for name in config[last] if name not in names]
