"""Sweeps: one axis varies, all else is fixed or spans further curves.

A sweep is a grid over settings, and each of its cases is run afresh; what is read off a run is in
:mod:`replication.study.summaries`.
"""

import itertools
import math
from dataclasses import replace

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.zpgpd_hf import SMALLEST
from pgpd_hf.core.arguments import located
from replication.study import configuration
from replication.study.cases import Case, run_setting, stream_key
from replication.study.radii import theorem_radius

SIGNS = {  # symbols of axes in legends
    "iterations": "T",
    "evaluators": "M",
    "rounds": "N",
    "horizon": "H",
    "states": "|S|",
    "actions": "|A|",
}
SIZES = ("states", "actions")
KEYS = (*SIGNS, "perturbation", "steps")


def make_cases(config, algorithm, axis, grid, purpose):
    """Cases of a sweep without seeds, curve by curve and along the axis within each."""
    # The label `curve` says for people what else varies, such as "study steps, M = 64"; `value` is
    # infinite for infinitely many evaluators.
    if not isinstance(grid.get(axis), list) or len(grid[axis]) < 2:
        raise ValueError(f"{axis}: the sweep varies it, so at least two values are expected")
    configuration.require_increasing(axis, grid[axis])
    lists = {key: grid[key] if isinstance(grid[key], list) else [grid[key]] for key in grid}
    varied = [key for key in KEYS if key in lists and key != axis]
    usual = run_setting(config, studied(algorithm), None)
    cases = []
    for fixed in itertools.product(*(lists[key] for key in varied)):
        choice = dict(zip(varied, fixed, strict=True))
        curve = ", ".join(_word(key, choice[key]) for key in varied if len(lists[key]) > 1)
        for value in lists[axis]:
            case = _make_case(algorithm, usual, config, {**choice, axis: value}, purpose)
            place = math.inf if value is None else float(value)
            labels = {"curve": curve, "axis": axis, "value": place}
            cases.append(replace(case, labels=case.labels | labels))
    return cases


def _make_case(algorithm, usual, config, choice, purpose):
    """One case of a sweep: the study's setting with what the grid chooses."""
    size = {key: choice.pop(key) for key in SIZES if key in choice}
    rule = choice.pop("steps", "study")
    setting = usual | choice
    iterations = setting["iterations"]
    if "corollary" in (choice.get("evaluators"), choice.get("horizon")):
        from replication.theory.bounds import corollary_schedule

        discount = configuration.environment(config).discount
        schedule = dict(
            zip(("evaluators", "horizon"), corollary_schedule(iterations, discount), strict=True)
        )
        setting |= {key: schedule[key] for key in schedule if setting[key] == "corollary"}
    if setting.get("perturbation") == "theorem":
        setting["perturbation"] = None
    setting, factors = scaled_steps(setting, usual["iterations"], rule)
    return Case(
        algorithm,
        setting,
        purpose=purpose,
        factors=factors,
        stream_keys={"step_rule": rule, **size},
        checkpoints=checkpoints(iterations),
        labels={"step_rule": rule},
    )


def scaled_steps(setting, iterations, rule):
    """A setting whose step sizes belong to T = `iterations`, for its own T, and their factors."""
    # Both theorems let their steps depend on T as "study" does: η_1 as it is, η_2 times √(T_0/T).
    # With "falling" both fall. A dual step that is left to the theorem falls by itself.
    if rule == "theorem":
        return setting | {"primal_step": None, "dual_step": None}, (1.0, 1.0)
    scale = math.sqrt(iterations / setting["iterations"])
    dual = 1.0 if setting["dual_step"] is None else scale
    return setting, (scale if rule == "falling" else 1.0, dual)


def checkpoints(iterations):
    """Where a trace has to have rows, for :func:`replication.study.summaries.averages`."""
    return (0, max(iterations // 2 - 1, 0), iterations - 1, iterations)


def for_seed(case, seed, environment):
    """The case for one seed; where it has a size of its own, the seed is also the instance."""
    case = replace(case, seeds=(seed,))
    return on_instance(case, seed, environment) if size_of(case) else case


def on_instance(case, instance, environment):
    """The case on a random instance whose constraint binds in the same manner for all sizes."""
    options = environment | size_of(case) | {"instance": instance, "threshold": "midway"}
    return replace(case, environment=options)


def size_of(case):
    """Numbers of states and actions that a case of a sweep sets itself."""
    return {key: case.stream_keys[key] for key in SIZES if key in case.stream_keys}


def plan(config, names):
    """Work of some sweeps of a study: by algorithm, pairs of a seed and its cases."""
    work = {}
    for name in names:
        sweep = config["sweeps"].get(name, {"algorithms": {}})
        for algorithm, grid in sweep["algorithms"].items():
            purpose = configuration.stream_family(config, f"sweep {stream_key(name)}")
            cases = [
                replace(case, labels=case.labels | {"sweep": name})
                for case in make_cases(config, algorithm, sweep["varies"], grid, purpose)
            ]
            for seed in range(_count_seeds(sweep["seeds"], algorithm)):
                of_seed = [for_seed(case, seed, config["environment"]) for case in cases]
                work.setdefault(algorithm, {}).setdefault(seed, []).extend(of_seed)
    return {algorithm: list(of_seeds.items()) for algorithm, of_seeds in work.items()}


def _count_seeds(seeds, algorithm):
    """Number of seeds of an algorithm, where one number holds for all, or each has its own."""
    if get_algorithm(algorithm).limit_of:
        return 1
    return seeds[algorithm] if isinstance(seeds, dict) else seeds


def studied(algorithm):
    """Which algorithm of a study has the settings of this one: itself, or whose limit it is."""
    return get_algorithm(algorithm).limit_of or algorithm


def is_unlike_limit(config, algorithm):
    """Whether a study gives an algorithm another parameterization than its exact limit has."""
    usual = get_algorithm(algorithm).parameterization
    return config["algorithms"][algorithm].get("parameterization", usual) != usual


def fit(config, changes):
    """Leave out sweeps, and values of the radius, that the environment makes impossible."""

    def inherited(name):
        return not changes.says("sweeps", name)

    if config["algorithms"]:  # without any, that is what is refused
        swept = config["sweeps"].items()
        config["sweeps"] = {name: sweep for name, sweep in swept if sweep["algorithms"]}
    if not changes.is_random:
        for name in SIZES:
            changes.leave_out(config, "sweeps", name, changes.why)
    if configuration.environment(config).discount == 0:
        for name, sweep in config["sweeps"].items():
            grids = sweep["algorithms"].values()
            if inherited(name) and any("corollary" in grid.values() for grid in grids):
                changes.leave_out(config, "sweeps", name, "no corollary of Theorem 1 at discount 0")
    for name in filter(inherited, [*config["sweeps"]]):
        for algorithm, grid in config["sweeps"][name]["algorithms"].items():
            radii = grid.get("perturbation")
            if isinstance(radii, list) and "theorem" in radii:
                found = [
                    theorem_radius(config, number)
                    for number in grid.get("evaluators", config["evaluators"])
                ]
                if not all(SMALLEST < radius < math.inf for radius in found):
                    key = f"sweeps.{name}.algorithms.{algorithm}.perturbation"
                    changes.leave_out(config, key, "theorem", "Theorem 2's is of no use")


def check(config, names):
    """Refuse sweeps of a configuration that cannot be run, each in one line."""
    for name in names:
        if name in config["sweeps"]:
            sweep = config["sweeps"][name]
            for algorithm in sweep["algorithms"] if isinstance(sweep["seeds"], dict) else ():
                if algorithm not in sweep["seeds"] and not get_algorithm(algorithm).limit_of:
                    raise ValueError(f"sweeps.{name}.seeds: no number for {algorithm}")
            check_grids(config, f"sweeps.{name}", sweep["algorithms"], sweep["varies"])


def check_grids(config, key, grids, axis):
    """Refuse grids of settings by algorithm that cannot be run, each in one line."""
    for algorithm, grid in grids.items():
        with located(f"{key}.algorithms.{algorithm}"):
            kind = get_algorithm(algorithm)
            kind.refuse_unknown(grid.keys() - {*SIZES, "iterations", "steps"})
            configuration.require_algorithm(config, studied(algorithm))
            configuration.vary(config, {size: grid[size] for size in SIZES if size in grid})
            cases = make_cases(config, algorithm, axis, grid, key)
            for case in cases:
                configuration.require_estimates(config, case.setting)
            rules = [case.labels["step_rule"] for case in cases]
            if "theorem" in rules and not kind.has_theorem():
                raise ValueError("steps: 'theorem' is not possible without a theorem")


def _word(key, value):
    """Name a value of a key in a legend."""
    if key == "steps":
        return f"{value} steps"
    return f"{SIGNS.get(key, 'μ')} = {'∞' if value is None else value}"
