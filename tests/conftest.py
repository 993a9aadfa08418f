"""Settings of the whole suite."""

import os

import pytest
from hypothesis import settings

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")

# Tests that ask for these are long: they run workflows or notebooks, or make the site. Some that
# simulate for long are marked themselves.
LONG = {"calibrated", "clone", "copy", "finished_and_loaded", "fresh", "made", "site"}
LONG |= {"lesson", "tutorial"}

# Linear algebra on one thread, as in jobs of the workflow: tests share the cores.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


def pytest_xdist_auto_num_workers():
    """One process more than there are cores, since some wait: for a shared study, a browser."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before marks are asked for
def pytest_collection_modifyitems(items):
    """Mark what is long, and begin with the files that take longest."""
    for item in items:
        spared = any(item.get_closest_marker(name) for name in ("slow", "slurm"))
        if LONG & {*item.fixturenames} and not spared:
            item.add_marker("long")
    # By path, since there are thousands of items.
    ranks = {item.path: 2 for item in items}
    ranks |= {path: 1 for path in ranks if "theory" in path.parts}
    ranks |= {path: 0 for path in ranks if {"workflow", "site"} & {*path.parts}}
    items.sort(key=lambda item: ranks[item.path])
