"""Files of settings: read as data, checked by a JSON Schema, refused in one line."""

import difflib
import math
import re
import sys
from contextlib import contextmanager, suppress
from pathlib import Path

import yaml
from jsonschema import Draft4Validator, Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from pgpd_hf.core.arguments import shown


def _is_finite(checker, value):
    return checker.is_type(value, "integer") or (isinstance(value, float) and math.isfinite(value))


def _matches(validator, pattern, value, schema):
    if isinstance(value, str) and ("\n" in value or not re.search(pattern, value)):
        yield ValidationError("")


# Since draft 6, JSON Schema lets 3.0 be an integer; YAML lets .nan be a number, and Python's $ lets
# a line end.
_TYPES = Draft4Validator.TYPE_CHECKER.redefine("number", _is_finite)
_Validator = validators.extend(Draft202012Validator, {"pattern": _matches}, type_checker=_TYPES)
_WORDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "maximum": "at most {}",
    "exclusiveMaximum": "less than {}",
    "minLength": "at least {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
    "minProperties": "at least {} entries",
    "uniqueItems": "no repetition",
}
_TYPES = {"array": "list", "object": "keys and values"}  # in YAML's words


# What keys of a study were called in earlier editions, and are called now.
RENAMED = {"pairs": "rounds", "most_rounds": "most_rounds_in_all"}
_MOST_DIGITS = 1000  # of an integer: Python reads no more than 4300
_DEEPEST = 100  # levels of tables and lists
# Integers of base 8 and 60 in YAML 1.1, which PyYAML reads; in YAML 1.2, 010 is ten.
_OLD_NUMBER = re.compile(r"[-+]?(0[0-9_]+|[0-9][0-9_]*(:[0-5]?[0-9])+)(\.[0-9_]*)?")


class _Loader(yaml.CSafeLoader):  # twenty times as fast as the one in Python
    """YAML as it is defined: PyYAML takes the last of several equal keys."""

    def construct_mapping(self, node, deep=False):
        seen = set()
        for key, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            name = (key.tag, str(key.value))
            if name in seen:
                problem = f"the key {shown(key.value)} stands twice, where it may stand once"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(name)
        return super().construct_mapping(node, deep)


@contextmanager
def one_line(error):
    """Exit with one line, where an error is meant for people."""
    try:
        yield
    except error as refusal:
        sys.exit(f"error: {refusal}")


def read(path):
    """Read keys and values from a file that holds nothing but data."""
    # Snakemake evaluates Python in files that ask for it by the key `__use_yte__`.
    content = read_yaml(path)
    if not isinstance(content, dict):
        # A list may stand for more than fits into memory, by its aliases.
        got = "a list" if isinstance(content, list) else shown(content)
        raise ValueError(f"{path}: keys and values expected, got {got}")
    if "__use_yte__" in content:
        raise ValueError(f"{path}: a template (__use_yte__), where only data is allowed")
    return content


def read_yaml(path):
    """Read a YAML file, executing nothing in it."""
    if Path(path).is_fifo():  # reading it would wait for ever
        raise ValueError(f"{path}: a file expected, got a pipe")
    try:
        text = Path(path).read_text(encoding="utf-8")
        _refuse_traps(text)
        return yaml.load(text, _Loader)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except yaml.MarkedYAMLError as error:
        place = f"line {error.problem_mark.line + 1}"
        raise ValueError(f"{path}: not YAML: {place}: {error.problem}") from None
    except (ValueError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: not YAML: {' '.join(str(error).split())}") from None


def _refuse_traps(text):
    """Refuse what nests deeply or holds itself, and numbers that are not what they look like."""
    # The loader recurses in C, without a limit of its own.
    anchors = []  # of the tables and lists that are open
    for event in yaml.parse(text, _Loader):
        if isinstance(event, yaml.ScalarEvent) and event.implicit[0]:
            line = event.start_mark.line + 1
            if event.value.isdecimal() and len(event.value) > _MOST_DIGITS:
                raise ValueError(f"line {line}: a number of {len(event.value)} digits")
            if _OLD_NUMBER.fullmatch(event.value):
                raise ValueError(f"line {line}: {event.value}: a number in decimal digits expected")
        if isinstance(event, yaml.CollectionStartEvent):
            anchors.append(event.anchor)
        elif isinstance(event, yaml.CollectionEndEvent):
            anchors.pop()
        elif isinstance(event, yaml.AliasEvent) and event.anchor in anchors:
            raise ValueError(f"{shown(event.anchor)} holds itself")
        if len(anchors) > _DEEPEST:
            raise ValueError(f"tables and lists nested more than {_DEEPEST} levels deep")


def conform(content, schema, key=""):
    """Refuse what does not follow a JSON Schema, naming the key where the content stands."""
    error = best_match(_Validator(schema).iter_errors(content))
    if error is not None:
        error.path.extendleft(reversed(key.split(".") if key else []))
        raise ValueError(_in_one_line(error))


def unknown_key(place, name, allowed):
    """Say that a key is unknown, and which are allowed.

    >>> unknown_key("rates", "sedes", ["iterations", "seeds"])
    "rates: unknown key 'sedes' (did you mean 'seeds'?); allowed are iterations, seeds"
    """
    if RENAMED.get(name) in allowed:
        return f"{place}.{name}: renamed, write {RENAMED[name]}"
    near = difflib.get_close_matches(str(name)[:100], allowed, 1, 0.7)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return f"{place}: unknown key {name!r}{hint}; allowed are {', '.join(sorted(allowed))}"


def _in_one_line(error):
    """What a schema error says: key, value, and what is allowed."""
    key = ".".join(map(str, error.absolute_path)) or "configuration"
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema.get("properties", {}))
        unknown = min(set(error.instance) - set(allowed), key=str)
        return unknown_key(key, unknown, allowed)
    if error.validator == "required":
        missing = next(name for name in error.validator_value if name not in error.instance)
        for old in [name for name in error.instance if RENAMED.get(name) == missing]:
            return unknown_key(key, old, [missing])
        return f"{key}: the key {missing!r} is missing"
    if error.validator == "enum" and RENAMED.get(str(error.instance)) in error.validator_value:
        return unknown_key(key, error.instance, error.validator_value)
    allowed, hint = _allowed(error), ""
    if isinstance(error.instance, str):
        # To YAML 1.1, which is what PyYAML reads, 5e-1 is a text and 5.0e-1 a number.
        with suppress(ValueError):
            number = float(error.instance)
            if "number" in allowed:
                number = repr(number)
                hint = f"; write {number if '.' in number else number.replace('e', '.0e')}"
            elif "integer" in allowed and number.is_integer():
                hint = f"; write {number:.0f}"
    return f"{key}: {allowed} expected, got {shown(error.instance)}{hint}"


def _allowed(error):
    """What a schema demands where an error is, in words."""
    if error.validator == "anyOf":
        return " or ".join(dict.fromkeys(map(_allowed, error.context)))
    demand = error.validator_value
    if error.validator in ("pattern", "multipleOf"):
        return error.schema["expected"]  # in words, which stand beside every one of them
    if error.validator == "type":
        demand = [_TYPES.get(it, it) for it in ([demand] if isinstance(demand, str) else demand)]
    if isinstance(demand, list):
        demand = " or ".join(map(str, demand))
    words = _WORDS.get(error.validator, "{}").format(demand)
    return words.replace(" 1 entries", " one entry").replace(" 1 characters", " one character")
