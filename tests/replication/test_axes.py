"""The comparison elsewhere: what is run at each discrimination, and what is read off it."""

import copy
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pages import make_page, texts

from pgpd_hf import random_cmdp, solve
from replication.analyses import axes as analysis
from replication.analyses import axes_tuning, misspecification
from replication.figures import style
from replication.figures.comparison import discrimination_figure, votes_figure
from replication.study import admission, comparison, configuration

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)
SCHEMA = admission.load_schema(ROOT, "config")
AS_ASSUMED = misspecification.AS_ASSUMED
METHODS = {"npgpd_hf": "its own", "safe_rlhf": "deterministic"}


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


@pytest.mark.parametrize("value", [0, -1, np.nan, np.inf, 1001, "much", None])
def test_discrimination_out_of_range_is_refused_in_one_line(value):
    with pytest.raises(ValueError, match=r"^discrimination: .*, got"):
        random_cmdp(discrimination=value)


def test_budgets_steps_and_people_of_all_studies_mean_the_same():
    studies = comparison.elsewhere(CONFIG)
    assert [factor for factor, _ in studies.values()] == CONFIG["axes"]["discrimination"]
    for factor, study in studies.values():
        part = study["comparison"]
        scaled = np.array(part["budgets"]) * factor**2
        assert scaled == pytest.approx(CONFIG["axes"]["answers"], rel=1e-3)
        assert configuration.environment(study).value_bound == pytest.approx(factor)
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
    assert comparison.elsewhere(CONFIG)["c1"][1]["comparison"]["budgets"] == [10**4, 10**5, 10**6]


def test_every_run_finds_the_settings_that_were_tuned_for_it():
    """And nobody is asked on instances, or with streams, that tuning has used."""
    tuned, plans = set(), (axes_tuning.plan(CONFIG), analysis.plan(CONFIG))
    asked = {
        case.labels["key"]: case.environment["discrimination"]
        for items in plans[0].values() for _, cases in items for case in cases
    }  # fmt: skip
    numbers = {number for items in plans[0].values() for number, _ in items}
    for part, items in plans[1].items():
        assert not numbers & {number for number, _ in items}
        for case in [case for _, cases in items for case in cases]:
            factor = case.labels["discrimination"]
            assert asked[case.choice] == factor == case.environment["discrimination"]
            assert part.startswith(f"c{factor:g}".replace(".", "_") + "/")
            tuned.add(case.choice)
            people = CONFIG["axes"]["people"].get(case.labels["people"], {})
            assert set(people) <= set(case.setting)
    assert tuned == set(asked)


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


def test_without_c_one_nothing_is_judged():
    runs = analysis.in_units_of_value(made(factors=(0.1, 10), people=(AS_ASSUMED,)))
    assert analysis.collapse(runs, 0.02).empty


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


@pytest.fixture
def folder(tmp_path):
    runs = made()
    runs.to_parquet(tmp_path / "runs.parquet")
    sides = {"skipping": ["npgpd_hf"], "inferring": ["safe_rlhf"]}
    for name, table in analysis.tables([tmp_path / "runs.parquet"], sides, 0.02).items():
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
    labels = {name: name.upper() for name in METHODS}
    shown, _ = make_page(
        monkeypatch, "axes", results=str(folder), figures=str(folder), labels=labels,
        axes_settings=str(folder / "axes_settings.csv"),
    )  # fmt: skip
    said = "\n".join(texts(shown))
    assert "NPGPD_HF: that counts fall on one curve in c² K is reproduced." in said
    assert "1 of 1 choices are at an edge." in said
    assert (folder / "axes_votes.png").stat().st_size > 10_000


def test_figures_have_a_panel_for_the_share_of_violations(folder):
    table, style_of = pd.read_csv(folder / "axes.csv"), style.use_style
    style_of()
    labels = {name: name for name in METHODS}
    usual = table[table["people"] == AS_ASSUMED]
    figure = discrimination_figure(usual, labels)
    heights = [line.get_ydata()[-1] for line in figure.axes[0].get_lines()[:3]]
    assert heights == pytest.approx([0.01] * 3, abs=0.002)  # upon each other
    assert "violation" in figure.axes[2].get_ylabel()
    figure = votes_figure(table, labels)
    assert len(figure.axes) == 6  # three c, two quantities
    assert figure.axes[1].containers[0].lines[0].get_xdata().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"discrimination": [3, 1]}, "axes.discrimination: increasing order"),
        ({"answers": [10000, 1000]}, "axes.answers: increasing order"),
        ({"asked_at": [2]}, "axes.asked_at: 2 is not one of axes.discrimination"),
        ({"people": {"odd": {"peak_end": 2}}}, r"axes.people.odd: peak_end: .* got 2"),
        ({"people": {"odd": {"mood": 2}}}, r"axes.people.odd: option: one of .*"),
        ({"methods": {"x": {"algorithm": "ppo"}}}, "axes.methods"),
    ],
)
def test_what_cannot_be_compared_is_named_in_one_line(change, message):
    config = copy.deepcopy(CONFIG)
    config["axes"] |= change
    with pytest.raises(ValueError, match=f"^{message}") as caught:
        comparison.check_elsewhere(config, SCHEMA)
    assert "\n" not in str(caught.value)
