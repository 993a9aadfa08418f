"""Races of the settings of a method for other people and larger environments."""

from replication.analyses import Table, comparison_races
from replication.study import comparison, elsewhere

TARGET = "compare_axes"
TABLES = {"axes_races/{part}": Table()}
why_not = comparison.why_not
check = elsewhere.check


def parts(config):
    """Names of all races, of a method elsewhere each."""
    return [
        f"{name}/{part}"
        for name, (_, study) in elsewhere.studies(config).items()
        for part in comparison_races.parts(study)
    ]


def arguments(config, part):
    name, _, rest = part.partition("/")
    _, study = elsewhere.studies(config)[name]
    return {"name": name, "told": comparison_races.subject(study, rest, f"{name}: ")}


def seconds(config, part):
    name, _, rest = part.partition("/")
    return comparison_races.seconds(elsewhere.studies(config)[name][1], rest)


def tables(name, told):
    return {f"{name}/{part}": made for part, made in comparison_races.tables(**told).items()}
