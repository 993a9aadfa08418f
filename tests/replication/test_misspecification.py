"""People who do not vote as assumed: who is asked, and when skipping reward inference pays off."""

import copy
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checking import study
from drawn import bars
from scipy import stats

from replication.analyses import axes as axes_analysis
from replication.analyses import comparison
from replication.analyses import misspecification as analysis
from replication.figures import style
from replication.figures.comparison import comparison_figure, people_figure, votes_figure
from replication.study import admission

ROOT = Path(__file__).parents[2]
CONFIG = study()
SCHEMA = admission.load_schema(ROOT, "config")
SPREAD = 0.1


def cases_of(plan):
    return [case for items in plan.values() for _, cases in items for case in cases]


def test_people_who_vote_as_assumed_repeat_the_comparison():
    """And everybody else differs from them in how they vote alone."""
    plan = cases_of(analysis.plan(CONFIG))
    compared = {
        (case.choice, case.purpose): vars(case) for case in cases_of(comparison.plan(CONFIG))
        if case.labels["unit"] == "instances"
    }  # fmt: skip
    asked = CONFIG["comparison"]["misspecification"]["people"]
    for case in plan:
        found = dict(vars(case))
        labels = dict(found.pop("labels"))
        people = asked.get(labels.pop("people"), {})
        same = compared[case.choice, case.purpose]
        assert found == {key: it for key, it in same.items() if key != "labels"} | {
            "setting": same["setting"] | people
        }
        assert labels == same["labels"]
    kinds = {case.labels["people"] for case in plan}
    assert kinds == {analysis.AS_ASSUMED, *asked}


def test_it_pays_off_where_the_interval_says_so():
    rows = [
        ("us", method, design, instance, gap, score)
        for instance in range(3)
        for method, design, gap, score in (
            ("skips", "its own", 0.1 + 0.001 * instance, 0.5),
            ("infers", "good", 0.3, 0.1),
            ("infers", "lucky", 0.0, 0.2),
        )
    ]
    columns = ["people", "method", "design", "instance", "optimality_gap", "tuning_score"]
    runs = pd.DataFrame(rows, columns=columns).assign(
        seed=0, budget=1000, constraint_violation=0.0, optimal_multiplier=0.5
    )
    sides = {"skipping": ["skips"], "inferring": ["infers"]}
    row = analysis.differences(runs, sides).iloc[0]
    # By tuning, whichever design is better here.
    assert (row["skipping"], row["inferring"]) == ("skips, its own", "infers, good")
    assert row["difference"] == pytest.approx(-0.199)
    assert row["pays_off"] == "yes"
    swapped = {"skipping": ["infers"], "inferring": ["skips"]}
    assert analysis.differences(runs, swapped)["pays_off"].item() == "no"
    noisy = runs.assign(optimality_gap=runs["optimality_gap"] + [0, 0, 0, 0, 1, 0, 0, -1, 0])
    assert analysis.differences(noisy, sides)["pays_off"].item() == "open"
    assert analysis.differences(runs, sides | {"inferring": ["absent"]}).empty


def test_the_level_of_either_verdict_is_one_percent():
    """By a difference between Student's quantiles at 0.98 and 0.99, of two instances."""
    rows = [("skips", -1.0, 0.1), ("infers", 0.0, 0.1)]
    runs = [
        {"people": "us", "budget": 1, "method": method, "design": "", "instance": instance,
         "seed": 0, "constraint_violation": 0.0, "optimal_multiplier": 0.5, "tuning_score": score,
         "optimality_gap": gap * (1 + instance * spread)}
        for method, gap, score in rows for instance in (0, 1) for spread in [SPREAD]
    ]  # fmt: skip
    row = analysis.differences(pd.DataFrame(runs), {"skipping": ["skips"], "inferring": ["infers"]})
    half = stats.t.ppf(0.99, 1) * SPREAD / 2
    assert row["high"].item() == pytest.approx(-1 - SPREAD / 2 + half)
    assert row["pays_off"].item() == "open"
    assert -1 - SPREAD / 2 + stats.t.ppf(0.98, 1) * SPREAD / 2 < 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"skipping": ["magic"]}, "skipping: one of npgpd_hf, .* expected, got 'magic'"),
        ({"budgets": [1000, 10]}, "budgets: increasing order"),
        ({"budgets": [1001]}, "budgets: of comparison.budgets one .*, 1000000, expected, got 1001"),
        ({"budgets": [10**7]}, "budgets: of comparison.budgets one .* expected, got 10000000"),
        (
            {"people": {"us": {"true_link": "logistic"}}},
            "people.us.true_link: logistic is what all",
        ),
    ],
)
def test_what_cannot_be_asked_is_named(change, message):
    config = copy.deepcopy(CONFIG)
    config["comparison"]["misspecification"] |= change
    with pytest.raises(ValueError, match=f"^comparison.misspecification.{message}"):
        analysis.check(config, SCHEMA)


def test_figure_shows_every_method_for_all_people():
    row = {"people": "us", "method": "ours", "design": "its own", "budget": 1000}
    row |= {"priced_gap": 0.1, "priced_gap_low": -0.1, "priced_gap_high": 0.3, "violates_002": 0.4}
    them = {"people": "them", "priced_gap": 0.2, "violates_002": 0}
    table = pd.DataFrame([row, row | them, row | {"budget": 3000}])
    decided = pd.DataFrame({"skipping": "ours, its own", "pays_off": ["yes", "no", "no", "open"]})
    style.use_style()
    figure = people_figure(table, decided, {"ours": "our method"})
    titles = [axes.get_title("left") for axes in figure.axes]
    assert titles == ["1,000 answers", "3,000 answers", "", ""]
    first = figure.axes[0].containers[0]
    assert first.get_label() == "our method"
    assert first.lines[0].get_xdata().tolist() == [0.1, 0.2]
    # On a logarithmic axis there is no place for what is not positive.
    assert np.allclose(bars(figure.axes[0], across=True)[0], [(1e-5, 0.3)] * 2, rtol=1e-9)
    assert figure.axes[2].containers[0].lines[0].get_xdata().tolist() == [0.4, 0]
    for axes in figure.axes[::2]:
        assert [tick.get_text() for tick in axes.get_yticklabels()] == ["us", "them"]
    assert figure.axes[0].get_xlim() == pytest.approx((0.05, 0.3))
    assert figure.axes[1].get_xlim() == pytest.approx((0.05, 0.15))
    assert figure.legends[0].get_title().get_text() == (
        "Skipping reward learning pays off in 1 of 4 cases and is worse in 2\n"
        "best without a reward: our method; bars: 95 %"
    )
    decided = pd.read_csv(io.StringIO("skipping,pays_off\n"))  # of a study with one side alone
    figure = people_figure(table, decided, {"ours": "our method"})
    assert "or all do" in figure.legends[0].get_title().get_text()


def test_a_method_looks_as_in_the_comparison():
    """Although not all of that one's methods are shown, here or for people of other votes."""
    table = pd.read_csv(ROOT / "reference/comparison.csv")
    people = pd.read_csv(ROOT / "reference/misspecification.csv")
    decided = pd.read_csv(ROOT / "reference/skipping_inference.csv")
    elsewhere = pd.read_csv(ROOT / "reference/axes.csv")
    labels = {name: it["label"] for name, it in CONFIG["comparison"]["methods"].items()}
    style.use_style()
    looks = [
        [look(it) for it in found]
        for found, look in (
            (comparison_figure(table, labels, "instances").axes[1].get_lines(), _look),
            (
                people_figure(people[people["method"] != "zpgpd_hf"], decided, labels)
                .axes[0]
                .containers,
                lambda it: _look(it.lines[0]),
            ),
            (
                votes_figure(elsewhere, axes_analysis.parameters(CONFIG)["labels"])
                .axes[0]
                .containers,
                lambda it: _look(it.lines[0]),
            ),
        )
    ]
    assert [len(found) for found in looks[1:]] == [5, 5]
    assert set(looks[1]) < set(looks[0])
    assert set(looks[2]) < set(looks[0])


def _look(line):
    return line.get_color(), line.get_marker(), line.get_markerfacecolor()
