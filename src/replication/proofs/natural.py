"""Steps 3.1 to 3.13: runs of NPGPD-HF with everything that was estimated in them."""

import math
from dataclasses import replace

import numpy as np
from scipy import special

from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import solve
from replication.proofs.small_cmdps import random_numbers, small_cmdp
from replication.theory import exact, seen, theorem_1
from replication.theory.estimates import make_estimates
from replication.theory.problems import run_averages
from replication.theory.records import record
from replication.theory.setting import Setting

_SEEDS = 12
_ITERATIONS = 200
_ERROR = 0.1  # Statements about one run may fail with this probability.
_TINY = 1e-12


def check(ledger, cases):
    """Check these steps."""
    ledger.declare("exact", {"3.2": "log <pi, e^u> <= min{osc^2/8, phi(osc u) Var_pi u}"})
    ledger.declare(
        "pathwise",
        {
            "3.1": "identity of one step (relative error over 1e-8)",
            "3.4": "one step: logarithm <= gain + variance",
            "3.5b": "sum lambda^t (U^(t+1) - U^t) <= B eta2 sum |h_c|",
            "3.6": "saddle inequality, for four lambda",
            "3.6b": "sum (b - V_g) - sum e_c <= (lambda^T - lambda^0 + U)/eta2",
            "3.7": "-(average gap) <= lambda* violation",
        },
    )
    ledger.declare(
        "mean over runs",
        {
            "3.3": "Lagrangian's regret, first way",
            "3.5": "Lagrangian's regret, second way",
            "3.5a": "E max osc(e)^2 <= (1+lambda)^2 Omega",
            "T1a": "Theorem 1, gap",
            "T1b": "Theorem 1, violation",
            "3.9": "E(lambda^t - lambda*)^2 <= w^2 for all t",
            "3.9a": "Theorem 1', gap",
            "3.9b": "Theorem 1', violation",
            "3.12a": "gap, from what runs show",
            "3.12b": "violation, from what runs show",
        },
    )
    ledger.declare("exact", {"3.8": "the rate's step sizes give the stated rate"})
    _check_coverage(ledger, 25 * cases)
    ledger.declare(
        "mean over runs",
        {
            "3.3 without v/N": "near-ties, small signals: first way without the new term",
            "3.5 without noise": "near-ties, large step: second way without the noise in Omega",
            "3.12 without log Z": "near-ties, large step: without what estimates oscillate",
        },
        "control",
    )
    ledger.declare(
        "pathwise",
        {
            "3.4 without variance": "logarithm <= gain",
            "C5 without noise": "near-ties, large step: I_t <= B",
        },
        "control",
    )
    _check_logarithms(ledger, random_numbers("logarithms", 0), 50 * cases)
    for case in range(max(1, cases // 4)):
        _check_runs(ledger, random_numbers("runs", case), case)
    _check_rates(ledger, random_numbers("rates", 0), 20 * cases)
    _check_need_of_variance(ledger)
    _check_needs(ledger)


def _check_logarithms(ledger, random, cases):
    for _ in range(cases):
        actions = int(random.integers(2, 6))
        policy = random.dirichlet(np.full(actions, random.choice([0.1, 1.0])))
        x = random.standard_normal(actions) * random.choice([0.1, 1.0, 3.0])
        u = random.choice([0.01, 0.3, 1.0]) * (x - policy @ x)
        width = np.ptp(u)
        right = min(width**2 / 8, theorem_1.growth(width) * (policy @ u**2))
        if right > 1e-8:  # below, the left side is rounding
            ledger.add("3.2", np.log1p(policy @ np.expm1(u)), right)


def _check_runs(ledger, random, case):
    cmdp, best = small_cmdp(random)
    stretch, largest = 1 / (1 - cmdp.discount), cmdp.value_bound
    cap = 2 * largest / best.slack if random.random() < 0.3 else 2 * best.multiplier + 0.5
    horizon = int(random.choice([10, 40]))
    setting = Setting(
        evaluators=[None, 4, 16, 64][random.integers(4)],
        iterations=_ITERATIONS,
        rounds=int(random.choice([1, 3])),
        horizon=horizon if cmdp.threshold <= cmdp.return_bound(horizon) else 60,
        primal_step=float(random.choice([0.02, 0.1, 0.5])) / (stretch * largest),
        dual_step=float(random.choice([0.005, 0.02, 0.1])) / largest,
        multiplier_bound=cap,
    )
    if (setting.evaluators or 0) >= 16 and cmdp.scale < 1 and random.random() < 0.5:
        setting = replace(setting, estimator="unbiased")
    algorithm = setting.run("npgpd_hf", cmdp, best)
    estimates = make_estimates(cmdp, setting, known=True)
    rows, paths = [], []
    for seed in range(_SEEDS):
        run = record(algorithm, best, seed, purpose=f"proofs{case}")
        rows.append(_check_path(ledger, run, estimates, random))
        paths.append(run.multipliers)
    means = {name: np.mean([row[name] for row in rows]) for name in rows[0]}
    ledger.add("3.5a", means["noise"], estimates.error_square)
    given = estimates, setting.primal_step, setting.dual_step, _ITERATIONS, cap
    _check_means(ledger, means, np.array(paths), given, best.multiplier)


def _check_path(ledger, run, estimates, random):
    """Check the pathwise steps of one run; return what the others take the mean of."""
    algorithm, best, cmdp = run.algorithm, run.optimum, run.algorithm.cmdp
    eta_1, eta_2, cap = algorithm.primal_step, algorithm.dual_step, algorithm.multiplier_bound
    stretch, multipliers = 1 / (1 - cmdp.discount), run.multipliers
    policies, lambdas, excess = run.policies[:-1], multipliers[:-1], run.answered_excess
    v_r, v_g = (values[:-1] for values in cmdp.evaluate(run.policies))
    visits = exact.visitation(cmdp, best.policy)
    gap_l = best.reward_value - v_r + lambdas * (best.utility_value - v_g)

    logarithms = special.log_softmax(run.thetas, axis=-1)
    distances = -special.entr(best.policy).sum(-1) - (best.policy * logarithms).sum(-1)
    normalizer = run.log_normalizers(eta_1 * stretch)
    right = (distances[:-1] - distances[1:] + normalizer) @ visits / eta_1
    right = right + ((policies - best.policy) * run.errors()).sum(-1) @ visits * stretch
    ledger.add("3.1", np.abs(gap_l - right), 1e-8 * (1 + np.abs(distances).max() / eta_1))

    gain, variance, logarithm = theorem_1.one_step(run, visits)
    ledger.add("3.4", np.maximum(logarithm - gain, 0), variance + _TINY)
    utilities = cmdp.state_values(run.policies, cmdp.utility) @ visits
    drift = cmdp.value_bound * eta_2 * np.abs(excess).sum()
    ledger.add("3.5b", lambdas @ np.diff(utilities), drift)

    wrong = excess - (v_g - cmdp.threshold)
    for weight in (0.0, min(best.multiplier, cap), cap, random.uniform(0, cap)):
        left = (best.reward_value - v_r + weight * (cmdp.threshold - v_g)).sum() - gap_l.sum()
        left += ((lambdas - weight) * wrong).sum() + (multipliers[-1] - weight) ** 2 / (2 * eta_2)
        ledger.add("3.6", left, weight**2 / (2 * eta_2) + eta_2 / 2 * (excess**2).sum())
    left = (cmdp.threshold - v_g).sum() - wrong.sum()
    ledger.add("3.6b", left, run.owed() / eta_2 + _TINY)
    gap, violation = best.reward_value - v_r.mean(), max(cmdp.threshold - v_g.mean(), 0.0)
    ledger.add("3.7", max(-gap, 0.0), best.multiplier * violation + 1e-9 * cmdp.value_bound)

    shown = replace(seen.look(run)[0], normalizer=float(normalizer.max(-1).mean()))
    bound = seen.semi_a_priori(estimates, shown)
    return {
        "gap": gap,
        "violation": violation,
        "regret": gap_l.sum(),
        "noise": (theorem_1.oscillations(run) ** 2 / (1 + lambdas) ** 2).mean(),
        "gap bound": bound.gap,
        "violation bound": bound.violation,
    }


def _check_means(ledger, means, paths, given, multiplier):
    estimates, eta_1, eta_2, iterations, cap = given
    gap, violation = max(means["gap"], 0.0), means["violation"]
    ways = theorem_1.primal_regrets(*given)
    reach, bias = 1 + paths[:, :-1], estimates.primal_bias / (1 - estimates.discount)
    for step, (constant, curvature) in zip(("3.3", "3.5"), ways, strict=True):
        right = constant + eta_1 * curvature * (reach**2).mean(0).sum()
        ledger.add(step, max(means["regret"], 0.0), right + bias * reach.mean(0).sum())
    for step, bound in (
        ("T1", theorem_1.theorem_1(*given, multiplier)),
        ("3.9", theorem_1.theorem_1_prime(*given, multiplier)),
        ("3.12", theorem_1.Bound(means["gap bound"], means["violation bound"])),
    ):
        ledger.add(f"{step}a", gap, bound.gap)
        ledger.add(f"{step}b", violation, bound.violation)
    for way in ways:
        distance = theorem_1.multiplier_distance(
            estimates, way, eta_1, eta_2, iterations, cap, multiplier
        )
        ledger.add("3.9", ((paths - multiplier) ** 2).mean(0).max(), distance**2)


def _check_rates(ledger, random, cases):
    for _ in range(cases):
        cmdp, best = small_cmdp(random)
        people, rounds = int(random.choice([4, 16, 64])), int(random.choice([1, 10]))
        setting = Setting(evaluators=people, iterations=1, rounds=rounds, horizon=60)
        e = make_estimates(cmdp, setting)
        cap, length = 2 * cmdp.value_bound / best.slack, 10 ** random.uniform(0, 9)
        eta_1, eta_2 = theorem_1.rate_steps(e, length, cap)
        (constant, curvature), _ = theorem_1.primal_regrets(e, eta_1, eta_2, length, cap)
        stretch, c = (1 + cap) / (1 - cmdp.discount), math.e - 2
        rate = stretch * e.largest * math.sqrt(2 * math.log(e.actions) / length)
        if length >= 4 * e.largest**2 * math.log(e.actions) / (c * e.spread):
            rate = min(rate, 2 * stretch * math.sqrt(c * math.log(e.actions) * e.spread / length))
        ledger.add("3.8", constant / length + eta_1 * (1 + cap) ** 2 * curvature, rate)
        dual = eta_2 * e.excess_square / 2 + cap**2 / (2 * eta_2 * length)
        ledger.add("3.8", dual, cap * math.sqrt(e.excess_square / length))


def _check_coverage(ledger, runs):
    """Share of runs that exceed what is said about one run, where the constraint binds."""
    cmdp, best = small_cmdp(random_numbers("coverage", 5), 2, 2, (0.5,), "normalized")
    steps = {"primal_step": 0.5, "dual_step": 0.1}
    cap = 2 * best.multiplier + 0.5
    sizes = {"evaluators": 256, "rounds": 100, "horizon": 20, "iterations": 100}
    setting = Setting(estimator="unbiased", multiplier_bound=cap, **sizes, **steps)
    estimates = make_estimates(cmdp, setting, known=True)
    given = *steps.values(), setting.iterations, cap, best.multiplier
    before = theorem_1.high_probability(estimates, *given, error=_ERROR)
    found = [seen.watch(cmdp, best, setting, seed, purpose="coverage") for seed in range(runs)]
    measured = np.array([pair for _, pair in found])  # (runs, 2)
    single = np.array([seen.single_run(estimates, shown, _ERROR) for shown, _ in found])
    beyond = "; here larger than any value" if min(before) > cmdp.value_bound else ""
    share = "share of runs above a bound of step"
    ledger.declare(
        "every run", {"3.10": f"{share} 3.10, over 0.1{beyond}", "3.13": f"{share} 3.13, over 0.1"}
    )
    ledger.declare(
        "every run",
        {"3.13 without martingales": "share of runs whose violation is above the rest, over 0.1"},
        "control",
    )
    for step, bounds in (("3.10", np.array(before)), ("3.13", single)):
        ledger.add(step, (measured > bounds).any(axis=1).mean(), _ERROR, cases=runs)
    seen_alone = [shown.owed / (setting.dual_step * setting.iterations) for shown, _ in found]
    exceeds = measured[:, 1] > np.array(seen_alone) + estimates.dual_bias
    ledger.add("3.13 without martingales", exceeds.mean(), _ERROR, cases=runs)


def _near_ties(reward):
    """Three states and two actions that hardly differ; the constraint never binds."""
    random = random_numbers("near-ties", 0)
    transition = random.dirichlet(np.ones(3), size=(3, 2))
    signals = reward(random.random((3, 2))), np.full((3, 2), 0.25)
    cmdp = CMDP(transition, *signals, np.full(3, 1 / 3), 0.5, 0.1, 0.25)
    return cmdp, solve(cmdp)


def _check_need_of_variance(ledger):
    """Check that v/N is needed: with small signals and few people, estimates are mostly noise."""
    cmdp, best = _near_ties(lambda x: 0.05 + 0.05 * x)
    options = {"primal_step": 0.2, "dual_step": 0.0, "multiplier_bound": 0.0}
    setting = Setting(evaluators=16, iterations=2000, horizon=20, estimator="unbiased", **options)
    e = make_estimates(cmdp, setting, known=True)
    gap = run_averages(setting.run("npgpd_hf", cmdp, best), best, range(12))["gap"]
    without = replace(e, rounds=math.inf)  # then v/N is zero, and nothing else changes
    (constant, curvature), _ = theorem_1.primal_regrets(without, 0.2, 0.0, 2000, 0.0)
    right = constant / 2000 + 0.2 * curvature + e.primal_bias / (1 - cmdp.discount)
    ledger.add("3.3 without v/N", gap.mean(), right)


def _check_needs(ledger):
    """Check that other terms are needed: few people, one round and a large step."""
    cmdp, best = _near_ties(lambda x: 0.2 + 0.01 * x)
    options = {"primal_step": 2.0, "dual_step": 0.0, "multiplier_bound": 0.0}
    setting = Setting(evaluators=16, iterations=1000, horizon=20, estimator="unbiased", **options)
    estimates = make_estimates(cmdp, setting, known=True)
    algorithm = setting.run("npgpd_hf", cmdp, best)
    gap = run_averages(algorithm, best, range(40))["gap"].mean()
    stretch, length, eta_1 = 2.0, setting.iterations, setting.primal_step
    start = math.log(2) / (eta_1 * length) + estimates.primal_bias * stretch
    bias = eta_1 * stretch**3 / 8 * estimates.primal_bias**2
    ledger.add("3.5 without noise", gap, start + stretch * cmdp.value_bound / length + bias)
    ledger.add("3.12 without log Z", gap, start)
    short = replace(setting, iterations=100).run("npgpd_hf", cmdp, best)
    run = record(short, best, 0, purpose="near-ties")
    summed = run.log_normalizers(eta_1 * stretch).sum(0) / (eta_1 * stretch)
    ledger.add("C5 without noise", summed.max(), cmdp.value_bound)
    gain, _, logarithm = theorem_1.one_step(run, cmdp.initial)
    ledger.add("3.4 without variance", np.maximum(logarithm, 0), np.maximum(gain, 1e-6))
