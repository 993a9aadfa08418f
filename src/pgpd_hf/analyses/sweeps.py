r"""Sweeps: one axis varies, all else is fixed or spans further curves.

A sweep is a grid over settings of runs, and each of its cases is run afresh. What is kept of a run:

* averages over iterates :math:`0..T-1`, which the theorems bound;
* averages over the later half of them, where little of the start is left;
* what the dual step owes, :math:`\lambda^{(T)} / (\eta_2 T)`. Where the multiplier was not
  projected, the average violation is this plus the average of :math:`\hat h_c - (V_g - b)`, which
  is kept as `misread`;
* for the first two, the gap :math:`V_r^\star - V_r`, the violation :math:`b - V_g`, and the
  *priced gap* :math:`V_r^\star - V_r + \lambda^\star (b - V_g)`.

The first two are signed, and one is bought with the other: an unsafe policy may earn more than the
optimum. By strong duality the priced gap is negative for no policy at all, and zero exactly where
the Lagrangian at the optimal multiplier is maximal, so it is what a logarithm can be taken of.
"""

import itertools
import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core import optima
from pgpd_hf.core.arguments import located, require_integer
from pgpd_hf.core.cmdp import random_cmdp
from pgpd_hf.runs import run
from pgpd_hf.studies import configuration

AXES = ("iterations", "evaluators", "pairs", "horizon", "states", "actions")
SIZES = ("states", "actions")
KEYS = (*AXES, "perturbation", "steps")
STEP_RULES = ("study", "falling", "theorem")
LIMITS = {"npg_pd": "npgpd_hf", "pg_pd": "zpgpd_hf"}  # exact methods, and whose limits they are
QUANTITIES = ("gap", "violation", "priced_gap")
METRICS = (*QUANTITIES, *(f"late_{name}" for name in QUANTITIES), "owed", "misread")
COLUMNS = (
    "sweep",
    "algorithm",
    "curve",
    "axis",
    "value",
    "seed",
    "step_rule",
    "iterations",
    "evaluators",
    "pairs",
    "horizon",
    "states",
    "actions",
    "perturbation",
    "primal_step",
    "dual_step",
    *METRICS,
    "start_priced_gap",
    "multiplier",
    "optimal_multiplier",
    "queries",
    "steps",
)


@dataclass(frozen=True)
class Case:
    r"""One point of a sweep.

    Attributes
    ----------
    axis : str
        What varies, one of :data:`AXES`.
    value : int or None
        Of the axis; None for infinitely many evaluators.
    curve : str
        What else varies, for people: such as "study steps, M = 64"; empty if nothing does.
    step_rule : str
        One of :data:`STEP_RULES`.
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`.
    size : dict
        `states` and `actions` of a process of its own; empty for the study's.
    """

    axis: str
    value: int | None
    curve: str
    step_rule: str
    setting: dict
    size: dict

    @property
    def name(self):
        """What tells the case from all others of its sweep, as text."""
        return json.dumps(
            {"step_rule": self.step_rule, **self.setting, **self.size}, sort_keys=True
        )


def make_cases(axis, grid, setting, discount):
    r"""Spell a sweep out.

    Parameters
    ----------
    axis : str
        What varies, one of :data:`AXES`.
    grid : dict
        Values, or lists of them, by key of :data:`KEYS`; every combination is a case.
        `evaluators` and `horizon` may be "corollary": :math:`M = T \log T` and
        :math:`H = \log T / (2 \log(1/\gamma))`, rounded up.
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run` for what the grid leaves out.
    discount : float
        :math:`\gamma`.

    Returns
    -------
    list of Case
        Curve by curve, along the axis within each.

    Raises
    ------
    ValueError
        If the grid cannot be spelt out; the message names the key.
    """
    if axis not in AXES:
        raise ValueError(f"varies: one of {', '.join(AXES)} expected, got {axis!r}")
    for key in grid:
        if key not in KEYS:
            raise ValueError(f"{key}: not a key of a sweep; these are {', '.join(KEYS)}")
    if not isinstance(grid.get(axis), list) or len(grid[axis]) < 2:
        raise ValueError(f"{axis}: the sweep varies it, so at least two values are expected")
    numbers = [math.inf if value is None else value for value in grid[axis]]
    if numbers != sorted(numbers):
        raise ValueError(f"{axis}: increasing order expected, null last, got {grid[axis]}")
    lists = {key: grid[key] if isinstance(grid[key], list) else [grid[key]] for key in grid}
    varied = [key for key in KEYS if key in lists and key != axis]
    cases = []
    for fixed in itertools.product(*(lists[key] for key in varied)):
        choice = dict(zip(varied, fixed, strict=True))
        words = [_word(key, choice[key]) for key in varied if len(lists[key]) > 1]
        for value in lists[axis]:
            cases.append(
                _make_case(
                    axis, value, ", ".join(words), {**choice, axis: value}, setting, discount
                )
            )
    return cases


def _make_case(axis, value, curve, choice, setting, discount):
    size = {key: choice.pop(key) for key in SIZES if key in choice}
    rule = choice.pop("steps", "study")
    iterations = choice.get("iterations", setting["iterations"])
    if choice.get("evaluators") == "corollary":
        choice["evaluators"] = corollary_evaluators(iterations)
    if choice.get("horizon") == "corollary":
        choice["horizon"] = corollary_horizon(iterations, discount)
    if choice.get("perturbation") == "theorem":
        choice["perturbation"] = None
    changed = {**setting, **choice, **scaled_steps(setting, iterations, rule)}
    return Case(axis, value, curve, rule, changed, size)


def _word(key, value):
    """Name a value of a key in a legend."""
    if key == "steps":
        return f"{value} steps"
    sign = {"iterations": "T", "evaluators": "M", "pairs": "N", "horizon": "H"}
    sign |= {"states": "|S|", "actions": "|A|", "perturbation": "μ"}
    return f"{sign[key]} = {'∞' if value is None else value}"


def planned_cases(config, algorithm, axis, grid, discount):
    """Spell a sweep of a study out before its calibration, with step sizes of zero.

    Parameters
    ----------
    config : dict
        A configuration.
    algorithm : str
        One that the study has, or the limit of one (:data:`LIMITS`).
    axis, grid, discount
        As for :func:`make_cases`.

    Returns
    -------
    list of Case

    Raises
    ------
    ValueError
        As :func:`make_cases`.
    """
    setting = configuration.run_setting(config, studied(algorithm), None)
    setting |= {"primal_step": 0.0, "dual_step": 0.0}
    return make_cases(axis, grid, setting, discount)


def studied(algorithm):
    """Which of a study's algorithms has the settings of this one.

    Parameters
    ----------
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.

    Returns
    -------
    str
        Itself, or the one whose limit it is.
    """
    return LIMITS.get(algorithm, algorithm)


def scaled_steps(setting, iterations, rule):
    r"""Step sizes for another T.

    Parameters
    ----------
    setting : dict
        With `iterations`, :math:`T_0`, and the steps that belong to it.
    iterations : int
        The other T.
    rule : {"study", "falling", "theorem"}
        "study": :math:`\eta_1` as it is and :math:`\eta_2 \sqrt{T_0/T}`, which is how both theorems
        let their steps depend on T; "falling": both times :math:`\sqrt{T_0/T}`; "theorem": those
        of the algorithm's theorem for this T.

    Returns
    -------
    dict
        `primal_step` and `dual_step`; None stands for the theorem's.

    Raises
    ------
    ValueError
        If there is no such rule, or it needs numbers and the setting has none.
    """
    if rule not in STEP_RULES:
        raise ValueError(f"steps: one of {', '.join(STEP_RULES)} expected, got {rule!r}")
    if rule == "theorem":
        return {"primal_step": None, "dual_step": None}
    primal, dual = setting["primal_step"], setting["dual_step"]
    if primal is None or dual is None:
        raise ValueError(f"steps: {rule!r} scales the study's step sizes, which are the theorem's")
    scale = math.sqrt(setting["iterations"] / iterations)
    return {
        "primal_step": primal * scale if rule == "falling" else primal,
        "dual_step": dual * scale,
    }


def with_numbers(cmdp, algorithm, setting):
    """Put the theorem's step sizes, where a setting leaves them to it, in as numbers.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    setting : dict
        Keyword arguments of :func:`pgpd_hf.run`.

    Returns
    -------
    dict
        The same with numbers.
    """
    kind = get_algorithm(algorithm)
    primal, dual = kind.steps(cmdp, optima.solve(cmdp), Setting(**setting))
    return setting | {"primal_step": primal, "dual_step": dual}


def corollary_evaluators(iterations):
    r"""People per question in the corollary of Theorem 1 (line 491).

    Parameters
    ----------
    iterations : int
        T >= 2.

    Returns
    -------
    int
        :math:`\lceil T \log T \rceil`.
    """
    require_integer("iterations", iterations, 2)
    return math.ceil(iterations * math.log(iterations))


def corollary_horizon(iterations, discount):
    r"""Length of trajectories in the corollary of Theorem 1 (line 491).

    Parameters
    ----------
    iterations : int
        T >= 2.
    discount : float
        :math:`\gamma` in (0, 1).

    Returns
    -------
    int
        :math:`\lceil \log T / (2 \log(1/\gamma)) \rceil`, for which :math:`\gamma^H \le 1/\sqrt T`.

    Raises
    ------
    ValueError
        If an argument is out of range; the message names it.
    """
    require_integer("iterations", iterations, 2)
    if not 0 < discount < 1:
        raise ValueError(f"discount: in (0, 1) expected, got {discount!r}")
    return math.ceil(math.log(iterations) / (2 * math.log(1 / discount)))


def draw_process(options, size, instance):
    """Draw a process of a given size whose constraint binds in the same manner for all sizes.

    The threshold lies midway between the utility of the policy that is best for the reward alone
    and the largest utility that a policy reaches.

    Parameters
    ----------
    options : dict
        Keyword arguments of :func:`pgpd_hf.random_cmdp`.
    size : dict
        `states` and `actions`, in place of those of the options.
    instance : int
        Which draw.

    Returns
    -------
    CMDP
    """
    options = {**options, **size, "instance": instance}
    free = random_cmdp(**options)
    best = free.evaluate(optima.maximize(free, free.reward))[1]
    safest = free.evaluate(optima.maximize(free, free.utility))[1]
    return random_cmdp(**{**options, "threshold": float(best + safest) / 2})


def run_case(cmdp, algorithm, case, seeds, sweep):
    """Run one case.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : str
        A key of :data:`pgpd_hf.ALGORITHMS`.
    case : Case
        What to run.
    seeds : iterable of int
        Each gives one row.
    sweep : str
        Names the family of random streams.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, a row per seed.
    """
    optimum = optima.solve(cmdp)
    length = case.setting["iterations"]
    if length < 2:
        raise ValueError(f"iterations: at least 2 expected in a sweep, got {length}")
    half = length // 2
    trace = run(
        cmdp,
        algorithm,
        seeds=seeds,
        checkpoints=[0, half - 1, length - 1, length],
        purpose=f"sweep {sweep}: {case.name}",
        # The exact limit of an algorithm has its settings, but not all of its options.
        **get_algorithm(algorithm).known(case.setting),
    )
    at = {point: trace[trace["iteration"] == point].reset_index() for point in (0, half - 1)}
    # The average over iterates 0..T-1 stands at iteration T - 1.
    whole = trace[trace["iteration"] == length - 1].reset_index()
    end = trace[trace["iteration"] == length].reset_index()
    table = pd.DataFrame({"seed": whole["seed"]})
    for name, column in (("gap", "optimality_gap"), ("violation", "constraint_violation")):
        table[name] = whole[f"mean_{column}"]
        early = at[half - 1][f"mean_{column}"]
        table[f"late_{name}"] = (length * table[name] - half * early) / (length - half)
    table["start_priced_gap"] = priced(
        at[0]["optimality_gap"], at[0]["constraint_violation"], optimum
    )
    table["priced_gap"] = priced(table["gap"], table["violation"], optimum)
    table["late_priced_gap"] = priced(table["late_gap"], table["late_violation"], optimum)
    for name in ("multiplier", "queries", "steps"):
        table[name] = end[name]
    table["optimal_multiplier"] = optimum.multiplier
    used = with_numbers(cmdp, algorithm, case.setting)
    for name in ("iterations", "pairs", "horizon", "primal_step", "dual_step"):
        table[name] = used[name]
    with np.errstate(divide="ignore"):
        table["owed"] = table["multiplier"] / np.float64(used["dual_step"] * length)
    table["misread"] = table["violation"] - table["owed"]
    table["perturbation"] = pd.array([case.setting.get("perturbation")] * len(table), "Float64")
    table["evaluators"] = pd.array([case.setting["evaluators"]] * len(table), "Int64")
    table["states"], table["actions"] = cmdp.states, cmdp.actions
    table["value"] = math.inf if case.value is None else float(case.value)
    table["sweep"], table["algorithm"], table["curve"] = sweep, algorithm, case.curve
    table["axis"], table["step_rule"] = case.axis, case.step_rule
    return table[list(COLUMNS)]


def priced(gap, violation, optimum):
    r"""Gap of the Lagrangian at the optimal multiplier.

    Parameters
    ----------
    gap, violation : float or array_like
        :math:`V_r^\star - V_r` and :math:`b - V_g`, signed.
    optimum : Optimum
        Supplies :math:`\lambda^\star`.

    Returns
    -------
    float or array_like
        At least zero, up to the accuracy of the optimum.
    """
    return gap + optimum.multiplier * violation


def check(config):
    """Refuse sweeps that cannot be run.

    Parameters
    ----------
    config : dict
        A configuration that :func:`pgpd_hf.studies.configuration.check` has passed.

    Raises
    ------
    ValueError
        One line that names the sweep, the algorithm and the key.
    """
    discount = configuration.environment(config).discount
    for name, sweep in config["sweeps"].items():
        for algorithm, grid in sweep["algorithms"].items():
            with located(f"sweeps.{name}.algorithms.{algorithm}"):
                kind = get_algorithm(algorithm)
                kind.refuse_idle(grid)
                if studied(algorithm) not in config["algorithms"]:
                    raise ValueError(f"the study has no algorithm {studied(algorithm)!r}")
                configuration.vary(config, {key: grid[key] for key in SIZES if key in grid})
                cases = planned_cases(config, algorithm, sweep["varies"], grid, discount)
                if not kind.has_theorem() and any(case.step_rule == "theorem" for case in cases):
                    raise ValueError("steps: 'theorem' is not possible without a theorem")
