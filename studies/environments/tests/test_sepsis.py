"""ICU-Sepsis has its published numbers, and its methods do what they do elsewhere."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from environments import sepsis
from environments.sepsis import DEATH, load_model, sepsis_cmdp
from environments.sepsis_runs import search, spend
from environments.sepsis_safe_rlhf import chances, learn, sample_visits

from pgpd_hf import CMDP, run, solve
from pgpd_hf.tables import read_table

FOLDER = Path(__file__).parents[1]
DECLARED = yaml.safe_load((FOLDER / "config.yaml").read_text())["sepsis"]


@pytest.fixture(scope="module")
def model():
    try:
        return load_model()
    except ValueError as error:
        pytest.skip(str(error))


def outcomes(model, policy, discount):
    """Survival and length of a stay from their own equations, over states that are not final."""
    transition, initial, *_ = model
    steps = np.einsum("sa,sat->st", policy, transition)[:DEATH]
    matrix = np.eye(DEATH) - discount * steps[:, :DEATH]
    found = np.linalg.solve(matrix, np.stack([steps[:, DEATH + 1], np.ones(DEATH)]).T)
    return initial[:DEATH] @ found


@pytest.mark.parametrize(("who", "length"), [("random", 9.45), ("clinicians", 9.22)])
def test_survival_and_length_of_stay_are_the_published_ones(model, who, length):
    policy = np.full_like(model[2], 1 / 25) if who == "random" else model[2]
    found = outcomes(model, policy, 1.0)
    assert found[0] == pytest.approx(0.78, abs=0.005)
    assert found[1] == pytest.approx(length, abs=0.05)  # theirs are means over episodes


def test_values_are_discounted_survival_and_fluids(model):
    cmdp = sepsis_cmdp(model, share=0.5, discount=0.99, cost_unit=10)
    most = np.zeros_like(model[2])
    most[:, 24] = 1  # the highest level of both, in every period of a stay
    found = cmdp.in_units(*cmdp.evaluate(most))
    assert found == pytest.approx(outcomes(model, most, 0.99), abs=1e-9)
    usual = cmdp.in_units(*cmdp.evaluate(model[2]))[1]
    assert cmdp.in_units(0, cmdp.threshold)[1] == pytest.approx(usual / 2)


def test_actions_that_are_not_admissible_have_the_mean_effect_of_those_that_are(model):
    transition, *_, admissible = model
    for effects, chosen in zip(transition[:DEATH], admissible[:DEATH], strict=True):
        assert np.abs(effects[~chosen] - effects[chosen].mean(0)).max(initial=0.0) < 1e-9
    assert admissible[:DEATH].sum(1).mean() == pytest.approx(3.1, abs=0.05)


def test_evaluators_see_what_is_possible_and_nearly_all_of_a_stay(model):
    cmdp = sepsis_cmdp(model, *(DECLARED[key] for key in ("share", "discount", "cost_unit")))
    assert cmdp.return_bound(horizon=10_000) == pytest.approx(10, abs=0.2)
    horizon, largest = DECLARED["horizon"], cmdp.utility.max() / (1 - cmdp.discount)
    cut = [largest * cmdp.discount ** (it + 1) for it in (horizon, horizon - 1)]
    assert cut[0] <= 0.1 * solve(cmdp).slack < cut[1]


@pytest.mark.parametrize("version", ["none", "3.0"])
def test_another_version_or_none_is_told_in_one_line(monkeypatch, version):
    package = type("Package", (), {"version": version})
    monkeypatch.setattr(sepsis, "distributions", lambda name: [package] * (version == "3.0"))
    with pytest.raises(ValueError, match=rf"icu-sepsis: 2\.0\.1 expected, got {version}; pip"):
        load_model()


def small_sepsis():
    """Three states of illness, in which an action with a cost saves more patients."""
    random = np.random.default_rng(5)
    transition = np.zeros((6, 4, 6))  # 3 is death, 4 survival, and 5 what follows
    transition[:3, :, :5] = random.dirichlet(np.ones(5), (3, 4))
    transition[3:, :, 5] = 1
    reward, cost = np.zeros((6, 4)), np.zeros((6, 4))
    reward[4] = 1 / 0.9
    cost[:3] = 0.5 * transition[:3, :, 4] + random.random((3, 4))
    units = {"reward_unit": 1.0, "cost_unit": 2.0}
    return CMDP.from_costs(transition, reward, cost, 0.7, np.eye(3, 6).mean(0), 0.9, **units)


PROCESS = small_sepsis()
OPTIMUM = solve(PROCESS)
STEPS = {"primal_step": 0.1, "dual_step": 0.1}
SHARED = {"evaluators": 4, "horizon": 9, "purpose": "any"}
SAFE_RLHF = {"algorithm": "safe_rlhf", "evaluators": 16, "horizon": 71, "purpose": "any"}
ONE = {"ridge": 1.0}


@pytest.mark.parametrize(("name", "questions"), [("npgpd_hf", 2 * 24 + 1), ("zpgpd_hf", 3)])
def test_runs_spend_their_answers_with_the_bits_of_a_run(name, questions):
    given = SHARED | {"algorithm": name, "answers": 2000, "seeds": 2}
    found = spend(PROCESS, OPTIMUM, given, [STEPS], "any")
    grid = found["iteration"].unique()
    assert [grid.min(), grid.max()] == [0, 2000 // (4 * questions)]
    settings = {"iterations": max(grid), "checkpoints": grid} | SHARED | STEPS
    expected = run(PROCESS, name, seeds=[0, 1], **settings)
    for column in ("seed", "multiplier", "answers", "reward_value", "utility_value"):
        assert [*found[column]] == [*expected[column]]


def test_a_search_chooses_the_smallest_score():
    given = SHARED | {"algorithm": "npgpd_hf", "answers": 20_000, "seeds": 2}
    given["options"] = {"primal_step": [0.0, 0.1], "dual_step": [0.1]}
    table = search(PROCESS, OPTIMUM, given)
    assert table["score"].idxmin() == 1
    v_r, v_g = PROCESS.evaluate(np.full((6, 4), 1 / 4))  # without a step nothing changes
    still = max(OPTIMUM.reward_value - v_r, 0) + max(PROCESS.threshold - v_g, 0)
    assert table["score"][0] == pytest.approx(still)


def test_options_of_runs_have_won_the_recorded_searches():
    table = read_table(FOLDER / "tables/sepsis_search.csv").set_index(["method", "answers"])
    for name, given in DECLARED["search"].items():
        rows = table.loc[[(given.get("method", name), given["answers"])]]
        best = rows.nsmallest(1, "score")[[*given["options"]]]
        assert best.iloc[0].to_dict() == DECLARED["runs"][name]["options"]


def test_visits_are_those_of_the_uniform_policy():
    visits = sample_visits(PROCESS, 40_000, 71, np.random.default_rng(0)).toarray()
    assert visits.sum(1) == pytest.approx((1 - 0.9**72) / 0.1)
    expected = np.repeat(PROCESS.occupancy(np.full((6, 4), 0.25))[:, None] / 4, 4, axis=1)
    expected[5] = 4 * expected[5, 0], 0, 0, 0
    noise = visits.std(0) / np.sqrt(len(visits)) + 0.9**72
    assert (np.abs(visits.mean(0) - expected.ravel()) <= 4.5 * noise).all()


def test_expected_votes_lead_to_the_optimum():
    visits, evaluators = sample_visits(PROCESS, 2000, 300, np.random.default_rng(0)), 10**6
    assert (visits.sum(0) > 0).sum() == 5 * 4 + 1  # all there are
    votes = evaluators * chances(PROCESS, visits)
    ((policy, multiplier),) = learn(PROCESS, visits, votes, evaluators, [ONE | {"ridge": 1e-3}])
    best = OPTIMUM.reward_value, OPTIMUM.utility_value
    assert PROCESS.evaluate(policy) == pytest.approx(best, abs=1e-5)
    assert multiplier == pytest.approx(OPTIMUM.multiplier, abs=1e-4)


def test_more_answers_come_closer():
    errors = []
    for answers in (2 * 10**4, 2 * 10**9):
        given = SAFE_RLHF | {"most_pairs": 2000, "answers": answers, "seeds": 3}
        table = spend(PROCESS, OPTIMUM, given, [ONE], "any")
        assert table["answers"].between(0.99 * answers, answers).all()
        errors.append((table["reward_value"] - OPTIMUM.reward_value).abs())
    assert errors[1].max() < 0.005 < 0.02 < errors[0].min()
    table = search(PROCESS, OPTIMUM, given | {"options": {"ridge": [1.0, 1e6]}})
    assert table["score"].idxmin() == 0


def test_where_estimates_allow_no_policy_it_is_the_safest():
    visits = sample_visits(PROCESS, 100, 71, np.random.default_rng(0))
    votes = np.zeros((50, 3))  # nothing is harmless enough
    ((policy, multiplier),) = learn(PROCESS, visits, votes, 16, [ONE])
    assert np.isnan(multiplier)
    assert policy.max(1) == pytest.approx(1)


def test_numbers_depend_on_the_seed_and_the_ridges_of_reward_and_utility():
    apart, ten = ONE | {"utility_ridge": 10.0}, {"ridge": 10.0}
    choices = [apart, ten, ONE, ONE | {"utility_ridge": 1.0}, ten | {"utility_ridge": 10.0}]
    given = SAFE_RLHF | {"most_pairs": 100, "answers": 9600, "seeds": 2}
    both, alone = (spend(PROCESS, OPTIMUM, given, it, "any") for it in (choices, choices[2:3]))
    first, second = both["multiplier"].to_numpy().reshape(2, -1)
    assert first[1] == first[4] and first[2] == first[3]
    assert len({*first, *second}) == 6
    assert [*alone["multiplier"]] == [first[2], second[2]]
