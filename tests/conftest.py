"""Settings of the whole suite."""

import os

from hypothesis import settings

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")

# Linear algebra on one thread, as in jobs of the workflow: tests share the cores.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"


def pytest_xdist_auto_num_workers():
    """One process more than there are cores, since some wait: for a shared study, a browser."""
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items):
    """Begin with the files that take longest: the last ones to end should be short.

    The first runs the study that others share, so these others come after files that do without.
    """
    sharing = [item.path for item in items if "finished_and_loaded" in item.fixturenames]
    # By path, since there are thousands of items.
    ranks = {item.path: 4 for item in items}
    ranks |= {path: 3 for path in ranks if "theory" in path.parts}
    ranks |= {path: 1 for path in ranks if {"workflow", "site"} & {*path.parts}}
    ranks |= dict.fromkeys(sharing, 2) | dict.fromkeys(sharing[:1], 0)
    items.sort(key=lambda item: ranks[item.path])
