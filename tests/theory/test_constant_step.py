"""Theorem 1 with a constant step: steps B0 to B3 and L1 to L7, the bound, and what it cannot be."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pgpd_hf import CMDP, random_cmdp, run, solve
from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from replication.proofs.constant_step import draw_process
from replication.proofs.small_cmdps import random_numbers
from replication.theory import constant_step
from replication.theory.constants import OutsideAssumptions
from replication.theory.estimates import make_estimates
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
    assert "for unbiased answers and from 2.2e+13 rounds on" in row["reason"].iloc[0]


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


def test_one_action_is_outside_of_the_assumptions():
    """Its printed steps would be zero, by which the bound divides."""
    cmdp = CMDP(np.full((3, 1, 3), 1 / 3), np.ones((3, 1)), np.ones((3, 1)), [1, 0, 0], 0.5, 1)
    setting = replace(SETTING, iterations=20)
    with pytest.raises(OutsideAssumptions, match=r"^actions: \|A\| >= 2 expected, got 1$"):
        constant_step.priced_gap(cmdp, solve(cmdp), make_estimates(cmdp, setting), 0, 0.1, 20, 2)
    table = check_all(cmdp, setting, seeds=range(2), items=[24])
    assert len(table) > 0


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
