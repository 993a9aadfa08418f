"""Files of settings: read as data, checked by a JSON Schema, refused in one line."""

import math
import re
from pathlib import Path

import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from pgpd_hf.core.arguments import shown


def _is_finite(checker, value):
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _is_integer(checker, value):
    return isinstance(value, int) and not isinstance(value, bool)


def _matches(validator, pattern, value, schema):
    if isinstance(value, str) and ("\n" in value or not re.search(pattern, value)):
        yield ValidationError(f"{value!r} does not match {pattern!r}")


# JSON Schema lets 3.0 be an integer, YAML lets .nan be a number, and Python's $ lets a line end.
_Validator = validators.extend(
    Draft202012Validator,
    {"pattern": _matches},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine_many(
        {"number": _is_finite, "integer": _is_integer}
    ),
)


class _Loader(yaml.SafeLoader):
    """YAML as it is defined: PyYAML takes the last of several equal keys."""

    def construct_mapping(self, node, deep=False):
        lines = {}
        for entry, _ in node.value if isinstance(node, yaml.MappingNode) else ():
            line = entry.start_mark.line + 1
            name = (entry.tag, entry.value) if isinstance(entry, yaml.ScalarNode) else line
            if name in lines:
                raise _EqualKeys(
                    f"lines {lines[name]} and {line}: the key {shown(entry.value)} stands twice, "
                    "where it may stand once"
                )
            lines[name] = line
        return super().construct_mapping(node, deep)


class _EqualKeys(ValueError):
    pass


def read(path):
    """Read what a study changes, from a file that holds nothing but data.

    Snakemake evaluates Python in files that ask for it by the key `__use_yte__`; here that is
    refused.

    Parameters
    ----------
    path : path-like
        YAML or JSON file.

    Returns
    -------
    dict
        Not checked further.

    Raises
    ------
    ValueError
        If the file holds anything else; one line that names it.
    """
    content = read_yaml(path)
    if not isinstance(content, dict):
        raise ValueError(f"{path}: keys and values expected, got {shown(content)}")
    if "__use_yte__" in content:
        raise ValueError(f"{path}: a template (__use_yte__), where only data is allowed")
    return content


def read_yaml(path):
    """Read a YAML file, executing nothing in it.

    Parameters
    ----------
    path : path-like
        The file.

    Returns
    -------
    object

    Raises
    ------
    ValueError
        If it cannot be read; one line that names it.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), _Loader)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    except _EqualKeys as error:
        raise ValueError(f"{path}: {error}") from None
    except (ValueError, yaml.YAMLError) as error:
        marked = getattr(error, "problem_mark", None)
        text = (
            f"line {marked.line + 1}: {error.problem}" if marked else " ".join(str(error).split())
        )
        raise ValueError(f"{path}: not YAML: {text}") from None


def conform(content, schema, key=""):
    """Refuse what does not follow a JSON Schema.

    Parameters
    ----------
    content : object
        What was read from a file.
    schema : dict
        The JSON Schema.
    key : str, optional
        Where the content stands in the file, for the message.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    error = best_match(_Validator(schema).iter_errors(content))
    if error is not None:
        error.path.extendleft(reversed(key.split(".") if key else []))
        raise ValueError(_in_one_line(error))


def _in_one_line(error):
    """What a schema error says: key, value, and what is allowed."""
    key = ".".join(str(part) for part in error.absolute_path) or "configuration"
    match error.validator:
        case "additionalProperties":
            allowed = sorted(error.schema.get("properties", {}))
            unknown = sorted(set(error.instance) - set(allowed), key=str)
            return f"{key}: unknown key {unknown[0]!r}; allowed are {', '.join(allowed)}"
        case "required":
            missing = [name for name in error.validator_value if name not in error.instance]
            return f"{key}: the key {missing[0]!r} is missing"
        case "anyOf":
            causes = (_allowed(cause.schema) for cause in error.context)
            allowed = " or ".join(dict.fromkeys(causes))
        case _:
            allowed = _allowed(error.schema)
    return f"{key}: {allowed} expected, got {shown(error.instance)}"


def _allowed(schema):
    """What a schema allows, in words."""
    if "enum" in schema:
        return " or ".join(str(value) for value in schema["enum"])
    kinds = schema.get("type", "value")
    kinds = kinds if isinstance(kinds, list) else [kinds]
    words = [" or ".join("null" if kind == "null" else str(kind) for kind in kinds)]
    limits = {
        "minimum": "at least {}",
        "exclusiveMinimum": "more than {}",
        "maximum": "at most {}",
        "exclusiveMaximum": "less than {}",
        "pattern": "matching {}",
        "minItems": "with at least {} entries",
        "minProperties": "with at least {} entries",
    }
    bounds = [text.format(schema[name]) for name, text in limits.items() if name in schema]
    words.append(" and ".join(bounds))
    if schema.get("uniqueItems"):
        words.append("without repetition")
    return " ".join(filter(None, words))
