"""What is refused before the first job, whichever results are asked for."""

import inspect
from pathlib import Path

from replication import analyses
from replication.study import admission, readings

ROOT = Path(__file__).parents[1]


def applying(config):
    """Analyses that apply to a study, by name: the workflow asks no others."""
    found = analyses.find().items()
    return {name: it for name, it in found if not ask(it.why_not, {"config": config})}


def check_all(config):
    """Check all parts of a configuration that has been admitted."""
    schema, loaded = admission.load_schema(ROOT, "config"), readings.load(config, ROOT)
    readings.check(config, loaded, schema)
    facts = {"config": config, "schema": schema, "readings": loaded, "root": ROOT}
    for part in applying(config).values():
        ask(part.check, facts)


def admit_all(config, own, defaults):
    """Admit a study, and check all parts of it."""
    admitted = admission.admit(config, ROOT, own, defaults, analyses.find())
    check_all(admitted[0])
    return admitted


def ask(function, facts):
    """Call a function with the facts that its arguments name."""
    return function(**{name: facts[name] for name in inspect.signature(function).parameters})
