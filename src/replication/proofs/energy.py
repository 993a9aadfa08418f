"""Steps B0 to B3: gap and violation of NPGPD-HF with a constant step of the policy."""

import math

import numpy as np
from scipy import special

from replication.proofs.constant_step import draw_process, look
from replication.proofs.small_cmdps import random_numbers
from replication.theory.records import record
from replication.theory.setting import Setting

_LOST = 1e-12  # a projection that loses less loses nothing
_WALKS, _LENGTH = 100, 8000


def check(ledger, cases):
    """Check these steps."""
    ledger.declare(
        "pathwise",
        {
            "B0": "identity of the energy H_t (relative error over 1e-8)",
            "B2": "K_2 sqrt T <= H_t where a projection loses something",
            "B2a": "sum phi'(H) dH <= phi(H_T) - phi(H_0) + sum (dH)^2/(2 K_1 sqrt T)",
            "B3": "KL(pi*|pi_t) <= |y_t| + 3 where suboptimal actions have less than 1/2",
        },
    )
    ledger.declare(
        "exact",
        {
            "A4a": "sum_t Delta min{1, exp(-kappa (t Delta - X))} <= X + 2 Delta + 1/kappa",
            "B1": "log Z <= z mu + log(1 + e^z mu), mu the mass off the largest action",
            "B3a": "rho mu/2 <= E[1 - exp(-rho step)] for steps of drift mu",
        },
    )
    ledger.declare(
        "mean over runs", {"B3b": "steps of a walk of drift mu in [j, j+1) <= 2 e^rho/(rho mu)"}
    )
    controls = {
        "B0 without J": "the same without the noise's work",
        "B1 without log": "log Z <= z mu",
        "B2a without squares": "the same without the squares of dH",
        "B3 without y": "the same without |y_t|",
        "B3a with 4 rho": "the same for four times rho",
        "B3b without drift": "the same for a walk without drift",
    }
    ledger.declare("pathwise", controls, "control")
    for case in range(max(8, cases // 4)):
        _check_runs(ledger, random_numbers("energy", case), case)
    _check_steps(ledger, random_numbers("sums", 0), 10 * cases)
    for drift in (0.3, 0.5, 0.8):
        _check_walks(ledger, random_numbers("walks", int(10 * drift)), drift)


def _check_runs(ledger, random, case):
    cmdp, best, ties = draw_process(random, free=True)
    if best.multiplier < 1e-8:
        return
    setting = Setting(
        evaluators=None,
        iterations=400,
        horizon=60,
        rounds=(1, 30)[case % 2],
        primal_step=2 * math.log(cmdp.actions),
        dual_step=0.05,
        multiplier_bound=1.5 * best.multiplier + 0.2,
    )
    visits = cmdp.state_occupancy(best.policy) * (1 - cmdp.discount)
    for seed in range(3):
        found = record(setting.run("npgpd_hf", cmdp, best), best, seed, purpose="energy")
        _check_energy(ledger, look(found, ties), visits)


def _check_energy(ledger, p, visits):
    run, eta_1, eta_2 = p.run, p.run.algorithm.primal_step, p.run.algorithm.dual_step
    cap, star, policies = run.algorithm.multiplier_bound, p.best.multiplier, run.policies
    target = p.best.policy
    distance = (-special.entr(target).sum(-1) - (target * p.taken).sum(-1)) @ visits
    energy = p.x**2 / (2 * eta_2) + distance / eta_1
    moved = run.multipliers[:-1] - eta_2 * run.answered_excess
    lost = ((moved - star) ** 2 - (np.clip(moved, 0, cap) - star) ** 2) / (2 * eta_2)
    work = np.diff(p.logarithms, axis=0) @ visits * p.kappa / eta_1  # J_t
    errors = ((policies[:-1] - target) * p.errors).sum(-1) @ visits / (1 - p.cmdp.discount)
    change = work - p.gap[:-1] - lost + eta_2 * run.answered_excess**2 / 2
    change = change - p.x[:-1] * p.noise + errors
    turn, small = np.diff(energy), 1e-8 * (1 + energy.max())
    ledger.add("B0", np.abs(turn - change), small)
    ledger.add("B0 without J", np.abs(turn - change + work), small)
    room = min(star, cap - star)
    near = eta_2 * np.abs(run.answered_excess).max() <= room / 2
    if near and (lost > _LOST).any():
        ledger.add("B2", room**2 / (8 * eta_2), energy[:-1][lost > _LOST])
    bend = max(float(np.median(energy)), 1e-3)  # stands for K_1 sqrt(T)
    slope = np.clip(2 - energy / bend, 0, 1)
    bent = 1.5 * bend - np.maximum(2 * bend - energy, 0) ** 2 / (2 * bend)
    area = np.where(energy < bend, energy, bent)  # phi
    left = (slope[:-1] * turn).sum() - area[-1] + area[0]
    ledger.add("B2a", left, (turn**2).sum() / (2 * bend))
    ledger.add("B2a without squares", left, 0.0)
    tied = np.flatnonzero(((p.ties.shortfall == 0).sum(-1) == 2) & (target.max(-1) < 1))
    if len(tied) == 1 and ((p.ties.shortfall == 0).sum(-1) <= 2).all():
        first, second = np.flatnonzero(p.ties.shortfall[tied[0]] == 0)
        apart = np.abs(run.thetas[:, tied[0], first] - run.thetas[:, tied[0], second])
        good = np.where(p.ties.shortfall == 0, policies, 0).sum(-1).min(-1) > 0.5
        if good.any():
            ledger.add("B3", distance[good], apart[good] + 3)
            ledger.add("B3 without y", distance[good], 3)


def _check_steps(ledger, random, cases):
    for _ in range(cases):
        delta, kappa, x = random.uniform(0.001, 1), random.uniform(0.1, 30), random.uniform(0, 20)
        t = np.arange(int((x + 40 / kappa) / delta) + 2)
        left = delta * np.exp(np.minimum(0, -kappa * (t * delta - x))).sum()
        ledger.add("A4a", left, x + 2 * delta + 1 / kappa)
        chances, steps = random.dirichlet(np.full(3, 0.5)), random.uniform(-1, 1, 3)
        z = random.uniform(0.1, 20)  # the largest oscillation of kappa times the estimates
        rest, turn = 1 - chances.max(), z / 2 * (steps - chances @ steps)
        logarithm = math.log(chances @ np.exp(turn))
        ledger.add("B1", logarithm, z * rest + math.log1p(math.exp(z) * rest) + 1e-9)
        ledger.add("B1 without log", logarithm, z * rest + 1e-9)
        drift = chances @ steps
        rho = drift / (math.e * np.abs(steps).max() ** 2)
        if drift > 0:
            for step, at in (("B3a", rho), ("B3a with 4 rho", 4 * rho)):
                ledger.add(step, at * drift / 2, chances @ -np.expm1(-at * steps))


def _check_walks(ledger, random, drift):
    """Walks of steps 1 and -1; those with a drift are far away long before they end."""
    rho = drift / math.e
    for step, mean in (("B3b", drift), ("B3b without drift", 0.0)):
        up = random.random((_LENGTH, _WALKS)) < (1 + mean) / 2
        at = np.cumsum(np.where(up, 1, -1), axis=0)
        spent = np.array([(at == j).sum(0).mean() for j in range(-3, 7)])
        ledger.add(step, spent, 2 * math.exp(rho) / (rho * drift))
