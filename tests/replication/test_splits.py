"""M against N at equal M N."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checking import study
from drawn import bars
from reference import DISTRIBUTIONS, random_process
from scipy import stats

from pgpd_hf import CMDP, LINKS, random_cmdp
from pgpd_hf.core.evaluators import make_evaluators
from replication.analyses import splits
from replication.figures import style
from replication.figures.splits import splits_figure
from replication.theory.exact import answer_variance

ROOT = Path(__file__).parents[2]
CONFIG = study("hard")


def test_every_split_asks_for_as_many_answers_and_reading_changes_nothing_else():
    plan = splits.plan(CONFIG)
    assert list(plan) == ["npgpd_hf", "zpgpd_hf"]
    for items in plan.values():
        settings = [case.setting for case in items[0][1]]
        assert {it["evaluators"] * it["rounds"] for it in settings} == {64}
        assert len(settings) + len(splits.parameters(CONFIG)["empty"]) / 2 == 8
        others = [
            {key: x for key, x in it.items() if key not in ("evaluators", "rounds", "estimator")}
            for it in settings
        ]
        assert all(it == others[0] for it in others)


def test_runs_are_looked_at_in_their_last_quarter():
    for items in splits.plan(CONFIG).values():
        for case in (case for _, cases in items for case in cases):
            total = case.setting["iterations"]
            assert len(case.checkpoints) == splits._POINTS
            assert (case.checkpoints[0], case.checkpoints[-1]) == (0.75 * total, total)


def test_a_reading_that_is_impossible_is_left_out_with_the_reason():
    config = copy.deepcopy(CONFIG)
    config["environment"]["scale"] = "unit"  # differences up to 10
    empty = splits.parameters(config)["empty"]
    assert {(name, estimator) for name, estimator, *_ in empty} == {
        ("npgpd_hf", "unbiased"),
        ("zpgpd_hf", "unbiased"),
    }
    assert all("may have a bias of" in reason for *_, reason in empty)


def test_a_split_that_is_none_is_named():
    config = copy.deepcopy(CONFIG)
    config["splits"]["evaluators"] = [3]
    with pytest.raises(ValueError, match=r"^splits.evaluators: a divisor of splits.answers, 64"):
        splits.check(config)


def test_more_rounds_than_an_algorithm_can_have_are_named():
    config = copy.deepcopy(CONFIG)
    config["splits"] |= {"answers": 20_000, "evaluators": [1, 100]}
    with pytest.raises(ValueError, match=r"^splits.evaluators: rounds: .* 10000 .* got 20000"):
        splits.check(config)


@pytest.mark.parametrize("estimator", ["plug-in", "unbiased"])
@pytest.mark.parametrize("link", LINKS)
def test_variance_of_an_answer_is_that_of_its_joint_law(estimator, link):
    """Two differences, each with half the probability, and all numbers of votes."""
    differences, size = np.array([-0.3, 0.5]), 7
    table = make_evaluators(size, LINKS[link], 1.0, estimator).estimate
    mass = stats.binom.pmf(np.arange(size + 1), size, DISTRIBUTIONS[link].cdf(differences)[:, None])
    mean = (mass @ table).mean()
    expected = (mass @ table**2).mean() - mean**2
    many = np.tile(differences, 50_000)[:, None]  # so that the sample's variance is the law's
    found = answer_variance(many, size, LINKS[link], 1.0, estimator)
    assert found.item() == pytest.approx(expected, rel=1e-5)


def test_estimates_have_the_variance_of_their_law():
    """Within five standard errors of a variance, as of normal numbers; for both readings."""
    cmdp = random_process(6, 3, 2, 0.5, threshold=0.7)
    setting = {"horizon": 6, "link": "logistic", "iterations": 1}
    asked = [
        {"evaluators": m, "rounds": n, "estimator": how, **setting}
        for m, n in ((2, 8), (16, 1), (4096, 4))  # in the last, trajectories vary more than votes
        for how in ("plug-in", "unbiased")
        if (m, how) != (2, "unbiased")  # refused: too few to be unbiased about differences up to 2
    ]
    table = splits.variances(cmdp, asked, 2000)
    assert len(table) == 10
    error = 5 * np.sqrt(2 * 2 / 2000)  # of the ratio, since both are measured
    assert (table["measured"] / table["law"]).between(1 - error, 1 + error).all()
    votes = table[table["question"] == "advantage"].set_index(["estimator", "rounds"])["votes"]
    for rounds, people in ((1, 16), (8, 2)):
        given = people, LINKS["logistic"], cmdp.return_bound(6), "plug-in"
        answers = make_evaluators(*given).estimate
        mass = stats.binom.pmf(np.arange(people + 1), people, 0.5)
        expected = mass @ answers**2 / rounds
        assert votes["plug-in", rounds] == pytest.approx(expected)


def test_a_comparison_tells_a_regression_more_than_npgpd_hf():
    """By 2/(1 - gamma^2) where steps are independent, but for the constant that stays open."""
    zero, states, actions, gamma = np.zeros((4, 3)), 4, 3, 0.9
    transition = np.full((states, actions, states), 1 / states)
    cmdp = CMDP(transition, zero, zero, np.full(states, 1 / states), gamma, -1.0)
    table = splits.information_by_design(cmdp, 60, "logistic").set_index("design")
    assert (table["independent"] == 2 / (1 - gamma**2)).all()
    known = table["independent"] * (1 - gamma**122) * (1 - 1 / 12)
    assert table.loc["uniform", "information"] == pytest.approx(known["uniform"], rel=0.05)
    first = splits.information_by_design(cmdp, 0, "logistic").set_index("design")["information"]
    assert first["uniform"] == pytest.approx(2 * (1 - 1 / 12), rel=0.05)
    told = splits.information_by_design(random_cmdp(), 80, "logistic").set_index("design")
    ratio = told["information"] / told["independent"]
    assert ratio[["uniform", "state-action"]].between(0.85, 1).all()
    assert ratio["deterministic"] > 2


def test_table_has_a_row_per_split_with_means_over_the_last_quarter():
    rows = [
        ("npgpd_hf", "plug-in", m, 4 // m, seed, iteration, 100 * iteration, 5, m * iteration)
        for m in (1, 4)
        for seed in (0, 1)
        for iteration in (0, 75, 100)
    ]
    columns = [*splits.KEYS, "seed", "iteration", "answers", "steps", "optimality_gap"]
    runs = pd.DataFrame(rows, columns=columns)
    runs = runs.assign(iterations=100, constraint_violation=2.0, optimal_multiplier=0.5)
    table = splits.tabulate(runs).set_index("evaluators")
    assert table["optimality_gap"].to_dict() == {1: 87.5, 4: 350.0}
    assert table["priced_gap"].to_dict() == {1: 88.5, 4: 351.0}
    assert (table["answers"] == 10_000).all()


def test_figure_has_a_row_per_algorithm_and_a_tick_per_split():
    rows = [
        {"algorithm": name, "estimator": how, "evaluators": m, "rounds": 4 // m}
        | {f"{metric}{end}": m for metric in splits.METRICS for end in ("", "_low", "_high")}
        for name in ("npgpd_hf", "zpgpd_hf")
        for how in ("plug-in", "unbiased")
        for m in (1, 2, 4)
    ]
    style.use_style()
    figure = splits_figure(pd.DataFrame(rows))
    assert len(figure.axes) == 6
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert {*titles[::3], *titles[2::3]} == {"lowest: $M = 1$, $N = 4$, plug-in"}
    assert {*titles[1::3]} == {""}  # a violation may be too low
    ticks = [tick.get_text() for tick in figure.axes[0].get_xticklabels()]
    assert ticks == ["4 × 1", "2 × 2", "1 × 4"]
    drawn = [it.get_label() for it in figure.axes[3].containers]
    assert drawn == ["plug-in estimator, as printed", "unbiased estimator"]


def test_bars_of_a_quantity_are_its_own_intervals():
    row = {"algorithm": "npgpd_hf", "estimator": "plug-in", "evaluators": 4, "rounds": 1}
    for k, name in enumerate(splits.METRICS, 1):
        row |= {name: 2.0 * k, f"{name}_low": 1.0 * k, f"{name}_high": 5.0 * k}
    style.use_style()
    figure = splits_figure(pd.DataFrame([row]))
    assert [bars(axes) for axes in figure.axes] == [[[(k, 5 * k)]] for k in (1, 2, 3)]
