"""A Slurm for all tests of this folder."""

import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from cluster import Cluster, obstacle
from slurm_project import FAULTS, Project


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


def pytest_terminal_summary(terminalreporter):
    """Print what happened to the faults."""
    if FAULTS:
        terminalreporter.section("faults")
        for done, noticed, ended in FAULTS:
            seen = "-" if noticed is None else f"{noticed:.0f} s"
            terminalreporter.write_line(f"{done:<44} noticed after {seen:<6} {ended}")
