"""The table of the studies of environments, and its matrix, say what the studies found."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from pgpd_hf.figures import style
from pgpd_hf.support.validation import read_yaml
from pgpd_hf.verification import tables

ROOT = Path(__file__).parents[2]
STUDIES = ["cliff", "lake"]
CURVES = pd.read_csv(ROOT / "reference/curves.csv")


@pytest.fixture(scope="module")
def module():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        yield __import__("collect_environments")
    del sys.modules["collect_environments"]


@pytest.fixture(scope="module")
def found():
    """Verdicts on the paper's experiment."""
    own = pd.read_csv(ROOT / "reference/verdicts.csv").query("reading == 'default'")
    return own.drop(columns="reading")


@pytest.fixture(scope="module")
def project(module, found, tmp_path_factory):
    """Folder with two studies, whose verdicts are collected, and the table of these."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "config/environments").mkdir(parents=True)
    for study, verdict in zip(STUDIES, ("inconclusive", "contradicted"), strict=True):
        (folder / f"config/environments/{study}.yaml").write_text(f"study: {study}\n")
        (folder / "results" / study).mkdir(parents=True)
        found.assign(verdict=verdict).to_csv(folder / "results" / study / "claims.csv", index=False)
        curves = CURVES.copy()
        still = (curves["algorithm"] == "zpgpd_hf") & (study == "lake")
        curves.loc[still, "constraint_violation"] = 0.1
        curves.to_parquet(folder / "results" / study / "aggregate.parquet")
    yield folder, module.collect(folder)
    style.plt.close("all")


def test_table_has_a_row_for_each_study_and_statement_of_the_experiment(found, project):
    folder, table = project
    found = found[found["source"].str.endswith("experiment")]
    assert len(table) == 2 * len(found) == 28
    assert (table["study"] == ["cliff"] * 14 + ["lake"] * 14).all()
    for column in ("claim", "estimate", "low", "high"):
        assert table[column].tolist() == 2 * found[column].tolist()
    # ZPGPD-HF's violation on the lake never moves: three statements are about it.
    still = table[~table["moved"]]
    assert set(still["study"]) == {"lake"}
    assert [name for name in still["claim"] if name != "zpgpd-gap-steady-state"] == [
        "zpgpd-violation-64-256-close",
        "zpgpd-violation-64-256-end",
    ]
    assert len(still) == 3
    assert table["why"].notna().sum() == 2 * found["why"].notna().sum() > 0
    written = pd.read_csv(folder / "results/environments/environments.csv")
    pd.testing.assert_frame_equal(written, table, check_dtype=False)


def test_matrix_says_which_columns_have_fewer_seeds_and_are_not_repeated(module, project):
    table = project[1].replace({"study": {"lake": "frozen-lake"}})
    axes = module.draw(table).axes[0]
    at = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert at["default"] < at["cliff"] < at["not confirmed"] < at["FrozenLake"] + 0.2
    assert module.NOTE in at
    signs = [text for text in axes.texts if text.get_position()[0] == at["FrozenLake"] + 0.1]
    assert {text.get_text() for text in signs if text.get_text() in "+−?"} == {"−"}
    stars = [text.get_position()[0] for text in axes.texts if text.get_text() == "*"]
    assert stars == [pytest.approx(at["FrozenLake"] + 0.35)] * 3
    assert any(text.startswith("* says little: the curve hardly leaves its start") for text in at)


def test_reference_is_about_the_studies_that_there_are(module):
    table = tables.read_file(ROOT / "reference/environments.csv")
    paths = sorted((ROOT / "config/environments").glob("*.yaml"))
    assert [read_yaml(path)["study"] for path in paths] == list(table["study"].unique())
    assert list(table) == module.COLUMNS


def test_recorded_table_is_the_one_that_was_made(project):
    folder, _ = project
    made = folder / "results/environments"
    drawn = {path.name for path in (made / "figures").iterdir()}
    assert drawn == {f"environments.{ending}" for ending in style.FORMATS}
    command = [sys.executable, ROOT / "tools/record.py", "results/environments", "environments"]
    subprocess.run(command, cwd=folder, check=True)
    table = next(it for it in tables.TABLES if it.name == "environments")
    assert tables.read_file(folder / "reference/environments.csv").equals(table.load(made))
