"""Check the configuration of an experiment: `python configuration.py config/mine.yaml`.

The name of the experiment is printed, or in one line what is wrong.
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
SCHEMA = yaml.safe_load((CLONE / "workflow/config.schema.yaml").read_text(encoding="utf-8"))
# Exact limits, with the algorithm in whose file each stands. They draw nothing: one run is enough.
EXACT = {"npg_pd": "npgpd_hf", "pg_pd": "zpgpd_hf"}
DECIMAL = re.compile(r"[-+]?(0|[1-9]\d*)?(\.\d*)?(e[-+]?\d+)?", re.I)


class Loader(yaml.SafeLoader):
    """YAML in which no key stands twice: PyYAML takes the last of equal keys."""

    def compose_mapping_node(self, anchor):
        node, names = super().compose_mapping_node(anchor), set()
        for key, _ in node.value:
            if str(key.value) in names:
                raise ValueError(f"line {key.start_mark.line + 1}: {key.value!r} stands twice")
            names.add(str(key.value))
        return node


def decimal(loader, node):
    """A number that means what it looks like: to PyYAML, 010 is 8, and 1:30 is 90."""
    value = yaml.SafeLoader.yaml_constructors[node.tag](loader, node)
    if not DECIMAL.fullmatch(node.value):
        raise ValueError(f"a decimal number expected, got {node.value}")
    return value


Loader.add_constructor("tag:yaml.org,2002:int", decimal)
Loader.add_constructor("tag:yaml.org,2002:float", decimal)


def read(path, aliases=False):
    """Read keys and values from a file that holds plain data and nothing else."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
        if not aliases and any(isinstance(it, yaml.AliasEvent) for it in yaml.parse(text)):
            raise ValueError("no alias expected")
        content = yaml.load(text, Loader)
        if not isinstance(content, dict):
            raise ValueError(f"keys and values expected, got {reprlib.repr(content)}")
        if "__use_yte__" in content:
            raise ValueError("no template expected, got the key '__use_yte__'")
    except OSError as error:
        raise ValueError(f"{path}: a file expected: {error.strerror}") from None
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        raise ValueError(f"{path}: plain YAML expected: {' '.join(str(error).split())}") from None
    return content


def is_own(path, config):
    """Whether a file holds keys of this configuration, and not of another workflow beside it."""
    content = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    return content.keys() - {"__use_yte__"} <= config.keys()


def check(config, files):
    """Check a configuration and the files that it was merged from, and settle it in place.

    `NAME: null` leaves an algorithm out. A file or a name of Gymnasium replaces the default's keys
    of the environment. Returns the folder of the last file, where files lie that it names.
    """
    default = read(DEFAULT)
    paths = [path for path in map(Path, files) if is_own(path, config)]
    changes = {path: it for path in paths if (it := read(path)) != default}
    for content in changes.values():
        environment = content.get("environment")
        if isinstance(environment, dict) and {"file", "gymnasium"} & environment.keys():
            config["environment"] = environment
    require(config)
    last = [DEFAULT, *changes][-1]
    if changes and config["name"] == default["name"]:
        got = repr(config["name"]) if any("name" in it for it in changes.values()) else "none"
        raise ValueError(f"{last}: name: one of its own expected, got {got}")
    order = [name for it in changes.values() for name in it.get("algorithms") or {}]
    if {*default["algorithms"]} <= {*order}:  # a file that names them all orders them, too
        config["algorithms"] = dict.fromkeys(order) | config["algorithms"]
    config["algorithms"] = {name: it for name, it in config["algorithms"].items() if it}
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
        if not (last.parent / file).is_file():
            raise ValueError(f"{key}: a file in {last.parent} expected, got {file!r}")
    folder = os.path.relpath(last.parent)
    require_algorithms(config, folder)
    return folder


def options_of(name, config, folder):
    """Options of an algorithm as the library takes them; what a theorem gives is None there."""
    common = {} if name in EXACT else {key: config[key] for key in ("horizon", "link")}
    options = common | config["algorithms"][name]
    del options["iterations"]
    if "class" in options:
        options["class"] = os.path.normpath(f"{folder}/{options['class']}")
    return {key: None if value == "theorem" else value for key, value in options.items()}


def require_algorithms(config, folder):
    """Make algorithms as runs do, where only the library can say whether their options fit."""
    unusual = {"class", "estimator", "random_answers"}
    given = [name for name, options in config["algorithms"].items() if unusual & options.keys()]
    if not given:
        return
    from pgpd_hf.runs import configured, with_options  # which takes a second
    from pgpd_hf.tables import one_line

    rates = config["rates"] or {"iterations": {}}
    cases = [(name, "", M) for name in given for M in config["evaluators"]]
    rated = [name for name in given if name in rates["iterations"]]
    cases += [(name, " in rates", M) for name in rated for M in rates["evaluators"]]
    with one_line():
        for name, where, M in cases:
            try:
                with_options(*configured(name, options_of(name, config, folder), M))
            except ValueError as error:
                raise ValueError(f"algorithms.{name}{where}: {error}") from None


def is_number(checker, value):
    """Whether a value is a number to a schema; to YAML, .nan and .inf are numbers, too."""
    return checker.is_type(value, "integer") or (isinstance(value, float) and math.isfinite(value))


# To JSON Schema since its draft 6, 3.0 is an integer; to draft 4 it is not.
TYPES = Draft4Validator.TYPE_CHECKER.redefine("number", is_number)
VALIDATOR = validators.extend(Draft202012Validator, type_checker=TYPES)


def require(config, schema=SCHEMA, file=""):
    """Refuse what does not follow a schema; where it has no description, as jsonschema words it."""
    error = best_match(VALIDATOR(schema).iter_errors(config))
    if error is None:
        return
    key = file + (".".join(map(str, error.absolute_path)) or "configuration")
    value = reprlib.repr(error.instance)
    if error.validator == "additionalProperties":
        allowed = sorted(error.schema["properties"])
        name = str(min(error.instance.keys() - {*allowed}, key=str))[:100]
        near = difflib.get_close_matches(name, allowed, 1)
        hint = f" (did you mean {near[0]!r}?)" if near else ""
        raise ValueError(f"{key}: unknown key {name!r}{hint}; allowed are {', '.join(allowed)}")
    if "description" in error.schema:
        told = error.message if error.validator == "required" else f"got {value}"
        raise ValueError(f"{key}: {told}; expected: {error.schema['description']}")
    raise ValueError(f"{key}: {error.message.replace(repr(error.instance), value)}")


def declared(folder, path=None):
    """Read what a study runs, from config.yaml in its folder or another file; exit if it is wrong.

    The folder's config.schema.yaml says what it may hold.
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
    return config, check(config, [*files, DEFAULT])


if __name__ == "__main__":
    try:
        print(check_files(sys.argv[1:])[0]["name"])
    except ValueError as error:
        sys.exit(f"error: {error}")
