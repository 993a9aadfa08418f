"""Settings of the whole suite."""

import os

import pytest
from hypothesis import settings

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")

# Tests that ask for these are long: they run workflows, or make the site or the article.
LONG = {"fresh", "calibrated", "made", "clone", "site", "copy"}

# Linear algebra on one thread, as in jobs of the workflow: tests share the cores.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


def pytest_xdist_auto_num_workers():
    """One process more than there are cores, since some wait: for a shared study, a browser."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(tryfirst=True)  # before marks are asked for
def pytest_collection_modifyitems(items):
    """Mark what is long, and begin with the files that take longest.

    The first of those that are not long runs the study that some share; these come after files
    that do without.
    """
    for item in items:
        spared = any(item.get_closest_marker(name) for name in ("slow", "slurm"))
        if LONG & {*item.fixturenames} and not spared:
            item.add_marker("long")
    sharing = [
        item.path
        for item in items
        if "finished_and_loaded" in item.fixturenames and not item.get_closest_marker("long")
    ]
    # By path, since there are thousands of items.
    ranks = {item.path: 4 for item in items}
    ranks |= {path: 2 for path in ranks if "theory" in path.parts}
    ranks |= {path: 1 for path in ranks if {"workflow", "site"} & {*path.parts}}
    ranks |= dict.fromkeys(sharing, 3) | dict.fromkeys(sharing[:1], 0)
    items.sort(key=lambda item: ranks[item.path])
