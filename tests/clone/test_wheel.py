"""The wheel in an empty environment, as somebody has it who never saw the repository."""

import shutil
import subprocess
import sys

import pandas as pd
import pytest
from test_clean_clone import COMMANDS, ROOT

USE = """
import pgpd_hf
cmdp = pgpd_hf.random_cmdp(states=10, actions=4, instance=1)
optimum = pgpd_hf.solve(cmdp)
trace = pgpd_hf.run(cmdp, "npgpd_hf", evaluators=64, seeds=[0], iterations=20)
print(pgpd_hf.__file__, optimum.reward_value, len(trace) > 3)
"""


@pytest.mark.slow
@pytest.mark.skipif(not COMMANDS, reason="installs everything anew; `make test-clone` does that")
def test_wheel_works_in_an_empty_environment(tmp_path):
    def call(*command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-5000:]
        return done.stdout

    for name in ("LICENSE", "README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copytree(ROOT / "src", tmp_path / "src")
    wheel = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", "dist"]
    call(sys.executable, "-m", "pip", *wheel, ".")
    call(sys.executable, "-m", "venv", "empty")
    python = str(tmp_path / "empty/bin/python")
    (built,) = tmp_path.glob("dist/*.whl")
    call(python, "-m", "pip", "install", "--quiet", str(built))
    place, value, whole = call(python, "-I", "-c", USE).split()
    assert place.startswith(str(tmp_path / "empty"))
    known = pd.read_csv(ROOT / "reference/hard/optimum.csv", index_col="entry")["value"]
    assert float(value) == pytest.approx(float(known["reward_value"]), abs=1e-8)
    assert whole == "True"
