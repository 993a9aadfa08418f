"""Races of step sizes: what they are about, and those whose outcome is on record.

A race takes minutes. Those of the default study, its readings and its groups of instances, and of
the studies of known environments have been run: config/steps.yaml says what each was about and what
it has chosen, and reference/races.csv has all scores. A study takes its steps from there if a race
was about exactly its setting; otherwise it runs a new race. `make races` writes both files.
"""

import json
from functools import cache
from pathlib import Path

import pandas as pd

from pgpd_hf import environments
from pgpd_hf.races import STEPS
from replication.files.validation import read_yaml
from replication.study import configuration
from replication.work.cases import CALIBRATED, run_setting

RECORD = "config/steps.yaml"
SCORES = "reference/races.csv"


def subject(config, algorithm):
    """Everything that the outcome of a race depends on, but for its number of seeds.

    Parameters
    ----------
    config : dict
        Configuration of a study, a reading, or a group of instances.
    algorithm : str
        A key of its `algorithms`.

    Returns
    -------
    dict
        Arguments of :func:`pgpd_hf.races.race`, with the environments as their
        options.
    """
    tuning = [configuration.vary(config, {"instance": k}) for k in config.get("tuning", [])]
    kinds = map(environments.split, tuning or [config["environment"]])
    setting = run_setting(config, algorithm, None)
    raced = {*STEPS, *(name for name, value in setting.items() if value == CALIBRATED)}
    return {
        "environments": [{"name": name, **options} for name, options in kinds],
        "algorithm": algorithm,
        "setting": {
            key: setting[key] for key in sorted(setting) if key not in {*raced, "evaluators"}
        },
        "evaluators": config["evaluators"],
        "candidates": {
            name: values
            for name, values in config["calibration"]["candidates"][algorithm].items()
            if name in raced
        },
    }


def recorded(record, config, algorithm):
    """Name of the race on record that is about a configuration.

    Parameters
    ----------
    record : dict
        Made by :func:`load_record`.
    config, algorithm
        As for :func:`subject`.

    Returns
    -------
    str or None
        None if there is none, or if the configuration does not want one.
    """
    options = config["calibration"]
    if not options["recorded"] or algorithm not in options["candidates"]:
        return None
    wanted = _as_text(subject(config, algorithm))
    return next((name for name, race in record.items() if _as_text(race["about"]) == wanted), None)


def key(config, algorithm, record):
    """All that the step sizes of an algorithm depend on.

    Parameters
    ----------
    config, algorithm
        As for :func:`subject`.
    record : dict
        Made by :func:`load_record`.

    Returns
    -------
    str
        Equal for two configurations if they take their step sizes from the same race.
    """
    if config["algorithms"][algorithm]["primal_step"] != "calibrated":
        return ""
    found = recorded(record, config, algorithm)
    return found or _as_text([subject(config, algorithm), config["calibration"]["seeds"]])


def distinct(configs):
    """Races that configurations need, each of them once.

    Parameters
    ----------
    configs : dict
        Configurations by folder.

    Returns
    -------
    dict
        Configurations by folder and algorithm.
    """
    first = {}
    for folder, config in configs.items():
        for algorithm, options in config["algorithms"].items():
            if options["primal_step"] == "calibrated":
                key = _as_text(subject(config, algorithm))
                first.setdefault(key, ((folder, algorithm), config))
    return dict(first.values())


@cache
def load_record(folder):
    """Read, once, which races have been run.

    Parameters
    ----------
    folder : path-like
        Where the Snakefile is.

    Returns
    -------
    dict
        By name: `about`, made by :func:`subject`; `seeds`; `chosen`, a pair of step sizes, or a
        triple with the radius if that has raced; and `tied`, a list of such pairs or triples.
    """
    return read_yaml(Path(folder, RECORD))


def load_scores(path, name):
    """Read the scores of one race on record.

    Parameters
    ----------
    path : path-like
        The table of all races.
    name : str
        The race.

    Returns
    -------
    pandas.DataFrame
        As :func:`pgpd_hf.races.race` has made it.
    """
    table = pd.read_csv(path)
    scores = table[table.pop("race") == name]
    # Of a race of pairs, the column of what only triples have is empty.
    return scores if scores["perturbation"].notna().any() else scores.drop(columns="perturbation")


def lines(record, config, defaults):
    """Say which step sizes need a new race, and why, or that one on record has other seeds.

    Parameters
    ----------
    record : dict
        Made by :func:`load_record`.
    config, defaults : dict
        Configuration of a study, and the default one.

    Returns
    -------
    list of str
        One for each algorithm at most.
    """
    found, most = [], config["calibration"]["seeds"]
    for algorithm, options in config["algorithms"].items():
        if options["primal_step"] != "calibrated":
            continue
        if name := recorded(record, config, algorithm):
            seeds = record[name]["seeds"]
            if most not in (seeds, defaults["calibration"]["seeds"]):
                found.append(
                    f"{algorithm}: calibration.seeds: {most} has no effect, since its race is on "
                    f"record, with at most {seeds} seeds; calibration.recorded: false runs a new "
                    "one"
                )
            continue
        why = "calibration.recorded is false"
        if config["calibration"]["recorded"]:
            why = "no race is on record for it"
            if algorithm in defaults["algorithms"]:
                ours, theirs = (_flat(subject(it, algorithm)) for it in (config, defaults))
                keys = dict.fromkeys(
                    key.partition(".")[0] for key in ours if ours[key] != theirs.get(key)
                )
                why = f"the recorded race had another {', '.join(keys)}" if keys else why
        found.append(
            f"{algorithm}: new race for step sizes, since {why} "
            f"(at most {most} seed{'s' * (most > 1)} for each pair)"
        )
    return found


def ties(record, config):
    """Pairs of step sizes that could not be told from the chosen ones.

    Parameters
    ----------
    record : dict
        Made by :func:`load_record`.
    config : dict
        A configuration.

    Returns
    -------
    dict
        Lists of pairs by algorithm; only of those whose race is on record and had ties. Triples
        with a radius, of which dozens may be tied, are left out.
    """
    names = {
        algorithm: recorded(record, config, algorithm)
        for algorithm, options in config["algorithms"].items()
        if options["primal_step"] == "calibrated"
    }
    return {
        algorithm: record[name]["tied"]
        for algorithm, name in names.items()
        if name and record[name]["tied"] and len(record[name]["chosen"]) == len(STEPS)
    }


def _flat(subject):
    """Leaves of what a race is about, by their names."""
    environment = {f"environment.{key}": x for key, x in subject["environments"][0].items()}
    named = {key: subject[key] for key in ("evaluators", "candidates")}
    return {**environment, **subject["setting"], **named}


def _as_text(subject):
    return json.dumps(subject, sort_keys=True)
