"""Malformed configurations, drawn at random: each is refused in one line that names the key."""

import copy
import math
import random
from pathlib import Path

import pytest
from checking import admit_all

from replication.study import admission

ROOT = Path(__file__).parents[2]
DRAWN = 400
CONFIG = admission.load_defaults(ROOT)
CONFIG["claims"]["readings"] = ["positive-violation", "tangent"]  # more would only take longer

TABLES = ("environment", "bounds", "schedules", "calibration", "rates", "sweeps", "grid")
# What no key of its kind may hold, by the type of the default. Of the texts, those that a shell or
# a path would act on.
TEXTS = ["", "three", "; touch x", "$(touch x)", "`touch x`", "../..", "/etc/passwd", "a b", "x\n"]
SHAPES = [{}, {"a": 1}, [[1]], [None, None]]
NUMBERS = [math.nan, math.inf, -math.inf, -1, 10**30, 1e300]
BAD = {
    bool: [0, 1.0, None, *TEXTS, *SHAPES],
    int: [*NUMBERS, 2.5, True, *TEXTS, *SHAPES],
    float: [*NUMBERS, True, *TEXTS, *SHAPES],
    str: [*NUMBERS, 3, 2.5, True, None, *TEXTS, *SHAPES],
    type(None): [*NUMBERS, 2.5, True, *TEXTS, *SHAPES],
    list: [*NUMBERS, 3, 2.5, True, None, *TEXTS, *SHAPES],
    dict: [*NUMBERS, 3, 2.5, True, None, *TEXTS, [], *SHAPES[1:]],
}
PHRASES = ["three", "; touch x", "$(touch x)", "`touch x`", "../..", "/etc/passwd", "a b"]
# Where one of these could be meant.
ALLOWED = {
    "study": ["three"],
    "evaluators": [None, 3],
    "seeds": [3],
    "perturbation": [2.5, 3],
    **dict.fromkeys(["title", "label", "source", "quote", "statement"], PHRASES),
    "about": TEXTS[1:],
    "threshold": [-1],
    "ridge": [2.5, 3],
    "job_minutes": [2.5],
    # Leaves the method, or the control, out.
    **{name: [None] for name in (*CONFIG["comparison"]["methods"], *CONFIG["controls"])},
}


def check(config):
    """What the Snakefile does before the first job, with config.yaml changed."""
    return admit_all(config, {}, CONFIG)


def places(node, at=()):
    """Every key of a configuration, and the first entry of every list."""
    if at:
        yield at
    items = node.items() if isinstance(node, dict) else enumerate(node[:1])
    for key, value in items:
        if isinstance(value, dict | list):
            yield from places(value, (*at, key))
        else:
            yield (*at, key)


def value_at(config, place):
    for key in place:
        config = config[key]
    return config


def put(config, place, value):
    """A configuration with one key changed, which shares the rest: copies of all take seconds."""
    if not place:
        return value
    changed = copy.copy(config)
    changed[place[0]] = put(config[place[0]], place[1:], value) if place[1:] else value
    return changed


def replaced(chance, place, old):
    """Put a wrong value in the place of a good one."""
    name = [part for part in place if not isinstance(part, int)][-1]
    allowed = ALLOWED.get(name, [])
    bad = chance.choice([value for value in BAD[type(old)] if value not in allowed])
    return put(CONFIG, place, bad), place


def without(chance, place, old):
    """Leave a key out."""
    kept = {key: it for key, it in value_at(CONFIG, place[:-1]).items() if key != place[-1]}
    return put(CONFIG, place[:-1], kept), place


def unknown(chance, place, old):
    """Add a key that means nothing."""
    name = chance.choice(["sedes", "Seeds", "x\ny", "; touch x", "__class__", "0"])
    return put(CONFIG, (*place, name), chance.choice([1, "a", None, {}])), (*place, name)


def disordered(chance, place, old):
    """Turn a list around, or say an entry twice."""
    return put(CONFIG, place, chance.choice([old[::-1], [*old, old[0]]])), place


def mutants(number):
    """Malformed configurations with the place of what is wrong in each."""
    chance = random.Random("malformed configurations")
    at = list(places(CONFIG))
    # Schemas that end with names of one's own choice have no unknown keys and none that is missing.
    fixed = [
        place
        for place in at
        if place[0] in TABLES
        and len(place) <= 2
        and not {"settings", "candidates", "algorithms", "phases", "iterations"} & {*place[:-1]}
    ]
    optional = [("sweeps", name) for name in CONFIG["sweeps"]]  # as after an algorithm is dropped
    optional += [("environment", key) for key in CONFIG["environment"]]  # arguments with defaults
    required = [place for place in fixed if place not in optional]
    open_at = [(name,) for name in (*TABLES, "claims")]
    open_at += [("sweeps", "length"), ("algorithms", "npgpd_hf")]
    ordered = [("evaluators",), ("rates", "evaluators"), ("rates", "iterations", "npgpd_hf")]
    ordered += [("rates", "iterations", "zpgpd_hf")]
    ordered += [
        ("sweeps", name, "algorithms", algorithm, CONFIG["sweeps"][name]["varies"])
        for name in CONFIG["sweeps"]
        for algorithm in CONFIG["sweeps"][name]["algorithms"]
    ]
    ordered += [("grid", "algorithms", name, "evaluators") for name in CONFIG["grid"]["algorithms"]]
    kinds = [(replaced, at)] * 6 + [(without, required), (unknown, open_at), (disordered, ordered)]
    for k in range(number):
        change, candidates = kinds[k % len(kinds)]
        place = chance.choice(candidates)
        yield change(chance, place, value_at(CONFIG, place))


MUTANTS = list(mutants(DRAWN))


def test_unchanged_configuration_passes():
    config, lines = check(CONFIG)
    assert lines == []
    tied = {"ties": config["claims"]["ties"]}  # taken from the record
    assert config == CONFIG | {"claims": CONFIG["claims"] | tied}


@pytest.mark.parametrize("number", range(DRAWN))
def test_one_line_names_the_key(number):
    config, place = MUTANTS[number]
    with pytest.raises(ValueError, match=r".") as refusal:
        check(config)
    message = str(refusal.value)
    assert "\n" not in message
    assert len(message) < 400
    # Of a list, the whole or the entry; of what is missing, the table and the key.
    names = [str(part) for part in place if not isinstance(part, int)]
    # What may break a line is escaped; other letters, such as λ, need not be.
    assert names[-1] in message or names[-1].encode("unicode_escape").decode() in message
    if len(names) > 1:
        assert names[-2] in message
