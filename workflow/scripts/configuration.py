"""Check the configuration of an experiment: `python configuration.py config/mine.yaml`.

The name of the experiment is printed, or in one line what is wrong: the file or the key, what was
found, and what is allowed.
"""

import difflib
import math
import os
import re
import reprlib
import sys
from pathlib import Path

import yaml
from jsonschema import Draft4Validator, Draft202012Validator, validators
from jsonschema.exceptions import best_match
from snakemake.utils import update_config

CLONE = Path(__file__).parents[2]
DEFAULT = CLONE / "config/config.yaml"
STEPS = "primal_step", "dual_step"
SCHEMA = yaml.safe_load((CLONE / "workflow/config.schema.yaml").read_text(encoding="utf-8"))
ALGORITHMS = SCHEMA["properties"]["algorithms"]["properties"]
# In YAML 1.1, which PyYAML reads, numbers of base 8 and 60; 1e-3 and 1.5e3 are texts there.
ODD_NUMBER = re.compile(
    r"[-+]?((0[0-9_]+|\d+(:[0-5]?\d)+)(\.[0-9_]*)?|\d+e[-+]?\d+|\d*\.\d*e\d+)", re.I
)


class Loader(yaml.SafeLoader):
    """YAML with text as keys, each of which stands once: PyYAML takes the last of equal keys."""

    def construct_mapping(self, node, deep=False):
        names = set()
        for key, _ in node.value:
            if key.tag == "tag:yaml.org,2002:merge":
                continue
            line = f"line {key.start_mark.line + 1}"
            if key.tag != "tag:yaml.org,2002:str":
                raise ValueError(f"{line}: text expected as a key, got {reprlib.repr(key.value)}")
            if key.value in names:
                raise ValueError(f"{line}: the key {key.value!r} stands twice")
            names.add(key.value)
        return super().construct_mapping(node, deep)


def read(path, aliases=False):
    """Read keys and values from a file that holds plain data and nothing else."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        for event in yaml.parse(text, Loader):
            line = f"line {event.start_mark.line + 1}"
            if isinstance(event, yaml.AliasEvent) and not aliases:
                raise ValueError(f"{line}: no alias expected, got *{event.anchor}")
            plain = isinstance(event, yaml.ScalarEvent) and event.implicit[0]
            if plain and ODD_NUMBER.fullmatch(event.value):
                told = f"{line}: a decimal number (1000 or 1.0e-3) expected, got {event.value}"
                raise ValueError(told)
        content = yaml.load(text, Loader)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        told = " ".join(str(error).split())
        raise ValueError(f"{path}: plain YAML expected: {told}") from None
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror}") from None
    if not isinstance(content, dict):
        told = "nothing" if content is None else reprlib.repr(content)
        raise ValueError(f"{path}: keys and values expected, got {told}")
    if "__use_yte__" in content:
        raise ValueError(f"{path}: no template expected, got the key '__use_yte__'")
    return content


def is_own(path, config):
    """Whether a file holds keys of this configuration, and not of another workflow beside it."""
    with open(path, encoding="utf-8-sig") as file:
        return yaml.safe_load(file).keys() - {"__use_yte__"} <= config.keys()


def check(config, files):
    """Check a configuration and the files that it was merged from, and settle it in place.

    `NAME: null` leaves an algorithm out. A file or a name of Gymnasium replaces the default's keys
    of the environment. Returns the folder of the last file, where files lie that the configuration
    names, and for each algorithm the step sizes that no file has chosen.
    """
    default = read(DEFAULT)
    contents = {Path(path): read(path) for path in files if is_own(path, config)}
    changes = {path: it for path, it in contents.items() if not path.samefile(DEFAULT)}
    for content in changes.values():
        environment = content.get("environment")
        if isinstance(environment, dict) and {"file", "gymnasium"} & environment.keys():
            config["environment"] = environment
    require(config)
    last = [*changes][-1] if changes else None
    if last and config["name"] == default["name"]:
        told = f"a name of its own expected, got none, or that of the default, {default['name']!r}"
        raise ValueError(f"{last}: name: {told}")
    order = [name for it in changes.values() for name in it.get("algorithms") or {}]
    if not {*default["algorithms"]} <= {*order}:  # a file that names them all orders them, too
        order = [*default["algorithms"], *order]
    given = dict.fromkeys(order) | config["algorithms"]
    config["algorithms"] = {name: it for name, it in given.items() if it}
    if not config["algorithms"]:
        raise ValueError("algorithms: at least one expected, got none")
    named = {
        f"algorithms.{name}.class": options["class"].split(":")[0]
        for name, options in config["algorithms"].items()
        if "class" in options
    }
    if "file" in config["environment"]:
        named["environment.file"] = config["environment"]["file"]
    for key, file in named.items():
        if not (last and (last.parent / file).is_file()):
            place = last.parent if last else "the folder of the configuration that names it"
            raise ValueError(f"{key}: a file in {place} expected, got {file!r}, which is not there")
    # A copy of the whole default, as deployments have it, chooses nothing.
    own = [it.get("algorithms") or {} for it in changes.values() if it.keys() < default.keys()]
    kept = {
        name: [step for step in STEPS if not any(step in (it.get(name) or ()) for it in own)]
        for name in default["algorithms"]
        if name in config["algorithms"]
    }
    return os.path.relpath(last.parent) if named else os.curdir, kept


def is_number(checker, value):
    """Whether a value is a number to a schema; to YAML, .nan and .inf are numbers, too."""
    return checker.is_type(value, "integer") or (isinstance(value, float) and math.isfinite(value))


# To JSON Schema since its draft 6, 3.0 is an integer; to draft 4 it is not.
TYPES = Draft4Validator.TYPE_CHECKER.redefine("number", is_number)
VALIDATOR = validators.extend(Draft202012Validator, type_checker=TYPES)


def hint(name, allowed):
    """Suggest the name that was probably meant, if one is similar."""
    near = difflib.get_close_matches(str(name), allowed, 1)
    return f" (did you mean {near[0]!r}?)" if near else ""


def require(config, schema=SCHEMA, file=""):
    """Refuse what does not follow a schema; where it has no description, as jsonschema words it."""
    error = best_match(VALIDATOR(schema).iter_errors(config))
    if error is None:
        return
    place, value = [*map(str, error.absolute_path)], reprlib.repr(error.instance)
    key = file + (".".join(place) or "configuration")
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema["properties"])
        name = str(min(error.instance.keys() - set(allowed), key=str))[:100]
        told = f"unknown key {name!r}{hint(name, allowed)}; allowed are {', '.join(allowed)}"
        raise ValueError(f"{key}: {told}")
    part, told = schema, ""
    for step in error.absolute_schema_path:  # the description that is nearest to what is wrong
        part = part[step]
        told = part.get("description", told) if isinstance(part, dict) else told
    if told and error.validator != "required":
        wrong = f"got {value}"
    else:
        wrong = error.message.replace(repr(error.instance), value)
    if error.validator == "enum":
        wrong += hint(error.instance, error.validator_value)
    if place[:-1] == ["algorithms"] and place[-1] not in ALGORITHMS:
        wrong += hint(place[-1], ALGORITHMS)
    raise ValueError(f"{key}: {wrong}" + (f"; expected: {told}" if told else ""))


def declared(folder, path=None):
    """Read what a study runs from the config.yaml in its folder, or from another file.

    What cannot be read, or does not follow the JSON Schema beside config.yaml, is refused.
    """
    path = f"{folder}/config.yaml" if path is None else str(path)
    try:
        content = read(path, aliases=True)
        schema = yaml.safe_load(Path(folder, "config.schema.yaml").read_text(encoding="utf-8"))
        require(content, schema, f"{path}: ")
    except ValueError as error:
        sys.exit(f"error: {error}")
    return content


def check_files(files):
    """Check what differs from the default, by files, as the workflow does: settings and folder."""
    config = read(DEFAULT)
    for file in files:
        update_config(config, read(file))
    return config, check(config, [*files, DEFAULT])[0]


if __name__ == "__main__":
    try:
        print(check_files(sys.argv[1:])[0]["name"])
    except ValueError as error:
        sys.exit(f"error: {error}")
