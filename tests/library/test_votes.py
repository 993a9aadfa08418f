"""Votes that no reward explains: their exact values, and where they lead those who ask for them."""

import math

import numpy as np
import pytest
from reference import random_process, random_words, remembered
from scipy.special import expit, logit

from pgpd_hf import CMDP, LINKS, NPGPDHF, SafeRLHF, predict_stability, random_cmdp, run, solve
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core.evaluators import (
    AS_ASSUMED,
    chance_of_preference,
    count_words,
    make_evaluators,
    make_simulator,
    unlike_assumed,
)
from pgpd_hf.core.questions import ask_about, no_answers
from pgpd_hf.core.sampling import forget, make_tables, memorize
from pgpd_hf.core.sampling import remembered as recalled

MODELS = ("recency", "peak_end", "disagreement", "semiorder")
ORDERS = {"aa": (0, 0), "ab": (0, 1), "ba": (1, 0), "bb": (1, 1)}


def pulls(arms, discount=0.5, **memory):
    """What people remember of the reward of two pulls of a bandit with these two arms."""
    cmdp = CMDP(
        transition=np.ones((1, 2, 1)), reward=[arms], utility=[arms], initial=[1.0],
        discount=discount, threshold=0.0,
    )  # fmt: skip
    tables, found = make_tables(cmdp, 1, **memory), {}
    for name, order in ORDERS.items():
        seen, weight = np.empty((2, 3)), 1.0
        forget(seen)
        for arm in order:
            memorize(tables, seen, np.uint64(arm), weight)
            weight *= tables.recency
        found[name] = np.array(recalled(tables, seen))
        expected = remembered(np.array([[arms[arm]] * 2 for arm in order]), discount, **memory)
        np.testing.assert_allclose(found[name], expected, rtol=1e-14)
    return {name: it[0] for name, it in found.items()}


def chance(difference, other, **people):
    return chance_of_preference(
        make_evaluators(1, LINKS["logistic"], 1.0, **people), difference, other
    )


def test_a_discounted_reward_is_remembered_as_it_is():
    found = pulls([0.2, 0.8])
    assert found == pytest.approx({"aa": 0.3, "ab": 0.6, "ba": 0.9, "bb": 1.2})


@pytest.mark.parametrize("recency", [0.2, 1.0, 1.5])
def test_no_reward_weighs_steps_as_recency_does(recency):
    """For any rewards the second pull would weigh gamma times the first; here it weighs q times."""
    found = pulls([0.2, 0.8], recency=recency)
    assert (found["ab"] - found["aa"]) / (found["ba"] - found["aa"]) == pytest.approx(recency)
    assert found["bb"] == pytest.approx(1.2)  # what is constant is remembered as it is


def test_weights_that_no_number_holds_are_refused():
    cmdp = random_cmdp()
    make_tables(cmdp, 689, recency=math.e)
    with pytest.raises(ValueError, match=r"^recency: at most 1\.96\d+ expected with H = 1023, "):
        make_tables(cmdp, 1023, recency=2.0)


@pytest.mark.parametrize("weight", [0.3, 1.0])
def test_no_reward_explains_peak_and_end(weight):
    """For any rewards, whatever the weights of steps are, aa + bb would be ab + ba."""
    found = pulls([0.2, 0.8], peak_end=weight)
    assert found["ab"] == pytest.approx((1 - weight) * 0.6 + weight * 1.5 * 0.8)
    assert found["ba"] == pytest.approx((1 - weight) * 0.9 + weight * 1.5 * 0.5)
    excess = found["ab"] + found["ba"] - found["aa"] - found["bb"]
    assert excess == pytest.approx(weight * 1.5 * (0.8 + 0.5 - 0.2 - 0.8))
    assert [found["aa"], found["bb"]] == pytest.approx([0.3, 1.2])


def test_the_peak_of_harm_is_the_smallest_utility():
    seen = np.array([[0.1, 0.9], [0.7, 0.2], [0.3, 0.6]])
    memory, tables = np.empty((2, 3)), make_tables(random_process(1), 2, peak_end=1.0)
    forget(memory)
    for step, (reward, utility) in enumerate(seen):
        place = tables._replace(reward=np.array([reward]), utility=np.array([utility]))
        memorize(place, memory, np.uint64(0), tables.recency**step)
    assert recalled(tables, memory) == pytest.approx((1.75 * 0.5, 1.75 * 0.4))


def test_majorities_of_a_semiorder_are_intransitive():
    """Three arms: neighbours are told apart by their utility alone, and both ends by reward."""
    arms = [(0.00, 0.4), (0.06, 0.2), (0.12, 0.0)]  # reward and utility
    chances = {
        (i, j): chance(arms[i][0] - arms[j][0], arms[i][1] - arms[j][1], semiorder=0.1)
        for i in range(3) for j in range(3)
    }  # fmt: skip
    assert chances[0, 1] == chances[1, 2] == pytest.approx(expit(0.2))
    assert chances[2, 0] == pytest.approx(expit(0.12))
    assert min(chances[0, 1], chances[1, 2], chances[2, 0]) > 0.5  # a cycle
    assert all(chances[i, j] + chances[j, i] == pytest.approx(1) for i, j in chances)


def test_shares_of_people_who_disagree_are_those_of_no_mean_taste():
    """With any worth of each arm log-odds would add up along three arms."""
    arms = [(0.0, 0.5), (0.3, 0.0), (0.5, 0.9)]
    pairs = [(0, 1), (1, 2), (0, 2)]
    for disagreement in (0.0, 2.0):
        odds = []
        for i, j in pairs:
            reward, utility = np.subtract(arms[i], arms[j])
            found = chance(reward, utility, disagreement=disagreement)
            tastes = [reward + 4 * disagreement * utility] + 4 * [reward - disagreement * utility]
            assert np.mean(tastes) == pytest.approx(reward)  # their mean taste is the reward
            assert found == pytest.approx(expit(tastes).mean(), rel=1e-14)
            odds.append(logit(found))
        assert (abs(odds[0] + odds[1] - odds[2]) < 1e-12) == (disagreement == 0)


@pytest.mark.parametrize("design", ["uniform", "deterministic", "state-action"])
def test_designs_ask_about_what_is_remembered_and_methods_see_discounted_visits(design):
    cmdp, people = random_process(3, 3, 2, 0.8, threshold=0.7), 10**6
    given = {"recency": 1.1, "disagreement": 0.5, "semiorder": 0.2}
    words = random_words(4, count_words(20, 4, 40, 60))
    answers, plain = (
        ask_about(make_simulator(cmdp, people, 20, 4, **it), design, 2, words, no_answers(3, 2, 3))
        for it in (given, {})
    )
    assert (answers.visits == plain.visits).all()
    # Undo the discount: the visits of the steps themselves follow from H + 1 = 5 weights.
    tables = make_tables(cmdp, 4, recency=1.1)
    assert tables.reward[:2] / cmdp.reward[0] == pytest.approx(
        sum(0.8**t for t in range(5)) / sum(1.1**t for t in range(5))
    )
    assert np.abs(answers.shares - plain.shares).max() > 0.01
    same = {"recency": 0.8, "peak_end": 0.0, "disagreement": 0.0, "semiorder": 0.0}
    again = ask_about(
        make_simulator(cmdp, people, 20, 4, **same), design, 2, words, no_answers(3, 2, 3)
    )
    assert (again.shares == plain.shares).all()


def fork(lean):
    """Action 0 leads to a steady reward, action 1 to a better moment and less from then on."""
    transition = np.zeros((4, 2, 4))
    for (state, action), following in {
        (0, 0): 1, (0, 1): 2, (1, 0): 1, (1, 1): 1, (2, 0): 3, (2, 1): 3, (3, 0): 3, (3, 1): 3,
    }.items():  # fmt: skip
        transition[state, action, following] = 1
    reward = np.repeat([[0.0], [0.5], [1.0], [0.3]], 2, axis=1) / 10
    utility = np.repeat([[0.5], [0.5 + lean], [0.5 - lean], [0.5 - lean]], 2, axis=1) / 10
    return CMDP(transition, reward, utility, [1.0, 0, 0, 0], 0.9, threshold=0.01, scale=0.1)


MISLEADING = {
    "as assumed": ({}, 0.4),
    "recency": ({"recency": 0.1}, 0.0),
    "peak_end": ({"peak_end": 1.0}, 0.0),
    "disagreement": ({"disagreement": 3.0}, 0.4),
    "semiorder": ({"semiorder": 0.2}, -0.4),
}


@pytest.mark.parametrize("name", MISLEADING)
def test_votes_mislead_while_policies_are_judged_by_the_true_reward(name):
    """The steady action is better by 0.117, but majorities of these people prefer the other."""
    people, lean = MISLEADING[name]
    cmdp, horizon = fork(lean), 60
    worth = [cmdp.evaluate(np.eye(2)[[action] * 4])[0] for action in (0, 1)]
    assert worth == pytest.approx([0.45, 0.333])
    steps = np.array([[0, 1, 1], [0, 2, 3]])[:, [*range(2), *[2] * (horizon - 1)]]
    memory = {it: people[it] for it in ("recency", "peak_end") if it in people}
    felt = [
        remembered(np.c_[cmdp.reward[path, 0], cmdp.utility[path, 0]], 0.9, **memory)
        for path in steps
    ]
    compared = {it: x for it, x in people.items() if it not in memory}
    majority = chance(*(felt[0] - felt[1]), **compared)
    assert (majority > 0.5) == (name == "as assumed")
    options = {"evaluators": 400, "horizon": horizon, **people}
    shown = run(cmdp, NPGPDHF(**options, primal_step=1.0, dual_step=0.0), seeds=[0], iterations=80,
                checkpoints=[80])  # fmt: skip
    wrong = 0.0 if name == "as assumed" else 0.117
    assert shown["optimality_gap"].item() == pytest.approx(wrong, abs=0.01)
    inferring = SafeRLHF(**options, rounds=500, design="uniform")
    shown = run(cmdp, inferring, seeds=[0], iterations=1, checkpoints=[1])
    if name in ("as assumed", "semiorder", "disagreement"):  # else the best wrong reward decides
        assert shown["optimality_gap"].item() == pytest.approx(wrong, abs=0.01)


def test_people_are_told_apart_from_those_who_vote_as_assumed():
    assert unlike_assumed(NPGPDHF(evaluators=4, true_link="logistic")) == []
    strange = {"recency": 0.5, "peak_end": 0.1, "disagreement": 1.0, "semiorder": 0.1}
    assert unlike_assumed(NPGPDHF(evaluators=4, **strange)) == list(strange)
    assert set(MODELS) < set(AS_ASSUMED)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("recency", 0), ("recency", -1), ("recency", 2.1), ("recency", np.inf),
        ("peak_end", -0.1), ("peak_end", 1.1), ("peak_end", np.nan),
        ("disagreement", -1), ("disagreement", np.inf), ("semiorder", -0.1), ("semiorder", "much"),
    ],
)  # fmt: skip
def test_a_model_of_votes_without_probabilities_is_refused_in_one_line(name, value):
    with pytest.raises(ValueError, match=rf"^{name}: .*expected, got") as caught:
        NPGPDHF(evaluators=4, **{name: value})
    assert "\n" not in str(caught.value)


def test_chances_lie_in_the_unit_interval_and_of_both_orders_add_up_to_one():
    random = np.random.default_rng(5)
    for difference, other in random.normal(0, 30, (200, 2)):
        people = {"disagreement": random.exponential(5), "semiorder": random.exponential(20)}
        both = [chance(sign * difference, sign * other, **people) for sign in (1, -1)]
        assert min(both) >= 0
        assert sum(both) == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize("name", MODELS)
def test_what_is_not_known_of_these_people_is_refused(name):
    cmdp, value = random_process(1, 3, 2, 0.5), {name: 0.4}
    with pytest.raises(ValueError, match=f"^{name}: .* there is no prediction"):
        predict_stability(cmdp, get_algorithm("zpgpd_hf")(evaluators=4, primal_step=0.1,
                          dual_step=0.1, horizon=20, **value))  # fmt: skip
    with pytest.raises(ValueError, match=f"^evaluators: an integer expected, .* {name} may be"):
        NPGPDHF(evaluators=None, **value)
    if name == "peak_end":
        sampled = get_algorithm("sampled_npgpd_hf")(evaluators=4, primal_step=1.0, dual_step=0.0,
                                                    **value)  # fmt: skip
        with pytest.raises(ValueError, match=r"^peak_end: 0 expected, got 0\.4, since sampled"):
            sampled.prepare(cmdp, solve(cmdp), 1)
