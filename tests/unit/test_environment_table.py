"""The table of the studies of environments, and its matrix, say what the studies found."""

import shutil
import sys
from pathlib import Path

import pandas as pd
import pytest

from pgpd_hf.figures import style
from pgpd_hf.support.validation import read_yaml
from pgpd_hf.verification import tables

ROOT = Path(__file__).parents[2]
STUDIES = ["lake", "cliff"]


@pytest.fixture
def module(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tools"))
    yield __import__("collect_environments")
    del sys.modules["collect_environments"]
    style.plt.close("all")


@pytest.fixture
def found(tmp_path):
    """Verdicts of two studies, with a statement that is not about the experiment."""
    own = pd.read_csv(ROOT / "reference/verdicts.csv").query("reading == 'default'")
    own = own.drop(columns="reading")
    for study, verdict in zip(STUDIES, ("contradicted", "inconclusive"), strict=True):
        folder = tmp_path / "results" / study
        folder.mkdir(parents=True)
        own.assign(verdict=verdict).to_csv(folder / "claims.csv", index=False)
    return own[own["source"].str.endswith("experiment")]


def test_table_has_a_row_for_each_study_and_statement_of_the_experiment(module, found, tmp_path):
    table = module.collect(tmp_path, STUDIES)
    assert len(table) == 2 * len(found) == 28
    assert (table["study"] == ["lake"] * 14 + ["cliff"] * 14).all()
    for column in ("claim", "estimate", "low", "high"):
        assert table[column].tolist() == 2 * found[column].tolist()
    written = pd.read_csv(tmp_path / "results/environments/environments.csv")
    pd.testing.assert_frame_equal(written, table, check_dtype=False)
    drawn = tmp_path / "results/environments/figures"
    assert {path.suffix[1:] for path in drawn.iterdir()} == set(style.FORMATS)


def test_matrix_says_which_columns_nothing_has_confirmed(module, found, tmp_path):
    axes = module.draw(module.collect(tmp_path, STUDIES)).axes[0]
    at = {text.get_text(): text.get_position()[0] for text in axes.texts}
    assert at["the paper's"] < at["lake"] < at["not confirmed"] < at["cliff"] + 0.2
    signs = [text for text in axes.texts if text.get_position()[0] == at["lake"] + 0.1]
    assert {text.get_text() for text in signs if text.get_text() in "+−?"} == {"−"}


def test_reference_is_about_the_studies_that_there_are(module):
    table = tables.read_file(ROOT / "reference/environments.csv")
    paths = sorted((ROOT / "config/environments").glob("*.yaml"))
    assert [read_yaml(path)["study"] for path in paths] == list(table["study"].unique())
    assert list(table) == module.COLUMNS


def test_recorded_files_are_those_that_were_made(module, found, tmp_path, monkeypatch):
    module.collect(tmp_path, STUDIES)
    root = tmp_path / "project"
    shutil.copytree(tmp_path / "results", root / "results")
    monkeypatch.setattr(module, "ROOT", root)
    monkeypatch.setattr(module, "REFERENCE", root / "reference")
    module.record(root)
    made = root / "results/environments"
    for name in ("environments.svg", "environments.png"):
        assert (root / "figures" / name).read_bytes() == (made / "figures" / name).read_bytes()
    table = next(it for it in tables.TABLES if it.name == "environments")
    assert tables.read_file(root / "reference/environments.csv").equals(table.load(made))
