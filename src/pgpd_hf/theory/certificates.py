r"""Certificates: what the proofs leave when nothing is thrown away.

Along one run, everything that a proof bounds can be computed: the exact advantages, those of
truncated returns, the returns that were sampled, and what people made of them. The convergence
proofs then become inequalities about a single path, in which the errors enter one by one. Each
error is attributed by putting it on top of those before it, in the order exact, [zeroth order],
truncation, sampling, feedback; the parts add up to the certificate. What is left of the distance to
the optimum at the end, and of the multiplier, counts against them as "remaining": noise that has
moved the last iterate away is in there, too, and cancels against the noise's own part.

NPGPD-HF, with :math:`e = \hat A_L - A_L`:

.. math:: \sum_t \mathrm{gap}_L^t = \tfrac{1}{\eta_1} E_{d^\star}[KL(\pi^\star\|\pi^{0}) -
   KL(\pi^\star\|\pi^{T})] + \tfrac{1}{\eta_1}\sum_t E_{d^\star} KL(\pi^t\|\pi^{t+1}) +
   \tfrac{1}{1-\gamma}\sum_t E_{d^\star}\langle\pi^t - \pi^\star, e^t\rangle,

ZPGPD-HF, with :math:`w_s = d^\star(s)/d^t(s)`, :math:`D_s = \|\pi^\star_s - \theta_s\|^2` and the
gradient :math:`g` of the Lagrangian in advantage form:

.. math:: \mathrm{gap}_L^t \le \sum_s w_s\{\tfrac{D_s^t - D_s^{t+1}}{2\eta_1} + \langle\hat h_s,
   \theta_s^{t+1} - \theta_s^t\rangle - \tfrac{\|\theta_s^{t+1}-\theta_s^t\|^2}{2\eta_1} -
   \langle\pi^\star_s - \theta_s^t, \hat h_s - g_s\rangle\}.

It compares with :math:`\pi^\star` itself, not with a policy of a shrunk simplex: perturbed policies
are projected, and what that does to the estimate is in the part of the zeroth order. Both are
completed by the dual step's inequalities, with :math:`e_c = \hat h_c - (V_g - b)` and :math:`U =
\sum_t(\lambda^t - \eta_2\hat h_c^t - \bar\sigma_\lambda)_+`:

.. math:: \sum_t (V_r^\star - V_r^t) \le \sum_t \mathrm{gap}_L^t - \tfrac{(\lambda^T)^2}{2\eta_2} +
   \tfrac{\eta_2}{2}\sum_t(\hat h_c^t)^2 - \sum_t\lambda^t e_c^t, \qquad
   \sum_t (b - V_g^t) \le \tfrac{\lambda^T + U}{\eta_2} + \sum_t e_c^t.
"""

import math

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core import optima, streams
from pgpd_hf.core.cmdp import random_cmdp
from pgpd_hf.theory import bounds, exact
from pgpd_hf.theory.constants import OutsideAssumptions
from pgpd_hf.theory.records import record

PARTS = ("optimisation", "zeroth_order", "truncation", "sampling", "feedback", "remaining")
COLUMNS = (
    "algorithm",
    "evaluators",
    "pairs",
    "horizon",
    "iterations",
    "seed",
    "quantity",
    "measured",
    "certificate",
    "ratio",
    "holds",
    *PARTS,
)
_ERRORS = ("truncation", "sampling", "feedback")
_ROUNDING = 1e-9  # relative to the largest term


def certify(cmdp, algorithm, setting, seeds, optimum=None, purpose="run"):
    r"""Certificates of the average gap and the average violation of runs.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    algorithm : {"npgpd_hf", "zpgpd_hf"}
        With softmax and direct parameterization, respectively.
    setting : Setting
        The runs' setting.
    seeds : iterable of int
        One run each.
    optimum : Optimum, optional
        Of the process, if it is at hand.
    purpose : str
        Names the family of streams.

    Returns
    -------
    pandas.DataFrame
        Columns :data:`COLUMNS`, two rows for each seed: `quantity` is "gap" (of the reward, from
        the constrained optimum) or "violation" (b - V_g), both signed and averaged over iterates
        0..T-1. `certificate` is the sum of :data:`PARTS`; `ratio` is certificate / measured, NaN
        unless `measured` is positive beyond rounding. A gap's certificate assumes nothing but
        :math:`V_g^{\pi^\star} \ge b`.

    Raises
    ------
    OutsideAssumptions
        If a step size is zero, or the algorithm or its parameterization has no certificate.
    """
    optimum = optima.solve(cmdp) if optimum is None else optimum
    process = get_algorithm(algorithm)(cmdp, optimum, setting)
    return pd.concat(
        [_rows(record(process, optimum, seed, purpose), seed) for seed in seeds], ignore_index=True
    )


def random_certificates(count, algorithms=("npgpd_hf", "zpgpd_hf"), first=0):
    """Certificates of runs on random small processes with random settings.

    Parameters
    ----------
    count : int
        Number of runs of each algorithm.
    algorithms : sequence of str
        Which.
    first : int
        Number of the first draw; a draw is the same in every call.

    Returns
    -------
    pandas.DataFrame
        As :func:`certify`, with columns `draw`, `states`, `actions`, `discount`, `scale`,
        `threshold` and `directions` before the others.
    """
    tables = []
    for draw in range(first, first + count):
        for algorithm in algorithms:
            cmdp, optimum, setting, name = _random_problem(draw, algorithm)
            table = certify(cmdp, algorithm, setting, [draw], optimum, purpose="certificate")
            columns = {"draw": draw, "states": cmdp.states, "actions": cmdp.actions}
            columns |= {"discount": cmdp.discount, "scale": name, "threshold": cmdp.threshold}
            columns["directions"] = setting.directions
            for place, (column, value) in enumerate(columns.items()):
                table.insert(place, column, value)
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def _random_problem(draw, algorithm):
    """Process with a binding threshold wherever there is one, and a setting."""
    random = np.random.Generator(
        streams.bit_generator(purpose="certificate", draw=draw, algorithm=algorithm)
    )
    options = {
        "states": int(random.integers(2, 6)),
        "actions": int(random.integers(2, 4)),
        "instance": draw,
        "discount": float(random.choice([0.5, 0.8, 0.9])),
        "scale": str(random.choice(["normalized", "unit"])),
    }
    free = random_cmdp(**options, threshold=0.0)
    boldest, safest = (
        float(free.evaluate(optima.maximize(free, signal))[1])
        for signal in (free.reward, free.utility)
    )
    # Halfway from the boldest policy's utility to the largest: it binds unless they agree.
    margin = max((safest - boldest) / 2, 0.01 * safest)
    cmdp = random_cmdp(**options, threshold=safest - margin)
    natural = algorithm == "npgpd_hf"
    people = [None, 4, 16, 64, 256][random.integers(5)]
    setting = Setting(
        evaluators=people,
        iterations=300 if natural else 1000,
        pairs=int(random.choice([1, 3, 10])),
        horizon=int(random.choice([5, 20, 60])),
        primal_step=float(
            random.choice([0.1, 0.3, 1.0]) if natural else random.choice([1e-3, 1e-2])
        ),
        dual_step=float(random.choice([0.03, 0.1])),
        directions=str(random.choice(["sphere", "tangent"])),
    )
    return cmdp, optima.solve(cmdp), setting, options["scale"]


def certificate(run):
    """Parts of the certificates of one run.

    Parameters
    ----------
    run : Record
        The run.

    Returns
    -------
    dict of dict
        For "gap" and "violation": :data:`PARTS`, in units of value.

    Raises
    ------
    OutsideAssumptions
        As in :func:`certify`.
    """
    process = run.process
    bounds.require_step("primal_step", process.primal_step)
    bounds.require_step("dual_step", process.dual_step)
    primal = _PRIMAL.get((process.name, process.parameterization))
    if primal is None:
        raise OutsideAssumptions(
            f"algorithm: no certificate for {process.name} with {process.parameterization}"
        )
    gap, (dual_gap, violation) = primal(run), _dual(run)
    for part, amount in dual_gap.items():
        gap[part] += amount
    return {"gap": gap, "violation": violation}


def _rows(run, seed):
    process, setting = run.process, run.process.setting
    v_r, v_g = process.cmdp.evaluate(run.policies[:-1])
    measured = {
        "gap": run.optimum.reward_value - v_r.mean(),
        "violation": process.cmdp.threshold - v_g.mean(),
    }
    rows = []
    for quantity, parts in certificate(run).items():
        total, found = sum(parts.values()), float(measured[quantity])
        largest = max(process.cmdp.value_bound, *map(abs, parts.values()))
        rows.append(
            {
                "algorithm": process.name,
                "evaluators": setting.evaluators,
                "pairs": setting.pairs,
                "horizon": setting.horizon,
                "iterations": setting.iterations,
                "seed": seed,
                "quantity": quantity,
                "measured": found,
                "certificate": total,
                "ratio": total / found if found > _ROUNDING * largest else math.nan,
                "holds": found <= total + _ROUNDING * largest,
                **parts,
            }
        )
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"evaluators": "Int64"})


def _differences(names, levels):
    """Attribute a quantity to what was added from level to level."""
    parts = dict.fromkeys(PARTS, 0.0)
    for name, change in zip(names, np.diff(levels), strict=True):
        parts[name] += float(change)
    parts["optimisation"] += float(levels[0])
    return parts


def _natural_primal(run):
    """Average gap of the Lagrangian under NPGPD-HF: an identity."""
    process, cmdp = run.process, run.process.cmdp
    policies, best = run.policies[:-1], run.optimum.policy
    visits = exact.visitation(cmdp, best)  # (S,)
    step = process.primal_step / (1 - cmdp.discount)

    levels = []
    # Logarithms of the policies from the parameters: probabilities may round to zero.
    logarithms = special.log_softmax(run.thetas, axis=-1)
    for advantages in advantage_levels(run):
        drift = special.logsumexp(logarithms[:-1] + step * advantages, axis=-1)
        drift -= step * (policies * advantages).sum(-1)  # KL of one step, (T, S)
        towards = ((policies - best) * advantages).sum(-1)
        levels.append((drift @ visits / process.primal_step).mean())
        levels[-1] += (towards @ visits / (1 - cmdp.discount)).mean()
        if len(levels) == 1:  # e is counted from the exact advantages
            exact_towards = (towards @ visits / (1 - cmdp.discount)).mean()
        levels[-1] -= exact_towards
    parts = _differences(_ERRORS, levels)
    # Kullback-Leibler divergences from the optimum, first and last, (2, S)
    distances = -special.entr(best).sum(-1) - (best * logarithms[[0, -1]]).sum(-1)
    first, last = distances @ visits / (process.primal_step * process.setting.iterations)
    parts["optimisation"] += float(first)
    parts["remaining"] = -float(last)
    return parts


def advantage_levels(run):
    r"""Advantages of the Lagrangian: exact, of truncated returns, sampled, and people's.

    Parameters
    ----------
    run : Record
        Of NPGPD-HF.

    Returns
    -------
    list of ndarray, float64, shape (T, S, A)
    """
    cmdp, policies = run.process.cmdp, run.policies[:-1]
    advantages, short = [], []
    for signal in (cmdp.reward, cmdp.utility):
        advantages.append(cmdp.advantages(policies, signal))
        values, action_values = exact.finite_horizon_values(
            cmdp, policies, signal, run.process.setting.horizon
        )
        short.append(action_values - values[..., None])
    pairs = advantages, short, np.moveaxis(run.sampled, 1, 0), np.moveaxis(run.answered, 1, 0)
    return [run.lagrangian(pair) for pair in pairs]


def _zeroth_order_primal(run):
    """Bound of the average gap of the Lagrangian under ZPGPD-HF."""
    cmdp, iterations = run.process.cmdp, run.process.setting.iterations
    thetas, best, step = run.thetas[:-1], run.optimum.policy, run.process.primal_step
    occupancy, target = cmdp.state_occupancy(thetas), cmdp.state_occupancy(best)
    if ((occupancy == 0) & (target > 0)).any():
        raise OutsideAssumptions("initial: a state of the optimum is never visited by an iterate")
    weights = np.divide(target, occupancy, out=np.zeros_like(occupancy), where=target > 0)

    levels = []
    for estimate in _gradient_levels(run, occupancy):
        moves = exact.projected(thetas + step * estimate) - thetas
        gain = (estimate * moves).sum(-1) - (moves**2).sum(-1) / (2 * step)
        missed = ((best - thetas) * estimate).sum(-1)
        if not levels:
            exact_missed = missed
        levels.append((weights * (gain - missed + exact_missed)).sum(-1).mean())
    parts = _differences(("zeroth_order", *_ERRORS), levels)
    distances = ((best - run.thetas) ** 2).sum(-1)  # (T + 1, S)
    closer = (weights * (distances[:-1] - distances[1:])).sum() / (2 * step * iterations)
    last = (weights[-1] * distances[-1]).sum() / (2 * step * iterations)
    parts["optimisation"] += float(closer + last)
    parts["remaining"] = -float(last)
    return parts


def _gradient_levels(run, occupancy):
    """Gradients: exact, along the direction, of truncated returns, sampled, and people's."""
    process, cmdp, thetas = run.process, run.process.cmdp, run.thetas[:-1]
    survey, horizon = process.survey, process.setting.horizon
    directions = run.normals.reshape(thetas.shape)
    if survey.tangent:
        directions = directions - directions.mean(-1, keepdims=True)
    directions = directions / np.sqrt((directions**2).sum((1, 2), keepdims=True))
    perturbed = exact.projected(thetas + survey.perturbation * directions)
    scale = survey.dimension / survey.perturbation

    gradients, slopes, short = [], [], []
    moved, base = cmdp.evaluate(perturbed), cmdp.evaluate(thetas)
    for k, signal in enumerate((cmdp.reward, cmdp.utility)):
        gradients.append(occupancy[..., None] * cmdp.advantages(thetas, signal))
        slopes.append(scale * (moved[k] - base[k])[:, None, None] * directions)
        ends = [
            exact.finite_horizon_values(cmdp, policies, signal, horizon)[0] @ cmdp.initial
            for policies in (perturbed, thetas)
        ]
        short.append(scale * (ends[0] - ends[1])[:, None, None] * directions)
    pairs = (
        gradients,
        slopes,
        short,
        np.moveaxis(run.sampled, 1, 0),
        np.moveaxis(run.answered, 1, 0),
    )
    return [run.lagrangian(pair) for pair in pairs]


_PRIMAL = {
    ("npgpd_hf", "softmax"): _natural_primal,
    ("zpgpd_hf", "direct"): _zeroth_order_primal,
}


def _dual(run):
    """What the dual step adds to the gap, and the violation."""
    process, cmdp = run.process, run.process.cmdp
    step, iterations = process.dual_step, process.setting.iterations
    policies, multipliers = run.policies[:-1], run.multipliers[:-1]
    values, _ = exact.finite_horizon_values(cmdp, policies, cmdp.utility, process.setting.horizon)
    excesses = (
        cmdp.evaluate(policies)[1] - cmdp.threshold,
        values @ cmdp.initial - cmdp.threshold,
        run.sampled_excess,
        run.answered_excess,
    )
    squares = [
        step / 2 * (excess**2).mean() - (multipliers * (excess - excesses[0])).mean()
        for excess in excesses
    ]
    gap = _differences(_ERRORS, squares)
    last = float(run.multipliers[-1])
    gap["remaining"] = -(last**2) / (2 * step * iterations)

    violation = _differences(_ERRORS, [(excess - excesses[0]).mean() for excess in excesses])
    cut = multipliers - step * run.answered_excess - process.multiplier_bound
    moved = last + float(np.maximum(cut, 0).sum())
    violation["optimisation"] += moved / (step * iterations)
    return gap, violation
