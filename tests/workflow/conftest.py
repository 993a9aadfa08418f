"""A project in which nothing has run yet, and one in which almost everything has."""

import fcntl
import json
import os
import shutil
from pathlib import Path

import offline
import pytest
from projects import Project


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run yet."""
    return Project(tmp_path)


def finish(folder):
    """Run the smoke study in a new folder: what was printed, and what jobs loaded."""
    folder.mkdir()
    project = Project(folder)
    watching = folder / "src/sitecustomize.py"
    shutil.copy(Path(__file__).with_name("loading.py"), watching)
    notes = folder / "loaded"
    notes.mkdir()
    command = project.workflow("--cores", "2", "all", "claims", "theory", "grid")
    code, output = project.call(offline.cut_off(command))
    assert code == 0, output
    processes = {path.stem: json.loads(path.read_text()) for path in notes.glob("*.json")}
    watching.unlink()
    shutil.rmtree(notes)
    return output, processes


def share(tmp_path_factory, name, make):
    """A copy of what the first process of the suite that needs it makes, and what that gave."""
    shared = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        shared = shared.parent
    origin, record = shared / name, shared / f"{name}.json"
    with open(shared / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until it is closed
        if not record.exists():
            shutil.rmtree(origin, ignore_errors=True)  # of a process that has failed
            record.write_text(json.dumps(make(origin)))
    return Project(tmp_path_factory.mktemp("project"), origin), json.loads(record.read_text())


@pytest.fixture(scope="session")
def finished_and_loaded(tmp_path_factory):
    """A project whose smoke study has run, what was printed meanwhile, and what jobs loaded."""
    project, (output, processes) = share(tmp_path_factory, "finished", finish)
    return project, output, processes


@pytest.fixture(scope="session")
def finished(finished_and_loaded):
    """A project whose smoke study has run, but for what `complete` adds, and what was printed."""
    return finished_and_loaded[:2]


@pytest.fixture(scope="session")
def complete(tmp_path_factory, finished):
    """The same project with all analyses, which take as long as the rest."""

    def make(folder):
        folder.mkdir()
        project = Project(folder, finished[0].folder)
        command = project.workflow("--cores", "2", "compare", "compare_axes", "stability")
        code, output = project.call(offline.cut_off(command))
        assert code == 0, output

    return share(tmp_path_factory, "complete", make)[0]
