"""Notebooks run when they are opened, from their folder and from that of the project."""

import os
import shutil
from pathlib import Path

import nbclient
import nbformat
import pytest

from replication.files import notebooks

ROOT = Path(__file__).parents[2]


@pytest.mark.long
@pytest.mark.parametrize("place", ["notebooks", "."])
def test_notebooks_run_with_their_defaults(finished, monkeypatch, place):
    project, _ = finished
    for name, value in project.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv(notebooks.MARK, raising=False)
    shutil.copytree(ROOT / "notebooks", project.folder / "notebooks", dirs_exist_ok=True)
    made = sorted(project.results("notebooks").glob("*.ipynb"))
    assert {"figure1", "rates", "bounds", "claims"} <= {path.stem for path in made}
    for path in made:
        notebook = nbformat.read(project.folder / "notebooks" / path.name, nbformat.NO_CONVERT)
        where = {"metadata": {"path": os.fspath(project.folder / place)}}
        nbclient.NotebookClient(notebook, kernel_name="python3", resources=where).execute()
        assert any(cell.get("outputs") for cell in notebook.cells)
