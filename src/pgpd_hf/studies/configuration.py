"""Configurations of a study: checked as a whole before anything runs.

The JSON Schema in workflow/schemas says what each key may hold; here it is applied, with one line
per refusal, together with the rules that tie keys to each other. The settings of single runs are
derived from a configuration that has passed.
"""

import hashlib
import json
import math
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import yaml
from jsonschema import Draft202012Validator, validators
from jsonschema.exceptions import ValidationError, best_match

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core.arguments import located, shown
from pgpd_hf.core.cmdp import CMDP, random_cmdp
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import find_safest, solve
from pgpd_hf.support.storage import read_json

_BOUNDED = ("npgpd_hf", "zpgpd_hf")  # whose theorems the bounds are about
_MOST_TRANSITIONS = 10**6  # the linear program of a process takes up to a minute
_optima, _built = {}, set()  # what checks have found possible so far


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


def check(config, schema):
    """Refuse a configuration that cannot be run.

    Parameters
    ----------
    config : dict
        The configuration.
    schema : dict
        Its JSON Schema.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    conform(config, schema)
    _check_order("evaluators", config["evaluators"])
    _check_order("rates.evaluators", config["rates"]["evaluators"])
    get_link(config["link"])
    cmdp = environment(config)
    with located("environment"):
        _optimum(cmdp)
    for name, options in config["algorithms"].items():
        key = f"algorithms.{name}"
        with located(key):
            get_algorithm(name).refuse_idle(options)
        steps = [options["primal_step"], options["dual_step"]]
        if steps.count("calibrated") == 1:
            raise ValueError(
                f"{key}: primal_step and dual_step are calibrated together, or neither"
            )
        _check_runs(config, name, cmdp)
    require_candidates("calibration", config["calibration"], config["algorithms"])
    for part in ("certificates", "rates"):
        for name in config[part]["iterations"]:
            if name not in config["algorithms"]:
                raise ValueError(f"{part}.iterations.{name}: the study has no such algorithm")
    for name, lengths in config["rates"]["iterations"].items():
        _check_order(f"rates.iterations.{name}", lengths)


def check_bounds(config, schema):
    """Refuse settings at which bounds cannot be checked.

    Parameters
    ----------
    config : dict
        A configuration that :func:`check` has passed.
    schema : dict
        Its JSON Schema.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    for name, options in config["bounds"]["settings"].items():
        key = f"bounds.settings.{name}.environment"
        check_environment(key, config, options["environment"], schema)
        cmdp, setting = bound_problem(config, name)
        with located(f"bounds.settings.{name}"):
            for algorithm in _BOUNDED:
                _build(algorithm, cmdp, setting)


def require_candidates(key, calibration, algorithms):
    """Refuse a calibration that has no candidates for an algorithm whose steps it chooses.

    Parameters
    ----------
    key : str
        Where the calibration stands, for the message.
    calibration : dict
        Its options.
    algorithms : dict
        Options of the study's algorithms, by name.

    Raises
    ------
    ValueError
        One line that names the key and the algorithm.
    """
    for name, options in algorithms.items():
        if options["primal_step"] == "calibrated" and name not in calibration["grid"]:
            raise ValueError(
                f"{key}.grid: no entry for the algorithm {name!r}, whose steps are calibrated"
            )


def check_environment(key, config, changes, schema):
    """Refuse changes of a study's environment that cannot be made, or leave no slack.

    Parameters
    ----------
    key : str
        Where the changes stand, for the message.
    config : dict
        The configuration.
    changes : dict
        Keys of its `environment` that differ.
    schema : dict
        JSON Schema of a configuration.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    with located(key):
        merged = vary(config, changes)
    error = best_match(_Validator(schema["properties"]["environment"]).iter_errors(merged))
    if error is not None:
        error.path.extendleft(reversed(key.split(".")))
        raise ValueError(_in_one_line(error))
    with located(key):
        find_safest(environment({"environment": merged}))


def vary(config, changes):
    """Change a study's environment.

    Parameters
    ----------
    config : dict
        A configuration.
    changes : dict
        Keys of its `environment` that differ.

    Returns
    -------
    dict
        Its `environment`, changed.

    Raises
    ------
    ValueError
        If the process is that of a file, so that the change would have no effect.
    """
    merged = {**config["environment"], **changes}
    idle = sorted(set(changes) - {"file"})
    if idle and merged["file"] is not None:
        raise ValueError(f"{idle[0]}: nothing of the process in {merged['file']} can be changed")
    return merged


def bound_environment(config, name):
    """Environment of one of the settings at which bounds are checked.

    Parameters
    ----------
    config : dict
        A configuration.
    name : str
        A key of its `bounds.settings`.

    Returns
    -------
    dict
        The study's `environment` with the changes of this setting.
    """
    return vary(config, config["bounds"]["settings"][name]["environment"])


def bound_problem(config, name):
    """Process and setting of one of the settings at which bounds are checked.

    Parameters
    ----------
    config : dict
        A configuration.
    name : str
        A key of its `bounds.settings`.

    Returns
    -------
    cmdp : CMDP
        The study's environment with the changes of this setting.
    setting : Setting
        With the step sizes of the theorems.
    """
    options = dict(config["bounds"]["settings"][name])
    del options["environment"]
    process = environment({"environment": bound_environment(config, name)})
    return process, Setting(link=config["link"], **options)


def conform(content, schema):
    """Refuse what does not follow a JSON Schema.

    Parameters
    ----------
    content : object
        What was read from a file.
    schema : dict
        The JSON Schema.

    Raises
    ------
    ValueError
        One line that names the key, the value and what is allowed.
    """
    error = best_match(_Validator(schema).iter_errors(content))
    if error is not None:
        raise ValueError(_in_one_line(error))


def environment(config):
    """Environment of a study.

    Parameters
    ----------
    config : dict
        A configuration.

    Returns
    -------
    CMDP

    Raises
    ------
    ValueError
        If it cannot be made; the message names the key.
    """
    options = dict(config["environment"])
    file = options.pop("file")
    with located("environment" if file is None else "environment.file"):
        if file is None:
            _require_size(options["states"], options["actions"])
            return random_cmdp(**options)
        cmdp = CMDP.load(file)
        _require_size(cmdp.states, cmdp.actions)
        return cmdp


def instance(config, number):
    """Another random draw of a study's environment.

    Parameters
    ----------
    config : dict
        A configuration whose environment does not come from a file.
    number : int
        Which draw.

    Returns
    -------
    CMDP
    """
    return environment({"environment": vary(config, {"instance": number})})


def run_setting(config, algorithm, evaluators, steps=None):
    r"""Keyword arguments of the runs of one algorithm and M.

    Parameters
    ----------
    config : dict
        A configuration.
    algorithm : str
        A key of its `algorithms`.
    evaluators : int or None
        M.
    steps : tuple of float, optional
        Calibrated :math:`(\eta_1, \eta_2)`, where the configuration asks for them.

    Returns
    -------
    dict
        Fields of :class:`pgpd_hf.algorithms.Setting`.
    """
    options = dict(config["algorithms"][algorithm])
    for position, name in enumerate(("primal_step", "dual_step")):
        if options[name] == "calibrated":
            options[name] = None if steps is None else steps[position]
    options = {key: None if value == "theorem" else value for key, value in options.items()}
    return {
        "evaluators": evaluators,
        "horizon": config["horizon"],
        "link": config["link"],
        **options,
    }


def sweep_setting(setting, iterations, step_rule):
    r"""The same run for another T.

    Parameters
    ----------
    setting : dict
        Made by :func:`run_setting`.
    iterations : int
        The other T.
    step_rule : {"study", "theorem"}
        Step sizes: those of the study, the dual one times :math:`\sqrt{T_0/T}` as both theorems
        prescribe; or those of the algorithm's theorem for this T.

    Returns
    -------
    dict
        Fields of :class:`pgpd_hf.algorithms.Setting`.
    """
    changed = {**setting, "iterations": iterations}
    if step_rule == "theorem":
        return {**changed, "primal_step": None, "dual_step": None}
    if setting["dual_step"] is not None:
        changed["dual_step"] = setting["dual_step"] * math.sqrt(setting["iterations"] / iterations)
    return changed


def read_steps(path):
    """Read calibrated step sizes.

    Parameters
    ----------
    path : path-like or None
        JSON file written by the calibration, if there is one.

    Returns
    -------
    tuple of float or None
        Primal and dual step.
    """
    if path is None:
        return None
    chosen = read_json(path)
    return chosen["primal_step"], chosen["dual_step"]


def relevant(config, algorithm, *keys):
    """What of a configuration the runs of an algorithm depend on, beside the process.

    Parameters
    ----------
    config : dict
        A configuration.
    algorithm : str
        A key of its `algorithms`.
    *keys : str
        What else of it matters.

    Returns
    -------
    str
        A part of the configuration as JSON, for a command line.
    """
    part = {key: config[key] for key in ("horizon", "link", *keys)}
    part["algorithms"] = {algorithm: config["algorithms"][algorithm]}
    return json.dumps(part)


def name_crowd(evaluators):
    """Name a number of evaluators in a file name, or on a command line.

    Parameters
    ----------
    evaluators : int or None
        M.

    Returns
    -------
    str
        What :func:`parse_crowd` reads.
    """
    return "inf" if evaluators is None else str(evaluators)


def parse_crowd(name):
    """Read a number of evaluators from a command line.

    Parameters
    ----------
    name : str
        Digits, or "inf" for infinitely many.

    Returns
    -------
    int or None
        M.
    """
    return None if name == "inf" else int(name)


def _check_runs(config, algorithm, cmdp):
    """Refuse what one of the numbers of people of a study makes impossible."""
    crowds = [("evaluators", people) for people in config["evaluators"]]
    if algorithm in config["rates"]["iterations"]:
        crowds += [("rates.evaluators", people) for people in config["rates"]["evaluators"]]
    if config["algorithms"][algorithm]["primal_step"] == "calibrated":
        crowds.append(("calibration.evaluators", config["calibration"]["evaluators"]))
        instances = config["claims"]["instances"]
        if instances["groups"]:
            place = "claims.instances.calibration.evaluators"
            crowds.append((place, instances["calibration"]["evaluators"]))
    for place, people in crowds:
        with located(f"algorithms.{algorithm}"):
            setting = Setting(**run_setting(config, algorithm, people, (0.0, 0.0)))
            try:
                _build(algorithm, cmdp, setting)
            except ValueError as error:
                count = "null" if people is None else people
                raise ValueError(f"{error} (M = {count} of {place})") from None


def _build(algorithm, cmdp, setting):
    """Refuse a setting that an algorithm cannot run with; readings share most of them."""
    key = (_digest(cmdp), algorithm, setting)
    if key not in _built:
        get_algorithm(algorithm)(cmdp, _optimum(cmdp), setting)
        _built.add(key)


def _optimum(cmdp):
    """Optimum of a process. Most readings have that of the study: it is solved once."""
    key = _digest(cmdp)
    if key not in _optima:
        _optima[key] = solve(cmdp)
    return _optima[key]


@lru_cache(maxsize=2)
def _digest(cmdp):
    """What tells processes apart, wherever they come from."""
    digest = hashlib.sha256()
    for name in cmdp.__dataclass_fields__:
        digest.update(np.asarray(getattr(cmdp, name)).tobytes())
    return digest.digest()


def _require_size(states, actions):
    if states**2 * actions > _MOST_TRANSITIONS:
        raise ValueError(
            f"states, actions: at most {_MOST_TRANSITIONS} transition probabilities expected, "
            f"got {states} x {actions} x {states}"
        )


def _check_order(key, numbers):
    ordered = sorted(numbers, key=lambda number: math.inf if number is None else number)
    if numbers != ordered:
        raise ValueError(f"{key}: increasing order expected, null last, got {numbers}")


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
