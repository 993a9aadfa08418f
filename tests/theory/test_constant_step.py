"""Theorem 1 with a constant step: steps B0 to B3 and L1 to L7, the bound, and what it cannot be."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from pgpd_hf import CMDP, random_cmdp, run, solve
from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from replication.proofs.constant_step import draw_process, look
from replication.proofs.ledger import Ledger
from replication.proofs.small_cmdps import random_numbers
from replication.theory import constant_step
from replication.theory.constants import OutsideAssumptions
from replication.theory.estimates import make_estimates
from replication.theory.records import record
from replication.theory.setting import Setting
from replication.theory.table import check_all

TINY = 1e-12
FREE = CMDP(  # no action changes a transition
    np.repeat([[[0.5, 0.5]], [[0.3, 0.7]]], 2, axis=1),
    [[1, 0], [0.2, 0.6]],
    [[0, 1], [0.5, 0.4]],
    [0.5, 0.5],
    discount=0.5,
    threshold=0.9,
)
BEST = solve(FREE)
SETTING = Setting(evaluators=None, iterations=3000, horizon=30)


def require_steps(ledger, controls=()):
    table = ledger.table().set_index("step")
    assert table["holds"].all(), table[~table["holds"]].to_string()
    assert set(table.index[table["kind"] == "control"]) == set(controls)
    return table


# The bound.


def test_bound_of_the_priced_gap_has_all_its_terms():
    steps, cap, length = (0.7, 0.02), 3.0, 500.0
    e = replace(make_estimates(FREE, SETTING), bias=0.01, excess_bias=0.002, rounds=3)
    star, kappa = BEST.multiplier, 0.7 / 0.5
    weighted = FREE.reward + star * FREE.utility
    delta = weighted.max(1, keepdims=True) - weighted
    visits = FREE.state_occupancy(BEST.policy)
    tied = np.abs(delta[0]).max() < 1e-9
    assert tied  # state 0 has both actions, state 1 one
    sides = [visits @ np.array([g, FREE.utility[1, delta[1].argmin()]]) for g in (0, 1)]
    m = min(sides[1] - FREE.threshold, FREE.threshold - sides[0]) / 2
    noise = (1 + cap) * (4 * math.sqrt(2 * e.round_variance * length / 3) + 0.02 * length)
    a, bias = max(star, cap - star), e.dual_bias
    swing = (noise / 0.5 + math.log(2) / 0.7) / m + 2 * a + a * a / (0.02 * m)
    square = (m / 2 + bias) ** 2 + e.excess_round_variance / 3
    swing += 0.02 * length * square / (m - 2 * bias)
    worse = delta[1].max()
    expected = visits[1] * (0.1 * swing + noise + 2 * worse + 1 / kappa) / length
    found = constant_step.priced_gap(FREE, BEST, e, *steps, length, cap)
    assert found == pytest.approx(expected, rel=1e-9)


def test_bound_of_the_priced_gap_holds_is_informative_and_falls_as_the_root_of_the_length():
    bounds = []
    for length in (30_000, 120_000):
        row = check_all(FREE, replace(SETTING, iterations=length), seeds=range(4), items=[24])
        row = row.iloc[0]
        assert row["holds"]
        assert not row["reason"].startswith("vacuous")
        bounds.append(row["bound"])
    assert bounds[0] / bounds[1] == pytest.approx(2, rel=0.01)


def test_transitions_that_actions_change_ask_for_more_rounds_than_anybody_has():
    cmdp = random_cmdp()
    row = check_all(cmdp, Setting(evaluators=None, iterations=40), seeds=range(2), items=[24])
    assert row["holds"].isna().all()
    assert "from 2.2e+13 rounds on, of principle only" in row["reason"].iloc[0]


def test_rounds_needed_leave_half_of_the_exponent():
    """Step C5: with N_0 rounds the noise in a_0 I_t is t Delta/2."""
    cmdp, _, ties = draw_process(random_numbers("rounds needed", 0), free=False)
    e = replace(make_estimates(cmdp, SETTING), mixing=0)
    steps, cap = theorem_1_steps(cmdp.actions, cmdp.discount, 100), 3.0
    enough = replace(e, rounds=constant_step.rounds_needed(cmdp, ties, e, steps[0], cap))
    stretch = 1 / (1 - cmdp.discount)
    noise = steps[0] * stretch**2 / 8 * (1 + cap) ** 2 * enough.error_square
    weight = 2 * cmdp.value_bound * stretch**2 / ties.margin + 2 * stretch
    assert weight * noise == pytest.approx(ties.smallest / 2)


def test_ties_are_the_policies_between_which_the_optimum_lies():
    for case in range(6):
        cmdp, best, ties = draw_process(random_numbers("ties", case), free=case % 2 == 0)
        for policy in (ties.boldest, ties.safest):
            v_r, v_g = cmdp.evaluate(policy)
            priced = best.reward_value - v_r - best.multiplier * (v_g - cmdp.threshold)
            assert priced == pytest.approx(0, abs=1e-7)
        assert cmdp.evaluate(ties.safest)[1] >= cmdp.threshold + 2 * ties.margin - 1e-9
        assert ties.smallest > 0


def test_several_multipliers_and_long_truncation_are_refused():
    corner = FREE.evaluate(np.array([[0.0, 1.0], [0.0, 1.0]]))[1]  # best for an interval of them
    flat = replace(FREE, threshold=float(corner))
    with pytest.raises(OutsideAssumptions, match=r"^threshold: one at which lambda\* is the only"):
        constant_step.find_ties(flat, solve(flat))
    short = make_estimates(FREE, replace(SETTING, horizon=2))
    with pytest.raises(OutsideAssumptions, match=r"^horizon: a bias of V_g - b below"):
        constant_step.priced_gap(FREE, BEST, short, 1.0, 0.1, 100, 5.0)


# No rate is free of lambda*.


def corner_cmdp(multiplier):
    """Two states that chance chooses; in the first one arm earns lambda*, and one is safe."""
    reward, utility = [[multiplier, 0], [1, 1]], [[0, 1], [0, 0]]
    return CMDP(np.full((2, 2, 2), 0.5), reward, utility, [0.5, 0.5], 0.5, 0.5)


def test_printed_algorithm_has_no_rate_that_is_free_of_the_multiplier():
    """Measured: where lambda* falls as T^(-1/6), so does the gap; T^(-1/2) would divide by ten."""
    shares = []
    for length, seeds in ((10_000, 8), (1_000_000, 3)):
        multiplier = length ** (-1 / 6) / 4
        cmdp = corner_cmdp(multiplier)
        assert solve(cmdp).multiplier == pytest.approx(multiplier)
        trace = run(
            cmdp, "npgpd_hf", seeds=range(seeds), iterations=length, evaluators=None, horizon=25
        )
        last = trace[trace["iteration"] == length]
        shares.append(float(last["mean_optimality_gap"].mean() / multiplier))
    # The gap is lambda* times the mean of p - 1/2, p the probability of the safe arm.
    assert 0.13 < min(shares) <= max(shares) < 0.23


# Theorem B's steps, along runs.


def test_steps_of_theorem_b_hold_and_their_controls_fail():
    ledger = Ledger()
    ledger.declare(
        "pathwise",
        {
            "B0": "identity of the energy H_t (relative error over 1e-8)",
            "B1": "J_t <= (z mu_t + log(1 + e^z mu_t))/eta1",
            "B2": "K_2 sqrt T <= H_t where a projection loses something",
            "B2a": "sum phi'(H) dH <= phi(H_T) - phi(H_0) + sum (dH)^2/(2 K_1 sqrt T)",
            "B3": "KL(pi*|pi_t) <= |y_t| + 3 where suboptimal actions have less than 1/2",
            "B3a": "rho mu/2 <= E[1 - exp(-rho step)] for steps of drift mu",
            "A4a": "sum_t Delta min{1, exp(-kappa (t Delta - X))} <= X + 2 Delta + 1/kappa",
        },
    )
    controls = {
        "B0 without J": "the same without the noise's work",
        "B3 without y": "the same without |y_t|",
        "B3a with 4 rho": "the same for four times rho",
    }
    ledger.declare("pathwise", controls, "control")
    bound = 0
    for case in range(8):
        cmdp, best, ties = draw_process(random_numbers("energy", case), free=True)
        if best.multiplier < 1e-8:
            continue
        bound += 1
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
            check_energy(ledger, look(found, ties), visits)
    assert bound >= 4
    check_sums(ledger, random_numbers("sums", 0), 400)
    require_steps(ledger, controls)


def check_energy(ledger, p, visits):
    """Steps B0 to B3 along a path; visits sum to one."""
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
    ledger.add("B0", np.abs(np.diff(energy) - change), 1e-8 * (1 + energy.max()))
    ledger.add("B0 without J", np.abs(np.diff(energy) - change + work), 1e-8 * (1 + energy.max()))
    z = 2 * p.kappa * (1 + cap) * p.cmdp.value_bound
    spread = (1 - policies[:-1].max(-1)) @ visits
    ledger.add("B1", work * eta_1, z * spread + np.log1p(np.exp(z) * spread) + 1e-9)
    room = min(star, cap - star)
    if eta_2 * np.abs(run.answered_excess).max() <= room / 2:
        high = room**2 / (8 * eta_2)
        if (lost > TINY).any():
            ledger.add("B2", high, energy[:-1][lost > TINY])
    bend = max(float(np.median(energy)), 1e-3)  # stands for K_1 sqrt(T)
    slope = np.clip(2 - energy / bend, 0, 1)
    bent = 1.5 * bend - np.maximum(2 * bend - energy, 0) ** 2 / (2 * bend)
    area = np.where(energy < bend, energy, bent)  # phi
    left = (slope[:-1] * np.diff(energy)).sum() - area[-1] + area[0]
    ledger.add("B2a", left, (np.diff(energy) ** 2).sum() / (2 * bend))
    tied = np.flatnonzero(((p.ties.shortfall == 0).sum(-1) == 2) & (target.max(-1) < 1))
    if len(tied) == 1 and ((p.ties.shortfall == 0).sum(-1) <= 2).all():
        first, second = np.flatnonzero(p.ties.shortfall[tied[0]] == 0)
        apart = np.abs(run.thetas[:, tied[0], first] - run.thetas[:, tied[0], second])
        good = np.where(p.ties.shortfall == 0, policies, 0).sum(-1).min(-1) > 0.5
        if good.any():
            ledger.add("B3", distance[good], apart[good] + 3)
            ledger.add("B3 without y", distance[good], 3)


def check_sums(ledger, random, cases):
    for _ in range(cases):
        delta, kappa, x = random.uniform(0.001, 1), random.uniform(0.1, 30), random.uniform(0, 20)
        t = np.arange(int((x + 40 / kappa) / delta) + 2)
        left = delta * np.exp(np.minimum(0, -kappa * (t * delta - x))).sum()
        ledger.add("A4a", left, x + 2 * delta + 1 / kappa)
        steps, chances = random.uniform(-1, 1, 3), random.dirichlet(np.full(3, 0.5))
        drift = chances @ steps
        rho = drift / (math.e * np.abs(steps).max() ** 2)
        if drift > 0:
            for step, at in (("B3a", rho), ("B3a with 4 rho", 4 * rho)):
                ledger.add(step, at * drift / 2, chances @ -np.expm1(-at * steps))


# Proposition L's steps: two arms, all of whose mixtures are best at lambda*, and Gaussian noise.


def test_steps_of_proposition_l_hold_and_their_controls_fail():
    ledger = Ledger()
    ledger.declare(
        "pathwise",
        {
            "L1": "Phi(y_t+1) - Phi(y_t) = (p - 1/2)(lambda - lambda* + e) + J (error over 1e-9)",
            "L2": "lambda stays below its cap",
            "L3": "sum J + sum (p - 1/2) e <= T gap + Phi(y_T) + C sqrt T",
            "L5": "N_-^2 <= n (8.7 sum lambda/eta2 + N_-)",
            "L6": "Phi(0) - Phi(-1) - Phi'(-1) <= J at a step from below -1 to above 0",
            "L7": "0.231 N_+ - 0.5 N_- - 0.231 N_0 <= sum (p - 1/2), over T",
        },
    )
    ledger.declare("mean over runs", {"L4": "E sum lambda <= 2 lambda* T"})
    ledger.declare("pathwise", {"L1 without J": "the same without J"}, "control")
    random, length, runs, cap = random_numbers("two arms", 0), 20_000, 40, 1.0
    star, kappa, eta_2 = length**-0.25, 2 * math.log(2), 1 / math.sqrt(length)
    y, multiplier = np.zeros(runs), np.zeros(runs)
    path = []
    for noise in 0.7 * random.standard_normal((length, runs)):
        half = np.tanh(y / 2) / 2  # p - 1/2
        after = y + kappa * (multiplier - star + noise)
        path.append((y, multiplier, half, noise, after))
        y, multiplier = after, np.clip(multiplier - eta_2 * half, 0, cap)
    y, multiplier, half, noise, after = np.array(path).swapaxes(0, 1)
    work = (potential(after) - potential(y)) / kappa - half * (multiplier - star + noise)
    bregman = (potential(after) - potential(y) - half * (after - y)) / kappa
    small = 1e-9 * (1 + np.abs(after).max())
    ledger.add("L1", np.abs(work - bregman), small)
    ledger.add("L1 without J", np.abs(work), small)
    ledger.add("L2", multiplier.max(), cap)
    gap, rest = star * half.sum(0), (cap**2 / 2 + 1 / 8) * math.sqrt(length)
    end = potential(after[-1]) / kappa
    ledger.add("L3", (bregman + half * noise).sum(0), gap + end + rest)
    sums = multiplier.sum(0)
    ledger.add("L4", sums.mean(), 2 * star * length)
    low, middle, high = ((x).sum(0) for x in (y <= -1, np.abs(y) < 1, y >= 1))
    rounds = ((y < 0) & (np.vstack([np.zeros(runs), y[:-1]]) >= 0)).sum(0)
    ledger.add("L5", low**2, rounds * (8.7 * sums / eta_2 + low))
    crossed = (y <= -1) & (after >= 0)
    least = (potential(0) - potential(-1) + math.tanh(0.5) / 2) / kappa
    ledger.add("L6", least, bregman[crossed])
    share = 0.231 * high - 0.5 * low - 0.231 * middle
    ledger.add("L7", share + length, half.sum(0) + length)
    require_steps(ledger, ["L1 without J"])
    # L7's constants: the share of time that is left in each of its cases, and Cauchy's.
    assert 0.231 * 0.7 - 0.5 * 0.2 - 0.231 * 0.1 > 0.037
    assert 25 * 17.4 < 500


def potential(y):
    """Phi times kappa."""
    return np.logaddexp(y / 2, -np.asarray(y) / 2) - math.log(2)
