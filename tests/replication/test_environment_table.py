"""The table of the studies of environments, and its matrix, say what the studies found."""

from pathlib import Path

import pandas as pd
import pytest

from replication.figures import environments, style
from replication.files.validation import read_yaml

ROOT = Path(__file__).parents[2]
STUDIES = {"hard case": "reproduced", "cliff": "inconclusive", "lake": "contradicted"}
CURVES = pd.read_csv(ROOT / "reference/hard/curves.csv")


@pytest.fixture(scope="module")
def found():
    """Verdicts on the paper's experiment."""
    own = pd.read_csv(ROOT / "reference/hard/verdicts.csv").query("reading == 'default'")
    return own.drop(columns="reading")


@pytest.fixture(scope="module")
def table(found):
    """Verdicts of the hard case and of two others, of which one has a curve that is flat."""
    flat = CURVES.copy()
    flat.loc[flat["algorithm"] == "zpgpd_hf", "constraint_violation"] = 0.1
    studies = {
        study: (found.assign(verdict=verdict), flat if study == "lake" else CURVES)
        for study, verdict in STUDIES.items()
    }
    return environments.collect(studies, read_yaml(ROOT / "config/claims.yaml")["claims"])


def test_table_has_a_row_for_each_study_and_statement_of_the_experiment(found, table):
    found = found[found["source"].str.endswith("experiment")]
    assert len(table) == 3 * len(found) == 42
    assert table["study"].tolist() == [study for study in STUDIES for _ in range(14)]
    for column in ("claim", "estimate", "low", "high"):
        assert table[column].tolist() == 3 * found[column].tolist()
    # ZPGPD-HF's violation on the lake never moves: three statements are about it.
    still = table[~table["moved"]]
    assert set(still["study"]) == {"lake"}
    assert [name for name in still["claim"] if name != "zpgpd-gap-steady-state"] == [
        "zpgpd-violation-64-256-close",
        "zpgpd-violation-64-256-end",
    ]
    assert len(still) == 3
    assert table["why"].notna().sum() == 3 * found["why"].notna().sum() > 0


def test_matrix_sorts_environments_and_names_those_where_few_statements_hold(table):
    figure = environments.matrix(table.replace({"study": {"lake": "frozen-lake"}}))
    axes = figure.axes[0]
    at = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert at["hard case"] < at["cliff"] < at["exploratory"] <= at["FrozenLake"] + 0.2
    assert environments.NOTE in at
    signs = [text for text in axes.texts if text.get_position()[0] == at["FrozenLake"] + 0.1]
    assert {text.get_text() for text in signs if text.get_text() in "+−?"} == {"−"}
    stars = [text.get_position()[0] for text in axes.texts if text.get_text() == "*"]
    assert stars == [pytest.approx(at["FrozenLake"] + 0.35)] * 3
    assert any(text.startswith("* says little: the curve hardly leaves its start") for text in at)
    title = "Of 14 statements 14 hold in the hard case, but only 0 in cliff and 0 in FrozenLake"
    assert " ".join(figure.texts[0].get_text().split()) == title
    half = table.assign(verdict="inconclusive").assign(study=table["study"])
    half.loc[half["study"] == "lake", "verdict"] = "reproduced"
    figure = environments.matrix(half)
    at = {text.get_text(): text.get_position()[0] for text in figure.axes[0].texts}
    assert at["lake"] < at["cliff"]
    assert " ".join(figure.texts[0].get_text().split()).endswith("but only 0 in cliff")
    style.plt.close("all")
