"""Steps L1 to L7: two arms, all of whose mixtures are best at lambda*, and Gaussian noise."""

import math

import numpy as np

from replication.proofs.small_cmdps import random_numbers

_LENGTH, _RUNS, _CAP = 20_000, 40, 1.0


def check(ledger):
    """Check these steps."""
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
    ledger.declare("mean over runs", {"L4": "E sum lambda <= 2 lambda* T"})
    controls = {
        "L1 without J": "the same without J",
        "L5 without lambda": "the same without the sum of multipliers",
        "L6 from anywhere": "the same for all steps to above 0",
        "L6a without N_0": "the same without the visits between",
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
    share = 0.231 * high - 0.5 * low - 0.231 * middle
    ledger.add("L7", share + _LENGTH, half.sum(0) + _LENGTH)


def _walk(star, kappa, eta_2):
    """Logits, multipliers, p - 1/2, noise and the next logits, each (T, runs)."""
    random = random_numbers("two arms", 0)
    y, multiplier, path = np.zeros(_RUNS), np.zeros(_RUNS), []
    for noise in 0.7 * random.standard_normal((_LENGTH, _RUNS)):
        half = np.tanh(y / 2) / 2
        after = y + kappa * (multiplier - star + noise)
        path.append((y, multiplier, half, noise, after))
        y, multiplier = after, np.clip(multiplier - eta_2 * half, 0, _CAP)
    return np.array(path).swapaxes(0, 1)


def _potential(y):
    """Phi times kappa."""
    return np.logaddexp(y / 2, -np.asarray(y) / 2) - math.log(2)
