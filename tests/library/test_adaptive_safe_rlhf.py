"""Adaptive Safe RLHF: the policies that it asks about, and the draws that they are best for."""

import numpy as np
from preparing import prepare, randomness
from reference import random_process, random_words

from pgpd_hf.algorithms.safe_rlhf import reward_questions, utility_questions
from pgpd_hf.core.evaluators import count_words, make_simulator
from pgpd_hf.core.optima import best_for, maximize
from pgpd_hf.core.questions import ask_about, no_answers


def asked(cmdp, policies, rounds, horizon):
    words = random_words(7, count_words(rounds, horizon, 2 * rounds, 3 * rounds))
    simulator, nothing = make_simulator(cmdp, None, rounds, horizon), no_answers(3, 2, 3)
    return ask_about(simulator, "uniform", 2, words, nothing, policies).visits


def ready(iterations, **options):
    """A run after some iterations."""
    cmdp = random_process(5, 3, 2, 0.6, threshold=1.2)
    options = {"evaluators": 16, "rounds": 30, "horizon": 6, "draws": 3, **options}
    run = prepare("adaptive_safe_rlhf", cmdp, **options)
    words, normals = randomness(run, 0, iterations)
    return run, run.advance(run.initial_state(), words, normals)[2]


def test_given_policies_take_turns():
    """Deterministic ones are followed exactly: pair n is of the pair n of policies, modulo K."""
    actions = np.array([[[0, 1, 0], [1, 1, 0]], [[1, 0, 1], [0, 0, 0]], [[1, 1, 1], [0, 1, 1]]])
    visits = asked(random_process(3, 3, 2, 0.9), np.eye(2)[actions], 9, 20).reshape(9, 2, 3, 2)
    other = np.take_along_axis(visits, 1 - np.tile(actions, (3, 1, 1))[..., None], axis=3)
    assert (other == 0).all()
    assert (visits.sum((2, 3)) > 8).all()


def test_given_policies_have_the_exact_mean_visits():
    cmdp = random_process(2, 3, 2, 0.5)
    policies = np.array([[[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]], [[1, 0], [0.3, 0.7], [0.6, 0.4]]])
    visits = asked(cmdp, policies[None], 5000, 4).reshape(5000, 2, -1)
    for i, policy in enumerate(policies):
        at, expected = cmdp.initial, np.zeros((3, 2))
        for t in range(5):
            expected += 0.5**t * at[:, None] * policy
            at = np.einsum("s,sa,saz->z", at, policy, cmdp.transition)
        error = visits[:, i].std(0).max() / np.sqrt(5000)
        assert np.abs(visits[:, i].mean(0) - expected.ravel()).max() < 5 * error


def test_draws_have_the_covariance_of_the_posterior():
    """Of the six standard normal numbers of a signal one is 1 and the others are 0."""
    run, state = ready(1)
    units = np.eye(6).reshape(6, 1, 3, 2).repeat(2, axis=1)
    drawn = run.algorithm.posterior_draws(run, state, units)
    questions = reward_questions(state.answers), utility_questions(state.answers, 1.2)
    estimates = state.reward, state.utility
    for draws, asked_about, estimate in zip(drawn, questions, estimates, strict=True):
        away = (draws - estimate).reshape(6, 6)
        information = run.algorithm.information(run, asked_about, estimate)
        np.testing.assert_allclose(away.T @ away @ information, np.eye(6), atol=1e-10)


def test_later_pairs_are_of_policies_that_are_best_for_draws():
    run, state = ready(1)
    words, normals = (part[0] for part in randomness(run, 1, 1))
    draws = run.algorithm.posterior_draws(run, state, normals.reshape(6, 2, 3, 2))
    policies = [
        (best_for(run.cmdp, *signals) or (maximize(run.cmdp, signals[1]),))[0]
        for signals in zip(*draws, strict=True)
    ]
    pairs = np.reshape(policies, (3, 2, 3, 2))
    expected = ask_about(run.simulator, "uniform", 2, words, state.answers, pairs)
    found = run.algorithm.ask(run, state, words, normals)
    assert (found.visits == expected.visits).all()
    assert (found.shares == expected.shares).all()
    assert len(found.weights) == 60


def test_first_iteration_is_that_of_safe_rlhf():
    run, state = ready(1)
    options = {"evaluators": 16, "rounds": 30, "horizon": 6}
    plain = prepare("safe_rlhf", run.cmdp, **options)
    words, _ = randomness(plain, 0, 1)
    expected = plain.advance(plain.initial_state(), words, np.empty((1, 0)))[2]
    assert (state.theta == expected.theta).all()
    assert (state.answers.shares == expected.answers.shares).all()


def test_questions_depend_on_earlier_answers():
    """With flipped votes the same random numbers ask about other policies."""
    (_, state), (_, other) = ready(2), ready(2, flipped_answers=1.0)
    assert (state.answers.visits[:60] == other.answers.visits[:60]).all()
    assert (state.answers.visits[60:] != other.answers.visits[60:]).any()
