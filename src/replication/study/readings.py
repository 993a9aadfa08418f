"""Readings: named answers to what the paper leaves open, as overlays of a study's configuration.

Results of a reading are in a folder of its own below that of the study, "readings/NAME/"; those of
the study itself are in the folder "" and, once more with as many seeds as verdicts need, in
:data:`FULL`. Two readings whose configurations agree in all that the runs of an algorithm depend on
share these runs: they are made once, by the first of them.
"""

import copy
import json
from pathlib import Path

from pgpd_hf.algorithms import ALGORITHMS
from pgpd_hf.core.arguments import located, require_one_of
from replication.files import validation
from replication.study import configuration

FULL = "full/"
LOOK = {"curve": "iterate", "optimum": "constrained", "violation": "signed"}
# What runs depend on, and so what a reading can change.
_KEYS = ("environment", "evaluators", "link", "horizon", "seeds", "algorithms", "calibration")


def load_reading(folder, name, schema):
    """Read one reading, with all keys of the schema."""
    known = sorted(file.stem for file in Path(folder).glob("*.yaml"))
    require_one_of("claims.readings", name, known)
    path = Path(folder) / f"{name}.yaml"
    content = validation.read_yaml(path)
    with located(path):
        validation.conform(content, schema)
    return {**LOOK, "config": {}, **content}


def load(config, folder):
    """Readings of a study by name, without what they say about algorithms that it has dropped."""
    path = Path(folder, "workflow/schemas/reading.schema.yaml")
    names = config["claims"]["readings"]
    schema = validation.read_yaml(path) if names else {}
    loaded = {name: load_reading(Path(folder, "config/readings"), name, schema) for name in names}
    return {name: restrict(reading, config["algorithms"]) for name, reading in loaded.items()}


def fit(config, changes):
    """Leave out readings that the study has not chosen itself, and that are not for it."""
    if all(config[key] == changes.defaults[key] for key in _KEYS if key != "seeds"):
        return
    # Those that only change an algorithm that the study has dropped change nothing.
    loaded = {k: it for k, it in load(config, changes.folder).items() if not is_idle(it)}
    config["claims"]["readings"] = [*loaded]
    if changes.says("claims", "readings"):
        return
    for name, reading in loaded.items():
        if changes.why and set(reading["config"].get("environment", {})) - {"file"}:
            changes.leave_out(config, "claims.readings", name, changes.why)
            continue
        changed = overlay(config, reading["config"])
        try:
            for algorithm in config["algorithms"]:
                configuration.check_runs(changed, algorithm, changed["evaluators"], "evaluators")
        except ValueError as error:
            changes.leave_out(config, "claims.readings", name, str(error))


def restrict(reading, algorithms):
    """Leave out what a reading says about algorithms that a study has dropped."""
    changes = copy.deepcopy(reading["config"])
    for parent, key in ((changes, "algorithms"), (changes.get("calibration", {}), "candidates")):
        # Unknown names stay, so that they are refused.
        for name in (set(parent.get(key, {})) & set(ALGORITHMS)) - set(algorithms):
            del parent[key][name]
            if not parent[key]:
                del parent[key]
    return {**reading, "config": {key: value for key, value in changes.items() if value}}


def is_idle(reading):
    """Whether a reading is that of the study itself."""
    return not reading["config"] and all(reading[key] == LOOK[key] for key in LOOK)


def overlay(config, changes):
    """Replace what differs, key by key; neither argument is changed."""
    merged = copy.deepcopy(config)
    for key, value in changes.items():
        inner = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = overlay(merged[key], value) if inner else copy.deepcopy(value)
    return merged


def difference(config, defaults):
    """What a configuration changes of the defaults, so that laid over them it gives the same."""
    changed = {}
    for key, value in config.items():
        inner = isinstance(value, dict) and isinstance(defaults.get(key), dict)
        if inner and (found := difference(value, defaults[key])):
            changed[key] = found
        elif not inner and (key not in defaults or value != defaults[key]):
            changed[key] = copy.deepcopy(value)
    return changed


def check(config, readings, schema):
    """Refuse readings that cannot be run, naming the reading and the key."""
    for name, reading in readings.items():
        with located(f"reading {name!r}"):
            for key in reading["config"]:
                require_one_of("config", key, _KEYS)
            configuration.vary(config, reading["config"].get("environment", {}))
            configuration.check(overlay(config, reading["config"]), schema, reading["config"])


def configurations(config, readings):
    """Configurations of a study and its readings, by folder."""
    # That of the study itself is "", and :data:`FULL` with as many seeds as verdicts need, which
    # readings share that only look at the runs in another way.
    options = config["claims"]
    full = overlay(config, {"seeds": options["own_seeds"]})
    fewer = {"seeds": options["seeds"], "calibration": {"seeds": options["race_seeds"]}}
    return {"": config, FULL: full} | {
        f"readings/{name}/": overlay(overlay(config, fewer), reading["config"])
        if reading["config"]
        else full
        for name, reading in readings.items()
    }


def owners(configs, key, *arguments):
    """The folder whose results each reading uses: its own, or that of the first with equal keys."""
    first = {}
    return {
        folder: first.setdefault(key(config, *arguments), folder)
        for folder, config in configs.items()
    }


def environment_key(config):
    """Text of all that an environment and its optimum depend on."""
    return json.dumps(config["environment"], sort_keys=True)


def runs_key(config, algorithm):
    """Text of all that the runs of an algorithm depend on."""
    options = config["algorithms"][algorithm]
    names = ("environment", "evaluators", "link", "horizon", "seeds")
    content = {name: config[name] for name in names} | {algorithm: options}
    if options["primal_step"] == "calibrated":
        candidates = config["calibration"]["candidates"][algorithm]
        content["calibration"] = config["calibration"] | {"candidates": candidates}
    return json.dumps(content, sort_keys=True)


def look(readings, folder):
    """How verdicts look at the runs of a study or of a reading: the keys of :data:`LOOK`."""
    name = folder.removeprefix("readings/").rstrip("/")
    reading = readings.get(name, LOOK) if folder.startswith("readings/") else LOOK
    return {key: reading[key] for key in LOOK}
