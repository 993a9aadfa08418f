"""One table judges the same runs by both editions of the criteria."""

import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
import worlds
import yaml

from pgpd_hf import random_cmdp
from pgpd_hf.claims import judge, load_claims

ROOT = Path(__file__).parents[2]
SCHEMA = yaml.safe_load((ROOT / "workflow/schemas/claims.schema.yaml").read_text())
CLAIMS = load_claims(ROOT / "config/claims.yaml", SCHEMA)


@pytest.fixture(scope="module")
def record():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "tools"))
        module = __import__("record_inference")
        commit = module.first_edition.COMMIT
        if subprocess.run(["git", "cat-file", "-e", commit], cwd=ROOT, check=False).returncode:
            pytest.skip("the first edition is in the history, which this copy does not have")
        yield module
    del sys.modules["record_inference"], sys.modules["first_edition"]


@pytest.mark.slow
def test_both_editions_judge_the_same_runs(record, tmp_path):
    """A multiplier that does not settle contradicts the second edition, which looks at it."""
    world = worlds.paper()
    for m in worlds.EVALUATORS:
        world["zpgpd_hf", m, "multiplier"] = [0, 0.1, 0.2, 0.3, 0.4, 0.5]
    random_cmdp(states=worlds.STATES, actions=worlds.ACTIONS).save(tmp_path / "environment.npz")
    traces = worlds.make_traces(world)
    verdicts = judge(CLAIMS, worlds.evidence(traces))
    for place, unit in (("full", "seed"), ("instances/fresh", "instance")):
        runs = tmp_path / place / "runs"
        runs.mkdir(parents=True)
        traces.assign(instance=traces["seed"]).to_parquet(runs / "seeds.parquet")
        verdicts.assign(unit=unit).to_csv(tmp_path / place / "claims.csv", index=False)
    record.compare_editions(tmp_path)
    found = pd.read_csv(tmp_path / "editions.csv")
    expected = pd.read_csv(ROOT / "reference/editions.csv")
    assert [*found] == [*expected]
    assert found[["unit", "claim"]].equals(expected[["unit", "claim"]])
    found = found.set_index(["claim", "unit"])
    steady = found.loc["zpgpd-gap-steady-state"]
    assert steady["verdict"].eq("contradicted").all()
    assert steady["verdict_first_edition"].eq("reproduced").all()
    plateau = found.loc["npgpd-gap-plateaus"]
    assert plateau[["verdict", "verdict_first_edition"]].eq("reproduced").all(axis=None)
