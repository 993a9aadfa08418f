"""A notebook that is opened by itself takes the parameters of the page that a study has made."""

import json
import os
import re
from pathlib import Path

import pytest

from replication.files import notebooks

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder in which two studies have made a page, the default one first."""
    monkeypatch.delenv(notebooks.MARK, raising=False)
    monkeypatch.chdir(tmp_path)  # which also goes back at the end
    for age, study in enumerate(["mine", "later", "paper"]):
        made(tmp_path, study, "page", age)
    made(tmp_path, "mine", "other", 1)
    made(tmp_path, "later", "other", 0)
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def made(folder, study, name, age):
    path = folder / f"results/{study}/notebooks/{name}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"metadata": {"papermill": {"parameters": {"study": study}}}}))
    os.utime(path, (1e9 - age, 1e9 - age))


@pytest.mark.parametrize("place", [".", "notebooks", "results/mine/notebooks"])
def test_last_page_is_found_from_everywhere(project, monkeypatch, place):
    monkeypatch.chdir(project / place)
    assert notebooks.parameters("page") == {"study": "paper"}
    assert Path.cwd() == project
    assert notebooks.parameters("other") == {"study": "later"}


def test_job_has_its_own_parameters_and_folder(project, monkeypatch):
    monkeypatch.chdir(project / "notebooks")
    monkeypatch.setenv(notebooks.MARK, "1")
    assert notebooks.parameters("page") == {}
    assert Path.cwd() == project / "notebooks"


def test_page_that_nobody_has_made_is_named(project):
    command = "`.venv/bin/snakemake results/paper/notebooks/nothing.html` makes it"
    with pytest.raises(FileNotFoundError, match=f"^nothing: no study has made.*{command}$"):
        notebooks.parameters("nothing")


@pytest.mark.parametrize("path", sorted(ROOT.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_notebook_asks_for_its_own_page(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    code = ["".join(it["source"]) for it in cells if "parameters" in it["metadata"].get("tags", [])]
    assert len(code) == (path.stem not in ("lesson", "tutorial"))
    assert all(f'globals().update(notebooks.parameters("{path.stem}"))' in it for it in code)
    # Opened without them, it shows the default study.
    study = "inference" if path.stem == "inference" else "paper"
    named = [it for part in code for it in re.findall(r'"((?:results|figures)\b[^"]*)"', part)]
    assert all(f"{it}/".startswith((f"results/{study}/", "figures/")) for it in named)
    assert not any("hard" in it for it in named)
