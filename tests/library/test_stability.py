"""Stability: the law of the policy at a frozen multiplier, against exact chains."""

import dataclasses
import itertools
import math
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from chance import LEVEL, Z
from preparing import randomness
from reference import random_policies, random_process, truncated_moments
from scipy import integrate, linalg, special, stats

from pgpd_hf import (
    CMDP,
    LINKS,
    NPGPD,
    NPGPDHF,
    ZPG,
    ZPGPDHF,
    media_streaming,
    predict_stability,
    random_cmdp,
    run,
    solve,
    stability,
)
from pgpd_hf.core.evaluators import make_evaluators

PRINTED = {"evaluators": 16, "primal_step": 0.001, "dual_step": 0.0003}
CHAIN = {"evaluators": 4, "horizon": 0, "perturbation": 0.5, "dual_step": 0.1}
DIVISORS = {"none": lambda x: 1, "linear": lambda x: 1 + x, "quadratic": lambda x: 1 + x**2}


# Against a chain in one dimension.


def bandit(reward=(0.55, 0.45), utility=(0.44, 0.56)):
    """One state and two actions; a trajectory is one step, so a return is one of two numbers."""
    return CMDP([[[1.0], [1.0]]], [reward], [utility], [1.0], 0.0, 0.5)


def votes(evaluators, difference):
    """Numbers that an answer about a difference can be, and their probabilities."""
    counts = np.arange(evaluators + 1)
    numbers = np.clip(special.logit(counts / evaluators), -1, 1)  # the largest return is one
    return numbers, stats.binom.pmf(counts, evaluators, special.expit(difference))


def outcomes(cmdp, grid, multiplier, radius, angles):
    """All that Algorithm 2 can draw at policies (x, 1 - x): chances, slopes, and tilts of v."""
    (reward,), (utility,) = cmdp.reward, cmdp.utility
    for angle in 2 * math.pi * (np.arange(angles) + 0.5) / angles:
        tilt = (math.cos(angle) - math.sin(angle)) / 2  # of v, once its mean is projected away
        perturbed = np.clip(grid + radius * tilt, 0, 1)
        for one, other in itertools.product(range(2), repeat=2):
            chance = np.where(one == 0, grid, 1 - grid)
            chance = chance * np.where(other == 0, perturbed, 1 - perturbed) / angles
            sums, weights = np.zeros(1), np.ones(1)
            for factor, signal in ((1.0, reward), (multiplier, utility)):
                numbers, shares = votes(CHAIN["evaluators"], signal[other] - signal[one])
                sums = np.add.outer(sums, factor * numbers).ravel()
                weights = np.multiply.outer(weights, shares).ravel()
            for y, weight in zip(sums, weights, strict=True):
                yield weight * chance, y, tilt


def stationary(cmdp, multiplier, step, cells=601, angles=64):
    """Points x and their stationary probabilities under the kernel of Algorithm 2.

    Between two points of the grid, probability is shared so that means are kept.
    """
    grid = np.linspace(0, 1, cells)
    kernel, places, radius = np.zeros(cells**2), np.arange(cells), CHAIN["perturbation"]
    for chance, y, tilt in outcomes(cmdp, grid, multiplier, radius, angles):
        moved = np.clip(grid + step * 2 / radius * y * tilt, 0, 1) * (cells - 1)
        left = np.minimum(moved.astype(int), cells - 2)
        np.add.at(kernel, places * cells + left, chance * (1 - moved + left))
        np.add.at(kernel, places * cells + left + 1, chance * (moved - left))
    kernel = kernel.reshape(cells, cells)
    assert kernel.sum(1) == pytest.approx(1)
    system, right = kernel.T - np.eye(cells), np.zeros(cells)
    system[-1], right[-1] = 1, 1
    return grid, np.linalg.solve(system, right)


@pytest.mark.parametrize("normalize", DIVISORS)
@pytest.mark.parametrize("multiplier", [0.0, 0.5, 2.0, 6.0])
def test_mean_values_are_those_of_the_exact_chain(normalize, multiplier):
    """Steps have about the same length in all cases: a hundredth, and five cells of the grid."""
    cmdp, divisor = bandit(), DIVISORS[normalize](multiplier)
    step = 0.006 * divisor / math.sqrt(1 + multiplier**2)
    algorithm = ZPGPDHF(**CHAIN, primal_step=step, normalize=normalize)
    found = predict_stability(cmdp, algorithm, multipliers=[multiplier])
    grid, law = stationary(cmdp, multiplier, step / divisor)
    for value, signal in ((found.rewards, cmdp.reward), (found.utilities, cmdp.utility)):
        exact = law @ (grid * signal[0, 0] + (1 - grid) * signal[0, 1])
        assert value[0] == pytest.approx(exact, abs=0.0015)


@pytest.mark.parametrize("multiplier", [0.0, 0.5, 3.0])
def test_temperature_is_that_of_the_exact_steps(multiplier):
    """The variance of the sum of answers, over everything that can be drawn at the middle."""
    cmdp = bandit()
    algorithm = ZPGPDHF(**CHAIN, primal_step=0.01)
    law = stability._Law.of(cmdp, algorithm, None)
    drawn = outcomes(cmdp, np.array([0.5]), multiplier, 1e-9, 64)
    chance, sums, _ = np.array([(chance[0], y, tilt) for chance, y, tilt in drawn]).T
    variance = chance @ sums**2 - (chance @ sums) ** 2
    expected = 0.01 * 2 * variance / (2 * 0.5**2)
    # The quadrature takes differences of returns, which are -0.1, 0 and 0.1, as normal.
    assert law.temperature(multiplier) == pytest.approx(expected, rel=1e-4)


# The parts of the law.


@pytest.mark.parametrize("actions", [2, 3, 4, 8])
@pytest.mark.parametrize("strength", [0.0, 1.0, 10.0, 100.0])
def test_points_of_a_simplex_are_weighted_as_they_should_be(actions, strength):
    """Without a perturbation the law exp(w x) has a mean that divided differences give."""
    field = strength * np.linspace(0, 1, actions) ** 2
    points, images, logarithms = stability._cloud(1e-12, 2 * actions, actions, False)
    np.testing.assert_allclose(points, images, atol=1e-9)
    weights = np.exp(points @ field + logarithms - (points @ field + logarithms).max())
    found = weights @ points / weights.sum()

    def log_mass(x):
        """Of the integral of exp(w x) over the simplex: a divided difference of exp at w."""
        matrix = np.diag(x - x.max()) + np.diag(np.ones(actions - 1), 1)
        return math.log(linalg.expm(matrix)[0, -1]) + x.max()

    step = 1e-4
    shifts = step * np.eye(actions)
    exact = [(log_mass(field + e) - log_mass(field - e)) / (2 * step) for e in shifts]
    np.testing.assert_allclose(found, exact, atol=0.03)


@pytest.mark.parametrize("states", [1, 3, 10])
@pytest.mark.parametrize("tangent", [False, True])
def test_perturbations_are_uniform_in_a_ball(states, tangent):
    """Their covariance is the identity, on the space of directions, over d + 2."""
    actions = 4
    dimension = states * (actions - tangent)
    rows = stability._rows_of_ball(np.random.default_rng(1), 10**5, dimension, actions, tangent)
    space = np.eye(actions) - tangent / actions
    found = rows.T @ rows / len(rows)
    np.testing.assert_allclose(found, space / (dimension + 2), atol=0.01 / dimension)
    if states == 1:  # the norm of a uniform point, to the power of the dimension, is uniform
        norms = np.linalg.norm(rows, axis=1) ** dimension
        assert stats.kstest(norms, "uniform").pvalue > LEVEL


def test_covariance_of_returns_is_that_of_the_backward_recursion():
    cmdp = random_process(3, 4, 3, 0.8)
    policy = random_policies(3, cmdp)
    mean, second = truncated_moments(cmdp, policy, 200)
    first = np.einsum("sa,sai->si", policy, mean)
    moments = np.einsum("sa,saij->sij", policy, second)
    within = moments - np.einsum("si,sj->sij", first, first)
    expected = np.einsum("s,sij->ij", cmdp.initial, within)
    np.testing.assert_allclose(stability.return_covariance(cmdp, policy), expected, rtol=1e-10)


@pytest.mark.parametrize(
    "people",
    [
        {},
        {"estimator": "unbiased"},
        {"true_link": "probit"},
        {"random_answers": 0.3},
        {"estimator": "unbiased", "true_link": "cauchy", "random_answers": 0.2},
    ],
)
@pytest.mark.parametrize("variance", [0.0, 0.05])
def test_moments_of_answers_are_those_of_all_votes(people, variance):
    evaluators = make_evaluators(12, LINKS["logistic"], 1.0, **people)
    link = {"probit": stats.norm.cdf, "cauchy": stats.cauchy.cdf}.get(
        people.get("true_link"), special.expit
    )
    share = people.get("random_answers", 0.0)
    counts = np.arange(13)

    def moment(power, shift):
        def at(noise):
            chance = (1 - share) * link(shift + noise) + share / 2
            return stats.binom.pmf(counts, 12, chance) @ evaluators.estimate**power

        if variance == 0:
            return at(0.0)
        scale = math.sqrt(variance)
        density = stats.norm(scale=scale).pdf
        return integrate.quad(lambda x: at(x) * density(x), -8 * scale, 8 * scale)[0]

    slope, spread = stability.answer_moments(evaluators, variance)
    step = 1e-3
    assert slope == pytest.approx((moment(1, step) - moment(1, -step)) / (2 * step), rel=1e-5)
    assert spread == pytest.approx(moment(2, 0.0) - moment(1, 0.0) ** 2, rel=1e-6)


def test_moments_of_infinitely_many_people_are_those_of_returns():
    everyone = make_evaluators(None, LINKS["logistic"], 1.0)
    assert stability.answer_moments(everyone, 0.25) == (1.0, 0.25)


def test_many_people_are_summed_over_where_their_votes_are():
    """Votes of a million people: slope one, and the variance of a share over the link's slope."""
    people = make_evaluators(10**6, LINKS["logistic"], 1.0)
    slope, variance = stability.answer_moments(people, 0.0)
    assert slope == pytest.approx(1, rel=1e-5)
    assert variance == pytest.approx(4e-6, rel=1e-4)


@pytest.mark.parametrize("rounds", [1, 4])
def test_noise_is_that_of_the_algorithm_s_own_estimates(rounds):
    cmdp = random_cmdp()
    algorithm = ZPGPDHF(**PRINTED, rounds=rounds)
    ready = algorithm.prepare(cmdp, solve(cmdp), 1)
    words, normals = randomness(ready, 21, 6000)
    theta, place = ready.initial_parameter(), ready.perturbation
    answers = np.empty((len(words), 2))
    for t in range(len(words)):
        direction = normals[t].reshape(theta.shape)
        direction = direction / np.linalg.norm(direction)
        estimates = ready.estimate(theta, words[t], normals[t])[0]
        scale = place.radius / place.dimension
        answers[t] = scale * (estimates * direction).sum((1, 2))
    law = predict_stability(cmdp, algorithm, multipliers=[0.0])
    centred = answers - answers.mean(0)
    for i, j in ((0, 0), (1, 1), (0, 1)):
        products = centred[:, i] * centred[:, j]
        error = products.std() / math.sqrt(len(products))
        assert abs(products.mean() - law.noise[i, j]) < Z * error
        if i == j:
            assert error < 0.02 * law.noise[i, i]  # so that a wrong formula would be seen


# What is predicted.


def test_printed_steps_of_the_default_environment_break_and_divided_ones_do_not():
    cmdp = random_cmdp()
    best = solve(cmdp)
    found = {
        (rounds, how): predict_stability(
            cmdp, ZPGPDHF(**PRINTED, rounds=rounds, normalize=how), optimum=best
        )
        for rounds in (1, 10)
        for how in DIVISORS
    }
    assert {key for key, it in found.items() if it.breaks} == {(1, "none")}
    broken, printed, divided = found[1, "none"], found[10, "none"], found[1, "quadratic"]
    assert broken.stable is None
    assert broken.unstable is None
    assert 0 < printed.stable < printed.unstable
    assert divided.unstable is None
    assert np.diff(divided.utilities).min() > -0.002  # it grows; the points leave an error


@pytest.mark.parametrize("change", [{"evaluators": 64}, {"evaluators": 256}, {"rounds": 2}])
def test_more_people_or_rounds_keep_the_multiplier_of_the_default_environment(change):
    assert not predict_stability(random_cmdp(), ZPGPDHF(**{**PRINTED, **change})).breaks


def test_utility_falls_back_to_that_of_the_uniform_policy_under_pressure():
    cmdp = random_cmdp()
    found = predict_stability(cmdp, ZPGPDHF(**PRINTED, multiplier_bound=1e5))
    uniform = cmdp.evaluate(np.full((10, 4), 0.25))[1]
    assert found.utilities[-1] == pytest.approx(uniform, abs=0.005)
    assert found.utilities.max() > uniform + 0.1


def test_without_noise_the_multiplier_is_the_optimal_one():
    """A step that is nearly zero, and nearly without smoothing: the law is at the optimum."""
    cmdp = random_cmdp()
    best = solve(cmdp)
    cold = ZPGPDHF(evaluators=16, primal_step=1e-15, dual_step=1e-9, perturbation=1e-2)
    near = best.multiplier + np.linspace(-0.1, 0.1, 21)
    found = predict_stability(cmdp, cold, optimum=best, multipliers=near)
    assert not found.breaks
    assert found.stable == pytest.approx(best.multiplier, abs=0.01)
    pressed = dataclasses.replace(cold, multiplier_bound=1e4)
    found = predict_stability(cmdp, pressed, optimum=best, multipliers=[1e3])
    assert found.peak == pytest.approx(best.slack, abs=0.001)


def test_constraint_that_is_met_without_pressure_needs_no_multiplier():
    cmdp = bandit(utility=(0.9, 0.7))
    found = predict_stability(cmdp, ZPGPDHF(**CHAIN, primal_step=0.001))
    assert (found.breaks, found.stable, found.unstable) == (False, 0.0, None)


@pytest.mark.parametrize(
    "change",
    [
        {"rounds": 10},
        {"evaluators": 64},
        {"primal_step": 0.0003},
        {"perturbation": 3.0},
        {"directions": "tangent"},
    ],
)
def test_whatever_makes_less_noise_lowers_the_temperature(change):
    """More rounds, more people, shorter steps, wider perturbations, fewer directions."""
    cmdp = random_cmdp()
    options = {"perturbation": 1.7, **PRINTED}
    cold, hot = (
        predict_stability(cmdp, ZPGPDHF(**{**options, **how}), multipliers=[1.0])
        for how in (change, {})
    )
    assert cold.temperature < hot.temperature
    assert cold.peak > hot.peak - 0.01


def test_predictions_are_the_same_in_every_call():
    one, two = (predict_stability(random_cmdp(), ZPGPDHF(**PRINTED)) for _ in range(2))
    assert one.peak == two.peak
    assert np.array_equal(one.utilities, two.utilities)


@pytest.mark.parametrize(
    ("algorithm", "message"),
    [
        (NPGPDHF(**PRINTED), "algorithm: an object of ZPGPDHF itself expected; for npgpd_hf"),
        (ZPG(**PRINTED), "algorithm: an object of ZPGPDHF itself expected; for zpg"),
        ("zpgpd_hf", "algorithm: an object of ZPGPDHF itself expected; for 'zpgpd_hf'"),
        (ZPGPDHF(**PRINTED, parameterization="softmax"), "parameterization: direct expected"),
        (ZPGPDHF(**{**PRINTED, "primal_step": 0.0}), "primal_step: a positive number expected"),
        (ZPGPDHF(**PRINTED, horizon=10), "horizon: trajectories of 11 steps miss 0.31 of a value"),
        (ZPGPDHF(**PRINTED, step_decay=1e-5), "step_decay: 0 expected; for steps that fall"),
        (ZPGPDHF(**PRINTED, dual_regularization=0.1), "dual_regularization: 0 expected; for a "),
    ],
)
def test_what_cannot_be_predicted_is_refused_in_one_line(algorithm, message):
    with pytest.raises(ValueError, match=message) as refusal:
        predict_stability(random_cmdp(), algorithm)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("multipliers", [[-1.0], [np.nan], [1e9], [], [[1.0]], ["x"], [2, 1], 1])
def test_frozen_multipliers_outside_their_range_are_refused(multipliers):
    with pytest.raises(ValueError, match=r"^multipliers: "):
        predict_stability(random_cmdp(), ZPGPDHF(**PRINTED), multipliers=multipliers)


def test_one_action_leaves_nothing_to_predict():
    cmdp = CMDP([[[1.0]]], [[0.5]], [[0.5]], [1.0], 0.5, 0.5)
    with pytest.raises(ValueError, match=r"^transition: at least two actions"):
        predict_stability(cmdp, ZPGPDHF(**PRINTED))


FAST = {"evaluators": 16, "primal_step": 0.001, "rounds": 2}


def rises_past(cmdp, setting, found):
    """Whether the averaged multiplier passes the last safe one, by a solver of stiff equations."""
    law = stability._Law.of(cmdp, ZPGPDHF(**setting), None)
    actions, bound = cmdp.actions, found.multipliers[-1]
    power = {"none": 0, "linear": 1}[setting.get("normalize", "none")]

    def moves(_, state):
        value, multiplier = state
        multiplier = max(multiplier, 0)
        goal = np.interp(multiplier, found.multipliers, found.utilities)
        step = setting["primal_step"] / (1 + multiplier) ** power
        rate = actions * (actions + 1) * step * law.temperature(multiplier)
        rise = setting["dual_step"] * (cmdp.threshold - value)
        return rate * (goal - value), rise if state[1] > 0 else max(rise, 0)

    def passes(_, state):
        return state[1] - found.unstable

    def falls(_, state):
        return state[0] - cmdp.threshold

    passes.terminal = falls.terminal = True
    falls.direction = 1  # what is safe from the beginning is none of these
    start = cmdp.evaluate(np.full((cmdp.states, actions), 1 / actions))[1]
    path = integrate.solve_ivp(
        moves, (0, 1e7), [start, 0.0], "LSODA", events=[passes, falls], rtol=1e-8, max_step=1e4
    )
    assert path.success
    assert path.y[1].max() < bound
    return len(path.t_events[0]) > 0


def test_fast_multiplier_rises_past_those_that_are_safe():
    """N = 2 on the hard case, with a dual step ten times the primal one: its long run breaks."""
    cmdp = random_cmdp()
    found = {
        step: predict_stability(cmdp, ZPGPDHF(**FAST, dual_step=step))
        for step in (0, 1e-5, 3e-4, 0.01, 1, 1e6, None)
    }
    assert {step for step, it in found.items() if it.breaks} == {0.01, 1, 1e6}
    assert all(it.peak == found[None].peak > 0 for it in found.values())
    assert re.search(
        r"not to settle: its multiplier rises past [\d.]+, beyond which none is safe",
        stability.forecast(cmdp, ZPGPDHF(**FAST, dual_step=0.01), None, steps_of(8, 100_000)),
    )
    divided = ZPGPDHF(**FAST, dual_step=0.01, normalize="linear")
    assert not predict_stability(cmdp, divided).breaks


@pytest.mark.parametrize("dual_step", [1e-9, 3e-4, 0.01, 1, 1e6])
def test_prediction_ends_where_nothing_makes_noise_at_first(dual_step):
    """All policies have the same reward, and infinitely many people say so: only λ brings noise."""
    cmdp = random_cmdp()
    cmdp = dataclasses.replace(cmdp, reward=np.zeros_like(cmdp.reward))
    setting = {"evaluators": None, "perturbation": 0.3, "primal_step": 0.001}
    found = predict_stability(cmdp, ZPGPDHF(**setting, dual_step=dual_step))
    assert found.temperature == 0
    assert found.unstable is not None


def test_start_beyond_the_safe_multipliers_decides():
    cmdp = random_cmdp()
    last = predict_stability(cmdp, ZPGPDHF(**FAST, dual_step=1e-5)).unstable
    for start, breaks in ((0.9 * last, False), (1.1 * last, True)):
        slow = ZPGPDHF(**FAST, dual_step=1e-5, initial_multiplier=start)
        assert predict_stability(cmdp, slow).breaks == breaks


@pytest.mark.parametrize("dual_step", [0.001, 0.003, 0.01, 0.03])
@pytest.mark.parametrize("instance", [1, 2012, 2022, 2038])
def test_averaged_dynamics_are_those_of_a_solver(instance, dual_step):
    cmdp, checked = random_cmdp(instance=instance), 0
    for more in ({"primal_step": 0.001}, {"primal_step": 0.003}):
        setting = FAST | more | {"dual_step": dual_step}
        found = predict_stability(cmdp, ZPGPDHF(**setting))
        if found.unstable is not None and cmdp.threshold > found.utilities[0]:
            assert found.breaks == rises_past(cmdp, setting, found)
            checked += 1
    assert checked


# Warnings.


PREDICTED = (
    r"^ZPGPD-HF is predicted not to settle: .*; take more rounds or smaller steps, or divide"
)


def steps_of(seeds, iterations):
    """Environment steps of a run with one round."""
    return seeds * iterations * 2 * 81


def test_long_runs_are_told_what_is_predicted_and_short_ones_are_not():
    cmdp, best = random_cmdp(), solve(random_cmdp())
    printed, divided = ZPGPDHF(**PRINTED), ZPGPDHF(**PRINTED, normalize="quadratic")
    assert "\n" not in stability.forecast(cmdp, printed, best, steps_of(8, 100_000))
    assert re.match(PREDICTED, stability.forecast(cmdp, printed, best, steps_of(8, 100_000)))
    assert stability.forecast(cmdp, printed, best, steps_of(8, 1_000)) == ""
    assert stability.forecast(cmdp, divided, best, steps_of(8, 100_000)) == ""
    softmax = ZPGPDHF(**PRINTED, parameterization="softmax")
    for other in (softmax, NPGPDHF(**PRINTED), ZPG(**PRINTED)):
        assert stability.forecast(cmdp, other, best, steps_of(8, 10**6)) == ""


def test_run_warns_once_before_it_begins_and_keeps_its_bits(monkeypatch):
    """A run that is worth a prediction takes seconds; here a shorter one is, too."""
    cmdp = random_cmdp()
    options = {"seeds": [0, 1], "iterations": 50, "checkpoints": [50], "optimum": solve(cmdp)}
    silent = run(cmdp, ZPGPDHF(**PRINTED), **options)
    monkeypatch.setattr(stability, "_WORTH", 0)
    with pytest.warns(stability.StabilityWarning, match=PREDICTED) as told:
        warned = run(cmdp, ZPGPDHF(**PRINTED), **options)
    assert len(told) == 1
    assert told[0].filename == __file__
    pd.testing.assert_frame_equal(silent, warned, check_exact=True)
    run(cmdp, ZPGPDHF(**PRINTED, rounds=10), **options)  # a warning would be an error


def trace_of(multipliers, violations):
    """A trace of two thousand iterations with given averages in its quarters."""
    totals = np.cumsum([0.0, *(np.array(violations) * 500)])
    iterations = np.arange(5) * 500
    means = totals / (iterations + 1)
    columns = {"iteration": iterations, "multiplier": multipliers}
    return pd.DataFrame(columns | {"mean_constraint_violation": means})


RISING, GROWING = [0.0, 0.5, 0.9, 1.2, 1.6], [0.1, 0.02, 0.03, 0.05]


@pytest.mark.parametrize(
    ("multipliers", "violations", "told"),
    [
        (RISING, GROWING, True),
        ([0.0, 1.0, 1.6, 1.5, 1.6], GROWING, False),  # the multiplier wanders
        ([0.0, 0.3, 0.6, 0.8, 1.0], GROWING, False),  # less than twice the optimal one
        (RISING, [0.1, 0.05, 0.05, 0.03], False),  # pressure helps
        (RISING, [0.1, 0.0, -0.03, 0.01], False),  # safe in the third quarter
    ],
)
def test_multiplier_that_runs_away_is_told_from_one_that_rises(multipliers, violations, told):
    cmdp = random_cmdp()
    best = solve(cmdp)  # lambda* = 0.514
    line = stability.runaway(trace_of(multipliers, violations), NPGPDHF(**PRINTED), best)
    assert bool(line) == told
    if told:
        assert line.startswith("the multiplier of NPGPD-HF runs away: it is 1.6, where 0.514 is")
        assert "it is 0.03 in the third quarter of the run and 0.05 in the last; take more" in line
        assert "\n" not in line


@pytest.mark.parametrize("wrong", ["best", solve(random_cmdp(instance=3, threshold="midway"))])
def test_optimum_of_another_cmdp_gives_no_prediction(wrong):
    with pytest.raises(ValueError, match=r"^optimum: "):
        predict_stability(random_cmdp(), ZPGPDHF(**PRINTED), optimum=wrong)


def test_prediction_needs_no_dual_step_where_the_theorem_has_none():
    """Theorem 2's is infinite where some state has no chance to be the first."""
    algorithm = ZPGPDHF(evaluators=16, primal_step=0.001)
    found = predict_stability(media_streaming(), algorithm)
    slow = predict_stability(media_streaming(), dataclasses.replace(algorithm, dual_step=0.0))
    assert (found.breaks, found.peak) == (slow.breaks, slow.peak)


def test_remedies_are_options_of_the_algorithm():
    best, trace = solve(random_cmdp()), trace_of(RISING, GROWING)
    line = stability.runaway(trace, NPGPD(primal_step=0.1, dual_step=0.1), best)
    assert line.endswith("take smaller steps, or divide the primal one (normalize: linear)")
    line = stability.runaway(trace, ZPGPDHF(evaluators=None), best)
    assert line.endswith("give a larger perturbation, or divide the step (normalize)")


def test_nothing_is_said_of_short_traces_or_without_the_quarters():
    cmdp = random_cmdp()
    best, found = solve(cmdp), trace_of(RISING, GROWING)
    short = found.assign(iteration=found["iteration"] // 4)
    assert stability.runaway(short, NPGPDHF(**PRINTED), best) == ""
    assert stability.runaway(found[found["iteration"] != 1500], NPGPDHF(**PRINTED), best) == ""


def test_run_warns_of_a_multiplier_that_runs_away():
    """So much noise that no multiplier makes the constraint hold."""
    cmdp = random_cmdp()
    loud = ZPGPDHF(evaluators=1, primal_step=0.02, dual_step=0.02, multiplier_bound=1e4)
    with pytest.warns(stability.StabilityWarning, match=r"^the multiplier of ZPGPD-HF runs away"):
        run(cmdp, loud, seeds=range(4), iterations=4000)


# Measured.


def between(trace, first, last):
    """Means over seeds of gap and violation over the iterates from one iteration to another."""
    means = trace.groupby("iteration")[["mean_optimality_gap", "mean_constraint_violation"]].mean()
    sums = means.mul(means.index + 1, axis=0)
    return ((sums.loc[last] - sums.loc[first]) / (last - first)).to_numpy()


def test_noise_of_many_people_falls_near_a_vertex_which_no_prediction_sees():
    """It is mostly that of returns, which vary less where the policy hardly varies."""
    cmdp = CMDP(np.ones((1, 5, 1)), [[1, 0, 0, 0, 0]], [[0, 0, 0, 0, 1]], [1.0], 0.0, 0.86)
    sizes = {"evaluators": 256, "horizon": 0, "perturbation": 0.3, "primal_step": 0.002}
    frozen = ZPGPDHF(**sizes, dual_step=0.0, initial_multiplier=2.0)
    assert predict_stability(cmdp, frozen).peak == pytest.approx(-0.04, abs=0.01)
    options = {"seeds": range(4), "iterations": 60_000, "checkpoints": [20_000, 60_000]}
    _, violation = between(run(cmdp, frozen, **options), 20_000, 60_000)
    assert violation == pytest.approx(-0.065, abs=0.02)


@pytest.mark.parametrize(
    ("options", "link"),
    [({"scale": "unit", "discount": 0.97}, "probit"), ({"discrimination": 200}, "logistic")],
)
def test_votes_whose_chance_rounds_to_one_are_predicted(options, link):
    cmdp = random_cmdp(threshold="midway", **options)
    algorithm = ZPGPDHF(evaluators=16, primal_step=1e-3, dual_step=3e-4, perturbation=1, link=link)
    found = predict_stability(cmdp, algorithm)
    assert np.isfinite([*found.rewards, *found.utilities, found.temperature]).all()


def test_stable_multiplier_is_one_of_those_that_are_given():
    algorithm = ZPGPDHF(evaluators=16, primal_step=1e-3, dual_step=3e-4, normalize="quadratic")
    usual = predict_stability(random_cmdp(), algorithm)
    assert 1 < usual.stable < 2
    assert predict_stability(random_cmdp(), algorithm, multipliers=[2.0, 3.0, 4.0]).stable == 2


def test_what_the_figure_s_setting_has_learned_is_forgotten_after_it_ends():
    """The default study ends after 50,000 iterations; its first policy has the gap 0.248."""
    cmdp = random_cmdp()
    marks = [40_000, 50_000, 350_000, 400_000]
    options = {"seeds": range(2), "iterations": 400_000, "checkpoints": marks, "threads": 2}
    found = {}
    for how in ("none", "quadratic"):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found[how] = run(cmdp, ZPGPDHF(**PRINTED, normalize=how), **options)
        assert [it.category for it in told] == [stability.StabilityWarning] * (how == "none")
    gap, violation = between(found["none"], *marks[:2])
    assert gap < 0.13
    late_gap, late_violation = between(found["none"], *marks[2:])
    assert late_gap > 0.2
    assert late_violation > violation + 0.03
    assert found["none"]["multiplier"].tail(1).item() > 5 * solve(cmdp).multiplier
    late_gap, late_violation = between(found["quadratic"], *marks[2:])
    assert late_gap < 0.13
    assert late_violation < 0.02
