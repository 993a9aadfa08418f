"""Episodic NPGPD-HF: what its regression estimates by enumeration, and what an answer is worth."""

import itertools

import numpy as np
import pytest
from preparing import prepare, randomness
from reference import random_process, truncated_moments

from pgpd_hf import CMDP, random_cmdp
from pgpd_hf.algorithms.episodic_npgpd_hf import ask_about_policy
from pgpd_hf.core.evaluators import make_simulator

QUARTERS = [k * 2**30 for k in range(4)]  # of half a word
POLICY = np.array([[0.25, 0.75], [0.5, 0.5]])


def test_scores_and_answers_have_the_moments_of_the_advantages():
    """E[z x] = 2 sum_t gamma^2t P_t(s) pi(a|s) A(s, a), over all pairs of trajectories."""
    # All probabilities are multiples of 1/4, so a few words stand for all.
    transition = [[[0.25, 0.75], [1.0, 0.0]], [[0.5, 0.5], [0.0, 1.0]]]
    reward, utility = [[0.3, 1.0], [0.2, 0.7]], [[0.9, 0.1], [0.6, 0.4]]
    cmdp = CMDP(transition, reward, utility, [0, 1], discount=0.5, threshold=0.8)
    simulator = make_simulator(cmdp, evaluators=None, rounds=1, horizon=1)
    steps = [upper << 32 | lower for upper in QUARTERS for lower in QUARTERS]
    ends = [upper << 32 for upper in QUARTERS]  # nobody looks at the state after the last step
    found = [
        ask_about_policy(simulator, POLICY, np.array([*words, 0, 0, 0, 0], np.uint64))
        for words in itertools.product(steps, steps, ends, ends)
    ]
    scores = np.array([z[0] for z, _, _ in found])
    answers = np.array([x[0] for _, x, _ in found])

    visits, moments, trace, values = np.array(cmdp.initial), 0.0, 0.0, []
    for t in range(2):
        action_values, _ = truncated_moments(cmdp, POLICY, 1 - t)
        values.append((POLICY[..., None] * action_values).sum(axis=1))
        advantages = action_values - values[t][:, None]
        weight = 2 * cmdp.discount ** (2 * t) * visits
        moments = moments + weight[:, None, None] * POLICY[..., None] * advantages
        trace += weight @ (1 - (POLICY**2).sum(axis=1))
        visits = np.einsum("s,sa,sap->p", visits, POLICY, cmdp.transition)
    mean = (scores[:, :, None] * answers[:, None]).mean(axis=0)
    np.testing.assert_allclose(mean, moments.reshape(4, 2), rtol=0, atol=1e-14)
    assert (scores**2).sum(axis=1).mean() == pytest.approx(trace, abs=1e-13)
    np.testing.assert_allclose(scores.reshape(-1, 2, 2).sum(axis=2), 0, atol=1e-15)
    excess = np.mean([excess for _, _, excess in found])
    assert excess == pytest.approx(cmdp.initial @ values[0][:, 1] - 0.8, abs=1e-14)


def test_people_vote_by_words_that_no_trajectory_uses():
    simulator = make_simulator(random_process(3), evaluators=16, rounds=5, horizon=4)
    policy = np.array([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    words = np.random.default_rng(0).integers(2**64, size=2 * 5 * 5 + 5 + 3 * 5, dtype=np.uint64)
    scores, answers, excess = ask_about_policy(simulator, policy, words)
    moved = 0
    for question in range(15):
        other = words.copy()
        other[55 + question] = ~other[55 + question]
        same, changed, told = ask_about_policy(simulator, policy, other)
        differs = np.zeros((5, 3), bool)
        differs[:, :2], differs[question // 3, 2] = changed != answers, told != excess
        assert (same == scores).all()
        assert {*np.flatnonzero(differs)} <= {question}
        moved += differs.sum()
    assert moved >= 10  # the others' votes are as they were by chance


def test_estimate_is_a_ridge_regression():
    cmdp, theta = random_process(3), np.log([[0.2, 0.8], [0.5, 0.5], [0.9, 0.1]])
    run = prepare("episodic_npgpd_hf", cmdp, evaluators=16, horizon=4, rounds=9, ridge=0.2)
    words, normals = randomness(run, 5, 1)
    scores, answers, excess = ask_about_policy(run.simulator, run.policy(theta), words[0])
    rows = np.vstack([scores, np.sqrt(0.2 * 9) * np.eye(6)])
    expected = np.linalg.lstsq(rows, np.vstack([answers, np.zeros((6, 2))]))[0]
    directions, told = run.estimate(theta, words[0], normals[0])
    np.testing.assert_allclose(directions.reshape(2, 6), expected.T, rtol=0, atol=1e-13)
    assert told == excess


@pytest.mark.parametrize("instance", [1, 42])
def test_as_many_answers_leave_about_an_eighth_of_algorithm_1_s_error(instance):
    """Mean squared errors of both advantages at the uniform policy, with 129,600 answers each."""
    cmdp, errors = random_cmdp(states=10, actions=4, instance=instance), {}
    theta = np.zeros((cmdp.states, cmdp.actions))
    signals = (cmdp.reward, cmdp.utility)
    exact = np.array([cmdp.advantages(np.full_like(theta, 0.25), signal) for signal in signals])
    for name, rounds in {"npgpd_hf": 100, "episodic_npgpd_hf": 2700}.items():
        run = prepare(name, cmdp, rounds=rounds, evaluators=16, estimator="unbiased", horizon=80)
        assert 16 * run.questions_per_iteration == 129_600
        found = []
        for words in randomness(run, 7, 12)[0]:
            estimates, _ = run.estimate(theta, words, np.empty(0))
            estimates -= estimates.mean(axis=2, keepdims=True)
            found.append(((estimates - exact) ** 2).mean())
        errors[name] = np.mean(found)
    assert 1 / 10 < errors["episodic_npgpd_hf"] / errors["npgpd_hf"] < 1 / 6
    # What the documentation says an answer is worth: 2 / (1 - 0.9^2) * 3 / 4.
    scores, _, _ = ask_about_policy(run.simulator, run.policy(theta), words)
    assert (scores**2).sum(axis=1).mean() == pytest.approx(7.9, abs=0.2)
