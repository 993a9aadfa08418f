"""The README's commands in a clean clone, with an empty home: `make test-clone`.

COMMANDS names the targets to run. They take a quarter of an hour and a package index, so the test
runs only where it is asked for.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMANDS = os.environ.get("COMMANDS", "").split()
# What a machine needs to reach its package index. All else of the environment stays behind.
KEPT = ("PATH", "PIP_", "SSL_", "REQUESTS_", "http", "HTTP", "no_proxy", "NO_PROXY")


def run(command, folder, home):
    """Run a command in a folder; give back exit code and everything printed."""
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    process = subprocess.run(
        command,
        cwd=folder,
        env={**kept, "HOME": str(home), "LC_ALL": "C.UTF-8"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return process.returncode, process.stdout


@pytest.mark.slow
@pytest.mark.skipif(not COMMANDS, reason="installs everything anew; `make test-clone` does that")
@pytest.mark.skipif(
    shutil.which("git") is None or not (ROOT / ".git").exists(), reason="needs a git checkout"
)
def test_readme_commands_work_in_a_clean_clone(tmp_path):
    home, clone = tmp_path / "home", tmp_path / "My clone's (é) & b"
    home.mkdir()
    code, output = run(["git", "clone", "--quiet", str(ROOT), str(clone)], tmp_path, home)
    assert code == 0, output
    for target in COMMANDS:
        assert f"make {target} " in (ROOT / "README.md").read_text()
        code, output = run(["make", target], clone, home)
        assert code == 0, output[-5000:]
    if "figures" in COMMANDS:
        verdicts = (clone / "results/paper/claims.csv").read_text()
        assert len(verdicts.splitlines()) > 10
    # Nothing is written where it would be committed, but for the committed figures themselves.
    status = run(["git", "status", "--porcelain"], clone, home)[1].splitlines()
    assert [line for line in status if not line.startswith(" M figures/")] == []
