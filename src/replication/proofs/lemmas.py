"""Steps 1.1 to 1.2 and 2.2 to 2.7: values, biases and variances."""

from dataclasses import replace

import numpy as np

from pgpd_hf.core import optima
from pgpd_hf.core.evaluators import make_evaluators
from pgpd_hf.core.links import get_link
from replication.proofs.small_cmdps import random_numbers, random_policy, small_cmdp, trajectories
from replication.proofs.votes import answer_moments
from replication.theory import exact
from replication.theory.estimates import make_estimates, mixing
from replication.theory.setting import Setting

_ROUNDING = 1e-9


def check(ledger, cases):
    """Check these steps."""
    ledger.declare(
        "exact",
        {
            "1.1": "performance difference (relative error over 1e-9)",
            "1.2": "V_r + lambda*(V_g - b) <= V_r* for policies and mixtures",
            "1.2b": "lambda* <= (V_r* - V_r(safest))/xi",
            "2.2": "span of Q^h <= J (1 - (gamma tau)^(h+1))",
            "2.3": "osc of A^H - A <= (gamma tau)^(H+1) J",
            "2.3b": "0 <= V_g - V_g^H <= eps_H",
            "2.5": "Var R(tau(s,a)) <= gamma^2 varsigma^2",
            "2.5b": "Var R(tau(s_0)) <= varsigma^2",
        },
    )
    for case in range(5 * cases):
        _check_values(ledger, random_numbers("values", case))
    ledger.declare(
        "enumerated",
        {
            "2.4": "osc of E A_hat - A <= omega",
            "2.4b": "|E h_c - (V_g - b)| <= beta_c",
            "2.6": "E Var_pi(A_hat_L) <= (1+lambda)^2 W",
            "2.6b": "its noise <= (1+lambda)^2 v/N",
            "2.7": "E h_c^2 <= h_bar^2",
            "2.7b": "Var h_c <= v_0/N",
        },
    )
    ledger.declare("enumerated", {"2.6 without v/N": "E Var_pi <= (1+lambda)^2 J^2/4"}, "control")
    for case in range(cases):
        _check_estimates(ledger, random_numbers("estimates", case))
    _check_need_of_noise(ledger)


def _check_values(ledger, random):
    cmdp, best = small_cmdp(random)
    tau, span = mixing(cmdp)
    discount, largest = cmdp.discount, cmdp.value_bound
    policy, other = random_policy(random, cmdp), random_policy(random, cmdp)
    horizon = int(random.integers(1, 30))
    setting = Setting(evaluators=None, iterations=1, horizon=horizon)
    deviation = make_estimates(replace(cmdp, threshold=0.0), setting, known=True).deviation
    for signal in (cmdp.reward, cmdp.utility):
        visits = exact.visitation(cmdp, policy)
        left = exact.value(cmdp, policy, signal) - exact.value(cmdp, other, signal)
        right = (visits[:, None] * policy * cmdp.advantages(other, signal)).sum() / (1 - discount)
        ledger.add("1.1", abs(left - right), _ROUNDING * largest)
        values, action_values = exact.finite_horizon_values(cmdp, policy, signal, horizon)
        forgotten = (discount * tau) ** (horizon + 1)
        ledger.add("2.2", np.ptp(action_values), span * (1 - forgotten))
        ledger.add("2.2", np.ptp(cmdp.action_values(policy, signal)), span)
        change = action_values - values[:, None] - cmdp.advantages(policy, signal)
        ledger.add("2.3", np.ptp(change, axis=-1).max(), forgotten * span + 1e-13)
        tail = exact.value(cmdp, policy, signal) - values @ cmdp.initial
        truncation = largest * discount ** (horizon + 1)
        ledger.add("2.3b", [tail, max(-tail, 0.0) / _ROUNDING], truncation)
        mean, square = exact.return_moments(cmdp, policy, signal, horizon)
        variance = cmdp.initial @ square - (cmdp.initial @ mean) ** 2
        ledger.add("2.5b", variance, deviation**2)
        mean, square = exact.return_moments(cmdp, policy, signal, horizon - 1)
        variance = cmdp.transition @ square - (cmdp.transition @ mean) ** 2
        ledger.add("2.5", discount**2 * variance.max(), (discount * deviation) ** 2)
    pairs = np.array([cmdp.evaluate(p) for p in (policy, other)])
    for v_r, v_g in (*pairs, random.dirichlet(np.ones(2)) @ pairs):
        left = v_r + best.multiplier * (v_g - cmdp.threshold)
        ledger.add("1.2", left, best.reward_value + _ROUNDING * largest)
    safest, slack = optima.find_safest(cmdp)
    dearest = (best.reward_value - cmdp.evaluate(safest)[0]) / slack
    ledger.add("1.2b", best.multiplier, dearest + _ROUNDING)


def _check_estimates(ledger, random):
    cmdp, _ = small_cmdp(random, states=2, actions=2)
    horizon, people = int(random.integers(1, 4)), int(random.choice([4, 16, 64]))
    bound = cmdp.return_bound(horizon)
    cmdp = replace(cmdp, threshold=float(random.uniform(0, bound)))
    setting = Setting(evaluators=people, iterations=1, horizon=horizon)
    if bound < 1.5 and random.random() < 0.5:
        setting = replace(setting, estimator="unbiased")
    estimates = make_estimates(cmdp, setting, known=True)
    answers = make_evaluators(people, get_link("logistic"), bound, setting.estimator).estimate
    policy, multiplier = random_policy(random, cmdp), float(random.choice([0.0, 1.0, 5.0]))
    for state in range(2):
        means, covariance = _advantage_moments(cmdp, policy, state, horizon, answers, multiplier)
        for k, signal in enumerate((cmdp.reward, cmdp.utility)):
            bias = means[k] - cmdp.advantages(policy, signal)[state]
            ledger.add("2.4", np.ptp(bias), estimates.primal_bias)
        mean, row = means[0] + multiplier * means[1], policy[state]
        for rounds in (1, 3, 100):
            at = replace(estimates, rounds=rounds)
            noise = (row @ np.diag(covariance) - row @ covariance @ row) / rounds
            total = row @ mean**2 - (row @ mean) ** 2 + noise
            ledger.add("2.6", total, (1 + multiplier) ** 2 * at.spread)
            ledger.add("2.6b", noise, (1 + multiplier) ** 2 * at.round_variance / rounds)
    chances, returns = trajectories(cmdp, policy, cmdp.initial, horizon)
    mean_answers, variances = answer_moments(answers, returns[:, 1] - cmdp.threshold)
    mean, square = chances @ mean_answers, chances @ (mean_answers**2 + variances)
    bias = mean - (cmdp.evaluate(policy)[1] - cmdp.threshold)
    ledger.add("2.4b", abs(bias), estimates.dual_bias)
    for rounds in (1, 3, 100):
        at, variance = replace(estimates, rounds=rounds), (square - mean**2) / rounds
        ledger.add("2.7b", variance, at.excess_round_variance / rounds)
        ledger.add("2.7", mean**2 + variance, at.excess_square)


def _advantage_moments(cmdp, policy, state, horizon, answers, multiplier):
    """Means for both signals, (2, A), and covariance of the Lagrangian's, (A, A), of one round."""
    first = np.eye(cmdp.states)[state]
    base_chances, base = trajectories(cmdp, policy, first, horizon)
    means, given, squares = np.zeros((2, cmdp.actions)), [], np.zeros(cmdp.actions)
    for action in range(cmdp.actions):
        chances, returns = trajectories(cmdp, policy, first, horizon, action)
        moments = [
            answer_moments(answers, returns[:, None, k] - base[None, :, k]) for k in range(2)
        ]
        for k, (mean, _) in enumerate(moments):
            means[k, action] = chances @ mean @ base_chances
        joint = moments[0][0] + multiplier * moments[1][0]
        noise = moments[0][1] + multiplier**2 * moments[1][1]
        given.append(chances @ joint)  # given the common trajectory
        squares[action] = chances @ (joint**2 + noise) @ base_chances
    products = np.array([[(x * y) @ base_chances for x in given] for y in given])
    np.fill_diagonal(products, squares)
    mean = means[0] + multiplier * means[1]
    return means, products - np.outer(mean, mean)


def _check_need_of_noise(ledger):
    """Where actions hardly matter, all of the variance over actions is noise."""
    cmdp, _ = small_cmdp(random_numbers("noise", 0), states=2, actions=2, scale="normalized")
    cmdp = replace(cmdp, reward=cmdp.reward * 1e-3, utility=cmdp.utility * 1e-3, threshold=0.0)
    horizon, people, policy = 2, 16, np.full((2, 2), 0.5)
    setting = Setting(evaluators=people, iterations=1, horizon=horizon)
    span = make_estimates(cmdp, setting, known=True).span
    answers = make_evaluators(people, get_link("logistic"), 1.0, "unbiased").estimate
    means, covariance = _advantage_moments(cmdp, policy, 0, horizon, answers, 0.0)
    noise = policy[0] @ np.diag(covariance) - policy[0] @ covariance @ policy[0]
    ledger.add("2.6 without v/N", policy[0] @ means[0] ** 2 + noise, span**2 / 4)
