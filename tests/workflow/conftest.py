"""A project in which nothing has run yet, and one in which everything has."""

import json
import shutil
from pathlib import Path

import offline
import pytest
from projects import Project


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run yet."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def finished_and_loaded(tmp_path_factory):
    """A project whose smoke study is complete, what was printed meanwhile, and what jobs loaded."""
    project = Project(tmp_path_factory.mktemp("project"))
    watching = project.folder / "src/sitecustomize.py"
    shutil.copy(Path(__file__).with_name("loading.py"), watching)
    notes = project.folder / "loaded"
    notes.mkdir()
    command = project.workflow("--cores", "2", "all", "claims", "theory", "compare", "grid")
    code, output = project.call(offline.cut_off(command))
    assert code == 0, output
    processes = {path.stem: json.loads(path.read_text()) for path in notes.glob("*.json")}
    watching.unlink()
    shutil.rmtree(notes)
    return project, output, processes


@pytest.fixture(scope="session")
def finished(finished_and_loaded):
    """A project whose smoke study is complete, and what was printed meanwhile."""
    return finished_and_loaded[:2]
