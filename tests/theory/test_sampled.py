"""Sampled NPGPD-HF's proof: steps D1 and D2 by enumeration, and the bound of D3."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from pgpd_hf import CMDP, random_cmdp, solve
from pgpd_hf.core.evaluators import make_evaluators
from pgpd_hf.core.links import get_link
from replication.proofs.ledger import Ledger
from replication.proofs.small_cmdps import random_numbers, small_cmdp
from replication.proofs.votes import answer_moments
from replication.theory import exact, lengths, sampled
from replication.theory.constants import OutsideAssumptions
from replication.theory.estimates import make_estimates
from replication.theory.setting import Setting
from replication.theory.table import check_all

HALVES = 0, 2**31  # of a word: with probabilities of one half, they stand for all
WORDS = [upper << 32 | lower for upper in HALVES for lower in HALVES]
LAST_WORDS = [upper << 32 for upper in HALVES]  # nobody looks at the state after a last step


def test_mean_step_and_its_square_are_as_the_proof_says():
    ledger = Ledger()
    ledger.declare(
        "enumerated",
        {
            "D1": "osc_a of the mean step - sum gamma^j P_j Q^(H-j)/.. <= (1+lambda) 2 beta nu/|A|",
            "D1a": "osc_a of w Q - sum gamma^j P_j Q^(H-j)/.. <= (1+lambda) eps_H nu/|A|",
            "D2": "E <pi, step^2> <= (1+lambda)^2 min{X^2, (G + beta)^2 + S} nu/|A|",
        },
    )
    controls = {
        "D1 without discounts": "the same without gamma^j",
        "D2 without lambda": "the same for lambda = 50",
    }
    ledger.declare("enumerated", controls, "control")
    for case in range(3):
        check_rounds(ledger, random_numbers("rounds", case))
    table = ledger.table()
    assert table["holds"].all(), table[~table["holds"]].to_string()


@pytest.mark.parametrize("largest", [1.0, 9.0])  # of two bounds of a square, either is smaller
def test_bound_has_all_its_terms(largest):
    cmdp = random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.5)
    best, setting = solve(cmdp), Setting(evaluators=64, iterations=1, rounds=2, horizon=12)
    e = replace(make_estimates(cmdp, setting), bias=0.03, largest=largest)
    eta_1, eta_2, length, cap = 0.01, 0.02, 300.0, 2 * cmdp.value_bound / best.slack
    kappa = eta_1 / 0.3
    occupancy = cmdp.state_occupancy(best.policy)
    after = cmdp.initial @ cmdp.transition.mean(axis=1)
    weight = (cmdp.initial + 0.7 * after) / 4  # two steps, two actions
    visits = (cmdp.initial + after) / 2
    noisy = (occupancy * visits / weight).sum() / 2
    z = kappa * (1 + cap) * e.largest
    phi = (math.exp(z) - 1 - z) / z**2
    square = min(e.largest**2, (e.return_bound + 0.03) ** 2 + e.variance)
    gap = (occupancy / weight).sum() * math.log(2) / (kappa * length)
    gap += kappa * phi * (1 + cap) ** 2 * square * noisy
    gap += (1 + cap) * (0.06 + e.value_bound * 0.7**13) * noisy
    gap += eta_2 * e.excess_square / 2 + cap * e.dual_bias
    violation = gap + cap**2 / (2 * eta_2 * length)
    violation += cap / 2 * math.sqrt(e.excess_round_variance / (2 * length))
    found = sampled.sampled(cmdp, best, 1, e, eta_1, eta_2, length, cap)
    assert found.gap == pytest.approx(gap)
    assert found.violation == pytest.approx(violation / (cap - best.multiplier))
    cycle = np.roll(np.eye(3), 1, axis=1)[:, None].repeat(2, axis=1)
    later = replace(cmdp, initial=[1, 0, 0], transition=cycle)
    with pytest.raises(OutsideAssumptions, match=r"^exploration: enough steps"):
        sampled.sampled(later, best, 1, e, eta_1, eta_2, length, cap)


def test_bound_holds_and_is_informative_in_long_runs():
    rows = np.repeat([[[0.5, 0.5]], [[0.3, 0.7]]], 2, axis=1)
    cmdp = CMDP(rows, [[1, 0], [0.2, 0.6]], [[0, 1], [0.5, 0.4]], [0.5, 0.5], 0.5, 0.9)
    setting = Setting(evaluators=None, iterations=30_000, horizon=20)
    table = check_all(cmdp, setting, seeds=range(2), items=[25])
    assert table["holds"].all()
    assert not table["reason"].str.startswith("vacuous").any(), table.to_string()


def test_horizon_that_does_not_reach_all_states_leaves_cells_with_the_reason():
    corridor = np.eye(4)[[[1, 0], [2, 0], [3, 1], [3, 2]]]
    values = np.full((4, 2), 0.2)
    cmdp = CMDP(corridor, values, values, [1, 0, 0, 0], 0.5, 0.1, 0.2)
    setting = Setting(evaluators=16, iterations=9, horizon=2)
    table = check_all(cmdp, setting, seeds=range(2), items=[25])
    assert table["holds"].isna().all()
    assert set(table["reason"]) == {"horizon: at least 3 expected, to reach all states"}
    table, _ = lengths.lengths(cmdp, solve(cmdp), setting, [16], [1], [9], 0, range(2))
    assert "Theorem D" not in set(table["statement"][table["reason"].eq("")])


def even_cmdp(random):
    """Two states and actions; rows of transitions give a state one half, one or nothing."""
    cmdp, best = small_cmdp(random, states=2, actions=2, discounts=(0.5, 0.8), scale="normalized")
    chances = random.choice([0.0, 0.5, 1.0], size=(2, 2))
    chances[0, 0] = 0.5  # so that both states are reached from the first
    rows = np.stack([chances, 1 - chances], axis=-1)
    return replace(cmdp, transition=rows, initial=[1, 0], threshold=0.0), best


def check_rounds(ledger, random):
    """One round at the uniform policy, over all equally probable words, and all votes."""
    cmdp, best = even_cmdp(random)
    people, multiplier, horizon = 16, float(random.choice([0.0, 1.0, 5.0])), 1
    setting = Setting(
        evaluators=people,
        iterations=1,
        horizon=horizon,
        estimator="unbiased",
        primal_step=0.0,
        dual_step=0.0,
        multiplier_bound=1.0,
    )
    exactly, one = (
        replace(setting, evaluators=m, estimator="plug-in").run("sampled_npgpd_hf", cmdp, best)
        for m in (None, 1)
    )
    words = product(WORDS, LAST_WORDS, WORDS, LAST_WORDS, WORDS)
    rows = [np.array([*row, 0, 0, 0], np.uint64) for row in words]
    theta, nothing = np.zeros((2, 2)), np.empty(0)
    differences = np.array([exactly.estimate(theta, row, nothing)[0] for row in rows])
    # One person never answers zero, so that the round's state and action can be seen.
    asked = np.array([one.estimate(theta, row, nothing)[0] for row in rows]) != 0
    bound = cmdp.return_bound(horizon)
    table = make_evaluators(people, get_link("logistic"), bound, "unbiased").estimate
    mean, variance = (np.where(asked, x, 0) for x in answer_moments(table, differences))
    weights = np.array([1.0, multiplier])
    step = np.tensordot(weights, mean.mean(axis=0), 1)
    joint = np.tensordot(weights, mean, (0, 1))
    square = (joint**2 + np.tensordot(weights**2, variance, (0, 1))).mean(axis=0)
    estimates = make_estimates(cmdp, setting)
    policy = np.full((2, 2), 0.5)
    signal = cmdp.reward + multiplier * cmdp.utility
    visits, weight = sampled.visits_and_weights(cmdp, exactly.exploration)
    share = (1 + multiplier) * visits / 2
    at, wanted, wrong = np.array(cmdp.initial), 0.0, 0.0
    for j in range(exactly.exploration + 1):
        values = exact.finite_horizon_values(cmdp, policy, signal, horizon - j)[1]
        part = at[:, None] * values / (2 * (exactly.exploration + 1))
        wanted, wrong = wanted + cmdp.discount**j * part, wrong + part
        at = at @ cmdp.transition.mean(axis=1)
    for name, expected in (("D1", wanted), ("D1 without discounts", wrong)):
        ledger.add(name, np.ptp(step - expected, axis=1), share * 2 * estimates.bias + 1e-12)
    whole = weight[:, None] * cmdp.action_values(policy, signal)
    ledger.add("D1a", np.ptp(whole - wanted, axis=1), share * estimates.truncation)
    second = sampled.answer_square(estimates) * visits / 2
    ledger.add("D2", (policy * square).sum(axis=1), (1 + multiplier) ** 2 * second)
    large = np.tensordot([1.0, 50.0], mean, (0, 1)) ** 2
    ledger.add("D2 without lambda", (policy * large.mean(axis=0)).sum(axis=1), second)
