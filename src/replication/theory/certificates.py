r"""Certificates: pathwise versions of the convergence proofs.

Along one run, everything that a proof bounds can be computed: the exact advantages, those of
truncated returns, those of the sampled returns, and the evaluators' answers. The convergence proofs
then become inequalities about a single path in which the errors appear one by one. The errors are
added in the order exact, [zeroth order], truncation, sampling, feedback, and each is attributed
the change that it makes; these parts add up to the certificate. The distance of the last iterate
from the optimum and the last multiplier enter with a negative sign, as "remaining". Where noise has
moved the last iterate, this part contains that noise as well, and the two cancel.

NPGPD-HF, with :math:`e = \hat A_L - A_L`:

.. math:: \sum_t \mathrm{gap}_L^t = \tfrac{1}{\eta_1} E_{d^\star}[KL(\pi^\star\|\pi^{0}) -
   KL(\pi^\star\|\pi^{T})] + \tfrac{1}{\eta_1}\sum_t E_{d^\star} KL(\pi^t\|\pi^{t+1}) +
   \tfrac{1}{1-\gamma}\sum_t E_{d^\star}\langle\pi^t - \pi^\star, e^t\rangle,

ZPGPD-HF, with :math:`w_s = d^\star(s)/d^t(s)`, :math:`D_s = \|\pi^\star_s - \theta_s\|^2` and the
gradient :math:`g` of the Lagrangian in advantage form:

.. math:: \mathrm{gap}_L^t \le \sum_s w_s\{\tfrac{D_s^t - D_s^{t+1}}{2\eta_1} + \langle\hat h_s,
   \theta_s^{t+1} - \theta_s^t\rangle - \tfrac{\|\theta_s^{t+1}-\theta_s^t\|^2}{2\eta_1} -
   \langle\pi^\star_s - \theta_s^t, \hat h_s - g_s\rangle\}.

The comparison is with :math:`\pi^\star` itself, not with a policy in a shrunk simplex: perturbed
policies are projected, and the effect on the estimate belongs to the part "zeroth order". Both are
completed by the inequalities of the dual step, with :math:`e_c = \hat h_c - (V_g - b)` and
:math:`U = \sum_t(\lambda^t - \eta_2\hat h_c^t - \bar\sigma_\lambda)_+`:

.. math:: \sum_t (V_r^\star - V_r^t) \le \sum_t \mathrm{gap}_L^t - \tfrac{(\lambda^T)^2}{2\eta_2} +
   \tfrac{\eta_2}{2}\sum_t(\hat h_c^t)^2 - \sum_t\lambda^t e_c^t, \qquad
   \sum_t (b - V_g^t) \le \tfrac{\lambda^T + U}{\eta_2} + \sum_t e_c^t.
"""

import math

import numpy as np
import pandas as pd
from scipy import special

from pgpd_hf.core import optima, streams
from pgpd_hf.environments.random import random_cmdp
from replication.theory import bounds, exact
from replication.theory.constants import OutsideAssumptions, require_as_printed
from replication.theory.records import record
from replication.theory.setting import Setting

PARTS = ("optimisation", "zeroth_order", "truncation", "sampling", "feedback", "remaining")
_ERRORS = ("truncation", "sampling", "feedback")
_ROUNDING = 1e-9  # relative to the largest term


def run_certificates(cmdp, algorithm, setting, seeds, optimum=None, purpose="run"):
    """Certificates of the average gap and the average violation of runs, two rows for each seed."""
    # Both are signed, and averaged over iterates 0..T-1. The certificate is the sum of its parts;
    # that of the gap assumes nothing but V_g(pi*) >= b. The ratio to what is measured is NaN unless
    # that is positive beyond rounding.
    optimum = optima.solve(cmdp) if optimum is None else optimum
    ready = setting.run(algorithm, cmdp, optimum)
    rows = [_rows(record(ready, optimum, seed, purpose, sampled=True), seed) for seed in seeds]
    return pd.concat(rows, ignore_index=True)


def random_certificates(draws, algorithm):
    """Certificates of runs on small random CMDPs with random settings, the same in every call."""
    tables = []
    for draw in draws:
        cmdp, optimum, setting, scale = _random_problem(draw, algorithm)
        table = run_certificates(cmdp, algorithm, setting, [draw], optimum, purpose="certificate")
        columns = {"draw": draw, "states": cmdp.states, "actions": cmdp.actions}
        columns |= {"discount": cmdp.discount, "scale": scale, "threshold": cmdp.threshold}
        columns["directions"] = setting.directions
        tables.append(pd.DataFrame(columns, index=table.index).join(table))
    return pd.concat(tables, ignore_index=True)


def _random_problem(draw, algorithm):
    """CMDP whose constraint binds if possible, its optimum, a setting, and the scale's name."""
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
    unsafest, safest = optima.utility_range(free)
    # Halfway between the unconstrained optimum's utility and the largest, which differ if possible.
    margin = max((safest - unsafest) / 2, 0.01 * safest)
    cmdp = random_cmdp(**options, threshold=safest - margin)
    natural = algorithm == "npgpd_hf"
    setting = Setting(
        evaluators=[None, 4, 16, 64, 256][random.integers(5)],
        iterations=300 if natural else 1000,
        rounds=int(random.choice([1, 3, 10])),
        horizon=int(random.choice([5, 20, 60])),
        primal_step=float(
            random.choice([0.1, 0.3, 1.0]) if natural else random.choice([1e-3, 1e-2])
        ),
        dual_step=float(random.choice([0.03, 0.1])),
        directions=str(random.choice(["sphere", "tangent"])),
    )
    return cmdp, optima.solve(cmdp), setting, options["scale"]


def certificate(run):
    """Values of :data:`PARTS` of one recorded run by quantity."""
    algorithm = run.algorithm
    bounds.require_step("primal_step", algorithm.primal_step)
    bounds.require_step("dual_step", algorithm.dual_step)
    require_as_printed(algorithm.algorithm)
    primal = _PRIMAL.get((algorithm.name, algorithm.algorithm.parameterization))
    if primal is None:
        raise OutsideAssumptions(
            f"algorithm: no certificate for {algorithm.name} with "
            f"{algorithm.algorithm.parameterization}"
        )
    gap, (dual_gap, violation) = primal(run), _dual(run)
    gap = {part: amount + dual_gap[part] for part, amount in gap.items()}
    return {"gap": gap, "violation": violation}


def _rows(run, seed):
    cmdp, of_run = run.algorithm.cmdp, run.algorithm
    v_r, v_g = cmdp.evaluate(run.policies[:-1])
    measured = {
        "gap": run.optimum.reward_value - v_r.mean(),
        "violation": cmdp.threshold - v_g.mean(),
    }
    rows = []
    for quantity, parts in certificate(run).items():
        total, found = sum(parts.values()), float(measured[quantity])
        largest = max(cmdp.value_bound, *map(abs, parts.values()))
        rows.append(
            {
                "algorithm": run.algorithm.name,
                "evaluators": of_run.algorithm.evaluators,
                "rounds": of_run.algorithm.rounds,
                "horizon": of_run.horizon,
                "iterations": of_run.iterations,
                "seed": seed,
                "quantity": quantity,
                "measured": found,
                "certificate": total,
                "ratio": total / found if found > _ROUNDING * largest else math.nan,
                "holds": found <= total + _ROUNDING * largest,
                **parts,
            }
        )
    return pd.DataFrame(rows).astype({"evaluators": "Int64"})


def _differences(names, levels):
    """Attribute each change from one level to the next to the error that was added."""
    parts = dict.fromkeys(PARTS, 0.0)
    for name, change in zip(names, np.diff(levels), strict=True):
        parts[name] += float(change)
    parts["optimisation"] += float(levels[0])
    return parts


def _natural_primal(run):
    """Average gap of the Lagrangian under NPGPD-HF: an identity."""
    algorithm, cmdp = run.algorithm, run.algorithm.cmdp
    policies, best = run.policies[:-1], run.optimum.policy
    visits = exact.visitation(cmdp, best)  # (S,)
    step = algorithm.primal_step / (1 - cmdp.discount)

    levels, towards = [], []
    # Log-policies come from the parameters, because probabilities may round to zero.
    logarithms = special.log_softmax(run.thetas, axis=-1)
    for advantages in advantage_levels(run):
        drift = special.logsumexp(logarithms[:-1] + step * advantages, axis=-1)
        drift -= step * (policies * advantages).sum(-1)  # KL of one step, (T, S)
        better = ((policies - best) * advantages).sum(-1)
        levels.append((drift @ visits / algorithm.primal_step).mean())
        towards.append((better @ visits / (1 - cmdp.discount)).mean())
    # The errors e are relative to the exact advantages.
    parts = _differences(_ERRORS, np.add(levels, towards) - towards[0])
    # Kullback-Leibler divergences from the optimum, first and last, (2, S)
    distances = -special.entr(best).sum(-1) - (best * logarithms[[0, -1]]).sum(-1)
    first, last = distances @ visits / (algorithm.primal_step * algorithm.iterations)
    parts["optimisation"] += float(first)
    parts["remaining"] = -float(last)
    return parts


def advantage_levels(run):
    """Advantages of the Lagrangian, (T, S, A): exact, of truncated returns, sampled, answered."""
    cmdp, policies, horizon = run.algorithm.cmdp, run.policies[:-1], run.algorithm.horizon
    signals = cmdp.reward, cmdp.utility
    pairs = (
        [cmdp.advantages(policies, signal) for signal in signals],
        [exact.finite_horizon_advantages(cmdp, policies, signal, horizon) for signal in signals],
        run.sampled,
        run.answered,
    )
    return [run.lagrangian(pair) for pair in pairs]


def _zeroth_order_primal(run):
    """Bound of the average gap of the Lagrangian under ZPGPD-HF."""
    cmdp, iterations = run.algorithm.cmdp, run.algorithm.iterations
    thetas, best, step = run.thetas[:-1], run.optimum.policy, run.algorithm.primal_step
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
    """Gradients: exact, zeroth-order, of truncated returns, sampled, and answered."""
    cmdp, thetas = run.algorithm.cmdp, run.thetas[:-1]
    perturbation, horizon = run.algorithm.perturbation, run.algorithm.horizon
    directions = run.normals.reshape(thetas.shape)
    if perturbation.tangent:
        directions = exact.tangent(directions)
    directions = directions / np.sqrt((directions**2).sum((1, 2), keepdims=True))
    perturbed = exact.projected(thetas + perturbation.radius * directions)
    scale = perturbation.dimension / perturbation.radius

    gradients, slopes, short = [], [], []
    moved, base = cmdp.evaluate(perturbed), cmdp.evaluate(thetas)
    for k, signal in enumerate((cmdp.reward, cmdp.utility)):
        gradients.append(occupancy[..., None] * cmdp.advantages(thetas, signal))
        slopes.append(scale * (moved[k] - base[k])[:, None, None] * directions)
        ends = [
            exact.finite_horizon_value(cmdp, policies, signal, horizon)
            for policies in (perturbed, thetas)
        ]
        short.append(scale * (ends[0] - ends[1])[:, None, None] * directions)
    pairs = gradients, slopes, short, run.sampled, run.answered
    return [run.lagrangian(pair) for pair in pairs]


_PRIMAL = {("npgpd_hf", "softmax"): _natural_primal, ("zpgpd_hf", "direct"): _zeroth_order_primal}


def _dual(run):
    """Contribution of the dual step to the gap, and the certificate of the violation."""
    algorithm, cmdp = run.algorithm, run.algorithm.cmdp
    step, iterations = algorithm.dual_step, algorithm.iterations
    policies, multipliers = run.policies[:-1], run.multipliers[:-1]
    exactly = cmdp.evaluate(policies)[1] - cmdp.threshold
    short = exact.finite_horizon_value(cmdp, policies, cmdp.utility, algorithm.horizon)
    excesses = exactly, short - cmdp.threshold, run.sampled_excess, run.answered_excess
    squares = [
        step / 2 * (excess**2).mean() - (multipliers * (excess - excesses[0])).mean()
        for excess in excesses
    ]
    gap = _differences(_ERRORS, squares)
    last = float(run.multipliers[-1])
    gap["remaining"] = -(last**2) / (2 * step * iterations)

    violation = _differences(_ERRORS, [(excess - excesses[0]).mean() for excess in excesses])
    violation["optimisation"] += run.owed() / (step * iterations)
    return gap, violation
