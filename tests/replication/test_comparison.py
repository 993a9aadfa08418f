"""The comparison per human answer: settings at each budget, tuning, and its table."""

import copy
import json
import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checking import ANALYSES, study
from drawn import bands
from scipy import stats

from pgpd_hf import ALGORITHMS, LINKS, random_cmdp, run
from pgpd_hf.algorithms.zpgpd_hf import theorem_perturbation
from pgpd_hf.deployment import answers_for
from replication.analyses import comparison as analysis
from replication.analyses import comparison_races, misspecification
from replication.analyses import comparison_tuning as tuning
from replication.figures import comparison as drawings
from replication.figures import style
from replication.files import storage
from replication.study import admission, comparison
from replication.study.cases import read_choices, run_cases

ROOT = Path(__file__).parents[2]
CONFIG = study()
SCHEMA = admission.load_schema(ROOT, "config")


def entry(method, place=0):
    return [it for it in comparison.entries(CONFIG) if it.method == method][place]


@pytest.mark.parametrize("it", comparison.entries(CONFIG), ids=lambda it: it.part)
def test_every_candidate_spends_the_budget_and_not_more(it):
    kind = ALGORITHMS[it.algorithm]
    for budget in comparison.budgets(CONFIG, it):
        settings = comparison.candidates(CONFIG, it, budget)
        assert settings
        for setting in settings:
            # What is left does not pay for one more iteration, or a pair more in each.
            rounds, times = (setting["rounds"], 1) if kind.has_steps else (1, setting["iterations"])
            least = kind.effort(10, 4, rounds)[1] * setting["evaluators"] * times
            questions = kind.effort(10, 4, setting["rounds"])[1]
            spent = questions * setting["evaluators"] * setting["iterations"]
            assert budget - least < spent <= budget
            rounds = setting["rounds"] * setting["iterations"]
            most = it.options.get("most_rounds_in_all", math.inf)
            assert not kind.has_steps or rounds <= most


@pytest.mark.parametrize("method", ["npgpd_hf", "zpgpd_hf"])
def test_runs_of_candidates_ask_as_many_people_as_the_budget_pays_for(method):
    """The count of a run's own trace, whatever M, N, estimator and perturbation are."""
    it = entry(method)
    settings = [
        setting
        for setting in comparison.candidates(CONFIG, it, 3000)
        if (setting["primal_step"], setting["dual_step"]) in ((0.03, 0.003), (0.3, 0.03))
    ]
    assert {setting["rounds"] for setting in settings} == {1, 4}
    assert {setting["estimator"] for setting in settings} == {"plug-in", "unbiased"}
    for setting in settings:
        options, iterations = ALGORITHMS[it.algorithm].pick(setting), setting["iterations"]
        trace = run(random_cmdp(), it.algorithm, seeds=[0], iterations=iterations, **options)
        least = trace["answers"].iloc[-1] / setting["iterations"]
        assert 3000 - least < trace["answers"].iloc[-1] <= 3000


def test_the_papers_algorithms_are_tuned_as_freely_as_others():
    """Everything that is tuned for a rival, and M and N, is tuned for them, too."""
    for method in ("npgpd_hf", "zpgpd_hf"):
        it, kind = entry(method), ALGORITHMS[method]
        tuned = {
            name
            for other in comparison.entries(CONFIG)
            for name in other.options["candidates"]
            if name in kind.options()
        }
        assert tuned | {"rounds", "estimator", "evaluators"} <= set(it.options["candidates"])
    values = {method: entry(method).options["candidates"] for method in ("zpg", "zpgpd_hf")}
    radii = [setting["perturbation"] for setting in comparison.candidates(
        CONFIG, entry("zpgpd_hf"), 1000)]  # fmt: skip
    assert set(radii) == {None, 3}
    assert max(values["zpg"]["perturbation"]) in radii
    # The other radius of zpg: Theorem 2's is not far from it.
    bound, link = random_cmdp().return_bound(80), LINKS["logistic"]
    theorem = [
        theorem_perturbation(random_cmdp().discount, 80, number, link, bound)
        for number in values["zpgpd_hf"]["evaluators"]
    ]
    assert min(theorem) == pytest.approx(1.03, abs=0.005)
    assert max(theorem) == pytest.approx(2.09, abs=0.005)


def test_large_budgets_have_values_of_their_own():
    it = entry("zpgpd_hf")
    large = it.options["large_budgets"]
    at = {
        budget: {setting["primal_step"] for setting in comparison.candidates(CONFIG, it, budget)}
        for budget in (large["at_least"] // 10, large["at_least"])
    }
    assert at[large["at_least"]] == set(large["candidates"]["primal_step"])
    assert at[large["at_least"] // 10] == set(it.options["candidates"]["primal_step"])


def test_an_estimator_that_cannot_be_used_is_left_out():
    """With large returns and few people votes cannot be read without bias."""
    it, config = entry("zpgpd_hf"), copy.deepcopy(CONFIG)
    config["environment"] |= {"scale": 1.0}
    found = comparison.candidates(config, it, 10_000)
    unbiased = {it["evaluators"] for it in found if it["estimator"] == "unbiased"}
    plug_in = {it["evaluators"] for it in found if it["estimator"] == "plug-in"}
    assert unbiased < plug_in == {4, 16, 64, 256}
    options = it.options | {"candidates": it.options["candidates"] | {"estimator": ["unbiased"]}}
    options["candidates"] |= {"evaluators": [4]}
    del options["most_rounds_in_all"]
    alone = it._replace(options=options)
    assert comparison.candidates(config, alone, 10_000) == []
    said = comparison.reason(config, alone, 10_000)
    assert said == "votes of 4 people cannot be read without bias"


def test_a_budget_below_one_iteration_is_an_empty_cell_with_its_reason():
    it = entry("npgpd_hf")
    assert comparison.candidates(CONFIG, it, 80) == []
    assert comparison.reason(CONFIG, it, 80) == "one iteration takes 324 answers"
    assert comparison.reason(CONFIG, it, 324) == ""
    assert comparison.reason(CONFIG, it, 10**10) == "more than 20000 rounds in all with M = 1024"
    empty = [("npgpd_hf", "its own", 80, "one iteration takes 324 answers")]
    table = analysis.tabulate(traces(), empty)
    row = table[table["budget"] == 80].iloc[0]
    assert row["units"] == "none: one iteration takes 324 answers"
    assert row[["answers", "gap", "priced_gap", "violates_0"]].isna().all()


def test_a_method_that_no_budget_pays_for_has_no_jobs():
    """A job without cases would fail; the method's empty cells have their reasons."""
    config = copy.deepcopy(CONFIG)
    config["comparison"] |= {"budgets": [1, 100], "most_on_instances": 1}
    config["comparison"]["misspecification"]["budgets"] = [100]
    plans = {module: module.plan(config) for module in (analysis, misspecification)}
    for plan in plans.values():
        assert plan
        assert all(cases for items in plan.values() for _, cases in items)
        assert not any(part.split("/")[-3] == "npgpd_hf" for part in plan)
    races = comparison_races.parts(config)
    assert races
    assert not any(part.split("/")[-3] == "npgpd_hf" for part in races)
    for part in races:
        assert comparison_races.arguments(config, part)["budgets"]
    assert all(part.startswith("seeds/") for part in plans[analysis])
    empty = analysis.parameters(config)["empty"]
    assert ("npgpd_hf", "its own", 100, "one iteration takes 324 answers") in empty


def test_instances_of_tuning_are_others():
    judged, tuned = comparison.instances(CONFIG)
    assert len(judged) == CONFIG["comparison"]["instances"]
    assert tuned
    assert not set(judged) & set(tuned)
    for part in comparison_races.parts(CONFIG):
        assert comparison_races.arguments(CONFIG, part)["instances"] == tuned


def test_limit_is_for_the_budgets_and_the_kind_of_instances_that_are_run():
    config = copy.deepcopy(CONFIG)
    config["comparison"]["most_on_instances"] = 10_000
    told = analysis.arguments(config)
    asked = {
        case.labels["budget"]
        for part, items in analysis.plan(config).items()
        for _, cases in items
        for case in cases
        if part.startswith("instances/")
    }
    assert {*told["budgets"]} == asked
    numbers = [options["instance"] for options in told["drawn"]]
    assert numbers == comparison.instances(config)[0]
    assert told["binding"]  # as the group says


def test_limit_of_a_budget_is_the_mean_of_its_own_gaps(monkeypatch, tmp_path):
    limits = [("one", (1, 0, 0)), ("two", (0, 1, 0))], np.array([[0.1, 0.3], [0.02, 0.04]])
    monkeypatch.setattr(analysis, "information_limit", lambda *_, **__: limits)
    random_cmdp().save(tmp_path / "it.npz")
    storage.write(tmp_path / "runs.csv", traces())
    told = analysis.arguments(CONFIG) | {"budgets": [1000, 3000], "drawn": [], "statements": {}}
    found = analysis.tables([tmp_path / "runs.csv"], tmp_path / "it.npz", **told)
    assert found["comparison_limit"]["priced_gap"].tolist() == pytest.approx([0.2, 0.03])


def test_streams_of_tuning_are_others():
    """Those of a race have a purpose that no run of the comparison has."""
    purposes = {
        case.purpose
        for items in analysis.plan(CONFIG).values()
        for _, cases in items
        for case in cases
    }
    assert purposes
    assert not [purpose for purpose in purposes if purpose.startswith("comparison tuning")]


def test_every_run_finds_the_settings_that_were_tuned_for_it():
    chosen = []
    for part in comparison_races.parts(CONFIG):
        told = comparison_races.arguments(CONFIG, part)
        entry = comparison.Entry(**told["entry"])
        assert entry.part == part
        chosen += [told["prefix"] + comparison.key(entry, it) for it in told["budgets"]]
    asked = {
        case.choice
        for items in analysis.plan(CONFIG).values()
        for _, cases in items
        for case in cases
    }
    assert len(chosen) == len(set(chosen))
    assert set(chosen) == asked


def traces():
    """Two budgets of one method, on two seeds."""
    rows = [
        ("seeds", -1, seed, "npgpd_hf", "its own", budget, budget, 10 * budget, gap, violation, 0.5)
        for budget, gap, violation in ((1000, 0.2, 0.1), (3000, 0.03, -0.01))
        for seed in (0, 1)
    ]
    columns = "unit instance seed method design budget answers steps"
    more = ["optimality_gap", "constraint_violation", "optimal_multiplier"]
    table = pd.DataFrame(rows, columns=[*columns.split(), *more])
    table.loc[1, "constraint_violation"] = 0.01
    return table.assign(tuning_score=0.1)


def test_table_has_its_columns_and_means():
    table = analysis.tabulate(traces())
    assert tuple(table.columns) == analysis.COLUMNS
    first, second = table.to_dict("records")
    assert first["priced_gap"] == pytest.approx(0.2 + 0.5 * 0.055)
    assert (first["violates_0"], first["violates_002"], first["units"]) == (1, 0.5, "2 seeds")
    assert (second["violates_0"], second["answers"], second["steps"]) == (0, 3000, 30000)


def test_answers_needed_are_the_first_budget_that_is_good_enough():
    needed = analysis.answers_needed(analysis.tabulate(traces())).set_index("target")
    assert needed.loc[0.05, "answers"] == 3000
    assert np.isnan(needed.loc[0.02, "answers"])
    assert needed.loc[0.02, "most"] == 3000
    both = traces().assign(optimality_gap=0.04, constraint_violation=0.0)
    needed = analysis.answers_needed(analysis.tabulate(both)).set_index("target")
    assert needed.loc[0.05, "answers"] == 1000


def test_answers_are_surely_enough_where_the_ends_of_both_intervals_are():
    row = {"units": "2 seeds", "method": "zpg", "design": "", "budget": 10, "answers": 10}
    row |= {"priced_gap": 0.0, "priced_gap_high": 0.01, "violation": 0.0}
    for end, surely in ((0.019, 10), (0.021, np.nan)):
        table = pd.DataFrame([row | {"violation_high": end}])
        needed = analysis.answers_needed(table).set_index("target").loc[0.02]
        assert needed[["answers", "surely"]].tolist() == pytest.approx([10, surely], nan_ok=True)


def test_low_priced_gap_of_an_unsafe_policy_is_not_good_enough():
    runs = traces()
    runs.loc[:1, ["optimality_gap", "constraint_violation"]] = -0.05, 0.1
    table = analysis.tabulate(runs)
    assert table["priced_gap"].iloc[0] == pytest.approx(0)
    needed = analysis.answers_needed(table).set_index("target")
    assert needed.loc[0.05, ["answers", "surely"]].tolist() == [3000, 3000]


def test_order_is_by_paired_differences_from_the_best():
    best = pd.concat([traces(), traces().iloc[::2].assign(seed=2)])
    further = [-0.1, 0.5, 0, 0, -0.1, 0]  # mostly ahead with 1000 answers, but not in the mean
    behind = best.assign(method="zpg", optimality_gap=best["optimality_gap"] + further)
    table = analysis.order(pd.concat([behind, best])).set_index(["budget", "method"])
    assert (table.loc[(slice(None), "npgpd_hf"), "difference"] == 0).all()
    row = table.loc[(1000, "zpg")]
    half = stats.t.ppf(0.975, 2) * 0.2
    assert row[["difference", "low", "high"]].tolist() == pytest.approx(
        [0.1, 0.1 - half, 0.1 + half]
    )


def test_answers_before_a_deployment_are_those_of_the_function():
    cmdp = random_cmdp()
    table = analysis.answers_for_deployment(cmdp, 80, "logistic").set_index(["slack", "level"])
    assert table.loc[(0.02, 0.95), "answers"] == answers_for(cmdp, 0.02, 0.95, horizon=80)
    assert np.isinf(table.loc[(0.001, 0.95), "answers"])
    short = analysis.answers_for_deployment(cmdp, 8, "logistic").set_index(["slack", "level"])
    assert np.isinf(short.loc[(0.1, 0.95), "answers"])  # no return exceeds b by so much


def test_no_answers_are_a_table_without_rows(tmp_path):
    table = analysis.answers_needed(analysis.tabulate(traces()).iloc[:0])
    storage.write(tmp_path / "none.csv", table)
    assert list(storage.read_table(tmp_path / "none.csv")) == list(table)
    assert table.empty


def test_verdicts_follow_from_paired_differences():
    """And of two designs the one counts that was better in tuning, whichever is better here."""
    told = {"source": "", "quote": "", "statement": "", "better": "npgpd_hf", "than": "zpg"}
    good, bad = traces(), traces().assign(method="zpg")
    bad["optimality_gap"] += [0.1, 0.11, 0.1, 0.1]
    lucky = bad.assign(design="other", optimality_gap=bad["optimality_gap"] - 1, tuning_score=0.2)
    runs = pd.concat([good, lucky, bad])

    def verdict(runs, *budgets, **change):
        found = [
            analysis.verdicts(runs, {"it": {**told, **change, "budgets": {"seeds": budget}}})
            for budget in budgets
        ]
        return [table["verdict"].item() for table in found], found[0]

    both, table = verdict(runs, 1000, 3000)
    assert both == ["inconclusive", "reproduced"]  # two seeds and an interval that is wide
    assert table["difference"].item() == pytest.approx(-0.105)
    half = stats.t.ppf(0.99, 1) * 0.005
    assert table["high"].item() == pytest.approx(-0.105 + half)
    assert verdict(runs, 3000, better="zpg", than="npgpd_hf")[0] == ["contradicted"]
    assert verdict(runs, 3000, than="absent")[0] == verdict(runs, 5)[0] == ["undecided"]


@pytest.mark.parametrize(
    ("seeds", "instances", "expected"),
    [
        ([0.1, 0.1], [0.2, 0.2], "reproduced"),
        ([0.1, 0.1], [-0.2, -0.2], "contradicted"),
        ([0.1, 0.1], [-0.2, 0.3], "inconclusive"),
        ([-0.1, -0.1], [-0.2, 0.3], "contradicted"),
        # Student's t with one degree of freedom: 45 is beyond its 0.99 quantile, 31.8, but not
        # beyond that at 0.995, 63.7, which is the level where either kind of unit can contradict.
        ([-0.046, -0.044], [-0.2, 0.3], "inconclusive"),
        ([-0.066, -0.064], [-0.2, 0.3], "contradicted"),
    ],
)
def test_one_kind_of_unit_contradicts_and_all_reproduce(seeds, instances, expected):
    """By how much the other method is behind, on two seeds and on two instances."""
    good = traces().query("budget == 1000")
    runs = []
    for unit, behind in (("seeds", seeds), ("instances", instances)):
        bad = good.assign(method="zpg", optimality_gap=good["optimality_gap"] + behind)
        runs += [table.assign(unit=unit) for table in (good, bad)]
    told = {"source": "", "quote": "", "statement": "", "better": "npgpd_hf", "than": "zpg"}
    statements = {"it": told | {"budgets": {"seeds": 1000, "instances": 1000}}}
    assert set(analysis.verdicts(pd.concat(runs), statements)["verdict"]) == {expected}


def raced(rows):
    return pd.DataFrame(
        [(key, json.dumps(setting), *row) for key, setting, *row in rows],
        columns=[*comparison_races.COLUMNS],
    )


def test_tuning_collects_races_and_the_winners_with_what_is_tied_with_them():
    rows = [
        ("a", {"it": 1}, 0.2, 2, "dropped"),  # not comparable: of fewer runs
        ("a", {"it": 2}, 0.25, 18, "chosen"),
        ("a", {"it": 3}, 0.3, 18, "tied"),
        ("a", {"it": 4}, 0.4, 18, "tied"),
        ("b", {"it": 1}, 0.1, 6, "chosen"),
        ("b", {"it": 2}, 0.5, 2, "dropped"),
    ]
    tables = tuning.tabulate(raced(rows))
    assert list(tables) == [*tuning.TABLES]
    table, chosen = tables["comparison_tuning"], tables["comparison_settings"]
    names = ["key", "setting", "score", "runs", "tied", "at_edge"]
    assert chosen.columns.tolist() == names
    assert chosen.to_numpy().tolist() == [
        ["a", '{"it": 2}', 0.25, 18, 2, ""],
        ["b", '{"it": 1}', 0.1, 6, 0, ""],
    ]
    assert table.columns.tolist() == [*comparison_races.COLUMNS, "chosen"]
    assert table["chosen"].tolist() == [False, True, False, False, True, False]
    assert read_choices(table) == {
        "a": ({"it": 2}, pytest.approx(0.25)),
        "b": ({"it": 1}, pytest.approx(0.1)),
    }


def test_tables_of_all_races_become_one(tmp_path):
    paths = []
    for key in "ab":
        paths.append(tmp_path / f"{key}.csv")
        raced([(key, {"it": 1}, 0.1, 18, "chosen")]).to_csv(paths[-1], index=False)
    tables = tuning.tables([*map(str, paths)])
    assert tables["comparison_tuning"]["key"].tolist() == ["a", "b"]
    assert tables["comparison_settings"]["tied"].tolist() == [0, 0]


def test_without_races_tables_of_tuning_are_empty():
    for table in tuning.tables([]).values():
        assert table.empty
        assert {"key", "setting", "score", "runs"} < set(table)


def test_settings_at_an_end_of_the_values_tried_are_named():
    """Of at least three numbers; iterations follow from the others."""
    steps, people, radii = (0.1, 0.3, 1), (4, 16), (None, 1, 3)
    settings = [
        {"rounds": 1, "iterations": 64 // m, "primal_step": step, "evaluators": m,
         "perturbation": radius, "estimator": "plug-in"}
        for step in steps for m in people for radius in radii
    ]  # fmt: skip

    def edges(best, settings):
        won = next(it for it in settings if it["primal_step"] == best)
        rows = [
            ("it", it, 0.1, 18, "chosen" if it is won else "dropped") for it in settings
        ]  # fmt: skip
        # Values of another race are not among those that this one has tried.
        others = [("other", won | {"primal_step": step}, 0.1, 18, "tied") for step in (0.01, 9)]
        chosen = tuning.tabulate(raced(rows + others))["comparison_settings"]
        return chosen["at_edge"].item()

    assert [edges(best, settings) for best in steps] == ["primal_step", "", "primal_step"]
    fewer = [it for it in settings if it["primal_step"] < 1]
    assert edges(0.1, fewer) == ""


def test_npgpd_hf_has_the_rows_of_the_study_at_equal_settings():
    """On the study's own environment, streams are those of its committed runs."""
    config = copy.deepcopy(CONFIG)
    config["comparison"]["methods"]["npgpd_hf"]["candidates"] = {
        "evaluators": [16],
        "primal_step": [0.3],
        "dual_step": [0.03],
    }
    del config["comparison"]["methods"]["npgpd_hf"]["large_budgets"]
    it = next(it for it in comparison.entries(config) if it.method == "npgpd_hf")
    (setting,) = comparison.candidates(config, it, 30_000)
    _, cases = analysis.plan(config)[f"seeds/{it.part}"][0]
    case = next(case for case in cases if case.labels["budget"] == 30_000)
    choices = {case.choice: (json.loads(json.dumps(setting)), 0.25)}
    row = run_cases([case], random_cmdp(), None, choices).iloc[0]
    traces = pd.read_csv(ROOT / "reference/hard/traces.csv")
    same = "algorithm == 'npgpd_hf' and evaluators == 16 and seed == 0 and iteration == 23"
    study_row = traces.query(same).iloc[0]
    for name in ("optimality_gap", "constraint_violation", "answers", "steps", "multiplier"):
        assert row[name] == pytest.approx(study_row[name], rel=1e-9)


@pytest.mark.parametrize(
    ("own", "dropped"),
    [
        ({"algorithms": {"zpgpd_hf": None}}, {"zpgpd_hf", "zpgpd_hf_divided"}),
        ({"environment": {"threshold": 0.5}}, set(CONFIG["comparison"]["methods"])),
        ({"environment": {"instance": 3}}, set()),
    ],
)
def test_a_study_keeps_what_applies_to_it(own, dropped):
    """Without the instances on which methods are tuned, there is no comparison."""
    defaults, config = study(), study()
    for part, changes in own.items():
        config[part] |= changes
    settled, lines = admission.settle(config, ROOT, own, defaults, ANALYSES)
    left = set(settled["comparison"]["methods"])
    assert left == set(CONFIG["comparison"]["methods"]) - dropped
    for module in (analysis, comparison_races, tuning):
        assert bool(module.why_not(settled)) == (not left)
    if left:
        assert analysis.plan(settled)
        assert comparison_races.parts(settled)
        analysis.check(settled, SCHEMA)
    assert bool(lines) == bool(dropped)


def mine(algorithm, candidates, fixed=None):
    """A comparison of one method."""
    options = {"algorithm": algorithm, "most_answers": 1000, "candidates": candidates}
    return {"methods": {"mine": options | {"fixed": fixed or {}}}, "statements": {}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"group": "none"}, "comparison.group: one of binding expected, got 'none'"),
        ({"budgets": [3, 1]}, "comparison.budgets: increasing order"),
        (
            mine("zpg", {"primal_step": [1]}),
            "comparison.methods.mine: candidates: dual_step expected",
        ),
        (
            mine("safe_rlhf", {"margin": [1]}),
            "comparison.methods.mine.candidates: unknown key 'margin'",
        ),
        (
            mine("safe_rlhf", {"ridge": [1, "much"]}),
            "comparison.methods.mine.candidates.ridge: number expected",
        ),
        (
            mine("safe_rlhf", {"ridge": [1]}, {"a": 1}),
            "comparison.methods.mine.fixed: unknown key 'a'",
        ),
        (
            {"methods": CONFIG["comparison"]["methods"] | {"Safe RLHF": {"algorithm": "zpg"}}},
            "comparison.methods: 'Safe RLHF' is the label of two methods",
        ),
        (
            {"statements": {"fast": {"better": "magic", "than": "zpg"}}},
            "comparison.statements.fast.better: one of npgpd_hf, .* expected, got 'magic'",
        ),
    ],
)
def test_what_cannot_be_compared_is_named(change, message):
    config = copy.deepcopy(CONFIG)
    config["comparison"] |= change
    with pytest.raises(ValueError, match=f"^{message}"):
        comparison.check(config, SCHEMA)


def test_a_group_with_an_environment_of_its_own_is_none_of_the_comparison():
    config = copy.deepcopy(CONFIG)
    group = {"environment": {"states": 5}, "numbers": [1, 3], "tuning": [4]}
    config["claims"]["instances"]["groups"]["wide"] = group
    config["comparison"]["group"] = "wide"
    with pytest.raises(ValueError, match=r"^comparison.group: one without an environment"):
        comparison.check(config, SCHEMA)
    group["environment"] = {}
    comparison.check(config, SCHEMA)


REFERENCE = pd.read_csv(ROOT / "reference/comparison.csv")
LABELS = {name: entry["label"] for name, entry in CONFIG["comparison"]["methods"].items()}


@pytest.mark.parametrize("kind", ["instances", "seeds"])
def test_figure_shows_each_method_with_its_best_design(kind):
    limit = pd.read_csv(ROOT / "reference/comparison_limit.csv")
    style.use_style()
    figure = drawings.comparison_figure(REFERENCE, LABELS, kind, limit)
    shown = drawings.of_kind(REFERENCE, kind)
    for axes, quantity in zip(figure.axes, drawings.QUANTITIES, strict=True):
        drawn = [[*line.get_ydata()] for line in axes.get_lines()]
        named = {line.get_label(): [*line.get_ydata()] for line in axes.get_lines()}
        assert (limit["priced_gap"].tolist() in drawn) == (quantity == "priced_gap")
        for line, band in zip(drawings.best_curves(shown).values(), bands(axes), strict=False):
            low, high = line[f"{quantity}_low"], line[f"{quantity}_high"]
            low = low.clip(lower=1e-5) if quantity == "priced_gap" else low
            expected = dict(zip(line["answers"], zip(low, high, strict=True), strict=True))
            assert band == expected
        by_method = {name: [] for name in LABELS}
        for (method, _), rows in shown.groupby(["method", "design"]):
            by_method[method] += [it for it in [rows[quantity].tolist()] if it in drawn]
        main = [name for name in LABELS if name not in drawings.VARIANTS]
        assert [len(by_method[name]) for name in main] == [1] * len(main)
        # A variant's curve may be that of its parent by chance.
        own = [by_method[name][0] for name in main]
        for method, label in LABELS.items():
            assert all(curve in own for curve in by_method[method])
            assert (label in named) == (method in main)
        assert [named[LABELS[name]] for name in main] == own
        assert ("information limit" in named) == (quantity == "priced_gap")
    safe = shown[shown["method"].eq("safe_rlhf") & shown["budget"].eq(1_000_000)]
    best = safe.loc[safe["priced_gap"].idxmin(), "design"]
    assert set(drawings.best_curves(shown)["safe_rlhf"]["design"]) == {best}
    style.plt.close(figure)


def test_titles_name_the_method_that_is_lowest_where_all_have_been_asked():
    table = analysis.tabulate(traces())
    other = table.assign(method="zpg_too", gap=table["gap"] - 1)
    more = other.assign(budget=10 * table["budget"].max(), gap=-9)  # for one of them only
    labels = {"npgpd_hf": "ours", "zpg_too": "theirs"}
    style.use_style()
    figure = drawings.comparison_figure(pd.concat([table, other, more]), labels, "seeds")
    lines = [axes.get_title("left").split("\n") for axes in figure.axes]
    titles = {name.split()[0]: said for name, *said in lines}
    last = table.loc[table["budget"] == table["budget"].max()].iloc[0]
    asked = f"lowest at {last['budget']:,}: "
    assert titles["gap"] == [f"{asked}theirs, {last['gap'] - 1:.2g}".replace("-", "−")]
    assert titles["share"][0].startswith(f"{asked}2 methods, ")
    assert titles["violation"] == []  # which may be too low
    style.plt.close(figure)


def test_every_curve_that_is_no_method_s_best_is_a_variant_beside_it():
    shown = drawings.of_kind(REFERENCE, "instances")
    best = {name: it["design"].iloc[0] for name, it in drawings.best_curves(shown).items()}
    style.use_style()
    figure = drawings.variants_figure(REFERENCE, LABELS, "instances")
    titles = [axes.get_title("left").split("\n") for axes in figure.axes if axes.has_data()]
    curves = shown[["method", "design"]].drop_duplicates().itertuples(index=False, name=None)
    assert len(titles) == len([curve for curve in curves if curve not in best.items()]) == 10
    said = {name: (gap, violations) for name, gap, violations in titles}
    last = shown[shown["budget"] == 1_000_000].set_index(["method", "design"])
    rows = last.loc[[("safe_rlhf_npg_pd", "deterministic"), ("safe_rlhf", best["safe_rlhf"])]]
    ratio = rows["priced_gap"].iloc[0] / rows["priced_gap"].iloc[1]
    shares = [f"{100 * share:.0f} %" for share in rows["violates_002"]]
    assert said["Safe RLHF, NPG-PD"] == (
        f"at $10^{{6}}$: {ratio:.2f} × the priced gap",
        f"violate: {shares[0]} (the method: {shares[1]})",
    )
    assert shares[0] != shares[1]
    panel = next(it for it in figure.axes if it.get_title("left").startswith("ZPG (no"))
    drawn = {line.get_label(): line.get_ydata().tolist() for line in panel.get_lines()}
    for label, name in (("the method", "zpgpd_hf"), ("the variant", "zpg")):
        assert drawn.pop(label) == shown.loc[shown["method"] == name, "priced_gap"].tolist()
    assert not drawn
    style.plt.close(figure)


def test_figures_without_any_result_are_empty():
    none = REFERENCE.assign(answers=np.nan)
    for figure in (
        drawings.comparison_figure(none, LABELS, "seeds"),
        drawings.variants_figure(none, LABELS, "seeds"),
    ):
        figure.draw_without_rendering()
        style.plt.close(figure)
