"""Steps A0 to A4 and C1 to C5: NPGPD-HF with a constant step of the policy."""

import math
from dataclasses import replace
from itertools import accumulate
from types import SimpleNamespace

import numpy as np
from scipy import special

from pgpd_hf.core import optima
from replication.proofs.small_cmdps import random_numbers, small_cmdp
from replication.theory import constant_step
from replication.theory.constants import OutsideAssumptions
from replication.theory.estimates import make_estimates
from replication.theory.records import record
from replication.theory.setting import Setting

_SEEDS = 6
_ITERATIONS = 400


def check(ledger, cases):
    """Check these steps."""
    ledger.declare(
        "pathwise",
        {
            "A0": "theta_t/kappa = t l + D_t g + M_t but for numbers of states (error over 1e-9)",
            "A1": "t gap* - D_t (V_g - V_g(w)) <= R_t + log|A|/eta1, for w+ and w-",
            "A2": "m <= |V_g - b| where |D_t| > Y_t",
            "A3": "|D_t| <= Y_t + 2a + a^2/(eta2 m) + eta2 sum W, on its side",
            "A4": "pi_t(a|s) <= exp(-kappa (t Delta - D_t (g_a - g_a*) - osc M_t))",
            "C1": "|Q^_t - t Q*| <= gamma (max I + max nu)/(1 - gamma)",
            "C2": "t (V* - V^t) <= eps_t at the mean multiplier",
            "C3": "2m |D_t| - D_t (V_g - b) <= eps_t",
            "C4": "pi_t(a|s) <= exp(-kappa (t Delta - B|D_t| - E_t))",
            "C4a": "B|D_t| + E_t <= a_0 max I_t + Z_t",
            "C5": "I_t <= B (1 + eta2 sum|h_c|) + eta1/(8 (1-gamma)^2) sum max osc(e)^2",
        },
    )
    ledger.declare(
        "mean over runs",
        {"A3a": "E sum W_k <= T (m/4 + sigma_h^2/m)", "A": "Theorem A, average priced gap"},
    )
    ledger.declare(
        "pathwise",
        {
            "A1 without R": "the same without the noise",
            "A4 without M": "the same without the noise",
            "C4 without E": "the same without E_t",
        },
        "control",
    )
    for case in range(2 * max(2, cases // 4)):
        _check_runs(ledger, random_numbers("constant step", case), case)


def draw_process(random, free):
    """A process with one multiplier, and transitions that are `free` of actions or not."""
    cmdp, best = small_cmdp(random, int(random.integers(2, 4)), discounts=(0.5, 0.7), scale="unit")
    if free:
        same = np.repeat(cmdp.transition[:, :1], cmdp.actions, axis=1)
        cmdp = replace(cmdp, transition=same, threshold=0.0)
        boldest, safest = optima.utility_range(cmdp)
        if safest - boldest < 0.05:  # no threshold binds
            return draw_process(random, free)
        threshold = boldest + (safest - boldest) * random.uniform(0.2, 0.8)
        cmdp = replace(cmdp, threshold=threshold)
        best = optima.solve(cmdp)
    try:
        return cmdp, best, constant_step.find_ties(cmdp, best)
    except OutsideAssumptions:
        return draw_process(random, free)


def _check_runs(ledger, random, case):
    free = case % 2 == 0
    cmdp, best, ties = draw_process(random, free)
    setting = Setting(
        evaluators=None,
        iterations=_ITERATIONS,
        horizon=60,
        rounds=int(random.choice([1, 30])),
        primal_step=2 * math.log(cmdp.actions),
        dual_step=float(random.choice([0.3, 1.0, 3.0])) / math.sqrt(_ITERATIONS),
        multiplier_bound=best.multiplier * float(random.choice([1.2, 3.0])) + 0.2,
    )
    algorithm, purpose = setting.run("npgpd_hf", cmdp, best), f"constant{case}"
    paths = [look(record(algorithm, best, seed, purpose), ties) for seed in range(_SEEDS)]
    for path in paths:
        (_check_free if free else _check_general)(ledger, path)
    if free:
        e = make_estimates(cmdp, setting)
        given = setting.primal_step, setting.dual_step, _ITERATIONS, setting.multiplier_bound
        priced = np.mean([path.gap[:-1].mean() for path in paths])
        ledger.add("A", priced, constant_step.priced_gap(cmdp, best, e, *given))
        right = _ITERATIONS * (ties.margin / 4 + e.excess_round_variance / ties.margin)
        ledger.add("A3a", np.mean([[w[-1] for w in path.owed] for path in paths], axis=0), right)


def _sum(rows):
    """Sums of what came before, one row more."""
    return np.concatenate([np.zeros((1, *rows.shape[1:])), np.cumsum(rows, axis=0)])


def look(run, ties):
    """All that the steps speak of, at each t from 0 to T."""
    algorithm, cmdp, best = run.algorithm, run.algorithm.cmdp, run.optimum
    kappa = algorithm.primal_step / (1 - cmdp.discount)
    policies, x = run.policies, run.multipliers - best.multiplier
    errors = run.errors()  # e_t
    v_r, v_g = cmdp.evaluate(policies)
    noise = run.answered_excess - (v_g[:-1] - cmdp.threshold)
    owed = [_sum(_wait(sign * noise, ties.margin)) for sign in (1, -1)]
    step, room = algorithm.dual_step, algorithm.multiplier_bound - best.multiplier
    pairs = zip((room, best.multiplier), owed, strict=True)
    slack = [2 * a + a**2 / (step * ties.margin) + step * w for a, w in pairs]
    return SimpleNamespace(
        run=run,
        cmdp=cmdp,
        best=best,
        ties=ties,
        kappa=kappa,
        taken=special.log_softmax(run.thetas, axis=-1),
        logarithm=math.log(cmdp.actions),
        t=np.arange(len(policies)),
        x=x,  # of the multiplier
        drift=_sum(x[:-1]),  # D_t
        errors=errors,
        noise=noise,
        martingale=_sum(errors),  # M_t
        weighted=_sum((policies[:-1] * errors).sum(-1)),
        logarithms=_sum(run.log_normalizers(kappa) / kappa),  # I_t
        v_g=v_g,
        excess=v_g - cmdp.threshold,
        gap=best.reward_value - v_r - best.multiplier * (v_g - cmdp.threshold),
        owed=owed,  # sums of W, for D and for -D
        slack=slack,
        binds=best.multiplier > 1e-8,
    )


def _wait(noise, margin):
    """W of step A3 at each t."""
    found = accumulate(noise, lambda w, n: max(w - margin / 2 - n, 0.0), initial=0.0)
    return np.array([*found])[:-1]


def _check_free(ledger, p):
    cmdp, ties, t, osc = p.cmdp, p.ties, p.t[:, None, None], np.ptp(p.martingale, axis=-1)
    best_signal = cmdp.reward + p.best.multiplier * cmdp.utility
    sums = t * best_signal + p.drift[:, None, None] * cmdp.utility + p.martingale
    off = np.ptp(p.run.thetas / p.kappa - sums, axis=-1).max()
    ledger.add("A0", off, 1e-9 * (1 + np.abs(sums).max()))
    visits = cmdp.state_occupancy(p.best.policy)
    start, noise = p.logarithm / p.run.algorithm.primal_step, osc @ visits
    for policy in (ties.safest, ties.boldest):
        left = p.t * p.gap - p.drift * (p.v_g - cmdp.evaluate(policy)[1])
        ledger.add("A1", left, noise + start)
        ledger.add("A1 without R", left, start)
    _check_force(ledger, p, np.maximum.accumulate(noise + start) / ties.margin)
    for s, a in np.argwhere(ties.shortfall > 0):
        star = np.argmin(ties.shortfall[s])
        turn = p.drift * (cmdp.utility[s, a] - cmdp.utility[s, star])
        exponent = p.t * ties.shortfall[s, a] - turn
        for step, all_of_it in (("A4", exponent - osc[:, s]), ("A4 without M", exponent)):
            _add_exponents(ledger, step, p.taken[:, s, a] + p.kappa * all_of_it)


def _add_exponents(ledger, step, exponents):
    """Compare a probability with its bound, given the logarithm of their ratio."""
    ledger.add(step, np.exp(np.minimum(exponents, 50)), 1 + 1e-6)


def _check_force(ledger, p, before):
    """A2 and A3 with Y_t: what brings the sum of multipliers back, and how far it can be."""
    for side, sign in enumerate((1, -1) if p.binds else (1,)):
        beyond = sign * p.drift > before
        if beyond.any():
            ledger.add("A2", p.ties.margin, sign * p.excess[beyond])
        ledger.add("A3", sign * p.drift, before + p.slack[side])


def _check_general(ledger, p):
    cmdp, ties, kappa, later = p.cmdp, p.ties, p.kappa, slice(1, None)
    eta_1, eta_2 = p.run.algorithm.primal_step, p.run.algorithm.dual_step
    stretch, largest = 1 / (1 - cmdp.discount), cmdp.value_bound
    summed = p.logarithms.max(-1)
    nu = (np.abs(p.martingale).max(-1) + np.abs(p.weighted)).max(-1) + p.logarithm / kappa
    values = [cmdp.action_values(p.run.policies[:-1], f) for f in (cmdp.reward, cmdp.utility)]
    sums, t = _sum(p.run.lagrangian(values))[later], p.t[later]
    mean = p.best.multiplier + p.drift[later] / t
    signal = cmdp.reward + mean[:, None, None] * cmdp.utility
    best = np.zeros_like(signal)  # Q* at each mean multiplier, by value iteration
    for _ in range(math.ceil(math.log(1e-12) / math.log(cmdp.discount))):
        after = np.einsum("saz,tz->tsa", cmdp.transition, best.max(-1))
        best = signal + cmdp.discount * after
    off = np.abs(sums - t[:, None, None] * best).max((-1, -2))
    ledger.add("C1", off, cmdp.discount * stretch * (summed + nu)[later] + 1e-7)
    reach = 2 * stretch * (summed + nu)  # E_t
    eps = stretch * (reach + p.logarithm / kappa)
    v_r, v_g = cmdp.evaluate(p.run.policies[later])
    ledger.add("C2", t * (best.max(-1) @ cmdp.initial - v_r - mean * v_g), eps[later] + 1e-7)
    pull = 2 * ties.margin * np.abs(p.drift) - p.drift * p.excess
    ledger.add("C3", np.where(p.binds or p.drift > 0, pull, 0), eps)
    _check_force(ledger, p, np.maximum.accumulate(eps) / ties.margin)
    worse = ties.shortfall > 0
    left = p.taken[later, worse] + kappa * t[:, None] * ties.shortfall[worse]
    for step, right in (("C4", reach), ("C4 without E", 0 * reach)):
        room = kappa * (largest * np.abs(p.drift) + right)[later, None]
        _add_exponents(ledger, step, left - room)
    rest = np.maximum.accumulate(2 * stretch * nu + p.logarithm / kappa) * stretch / ties.margin
    rest = largest * (rest + np.maximum(*p.slack)) + 2 * stretch * nu  # Z_t
    weight = constant_step.error_weight(cmdp, ties)
    ledger.add("C4a", largest * np.abs(p.drift) + reach, weight * summed + rest)
    start = largest * (1 + eta_2 * _sum(np.abs(p.run.answered_excess)))
    varied = eta_1 * stretch**2 / 8 * _sum(np.ptp(p.errors, axis=-1).max(-1) ** 2)
    ledger.add("C5", summed, start + varied)
