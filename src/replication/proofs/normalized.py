"""Steps E1 to E5: the step divided by 1 + lambda, on trees of all that its noise can do."""

import math

import numpy as np

from pgpd_hf.core import optima
from replication.proofs.small_cmdps import random_numbers, random_policy, small_cmdp
from replication.proofs.zeroth_order import nearby_best, sharp_smoothness
from replication.theory import exact
from replication.theory.theorem_2 import project_inside

_DEPTH = 6  # an iteration has two outcomes, equally probable
_TINY = 1e-12


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


def _check_tree(ledger, random, quiet):
    cmdp, best = small_cmdp(random, 2, 2)
    safest, slack = optima.find_safest(cmdp)
    smooth = max(sharp_smoothness(cmdp, x) for x in (cmdp.reward, cmdp.utility))  # L
    largest, b = cmdp.value_bound, cmdp.threshold  # V
    if smooth < 1e-3 * largest:
        return
    steep = math.sqrt(2) * largest / (2 * (1 - cmdp.discount))  # B, step 4.2
    eta_1, eta_2 = random.choice([1.0, 0.3, 0.05]) / smooth, random.choice([1e-6, 0.3, 3]) / largest
    noise, bias = exact.tangent(random.standard_normal((2, 2, 2)))
    noise *= random.choice([0.3, 3.0]) * largest
    bias *= random.choice([0.0, 0.1]) * largest
    if quiet:  # nothing but the start moves anything
        eta_1, eta_2, noise, bias = 0.05 / smooth, 1e-6 / largest, 0 * noise, 0 * bias
    error, wrong = random.choice([0.0, 0.3]), random.choice([0.0, -0.1, 0.1])  # of h, over V
    signs = np.array([1.0, -1.0])
    compared = {"best": best.policy, "safest": safest}
    far = max(((cmdp.state_occupancy(q) / cmdp.initial) ** 2).sum() for q in compared.values())
    reach = math.sqrt(2 * far)  # sqrt(D)

    def normalized(multiplier):
        at = multiplier[..., None, None]
        return (cmdp.reward + at * cmdp.utility) / (1 + at)

    theta, multiplier, owed = random_policy(random, cmdp)[None], np.zeros(1), np.zeros(1)
    near, least = nearby_best(cmdp, theta, normalized(multiplier), smooth, 0.0)
    means, squares = [], []
    for _ in range(_DEPTH):
        signal, w = normalized(multiplier), 1 + multiplier  # -l_t; `least` is -phi
        r = np.sqrt(((near - theta) ** 2).sum((-1, -2)))
        here, there = exact.value(cmdp, theta, signal), exact.value(cmdp, near, signal)
        regrets = []
        for policy in compared.values():
            wanted = exact.value(cmdp, policy, signal)
            ledger.add("E2", wanted - here, (2 * smooth * reach + steep) * r + _TINY)
            leave = cmdp.state_occupancy(policy) / cmdp.state_occupancy(near)
            speed = np.sqrt(((leave[..., None] * (policy - near)) ** 2).sum((-1, -2)))
            right = 2 * smooth * r * speed + 1e-9 * largest
            ledger.add("E2a", wanted - there, right)
            ledger.add("E2a at theta", wanted - here, right)
            regrets.append((w * (wanted - here)).mean())
        estimates = exact.tangent(exact.gradient(cmdp, theta, signal)) + bias
        estimates = estimates + signs[:, None, None, None] * noise  # (2, K, S, A)
        after = project_inside(theta + eta_1 * estimates, 0.0)
        square = (estimates**2).sum((-1, -2)).mean(0)  # G^2
        fall = nearby_best(cmdp, after, signal, smooth, 0.0)[1]
        left = least - fall.mean(0) + smooth**2 * eta_1 * r**2
        right = eta_1 * (bias**2).sum() + _TINY * largest
        ledger.add("E1", left, right + smooth * eta_1**2 * square)
        ledger.add("E1 without G", left, right)
        v_r, v_g = (exact.value(cmdp, theta, x) for x in (cmdp.reward, cmdp.utility))
        answered = v_g - b + largest * (wrong + signs[:, None] * error)  # h, (2, K)
        moved = np.maximum(multiplier - eta_2 * answered, 0)
        near, least = nearby_best(cmdp, after, normalized(moved), smooth, 0.0)
        left = (1 + moved) * (largest - least) - w * (largest - fall)
        turn = largest * eta_2 * np.abs(answered) + _TINY * largest
        ledger.add("E3", left, 2 * turn)
        ledger.add("E3 without w", left, turn / w)
        parts = w * r**2, multiplier, best.reward_value - v_r, multiplier * (v_g - b)
        means.append([*regrets, *(x.mean() for x in parts)])
        squares.append([square.max(), (answered**2).mean(0).max()])
        owed = np.tile(owed + b - v_g, 2)
        theta, near, least = after.reshape(-1, 2, 2), near.reshape(-1, 2, 2), least.ravel()
        multiplier = moved.ravel()
    to_best, to_safest, distance, average, gap, product = np.mean(means, axis=0)
    square, answer = np.max(squares, axis=0)  # G^2, sigma_h^2
    steps = (bias**2).sum() + smooth * eta_1 * square
    steps += 2 * largest * math.sqrt(answer) * eta_2 / eta_1
    total = (1 + average) * (steps + largest / (eta_1 * _DEPTH)) / smooth**2
    ledger.add("E4", distance, total)
    ledger.add("E4 without V", distance, (1 + average) * steps / smooth**2 + _TINY)
    kappa = 2 * smooth * reach + steep
    ledger.add("E4a", max(to_best, to_safest), kappa * math.sqrt((1 + average) * distance))
    misread = largest * abs(wrong)  # eps_c
    rest, dual = misread * average + eta_2 * answer / 2, 2 * eta_2 * _DEPTH
    final = (multiplier**2).mean()
    ledger.add("E5", product + final / dual, rest + _TINY)
    ledger.add("E5 without squares", product + final / dual, misread * average + _TINY)
    ledger.add("E5a", slack * average, to_safest + largest + rest)
    ledger.add("E5b", gap - to_best, rest + _TINY)
    ledger.add("E5c", final, dual * (largest + to_best + rest))
    violation = np.maximum(owed, 0).mean() / _DEPTH
    right = misread + multiplier.mean() / (eta_2 * _DEPTH)
    ledger.add("E5d", violation, right + math.sqrt(answer / _DEPTH) / 2)
