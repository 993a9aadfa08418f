"""Cases: what a study consists of; which of their results are shared, and which are judged.

A case is a place for results below the folder of a study: the study itself (""), a reading
("readings/NAME/") or a group of random instances ("instances/NAME/"). Each has a configuration of
its own, the study's with an overlay. Two readings whose configurations agree in all that the runs
of an algorithm depend on share these runs: they are made once, by the first of them.
"""

import json

from pgpd_hf.studies.readings import DEFAULT, overlay

COMPARED = ("small", "large")  # groups of instances for statements about the size of the process


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


def environment_key(config):
    """All that an environment and its optimum depend on.

    Parameters
    ----------
    config : dict
        A configuration.

    Returns
    -------
    str
        Equal for two configurations if and only if their environments are.
    """
    return json.dumps(config["environment"], sort_keys=True)


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


def owners(cases, key, *arguments):
    """For each case, the first one that has the same results.

    Parameters
    ----------
    cases : dict
        Configuration by case.
    key : callable
        Of a configuration and what else is given; what decides.
    *arguments
        Of the key, beside the configuration.

    Returns
    -------
    dict
        Case by case.
    """
    first = {}
    return {case: first.setdefault(key(config, *arguments), case) for case, config in cases.items()}


def look(readings, case):
    """How verdicts look at the runs of a case.

    Parameters
    ----------
    readings : dict
        Readings by name.
    case : str
        The study itself, or one of its readings.

    Returns
    -------
    dict
        The keys of :data:`pgpd_hf.studies.readings.DEFAULT`.
    """
    reading = readings.get(case.removeprefix("readings/").rstrip("/"), DEFAULT)
    return {key: reading[key] for key in DEFAULT}


def judged_groups(config):
    """Groups of instances that have a table of verdicts of their own.

    Parameters
    ----------
    config : dict
        The study's.

    Returns
    -------
    list of str
        Those that have instances, without :data:`COMPARED`.
    """
    groups = config["claims"]["instances"]["groups"]
    return [name for name, group in groups.items() if group["numbers"] and name not in COMPARED]


def judged_together(config, group):
    """Groups whose runs the verdicts on one group need.

    Parameters
    ----------
    config : dict
        The study's.
    group : str
        One of :func:`judged_groups`.

    Returns
    -------
    list of str
        That one first; the first of all is judged with those of :data:`COMPARED`.
    """
    groups = config["claims"]["instances"]["groups"]
    others = COMPARED if group == judged_groups(config)[0] else ()
    return [name for name in (group, *others) if name in groups and groups[name]["numbers"]]


def titles(config, readings):
    """All cases with a table of verdicts.

    Parameters
    ----------
    config : dict
        The study's.
    readings : dict
        Readings by name.

    Returns
    -------
    dict
        Title for people, by case.
    """
    groups = config["claims"]["instances"]["groups"]
    return {
        "": "default",
        **{f"readings/{name}/": reading["title"] for name, reading in readings.items()},
        **{f"instances/{name}/": groups[name].get("title", name) for name in judged_groups(config)},
    }
