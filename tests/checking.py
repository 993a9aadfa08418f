"""Studies of config/, and what is refused before the first job, whichever results are asked for."""

import inspect
from functools import cache
from pathlib import Path

import pytest

from replication import analyses
from replication.files import validation
from replication.study import admission, configuration, readings

ROOT = Path(__file__).parents[1]
ANALYSES = analyses.find()
# Hundreds of studies have the same hundreds of instances: no environment is made twice.
configuration._made = cache(configuration._made.__wrapped__)


def study(*names):
    """The default study with files of config/ laid over it, one over the other."""
    return readings.overlay(admission.load_defaults(ROOT), laid(*names))


def laid(*names):
    """What files of config/ say that are laid one over the other."""
    said = {}
    for name in names:
        said = readings.overlay(said, validation.read_yaml(ROOT / f"config/{name}.yaml"))
    return said


def each(**expected):
    """Parameters of a test: defaults by name, and what is expected of a study laid over them.

    The hard case in the place of the default study has more readings and groups of instances.
    """
    known = {"default": study(), "hard": study("hard")}
    named = [(known[name], it) for name, it in expected.items()]
    return pytest.mark.parametrize(("defaults", "expected"), named, ids=[*expected])


def left_out(config, defaults):
    """Readings of the defaults that a study has not."""
    return set(defaults["claims"]["readings"]) - set(config["claims"]["readings"])


def applying(config):
    """Analyses that apply to a study, by name: the workflow asks no others."""
    facts = {"config": config}
    return {name: it for name, it in ANALYSES.items() if not ask(it.why_not, facts)}


def check_all(config):
    """Check all parts of a configuration that has been admitted."""
    schema, loaded = admission.load_schema(ROOT, "config"), readings.load(config, ROOT)
    readings.check(config, loaded, schema)
    facts = {"config": config, "schema": schema, "readings": loaded, "root": ROOT}
    for part in applying(config).values():
        if part.TARGET != "infer":  # which needs several N, and is refused when it is asked for
            ask(part.check, facts)


def admit_all(config, own, defaults):
    """Admit a study, and check all parts of it."""
    admitted = admission.admit(config, ROOT, own, defaults, ANALYSES)
    check_all(admitted[0])
    return admitted


def ask(function, facts):
    """Call a function with the facts that its arguments name."""
    return function(**{name: facts[name] for name in inspect.signature(function).parameters})
