"""The section `algorithms` of a study: its keys are the options that the algorithms declare.

In place of a number a study may say "theorem", for what follows from the CMDP, and "calibrated",
for what a race chooses. Algorithms know neither word.
"""

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import RACED, shared_options
from pgpd_hf.core.arguments import located
from pgpd_hf.core.evaluators import AS_ASSUMED
from replication.study.cases import CALIBRATED

THEOREM = "theorem"
# What a study says for all algorithms at once, and who does not answer as assumed.
_ELSEWHERE = {"evaluators", "horizon", "link", *AS_ASSUMED}
_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string"}
_MOST = 10**6  # of a number that has no limit of its own
_LIMITS = {"at_least": "minimum", "above": "exclusiveMinimum", "at_most": "maximum"}


def with_options(schema, config):
    """JSON Schema of a study with the algorithms that it has; unknown ones are refused."""
    part = schema["properties"]["algorithms"]
    usual, entries, found = part["additionalProperties"], {}, config.get("algorithms")
    for name in found if isinstance(found, dict) else ():
        with located("algorithms"):
            known = {**usual["properties"], **keys(get_algorithm(name))}
        entries[name] = {**usual, "additionalProperties": False, "properties": known}
    whole = {**part, "properties": entries}
    return {**schema, "properties": {**schema["properties"], "algorithms": whole}}


def keys(algorithm):
    """JSON Schemas of the options of an algorithm, by name, and of those that families share."""
    options = {**shared_options(), **algorithm.options()}
    return {name: _key(each) for name, each in options.items() if name not in _ELSEWHERE}


def rounds(config):
    """N of the algorithms of a study that ask people, by name."""
    found = config["algorithms"].items()
    return {name: it["rounds"] for name, it in found if "rounds" in get_algorithm(name).options()}


def _key(option):
    """JSON Schema of an option."""
    if option.one_of is not None:
        return {"enum": list(option.one_of), "description": option.text}
    limits = {word: getattr(option, limit) for limit, word in _LIMITS.items()}
    if option.kind in (int, float) and option.at_most is None:
        limits["maximum"] = _MOST
    entry = {word: number for word, number in limits.items() if number is not None}
    entry |= {"type": _TYPES[option.kind]}
    words = [CALIBRATED] * (option.name in RACED) + [THEOREM] * option.optional
    entry = {"anyOf": [entry, {"enum": words}]} if words else entry
    return {**entry, "description": option.text}
