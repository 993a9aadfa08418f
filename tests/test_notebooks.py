"""Notebooks run from the first cell to the last, and end where they say they do."""

import json
from pathlib import Path

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest

import pgpd_hf

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def sources(name):
    """Sources of the code cells, which are committed without outputs."""
    content = json.loads((NOTEBOOKS / f"{name}.ipynb").read_text(encoding="utf-8"))
    cells = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    assert not any(cell["outputs"] for cell in cells)
    return ["".join(cell["source"]) for cell in cells]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    """A folder without results, and Matplotlib's settings as they were."""
    monkeypatch.chdir(tmp_path)
    with matplotlib.rc_context():
        matplotlib.use("agg")
        yield
    plt.close("all")


def test_tutorial_ends_near_the_optimum_and_safe(tmp_path, capsys):
    *cells, last = sources("tutorial")
    names = {}
    exec("\n".join([*cells, last]), names)
    assert (names["downtimes"] <= 1).all()
    assert (names["share"] > 0.9).all()
    assert names["certificate"].safe
    assert "is not here" in capsys.readouterr().out

    folder = tmp_path / "results/paper/policies/npgpd_hf/M256"
    folder.mkdir(parents=True)
    cmdp = pgpd_hf.random_cmdp(instance=42)
    cmdp.save(tmp_path / "results/paper/environment.npz")
    np.savez(folder / "seeds0000-0009.npz", policies=[pgpd_hf.solve(cmdp).policy])
    exec(last, names)
    assert "<Certificate: safe" in capsys.readouterr().out


def test_lesson_makes_the_updates_of_the_library():
    names = {}
    exec("\n".join(sources("lesson")), names)
    assert (names["after"] == names["expected"]).all()
    names["cmdp"].check_policy(names["moved"])
    averages = names["trace"][["mean_optimality_gap", "mean_constraint_violation"]].iloc[-1]
    assert (abs(averages) < 0.1).all()  # of values up to 5


def test_votes_lead_to_policies_by_both_ways():
    names = {}
    exec("\n".join(sources("votes")), names)
    assert names["session"].iteration == 40
    assert (names["table"]["V_r"].iloc[:3] > names["v_r"][3] - 0.7).all()
    assert not names["cautious"].safe
