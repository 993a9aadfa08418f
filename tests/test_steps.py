"""The search for step sizes: how pairs are scored, dropped and chosen."""

import math
import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
from pandas.testing import assert_frame_equal
from scipy import stats

from pgpd_hf import NPGPDHF, choose_steps, random_cmdp, run, solve, steps
from pgpd_hf.steps import CHOSEN, DROPPED, TIED, search_steps

CMDP = random_cmdp()
SETTING = {"iterations": 50, "horizon": 10}
LONGEST = steps._LONGEST  # so many values
PAIRS = {"primal_step": [1.0], "dual_step": [0.1, 3.0]}


def search(seeds=2, name="npgpd_hf", **changes):
    options = {"candidates": PAIRS, "evaluators": 16, **SETTING, **changes}
    return search_steps(CMDP, name, seeds=seeds, **options)


def made_up(monkeypatch, score, grid, seeds=64, longest=0):
    """Search among scores that a function of pair and seed gives."""

    def gaps(cmdp, algorithms, seeds, **_):
        pair = algorithms[0].primal_step, algorithms[0].dual_step
        return np.array([(score(pair, seed), 0.0) for seed in seeds])

    monkeypatch.setattr(steps, "_score", gaps)
    monkeypatch.setattr(steps, "_LONGEST", longest)
    return search(seeds, candidates=dict(zip(PAIRS, grid, strict=True)))


@pytest.fixture(autouse=True)
def _fixed(monkeypatch):
    """A grid that does not grow."""
    monkeypatch.setattr(steps, "_LONGEST", 0)


def test_score_is_half_about_the_run_and_half_about_its_last_quarter():
    """At 101 even places, of the positive parts, averaged over M and seeds."""
    row, parts = search(2, evaluators=[16, None], iterations=250).iloc[0], []
    given = {"iterations": 250, "horizon": 10, "primal_step": 1.0, "dual_step": 0.1}
    given |= {"checkpoints": np.rint(np.linspace(0, 250, 101)).astype(int), "seeds": [0, 1]}
    for number in (16, None):
        trace = run(CMDP, "npgpd_hf", evaluators=number, purpose="calibration", **given)
        positive = trace[["optimality_gap", "constraint_violation"]].clip(lower=0)
        parts += [positive.mean() / 4, positive[trace["iteration"] >= 187.5].mean() / 4]
    weight = 2 * solve(CMDP).multiplier
    expected = [*sum(parts), sum(parts) @ [1, weight]]
    assert weight > 1
    found = row[["positive_gap", "positive_violation", "score"]].to_numpy(dtype=float)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15)


def test_threads_given_steps_and_the_kind_of_an_algorithm_change_nothing():
    """An algorithm begins with the values of the one whose random numbers it draws."""

    @dataclass(frozen=True, kw_only=True)
    class Mine(NPGPDHF):
        name: ClassVar[str] = "mine"
        streams: ClassVar[str] = "npgpd_hf"
        advance = NPGPDHF.advance

        def __post_init__(self):
            super().__post_init__()
            assert self.primal_step != 0  # which no search tries

    assert_frame_equal(search(20, threads=3, primal_step=7.0), search(20), check_exact=True)
    arrays = {key: np.array(it) for key, it in PAIRS.items()}
    for kind, candidates in ((NPGPDHF, arrays), (Mine, None)):
        given = {"candidates": candidates, "seeds": 2, "iterations": 50}
        table = search_steps(CMDP, kind(evaluators=16, horizon=10), **given)
        assert_frame_equal(table, search(candidates=candidates))


def test_worse_pairs_are_dropped_early_and_others_run_on(monkeypatch):
    """Noise that all pairs share is no noise: random numbers are common."""
    level, runs = {1.0: 1.0, 2.0: 1.04, 3.0: 2.0}, []

    def score(pair, seed):
        runs.append((pair, seed))
        shared, own = np.random.default_rng(seed), np.random.default_rng([seed, int(pair[0])])
        return 100 + level[pair[0]] + 10 * shared.normal() + 0.1 * own.normal()

    table = made_up(monkeypatch, score, ([1, 2, 3], [1]), 16).set_index("primal_step")
    assert table["standing"].to_dict() == {1: CHOSEN, 2: TIED, 3: DROPPED}
    assert table["seeds"].to_dict() == {1: 16, 2: 16, 3: 8}
    assert len({*runs}) == len(runs) == 40  # none is run again
    assert table.loc[3, "behind"] == pytest.approx(1, abs=0.2)
    assert table.loc[3, "behind_low"] < table.loc[3, "behind"] < table.loc[3, "behind_high"]


@pytest.mark.parametrize(("factor", "seeds"), [(0.99, 16), (1.01, 8)])
def test_the_level_is_shared_by_stages_and_pairs(monkeypatch, factor, seeds):
    """Two stages and two pairs beside the best; behind it by the quantile of the t test, nearly."""
    behind = factor * stats.t.isf(steps.LEVEL / 4, 7) / math.sqrt(7)

    def score(pair, seed):
        return 100 + (behind + (-1) ** seed if pair[0] == 3 else 0)

    table = made_up(monkeypatch, score, ([1, 2, 3], [1]), 16)
    assert table["seeds"].tolist() == [16, 16, seeds]


@pytest.mark.parametrize("best", [(0.3, 0.1), (10.0, 0.003), (0.01, 3.0)])
def test_the_grid_grows_where_its_end_leads(monkeypatch, best):
    def score(pair, seed):
        return 1 + np.abs(np.log(pair) - np.log(best)).sum() + 0.01 * math.sin(seed)

    table = made_up(monkeypatch, score, ([0.1, 0.3, 1], [0.03, 0.1, 0.3]), longest=LONGEST)
    chosen = table[table["standing"] == CHOSEN].iloc[0]
    assert (*chosen[[*PAIRS]], chosen["at_end"]) == (*best, False)


def test_it_grows_to_seven_values_but_not_from_a_single_value_and_its_end_is_told(monkeypatch):
    table = made_up(monkeypatch, lambda pair, seed: 1 / pair[0], ([1, 10], [7]), longest=LONGEST)
    assert table["primal_step"].tolist() == [1, 10, 100, 1000, 1e4, 1e5, 1e6]
    assert table["at_end"].tolist() == [True, *[False] * 5, True]
    given = {"candidates": {"primal_step": [1, 10], "dual_step": 7}, **SETTING}
    with pytest.warns(UserWarning, match="longer lists expected, since .*: 1000000.0, ") as told:
        choose_steps(CMDP, "npgpd_hf", evaluators=16, **given)
    assert told[0].filename == __file__


def test_smaller_steps_that_are_as_good_are_no_end_of_the_grid(monkeypatch):
    """The best pair is inside of the grid; the chosen pair is as good, smaller, and at an end."""

    grid = [1, 10, 100], [1, 10, 100]
    table = made_up(monkeypatch, lambda pair, seed: 1.005 - 0.005 * (pair == (10, 10)), grid, 1)
    assert table.loc[table["standing"] == CHOSEN, "at_end"].item()
    monkeypatch.setattr(steps, "search_steps", lambda *given, **options: table)
    with warnings.catch_warnings(record=True, action="always") as told:
        choose_steps(CMDP, "npgpd_hf", evaluators=16, **SETTING)
    assert not any("longer lists" in str(it.message) for it in told)


@pytest.mark.parametrize(("step", "warned"), [(1e-3, True), (1.0, False)])
def test_steps_that_hardly_learn_are_told(step, warned):
    given = {"candidates": {"primal_step": step, "dual_step": 0.1}, "evaluators": 64, **SETTING}
    with warnings.catch_warnings(record=True, action="always") as told:
        choose_steps(CMDP, "npgpd_hf", **given)
    assert [str(it.message)[:25] for it in told] == ["iterations: more expected"] * warned


@pytest.mark.parametrize(("score", "chosen"), [(1.0099, 1.0), (1.0101, 2.0)])
def test_of_scores_within_one_percent_the_smallest_steps_are_chosen(monkeypatch, score, chosen):
    table = made_up(monkeypatch, lambda pair, seed: {1: score, 2: 1.0}[pair[0]], ([2, 1], [1]), 1)
    assert table.loc[table["standing"] == CHOSEN, "primal_step"].item() == chosen
    assert set(table["standing"]) == {CHOSEN, TIED}  # one seed drops nobody


def test_steps_that_destroy_the_policy_are_dropped_and_alone_refused():
    table = search(8, candidates=PAIRS | {"primal_step": [1, 1e308]}).set_index("primal_step")
    assert (table.loc[1e308, "score"] == math.inf).all()
    assert (table.loc[1e308, "standing"] == DROPPED).all()
    with pytest.raises(ValueError, match="candidates: smaller steps expected"):
        search(1, candidates=PAIRS | {"primal_step": [1e308]})
