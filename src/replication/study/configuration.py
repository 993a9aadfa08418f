"""Configurations of a study: checked as a whole before anything runs.

The JSON Schema in workflow/schemas says what each key may hold; here are the rules that tie keys to
each other, and the settings of runs that follow from a configuration.
"""

import hashlib
import json
import math
import pickle
from functools import lru_cache

from pgpd_hf import environments
from pgpd_hf.algorithms import ALGORITHMS, get_algorithm
from pgpd_hf.algorithms.base import RACED, STEPS
from pgpd_hf.core.arguments import located, require_one_of, require_size
from pgpd_hf.core.evaluators import make_evaluators, wide_values
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import find_safest, low_bound, solve
from pgpd_hf.core.sampling import CUT_OFF, absorbing_states, default_horizon
from replication.files.storage import digest
from replication.files.validation import conform
from replication.study import algorithms
from replication.study.cases import CALIBRATED, run_setting

_MOST_TRANSITIONS = 10**7  # with more, a policy takes a second to evaluate


def check(config, schema, changed=None):
    """Refuse a configuration that cannot be run; only keys that changed, where these are given."""
    schema = algorithms.with_options(schema, config)
    if changed is None:
        conform(config, schema)
    else:
        conform({key: config[key] for key in changed}, schema | {"required": []})
    require_increasing("evaluators", config["evaluators"])
    get_link(config["link"])
    cmdp = environment(config)
    with located("environment"):
        _optimum(pickle.dumps(cmdp))
    for name in config["algorithms"]:
        check_runs(config, name, config["evaluators"], "evaluators")
    for name in config["calibration"]["candidates"]:
        require_one_of("calibration.candidates", name, ALGORITHMS)


def refuse_contradictions(own):
    """Refuse an environment that is described twice."""
    kinds = [key for key in ("name", "gymnasium", "file") if own.get(key) is not None]
    if len(kinds) > 1:
        raise ValueError(f"environment: {' or '.join(kinds)} expected, not both")
    idle = sorted(key for key, value in own.items() if key != "file" and value is not None)
    if kinds == ["file"] and idle:
        raise ValueError(
            f"environment.{idle[0]}: already set by the CMDP in {own['file']}; "
            f"leave {idle[0]} out, or change it there"
        )


def fit(config, changes):
    """Make the horizon fit the environment; say in lines what is special about this one."""
    cmdp, usual = environment(config), changes.defaults["horizon"]
    if not changes.is_random:
        yield f"scale: {wide_values(cmdp) or f'values lie in [0, {cmdp.value_bound:g}]'}"
    if not changes.says("horizon") and (horizon := default_horizon(cmdp.discount)) != usual:
        config["horizon"] = horizon
        yield (
            f"horizon: {horizon} instead of {usual}, so that at most {CUT_OFF:g} of the largest "
            f"value comes after the end of a trajectory (discount {cmdp.discount:g})"
        )
    if ends := int(absorbing_states(cmdp).sum()):
        yield (
            f"trajectories: end in {ends} absorbing state{'s' * (ends > 1)}; what would follow is "
            "added in closed form"
        )


def low_bounds(config):
    """Say in a line for each algorithm where λ cannot reach that of the optimum."""
    optimum = _optimum(pickle.dumps(environment(config)))
    bounds = {name: it.get("multiplier_bound") for name, it in config["algorithms"].items()}
    given = {name: it for name, it in bounds.items() if it not in (None, "theorem")}
    lines = {name: low_bound(it, optimum) for name, it in given.items()}
    return [f"algorithms.{name}.{line}" for name, line in lines.items() if line]


def other_lengths(config, before):
    """Say in a line for each algorithm with another T than before why its runs begin anew."""
    for name, options in config["algorithms"].items():
        length = options["iterations"]
        if (old := before["algorithms"].get(name, {}).get("iterations", length)) != length:
            yield (
                f"algorithms.{name}.iterations: {length} instead of {old}; its runs begin anew, "
                "since checkpoints and step sizes depend on T"
            )


def require_algorithm(config, name):
    """Refuse what is about an algorithm that a study does not have."""
    if name not in config["algorithms"]:
        raise ValueError(f"the study has no algorithm {name!r}")


def check_environment(key, config, changes, schema):
    """Environment of a study with changes; those that leave no slack are refused by their key."""
    with located(key):
        merged = vary(config, changes)
    conform(merged, schema["properties"]["environment"], key)
    with located(key):
        cmdp = environment({"environment": merged})
        find_safest(cmdp)
    return cmdp


def vary(config, changes):
    """Options of a study's environment with changes, which only a random one can have."""
    merged = {**config["environment"], **changes}
    if "file" in changes:
        merged.pop("name", None)  # the file takes the place of any kind
    idle = sorted(set(changes) - {"file"})
    if idle and not is_random(merged):
        raise ValueError(
            f"{idle[0]}: cannot be changed, since the CMDP {describe(merged)} is not a random one"
        )
    return merged


def is_random(options):
    """Whether an environment is a random one, of which there are other draws and sizes."""
    return environments.split(options)[0] == "random"


def why_single(config):
    """Say why there are no random instances of a study's environment; empty if there are."""
    if is_random(config["environment"]):
        return ""
    what = describe(config["environment"])
    return f"environment: the CMDP {what} is a single one; only without a name are there instances"


def describe(options):
    """Name an environment that is not a random one."""
    name, arguments = environments.split(options)
    return f"in {arguments['path']}" if name == "file" else arguments.get("gymnasium", name)


def environment(config):
    """Environment of a study; what is wrong with it is told by its key."""
    options = config["environment"]
    kind, _ = environments.split(options)
    with located("environment.file" if kind == "file" else "environment"):
        if kind == "random" and {"states", "actions"} <= set(options):  # before it is drawn
            require_size(options["states"], options["actions"], _MOST_TRANSITIONS)
        fixed = kind != "file"
        cmdp = _made(json.dumps(options, sort_keys=True)) if fixed else environments.make(options)
        require_size(cmdp.states, cmdp.actions, _MOST_TRANSITIONS)
        return cmdp


def archive_digest(options):
    """Digest of what an environment comes from outside of the project, if it does."""
    # A parameter of jobs, since Snakemake takes braces in the name of an input for wildcards.
    kind, arguments = environments.split(options)
    if kind == "file":
        return digest(arguments["path"])
    if kind != "gymnasium":  # which may come from a module of somebody's own
        return None
    cmdp = environment({"environment": options})
    arrays = cmdp.transition, cmdp.reward, cmdp.utility, cmdp.initial
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()


def size(config):
    """Numbers of states and actions of a study's environment."""
    options = config["environment"]
    if is_random(options) and {"states", "actions"} <= set(options):
        return options["states"], options["actions"]
    cmdp = environment(config)
    return cmdp.states, cmdp.actions


def stream_family(config, name):
    """Family of a sweep's streams: its name alone for a study with the family `run`."""
    return name if config["streams"] == "run" else f"{config['streams']}: {name}"


def require_estimates(config, setting):
    """Refuse a setting whose estimator cannot be used with one of its M and H."""
    if setting.get("estimator", "plug-in") == "plug-in":
        return
    cmdp, link = environment(config), get_link(setting["link"])
    for phase in setting.get("phases", [{}]):
        whole = setting | phase
        bound = cmdp.return_bound(whole["horizon"])
        make_evaluators(whole["evaluators"], link, bound, whole["estimator"])


def theorem_applies(config, algorithm):
    """Whether a theorem gives step sizes for an algorithm on the study's environment."""
    kind = get_algorithm(algorithm)
    if not kind.has_theorem() or is_random(config["environment"]):  # whose rho is positive
        return kind.has_theorem()
    cmdp = environment(config)
    steps = kind.theorem_steps(cmdp, _optimum(pickle.dumps(cmdp)), 1)
    return all(map(math.isfinite, steps))


def check_runs(config, algorithm, numbers, place):
    """Refuse what one of the numbers M of evaluators that stand at a place makes impossible."""
    cmdp, key, options = environment(config), f"algorithms.{algorithm}", config["algorithms"]
    raced = [name for name in RACED if options[algorithm].get(name) == CALIBRATED]
    candidates = config["calibration"]["candidates"].get(algorithm, {})
    if raced and (other := get_algorithm(algorithm).limit_of):
        raise ValueError(
            f"{key}.{raced[0]}: a number expected, since an exact limit runs with the calibrated "
            f"steps of {other}"
        )
    for name in dict.fromkeys((*STEPS, *raced)) if raced else ():
        if name not in raced:
            raise ValueError(
                f"{key}: {name} has to be {CALIBRATED}, since {raced[0]} is; or write numbers"
            )
        if name not in candidates:
            raise ValueError(
                f"calibration.candidates.{algorithm}: {name} expected, since it is {CALIBRATED} in "
                f"{key}"
            )
    for evaluators in numbers:
        setting = run_setting(config, algorithm, evaluators) | dict.fromkeys(raced, 1.0)
        with located(key):
            kind = get_algorithm(algorithm)
            ready = kind(**kind.pick(setting))
            try:
                build(pickle.dumps(cmdp), ready, setting["iterations"])
            except ValueError as error:
                count = "null" if evaluators is None else evaluators
                raise ValueError(f"{error} (M = {count} of {place})") from None


def require_increasing(key, numbers):
    """Refuse numbers, or None for infinity, that do not increase."""
    ordered = sorted(numbers, key=lambda number: math.inf if number is None else number)
    if numbers != ordered:
        raise ValueError(f"{key}: increasing order expected, null last, got {numbers}")


@lru_cache
def _made(options):
    """An environment whose options say all about it; some take seconds to make."""
    return environments.make(json.loads(options))


@lru_cache
def build(pickled, algorithm, iterations):
    """Refuse options that an algorithm cannot run with; readings share most of them."""
    algorithm.prepare(pickle.loads(pickled), _optimum(pickled), iterations)


@lru_cache
def _optimum(pickled):
    """Optimum of an environment. Most readings have that of the study: it is solved once."""
    # The solver of linear programs takes long to load.
    return solve(pickle.loads(pickled), "policy_iteration")
