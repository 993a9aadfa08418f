"""The typical environment: the random instance nearest to the median of the first ones that bind.

Of the first hundred instances whose constraint binds, each is described by four numbers: its slack,
the violation and the gap of the uniform policy, and the optimal multiplier. Each number is scaled
robustly, by its distance from the median in units of the median such distance, so that no extreme
instance decides what typical means. The instance with the smallest Euclidean distance is the most
typical one; of equal ones it is the first.
"""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checking import study

from pgpd_hf import environments, random_cmdp, solve
from pgpd_hf.core.optima import utility_range
from pgpd_hf.core.policies import uniform_policy

ROOT = Path(__file__).parents[2]
CONFIG = study()
PROPERTIES = ("slack", "initial_violation", "multiplier", "initial_gap")
COUNT = 100


def describe(cmdp):
    """Numbers by which instances are compared."""
    optimum = solve(cmdp)
    reward_value, utility_value = cmdp.evaluate(uniform_policy(cmdp.states, cmdp.actions))
    return {
        "slack": optimum.slack,
        "initial_violation": cmdp.threshold - utility_value,
        "multiplier": optimum.multiplier,
        "initial_gap": optimum.reward_value - reward_value,
    }


def first_binding(make, count=COUNT):
    """Table of the first instances whose constraint binds, numbered from 1, which `make` makes."""
    binding = (
        {"instance": number, **describe(cmdp)}
        for number, cmdp in ((number, make(number)) for number in itertools.count(1))
        if utility_range(cmdp)[0] < cmdp.threshold
    )
    return pd.DataFrame(itertools.islice(binding, count))


def most_typical(table):
    """Instances of a table, the most typical one first."""
    values = table[[*PROPERTIES]].to_numpy()
    distances = np.abs(values - np.median(values, axis=0))
    scaled = distances / np.median(distances, axis=0)
    order = np.argsort(np.linalg.norm(scaled, axis=1), kind="stable")
    return [int(number) for number in table["instance"].to_numpy()[order]]


def made(number):
    return environments.make(CONFIG["environment"] | {"instance": number})


@pytest.fixture(scope="module")
def hundred():
    return first_binding(made)


def test_first_hundred_are_those_of_the_study(hundred):
    groups = CONFIG["claims"]["instances"]["groups"]
    assert list(hundred["instance"]) == groups["binding"]["numbers"]


def test_numbers_are_those_of_the_instance(hundred):
    cmdp, row = random_cmdp(instance=3), hundred.set_index("instance").loc[3]
    optimum, uniform = solve(cmdp), cmdp.evaluate(np.full((10, 4), 0.25))
    assert row["slack"] == optimum.slack
    assert row["multiplier"] == optimum.multiplier
    assert row["initial_gap"] == pytest.approx(optimum.reward_value - uniform[0], abs=1e-14)
    assert row["initial_violation"] == pytest.approx(0.55 - uniform[1], abs=1e-14)


def table_of(values):
    table = pd.DataFrame(values, columns=list(PROPERTIES))
    return table.assign(instance=range(10, 10 + len(table)))


def test_nearest_to_the_median_comes_first_whatever_the_units():
    values = np.random.default_rng(0).normal(size=(21, 4))
    values[7] = np.median(np.delete(values, 7, axis=0), axis=0)
    table = table_of(values)
    assert most_typical(table)[0] == 17
    order = most_typical(table_of(values * [1, 1000, 0.01, 7] + [5, -3, 0, 1]))
    assert order == most_typical(table)
    distance = np.zeros(21)  # by the definition, one number at a time
    for column in values.T:
        away = abs(column - np.median(column))
        distance += (away / np.median(away)) ** 2
    assert list(np.argsort(distance) + 10) == order


def test_one_extreme_instance_does_not_change_what_is_typical():
    values = np.random.default_rng(1).normal(size=(41, 4))
    far = values.copy()
    far[np.argmax(values[:, 0]), 0] = 1e9
    kept = [it for it in most_typical(table_of(values)) if it != 10 + np.argmax(far[:, 0])]
    assert [it for it in most_typical(table_of(far)) if it in kept] == kept


def test_of_equal_ones_the_first_is_most_typical():
    values = [[1.0] * 4, [2.0] * 4, [3.0] * 4, [2.0] * 4, [0.0] * 4]
    assert most_typical(table_of(values))[:2] == [11, 13]


def test_study_is_about_the_most_typical_environment(hundred):
    """So are the studies that choose its T and N, and that confirm its verdicts."""
    number = most_typical(hundred)[0]
    for name in ("settled", "inference", "confirmation"):
        assert study(name)["environment"] == CONFIG["environment"]
    assert CONFIG["environment"]["instance"] == number
    claims = " ".join((ROOT / "docs/claims.md").read_text(encoding="utf-8").split())
    assert f"It chooses instance {number}." in claims


def test_pages_say_where_the_environment_of_the_hard_case_lies(hundred):
    """Instance 1 is the hard case of the first hundred."""
    first = hundred.set_index("instance").loc[study("hard")["environment"]["instance"]]
    assert first["slack"] == hundred["slack"].min()
    assert first["initial_violation"] == hundred["initial_violation"].max()
    results = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    rows = {"slack": "slack", "initial_violation": "violation of the uniform policy"}
    for name, title in rows.items():
        numbers = [first[name], *hundred[name].quantile([0.1, 0.5, 0.9])]
        cells = " | ".join(f"{it:.3f}".replace("-", "−") for it in numbers)
        assert f"| {title} | {cells} |" in results
