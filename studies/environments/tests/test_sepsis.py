"""ICU-Sepsis has its published numbers, and runs are followed as the library runs them."""

from importlib.metadata import PackageNotFoundError
from pathlib import Path

import numpy as np
import pytest
import yaml
from environments import sepsis
from environments.sepsis import DEATH, frontier, load_model, sepsis_cmdp
from environments.sepsis_runs import follow, horizon_of, run_method, search

from pgpd_hf import NPGPDHF, ZPGPDHF, random_cmdp, run, solve
from pgpd_hf.tables import read_table

FOLDER = Path(__file__).parents[1]
CMDP = random_cmdp(4, 3, 5)
OPTIMUM = solve(CMDP)


@pytest.fixture(scope="module")
def model():
    try:
        return load_model()
    except ValueError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def cmdp(model):
    return sepsis_cmdp(model, at_most=1.17, discount=0.99, cost_unit=10)


def outcomes(model, policy, discount):
    """Survival and length of a stay from their own equations, over states that are not final."""
    live = slice(DEATH)
    steps = np.einsum("sa,sat->st", policy, model.transition)[live]
    matrix = np.eye(DEATH) - discount * steps[:, live]
    found = np.linalg.solve(matrix, np.stack([steps[:, sepsis.SURVIVAL], np.ones(DEATH)]).T)
    return model.initial[live] @ found


@pytest.mark.parametrize(
    ("who", "survival", "length"), [("random", 0.78, 9.45), ("expert", 0.78, 9.22)]
)
def test_survival_and_length_of_stay_are_the_published_ones(model, who, survival, length):
    policy = np.full_like(model.clinicians, 1 / 25) if who == "random" else model.clinicians
    found = outcomes(model, policy, 1.0)
    assert found[0] == pytest.approx(survival, abs=0.005)
    assert found[1] == pytest.approx(length, abs=0.05)  # theirs are means over episodes


def test_values_are_discounted_survival_and_fluids(model, cmdp):
    survival, fluids = cmdp.in_units(*cmdp.evaluate(model.clinicians))
    assert survival == pytest.approx(outcomes(model, model.clinicians, 0.99)[0], abs=1e-12)
    most = np.zeros_like(model.clinicians)
    most[:, 24] = 1  # the highest level of both, in every period of a stay
    highest = cmdp.in_units(*cmdp.evaluate(most))[1]
    assert highest == pytest.approx(outcomes(model, most, 0.99)[1], abs=1e-9)
    assert 0 < fluids < highest


def test_without_a_limit_the_frontier_begins_at_the_largest_survival(cmdp):
    survival, fluids = frontier(cmdp, [0.0])
    assert survival.item() == pytest.approx(0.8013, abs=5e-5)
    assert fluids.item() == pytest.approx(3.90, abs=0.005)


def test_evaluators_cannot_be_told_more_than_what_is_possible(cmdp):
    assert cmdp.return_bound(horizon=10_000) == pytest.approx(10, abs=0.2)


def test_a_missing_package_is_told_in_one_line(monkeypatch):
    def missing(name):
        raise PackageNotFoundError(name)

    monkeypatch.setattr(sepsis, "distribution", missing)
    with pytest.raises(ValueError, match=r"icu-sepsis: not installed; pip install .*==2\.0\.1"):
        load_model()


def test_another_version_is_refused(monkeypatch):
    class Other:
        version = "3.0"

    monkeypatch.setattr(sepsis, "distribution", lambda name: Other)
    with pytest.raises(ValueError, match=r"icu-sepsis: 2\.0\.1 expected, got 3\.0"):
        load_model()


@pytest.mark.parametrize("kind", [NPGPDHF, ZPGPDHF])
def test_runs_are_followed_with_the_bits_of_a_run(kind):
    options = {"evaluators": 8, "horizon": 9, "primal_step": 0.1, "dual_step": 0.1}
    algorithm = kind(**options)
    expected = run(CMDP, algorithm, seeds=[3], iterations=20, checkpoints=[0, 7, 20], purpose="any")
    found = follow(CMDP, OPTIMUM, algorithm, 20, {0, 7, 20}, 3, "any")
    for column in ("iteration", "reward_value", "utility_value", "multiplier", "answers"):
        assert [*found[column]] == [*expected[column]]


def test_answers_are_spent_and_not_more():
    steps = {"primal_step": 0.1, "dual_step": 0.1}
    for name, questions in (("npgpd_hf", 2 * 12 + 1), ("zpgpd_hf", 3)):
        table = run_method((CMDP, OPTIMUM), name, 4, 1000, [0], "any", **steps)
        assert 1000 - 4 * questions < table["answers"].max() <= 1000


def test_horizon_is_the_shortest_that_cuts_off_little():
    horizon, largest = horizon_of(CMDP, OPTIMUM), CMDP.utility.max() / (1 - CMDP.discount)
    cut = [largest * CMDP.discount ** (it + 1) for it in (horizon, horizon - 1)]
    assert cut[0] <= 0.1 * OPTIMUM.slack < cut[1]


def test_a_search_chooses_the_smallest_score():
    given = {"answers": 20_000, "primal_step": [0.0, 0.1], "dual_step": [0.1]}
    table = search((CMDP, OPTIMUM), "npgpd_hf", given, [0, 1], "any")
    assert [*table["chosen"]] == [False, True]
    v_r, v_g = CMDP.evaluate(np.full((4, 3), 1 / 3))  # without a step nothing changes
    still = max(OPTIMUM.reward_value - v_r, 0) + max(CMDP.threshold - v_g, 0)
    assert table["score"][0] == pytest.approx(still)


def test_steps_of_the_configuration_have_won_the_recorded_search():
    steps = yaml.safe_load((FOLDER / "config.yaml").read_text())["sepsis"]["steps"]
    table = read_table(FOLDER / "tables/sepsis_search.csv")
    best = table.loc[table.groupby("algorithm")["score"].idxmin()].set_index("algorithm")
    for name, given in steps.items():
        assert best.loc[name, [*given]].to_dict() == given
