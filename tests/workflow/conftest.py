"""A project in which nothing has run yet, and one in which everything has."""

import pytest
from projects import Project


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run yet."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def finished(tmp_path_factory):
    """A project whose smoke study is complete, and what was printed meanwhile."""
    project = Project(tmp_path_factory.mktemp("project"))
    code, output = project.snakemake("--cores", "2", "all", "claims", "theory", "grid")
    assert code == 0, output
    return project, output
