"""Other processors: the same words, votes and paths; real values to the last digits."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

SCRIPT = """
import json

import numpy as np

import pgpd_hf
from pgpd_hf.core.evaluators import count_votes
from pgpd_hf.core.normals import draw_normals
from pgpd_hf.core.streams import draw_words, word_stream

words, normals = np.empty(1000, np.uint64), np.empty(1000)
draw_words(word_stream(test="processors"), words)
draw_normals(word_stream(test="processors"), normals)
votes = [count_votes(m, p, word) for m in (16, 64, 256) for p in (0.1, 0.6) for word in words[:50]]
cmdp, traces = pgpd_hf.random_cmdp(), []
for name, rounds in (("npgpd_hf", 1), ("zpgpd_hf", 3)):
    options = {"iterations": 60, "seeds": [0, 1], "primal_step": 0.1, "dual_step": 0.1}
    options |= {"perturbation": 1.0} if name == "zpgpd_hf" else {}
    trace = pgpd_hf.run(cmdp, name, evaluators=16, rounds=rounds, **options)
    columns = ["reward_value", "utility_value", "multiplier", "mean_optimality_gap"]
    traces.append(trace[columns].to_numpy().tolist())
print(json.dumps([words.tolist(), votes, normals.tolist(), *traces]))
"""


def results(folder, **environment):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), **environment}
    command = [sys.executable, "-c", SCRIPT]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(run.stdout)


@pytest.mark.slow
def test_numbers_do_not_depend_on_the_processor(tmp_path):
    """Compiled for this processor, and for the oldest of its kind, without wide vectors."""
    here = results(tmp_path / "here")
    generic = results(tmp_path / "generic", NUMBA_CPU_NAME="generic", NUMBA_CPU_FEATURES="")
    for ours, theirs in zip(here[:2], generic[:2], strict=True):  # words and votes
        assert ours == theirs
    for ours, theirs in zip(here[2:], generic[2:], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
