r"""Schedules: fewer evaluators and shorter trajectories first, at equal cost.

The paper's remark on the corollary of Theorem 1: "shorter trajectories can initially be sampled and
evaluated by fewer human reviewers, while longer trajectories and more reviewers can be incorporated
later". A schedule is a sequence of phases of equal length; each takes over the state of the one
before it, and all share the step sizes.
"""

import numpy as np

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.arguments import located
from replication.analyses import Table
from replication.files import storage
from replication.study import configuration, summaries
from replication.study.cases import Case, by_seed, run_setting
from replication.study.summaries import priced_gap

TARGET = "theory"
TABLES = {
    "schedules": Table("Schedules of M and H (table)", "algorithm schedule metric"),
    "schedules_means": Table("Means along the schedules (table)", "algorithm schedule iteration"),
}
READS = ("runs",)
SHOWS = ("runs",)
NEEDS = ("schedules.algorithms",)
_COSTS = {"answers": "evaluators", "steps": "horizon"}


def plan(config):
    options = config["schedules"]
    return {
        algorithm: by_seed(
            [_case(config, algorithm, name) for name in options["phases"]], options["seeds"]
        )
        for algorithm in options["algorithms"]
    }


def check(config):
    options = config["schedules"]
    for algorithm, changes in options["algorithms"].items():
        with located(f"schedules.algorithms.{algorithm}"):
            configuration.require_algorithm(config, algorithm)
            get_algorithm(algorithm).refuse_unknown(changes.keys() - {"iterations"})
        for name in options["phases"]:
            with located(f"schedules.phases.{name}"):
                case = _case(config, algorithm, name)
                configuration.require_estimates(config, case.setting)
    check_costs(options["phases"])


def tables(runs):
    runs = storage.read_tables(runs)
    runs["priced_gap"] = priced_gap(runs)
    first = runs["schedule"].iloc[0]
    return {
        "schedules": summaries.compare(summaries.outcomes(runs), first),
        "schedules_means": summaries.spent(runs),
    }


def phases(iterations, evaluators, horizon):
    """Phases of a schedule with M and H of each, or one for all; early ones may be longer."""
    count = max(len(evaluators), len(horizon))
    for name, values in (("evaluators", evaluators), ("horizon", horizon)):
        if len(values) not in (1, count):
            raise ValueError(f"{name}: 1 or {count} entries expected, got {len(values)}")
    if iterations < count:
        raise ValueError(f"iterations: at least one for each of {count} phases expected")
    return [
        {
            "evaluators": evaluators[k % len(evaluators)],
            "horizon": horizon[k % len(horizon)],
            "iterations": iterations // count + (k < iterations % count),
        }
        for k in range(count)
    ]


def check_costs(schedules, tolerance=0.01):
    """Refuse schedules that cannot be compared because they cost different amounts."""
    for currency, key in _COSTS.items():
        longer = int(currency == "steps")  # a trajectory has H + 1 steps
        costs = {name: np.mean(lists[key]) + longer for name, lists in schedules.items()}
        first = next(iter(costs))
        for name, cost in costs.items():
            if abs(cost / costs[first] - 1) > tolerance:
                raise ValueError(
                    f"schedules.phases.{name}.{key}: costs {cost:g} {currency} where {first} costs "
                    f"{costs[first]:g}; schedules are compared at equal cost"
                )


def _case(config, algorithm, name):
    options = config["schedules"]
    setting = run_setting(config, algorithm, None)
    setting |= options["algorithms"][algorithm]
    setting["phases"] = phases(setting["iterations"], **options["phases"][name])
    purpose = configuration.stream_family(config, f"schedule {name}")
    return Case(algorithm, setting, purpose=purpose, labels={"schedule": name})
