"""Steps L1 to L7: two arms, all of whose mixtures are best at lambda*, and Gaussian noise."""

import math

import numpy as np
from scipy import special

from replication.proofs.small_cmdps import random_numbers

_LENGTH, _RUNS, _CAP, _DEVIATION = 20_000, 40, 1.0, 0.7


def check(ledger, _):
    """Check these steps; none of them is about random CMDPs."""
    ledger.declare(
        "pathwise",
        {
            "L1": "Phi(y_t+1) - Phi(y_t) = (p - 1/2)(lambda - lambda* + e) + J (error over 1e-9)",
            "L2": "lambda stays below its cap",
            "L3": "sum J + sum (p - 1/2) e <= T gap + Phi(y_T) + C sqrt T",
            "L5": "N_-^2 <= n (8.7 sum lambda/eta2 + N_-)",
            "L6": "Phi(0) - Phi(-1) - Phi'(-1) <= J at a step from below -1 to above 0",
            "L6a": "n - 1 <= N_0 + number of such steps",
            "L7": "0.231 N_+ - 0.5 N_- - 0.231 N_0 <= sum (p - 1/2), over T",
        },
    )
    ledger.declare(
        "mean over runs",
        {
            "L4": "E sum lambda <= 2 lambda* T",
            "L6c": "min{j_0, j_1} max{E N_0, E n - 1} <= E sum J",
        },
    )
    ledger.declare("exact", {"L6b": "j_0 <= E J_t where |y_t| <= 1"})
    controls = {
        "L1 without J": "the same without J",
        "L5 without lambda": "the same without the sum of multipliers",
        "L6 from anywhere": "the same for all steps to above 0",
        "L6a without N_0": "the same without the visits between",
        "L6b at |y| <= 6": "the same for these y_t",
    }
    ledger.declare("pathwise", controls, "control")
    star, kappa, eta_2 = _LENGTH**-0.25, 2 * math.log(2), 1 / math.sqrt(_LENGTH)
    y, multiplier, half, noise, after = _walk(star, kappa, eta_2)
    work = (_potential(after) - _potential(y)) / kappa - half * (multiplier - star + noise)
    bregman = (_potential(after) - _potential(y) - half * (after - y)) / kappa
    small = 1e-9 * (1 + np.abs(after).max())
    ledger.add("L1", np.abs(work - bregman), small)
    ledger.add("L1 without J", np.abs(work), small)
    ledger.add("L2", multiplier.max(), _CAP)
    gap, rest = star * half.sum(0), (_CAP**2 / 2 + 1 / 8) * math.sqrt(_LENGTH)
    end = _potential(after[-1]) / kappa
    ledger.add("L3", (bregman + half * noise).sum(0), gap + end + rest)
    sums = multiplier.sum(0)
    ledger.add("L4", sums.mean(), 2 * star * _LENGTH)
    low, middle, high = ((x).sum(0) for x in (y <= -1, np.abs(y) < 1, y >= 1))
    rounds = ((y < 0) & (np.vstack([np.zeros(_RUNS), y[:-1]]) >= 0)).sum(0)
    ledger.add("L5", low**2, rounds * (8.7 * sums / eta_2 + low))
    ledger.add("L5 without lambda", low**2, rounds * low)
    crossed = (y <= -1) & (after >= 0)
    least = (_potential(0) - _potential(-1) + math.tanh(0.5) / 2) / kappa
    ledger.add("L6", least, bregman[crossed])
    ledger.add("L6 from anywhere", least, bregman[after >= 0])
    ledger.add("L6a", rounds - 1, middle + crossed.sum(0))
    ledger.add("L6a without N_0", rounds - 1, crossed.sum(0))
    jump = min(_least_work(kappa, _DEVIATION), least)
    ledger.add("L6c", jump * max(middle.mean(), rounds.mean() - 1), bregman.sum(0).mean())
    for step, largest in (("L6b", 1.0), ("L6b at |y| <= 6", 6.0)):
        for deviation in (0.1, _DEVIATION, 2.0):
            work = _mean_work(np.linspace(-largest, largest, 41), kappa, deviation)
            ledger.add(step, _least_work(kappa, deviation), work)
    share = 0.231 * high - 0.5 * low - 0.231 * middle
    ledger.add("L7", share + _LENGTH, half.sum(0) + _LENGTH)


def _walk(star, kappa, eta_2):
    """Logits, multipliers, p - 1/2, noise and the next logits, each (T, runs)."""
    random = random_numbers("two arms", 0)
    y, multiplier, path = np.zeros(_RUNS), np.zeros(_RUNS), []
    for noise in _DEVIATION * random.standard_normal((_LENGTH, _RUNS)):
        half = np.tanh(y / 2) / 2
        after = y + kappa * (multiplier - star + noise)
        path.append((y, multiplier, half, noise, after))
        y, multiplier = after, np.clip(multiplier - eta_2 * half, 0, _CAP)
    return np.array(path).swapaxes(0, 1)


def _least_work(kappa, deviation):
    """j_0 of step L6."""
    z = kappa * deviation
    return (z * math.sqrt(2 / math.pi) - 1 + special.erfcx(z / math.sqrt(2))) / (4 * math.e * kappa)


def _mean_work(y, kappa, deviation):
    """E J_t at each of these y, by quadrature, for differences of multipliers of any sign."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    turn = kappa * (np.linspace(-_CAP, _CAP, 21)[:, None] + deviation * nodes)
    y = y[:, None, None]
    work = _potential(y + turn) - _potential(y) - np.tanh(y / 2) / 2 * turn
    return work @ weights / weights.sum() / kappa


def _potential(y):
    """Phi times kappa."""
    return np.logaddexp(y / 2, -np.asarray(y) / 2) - math.log(2)
