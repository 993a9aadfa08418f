"""Optima: two methods against each other, against enumeration, and against the theory."""

import dataclasses

import numpy as np
import pytest
from reference import deterministic_policies, random_policies, random_process
from scipy import optimize
from scipy.optimize import OptimizeResult, linprog

from pgpd_hf import CMDP, random_cmdp, solve, solve_unconstrained
from pgpd_hf.core import optima
from pgpd_hf.core.optima import METHODS, best_for, maximize, utility_range, utility_span

# How far the threshold lies between the utility of the unconstrained optimum and the largest one.
TIGHTNESS = {"loose": -0.2, "binding": 0.3, "tight": 0.95}


def with_threshold(cmdp, fraction):
    """Put the threshold between the unconstrained optimum's utility and the largest utility."""
    free = solve_unconstrained(cmdp)
    largest = free.slack + cmdp.threshold
    threshold = free.utility_value + fraction * (largest - free.utility_value)
    return dataclasses.replace(cmdp, threshold=threshold)


def instances(count, tightness, scale="normalized"):
    for instance in range(count):
        cmdp = random_cmdp(6, 3, instance, threshold=0.0, scale=scale)
        yield with_threshold(cmdp, TIGHTNESS[tightness])


@pytest.mark.parametrize("instance", range(20))
@pytest.mark.parametrize("scale", ["normalized", "unit"])
@pytest.mark.parametrize("tightness", TIGHTNESS)
def test_linear_program_and_policy_iteration_agree(instance, scale, tightness):
    cmdp = random_cmdp(6, 3, instance, threshold=0.0, scale=scale)
    cmdp = with_threshold(cmdp, TIGHTNESS[tightness])
    program, dual = (solve(cmdp, method) for method in METHODS)
    assert (program.method, dual.method) == METHODS
    for name in ("reward_value", "utility_value"):
        ours, theirs = getattr(program, name), getattr(dual, name)
        assert ours == pytest.approx(theirs, abs=1e-8 * cmdp.value_bound)
    assert program.multiplier == pytest.approx(dual.multiplier, abs=1e-8)
    assert program.slack == dual.slack
    # A binding threshold is met exactly and costs something; a loose one is free.
    for optimum in (program, dual):
        excess = optimum.utility_value - cmdp.threshold
        if tightness == "loose":
            assert optimum.multiplier == 0
            assert excess > 0
        else:
            assert optimum.multiplier > 0
            assert excess == pytest.approx(0, abs=1e-9 * cmdp.value_bound)


@pytest.mark.parametrize("method", METHODS)
def test_the_experiment_has_a_binding_threshold_and_slack(method):
    """The default instance, as the paper needs it: feasible with room, and not for free."""
    optimum = solve(random_cmdp(), method)
    assert optimum.slack > 0
    assert optimum.utility_value >= 0.55 - 1e-9


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tightness", TIGHTNESS)
def test_values_are_those_of_the_policy(method, tightness):
    for cmdp in instances(5, tightness):
        optimum = solve(cmdp, method)
        np.testing.assert_allclose(optimum.policy.sum(1), 1, atol=1e-12)
        assert (optimum.policy >= 0).all()
        assert cmdp.evaluate(optimum.policy) == (optimum.reward_value, optimum.utility_value)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("tightness", TIGHTNESS)
@pytest.mark.parametrize("seed", range(4))
def test_optimum_by_enumeration(method, tightness, seed):
    """Occupancy measures are mixtures of deterministic ones, and one constraint needs two of them.

    So the constrained optimum is the largest reward over mixtures of two deterministic policies
    that meet the threshold, and the dual optimum is the smallest of the upper envelope's values.
    """
    cmdp = random_process(seed, 3, 3, discount=0.8, threshold=0.0)
    cmdp = with_threshold(cmdp, TIGHTNESS[tightness])
    v_r, v_g = cmdp.evaluate(deterministic_policies(cmdp))
    excess = v_g - cmdp.threshold
    best = v_r[excess >= 0].max()
    below, above = np.flatnonzero(excess < 0), np.flatnonzero(excess >= 0)
    weight = excess[above, None] / (excess[above, None] - excess[below])
    mixtures = weight * v_r[below] + (1 - weight) * v_r[above, None]
    best = max(best, mixtures.max(initial=0.0))
    optimum = solve(cmdp, method)
    assert optimum.reward_value == pytest.approx(best, abs=1e-9)
    assert optimum.slack == pytest.approx(excess.max(), abs=1e-12)
    # Strong duality: the Lagrangian's maximum at the multiplier is the same number, and smallest.
    assert (v_r + optimum.multiplier * excess).max() == pytest.approx(best, abs=1e-8)
    for multiplier in optimum.multiplier + np.linspace(-0.5, 2, 26):
        if multiplier >= 0:
            assert (v_r + multiplier * excess).max() >= best - 1e-9


@pytest.mark.parametrize("tightness", TIGHTNESS)
def test_complementary_slackness_and_the_bound_of_lemma_2_1(tightness):
    for cmdp in instances(10, tightness):
        optimum = solve(cmdp)
        excess = optimum.utility_value - cmdp.threshold
        assert abs(optimum.multiplier * excess) < 1e-9
        safest = maximize(cmdp, cmdp.utility)
        v_r, v_g = cmdp.evaluate(safest)
        assert v_g - cmdp.threshold == optimum.slack
        assert 0 <= optimum.multiplier <= (optimum.reward_value - v_r) / optimum.slack + 1e-9
        assert optimum.multiplier <= 2 / ((1 - cmdp.discount) * optimum.slack)


@pytest.mark.parametrize("tightness", TIGHTNESS)
def test_no_feasible_policy_is_better(tightness):
    for cmdp in instances(5, tightness):
        optimum = solve(cmdp)
        v_r, v_g = cmdp.evaluate(random_policies(0, cmdp, 2000))
        assert (v_r[v_g >= cmdp.threshold] <= optimum.reward_value + 1e-9).all()
        # Whether feasible or not, none exceeds the Lagrangian's maximum.
        lagrangian = v_r + optimum.multiplier * (v_g - cmdp.threshold)
        assert (lagrangian <= optimum.reward_value + 1e-9).all()


@pytest.mark.parametrize("tightness", TIGHTNESS)
def test_constraint_can_only_cost(tightness):
    for cmdp in instances(10, tightness):
        constrained, free = solve(cmdp), solve_unconstrained(cmdp)
        assert free.reward_value >= constrained.reward_value - 1e-9
        costs = free.reward_value > constrained.reward_value + 1e-6
        assert costs == (tightness != "loose")
        assert free.multiplier == 0
        assert free.slack == constrained.slack
        assert cmdp.evaluate(free.policy) == (free.reward_value, free.utility_value)


@pytest.mark.parametrize("name", ["reward", "utility"])
@pytest.mark.parametrize("discount", [0.0, 0.5, 0.9, 0.99])
def test_maximize_solves_the_linear_program_over_values(name, discount):
    """min <rho, v> subject to v >= signal + gamma P v: the other linear program."""
    cmdp = random_process(1, 6, 3, discount)
    signal = getattr(cmdp, name)
    rows = np.repeat(np.eye(6), 3, axis=0) - discount * cmdp.transition.reshape(-1, 6)
    program = linprog(cmdp.initial, A_ub=-rows, b_ub=-signal.ravel(), bounds=(None, None))
    which = ("reward", "utility").index(name)
    policy = maximize(cmdp, signal)
    assert set(policy.ravel()) == {0.0, 1.0}
    assert cmdp.evaluate(policy)[which] == pytest.approx(program.fun, rel=1e-9)


def test_a_threshold_out_of_reach_is_recognised_even_if_the_solver_gives_up(monkeypatch):
    """HiGHS sometimes ends so; whatever else it fails at is refused."""
    lost = OptimizeResult(status=4, message="status unknown")
    monkeypatch.setattr(optimize, "linprog", lambda *arguments, **named: lost)
    cmdp = random_process(7, 3, 2, 0.6, threshold=0.2)
    reach = utility_range(cmdp)[1]
    for threshold in (reach + 1e-6, 5.0):
        beyond = dataclasses.replace(cmdp, threshold=threshold)
        assert best_for(beyond, cmdp.reward, cmdp.utility) is None
    within = dataclasses.replace(cmdp, threshold=reach - 1e-6)
    with pytest.raises(ValueError, match=r"^threshold: .*: linear program failed: status unknown$"):
        best_for(within, cmdp.reward, cmdp.utility)


@pytest.mark.parametrize("tightness", TIGHTNESS)
def test_beyond_a_number_of_transitions_it_is_policy_iteration(monkeypatch, tightness):
    """For the CMDP and for other signals, within reach and beyond it."""
    cmdp = with_threshold(random_cmdp(6, 3, 1, threshold=0.0), TIGHTNESS[tightness])
    signals = [5 * cmdp.scale * np.random.default_rng(k).normal(size=(6, 3)) for k in range(2)]
    policy, multiplier = best_for(dataclasses.replace(cmdp, threshold=0.0), *signals)
    assert solve(cmdp).method == "linear_program"
    monkeypatch.setattr(optima, "_MOST_IN_PROGRAM", 6 * 6 * 3 - 1)
    monkeypatch.delattr(optimize, "linprog")
    assert solve(cmdp).method == "policy_iteration"
    found = best_for(dataclasses.replace(cmdp, threshold=0.0), *signals)
    np.testing.assert_allclose(found[0], policy, atol=1e-7)
    assert found[1] == pytest.approx(multiplier, abs=1e-7)
    most = cmdp.initial @ cmdp.state_values(maximize(cmdp, signals[1]), signals[1])
    assert best_for(dataclasses.replace(cmdp, threshold=most - 1e-6), *signals) is not None
    assert best_for(dataclasses.replace(cmdp, threshold=most + 1e-6), *signals) is None
    monkeypatch.setattr(optima, "_MOST_IN_PROGRAM", 6 * 6 * 3)
    with pytest.raises(ImportError):
        solve(cmdp)


def test_of_equally_good_actions_the_first_is_taken_whatever_rounding_says():
    """All states pay the same, so all actions are equal, but for the rounding of their sums."""
    cmdp = random_cmdp(states=7, actions=5, instance=3)
    signal = np.full((7, 5), 0.1)
    values = cmdp.action_values(np.eye(5)[np.zeros(7, int)], signal)
    assert (values.argmax(1) > 0).any()
    assert (maximize(cmdp, signal)[:, 0] == 1).all()


def test_policy_iteration_sees_what_shows_late():
    """Waiting a step for more is better by 1e-8, which pays after many steps only."""
    income = (0.5 + 1e-8) / 0.99
    cmdp = CMDP(
        transition=[[[1, 0], [0, 1]], [[0, 1], [0, 1]]],
        reward=[[0.5, 0.0], [income, income]],
        utility=np.zeros((2, 2)),
        initial=[1, 0],
        discount=0.99,
        threshold=-1,
    )
    assert maximize(cmdp, cmdp.reward)[0].tolist() == [0, 1]


@pytest.mark.parametrize("distance", [1e-3, 1e-5, 1e-7])
def test_optimum_of_the_far_sighted_is_that_of_an_average(distance):
    """Which state comes next depends on the action alone, so values follow by hand."""
    utility = np.array([[0.5, 0.5], [0.6, 0.6]])
    transition = np.zeros((2, 2, 2))
    transition[:, 0], transition[:, 1] = [0.9, 0.1], [0.1, 0.9]
    threshold = 0.55 / distance
    cmdp = CMDP(transition, 1 - utility, utility, [1, 0], 1 - distance, threshold)
    optimum = solve(cmdp)
    best = (1 - distance) * 0.59 + distance * 0.5  # from state 0; then 0.9 of the time in state 1
    np.testing.assert_allclose(optimum.slack, best / distance - threshold, rtol=1e-6)
    np.testing.assert_allclose(optimum.multiplier, 1, rtol=1e-6)
    np.testing.assert_allclose(optimum.utility_value, threshold, rtol=1e-6)
    assert optimum.method == ("policy_iteration" if distance < 0.009 else "linear_program")


@pytest.mark.parametrize("discount", [0.999, 0.9999, 0.99999, 0.999999])
def test_far_sighted_random_problems_are_solved(discount):
    for instance in range(20):
        cmdp = random_cmdp(discount=discount, threshold="midway", instance=instance)
        accuracy = 1e-12 / (1 - discount)
        np.testing.assert_allclose(solve(cmdp).utility_value, cmdp.threshold, rtol=accuracy)


def test_policy_iteration_improves_on_every_deterministic_policy():
    cmdp = random_process(2, 4, 3, 0.95)
    for signal, which in ((cmdp.reward, 0), (cmdp.utility, 1)):
        values = cmdp.evaluate(deterministic_policies(cmdp))[which]
        assert cmdp.evaluate(maximize(cmdp, signal))[which] >= values.max() - 1e-12


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("instance", range(3))
def test_units_do_not_matter(method, instance):
    """Ten times the reward, utility and threshold: same policy, same multiplier."""
    normalized = with_threshold(random_cmdp(6, 3, instance, threshold=0.0), 0.4)
    unit = random_cmdp(6, 3, instance, threshold=10 * normalized.threshold, scale="unit")
    ours, theirs = solve(normalized, method), solve(unit, method)
    np.testing.assert_allclose(ours.policy, theirs.policy, atol=1e-8)
    assert ours.multiplier == pytest.approx(theirs.multiplier, abs=1e-8)
    assert 10 * ours.reward_value == pytest.approx(theirs.reward_value, rel=1e-8)
    assert 10 * ours.slack == pytest.approx(theirs.slack, rel=1e-8)


@pytest.mark.parametrize("method", METHODS)
def test_bandit_by_hand(method):
    """Mix a safe arm and a rewarding one so that the threshold is met; a third arm is useless."""
    bandit = CMDP([[[1.0]] * 3], [[0.0, 1.0, 0.1]], [[1.0, 0.0, 0.1]], [1.0], 0.5, 1.5)
    optimum = solve(bandit, method)
    np.testing.assert_allclose(optimum.policy, [[0.75, 0.25, 0.0]], atol=1e-9)
    assert optimum.reward_value == pytest.approx(0.5)
    assert optimum.multiplier == pytest.approx(1.0)
    assert optimum.slack == pytest.approx(0.5)


@pytest.mark.parametrize("method", METHODS)
def test_several_unconstrained_optima_and_only_some_of_them_safe(method):
    """Safety is free here, although policy iteration may find an unsafe optimum first."""
    bandit = CMDP([[[1.0]] * 2], [[0.7, 0.7]], [[0.0, 1.0]], [1.0], 0.5, 1.2)
    optimum = solve(bandit, method)
    assert optimum.reward_value == pytest.approx(1.4)
    assert optimum.utility_value >= 1.2 - 1e-9
    assert optimum.multiplier == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_states_that_are_never_visited_have_a_policy(method):
    """State 1 cannot be reached from the start."""
    cmdp = CMDP(
        transition=[[[1, 0], [1, 0]], [[0, 1], [0, 1]]],
        reward=[[0, 1], [0.5, 0.5]],
        utility=[[1, 0], [0.5, 0.5]],
        initial=[1, 0],
        discount=0.5,
        threshold=1.0,
    )
    optimum = solve(cmdp, method)
    np.testing.assert_allclose(optimum.policy, 0.5, atol=1e-9)
    assert optimum.reward_value == pytest.approx(1.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("excess", [0.0, 1e-6, 10.0])
def test_threshold_without_slack_is_refused(method, excess):
    cmdp = random_process(3, 4, 2)
    largest = cmdp.evaluate(deterministic_policies(cmdp))[1].max()
    cmdp = dataclasses.replace(cmdp, threshold=largest + excess)
    with pytest.raises(ValueError, match=f"^threshold: .*largest utility value .* {largest:.6g}"):
        solve(cmdp, method)
    assert solve_unconstrained(cmdp).slack == pytest.approx(-excess, abs=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_threshold_just_below_the_largest_utility_is_solved(method):
    cmdp = random_process(3, 4, 2)
    values = cmdp.evaluate(deterministic_policies(cmdp))
    best = values[1].argmax()
    cmdp = dataclasses.replace(cmdp, threshold=values[1][best] - 1e-7)
    optimum = solve(cmdp, method)
    assert optimum.slack == pytest.approx(1e-7, abs=1e-12)
    assert optimum.reward_value == pytest.approx(values[0][best], abs=1e-4)


@pytest.mark.parametrize("method", ["simplex", 1])
def test_unknown_method_is_refused(method):
    with pytest.raises(ValueError, match=r"^method: one of linear_program, policy_iteration"):
        solve(random_process(4), method)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reward_value": 0.68}, ": of another CMDP; in this one its policy has the values"),
        (
            {"utility_value": 0.55 + 1e-6},
            ": of another CMDP; in this one its policy has the values",
        ),
        ({"slack": 0.0}, r": a positive slack expected, got 0"),
        ({"threshold": 0.5}, r": of another CMDP, with threshold 0\.5, not 0\.55"),
        (
            {"policy": np.full((2, 10, 4), 0.25)},
            r"\.policy: shape \(10, 4\) expected, got \(2, 10, 4\)",
        ),
        ({"policy": np.ones((10, 4))}, r"\.policy: probabilities at \(0,\) sum to 4"),
    ],
)
def test_optimum_of_another_cmdp_is_refused(change, message):
    cmdp = random_cmdp()
    optimum = solve(cmdp)
    optima.given_optimum(cmdp, optimum)
    with pytest.raises(ValueError, match=f"^optimum{message}"):
        optima.given_optimum(cmdp, dataclasses.replace(optimum, **change))


def test_what_is_no_optimum_is_refused():
    with pytest.raises(ValueError, match=r"^optimum: an Optimum expected, got 0\.68$"):
        optima.given_optimum(random_cmdp(), 0.68)


def test_optimum_is_shown_on_one_line():
    bandit = CMDP([[[1.0]] * 2], [[0.0, 1.0]], [[1.0, 0.0]], [1.0], 0.5, 1.5)
    assert str(solve(bandit)) == (
        "<Optimum: V_r = 0.5, V_g = 1.5, multiplier 1, threshold 1.5, slack 0.5>"
    )


def test_utility_span_is_over_all_policies():
    cmdp = random_cmdp(states=3, actions=2, instance=4)
    values = [float(cmdp.evaluate(policy)[1]) for policy in deterministic_policies(cmdp)]
    assert utility_span(cmdp) == pytest.approx(max(values) - min(values), abs=1e-12)


def test_linear_program_without_a_solution_is_named(monkeypatch):
    """Where the safest policy's slack is below what the solver can tell."""
    infeasible = OptimizeResult(status=2)
    monkeypatch.setattr(optimize, "linprog", lambda *arguments, **named: infeasible)
    said = "^threshold: 0.55: linear program failed: infeasible; method='policy_iteration' may"
    with pytest.raises(ValueError, match=said):
        solve(random_cmdp())


@pytest.mark.parametrize("scale", [1e9, 1e12])
def test_scale_far_above_the_signals_does_not_hide_the_slack(scale):
    bandit = CMDP([[[1.0]] * 2], [[1.0, 0.0]], [[0.0, 1.0]], [1.0], 0.9, 5, scale=scale)
    optimum = solve(bandit, "policy_iteration")
    assert optimum.slack == pytest.approx(5)
    assert optimum.reward_value == pytest.approx(5)
    assert optimum.multiplier == pytest.approx(1)


@pytest.mark.parametrize("method", METHODS)
def test_multiplier_is_never_negative(method):
    """Where the reward is the same whatever is done, it is zero up to rounding."""
    random = np.random.default_rng(0)
    found = []
    for _ in range(40):
        transition = random.dirichlet(np.ones(3), (3, 2))
        reward, utility = np.ones((3, 2)), random.random((3, 2))
        cmdp = CMDP(transition, reward, utility, [1.0, 0.0, 0.0], 0.9, 0.0)
        threshold = optima.utility_range(cmdp)[1] - utility_span(cmdp) / 4
        cmdp = dataclasses.replace(cmdp, threshold=threshold)
        found.append(solve(cmdp, method).multiplier)
    assert min(found) >= 0
    assert max(found) < 1e-12


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e300])
def test_unit_of_rewards_does_not_matter(scale):
    cmdp = random_cmdp(3, 2, instance=1)
    scaled = CMDP(
        cmdp.transition,
        scale * cmdp.reward,
        scale * cmdp.utility,
        cmdp.initial,
        cmdp.discount,
        scale * cmdp.threshold,
        scale=scale * cmdp.scale,
    )
    own, other = solve(cmdp), solve(scaled)
    assert other.reward_value / scale == pytest.approx(own.reward_value)
    assert other.slack / scale == pytest.approx(own.slack)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", [1e-10, 1e-20])
@pytest.mark.parametrize("name", ["reward", "utility"])
def test_signals_may_be_tiny_beside_the_scale(name, size, method):
    for instance in range(9):
        cmdp = random_cmdp(4, 3, instance, scale="unit", threshold="midway")
        change = {name: size * getattr(cmdp, name)}
        if name == "utility":
            change["threshold"] = size * cmdp.threshold
        own, other = solve(cmdp, method), solve(dataclasses.replace(cmdp, **change), method)
        np.testing.assert_allclose(other.policy, own.policy, atol=1e-8)
        unit = size if name == "reward" else 1 / size
        assert other.multiplier / unit == pytest.approx(own.multiplier)
