r"""Cases: what is run of an algorithm.

A :class:`Case` says everything that runs depend on: environment, algorithm, setting, seeds, the
family of random streams, and at which iterations the trace has a row. The figure, its readings and
all further analyses are lists of cases, and :func:`run_cases` runs them. Cases are planned before
step sizes are calibrated, so a setting may hold the word "calibrated" in their place, and in that
of the perturbation radius; a case whose whole setting is chosen later names the choice.
"""

import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from pgpd_hf import environments
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.algorithms.base import RACED, STEPS
from pgpd_hf.core.arguments import located
from pgpd_hf.core.optima import Optimum, solve

CALIBRATED = "calibrated"
# Names of streams have always told these, whatever they are.
_TOLD = ("evaluators", "iterations", "rounds", "horizon", "link", *STEPS)
_TOLD_OF = {"zpgpd_hf": ("perturbation", "directions", "parameterization")}
# Columns that describe the case in a labelled trace, after the labels.
DESCRIPTION = (
    *("iterations", "rounds", "horizon", "perturbation", *STEPS),
    *("states", "actions", "value_bound", "optimal_multiplier"),
)


@dataclass(frozen=True)
class Case:
    """Runs of one algorithm under one setting."""

    algorithm: str
    setting: dict  # keywords of :func:`pgpd_hf.run`; those of :data:`RACED` may be "calibrated"
    seeds: tuple = ()  # one run each
    purpose: str = "run"  # names the family of random streams
    environment: dict | None = None  # options of its `make`; by default the study's own
    factors: tuple = (1.0, 1.0)  # multiply the two step sizes
    calibration: str = ""  # folder, such as "instances/binding/"; by default the study's own
    stream_keys: dict | None = None  # streams are also named after these, and the setting
    checkpoints: tuple | None = None  # by default those of :func:`pgpd_hf.checkpoint_grid`
    labels: dict | None = None  # columns of the trace, beside :data:`DESCRIPTION`
    # Replaces parts of the setting (:func:`read_choices`). The trace then has a row for the last
    # iteration only, and the label `tuning_score`.
    choice: str | None = None

    @property
    def is_calibrated(self):
        """bool: whether something of its setting comes from a calibration."""
        return CALIBRATED in map(self.setting.get, RACED)

    def size(self, study):
        """Numbers of states and actions, given those of the study's own environment."""
        options = self.environment or {}
        return options.get("states", study[0]), options.get("actions", study[1])


def run_setting(config, algorithm, evaluators):
    """Setting of a case: what is left to the theorem is None, what races is "calibrated"."""
    options = config["algorithms"][algorithm]
    return {
        "evaluators": evaluators,
        "horizon": config["horizon"],
        "link": config["link"],
        **{key: None if value == "theorem" else value for key, value in options.items()},
    }


def figure_cases(config, algorithm, evaluators):
    """Cases of Figure 1, or of one of its readings, for each of its seeds."""
    settings = [run_setting(config, algorithm, number) for number in evaluators]
    cases = [Case(algorithm, setting, purpose=config["streams"]) for setting in settings]
    return by_seed(cases, config["seeds"])


def by_seed(cases, count):
    """Pairs of a seed and cases: all of them once for each of so many seeds."""
    return [(seed, [replace(case, seeds=(seed,)) for case in cases]) for seed in range(count)]


def as_optimum(content, cmdp):
    """The optimum of an environment from its file, which has all its bits."""
    names = ("reward_value", "utility_value", "multiplier", "slack", "method")
    numbers = {name: content[name] for name in names}
    return Optimum(policy=np.array(content["policy"]), threshold=cmdp.threshold, **numbers)


def run_cases(cases, cmdp, calibrated, choices=None, return_policies=False, optimum=None):
    """Run cases one after the other: a table of traces, and one of final policies if asked for."""
    # The optimum is that of `cmdp`; without it, it is computed. Cases that differ only in their
    # seeds are run together. Those with labels have them as columns, and :data:`DESCRIPTION`.
    made = {}
    tables, policies = [], []
    for case in _merged(_chosen(case, choices) for case in cases):
        key = json.dumps(case.environment, sort_keys=True)
        if key not in made:  # neighbours share their environment: the last one is enough
            own, solved = cmdp, optimum
            if case.environment is not None:
                own, solved = environments.make(case.environment), None
            made = {key: (own, solved or solve(own))}
        with located(", ".join(map(str, (case.labels or {}).values())) or case.algorithm):
            trace, last = _run(case, *made[key], calibrated)
        if "evaluators" not in get_algorithm(case.algorithm).options():  # a study repeats M for it
            trace["evaluators"] = pd.array([case.setting["evaluators"]], "Int64").repeat(len(trace))
        tables.append(trace)
        if return_policies:
            policies.append(_policy_table(case, last))
    traces = pd.concat(tables, ignore_index=True)
    return (traces, pd.concat(policies, ignore_index=True)) if return_policies else traces


def policy_array(table):
    """Policies of one algorithm and M as an array (seeds, S, A), by increasing seed."""
    table = table.sort_values(["seed", "state", "action"])
    shape = (table["seed"].nunique(), table["state"].nunique(), -1)
    return table["probability"].to_numpy().reshape(shape)


def with_steps(setting, calibrated, factors=(1.0, 1.0), steps_of=None):
    """Put numbers in the place of what is calibrated, or of step sizes that are multiplied."""
    open_names = [name for name in RACED if setting.get(name) == CALIBRATED]
    setting = setting | {name: calibrated[name] for name in open_names}
    for place, (name, factor) in enumerate(zip(STEPS, factors, strict=True)):
        if factor != 1:
            number = setting[name] if setting[name] is not None else steps_of(setting)[place]
            setting = setting | {name: number * factor}
    return setting


def stream_key(name):
    """What names of random streams call a setting or a sweep."""
    # Streams are seeded with their names, so a setting keeps its first name here for ever.
    return {"rounds": "pairs"}.get(name, name)


def _run(case, cmdp, optimum, calibrated):
    """Run one case on its environment."""
    from pgpd_hf.runs.traces import run  # of jobs: planning does without

    kind = get_algorithm(case.algorithm)

    def steps_of(setting):
        return kind.having(kind.pick(setting)).steps(cmdp, optimum, setting["iterations"])

    setting = with_steps(case.setting, calibrated, case.factors, steps_of)
    trace, policies = run(
        cmdp,
        case.algorithm,
        seeds=case.seeds,
        iterations=setting.get("iterations"),
        phases=setting.get("phases"),
        checkpoints=case.checkpoints,
        purpose=stream_name(case.purpose, case.stream_keys, case.algorithm, setting),
        optimum=optimum,
        return_policies=True,
        # The exact limit of an algorithm has its settings, but not all of its options.
        **kind.pick(setting),
    )
    if case.labels is None:
        return trace, policies
    steps = dict(zip(STEPS, steps_of(setting), strict=True))
    described = {"perturbation": None, **setting, **steps, "value_bound": cmdp.value_bound}
    described |= {"states": cmdp.states, "actions": cmdp.actions}
    described |= {"optimal_multiplier": optimum.multiplier, **case.labels}
    columns = {name: described[name] for name in (*case.labels, *DESCRIPTION)}
    # Missing numbers stay numbers, so that a column has one type in all tables.
    columns = {name: np.nan if x is None else x for name, x in columns.items()}
    return trace.assign(**columns), policies


def stream_name(purpose, keys, algorithm, setting):
    """Name the family of random streams of a case. Another name is other random numbers."""
    # The name tells an option that has its default value only if it has always told it, so that a
    # default may be written out or left out.
    if keys is None:
        return purpose
    kind = get_algorithm(algorithm)
    defaults = {name: each.default for name, each in kind.options().items()}
    always = (*_TOLD, *_TOLD_OF.get(kind.limit_of or kind.streams, ()))
    told = {name: setting.get(name, defaults.get(name)) for name in always}
    told |= {name: x for name, x in setting.items() if x != defaults.get(name)}
    named = {stream_key(name): x for name, x in (keys | told).items()}
    return f"{purpose}: {json.dumps(named, sort_keys=True)}"


def _policy_table(case, policies):
    """Probabilities of the policies that runs end with, a row for each."""
    seeds, states, actions = np.indices(policies.shape).reshape(3, -1)
    evaluators = case.setting["evaluators"]
    return pd.DataFrame(
        {
            "algorithm": case.algorithm,
            "evaluators": pd.array([evaluators], "Int64").repeat(policies.size),
            "seed": np.sort(case.seeds)[seeds],
            "state": states,
            "action": actions,
            "probability": policies.ravel(),
        }
    )


def read_choices(table):
    """Settings that tuning has chosen, and their scores, by key."""
    rows = table[table["chosen"]]
    return {
        key: (json.loads(setting), score)
        for key, setting, score in zip(rows["key"], rows["setting"], rows["score"], strict=True)
    }


def _chosen(case, choices):
    """The case with the setting that was chosen for it."""
    if case.choice is None:
        return case
    chosen, score = choices[case.choice]
    setting = case.setting | chosen
    return replace(
        case,
        setting=setting,
        checkpoints=(setting["iterations"],),
        labels={**(case.labels or {}), "tuning_score": score},
        choice=None,
    )


def _merged(cases):
    """Cases that differ only in their seeds as one, in the order of their first appearance."""
    merged = {}
    for case in cases:
        key = repr(replace(case, seeds=()))
        seeds = merged[key].seeds if key in merged else ()
        merged[key] = replace(case, seeds=(*seeds, *case.seeds))
    return list(merged.values())
