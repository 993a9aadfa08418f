"""Races of the settings of a method that is compared, most of them with made-up scores."""

import copy
import json
import math

import numpy as np
import pandas as pd
import pytest
from checking import study

from pgpd_hf import random_cmdp, run, solve
from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.runs.races import CHOSEN, DROPPED, TIED, Grid
from replication.analyses import comparison_races as races
from replication.study import comparison

CONFIG = study("hard")
BUDGET = 10**7
ANSWERS = 81  # that npgpd_hf asks for an iteration with M = N = 1
# Two values each, so that nothing grows: sixteen settings.
PAIRS = {
    "evaluators": [4, 16],
    "rounds": [1, 4],
    "primal_step": [0.1, 1],
    "dual_step": [0.01, 0.1],
}


def entry(candidates, algorithm="npgpd_hf", design=comparison.OWN_DESIGN, **options):
    options |= {"algorithm": algorithm, "most_answers": 10**9, "candidates": candidates}
    return comparison.Entry("mine", design, algorithm, options)


@pytest.fixture
def raced(monkeypatch):
    """Race with scores that a function of setting and unit gives; tell what has run, too."""

    def race(score, candidates, most=18, budget=BUDGET, **told):
        ran = {}

        def scored(self, task):
            values, unit = task
            found = score(self.settings[values], unit)
            assert ran.setdefault(values, {}).setdefault(unit, found) is found  # once
            # Both parts count.
            return (found, 0.0) if unit % 2 else (0.0, found)

        monkeypatch.setattr(races._Settings, "score", scored)
        config = {**CONFIG, "comparison": CONFIG["comparison"] | {"tuning_runs": most}}
        rows = races.race(config, entry(candidates, **told), budget, problems=[])
        table = pd.DataFrame(rows, columns=[*races.COLUMNS[1:]])
        assert table["runs"].tolist() == [len(of) for of in ran.values()]
        assert table["score"].tolist() == pytest.approx(
            [np.mean([*x.values()]) for x in ran.values()]
        )
        settings = pd.DataFrame(map(json.loads, table.pop("setting")))
        return pd.concat([settings, table], axis=1)

    return race


def place(setting, lists):
    """Place of a setting among all of its grid, best first."""
    found = 0
    for name, values in lists.items():
        found = found * len(values) + values.index(setting[name])
    return found


def noisy(number, unit):
    """Scores in the order of numbers on an even number of units, none of them surely worse."""
    return 100 + 0.01 * number + (1 + number) * (-1) ** unit


@pytest.mark.parametrize(
    ("most", "ends"),
    [(1, [1]), (2, [2]), (5, [5]), (6, [2, 6]), (17, [5, 17]), (18, [2, 6, 18])],
)
def test_stages_treble_and_end_at_the_largest_number_of_runs(most, ends):
    assert races.stages(most) == ends


def test_best_third_goes_on_after_each_stage_but_the_last(raced):
    table = raced(lambda setting, unit: noisy(place(setting, PAIRS), unit), PAIRS)
    number = [place(row, PAIRS) for row in table.to_dict("records")]
    runs = dict(zip(number, table["runs"], strict=True))
    assert runs == {k: 18 if k < 2 else 6 if k < 6 else 2 for k in range(16)}
    standings = dict(zip(number, table["standing"], strict=True))
    assert standings == {0: CHOSEN, 1: TIED, **dict.fromkeys(range(2, 16), DROPPED)}


def test_of_one_stage_no_third_is_taken(raced):
    table = raced(lambda setting, unit: noisy(place(setting, PAIRS), unit), PAIRS, most=2)
    assert set(table["runs"]) == {2}
    assert sorted(table["standing"]) == [CHOSEN] + 15 * [TIED]


def test_two_at_least_go_on(raced):
    steps = {"evaluators": [16], "dual_step": [0.1], "primal_step": [0.1, 0.3, 1]}
    numbers = {0.3: 0, 1: 1, 0.1: 2}  # the middle leads, so nothing grows
    table = raced(lambda setting, unit: noisy(numbers[setting["primal_step"]], unit), steps)
    assert table.set_index("primal_step")["runs"].to_dict() == {0.1: 2, 0.3: 18, 1: 18}


def test_smallest_mean_of_all_runs_wins_among_those_that_are_left(raced):
    """Neither who led first, nor who was luckier in fewer runs."""
    steps = {"evaluators": [16], "dual_step": [0.1], "primal_step": [0.1, 0.3, 1, 3]}

    def score(setting, unit):
        step, noise = setting["primal_step"], (-1) ** unit
        if step == 0.3:  # leads after two runs and after six
            return (4 if unit < 6 else 9) + noise
        return (5 if step == 1 else 6) + 3 * noise

    table = raced(score, steps).set_index("primal_step")
    assert table["standing"].to_dict() == {0.1: DROPPED, 0.3: DROPPED, 1: CHOSEN, 3: DROPPED}
    assert table["runs"].to_dict() == {0.1: 2, 0.3: 18, 1: 18, 3: 2}
    assert table.loc[1, "score"] == pytest.approx(5)


@pytest.mark.parametrize("seed", range(3))
def test_winner_is_the_best_of_those_with_all_runs(raced, seed):
    def score(setting, unit):
        number = place(setting, PAIRS)
        return 9 + 0.1 * number + np.random.default_rng([seed, number, unit]).normal()

    table = raced(score, PAIRS)
    left = table[table["runs"] == 18]
    assert len(left) == 2
    (won,) = table.index[table["standing"] == CHOSEN]
    assert won == left["score"].idxmin()
    assert set(table.loc[table["runs"] < 18, "standing"]) == {DROPPED}


def test_who_is_shown_to_be_worse_drops_out_and_who_is_not_is_tied(raced):
    """Noise that all settings share is no noise."""

    def score(setting, unit):
        number = place(setting, PAIRS)
        shared = 50 * np.random.default_rng(unit).normal()
        return 1000 + shared + (number if number != 1 else 0.1 * (-1) ** unit)

    table = raced(score, PAIRS)
    number = np.array([place(row, PAIRS) for row in table.to_dict("records")])
    assert set(table.loc[number > 1, "runs"]) == {2}
    assert set(table.loc[number < 2, "runs"]) == {18}
    assert set(table.loc[number < 2, "standing"]) == {CHOSEN, TIED}
    assert (table.loc[number > 1, "standing"] == DROPPED).all()


def test_finalist_that_is_shown_to_be_worse_by_its_last_runs_is_not_tied(raced):
    def score(setting, unit):
        number = place(setting, PAIRS)
        return noisy(number, unit) + 50 * (number == 1 and unit > 5)

    table = raced(score, PAIRS)
    left = table[table["runs"] == 18]
    assert sorted(left["standing"]) == [CHOSEN, DROPPED]


def test_race_ends_when_one_is_left(raced):
    table = raced(lambda setting, unit: 1.0 + place(setting, PAIRS), PAIRS)
    assert set(table["runs"]) == {2}
    assert sorted(table["standing"]) == [CHOSEN] + 15 * [DROPPED]


@pytest.mark.parametrize("most", [2, 6, 18])
def test_all_tests_of_a_race_have_its_level_together(raced, monkeypatch, most):
    levels, undecided = [], races._Settings.undecided

    def told(self, contestants, level):
        levels.append(level)
        return undecided(self, contestants, level)

    monkeypatch.setattr(races._Settings, "undecided", told)
    raced(lambda setting, unit: noisy(place(setting, PAIRS), unit), PAIRS, most=most)
    assert set(levels) == {races.LEVEL / len(races.stages(most))}


# Grids that grow.


def one(**lists):
    """Lists of candidates with one value of what is not named."""
    return {"evaluators": [16], "primal_step": [0.1], "dual_step": [0.1]} | lists


def near(**best):
    """Scores that are the lower the nearer a setting is to the best one, in logarithms."""

    def score(setting, unit):
        far = sum(abs(math.log(setting[name] / value)) for name, value in best.items())
        return 1 + far + 0.01 * (1 + far) * (-1) ** unit

    return score


@pytest.mark.parametrize(
    ("best", "tried"),
    [
        (0.3, [0.1, 0.3, 1]),
        (3, [0.1, 0.3, 1, 3, 10]),
        (0.03, [0.01, 0.03, 0.1, 0.3, 1]),
        (1e9, [0.1, 0.3, 1, 3, 10, 30, 100]),
        (1e-9, [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1]),
    ],
)
def test_grid_grows_beyond_an_end_that_leads_by_four_values_at_most(raced, best, tried):
    """Until the best one is seen from both sides, in whichever order a list is written."""
    table = raced(near(primal_step=best), one(primal_step=[1, 0.1, 0.3]))
    assert sorted(table["primal_step"]) == pytest.approx(tried)
    chosen = table.loc[table["standing"] == CHOSEN, "primal_step"].item()
    assert chosen == pytest.approx(min(tried, key=lambda it: abs(math.log(it / best))))


def test_what_is_new_runs_as_often_as_those_that_are_left(raced):
    """And races on with them: here it is found to be the best only then."""

    def score(setting, unit):
        return noisy({0.1: 3, 0.3: 2, 1: 1, 3: 0, 10: 2.5}[setting["primal_step"]], unit)

    table = raced(score, one(primal_step=[0.1, 0.3, 1])).set_index("primal_step")
    assert table["runs"].to_dict() == {0.1: 2, 0.3: 6, 1: 18, 3: 18, 10: 6}
    assert table.loc[3, "standing"] == CHOSEN


def test_grid_may_grow_at_a_later_stage(raced):
    numbers = {0.3: lambda unit: 0 if unit < 2 else 9, 1: lambda unit: 1, 0.1: lambda unit: 2}

    def score(setting, unit):
        return noisy(numbers.get(setting["primal_step"], lambda unit: 1.5)(unit), unit)

    table = raced(score, one(primal_step=[0.1, 0.3, 1])).set_index("primal_step")
    assert table.loc[3, "runs"] >= 6
    assert table.loc[1, "standing"] == CHOSEN


@pytest.mark.parametrize(
    "lists",
    [
        {"primal_step": [0.1, 0.3]},
        {"dual_step": [0, 0.1, 0.3]},
        {"estimator": ["plug-in", "unbiased"], "rounds": [1, 4]},
    ],
)
@pytest.mark.parametrize("end", [0, -1])
def test_lists_of_other_things_or_of_fewer_than_three_positive_numbers_do_not_grow(
    raced, lists, end
):
    def score(setting, unit):  # one end of all lists leads
        return noisy(sum(setting[name] != values[end] for name, values in lists.items()), unit)

    table = raced(score, one(**lists))
    assert len(table) == math.prod(map(len, lists.values()))


def test_list_with_a_word_among_its_numbers_does_not_grow(raced):
    lists = one(perturbation=["theorem", 1, 3])
    numbers = {None: 1, 1: 2, 3: 0}
    table = raced(
        lambda setting, unit: noisy(numbers[setting["perturbation"]], unit),
        lists,
        algorithm="zpgpd_hf",
    )
    assert len(table) == 3


def test_what_is_new_at_the_end_is_tied_only_if_it_is_not_shown_to_be_worse(raced):
    def score(setting, unit):
        step, before = setting["primal_step"], unit < 6
        return noisy({0.3: 1 if before else 5, 1: 2 if before else 1}.get(step, 3), unit) + (
            50 if step > 1 else 0
        )

    table = raced(score, one(primal_step=[0.1, 0.3, 1])).set_index("primal_step")
    assert table["runs"].to_dict() == {0.1: 2, 0.3: 18, 1: 18, 3: 18}
    assert table["standing"].to_dict() == {0.1: DROPPED, 0.3: TIED, 1: CHOSEN, 3: DROPPED}


def test_only_the_best_eight_get_neighbours(raced):
    lists = PAIRS | {"primal_step": [0.01, 0.03, 0.1, 0.3, 1, 3], "dual_step": [0.01, 0.1]}
    lists |= {"estimator": ["plug-in", "unbiased"]}
    others = {name: values for name, values in lists.items() if name != "primal_step"}

    def score(setting, unit):
        return noisy(place(setting, others) + 1e4 / setting["primal_step"], unit)

    table = raced(score, lists)
    for step in (10, 30, 100, 300):
        new = table[table["primal_step"] == step]
        assert sorted(place(row, others) for row in new.to_dict("records")) == [*range(8)]
    assert len(table) == 6 * 16 + 4 * 8


def test_numbers_of_people_stay_whole_and_at_least_one(raced):
    few = raced(near(evaluators=0.001), one(evaluators=[4, 16, 64]))
    assert sorted(few["evaluators"]) == [1, 4, 16, 64]
    odd = raced(near(evaluators=0.001), one(evaluators=[2, 8, 32]))
    assert sorted(odd["evaluators"]) == [2, 8, 32]  # a half is nobody
    uneven = raced(near(evaluators=1e9), one(evaluators=[2, 3, 5]))
    # 5 · 3/2 = 7.5 people are not asked, and the grid does not jump over them.
    assert sorted(uneven["evaluators"]) == [2, 3, 5]
    for table in (few, odd, uneven):
        for name in ("evaluators", "rounds", "iterations"):
            assert table[name].dtype == int
            assert (table[name] >= 1).all()


def test_pairs_in_each_iteration_stay_whole(raced):
    table = raced(near(rounds=1e-9), one(rounds=[1, 2, 4]))
    assert sorted(table["rounds"]) == [1, 2, 4]
    table = raced(near(rounds=8), one(rounds=[1, 2, 4]))
    assert sorted(table["rounds"]) == [1, 2, 4, 8, 16]
    assert table["rounds"].dtype == int


def test_iterations_of_a_method_that_chooses_them_stay_whole(raced):
    lists, how = {"iterations": [2, 4, 8]}, {"design": "deterministic"}
    table = raced(near(iterations=1e-9), lists, algorithm="adaptive_safe_rlhf", **how)
    assert sorted(table["iterations"]) == [1, 2, 4, 8]
    assert table["iterations"].dtype == int


def test_what_a_budget_does_not_pay_for_is_not_run(raced):
    table = raced(near(evaluators=1e9), one(evaluators=[4, 16, 64]), budget=ANSWERS * 300)
    assert sorted(table["evaluators"]) == [4, 16, 64, 256]
    assert (table["evaluators"] * table["iterations"] * ANSWERS <= ANSWERS * 300).all()
    assert table["iterations"].min() == 1
    cheap = raced(near(evaluators=1e9), one(evaluators=[4, 16, 64]), budget=ANSWERS * 200)
    assert sorted(cheap["evaluators"]) == [4, 16, 64]


def test_votes_that_cannot_be_read_without_bias_are_not_run(raced, monkeypatch):
    """Nor are more rounds than the limit of the method, also where the grid grows."""
    lists = one(evaluators=[16, 64, 256])
    most = BUDGET // (16 * ANSWERS)
    table = raced(near(evaluators=0.001), lists, most_rounds_in_all=most)
    assert sorted(table["evaluators"]) == [16, 64, 256]
    monkeypatch.setattr(comparison, "_readable", lambda config, people, how: people > 5)
    assert sorted(raced(near(evaluators=0.001), lists)["evaluators"]) == [16, 64, 256]


@pytest.mark.parametrize("lists", [PAIRS, one(primal_step=[0.1, 0.3, 1]) | {"rounds": [1, 2, 4]}])
def test_order_of_sets_changes_nothing(raced, monkeypatch, lists):
    grow, found = Grid.grow, []
    lists = lists | {"estimator": ["plug-in", "unbiased"], "dual_step": [0.01, 0.1, 1]}
    for backwards in (False, True):

        def ordered(self, leader, running, backwards=backwards):
            return sorted(grow(self, leader, running), key=repr, reverse=backwards)

        monkeypatch.setattr(Grid, "grow", ordered)
        best = {"primal_step": 10, "dual_step": 0.001, "rounds": 8}
        found.append(raced(near(**best), lists).to_csv())
    assert found[0] == found[1]
    assert len(found[0].splitlines()) > 1 + math.prod(map(len, lists.values()))  # it has grown


# Scores of runs.


@pytest.fixture(scope="module")
def problems():
    made = [(number, random_cmdp(instance=number)) for number in (2001, 2002)]
    return [(number, cmdp, solve(cmdp)) for number, cmdp in made]


@pytest.mark.parametrize(
    "it",
    [
        entry(one(rounds=[4], primal_step=[0.3])),
        entry({"evaluators": [16], "primal_step": [1]}, "zpg", fixed={"dual_step": 0}),
        entry({"evaluators": [64], "primal_step": [0.3]}, fixed={"dual_step": 0}),  # no constraint
        entry({"ridge": [10]}, "safe_rlhf", "deterministic"),
    ],
    ids=["npgpd_hf", "zpg", "without", "safe_rlhf"],
)
def test_score_is_that_of_the_end_of_a_run_on_streams_of_its_own(problems, it):
    contest, kind = races._Settings(it, problems), get_algorithm(it.algorithm)
    settings = comparison.admit(CONFIG, it, 10**6, Grid(comparison.lists(it, 10**6)).combinations())
    (values,) = contest.admit(settings)
    setting, ends = settings[values], []
    for unit, (seed, place) in enumerate([(0, 0), (0, 1), (1, 0), (1, 1)]):
        number, cmdp, _ = problems[place]
        trace = run(
            cmdp,
            it.algorithm,
            seeds=[seed],
            iterations=setting["iterations"],
            purpose=f"comparison tuning, instance {number}",
            **kind.pick(setting),
        )
        last = trace.iloc[-1]
        assert last["iteration"] == setting["iterations"]
        ends.append((last["optimality_gap"], last["constraint_violation"]))
        expected = tuple(max(0.0, part) for part in ends[-1])
        assert contest.score((values, unit)) == pytest.approx(expected, abs=1e-13)
    assert len(set(ends)) == 4
    assert min(map(min, ends)) < 0  # so that parts below zero would be seen


def test_step_that_destroys_the_policy_has_an_infinite_score_and_loses(problems):
    config = copy.deepcopy(CONFIG)
    config["comparison"]["tuning_runs"] = 2
    it = entry(one(primal_step=[1e308, 1], evaluators=[16]))
    rows = races.race(config, it, 50_000, problems)
    table = pd.DataFrame(rows, columns=[*races.COLUMNS[1:]])
    table.index = [json.loads(text)["primal_step"] for text in table.pop("setting")]
    assert table["score"].map(math.isinf).to_dict() == {1: False, 1e308: True}
    assert table["standing"].to_dict() == {1: CHOSEN, 1e308: DROPPED}


# Tables of a study.


def test_table_has_a_race_for_each_budget_that_pays_for_one(monkeypatch):
    """On the instances for tuning, in turn, whatever the workflow's files do to what is told."""
    config = copy.deepcopy(CONFIG)
    config["comparison"] |= {"budgets": [100, 1000, 3000], "tuning_instances": 2}
    part = "npgpd_hf/its_own/npgpd_hf"
    assert part in races.parts(config)
    told = json.loads(json.dumps(races.subject(config, part, "elsewhere: ")))
    (it,) = (it for it in comparison.entries(config) if it.part == part)
    seen = []

    def score(self, task):
        seen.append(
            [(number, cmdp.threshold, best.reward_value) for number, cmdp, best in self.problems]
        )
        return 1.0 * len(str(self.settings[task[0]])), 0.0

    monkeypatch.setattr(races._Settings, "score", score)
    ((name, table),) = races.tables(**told).items()
    assert name == part
    assert tuple(table.columns) == races.COLUMNS
    keys = [comparison.key(it, budget) for budget in comparison.raced_budgets(config, it)]
    assert len(keys) == 2  # a hundred answers do not pay for an iteration
    assert table["key"].drop_duplicates().tolist() == [f"elsewhere: {key}" for key in keys]
    assert (table.loc[table["standing"] == CHOSEN].groupby("key").size() == 1).all()
    numbers = comparison.instances(config)[1]
    assert len(numbers) == 2
    for problems in seen:
        assert [number for number, _, _ in problems] == numbers
        assert len({value for _, _, value in problems}) == len(numbers)
    for text in table["setting"]:
        assert not {"horizon", "link"} & set(json.loads(text))
