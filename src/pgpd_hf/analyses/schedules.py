r"""Schedules: runs whose M and H change on the way.

The paper's remark on the corollary of Theorem 1: "shorter trajectories can initially be sampled and
evaluated by fewer human reviewers, while longer trajectories and more reviewers can be incorporated
later". A schedule is a sequence of phases of equal length; each takes over the parameter and the
multiplier of the one before it, and all share the step sizes.
"""

from dataclasses import replace

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core import optima
from pgpd_hf.core.arguments import located
from pgpd_hf.runs import COLUMNS, checkpoint_grid, iterates
from pgpd_hf.studies import configuration

_COSTS = {"queries": "evaluators", "steps": "horizon"}


def phases(setting, evaluators, horizon):
    """Settings of the phases of a schedule.

    Parameters
    ----------
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`; `iterations` is the length of the whole.
    evaluators, horizon : list of int
        M and H in each phase; a list of one entry holds for all phases.

    Returns
    -------
    list of dict
        The same for each phase; early phases get an iteration more if lengths do not divide.

    Raises
    ------
    ValueError
        If the lists do not fit each other, or there are fewer iterations than phases.
    """
    count = max(len(evaluators), len(horizon))
    for name, values in (("evaluators", evaluators), ("horizon", horizon)):
        if len(values) not in (1, count):
            raise ValueError(f"{name}: 1 or {count} entries expected, got {len(values)}")
    total = setting["iterations"]
    if total < count:
        raise ValueError(f"iterations: at least one for each of {count} phases expected")
    return [
        {
            **setting,
            "evaluators": evaluators[k % len(evaluators)],
            "horizon": horizon[k % len(horizon)],
            "iterations": total // count + (k < total % count),
        }
        for k in range(count)
    ]


def check(config):
    """Refuse schedules that cannot be run, or not be compared.

    Parameters
    ----------
    config : dict
        A configuration that :func:`pgpd_hf.studies.configuration.check` has passed.

    Raises
    ------
    ValueError
        One line that names the key.
    """
    plan = config["schedules"]
    for algorithm, options in plan["algorithms"].items():
        if algorithm not in config["algorithms"]:
            raise ValueError(
                f"schedules.algorithms.{algorithm}: the study has no algorithm {algorithm!r}"
            )
        with located(f"schedules.algorithms.{algorithm}"):
            get_algorithm(algorithm).refuse_idle(options)
        for name, lists in plan["phases"].items():
            with located(f"schedules.phases.{name}"):
                phases(configuration.run_setting(config, algorithm, None) | options, **lists)
    try:
        check_costs(plan["phases"])
    except ValueError as error:
        raise ValueError(f"schedules.phases.{error}") from None


def check_costs(schedules, tolerance=0.01):
    """Refuse schedules that cannot be compared because they cost different amounts.

    Parameters
    ----------
    schedules : dict
        `evaluators` and `horizon` of each schedule, by its name.
    tolerance : float
        Largest relative difference.

    Raises
    ------
    ValueError
        Naming the schedule, the currency and both costs, per question and per trajectory.
    """
    for currency, key in _COSTS.items():
        longer = int(currency == "steps")  # a trajectory has H + 1 steps
        costs = {name: np.mean(lists[key]) + longer for name, lists in schedules.items()}
        first = next(iter(costs))
        for name, cost in costs.items():
            if abs(cost / costs[first] - 1) > tolerance:
                raise ValueError(
                    f"{name}.{key}: costs {cost:g} {currency} where {first} costs "
                    f"{costs[first]:g}; schedules are compared at equal cost"
                )


def run_schedule(cmdp, algorithm, stages, seeds, purpose):
    """Run an algorithm through the phases of a schedule, once per seed.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    stages : list of dict
        Made by :func:`phases`. Step sizes that are left to the theorem are those for the length of
        the whole.
    seeds : iterable of int
        Each gives one run.
    purpose : str
        Names the family of random streams.

    Returns
    -------
    pandas.DataFrame
        As of :func:`pgpd_hf.run`; `evaluators` are those of the iteration that comes next.
    """
    optimum = optima.solve(cmdp)
    kind = get_algorithm(algorithm)
    total = sum(stage["iterations"] for stage in stages)
    processes = []
    for setting in (Setting(**stage) for stage in stages):
        primal, dual = kind.steps(cmdp, optimum, replace(setting, iterations=total))
        setting = replace(setting, primal_step=primal, dual_step=dual)
        processes.append(kind(cmdp, optimum, setting))
    traces = [_trace(processes, optimum, seed, purpose) for seed in seeds]
    return pd.concat(traces, ignore_index=True)


def _trace(processes, optimum, seed, purpose):
    """Rows of one seed."""
    theta = processes[0].initial_parameter()
    multiplier = 0.0
    values, multipliers, people, queries, steps = [], [], [], [], []
    for k, process in enumerate(processes):
        # A phase's last policy is the first one of the next phase.
        stream = purpose if len(processes) == 1 else f"{purpose}, phase {k}"
        for policies, row in iterates(process, seed, None, stream, theta, multiplier):
            values.append(np.stack(process.cmdp.evaluate(policies), axis=-1))
            multipliers.append(row)
        multiplier = float(multipliers[-1][-1])
        if k < len(processes) - 1:
            values.pop()
            multipliers.pop()
        length = process.setting.iterations
        asked = process.setting.evaluators
        people += [asked] * length
        queries += [0 if asked is None else asked * process.questions_per_iteration] * length
        steps += [process.steps_per_iteration] * length
    values = np.concatenate(values)  # (T + 1, 2)
    running = np.cumsum(values, axis=0) / np.arange(1, len(values) + 1)[:, None]
    grid = checkpoint_grid(len(people))
    threshold = processes[0].cmdp.threshold
    trace = {
        "algorithm": processes[0].name,
        "evaluators": pd.array([[*people, people[-1]][t] for t in grid], dtype="Int64"),
        "seed": seed,
        "iteration": grid,
        "reward_value": values[grid, 0],
        "utility_value": values[grid, 1],
        "multiplier": np.concatenate(multipliers)[grid],
        "optimality_gap": optimum.reward_value - values[grid, 0],
        "constraint_violation": threshold - values[grid, 1],
        "mean_optimality_gap": optimum.reward_value - running[grid, 0],
        "mean_constraint_violation": threshold - running[grid, 1],
        "queries": np.cumsum([0, *queries])[grid],
        "steps": np.cumsum([0, *steps])[grid],
    }
    return pd.DataFrame(trace, columns=list(COLUMNS))
