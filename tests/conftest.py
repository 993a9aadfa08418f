"""Settings of the whole suite."""

import re
from pathlib import Path

from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")

SHARING = {
    f"tests/workflow/{path.name}"
    for path in Path(__file__).parent.glob("workflow/test_*.py")
    if re.search(r"\bfinished", path.read_text(encoding="utf-8"))
}


class Scheduling(LoadFileScheduling):
    """All tests of a file go to one process, and all files that share the finished study to one."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return "finished" if file in SHARING else file


def pytest_xdist_make_scheduler(config, log):
    """Use it, if tests run in several processes at all."""
    return Scheduling(config, log)
