"""Studies: the experiment and the settings of analyses, and what a study changes of both.

What a study says is laid over config/config.yaml and over the settings of each analysis in
config/analyses. Of these defaults every part takes what fits the study's environment and
algorithms, by its function `fit`; what a study says itself stays, and is refused if it cannot be
run.
"""

import copy
from functools import cache, reduce
from pathlib import Path

from pgpd_hf import environments
from pgpd_hf.algorithms import ALGORITHMS, get_algorithm
from pgpd_hf.algorithms.base import STEPS, HumanFeedback
from replication.files import validation
from replication.study import (
    algorithms,
    comparison,
    configuration,
    radii,
    readings,
    recorded_races,
    sweeps,
)
from replication.study.changes import Changes


def load_defaults(folder):
    """The experiment of config/config.yaml, and the settings of each analysis by its name."""
    paths = sorted(Path(folder, "config/analyses").glob("*.yaml"))
    settings = {path.stem: validation.read(path) for path in paths}
    return validation.read(Path(folder, "config/config.yaml")) | settings


@cache
def load_schema(folder, name):
    """JSON Schema of a kind of file: "config" (with those of all analyses), "claims", "reading"."""
    schemas = Path(folder, "workflow/schemas")
    schema = validation.read_yaml(schemas / f"{name}.schema.yaml")
    if name == "config":
        names = sorted(path.stem for path in Path(folder, "config/analyses").glob("*.yaml"))
        found = {it: validation.read_yaml(schemas / f"analyses/{it}.schema.yaml") for it in names}
        for part in found.values():
            part.pop("$schema", None)  # would let another validator take over
        schema["properties"] |= found
        schema["required"] += found
    return schema


def admit(config, folder, own, defaults, analyses):
    """Settle a study that is laid over the defaults, and refuse what cannot be run in one line."""
    schema = load_schema(folder, "config")
    config = _filled(config)
    schema = algorithms.with_options(schema, config)
    validation.conform(config, schema)
    configuration.refuse_contradictions(own.get("environment", {}))
    config, lines = settle(config, folder, own, defaults, analyses)
    configuration.check(config, schema)
    radii.refuse_wide(config)
    lines += configuration.low_bounds(config)
    return config, lines + recorded_races.lines(
        recorded_races.load_record(folder), config, defaults
    )


def refuse_displacing(study, said, folder, defaults):
    """Refuse files of a study that would write to the place of another one, which is on record."""
    usual = []
    if study != defaults["study"]:
        usual = [validation.read(Path(folder, f"config/{study}.yaml"))]
    found, expected = (reduce(readings.overlay, files, defaults) for files in (said, usual))
    if found != expected:
        raise ValueError(
            f"study: a name of its own expected for a study that changes {study}, whose results "
            "it would replace: write `study: mine`"
        )


def refuse_namesake(study, files, folder):
    """Refuse a study that has the name of one in config/ whose file is not among its own."""
    for place in ("config", "config/environments"):
        path = Path(folder, place, f"{study}.yaml")
        named = path.exists() and validation.read(path).get("study") == study
        if named and not any(map(path.samefile, files)):
            raise ValueError(
                f"study: a name of its own expected, since {path} is the study {study}: write "
                "`study: mine`"
            )


def settle(config, folder, own, defaults, analyses):
    """What is run of a study, and lines about what is left out of the defaults or fitted to it."""
    config = _filled(config)
    if environments.split(config["environment"])[0] not in ("random", "file"):
        # The keys of config/config.yaml are those of random environments.
        config["environment"] = copy.deepcopy(own["environment"])
    found = config["algorithms"].items()
    dropped = [name for name, options in found if not options]
    config["algorithms"] = {name: options for name, options in found if options}
    unlike = [name for name in config["algorithms"] if sweeps.is_unlike_limit(config, name)]
    limits = [name for name in ALGORITHMS if unlike and get_algorithm(name).limit_of in unlike]
    if dropped or unlike:
        names = {name for name in ALGORITHMS if sweeps.studied(name) in dropped} | {*limits}
        sections = set(defaults) - set(validation.read(Path(folder, "config/config.yaml")))
        config |= {section: _without(config[section], names) for section in sections}
    changes = Changes(config, folder, own, defaults)
    lines = [f"left out: all that is about {name} (the study has none)" for name in dropped]
    lines += [
        f"left out: all that is about {name} (the study has other policies)" for name in limits
    ]
    lines += configuration.fit(config, changes)
    for part in (*analyses.values(), readings, comparison, sweeps):
        part.fit(config, changes)
    record = recorded_races.load_record(folder)
    config["claims"]["ties"] = recorded_races.ties(record, config) | config["claims"]["ties"]
    return config, [*lines, *changes.lines()]


def _without(settings, names):
    """Settings without what is about some algorithms, however deep it stands."""
    if isinstance(settings, dict):
        kept = (item for item in settings.items() if not _is_about(*item, names))
        return {name: _without(it, names) for name, it in kept}
    if isinstance(settings, list):
        return [it for it in settings if not (isinstance(it, str) and it in names)]
    return settings


def _is_about(name, settings, names):
    """Whether settings are those of an algorithm, or of a method that uses it by another name."""
    return name in names or (isinstance(settings, dict) and settings.get("algorithm") in names)


def _filled(config):
    """Add what algorithms can do without: a number of rounds, and steps if they make none."""
    config = copy.deepcopy(config)
    found = config["algorithms"]
    for name in [*ALGORITHMS] if isinstance(found, dict) else []:
        if found.get(name) and isinstance(found[name], dict):
            found[name].setdefault("rounds", HumanFeedback.options()["rounds"].default)
            for step in () if ALGORITHMS[name].has_steps else STEPS:
                found[name].setdefault(step, "theorem")
    return config
