"""Designs of questions, against sampling as it is defined and against exact means."""

import numpy as np
import pytest
from reference import random_process, random_words

from pgpd_hf.core import questions
from pgpd_hf.core.evaluators import count_words, make_simulator
from pgpd_hf.core.questions import DESIGNS, ask_about, compared, no_answers, stacked


def asked(cmdp, design, rounds, horizon, evaluators=None, count=3, seed=0, before=None):
    number = count_words(rounds, horizon, 2 * rounds, count * rounds)
    words = random_words(seed, number)
    before = before or no_answers(cmdp.states, cmdp.actions, count)
    return ask_about(
        make_simulator(cmdp, evaluators, rounds, horizon), design, cmdp.actions, words, before
    )


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("size", [(3, 2), (2, 5)])
def test_visits_have_the_mass_of_a_trajectory_and_shares_follow_from_them(design, size):
    """With infinitely many evaluators a share is the link of the difference of returns."""
    cmdp = random_process(1, *size, 0.8, threshold=0.7)
    answers = asked(cmdp, design, 40, 6)
    assert answers.visits.shape == (80, size[0] * size[1])
    np.testing.assert_allclose(answers.visits.sum(1), (1 - 0.8**7) / 0.2, rtol=1e-13)
    assert answers.steps.sum() == 40 * 2 * 7
    signals = cmdp.reward.ravel(), cmdp.utility.ravel()
    returns = [(answers.visits @ signal).reshape(40, 2) for signal in signals]
    differences = [returns[0] @ [1, -1], returns[1] @ [1, -1], returns[1][:, 0] - 0.7]
    expected = 1 / (1 + np.exp(-np.stack(differences, axis=1)))
    np.testing.assert_allclose(answers.shares, expected, rtol=1e-12)
    assert (answers.weights == 1).all()


def test_uniform_pairs_have_the_exact_mean_visits():
    cmdp = random_process(2, 3, 2, 0.5)
    visits = asked(cmdp, "uniform", 5000, 4, seed=3).visits
    policy = np.full((3, 2), 0.5)
    at, expected = cmdp.initial, np.zeros((3, 2))
    for t in range(5):
        expected += 0.5**t * at[:, None] * policy
        at = np.einsum("s,sa,saz->z", at, policy, cmdp.transition)
    error = visits.std(0).max() / np.sqrt(10000)
    assert np.abs(visits.mean(0) - expected.ravel()).max() < 5 * error


def test_trajectories_of_a_deterministic_policy_repeat_their_actions():
    """And the two policies of a pair differ."""
    cmdp = random_process(3, 3, 4, 0.9)
    visits = asked(cmdp, "deterministic", 60, 30).visits.reshape(60, 2, 3, 4)
    assert ((visits > 0).sum(3) <= 1).all()
    chosen = (visits > 0).reshape(120, 3, 4).sum(0) / 120
    assert np.abs(chosen - 0.25).max() < 5 * np.sqrt(3 / 16 / 120)
    assert (visits[:, 0] != visits[:, 1]).any((1, 2)).mean() > 0.9


def test_given_policies_take_turns_in_place_of_the_design():
    cmdp = random_process(3, 3, 2, 0.9)
    policies = np.eye(2)[[[[0, 0, 0], [1, 1, 1]], [[0, 1, 0], [1, 0, 1]]]]  # (K, 2, S, A)
    simulator, before = make_simulator(cmdp, None, 6, 30), no_answers(3, 2, 3)
    words = random_words(0, count_words(6, 30, 12, 18))
    visits = ask_about(simulator, "uniform", 2, words, before, policies).visits
    for k, of_trajectory in enumerate(visits.reshape(12, 3, 2)):
        assert of_trajectory.sum() == pytest.approx((1 - 0.9**31) / 0.1)
        assert (of_trajectory[policies.reshape(4, 3, 2)[k % 4] == 0] == 0).all()


def test_pairs_of_npgpd_hf_take_turns_and_share_the_first_state():
    cmdp = random_process(4, 3, 2, 0.5)
    visits = asked(cmdp, "state-action", 9, 0).visits  # trajectories of one step
    assert visits[::2].argmax(1).tolist() == [0, 1, 2, 3, 4, 5, 0, 1, 2]
    states = visits[1::2].argmax(1) // 2
    assert states.tolist() == [0, 0, 1, 1, 2, 2, 0, 0, 1]


def test_answers_add_up_and_turns_go_on():
    cmdp = random_process(5, 3, 2, 0.5)
    first = asked(cmdp, "state-action", 4, 2, evaluators=8)
    kept = [part.copy() for part in first]
    both = asked(cmdp, "state-action", 3, 2, evaluators=5, seed=1, before=first)
    for part, before in zip(first, kept, strict=True):
        assert (part == before).all()
    assert (both.visits[:8] == first.visits).all()
    assert both.weights.tolist() == [8.0] * 4 + [5.0] * 3
    assert both.steps.sum() == 7 * 2 * 3
    assert ((both.shares * both.weights[:, None]) % 1 < 1e-9).all()
    alone = asked(cmdp, "state-action", 1, 0, seed=1, before=asked(cmdp, "state-action", 4, 0))
    assert alone.visits[8].argmax() == 4


def test_two_questions_leave_out_the_absolute_one():
    """Of exact answers, which need no random words, the others stay the same."""
    cmdp = random_process(6)
    two, three = (asked(cmdp, "uniform", 1, 3, count=count).shares for count in (2, 3))
    assert (two == three[:, :2]).all()


def test_sparse_visits_are_the_same_numbers(monkeypatch):
    """Each visit of a pair counts, however often a trajectory comes back to it."""
    cmdp = random_process(7, 2, 2, 0.9)
    dense = asked(cmdp, "uniform", 5, 20)
    monkeypatch.setattr(questions, "_MOST_DENSE", 39)  # of 10 trajectories and 4 pairs
    sparse = asked(cmdp, "uniform", 5, 20)
    assert sparse.visits.nnz <= 40
    np.testing.assert_allclose(sparse.visits.toarray(), dense.visits, rtol=1e-14)
    again = sparse._replace(visits=sparse.visits.toarray())
    assert (compared(sparse).toarray() == compared(again)).all()
    more = asked(cmdp, "uniform", 10, 20, seed=1, before=dense)
    assert more.visits.shape == (30, 4)
    assert (more.visits[:10].toarray() == dense.visits).all()
    assert (stacked(sparse.visits, sparse.visits).toarray()[10:] == sparse.visits.toarray()).all()
