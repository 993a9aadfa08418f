"""Settings of the whole suite."""

import re
from pathlib import Path

from hypothesis import settings
from xdist.scheduler import LoadFileScheduling

# Property tests draw the same examples every time.
settings.register_profile("pgpd_hf", derandomize=True, deadline=None, max_examples=50)
settings.load_profile("pgpd_hf")

WORKFLOW = Path(__file__).parent / "workflow"


class Scheduling(LoadFileScheduling):
    """Tests of one file go to one process, and all files that use the finished study to the same."""

    def _split_scope(self, nodeid):
        file = super()._split_scope(nodeid)
        return "finished" if file in self.users else file

    users = {
        f"tests/workflow/{path.name}"
        for path in WORKFLOW.glob("test_*.py")
        if re.search(r"\bfinished\b", path.read_text(encoding="utf-8"))
    }


def pytest_xdist_make_scheduler(config, log):
    """Use it, if tests run in several processes at all."""
    return Scheduling(config, log)
