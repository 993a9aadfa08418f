"""The comparison elsewhere: what is run at each discrimination, and what is read off it."""

import copy
import json
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checking import study
from pages import make_page, texts
from scipy import stats

from pgpd_hf import random_cmdp, solve
from replication.analyses import axes as analysis
from replication.analyses import axes_races, axes_tuning, comparison_races, misspecification
from replication.figures import style
from replication.figures.comparison import discrimination_figure, sizes_figure, votes_figure
from replication.study import admission, comparison, configuration, elsewhere

ROOT = Path(__file__).parents[2]
CONFIG = study()
SCHEMA = admission.load_schema(ROOT, "config")
AS_ASSUMED = misspecification.AS_ASSUMED
METHODS = {"npgpd_hf": "its own", "safe_rlhf": "deterministic"}


@cache
def races():
    """What all races elsewhere are about, by part."""
    told = {part: axes_races.arguments(CONFIG, part) for part in axes_races.parts(CONFIG)}
    assert all(it["name"] == part.partition("/")[0] for part, it in told.items())
    return {part: it["told"] for part, it in told.items()}


def test_discrimination_multiplies_values_and_leaves_policies():
    usual, better = random_cmdp(instance=3), random_cmdp(instance=3, discrimination=10.0)
    assert better.value_bound == pytest.approx(10)
    assert better.threshold == 5.5
    first, second = solve(usual), solve(better)
    assert second.policy == pytest.approx(first.policy, abs=1e-9)
    assert second.multiplier == pytest.approx(first.multiplier)
    assert second.reward_value == pytest.approx(10 * first.reward_value)
    unit = random_cmdp(instance=3, scale="unit", threshold=5.5)
    assert better.reward == pytest.approx(unit.reward, rel=1e-15)
    assert (random_cmdp(discrimination=1).reward == random_cmdp().reward).all()
    midway = random_cmdp(threshold="midway", discrimination=4.0)
    assert midway.threshold == pytest.approx(4 * random_cmdp(threshold="midway").threshold)


def test_size_that_two_sections_have_is_refused():
    config = copy.deepcopy(CONFIG)
    config["axes"]["sizes"]["states"] = [10, 32, 1000]
    with pytest.raises(ValueError, match=r"^axes\.sizes\.larger\.states: 1000 is one of axes\."):
        elsewhere.check(config, SCHEMA)


def test_every_step_and_number_of_people_is_that_of_people_with_c_of_one():
    options = {
        "algorithm": "npgpd_hf",
        "fixed": {"dual_step": 0.3, "evaluators": 64, "rounds": 8},
        "candidates": {"evaluators": [16, 64], "primal_step": [0.1, 1.0]},
        "large_budgets": {"at_least": 10**6, "candidates": {"evaluators": [256, 400]}},
    }
    assert elsewhere._rescaled("npgpd_hf", options, 10) == {
        "algorithm": "npgpd_hf",
        "fixed": {"dual_step": 0.03, "evaluators": 1, "rounds": 8},
        "candidates": {"evaluators": [1], "primal_step": [0.01, 0.1]},
        "large_budgets": {"at_least": 10**4, "candidates": {"evaluators": [3, 4]}},
    }
    for section in (CONFIG["axes"], *elsewhere._sizes(CONFIG["axes"])):
        for name, it in section["methods"].items():
            assert elsewhere._rescaled(name, it, 1) == it


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, 1001, "much", None])
def test_discrimination_out_of_range_is_refused_in_one_line(value):
    with pytest.raises(ValueError, match=r"^discrimination: .*, got"):
        random_cmdp(discrimination=value)


def test_budgets_steps_and_people_of_all_studies_mean_the_same():
    studies = elsewhere.studies(CONFIG)
    studies = {name: it for name, it in studies.items() if "size" not in it[0]}
    factors = [labels["discrimination"] for labels, _ in studies.values()]
    assert factors == CONFIG["axes"]["discrimination"]
    for factor, (_, scaled_study) in zip(factors, studies.values(), strict=True):
        part = scaled_study["comparison"]
        scaled = np.array(part["budgets"]) * factor**2
        assert scaled == pytest.approx(CONFIG["axes"]["answers"], rel=1e-3)
        assert configuration.environment(scaled_study).value_bound == pytest.approx(factor)
        for name, options in CONFIG["axes"]["methods"].items():
            tried = part["methods"][name]["candidates"]
            for step in {"primal_step", "dual_step"} & set(tried):
                usual = options["candidates"][step]
                assert np.array(tried[step]) * factor == pytest.approx(usual)
        people = part["misspecification"]["people"]
        assert bool(people) == (factor in CONFIG["axes"]["asked_at"])
        if people:
            assert people["small differences unnoticed"]["semiorder"] == 0.05 * factor
            assert people["peak and end"] == {"peak_end": 0.5}
    assert studies["c0_1"][1]["comparison"]["methods"]["npgpd_hf"]["candidates"]["evaluators"] == [
        1600, 6400, 25600
    ]  # fmt: skip
    assert elsewhere.studies(CONFIG)["c1"][1]["comparison"]["budgets"] == [10**4, 10**5, 10**6]


def test_every_run_finds_the_settings_that_were_tuned_for_it():
    """And nobody is asked on instances, or with streams, that tuning has used."""
    tuned, asked, purposes, told_of = set(), {}, set(), races()
    numbers = {number for told in told_of.values() for number in told["instances"]}
    for told in told_of.values():
        entry = comparison.Entry(**told["entry"])
        for budget in told["budgets"]:
            key = told["prefix"] + comparison.key(entry, budget)
            assert key not in asked  # each choice is made once
            asked[key] = told["study"]["environment"]
    for part, items in analysis.plan(CONFIG).items():
        assert not numbers & {number for number, _ in items}
        purposes |= {case.purpose for _, cases in items for case in cases}
        for case in [case for _, cases in items for case in cases]:
            told, place = case.labels, case.environment
            tuned_for = asked[case.choice] | {"instance": place["instance"]}
            assert tuned_for == place
            assert place.get("discrimination", 1) == told["discrimination"]
            name = f"c{told['discrimination']:g}".replace(".", "_")
            if "size" in told:
                assert told["size"] == place["states"] * place["actions"]
                assert place["threshold"] == "midway"
                assert place.get("features") == told.get("features")
                kind = "linear" if "features" in told else "states"
                name = f"{kind}{place['states']}"
            assert part.startswith(f"{name}/")
            tuned.add(case.choice)
            people = CONFIG["axes"]["people"].get(told["people"], {})
            assert set(people) <= set(case.setting)
    assert tuned == set(asked)
    assert not [purpose for purpose in purposes if purpose.startswith("comparison tuning")]


def test_races_elsewhere_are_those_of_the_comparison_there_with_names_of_their_own():
    for part, told in races().items():
        name, _, rest = part.partition("/")
        _, there = elsewhere.studies(CONFIG)[name]
        assert told == comparison_races.subject(there, rest, f"{name}: ")
        assert told["study"]["environment"] == there["environment"]


def test_tables_of_races_elsewhere_stand_in_the_folder_of_their_study(monkeypatch):
    monkeypatch.setattr(comparison_races, "tables", lambda **told: {"a/b/c": told})
    assert axes_races.tables("c1", {"budgets": [1]}) == {"c1/a/b/c": {"budgets": [1]}}


def test_races_elsewhere_are_collected_as_those_of_the_comparison(tmp_path):
    row = ["c1: a", "{}", 0.1, 18, "chosen"]
    pd.DataFrame([row], columns=[*comparison_races.COLUMNS]).to_csv(tmp_path / "a.csv")
    tables = axes_tuning.tables([str(tmp_path / "a.csv")])
    assert list(tables) == ["axes_tuning", "axes_settings"]
    for table in tables.values():
        assert table["key"].tolist() == ["c1: a"]
    assert tables["axes_tuning"]["chosen"].tolist() == [True]
    assert tables["axes_settings"]["tied"].tolist() == [0]


def test_all_sizes_have_the_same_budgets_and_methods():
    """But for budgets that do not pay for one iteration."""
    found = {}
    for items in analysis.plan(CONFIG).values():
        for case in [case for _, cases in items for case in cases if "size" in case.labels]:
            told = case.labels
            found.setdefault((told["method"], told["size"]), set()).add(told["budget"])
    sizes = CONFIG["axes"]["sizes"]
    larger, linear, fewer = sizes["larger"], sizes["linear"], {}
    assert not {*linear["methods"]} & {*sizes["methods"]}  # tables tell them apart by their names
    for part in (sizes, larger, linear):
        for states in part["states"]:
            for name in part["methods"]:
                left = set(part["answers"]) - found.pop((name, 4 * states))
                fewer |= {(name, 4 * states): left} if left else {}
    assert not found
    tabular = ("npgpd_hf", "npgpd_hf_without")
    assert fewer == {(name, size): {1000} for name in tabular for size in (128, 400)}
    assert {*larger["methods"]} == {*sizes["methods"]}


def test_larger_environments_have_fewer_instances_and_what_they_do_not_say_from_the_others():
    sizes, instances, pieces = CONFIG["axes"]["sizes"], {}, []
    for part, items in analysis.plan(CONFIG).items():
        instances.setdefault(part.partition("/")[0], []).append(len(items))
        pieces += [(part, [case.setting for case in cases]) for _, cases in items]
    for part, told in races().items():
        instances[part.partition("/")[0]].append(len(told["instances"]))
        entry = comparison.Entry(**told["entry"])
        for budget in told["budgets"]:  # as the race asks, of the study that it is told
            pieces.append((part, comparison.candidates(told["study"], entry, budget)))
            assert pieces[-1][1]
    for part, settings in pieces:
        if part.startswith("states1000/"):
            pairs = {it["rounds"] for it in settings if "design" in it}
            assert max(pairs, default=0) <= sizes["larger"]["most_pairs"]
            unbiased = {it.get("estimator") for it in settings} == {"unbiased"}
            assert unbiased == ("safe_rlhf" not in part)
            assert not pairs or min(pairs) > CONFIG["comparison"]["most_pairs"]
    assert instances["states1000"] == [6, 6, 6, 2, 2, 2]
    assert instances["states100"] == [20, 20, 20, 5, 5, 5]
    runs = {
        part.partition("/")[0]: told["study"]["comparison"]["tuning_runs"]
        for part, told in races().items()
    }
    assert runs["states1000"] == sizes["larger"]["tuning_runs"] < runs["states100"]


def made(shift=0.0, noise=0.001, factors=(0.1, 1, 10), people=(AS_ASSUMED, "odd")):
    """Runs whose priced gaps depend on c² K alone, but for a shift at c = 10."""
    random, rows = np.random.default_rng(0), []
    for factor in factors:
        for answers in (10**4, 10**6):
            for name in people:
                for method, design in METHODS.items():
                    for instance in range(12):
                        gap = 10 / answers**0.5 + shift * (factor == 10) + 0.1 * (name == "odd")
                        rows.append({
                            "discrimination": factor, "people": name, "method": method,
                            "design": design, "instance": instance, "seed": 0, "unit": "instances",
                            "budget": round(answers / factor**2), "answers": 1.0, "steps": 1.0,
                            "tuning_score": 0.1, "optimal_multiplier": 0.5, "value_bound": factor,
                            "size": np.nan, "features": np.nan,
                            "optimality_gap": factor * (gap + noise * random.normal()),
                            "constraint_violation": 0.03 * factor * (name == "odd"),
                        })  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("shift", "noise", "expected"),
    [
        (0.0, 0.001, "reproduced"),
        (0.019, 0.0001, "reproduced"),
        (0.021, 0.0001, "contradicted"),
        (-0.05, 0.001, "contradicted"),
        (0.0, 0.5, "inconclusive"),
    ],
)
def test_counts_fall_on_one_curve_if_no_difference_is_beyond_the_margin(shift, noise, expected):
    runs = analysis.in_units_of_value(made(shift, noise, people=(AS_ASSUMED,)))
    found = analysis.collapse(runs, 0.02)
    assert found["method"].tolist() == [*METHODS]
    assert set(found["verdict"]) == {expected}
    assert set(found["points"]) == {4}
    if expected != "inconclusive":
        assert found["largest"].to_numpy() == pytest.approx(shift, abs=0.002)


@pytest.mark.parametrize(
    ("chance", "expected"), [(0.0045, "contradicted"), (0.0055, "inconclusive")]
)
def test_a_curve_may_be_beyond_the_margin_on_either_side_so_that_each_has_half_the_level(
    chance, expected
):
    """The mean is so far beyond the margin that one side's test has this chance, of 0.01 / 2."""
    runs = made(noise=0, factors=(1, 10), people=(AS_ASSUMED,))
    runs = analysis.in_units_of_value(runs[runs["budget"] * runs["discrimination"] ** 2 == 10**4])
    instance, far = runs["instance"].to_numpy(), runs["discrimination"] == 10
    spread = stats.zscore(np.arange(12), ddof=1)
    differences = 0.02 + stats.t.isf(chance, 11) / 12**0.5 + spread
    runs.loc[far, "optimality_gap"] += differences[instance[far]]
    assert set(analysis.collapse(runs, 0.02)["verdict"]) == {expected}


def test_without_c_one_nothing_is_judged():
    runs = analysis.in_units_of_value(made(factors=(0.1, 10), people=(AS_ASSUMED,)))
    assert analysis.collapse(runs, 0.02).empty


def sized(power, sizes=(40, 400), noise=0.0, budgets=(10**3, 10**4, 10**5, 10**6), features=np.nan):
    """Runs whose priced gaps depend on the answers over a power of the size alone."""
    random, rows = np.random.default_rng(0), []
    for size in sizes:
        for budget in budgets:
            for instance in range(12):
                gap = 1 - np.log10(budget / (size / 40) ** power) / 6
                rows.append({
                    "size": size, "discrimination": 1, "people": AS_ASSUMED, "features": features,
                    "method": "safe_rlhf" if np.isnan(features) else "linear_safe_rlhf",
                    "design": "deterministic", "instance": instance, "seed": 0, "value_bound": 1.0,
                    "unit": "instances", "budget": budget, "answers": 1.0, "steps": 1.0,
                    "optimality_gap": gap + noise * random.normal(), "tuning_score": 0.1,
                    "constraint_violation": 0.0, "optimal_multiplier": 0.5,
                })  # fmt: skip
    return pd.DataFrame(rows)


@pytest.mark.parametrize("power", [-0.5, 0, 1, 1.5])
def test_exponent_is_that_of_the_answers_needed(power):
    """Where gaps are linear in log K, as interpolation takes them to be."""
    runs = analysis.in_units_of_value(sized(power))
    (row,) = analysis.exponents(runs, [0.3]).to_dict("records")
    assert row["least"] == pytest.approx(10**4.2)
    assert row["most"] == pytest.approx(10 ** (4.2 + power))
    assert [row[name] for name in ("exponent", "low", "high")] == pytest.approx([power] * 3)
    noisy = analysis.exponents(analysis.in_units_of_value(sized(power, noise=0.02)), [0.3])
    assert (noisy["low"] < power).all()
    assert (noisy["high"] > power).all()
    # Means have an error of 0.02 / sqrt(12), those that are interpolated 0.8 times that, and of an
    # error in the gap log10 K has six times as much, at either size.
    width = 2 * 1.96 * 2**0.5 * 6 * 0.8 * 0.02 / 12**0.5
    assert (noisy["high"] - noisy["low"]).item() == pytest.approx(width, rel=0.35)


def test_interval_of_an_exponent_holds_95_percent_of_the_draws(monkeypatch):
    """They are the powers 0, 1/1999, ..., 1: one size needs one answer in all draws."""
    draws = 10 ** np.linspace(0, 1, analysis._DRAWS)
    found = iter([1, 10**0.25, *np.ones(len(draws)), *draws])
    monkeypatch.setattr(analysis, "answers_until", lambda gaps, target: next(found))
    (row,) = analysis.exponents(analysis.in_units_of_value(sized(1)), [0.3]).to_dict("records")
    told = [row[name] for name in ("least", "most", "exponent", "low", "high")]
    assert told == pytest.approx([1, 10**0.25, 0.25, 0.025, 0.975])


def test_one_environment_has_no_interval_of_an_exponent():
    runs = analysis.in_units_of_value(sized(0.5))
    (row,) = analysis.exponents(runs[runs["instance"] == 3], [0.3]).to_dict("records")
    assert row["exponent"] == pytest.approx(0.5)
    assert np.isnan([row["low"], row["high"]]).all()


@pytest.mark.parametrize(("target", "unknown"), [(0.6, "least"), (0.01, "most")])
def test_an_exponent_that_cannot_be_told_is_none(target, unknown):
    """The gap is reached with the fewest answers already, or not with the most."""
    found = analysis.exponents(analysis.in_units_of_value(sized(0.5)), [target])
    assert found[[unknown, "exponent", "low", "high"]].isna().all(axis=None)


def test_people_hurt_where_the_interval_says_so():
    runs = analysis.in_units_of_value(made())
    found = analysis.hurt(runs)
    assert set(found["people"]) == {"odd"}
    # A violation counts the optimal multiplier times.
    assert found["difference"].to_numpy() == pytest.approx(0.1 + 0.5 * 0.03, abs=0.003)
    assert set(found["hurts"]) == {"yes"}
    swapped = runs.replace({"people": {"odd": AS_ASSUMED, AS_ASSUMED: "odd"}})
    assert set(analysis.hurt(swapped)["hurts"]) == {"no"}
    noisy = analysis.in_units_of_value(made(noise=5.0))
    assert set(analysis.hurt(noisy)["hurts"]) == {"open"}


def test_people_are_hurt_at_a_level_of_one_percent_in_either_direction():
    runs = analysis.in_units_of_value(made(noise=0.1, factors=(1,)))
    gaps = runs["optimality_gap"] + 0.5 * runs["constraint_violation"]
    one = gaps[(runs["method"] == "safe_rlhf") & (runs["answers_scaled"] == 10**4)]
    assumed, odd = (one[runs["people"] == name].to_numpy() for name in (AS_ASSUMED, "odd"))
    found = analysis.hurt(runs)
    row = found[(found["method"] == "safe_rlhf") & (found["answers_scaled"] == 10**4)].iloc[0]
    half = stats.t.ppf(0.99, 11) * np.std(odd - assumed, ddof=1) / 12**0.5
    assert row["high"] - row["difference"] == pytest.approx(half)


@pytest.fixture
def folder(tmp_path):
    runs = pd.concat([made(), sized(1), sized(0.5, features=8)])
    runs.to_parquet(tmp_path / "runs.parquet")
    sides = {"skipping": ["npgpd_hf"], "inferring": ["safe_rlhf"]}
    for name, table in analysis.tables([tmp_path / "runs.parquet"], sides, 0.02, [0.3]).items():
        table.to_csv(tmp_path / f"{name}.csv", index=False)
    settings = {"key": ["c1: npgpd_hf, its own, 10000"], "setting": [json.dumps({})]}
    settings |= {"score": [0.1], "at_edge": ["dual_step"]}
    pd.DataFrame(settings).to_csv(tmp_path / "axes_settings.csv", index=False)
    return tmp_path


def test_tables_and_page_show_violations_beside_priced_gaps(folder, monkeypatch):
    table = pd.read_csv(folder / "axes.csv")
    assert table["priced_gap"].max() == pytest.approx(0.1 + 0.1 + 0.015, abs=0.002)
    assert set(table.loc[table["people"] == "odd", "violates_002"]) == {1.0}
    assert sorted(set(table["answers_scaled"])) == [10**4, 10**6]
    needed = pd.read_csv(folder / "axes_answers.csv")
    first = needed[(needed["target"] == 0.02) & (needed["people"] == AS_ASSUMED)]
    assert first.set_index(["discrimination", "method"])["answers"].to_dict() == {
        (factor, method): round(10**6 / factor**2) for factor in (0.1, 1, 10) for method in METHODS
    }
    labels = {name: name.upper() for name in [*METHODS, "linear_safe_rlhf"]}
    shown, _ = make_page(
        monkeypatch, "axes", results=str(folder), figures=str(folder), labels=labels,
        axes_settings=str(folder / "axes_settings.csv"),
    )  # fmt: skip
    said = "\n".join(texts(shown))
    assert "NPGPD_HF: that counts fall on one curve in c² K is reproduced." in said
    assert "1 of 1 choices are at an edge." in said
    assert "SAFE_RLHF: the answers for a priced gap of 0.3 grow like |S||A| to the 1.00" in said
    assert (
        "LINEAR_SAFE_RLHF: the answers for a priced gap of 0.3 grow like |S||A| to the 0.5" in said
    )
    for name, method in (("axes_sizes", "safe_rlhf"), ("axes_linear", "linear_safe_rlhf")):
        assert set(pd.read_csv(folder / f"{name}.csv")["method"]) == {method}
    assert (folder / "axes_votes.png").stat().st_size > 10_000
    assert (folder / "axes_sizes.png").stat().st_size > 10_000
    assert (folder / "axes_linear.png").stat().st_size > 10_000


def test_figures_have_a_panel_for_the_share_of_violations(folder):
    table, style_of = pd.read_csv(folder / "axes.csv"), style.use_style
    style_of()
    labels = {name: name for name in METHODS}
    usual = table[table["people"] == AS_ASSUMED]
    figure = discrimination_figure(usual, labels)
    heights = [line.get_ydata()[-1] for line in figure.axes[0].get_lines()[:3]]
    assert heights == pytest.approx([0.01] * 3, abs=0.002)  # upon each other
    scaled = [line.get_xdata().tolist() for line in figure.axes[0].get_lines()[:3]]
    assert scaled == [[10**4, 10**6]] * 3
    assert "violation" in figure.axes[2].get_ylabel()
    exponents = pd.read_csv(folder / "axes_exponents.csv")
    other = exponents.assign(target=0.1, exponent=9.0)  # the largest target is drawn
    exponents = pd.concat([other, exponents], ignore_index=True)
    figure = sizes_figure(pd.read_csv(folder / "axes_sizes.csv"), labels, exponents)
    target = [line for line in figure.axes[0].get_lines() if len({*line.get_ydata()}) == 1]
    assert [line.get_ydata()[0] for line in target] == [0.3]
    assert figure.axes[0].get_title("left") == "safe_rlhf\np = 1.00 (1.00\xa0to\xa01.00)"
    first, second = figure.axes[0].get_lines()[:2]  # answers for a gap are ten times as many
    assert first.get_ydata()[:-1] == pytest.approx(second.get_ydata()[1:])
    twice = pd.concat([usual, usual.assign(design="optimistic")])
    figure = discrimination_figure(twice, labels)
    titles = [axes.get_title("left").replace("\n", " ") for axes in figure.axes[: 2 * len(METHODS)]]
    assert {"npgpd_hf, its own", "npgpd_hf, optimistic"} < set(titles)
    assert [len(axes.get_lines()[0].get_xdata()) for axes in figure.axes[:2]] == [2, 2]
    figure = votes_figure(table, labels)
    assert len(figure.axes) == 6  # three c, two quantities
    assert figure.axes[1].containers[0].lines[0].get_xdata().tolist() == [0, 1]


def larger(**change):
    return {"sizes": {"larger": CONFIG["axes"]["sizes"]["larger"] | change}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"discrimination": [3, 1]}, "axes.discrimination: increasing order"),
        ({"answers": [10000, 1000]}, "axes.answers: increasing order"),
        ({"asked_at": [2]}, "axes.asked_at: 2 is not one of axes.discrimination"),
        ({"people": {"odd": {"peak_end": 2}}}, r"axes.people.odd: peak_end: .* got 2"),
        ({"people": {"odd": {"mood": 2}}}, r"axes.people.odd: option: one of .*"),
        ({"methods": {"x": {"algorithm": "ppo"}}}, "axes.methods"),
        ({"sizes": {"states": [3, 2]}}, "axes.sizes.states: increasing order"),
        ({"sizes": {"answers": [3, 2]}}, "axes.sizes.answers: increasing order"),
        (larger(answers=[3, 2]), "axes.sizes.larger.answers: increasing order"),
        (larger(states=[3, 2]), "axes.sizes.larger.states: increasing order"),
        (
            larger(methods={"npgpd_hf": {}, "x": {}}),
            "axes.sizes.larger.methods: one of npgpd_hf, .* got 'x'",
        ),
        (
            larger(methods={"safe_rlhf": {"candidates": {"rigde": [1]}}}),
            "axes.sizes.larger.methods.safe_rlhf.candidates: .*rigde",
        ),
        ({"sizes": {"methods": {"x": {"algorithm": "ppo"}}}}, "axes.sizes.methods"),
        (
            {"sizes": {"methods": {"npgpd_hf": None, "zpgpd_hf": None, "safe_rlhf": None}}},
            "axes.sizes.methods: at least one expected",
        ),
        (
            {"sizes": {"linear": CONFIG["axes"]["sizes"]["linear"] | {"states": [3, 2]}}},
            "axes.sizes.linear.states: increasing order",
        ),
        (
            {"sizes": {"linear": CONFIG["axes"]["sizes"]["linear"] | {"features": 41}}},
            "axes, 40 states and actions: environment: features: ",
        ),
        (
            larger(states=[2000]),
            "axes, 8000 states and actions: environment: states, actions: at most 10000000 .*, "
            "got 2000 x 4 x 2000$",
        ),
    ],
)
def test_what_cannot_be_compared_is_named_in_one_line(change, message):
    config = copy.deepcopy(CONFIG)
    change = {key: CONFIG["axes"][key] | it if key == "sizes" else it for key, it in change.items()}
    config["axes"] |= change
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        elsewhere.check(config, SCHEMA)
    assert "\n" not in str(caught.value)
