"""What planning loads: every job of a cluster plans its own work, and waits for these modules."""

import subprocess
import sys

CODE = """
import atexit
import sys
from snakemake.cli import main
packages = ("pgpd_hf", "replication")
atexit.register(lambda: print(*(name for name in sys.modules if name.split(".")[0] in packages)))
main(["--dry-run", "--quiet", "--cores", "1"])
"""


def test_plan_loads_few_modules_and_no_proofs(fresh):
    command = [sys.executable, "-c", CODE]
    done = subprocess.run(
        command, cwd=fresh.folder, env=fresh.environment(), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    loaded = done.stdout.splitlines()[-1].split()
    assert len(loaded) <= 68, loaded
    assert not [
        name for name in loaded if name.startswith(("replication.proofs", "replication.verify"))
    ]
