"""Settings of the whole suite."""

import pytest
from hypothesis import settings

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items):
    """Keep in one process what shares a fixture: all users of a finished study, or a module."""
    for item in items:
        group = "finished" if "finished" in item.fixturenames else item.path.stem
        item.add_marker(pytest.mark.xdist_group(group))
