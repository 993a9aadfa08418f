"""The paper's algorithms: its pseudo-code line by line, and exact limits."""

import dataclasses
import itertools

import numpy as np
import pytest
from chance import Z, assert_mean, assert_uncorrelated
from preparing import ASKING, EXACT, forms, prepare, randomness
from reference import (
    ESTIMATES,
    NATURAL,
    deterministic_policies,
    iterate,
    project,
    random_policies,
    random_process,
    softmax,
    state_values,
    truncated_moments,
)
from scipy import optimize, stats

from pgpd_hf import ALGORITHMS, CMDP, LINKS, random_cmdp, run, solve, solve_unconstrained
from pgpd_hf.algorithms import State, get_algorithm
from pgpd_hf.algorithms.npgpd_hf import theorem_1_steps
from pgpd_hf.algorithms.zpgpd_hf import theorem_2_steps, theorem_perturbation
from pgpd_hf.core.evaluators import feedback_bias_bound
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import utility_range

FORMS = {name: forms(name) for name in (*ASKING, *EXACT)}


def test_parameterizations_are_the_papers_first():
    assert FORMS["npgpd_hf"] == FORMS["npg_pd"] == ("softmax",)
    assert FORMS["zpgpd_hf"] == ("direct", "softmax")
    assert FORMS["pg_pd"] == ("direct",)


@pytest.mark.parametrize("name", FORMS)
def test_default_steps_are_the_theorems(name):
    cmdp = random_process(8, 3, 2, 0.8, threshold=1.2)
    optimum = solve(cmdp)
    steps = {"primal_step": None, "dual_step": None, "multiplier_bound": None}
    algorithm = prepare(name, cmdp, iterations=400, **steps)
    if name in NATURAL:  # Theorem 1
        expected = 2 * np.log(2), 0.2 / 20
    else:  # Theorem 2
        slope = 0.2**4 / (2 * 2 * (1 + 2 / optimum.slack))
        visits = 0.2 * cmdp.state_occupancy(optimum.policy)
        mismatch = max(visits / cmdp.initial)
        expected = slope, 8 * 2 * 3 * (1 + 2 / optimum.slack) / 0.2**4 / 20 * mismatch**2
    assert (algorithm.primal_step, algorithm.dual_step) == pytest.approx(expected, rel=1e-12)
    if name in NATURAL:
        given = theorem_1_steps(2, 0.8, 400)
    else:
        given = theorem_2_steps(3, 2, 0.8, optimum.slack, mismatch, 400)
    assert given == pytest.approx(expected, rel=1e-12)
    assert algorithm.multiplier_bound == pytest.approx(2 / (0.2 * optimum.slack), rel=1e-12)


def test_rates_are_those_of_the_theorems_and_limits_are_named():
    assert {name: ALGORITHMS[name].rate for name in FORMS} == {
        "npgpd_hf": -1 / 2,
        "zpgpd_hf": -1 / 4,
        "npg_pd": None,
        "pg_pd": None,
    }
    limits = {name: ALGORITHMS[name].limit_of for name in FORMS}
    assert limits == dict(zip((*ASKING, *EXACT), (None, None, *ASKING), strict=True))


@pytest.mark.parametrize("unknown", ["ppo", None, 3, ["npgpd_hf"]])
def test_unknown_algorithm_is_refused_with_those_there_are(unknown):
    with pytest.raises(ValueError, match=f"^algorithm: one of {', '.join(ALGORITHMS)} expected"):
        get_algorithm(unknown)


@pytest.mark.parametrize(("states", "actions"), [(3, 2), (10, 4)])
@pytest.mark.parametrize("rounds", [1, 3])
@pytest.mark.parametrize("horizon", [0, 80])
def test_prices_of_an_iteration(states, actions, rounds, horizon):
    """Steps and questions, counted line by line."""
    cmdp = random_process(11, states, actions)
    options = {"rounds": rounds, "horizon": horizon}
    natural, zeroth = (prepare(name, cmdp, **options) for name in ASKING)
    trajectories = states + states * actions + 1  # lines 4, 6 and 13 of Algorithm 1
    questions = states * actions + states * actions + 1  # lines 8, 10 and 15
    assert natural.steps_per_iteration == rounds * trajectories * (horizon + 1)
    assert natural.questions_per_iteration == rounds * questions
    assert zeroth.steps_per_iteration == rounds * 2 * (horizon + 1)
    assert zeroth.questions_per_iteration == rounds * 3
    for name in EXACT:
        exact = prepare(name, cmdp, **options)
        assert (exact.steps_per_iteration, exact.questions_per_iteration) == (0, 0)


@pytest.mark.parametrize("name", EXACT)
def test_exact_algorithms_have_nothing_to_estimate(name):
    algorithm = prepare(name, random_process(12))
    with pytest.raises(TypeError, match=name):
        algorithm.estimate(algorithm.initial_parameter(), *randomness(algorithm, 12, 1))


# Against the paper's pseudo-code.


def options_of(name):
    """Settings that matter to an algorithm."""
    divided = [{"normalize": how} for how in ("linear", "quadratic")]
    divided += [{"step_decay": 0.8}, {"dual_regularization": 0.6}]
    divided += [{"normalize": "linear", "step_decay": 3.0, "dual_regularization": 0.2}]
    if name not in ASKING:
        return [{}, *divided]
    choices = {
        "evaluators": [1, 16, None],
        "rounds": [1, 3],
        "horizon": [0, 5],
        "parameterization": list(FORMS[name]),
        "directions": ["sphere", "tangent"] if name == "zpgpd_hf" else ["sphere"],
        "link": ["logistic"],
    }
    listed = [
        dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values())
    ]
    other = {"evaluators": 16, "rounds": 3, "horizon": 5}
    listed += [{**other, "link": link} for link in LINKS if link != "logistic"]
    listed += [{**other, "link": "probit", "true_link": "cauchy"}]
    listed += [{**other, "random_answers": 0.4}, {**other, "flipped_answers": 1.0}]
    listed += [{**other, "random_answers": 0.4, "flipped_answers": 0.3}]
    listed += [{**other, "recency": 1.2}, {**other, "peak_end": 0.7}]
    listed += [{**other, "recency": 0.3, "peak_end": 0.4, "disagreement": 1.5, "semiorder": 0.2}]
    listed += [{**other, "disagreement": 2.0}, {**other, "semiorder": 0.3}]
    listed += [{**other, **how} for how in divided]
    return listed + [
        {**other, "evaluators": evaluators, "estimator": "unbiased"} for evaluators in (8, 40, None)
    ]


PSEUDO_CODE = [(name, options) for name in FORMS for options in options_of(name)]


def label(value):
    return "-".join(map(str, value.values())) if isinstance(value, dict) else value


@pytest.mark.parametrize(("name", "options"), PSEUDO_CODE, ids=label)
def test_iterations_are_those_of_the_pseudo_code(name, options):
    """Three iterations, each of them from the same parameter as the slow version's."""
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    algorithm = prepare(name, cmdp, **options)
    words, normals = randomness(algorithm, 13, 3)
    state = algorithm.initial_state()._replace(multiplier=0.3)
    for t in range(3):
        theta, multiplier, _ = state
        expected = iterate(
            name, cmdp, algorithm.algorithm, 1.5, theta, multiplier, words[t], normals[t], t
        )
        if name in ASKING:
            estimates, excess = algorithm.estimate(theta, words[t], normals[t])
            directions, distance = ESTIMATES[name](
                cmdp, algorithm.algorithm, theta, words[t], normals[t]
            )
            np.testing.assert_allclose(estimates, directions, rtol=1e-12, atol=1e-12)
            assert excess == pytest.approx(distance, rel=1e-12, abs=1e-12)
        *_, state = algorithm.advance(state, words[t : t + 1], normals[t : t + 1])
        np.testing.assert_allclose(state.theta, expected[0], rtol=1e-12, atol=1e-12)
        assert state.multiplier == pytest.approx(expected[1], rel=1e-12, abs=1e-12)
    assert not np.allclose(state.theta, algorithm.initial_parameter(), atol=1e-3)


@pytest.mark.parametrize("name", FORMS)
def test_normalized_step_is_the_printed_one_divided(name):
    """A step that is as much longer as it is divided leads to the same iterate."""
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    multiplier = 0.75  # 1 + lambda and 1 + lambda^2 are powers of two times integers: no rounding
    ends = {}
    for how, divisor in (("none", 1), ("linear", 1.75), ("quadratic", 1.5625)):
        algorithm = prepare(name, cmdp, normalize=how, primal_step=0.25 * divisor)
        words, normals = randomness(algorithm, 13, 1)
        state = algorithm.initial_state()._replace(multiplier=multiplier)
        ends[how] = algorithm.advance(state, words, normals)[-1]
    assert np.array_equal(ends["linear"].theta, ends["none"].theta)
    assert np.array_equal(ends["quadratic"].theta, ends["none"].theta)
    assert ends["linear"].multiplier == ends["quadratic"].multiplier == ends["none"].multiplier


@pytest.mark.parametrize("name", FORMS)
def test_normalization_has_no_effect_where_the_multiplier_is_zero(name):
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    ends = []
    for how in ("none", "linear", "quadratic"):
        algorithm = prepare(name, cmdp, normalize=how, multiplier_bound=0)
        words, normals = randomness(algorithm, 13, 4)
        ends.append(algorithm.advance(algorithm.initial_state(), words, normals))
    for other in ends[1:]:
        assert np.array_equal(other[0], ends[0][0])
        assert np.array_equal(other[2].theta, ends[0][2].theta)


@pytest.mark.parametrize("name", [*FORMS, "zpg", "episodic_npgpd_hf"])
def test_steps_fall_with_the_root_of_the_iterations(name):
    """After three iterations with step_decay 1, both steps are exactly half as long."""
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    ends = []
    for options in ({"step_decay": 1.0}, {"primal_step": 0.15, "dual_step": 0.1}):
        algorithm = prepare(name, cmdp, **options)
        words, normals = randomness(algorithm, 13, 1)
        state = algorithm.initial_state()._replace(multiplier=0.75, iteration=3)
        ends.append(algorithm.advance(state, words, normals)[-1])
    assert np.array_equal(ends[0].theta, ends[1].theta)
    assert ends[0].multiplier == ends[1].multiplier


@pytest.mark.parametrize("name", [*FORMS, "episodic_npgpd_hf"])
def test_regularization_lowers_the_multiplier_and_leaves_the_policy(name):
    """By eta_2 omega lambda in an iteration, and not at all where the multiplier is zero."""
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    for multiplier in (0.0, 0.75):
        ends = []
        for weight in (0.0, 0.5):
            algorithm = prepare(name, cmdp, dual_regularization=weight)
            words, normals = randomness(algorithm, 13, 1)
            state = algorithm.initial_state()._replace(multiplier=multiplier)
            ends.append(algorithm.advance(state, words, normals)[-1])
        assert np.array_equal(ends[0].theta, ends[1].theta)
        lowered = ends[0].multiplier - ends[1].multiplier
        assert lowered == pytest.approx(0.2 * 0.5 * multiplier, rel=1e-12)


def test_regularized_multiplier_comes_to_rest_where_the_regularized_dual_is_smallest():
    """The violation there is omega lambda; planning at fixed multipliers knows no algorithm."""
    cmdp = random_process(13, 3, 2, 0.5)
    low, high = utility_range(cmdp)
    cmdp = dataclasses.replace(cmdp, threshold=low + 0.8 * (high - low))
    weight = 0.1

    def dual(multiplier):
        lagrangian = cmdp.reward + multiplier * cmdp.utility
        best = max(
            cmdp.initial @ cmdp.state_values(policy, lagrangian)
            for policy in deterministic_policies(cmdp)
        )
        return best - multiplier * cmdp.threshold + weight / 2 * multiplier**2

    expected = optimize.minimize_scalar(dual, bounds=(0, 20), options={"xatol": 1e-10}).x
    assert expected > 0.1
    options = {"primal_step": 0.02, "dual_step": 0.02, "dual_regularization": weight}
    trace = run(cmdp, "npg_pd", seeds=[0], iterations=20_000, multiplier_bound=20, **options)
    last = trace.iloc[-1]
    assert last["multiplier"] == pytest.approx(expected, rel=1e-3)
    assert last["constraint_violation"] == pytest.approx(weight * last["multiplier"], rel=1e-3)


@pytest.mark.parametrize("name", FORMS)
def test_multiplier_is_frozen_without_a_dual_step(name):
    """A run from another multiplier is that from a state which has it."""
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    frozen = prepare(name, cmdp, initial_multiplier=0.75, dual_step=0.0)
    words, normals = randomness(frozen, 13, 5)
    policies, multipliers, last = frozen.advance(frozen.initial_state(), words, normals)
    assert [*multipliers, last.multiplier] == [0.75] * 6
    usual = prepare(name, cmdp, dual_step=0.0)
    state = usual.initial_state()._replace(multiplier=0.75)
    assert np.array_equal(usual.advance(state, words, normals)[0], policies)


@pytest.mark.parametrize("how", ["linear", "quadratic"])
@pytest.mark.parametrize("name", [name for name in FORMS if name in NATURAL])
def test_logits_move_less_by_the_divisor(name, how):
    """Without a projection, the division of the step is a division of the difference."""
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.7)
    moved = []
    for option in ("none", how):
        algorithm = prepare(name, cmdp, normalize=option)
        words, normals = randomness(algorithm, 13, 1)
        state = algorithm.initial_state()._replace(multiplier=3.0)
        moved.append(algorithm.advance(state, words, normals)[-1].theta - state.theta)
    np.testing.assert_allclose(moved[0], {"linear": 4, "quadratic": 10}[how] * moved[1], rtol=1e-12)


@pytest.mark.parametrize(("name", "form"), [(n, form) for n in ASKING for form in FORMS[n]])
@pytest.mark.parametrize(("states", "actions"), [(1, 4), (5, 3), (10, 4)])
def test_other_sizes_follow_the_pseudo_code_too(name, form, states, actions):
    cmdp = random_process(14, states, actions, 0.5)
    algorithm = prepare(name, cmdp, parameterization=form, rounds=2)
    words, normals = randomness(algorithm, 14, 1)
    state = State(algorithm.initial_parameter(random_policies(14, cmdp)), 0.4, 0)
    expected = iterate(name, cmdp, algorithm.algorithm, 1.5, state.theta, 0.4, words[0], normals[0])
    *_, state = algorithm.advance(state, words, normals)
    np.testing.assert_allclose(state.theta, expected[0], rtol=1e-12, atol=1e-12)
    assert state.multiplier == pytest.approx(expected[1], rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize(("threshold", "end"), [(0.01, 0.0), (0.8, 0.65)])
def test_multiplier_is_projected_at_both_ends(name, threshold, end):
    """A huge dual step ends at zero if the constraint is met, at the bound if it is not."""
    cmdp = random_process(15, 3, 2, 0.5, threshold=threshold)
    utility = np.full((3, 2), 0.3)  # V_g is 0.6 whatever the policy, but for one rare pair
    utility[2, 1] = 1.0
    cmdp = dataclasses.replace(cmdp, utility=utility, initial=[0.5, 0.5, 0.0])
    algorithm = prepare(
        name, cmdp, evaluators=None, dual_step=1e6, multiplier_bound=0.65, horizon=40
    )
    words, normals = randomness(algorithm, 15, 1)
    vertex = np.array([[0.5, 0.5]] * 2 + [[1 - 1e-12, 1e-12]])
    state = State(algorithm.initial_parameter(vertex), 0.3, 0)
    assert algorithm.advance(state, words, normals)[2].multiplier == end


# Limits of NPGPD-HF.


@pytest.mark.parametrize("policy_seed", [None, 3])
def test_many_rounds_without_votes_give_the_truncated_advantages(policy_seed):
    """Their mean is Q^H(s, a) - V^H(s), both with H + 1 steps; here H is short, and that exact."""
    cmdp = random_process(16, 3, 2, 0.8, threshold=0.5)
    horizon, batches = 4, 200
    algorithm = prepare("npgpd_hf", cmdp, evaluators=None, rounds=100, horizon=horizon)
    start = None if policy_seed is None else random_policies(policy_seed, cmdp)
    theta = algorithm.initial_parameter(start)
    policy = algorithm.policy(theta)
    mean, _ = truncated_moments(cmdp, policy, horizon)  # (S, A, 2)
    values = np.einsum("sa,sai->si", policy, mean)
    expected = np.moveaxis(mean - values[:, None], -1, 0)
    words, normals = randomness(algorithm, 16, batches)
    found = [algorithm.estimate(theta, words[k], normals[k]) for k in range(batches)]
    assert_mean([estimates for estimates, _ in found], expected)
    assert_mean([excess for _, excess in found], cmdp.initial @ values[:, 1] - 0.5)


def test_long_trajectories_give_the_advantages():
    """With gamma^61 < 1e-13 the truncated advantages are the exact ones."""
    cmdp = random_process(17, 2, 2, 0.6)
    algorithm = prepare("npgpd_hf", cmdp, evaluators=None, rounds=100, horizon=60)
    theta = algorithm.initial_parameter(random_policies(17, cmdp))
    policy = algorithm.policy(theta)
    expected = [cmdp.advantages(policy, signal) for signal in (cmdp.reward, cmdp.utility)]
    words, normals = randomness(algorithm, 17, 150)
    found = [algorithm.estimate(theta, words[k], normals[k]) for k in range(150)]
    assert_mean([estimates for estimates, _ in found], expected)
    assert_mean([excess for _, excess in found], cmdp.evaluate(policy)[1] - cmdp.threshold)


def test_all_actions_of_a_state_are_compared_with_one_trajectory():
    """Without votes and with a first state that is left for good, tau(s) is all the noise there is.

    Q is deterministic then: the estimates of two actions differ by Q(s, a) - Q(s, a').
    """
    cmdp = CMDP(
        transition=[[[0, 1], [0, 1], [0, 1]], [[0, 1]] * 3],
        reward=[[0.1, 0.9, 0.5], [0.2, 0.2, 0.2]],
        utility=[[0.8, 0.3, 0.0], [0.7, 0.7, 0.7]],
        initial=[0.5, 0.5],
        discount=0.5,
        threshold=0.5,
    )
    algorithm = prepare("npgpd_hf", cmdp, evaluators=None, rounds=1, horizon=3)
    words, normals = randomness(algorithm, 18, 50)
    theta = algorithm.initial_parameter()
    shared = set()
    for k in range(50):
        (reward, utility), _ = algorithm.estimate(theta, words[k], normals[k])
        np.testing.assert_allclose(reward[0] - reward[0, 0], [0, 0.8, 0.4], atol=1e-15)
        np.testing.assert_allclose(utility[0] - utility[0, 0], [0, -0.5, -0.8], atol=1e-15)
        # The first action of tau(s) is the same for reward and utility.
        shared.add((round(reward[0, 0], 12), round(utility[0, 0], 12)))
        np.testing.assert_allclose([reward[1], utility[1]], 0, atol=1e-15)
    assert shared == {(0.0, 0.0), (-0.8, 0.5), (-0.4, 0.8)}


def test_excess_comes_from_rho_and_a_trajectory_of_its_own():
    """Only states that rho can draw matter to h_c, and tau(s) does not enter it."""
    cmdp = CMDP(
        transition=[[[1, 0]] * 2, [[0, 1]] * 2],
        reward=[[0, 1], [0, 1]],
        utility=[[1.0, 0.5], [0.0, 0.0]],
        initial=[1, 0],
        discount=0.5,
        threshold=0.25,
    )
    algorithm = prepare("npgpd_hf", cmdp, evaluators=None, rounds=1, horizon=0)
    words, normals = randomness(algorithm, 19, 400)
    theta = algorithm.initial_parameter()
    found = [algorithm.estimate(theta, words[k], normals[k]) for k in range(400)]
    excess = np.array([distance for _, distance in found])
    assert set(excess) == {0.75, 0.25}
    shared = np.array([estimates[1, 0, 0] for estimates, _ in found])  # 1 - R_g(tau(s = 0))
    assert_uncorrelated(np.stack([excess, shared], axis=1))


@pytest.mark.parametrize("name", ASKING)
def test_votes_of_all_questions_are_independent(name):
    """Same trajectories, other votes: the noise of r, g and c is uncorrelated."""
    cmdp = random_process(20, 2, 2, 0.5)
    algorithm = prepare(name, cmdp, evaluators=3, horizon=2)
    moves = algorithm.steps_per_iteration + algorithm.algorithm.rounds
    words, normals = randomness(algorithm, 20, 4000)
    words[:, :moves] = words[0, :moves]
    theta = algorithm.initial_parameter()
    rows = []
    for k in range(4000):
        estimates, excess = algorithm.estimate(theta, words[k], normals[0])
        questions = estimates.ravel() if name == "npgpd_hf" else estimates[:, 0, 0]
        rows.append([*questions, excess])
    assert np.shape(rows)[1] == algorithm.questions_per_iteration
    assert_uncorrelated(rows)


@pytest.mark.parametrize("evaluators", [1, 16])
def test_mean_of_votes_given_the_trajectories(evaluators):
    """Given the trajectories, estimates average to the binomial sum of each link's table."""
    cmdp = random_process(21, 2, 2, 0.5)
    known = prepare("npgpd_hf", cmdp, evaluators=None, horizon=2)
    asked = prepare("npgpd_hf", cmdp, evaluators=evaluators, horizon=2)
    moves = known.steps_per_iteration + 1
    words, normals = randomness(asked, 21, 4000)
    words[:, :moves] = words[0, :moves]
    theta = known.initial_parameter()
    (differences, distance) = known.estimate(theta, words[0], normals[0])
    table = asked.simulator.evaluators
    votes = np.arange(evaluators + 1)

    def expected(difference):
        chance = 1 / (1 + np.exp(-difference))
        return stats.binom.pmf(votes, evaluators, chance) @ table.estimate

    found = [asked.estimate(theta, words[k], normals[k]) for k in range(4000)]
    assert_mean([e for e, _ in found], np.vectorize(expected)(differences))
    assert_mean([h for _, h in found], expected(distance))


# Limits of ZPGPD-HF.


def truncated_values(cmdp, policy, horizon):
    mean, _ = truncated_moments(cmdp, policy, horizon)
    return cmdp.initial @ np.einsum("sa,sai->si", policy, mean)


@pytest.mark.parametrize("form", ["direct", "softmax"])
@pytest.mark.parametrize("directions", ["sphere", "tangent"])
@pytest.mark.parametrize("seed", range(3))
def test_slope_along_a_direction(form, directions, seed):
    """For one direction the mean is d / mu times the difference of both truncated values."""
    cmdp = random_process(22, 3, 2, 0.8)
    horizon, mu, batches = 4, 0.4, 100
    algorithm = prepare(
        "zpgpd_hf",
        cmdp,
        evaluators=None,
        rounds=300,
        horizon=horizon,
        parameterization=form,
        directions=directions,
    )
    theta = algorithm.initial_parameter(random_policies(seed, cmdp))
    words, normals = randomness(algorithm, seed, batches)
    direction = normals[0].reshape(3, 2)
    if directions == "tangent":
        direction = direction - direction.mean(1, keepdims=True)
    direction = direction / np.linalg.norm(direction)
    dimension = {"sphere": 6, "tangent": 3}[directions]
    to_policy = softmax if form == "softmax" else project
    base = truncated_values(cmdp, to_policy(theta), horizon)
    other = truncated_values(cmdp, to_policy(theta + mu * direction), horizon)
    found = [algorithm.estimate(theta, words[k], normals[0]) for k in range(batches)]
    slopes = [np.einsum("isa,sa->i", estimates, direction) for estimates, _ in found]
    assert_mean(slopes, dimension / mu * (other - base))
    assert_mean([excess for _, excess in found], base[1] - cmdp.threshold)
    # The estimate has the direction, and nothing beside it.
    estimates = found[0][0]
    rest = estimates - slopes[0][:, None, None] * direction
    np.testing.assert_allclose(rest, 0, atol=1e-12 * np.abs(slopes[0]).max())


def test_mean_over_tangent_directions_is_the_gradient():
    """The mean estimate is the gradient of the smoothed value, on the plane of row sums one.

    With two states and two actions that plane is two-dimensional; the mean over its unit circle is
    a trapezoidal sum, exact for smooth functions. For a small radius it is the gradient itself.
    """
    cmdp = random_process(23, 2, 2, 0.6)
    horizon, mu, batches = 40, 0.2, 4000
    algorithm = prepare(
        "zpgpd_hf",
        cmdp,
        evaluators=None,
        rounds=10,
        horizon=horizon,
        perturbation=mu,
        directions="tangent",
    )
    theta = np.array([[0.4, 0.6], [0.55, 0.45]])
    circle = []
    for angle in np.arange(64) * 2 * np.pi / 64:
        v = np.outer([np.cos(angle), np.sin(angle)], [1, -1]) / np.sqrt(2)
        rise = truncated_values(cmdp, theta + mu * v, horizon)
        circle.append(2 / mu * rise[:, None, None] * v)
    smoothed = np.mean(circle, axis=0)
    words, normals = randomness(algorithm, 23, batches)
    found = [algorithm.estimate(theta, words[k], normals[k])[0] for k in range(batches)]
    assert_mean(found, smoothed)
    # And that is the policy gradient theorem's gradient up to a term of second order.
    for which, signal in enumerate((cmdp.reward, cmdp.utility)):
        gradient = cmdp.state_occupancy(theta)[:, None] * cmdp.action_values(theta, signal)
        gradient -= gradient.mean(1, keepdims=True)
        np.testing.assert_allclose(smoothed[which], gradient, atol=0.05 * np.abs(gradient).max())


@pytest.mark.parametrize("directions", ["sphere", "tangent"])
def test_mean_step_is_that_of_pg_pd(directions):
    """One step from inside the simplex: 4000 directions, a thousand rounds and M = infinity.

    The mean over directions is off by terms of order mu^2 (those of order mu are odd in the
    direction), that over trajectories of H + 1 = 21 steps by 2^-21 of the value: both far below the
    standard errors, which are small enough to tell the factors 4 and 2 from other whole numbers.
    """
    cmdp = random_process(33, 2, 2, 0.5)
    options = {"primal_step": 1e-4, "dual_step": 1e-3}
    zeroth = {"evaluators": None, "rounds": 1000, "horizon": 20, "perturbation": 0.1}
    algorithm = prepare("zpgpd_hf", cmdp, directions=directions, **zeroth, **options)
    limit = prepare("pg_pd", cmdp, **options)
    state = State(np.array([[0.4, 0.6], [0.55, 0.45]]), 0.6, 0)

    def move(after):
        theta = (after.theta - state.theta) / 1e-4
        return [*theta.ravel(), (after.multiplier - state.multiplier) / 1e-3]

    moves = []
    for seed in range(20):
        words, normals = randomness(algorithm, 33_000 + seed, 200)
        for row in zip(words[:, None], normals[:, None], strict=True):
            moves.append(move(algorithm.advance(state, *row)[2]))
    expected = np.array(move(limit.advance(state, *randomness(limit, 33, 1))[2]))
    assert_mean(moves, expected)
    assert Z * np.std(moves, axis=0).max() / np.sqrt(len(moves)) < np.abs(expected).max() / 8


@pytest.mark.parametrize("directions", ["sphere", "tangent"])
def test_mean_path_is_that_of_pg_pd(directions):
    """With one state, values are linear in the policy, and both updates in policy and multiplier.

    So where nothing is projected the mean path is that of PG-PD, whatever mu and the step sizes
    are, up to the tail after H + 1 = 21 steps, which is 2^-21 of the value.
    """
    cmdp = random_process(34, 1, 3, 0.5, threshold=1.0)
    options = {"primal_step": 0.008, "dual_step": 0.05, "multiplier_bound": 5.0}
    zeroth = {"evaluators": None, "rounds": 2000, "horizon": 20, "perturbation": 0.05}
    algorithm = prepare("zpgpd_hf", cmdp, directions=directions, **zeroth, **options)
    limit = prepare("pg_pd", cmdp, **options)

    def path(method, seed):
        state = method.initial_state()._replace(multiplier=1.0)
        policies, multipliers, _ = method.advance(state, *randomness(method, seed, 10))
        return np.column_stack([policies[:, 0], multipliers])

    paths = np.array([path(algorithm, 34_000 + seed) for seed in range(400)])
    expected = path(limit, 34)
    assert (paths[..., :3] > 0.05).all()  # so perturbed policies are inside the simplex, too
    assert ((paths[..., 3] > 0) & (paths[..., 3] < 5)).all()
    assert_mean(paths[:, 1:], expected[1:])
    allowed = Z * np.std(paths[:, -1], axis=0).max() / np.sqrt(len(paths))
    assert allowed < np.abs(expected[-1] - expected[0]).max() / 8


@pytest.mark.parametrize(("directions", "dimension"), [("sphere", 6), ("tangent", 4)])
def test_directions_are_uniform(directions, dimension):
    """Mean of v v^T is I / d on the sphere, and the centring matrix of each state / d on tangents.

    One person's answer is B or -B, so the estimate is v times +- d B / mu and never zero.
    """
    cmdp = random_process(24, 2, 3, 0.5)
    algorithm = prepare("zpgpd_hf", cmdp, evaluators=1, horizon=0, directions=directions)
    words, normals = randomness(algorithm, 24, 20_000)
    theta = algorithm.initial_parameter()
    found = np.array(
        [algorithm.estimate(theta, w, v)[0][0].ravel() for w, v in zip(words, normals, strict=True)]
    )
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), dimension * 1.0 / 0.4, rtol=1e-12)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    covariance = np.eye(6)
    if directions == "tangent":
        np.testing.assert_allclose(found.reshape(-1, 2, 3).sum(2), 0, atol=1e-14)
        covariance = np.kron(np.eye(2), np.eye(3) - 1 / 3)
    assert_mean(np.einsum("ki,kj->kij", found, found), covariance / dimension)


@pytest.mark.parametrize(
    ("evaluators", "link"), [(None, "logistic"), (1, "logistic"), (16, "logistic"), (64, "probit")]
)
def test_default_perturbation_is_that_of_theorem_2(evaluators, link):
    cmdp = random_process(25, 3, 2, 0.8)
    options = {"perturbation": None, "evaluators": evaluators, "horizon": 6, "link": link}
    algorithm = prepare("zpgpd_hf", cmdp, **options)
    bound = sum(0.8**t for t in range(7))
    candidates = [2 * 0.8**6 / 0.2]
    if evaluators is not None:
        density = np.exp(bound) / (1 + np.exp(bound)) ** 2
        if link == "probit":
            density = np.exp(-(bound**2) / 2) / np.sqrt(2 * np.pi)
        noise = np.sqrt(2 * np.log(evaluators) / evaluators) / density
        candidates.append(noise + 2 * bound / evaluators**2)
    expected = np.sqrt(max(candidates))
    assert algorithm.perturbation.radius == pytest.approx(expected, rel=1e-12)
    given = theorem_perturbation(0.8, 6, evaluators, get_link(link), bound)
    assert given == pytest.approx(expected, rel=1e-12)


def test_default_perturbation_scales_returns_and_takes_truncation_as_printed():
    truncation, bound = 2 * 0.9**80 / (1 - 0.9), 1 - 0.9**81
    for evaluators in (16, 64, 256, None):
        feedback = feedback_bias_bound(evaluators, get_link("logistic"), bound)
        options = {"perturbation": None, "evaluators": evaluators, "horizon": 80}
        radius = prepare("zpgpd_hf", random_cmdp(), **options).perturbation.radius
        expected = truncation if evaluators is None else feedback
        assert radius**2 == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("discount", "options"),
    [
        (0.0, {"evaluators": None, "horizon": 1}),  # nothing is truncated and nobody errs: 0
        (0.5, {"evaluators": None, "horizon": 2000}),  # underflows
        (0.999, {"evaluators": 16, "horizon": 5000}),  # exp(1000) overflows
    ],
)
def test_default_perturbation_that_is_no_number_is_refused(discount, options):
    cmdp = random_process(26, 3, 2, discount, threshold=0.1)
    with pytest.raises(ValueError, match=r"^perturbation: "):
        prepare("zpgpd_hf", cmdp, perturbation=None, **options)
    prepare("zpgpd_hf", cmdp, perturbation=0.1, **options)


def test_tangent_directions_need_two_actions():
    with pytest.raises(ValueError, match=r"^directions: "):
        prepare("zpgpd_hf", random_process(27, 3, 1, threshold=0.1), directions="tangent")


# The exact limits.


def test_npg_pd_multiplies_the_policy_by_exponential_weights():
    """The closed form of Lemma 3.1, iterated on policies instead of parameters."""
    cmdp = random_process(28, 4, 3, 0.8, threshold=2.0)
    algorithm = prepare("npg_pd", cmdp, multiplier_bound=2.0)
    policies, multipliers, _ = algorithm.advance(
        algorithm.initial_state(), *randomness(algorithm, 28, 50)
    )
    policy, multiplier = np.full((4, 3), 1 / 3), 0.0
    for t in range(50):
        np.testing.assert_allclose(policies[t], policy, rtol=1e-9, atol=1e-14)
        assert multipliers[t] == pytest.approx(multiplier, rel=1e-10, abs=1e-14)
        signal = cmdp.reward + multiplier * cmdp.utility
        values = state_values(cmdp, policy, signal)
        advantage = signal + 0.8 * cmdp.transition @ values - values[:, None]
        weights = policy * np.exp(0.3 / 0.2 * advantage)
        v_g = cmdp.initial @ state_values(cmdp, policy, cmdp.utility)
        multiplier = min(max(multiplier - 0.2 * (v_g - 2.0), 0), 2.0)
        policy = weights / weights.sum(1, keepdims=True)


def test_npg_pd_takes_the_natural_gradient():
    """Its step is eta_1 F^+ grad V_L (equation 4), with the Fisher matrix and gradient as such.

    They agree up to a shift per state, which does not change a softmax policy.
    """
    cmdp = random_process(29, 2, 3, 0.7)
    algorithm = prepare("npg_pd", cmdp)
    theta = algorithm.initial_parameter(random_policies(29, cmdp))
    policy, multiplier, eps = algorithm.policy(theta), 0.6, 1e-5
    gradient = np.zeros((2, 3))
    for index in np.ndindex(2, 3):
        bump = np.zeros((2, 3))
        bump[index] = eps
        up, down = (np.array(cmdp.evaluate(softmax(theta + h))) for h in (bump, -bump))
        gradient[index] = (up - down) @ [1, multiplier] / (2 * eps)
    visits = (1 - 0.7) * cmdp.state_occupancy(policy)
    fisher = np.zeros((6, 6))
    for s, a in np.ndindex(2, 3):
        score = np.zeros((2, 3))
        score[s] = -policy[s]
        score[s, a] += 1
        fisher += visits[s] * policy[s, a] * np.outer(score, score)
    expected = 0.3 * (np.linalg.pinv(fisher, rcond=1e-10) @ gradient.ravel()).reshape(2, 3)
    *_, after = algorithm.advance(State(theta, multiplier, 0), *randomness(algorithm, 29, 1))
    moved = after.theta - theta
    centred = [step - step.mean(1, keepdims=True) for step in (moved, expected)]
    np.testing.assert_allclose(*centred, atol=1e-7)


def test_pg_pd_takes_the_gradient():
    """Inside the simplex a small step is the gradient less its mean: compare with differences."""
    cmdp = random_process(30, 3, 3, 0.8)
    step, multiplier, eps = 1e-4, 0.6, 1e-5
    algorithm = prepare("pg_pd", cmdp, primal_step=step)
    theta = 0.8 * random_policies(30, cmdp) + 0.2 / 3
    *_, after = algorithm.advance(State(theta, multiplier, 0), *randomness(algorithm, 30, 1))
    moved = (after.theta - theta) / step
    for s, a in np.ndindex(3, 3):
        bump = np.zeros((3, 3))
        bump[s] = -eps / 3
        bump[s, a] += eps
        up, down = (np.array(cmdp.evaluate(theta + h)) for h in (bump, -bump))
        slope = (up - down) @ [1, multiplier] / (2 * eps)
        assert moved[s, a] == pytest.approx(slope, abs=1e-6)


@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("threshold", ["loose", "binding"])
def test_exact_limits_find_the_optimum(name, threshold):
    """The averages over iterates converge: values to the LP's, multipliers to a dual optimum."""
    cmdp = random_process(31, 3, 3, 0.5, threshold=0.0)
    largest, free = solve_unconstrained(cmdp).slack, solve_unconstrained(cmdp).utility_value
    weight = 0.4 if threshold == "binding" else -0.4
    cmdp = dataclasses.replace(cmdp, threshold=free + weight * (largest - free))
    optimum = solve(cmdp)
    steps = {"primal_step": 0.2, "dual_step": 0.02, "multiplier_bound": 2.0}
    algorithm = prepare(name, cmdp, **steps)
    policies, multipliers, _ = algorithm.advance(
        algorithm.initial_state(), *randomness(algorithm, 31, 6000)
    )
    v_r, v_g = cmdp.evaluate(policies)
    bound = 0.01 * cmdp.value_bound
    assert v_r.mean() == pytest.approx(optimum.reward_value, abs=bound)
    assert v_g.mean() >= cmdp.threshold - bound
    all_r, all_g = cmdp.evaluate(deterministic_policies(cmdp))
    dual = (all_r + multipliers.mean() * (all_g - cmdp.threshold)).max()
    assert optimum.reward_value - 1e-9 <= dual <= optimum.reward_value + bound
    if threshold == "binding":
        assert optimum.multiplier > 0.05
        assert v_g.mean() == pytest.approx(cmdp.threshold, abs=bound)
    else:
        assert v_r[-1] == pytest.approx(optimum.reward_value, abs=1e-6)


def test_many_rounds_follow_the_exact_limit():
    """With 4000 rounds a path of five iterations stays near the one without noise."""
    cmdp = random_process(32, 2, 2, 0.5)
    options = {"evaluators": None, "rounds": 4000, "horizon": 45}
    algorithm, limit = prepare("npgpd_hf", cmdp, **options), prepare("npg_pd", cmdp)
    policies, multipliers, _ = algorithm.advance(
        algorithm.initial_state(), *randomness(algorithm, 32, 5)
    )
    expected, expected_multipliers, _ = limit.advance(
        limit.initial_state(), *randomness(limit, 32, 5)
    )
    np.testing.assert_allclose(policies, expected, atol=0.05)
    np.testing.assert_allclose(multipliers, expected_multipliers, atol=0.05)


@pytest.mark.parametrize("name", ["sampled_npgpd_hf", "episodic_npgpd_hf"])
def test_step_is_that_of_the_estimate(name):
    cmdp = random_process(4)
    algorithm = prepare(name, cmdp)
    words, normals = randomness(algorithm, 1, 2)
    start = algorithm.initial_state()._replace(multiplier=0.7)
    _, _, end = algorithm.advance(start, words[:1], normals[:1])
    (reward, utility), excess = algorithm.estimate(start.theta, words[0], normals[0])
    step = algorithm.primal_step / (1 - cmdp.discount)
    np.testing.assert_array_equal(end.theta, step * (reward + 0.7 * utility))
    assert end.multiplier == algorithm.dual_update(0.7, excess)
