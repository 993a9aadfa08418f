"""T by stationarity as an analysis: what it runs, and what it says of known curves."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import random_cmdp, solve
from pgpd_hf.core.optima import utility_span
from replication.analyses import settled
from replication.files import storage
from replication.study import admission

ROOT = Path(__file__).parents[2]
CONFIG = admission.load_defaults(ROOT)


def test_runs_go_on_to_twice_the_longest_time_and_stop_on_the_ends_of_all_windows():
    plan = settled.plan(CONFIG)
    assert {name: len(items) for name, items in plan.items()} == CONFIG["settled"]["seeds"]
    for name, items in plan.items():
        longest = CONFIG["settled"]["longest"][name]
        number, cases = items[7]
        assert [case.setting["evaluators"] for case in cases] == CONFIG["evaluators"]
        for case in cases:
            assert case.seeds == (number,)
            assert case.setting["iterations"] == case.checkpoints[-1] == 2 * longest
            ends = {round(0.75 * longest), longest, round(1.25 * longest), round(1.5 * longest)}
            assert ends | {0, 75, 100, 200} <= {*case.checkpoints}


def test_study_with_neither_algorithm_is_told_why():
    config = {**CONFIG, "algorithms": {"npg_pd": {}}}
    assert settled.why_not(config) == "algorithms: the study has none of npgpd_hf, zpgpd_hf"
    assert settled.plan(config) == {}


def test_algorithm_without_seeds_is_refused():
    options = {"longest": {"npgpd_hf": 200, "zpgpd_hf": 200}, "seeds": {"npgpd_hf": 2}}
    with pytest.raises(ValueError, match=r"^settled\.seeds: a number expected for zpgpd_hf$"):
        settled.check({**CONFIG, "settled": options})


def test_tables_measure_moves_in_the_units_of_the_criteria(tmp_path):
    """The gap rises by 0.05 of its start, the multiplier by 2 λ* after a while, the rest rests."""
    cmdp = random_cmdp()
    optimum, span = solve(cmdp), utility_span(cmdp)
    iterations = np.arange(0, 401)
    rows = [
        pd.DataFrame(
            {
                "algorithm": "npgpd_hf",
                "evaluators": 16,
                "seed": seed,
                "iteration": iterations,
                "optimality_gap": 0.2 + 0.01 * (iterations > 250),
                "constraint_violation": 0.3 * span * (iterations > 110),
                "multiplier": optimum.multiplier * (1 + 2 * (iterations > 350)),
            }
        )
        for seed in range(3)
    ]
    storage.write(tmp_path / "runs.parquet", pd.concat(rows))
    storage.write(tmp_path / "optimum.json", {"multiplier": optimum.multiplier})
    cmdp.save(tmp_path / "environment.npz")
    chosen, moved = settled.tables(
        [tmp_path / "runs.parquet"],
        tmp_path / "environment.npz",
        tmp_path / "optimum.json",
        {"npgpd_hf": 200},
    ).values()
    assert chosen.to_dict("records") == [
        {"algorithm": "npgpd_hf", "iterations": 200, "label": "still moving"}
    ]
    last = moved[moved["quarter"] == 3].set_index(["length", "curve"])["move"]
    assert np.isclose(last[100, "constraint_violation"], 0.3)
    assert np.isclose(last[200, "constraint_violation"], 0)
    assert np.isclose(last[200, "optimality_gap"], 0.05)
    assert np.isclose(last[200, "multiplier"], 2, atol=0.05)  # it jumps as the window begins
