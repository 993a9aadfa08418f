"""The rule for the environment, and where config's numbers stand in the committed tables."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml

from pgpd_hf import random_cmdp, solve
from pgpd_hf.steps import CHOSEN, NAMES
from pgpd_hf.tables import read_table

FOLDER = Path(__file__).parents[1]
CONFIG = yaml.safe_load((FOLDER.parents[1] / "config/config.yaml").read_text())
TYPICAL = runpy.run_path(str(FOLDER / "typical.py"))
with_distances = TYPICAL["with_distances"]


def table_of(values):
    table = pd.DataFrame(values, columns=["slack", "violation", "multiplier", "gap"])
    table.insert(0, "instance", range(10, 10 + len(table)))
    return table


def test_nearest_to_the_median_comes_first_whatever_the_units():
    values = np.random.default_rng(0).normal(size=(21, 4))
    values[7] = np.median(np.delete(values, 7, axis=0), axis=0)
    order = [*with_distances(table_of(values))["instance"]]
    assert order[0] == 17
    scaled = values * [1, 1000, 0.01, 7] + [5, -3, 0, 1]
    assert [*with_distances(table_of(scaled))["instance"]] == order
    distance = np.zeros(21)  # by the definition, one number at a time
    for column in values.T:
        away = abs(column - np.median(column))
        distance += (away / np.median(away)) ** 2
    assert [*np.argsort(distance) + 10] == order


def test_an_extreme_instance_does_not_change_what_is_typical():
    values = np.random.default_rng(1).normal(size=(41, 4))
    far, most = values.copy(), np.argmax(values[:, 0])
    far[most, 0] = 1e9
    usual, changed = (with_distances(table_of(it))["instance"] for it in (values, far))
    assert [*changed[changed != 10 + most]] == [*usual[usual != 10 + most]]


def test_of_equal_instances_the_first_is_the_most_typical():
    values = [[1.0] * 4, [2.0] * 4, [3.0] * 4, [2.0] * 4, [0.0] * 4]
    assert [*with_distances(table_of(values))["instance"][:2]] == [11, 13]


def test_numbers_are_those_of_the_first_instances_that_bind():
    table = TYPICAL["first_binding"](CONFIG["environment"], 4)
    assert [*table["instance"]] == [*table["instance"].sort_values()]
    cmdp, row = random_cmdp(instance=3), table.set_index("instance").loc[3]
    optimum, uniform = solve(cmdp), cmdp.evaluate(np.full((10, 4), 0.25))
    assert row["slack"] == optimum.slack
    assert row["multiplier"] == optimum.multiplier
    assert row["gap"] == pytest.approx(optimum.reward_value - uniform[0], abs=1e-14)
    assert row["violation"] == pytest.approx(0.55 - uniform[1], abs=1e-14)
    with pytest.raises(ValueError, match="^environment: 2 of 200 instances that bind expected$"):
        TYPICAL["first_binding"](CONFIG["environment"] | {"threshold": 0.0}, 2)


def test_the_environment_of_the_configuration_is_the_most_typical():
    table = read_table(FOLDER / "tables/environments.csv")
    assert len(table) == 100
    assert table["instance"].iloc[0] == CONFIG["environment"]["instance"] == 42
    again = with_distances(table.drop(columns="distance").sort_values("instance"))
    assert np.allclose(again, table, rtol=1e-12)


# Steps with which the default experiment (N = 1) and the readings of studies/verdicts run.
WINNERS = {
    ("one-round", "npgpd_hf"): (0.1, 0.1),
    ("one-round", "zpgpd_hf"): (0.001, 0.003),
    ("two-rounds", "npgpd_hf"): (0.1, 0.1),
    ("two-rounds", "zpgpd_hf"): (0.001, 0.01),
    ("five-rounds", "npgpd_hf"): (0.1, 0.3),
    ("five-rounds", "zpgpd_hf"): (0.001, 0.03),
    ("ten-rounds", "npgpd_hf"): (0.1, 0.3),
    ("ten-rounds", "zpgpd_hf"): (0.003, 0.03),
    ("softmax", "zpgpd_hf"): (0.01, 0.003),
}


@pytest.mark.parametrize(("search", "algorithm"), WINNERS)
def test_winners_of_searches_are_the_numbers_in_use(search, algorithm):
    table = read_table(FOLDER / "tables/searches.csv")
    scores = table[(table["search"] == search) & (table["algorithm"] == algorithm)]
    steps = scores.loc[scores["standing"] == CHOSEN, [*NAMES]].iloc[0].to_dict()
    assert tuple(steps.values()) == WINNERS[search, algorithm]
    given = CONFIG["algorithms"][algorithm]
    if search == "one-round" and given["rounds"] == 1:
        assert steps == {name: given[name] for name in NAMES}
