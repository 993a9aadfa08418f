"""A Slurm for all tests of this folder."""

import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from cluster import Cluster, obstacle
from slurm_project import COSTS, FAULTS, LONG, TARGET, Project


@pytest.fixture(scope="session")
def cluster():
    """A Slurm that runs; afterwards nothing of it is left."""
    reason = obstacle()
    if reason is not None:
        pytest.skip(reason)
    root = Path(tempfile.mkdtemp(prefix="slurm-"))
    root.chmod(0o755)  # munge insists
    place = Cluster(root)
    # Whoever ends the tests ends the daemons, too.
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        place.start()
        yield place
    finally:
        place.stop()
        left = place.left_behind()
        shutil.rmtree(root)
        signal.signal(signal.SIGTERM, before)
    assert not left, left


@pytest.fixture
def fresh(tmp_path):
    """A project in which nothing has run yet."""
    return Project(tmp_path)


@pytest.fixture(scope="session")
def undisturbed(tmp_path_factory):
    """Content of the target of faults, made on this machine."""
    project = Project(tmp_path_factory.mktemp("undisturbed"))
    code, output = project.snakemake(TARGET, "--cores", "1", config=LONG)
    assert code == 0, output
    return (project.folder / TARGET).read_bytes()


def pytest_terminal_summary(terminalreporter):
    """Print what jobs took, and what happened to the faults."""
    if COSTS:
        terminalreporter.section("a large study")
        for line in COSTS:
            terminalreporter.write_line(line)
    if FAULTS:
        terminalreporter.section("faults")
        for done, noticed, ended in FAULTS:
            seen = "-" if noticed is None else f"{noticed:.0f} s"
            terminalreporter.write_line(f"{done:<44} noticed after {seen:<6} {ended}")
