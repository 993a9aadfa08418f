"""Steps E1 to E5: the step divided by 1 + lambda, on trees of all that its noise can do."""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.core import optima
from replication.proofs.small_cmdps import random_numbers, random_policy, small_cmdp
from replication.proofs.zeroth_order import nearby_best, sharp_smoothness
from replication.theory import exact
from replication.theory.theorem_2 import project_inside

_DEPTH = 6  # an iteration has two outcomes, equally probable
_TINY = 1e-12
_SIGNS = np.array([1.0, -1.0])  # of the noise


def check(ledger, cases):
    """Check these steps."""
    ledger.declare(
        "enumerated",
        {
            "E1": "E phi(theta+) - phi + L^2 eta1 r^2 <= eta1 eps^2 + L eta1^2 G^2",
            "E2": "l(theta) - l(q) <= kappa r, for pi* and the safest policy",
            "E2a": "l(y) - l(q) <= 2 L r times the speed of the mixtures at the minimizer y",
            "E3": "change of w (phi + V) with lambda <= 2 V eta2 |h|",
            "E4": "mean of w r^2 <= (1 + mean lambda) Delta^2/kappa^2",
            "E4a": "Lagrangian's average regret <= kappa sqrt((1 + mean lambda) (mean of w r^2))",
            "E5": "mean of lambda (V_g - b) + E(lambda^T)^2/(2 eta2 T) <= bias + eta2 sigma_h^2/2",
            "E5a": "xi mean lambda <= regret + V + bias + eta2 sigma_h^2/2, bias eps_c mean lambda",
            "E5b": "gap - regret <= bias + eta2 sigma_h^2/2",
            "E5c": "E(lambda^T)^2 <= 2 eta2 T C",
            "E5d": "E[b - mean V_g]_+ <= eps_c + E lambda^T/(eta2 T) + sigma_h/(2 sqrt T)",
        },
    )
    controls = {
        "E1 without G": "the same without the noise",
        "E2a at theta": "the same without the way to the minimizer",
        "E3 without w": "the change of w phi is that of phi: V eta2 |h|/w",
        "E4 without V": "the same without the start",
        "E5 without squares": "the same without the squares of h",
    }
    ledger.declare("enumerated", controls, "control")
    for case in range(max(8, cases)):
        _check_tree(ledger, random_numbers("normalized", case), quiet=case % 4 == 0)


class _Problem:
    """A CMDP with step sizes, noise and biases."""

    def __init__(self, random, quiet):
        self.cmdp, self.best = cmdp, best = small_cmdp(random, 2, 2)
        safest, self.slack = optima.find_safest(cmdp)
        self.smooth = max(sharp_smoothness(cmdp, x) for x in (cmdp.reward, cmdp.utility))  # L
        self.largest = largest = cmdp.value_bound  # V
        self.eta_1 = random.choice([1.0, 0.3, 0.05]) / self.smooth
        self.eta_2 = random.choice([1e-6, 0.3, 3]) / largest
        self.noise, self.bias = exact.tangent(random.standard_normal((2, 2, 2)))
        self.noise *= random.choice([0.3, 3.0]) * largest
        self.bias *= random.choice([0.0, 0.1]) * largest
        if quiet:  # nothing but the start moves anything
            self.eta_1, self.eta_2 = 0.05 / self.smooth, 1e-6 / largest
            self.noise, self.bias = 0 * self.noise, 0 * self.bias
        self.error = random.choice([0.0, 0.3])  # of h, over V
        self.wrong = random.choice([0.0, -0.1, 0.1])  # the same, without noise
        self.compared = best.policy, safest
        far = max(((cmdp.state_occupancy(q) / cmdp.initial) ** 2).sum() for q in self.compared)
        steep = math.sqrt(2) * largest / (2 * (1 - cmdp.discount))  # B, step 4.2
        self.kappa = 2 * self.smooth * math.sqrt(2 * far) + steep


class _Level(NamedTuple):
    """Everything at one depth of a tree, whose K paths are equally probable."""

    theta: np.ndarray  # (K, S, A)
    multiplier: np.ndarray  # (K,)
    near: np.ndarray  # the minimizers y at theta, (K, S, A)
    least: np.ndarray  # -phi, (K,)
    owed: np.ndarray  # sums of b - V_g along the paths, (K,)


def _check_tree(ledger, random, quiet):
    p = _Problem(random, quiet)
    if p.smooth < 1e-3 * p.largest:  # values are nearly linear
        return
    level, means, squares = _first_level(random, p), [], []
    for _ in range(_DEPTH):
        signal, w = _normalized(p, level.multiplier), 1 + level.multiplier  # -l_t
        r = np.sqrt(((level.near - level.theta) ** 2).sum((-1, -2)))
        regrets = _check_regrets(ledger, p, level, signal, r)
        after, fall, square = _check_primal_step(ledger, p, level, signal, r)
        v_r, v_g = (exact.value(p.cmdp, level.theta, x) for x in (p.cmdp.reward, p.cmdp.utility))
        excess = v_g - p.cmdp.threshold
        answered = excess + p.largest * (p.wrong + _SIGNS[:, None] * p.error)  # h, (2, K)
        parts = w * r**2, level.multiplier, p.best.reward_value - v_r, level.multiplier * excess
        means.append([*((w * x).mean() for x in regrets), *(x.mean() for x in parts)])
        squares.append([square.max(), (answered**2).mean(0).max()])
        level = _check_dual_step(ledger, p, level, after, fall, answered)
        level = level._replace(owed=np.tile(level.owed + p.cmdp.threshold - v_g, 2))
    _check_averages(ledger, p, level, np.mean(means, axis=0), *np.max(squares, axis=0))


def _normalized(p, multiplier):
    at = multiplier[..., None, None]
    return (p.cmdp.reward + at * p.cmdp.utility) / (1 + at)


def _first_level(random, p):
    theta, nothing = random_policy(random, p.cmdp)[None], np.zeros(1)
    near, least = nearby_best(p.cmdp, theta, _normalized(p, nothing), p.smooth, 0.0)
    return _Level(theta, nothing, near, least, nothing)


def _check_regrets(ledger, p, level, signal, r):
    """E2 and E2a; give back the regrets beside both policies, each (K,)."""
    cmdp, regrets = p.cmdp, []
    here, there = (exact.value(cmdp, at, signal) for at in (level.theta, level.near))
    for policy in p.compared:
        wanted = exact.value(cmdp, policy, signal)
        ledger.add("E2", wanted - here, p.kappa * r + _TINY)
        leave = cmdp.state_occupancy(policy) / cmdp.state_occupancy(level.near)
        speed = np.sqrt(((leave[..., None] * (policy - level.near)) ** 2).sum((-1, -2)))
        right = 2 * p.smooth * r * speed + 1e-9 * p.largest
        ledger.add("E2a", wanted - there, right)
        ledger.add("E2a at theta", wanted - here, right)
        regrets.append(wanted - here)
    return regrets


def _check_primal_step(ledger, p, level, signal, r):
    """E1; give back both parameters that follow, -phi at these, and the mean of G^2."""
    estimates = exact.tangent(exact.gradient(p.cmdp, level.theta, signal)) + p.bias
    estimates = estimates + _SIGNS[:, None, None, None] * p.noise  # (2, K, S, A)
    after = project_inside(level.theta + p.eta_1 * estimates, 0.0)
    square = (estimates**2).sum((-1, -2)).mean(0)
    fall = nearby_best(p.cmdp, after, signal, p.smooth, 0.0)[1]
    left = level.least - fall.mean(0) + p.smooth**2 * p.eta_1 * r**2
    right = p.eta_1 * (p.bias**2).sum() + _TINY * p.largest
    ledger.add("E1", left, right + p.smooth * p.eta_1**2 * square)
    ledger.add("E1 without G", left, right)
    return after, fall, square


def _check_dual_step(ledger, p, level, after, fall, answered):
    """E3; give back the next level, with twice as many paths."""
    moved, w = np.maximum(level.multiplier - p.eta_2 * answered, 0), 1 + level.multiplier
    near, least = nearby_best(p.cmdp, after, _normalized(p, moved), p.smooth, 0.0)
    left = (1 + moved) * (p.largest - least) - w * (p.largest - fall)
    turn = p.largest * p.eta_2 * np.abs(answered) + _TINY * p.largest
    ledger.add("E3", left, 2 * turn)
    ledger.add("E3 without w", left, turn / w)
    theta, near = after.reshape(-1, 2, 2), near.reshape(-1, 2, 2)
    return _Level(theta, moved.ravel(), near, least.ravel(), level.owed)


def _check_averages(ledger, p, last, means, square, answer):
    """E4 and E5: means over paths and time, and the largest G^2 and sigma_h^2."""
    to_best, to_safest, distance, average, gap, product = means
    steps = (p.bias**2).sum() + p.smooth * p.eta_1 * square
    steps += 2 * p.largest * math.sqrt(answer) * p.eta_2 / p.eta_1
    total = (1 + average) * (steps + p.largest / (p.eta_1 * _DEPTH)) / p.smooth**2
    ledger.add("E4", distance, total)
    ledger.add("E4 without V", distance, (1 + average) * steps / p.smooth**2 + _TINY)
    right = p.kappa * math.sqrt((1 + average) * distance)
    ledger.add("E4a", max(to_best, to_safest), right)
    misread = p.largest * abs(p.wrong)  # eps_c
    rest, dual = misread * average + p.eta_2 * answer / 2, 2 * p.eta_2 * _DEPTH
    final = (last.multiplier**2).mean()
    ledger.add("E5", product + final / dual, rest + _TINY)
    ledger.add("E5 without squares", product + final / dual, misread * average + _TINY)
    ledger.add("E5a", p.slack * average, to_safest + p.largest + rest)
    ledger.add("E5b", gap - to_best, rest + _TINY)
    ledger.add("E5c", final, dual * (p.largest + to_best + rest))
    violation = np.maximum(last.owed, 0).mean() / _DEPTH
    right = misread + last.multiplier.mean() / (p.eta_2 * _DEPTH)
    ledger.add("E5d", violation, right + math.sqrt(answer / _DEPTH) / 2)
