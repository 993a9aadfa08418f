"""Safe RLHF samples the process, and finds the optimum if answers say all there is to know."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from environments.sepsis_runs import horizon_of
from environments.sepsis_safe_rlhf import chances, learn, learned, panel, sample_visits, search

from pgpd_hf import CMDP, solve
from pgpd_hf.tables import read_table

FOLDER = Path(__file__).parents[1]
LIVE, SURVIVAL = 3, 4  # states; 3 is death, and 5 what follows


def small_sepsis():
    """Three states of illness, in which an action with a cost saves more patients."""
    random = np.random.default_rng(5)
    transition = np.zeros((6, 4, 6))
    transition[:LIVE, :, :5] = random.dirichlet(np.ones(5), (LIVE, 4))
    transition[LIVE:, :, 5] = 1
    reward, cost = np.zeros((6, 4)), np.zeros((6, 4))
    reward[SURVIVAL] = 1 / 0.9
    cost[:LIVE] = 0.5 * transition[:LIVE, :, SURVIVAL] + random.random((LIVE, 4))
    units = {"reward_unit": 1.0, "cost_unit": 2.0}
    return CMDP.from_costs(transition, reward, cost, 0.7, np.eye(3, 6).mean(0), 0.9, **units)


PROCESS = small_sepsis()
OPTIMUM = solve(PROCESS)
HORIZON = horizon_of(PROCESS, OPTIMUM)


def sampled(count, horizon=HORIZON):
    return sample_visits(PROCESS, count, horizon, np.random.default_rng(0))


def test_visits_are_those_of_the_uniform_policy():
    visits = sampled(40_000).toarray()
    assert visits.sum(1) == pytest.approx((1 - 0.9 ** (HORIZON + 1)) / 0.1)
    expected = np.repeat(PROCESS.occupancy(np.full((6, 4), 0.25))[:, None] / 4, 4, axis=1)
    expected[5] = 4 * expected[5, 0], 0, 0, 0
    noise = visits.std(0) / np.sqrt(len(visits)) + 0.9 ** (HORIZON + 1)
    assert (np.abs(visits.mean(0) - expected.ravel()) <= 4.5 * noise).all()


def test_a_stay_ends_once():
    ends = sampled(500).toarray().reshape(-1, 6, 4)[:, LIVE:5].sum((1, 2))
    times = np.log(ends[ends > 0]) / np.log(0.9)
    assert times == pytest.approx(np.rint(times), abs=1e-9)


def test_expected_votes_lead_to_the_optimum():
    visits, evaluators = sampled(2000, horizon=300), 10**6
    assert (visits.sum(0) > 0).sum() == 5 * 4 + 1  # all there are
    votes = evaluators * chances(PROCESS, visits)
    ((policy, multiplier),) = learn(PROCESS, visits, votes, evaluators, [(1e-3, None)])
    best = OPTIMUM.reward_value, OPTIMUM.utility_value
    assert PROCESS.evaluate(policy) == pytest.approx(best, abs=1e-5)
    assert multiplier == pytest.approx(OPTIMUM.multiplier, abs=1e-4)


def test_more_answers_come_closer():
    told, errors = {"evaluators": 16, "most_pairs": 2000}, []
    for answers in (2 * 10**4, 2 * 10**9):
        table = learned(PROCESS, OPTIMUM, told, answers, range(3), "any", [(1.0, None)])
        assert table["answers"].between(0.99 * answers, answers).all()
        errors.append((table["reward_value"] - OPTIMUM.reward_value).abs())
    assert errors[1].max() < 0.005 < 0.02 < errors[0].min()


def test_numbers_of_a_seed_depend_on_nothing_else():
    told = {"evaluators": 16, "most_pairs": 100}
    both, alone = (
        learned(PROCESS, OPTIMUM, told, 9600, seeds, "any", [(1.0, None)])
        for seeds in ([0, 1], [1])
    )
    assert both.iloc[1].equals(alone.iloc[0])
    assert both["utility_value"].nunique() == 2


def test_beyond_the_most_pairs_more_evaluators_are_asked():
    assert panel(100_000, 16, 50_000) == (2083, 16)
    assert panel(10_000_000, 16, 50_000) == (50_000, 66)


def test_where_estimates_allow_no_policy_it_is_the_safest():
    visits = sampled(100)
    votes = np.zeros((50, 3))  # nothing is harmless enough
    ((policy, multiplier),) = learn(PROCESS, visits, votes, 16, [(1.0, None)])
    assert np.isnan(multiplier)
    assert policy.max(1) == pytest.approx(1)


def test_ridges_are_of_reward_and_of_utility():
    told, grid = {"evaluators": 16, "most_pairs": 100}, [(1.0, 10.0), (10.0, None), (1.0, None)]
    table = learned(PROCESS, OPTIMUM, told, 9600, [0], "any", [*grid, (1.0, 1.0), (10.0, 10.0)])
    found = [*table["multiplier"]]
    assert found[1] == found[4] and found[2] == found[3]
    assert len({*found}) == 3


def test_a_search_chooses_the_smallest_score():
    grid = {"ridge": [1.0, 1e4], "utility_ridge": [None]}
    told = {"evaluators": 16, "most_pairs": 100, "search": grid}
    table = search(PROCESS, OPTIMUM, told, 9600, [0, 1], "any")
    assert [*table["ridge"]] == [1.0, 1e4]
    assert [*table["chosen"]] == [True, False]
    assert set(table["answers"]) == {9600}


def test_ridges_of_the_configuration_have_won_the_recorded_search():
    declared = yaml.safe_load((FOLDER / "config.yaml").read_text())["sepsis"]["safe_rlhf"]
    table = read_table(FOLDER / "tables/sepsis_ridge.csv")
    best = table.loc[table.groupby(["method", "answers"])["score"].idxmin()]
    for name, method in declared["methods"].items():
        rows = best[best["method"] == name].fillna({"utility_ridge": 0})
        found = {row.answers: [row.ridge, row.utility_ridge or None] for row in rows.itertuples()}
        assert found == method["ridges"]
