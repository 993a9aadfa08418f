"""Every bound is the paper's formula, and refuses settings outside its assumptions."""

import math
from dataclasses import replace

import numpy as np
import pytest

from pgpd_hf import LINKS, Optimum, random_cmdp, solve
from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from pgpd_hf.algorithms.zpgpd_hf import theorem_2_steps
from replication.theory import bounds
from replication.theory.constants import Constants, OutsideAssumptions, make_constants
from replication.theory.setting import Setting

# The paper's scale: rewards in [0, 1]. All numbers differ, so that no two can be mixed up.
S, A, GAMMA, H, M, N, T, XI, MU, X = 3, 2, 0.8, 6, 50, 7, 900, 0.4, 0.3, 1.9
SIGMA = 2 / ((1 - GAMMA) * XI)
G = (1 - GAMMA ** (H + 1)) / (1 - GAMMA)
EPS_V = GAMMA**H / (1 - GAMMA)
LIPSCHITZ = 4 * math.cosh(G / 2) ** 2  # of the logistic link's inverse
BETA = LIPSCHITZ * math.sqrt(2 * math.log(M) / M) + 2 * G / M**2
EPS_C = EPS_V + BETA
EPS_A = BETA + 2 * EPS_V
EPS_RG = (
    MU * (2 * GAMMA * A / (1 - GAMMA) ** 3) * S * A / 2 + 2 * S * A * EPS_V / MU + S * A / MU * BETA
)
SIGMA_2 = (
    6 * LIPSCHITZ**2 * math.log(M) / M
    + 12 * G**2 / M**2
    + 6 * G**2 / N
    + 6 * EPS_V**2
    + 3 / (1 - GAMMA) ** 2
)
D_THETA = 8 * S / (1 - GAMMA) ** 2 * X**2
L_THETA = 2 * A * (1 + 2 / XI) / (1 - GAMMA) ** 4


@pytest.fixture
def constants():
    return Constants(
        states=S,
        actions=A,
        discount=GAMMA,
        scale=1.0,
        threshold=1.0,
        slack=XI,
        mismatch=X,
        evaluators=M,
        rounds=N,
        horizon=H,
        iterations=T,
        link=LINKS["logistic"],
        multiplier_bound=SIGMA,
        perturbation=MU,
    )


def test_constants_of_the_lemmas(constants):
    c = constants
    assert c.return_bound == pytest.approx(G)
    assert c.truncation == pytest.approx(EPS_V)
    assert c.sampling_square == pytest.approx(2 * G**2 / N + 2 * EPS_V**2)
    assert c.feedback == pytest.approx(BETA)
    squares = 2 * LIPSCHITZ**2 * math.log(M) / M + 4 * G**2 / M**2
    assert c.feedback_square == pytest.approx(squares)
    assert c.smoothness == pytest.approx(2 * GAMMA * A / (1 - GAMMA) ** 3)
    assert c.excess_bias == pytest.approx(EPS_C)
    assert c.gradient_bias == pytest.approx(EPS_RG)
    assert c.excess_square == pytest.approx(SIGMA_2)
    assert c.advantage_bias == pytest.approx(EPS_A)
    assert c.distance == pytest.approx(D_THETA)
    assert c.curvature == pytest.approx(L_THETA)


def test_bounds_of_zpgpd_hf(constants):
    eta_2 = (1 - GAMMA) ** 2 * D_THETA * L_THETA / (2 * math.sqrt(T))
    steps = theorem_2_steps(S, A, GAMMA, XI, X, T)
    assert steps == pytest.approx((1 / L_THETA, eta_2))
    lagrangian = 2 * D_THETA * L_THETA / T**0.25 + (1 + SIGMA) * math.sqrt(D_THETA) * EPS_RG
    assert bounds.zeroth_order_lagrangian(constants) == pytest.approx(lagrangian)
    gap = lagrangian + SIGMA * EPS_C + eta_2 * SIGMA_2 / 2
    assert bounds.theorem_2_gap(constants) == pytest.approx(gap)
    violation = 2 / SIGMA * (lagrangian + SIGMA**2 / (2 * eta_2 * T) + eta_2 / 2 * SIGMA_2)
    assert bounds.theorem_2_violation(constants) == pytest.approx(violation)
    complete = bounds.theorem_2_violation(constants, complete=True)
    assert complete == pytest.approx(violation + 4 * EPS_C)


def test_bounds_of_npgpd_hf(constants):
    eta_1, eta_2 = 2 * math.log(A), (1 - GAMMA) / math.sqrt(T)
    assert theorem_1_steps(A, GAMMA, T) == pytest.approx((eta_1, eta_2))
    assert bounds.dual_regret(constants, 0.3) == pytest.approx(SIGMA * EPS_C + 0.3 * SIGMA_2 / 2)
    assert bounds.one_step(constants) == pytest.approx((1 + SIGMA) / (1 - GAMMA) * EPS_A)
    optimisation = (
        math.log(A) / (eta_1 * T) + 1 / ((1 - GAMMA) ** 2 * T) + 2 * eta_2 / (1 - GAMMA) ** 3
    )
    lagrangian = optimisation + 2 * (1 + SIGMA) / (1 - GAMMA) * EPS_A
    assert bounds.natural_lagrangian(constants, eta_1, eta_2) == pytest.approx(lagrangian)
    dual = SIGMA * EPS_C + eta_2 * SIGMA_2 / 2
    assert bounds.theorem_1_gap(constants) == pytest.approx(lagrangian + dual)
    violation = 2 / SIGMA * (lagrangian + SIGMA**2 / (2 * eta_2 * T) + eta_2 / 2 * SIGMA_2)
    assert bounds.theorem_1_violation(constants) == pytest.approx(violation)
    complete = bounds.theorem_1_violation(constants, complete=True)
    assert complete == pytest.approx(violation + 4 * EPS_C)


def test_value_bounds_shrink_with_the_scale(constants):
    small = replace(constants, scale=0.2, threshold=0.2)
    for name in ("value_bound", "return_bound", "truncation", "smoothness"):
        assert getattr(small, name) == pytest.approx(0.2 * getattr(constants, name))
    # What is a step size as printed stays.
    assert small.curvature == constants.curvature
    assert small.distance == constants.distance


def test_infinitely_many_people_leave_no_feedback_error(constants):
    c = replace(constants, evaluators=None)
    assert c.feedback == c.feedback_square == 0
    assert c.excess_bias == pytest.approx(EPS_V)
    assert bounds.theorem_1_gap(c) < bounds.theorem_1_gap(constants)


@pytest.mark.parametrize("iterations", [3, 100, 10**5, 10**9])
def test_corollary_constant_covers_the_schedule(constants, iterations):
    limit = bounds.corollary_constant(constants)
    evaluators, horizon = bounds.corollary_schedule(iterations, GAMMA)
    at = replace(constants, iterations=iterations, horizon=horizon, evaluators=evaluators)
    scaled = math.sqrt(iterations) * bounds.theorem_1_gap(at)
    assert scaled <= limit
    assert scaled > limit / 100


def test_corollary_constant_has_all_its_terms(constants):
    """Of M it takes log M/M <= (1 + 1/e)/T, of H that at most B is cut off."""
    largest, rate = 1 / (1 - GAMMA), 2 * (1 + 1 / math.e)
    lipschitz = 4 * math.cosh(largest / 2) ** 2
    beta = lipschitz * math.sqrt(rate) + 2 * largest
    square = lipschitz**2 * rate + 4 * largest**2
    square += 2 * largest**2 / N + 2 * largest**2 + largest**2
    expected = 1 / 2 + largest**2 + 2 * largest**2
    expected += 2 * (1 + SIGMA) * largest * (beta + 2 * largest) + SIGMA * (beta + largest)
    expected += (1 - GAMMA) * 3 * square / 2
    assert bounds.corollary_constant(constants) == pytest.approx(expected)


def test_corollary_schedule_takes_every_integer_type():
    expected = bounds.corollary_schedule(100, GAMMA)
    assert bounds.corollary_schedule(np.uint8(100), GAMMA) == expected
    assert type(bounds.corollary_schedule(np.uint8(100), GAMMA)[0]) is int


@pytest.mark.parametrize("iterations", [2, 3, 1000, 10**6])
def test_corollary_schedule_is_the_smallest_that_is_long_enough(iterations):
    evaluators, horizon = bounds.corollary_schedule(iterations, GAMMA)
    assert evaluators - 1 < iterations * math.log(iterations) <= evaluators
    assert GAMMA**horizon <= 1 / math.sqrt(iterations) < GAMMA ** (horizon - 1)


@pytest.mark.parametrize(
    ("iterations", "discount", "named"),
    [(1, 0.9, "iterations"), (2.5, 0.9, "iterations"), (9, 0.0, "discount"), (9, 1.0, "discount")],
)
def test_corollary_schedule_is_refused_outside_its_range(iterations, discount, named):
    with pytest.raises(ValueError, match=named):
        bounds.corollary_schedule(iterations, discount)


def test_constants_are_taken_from_the_process_and_the_run_engine():
    cmdp = random_cmdp(states=5, actions=3, instance=2, threshold=0.4)
    optimum = solve(cmdp)
    setting = Setting(evaluators=16, iterations=400, rounds=3, horizon=30)
    c = make_constants(cmdp, optimum, setting)
    algorithm = setting.run("zpgpd_hf", cmdp, optimum)
    assert c.multiplier_bound == algorithm.multiplier_bound
    assert c.perturbation == algorithm.perturbation.radius
    assert c.theorem_2_steps == (algorithm.primal_step, algorithm.dual_step)
    assert 1 / c.curvature == pytest.approx(algorithm.primal_step)
    assert c.return_bound == pytest.approx(cmdp.return_bound(30))
    occupancy = (1 - cmdp.discount) * cmdp.state_occupancy(optimum.policy)
    assert c.mismatch == pytest.approx(np.max(occupancy / cmdp.initial))
    given = make_constants(cmdp, optimum, replace(setting, multiplier_bound=3.0))
    assert given.multiplier_bound == 3.0


def test_one_evaluator_is_outside(constants):
    alone = replace(constants, evaluators=1)
    for name in ("feedback", "feedback_square", "excess_bias", "advantage_bias", "gradient_bias"):
        with pytest.raises(OutsideAssumptions, match="evaluators: M >= 2"):
            getattr(alone, name)


def test_initial_distribution_without_full_support_is_outside(constants):
    with pytest.raises(OutsideAssumptions, match="initial: rho > 0"):
        bounds.theorem_2_gap(replace(constants, mismatch=math.inf))


@pytest.mark.parametrize("slack", [0.0, -0.1, math.nan])
def test_missing_slack_is_outside(constants, slack):
    with pytest.raises(OutsideAssumptions, match="slack"):
        replace(constants, slack=slack)
    cmdp = random_cmdp(states=3, actions=2, threshold=0.1)
    policy = np.full((3, 2), 0.5)
    optimum = Optimum(policy, 0.5, 0.5, 0.0, slack, "linear_program", 0.1)
    with pytest.raises(OutsideAssumptions, match="slack"):
        make_constants(cmdp, optimum, Setting(evaluators=4, iterations=10))


@pytest.mark.parametrize(
    "people", [{"true_link": "probit"}, {"random_answers": 0.1}, {"flipped_answers": 0.1}]
)
def test_people_who_do_not_vote_as_assumed_are_outside(people):
    cmdp = random_cmdp(states=3, actions=2, threshold=0.1)
    with pytest.raises(OutsideAssumptions, match="true_link, random_answers, flipped_answers"):
        make_constants(cmdp, solve(cmdp), Setting(evaluators=4, iterations=10, **people))
    same = Setting(evaluators=4, iterations=10, true_link="logistic")
    assert make_constants(cmdp, solve(cmdp), same).evaluators == 4


@pytest.mark.parametrize(
    "change",
    [
        {"normalize": "linear"},
        {"step_decay": 0.1},
        {"dual_regularization": 0.1},
        {"initial_multiplier": 0.1},
    ],
)
def test_other_steps_multipliers_and_starts_than_the_printed_ones_are_outside(change):
    cmdp = random_cmdp(states=3, actions=2, threshold=0.1)
    with pytest.raises(OutsideAssumptions, match=rf"^{next(iter(change))}: .* expected, got"):
        make_constants(cmdp, solve(cmdp), Setting(evaluators=4, iterations=10, **change))


@pytest.mark.parametrize("step", [0.0, -1.0, math.inf, math.nan])
def test_step_sizes_have_to_be_positive(constants, step):
    with pytest.raises(OutsideAssumptions, match="dual_step"):
        bounds.dual_regret(constants, step)
    with pytest.raises(OutsideAssumptions, match="primal_step"):
        bounds.natural_lagrangian(constants, step, 0.1)
    with pytest.raises(OutsideAssumptions, match="dual_step"):
        bounds.natural_lagrangian(constants, 0.1, step)
    with pytest.raises(OutsideAssumptions, match="dual_step"):
        bounds.predicted_violation(1.0, step, 100)


def test_one_action_leaves_no_primal_step(constants):
    with pytest.raises(OutsideAssumptions, match="primal_step"):
        bounds.theorem_1_gap(replace(constants, actions=1))


@pytest.mark.parametrize("threshold", [-0.1, 100.0])
def test_threshold_beyond_the_range_of_answers_is_outside(constants, threshold):
    with pytest.raises(OutsideAssumptions, match="threshold"):
        bounds.dual_regret(replace(constants, threshold=threshold), 0.1)


def test_rewards_above_one_are_outside(constants):
    with pytest.raises(OutsideAssumptions, match="scale"):
        replace(constants, scale=1.5)


def test_empty_range_of_multipliers_bounds_no_violation(constants):
    with pytest.raises(OutsideAssumptions, match="multiplier_bound"):
        bounds.theorem_1_violation(replace(constants, multiplier_bound=0.0))


def test_statements_are_the_eighteen_items_in_the_order_of_the_paper_and_five_corrections():
    items = [statement.item for statement in bounds.STATEMENTS.values()]
    assert sorted(set(items)) == list(range(1, 26))
    assert items == sorted(items)
