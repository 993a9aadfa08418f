"""What runs measure beside bounds, for the same M, N and T."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import random_cmdp, run, solve
from replication.theory import bounds, lengths, measured
from replication.theory.constants import make_constants
from replication.theory.problems import run_averages
from replication.theory.setting import Setting

CMDP = random_cmdp(states=3, actions=2, instance=1, discount=0.7, threshold=0.5)
BEST = solve(CMDP)
LONG = Setting(evaluators=None, iterations=1, horizon=60)
STEPS = {"primal_step": 0.4, "dual_step": 0.2}
READING = {"npgpd_hf": "plug-in", "zpgpd_hf": "plug-in"}


def traces(**changes):
    """Two runs of five iterations whose gap and violation are the same at each."""
    rows = pd.DataFrame({"seed": np.repeat([0, 1], 6), "iteration": [*range(6)] * 2})
    rows = rows.assign(algorithm="npgpd_hf", evaluators=pd.array([16] * 12, dtype="Int64"))
    gap, violation = np.repeat([0.1, 0.3], 6), np.repeat([-0.2, 0.5], 6)
    rows = rows.assign(optimality_gap=gap, mean_optimality_gap=gap)
    rows = rows.assign(constraint_violation=violation, mean_constraint_violation=violation)
    return rows.assign(**changes)


def test_first_iterates_of_a_run_are_a_run_of_that_length():
    seeds, checkpoints = range(3), (0, 2, 5, 6)
    options = {"horizon": 8, "rounds": 2, "iterations": 6, "checkpoints": checkpoints, **STEPS}
    figure = run(CMDP, "npgpd_hf", evaluators=16, seeds=seeds, **options)
    table = measured.measure(figure, {"npgpd_hf": 2})
    assert list(table["iterations"]) == [2, 5, 6]
    assert set(table["rounds"]) == {2}
    for row in table.itertuples():
        setting = Setting(evaluators=16, iterations=row.iterations, horizon=8, rounds=2, **STEPS)
        whole = run_averages(setting.run("npgpd_hf", CMDP, BEST), BEST, seeds)
        gap, violation = whole["gap"].mean(), whole["violation"].clip(lower=0).mean()
        assert row.mean == pytest.approx(max(gap, violation), abs=1e-12)
        assert row.metric == ("gap" if gap > violation else "violation")


def test_rates_are_measured_at_the_end_and_a_violation_counts_from_zero():
    rates = traces(step_rule="theorem", iterations=5, rounds=3)
    exact = traces(algorithm="npg_pd")
    table = measured.measure(pd.concat([traces(), rates, exact]), {"npgpd_hf": 1})
    assert set(table["algorithm"]) == {"npgpd_hf"}
    figure, own = (table[table["runs"] == runs] for runs in ("figure", "theorem"))
    assert list(figure["iterations"]) == [1, 2, 3, 4, 5]
    assert set(figure["rounds"]) == {1}
    assert own[["iterations", "rounds"]].values.tolist() == [[5, 3]]
    assert set(table["metric"]) == {"violation"}
    assert table["mean"].to_numpy() == pytest.approx(0.25)  # 0 and 0.5
    beside = measured.beside(table[table["runs"] == "theorem"], CMDP, BEST, LONG, READING)
    error = stats.t.ppf(0.975, 1) * 0.25  # half a width
    assert beside["theorem_error"].item() == pytest.approx(error)


def test_bounds_stand_beside_what_is_measured_for_the_same_m_n_and_t():
    frames = [
        traces(),
        traces(step_rule="study", iterations=4),
        traces(step_rule="theorem", iterations=4, evaluators=pd.NA),
        traces(algorithm="zpgpd_hf"),
    ]
    found = measured.measure(pd.concat(frames), {"npgpd_hf": 1, "zpgpd_hf": 2})
    found.loc[found["runs"] == "study", "mean"] = 0.2
    found.loc[found["runs"] == "theorem", "mean"] = 0.7
    table = measured.beside(found, CMDP, BEST, LONG, READING)
    # Of Figure 1 the T of other runs, and the last one.
    places = table[["algorithm", "evaluators", "rounds", "iterations"]]
    assert places.fillna(0).values.tolist() == [
        ["npgpd_hf", 16, 1, 4],
        ["npgpd_hf", 16, 1, 5],
        ["npgpd_hf", 0, 1, 4],
        ["zpgpd_hf", 16, 2, 5],
    ]
    assert table["measured"].to_numpy() == pytest.approx([0.25, 0.25, 0.7, 0.25])
    assert table["study"].fillna(0).tolist() == [0.2, 0, 0, 0]
    assert table["theorem"].fillna(0).tolist() == [0, 0, 0.7, 0]
    for row, m in zip(table.itertuples(), (16, 16, None, 16), strict=True):
        at = replace(LONG, evaluators=m, rounds=row.rounds, iterations=row.iterations)
        constants = make_constants(CMDP, BEST, at)
        both = (bounds.theorem_1_gap, bounds.theorem_1_violation)
        if row.algorithm == "zpgpd_hf":
            both = (bounds.theorem_2_gap, bounds.theorem_2_violation)
        assert row.printed == pytest.approx(max(bound(constants) for bound in both))
        assert 0 < row.best <= row.corrected < row.printed


def test_a_bound_is_missing_outside_its_assumptions():
    found = measured.measure(traces(), {"npgpd_hf": 1})
    unbiased = measured.beside(found, CMDP, BEST, LONG, {"npgpd_hf": "unbiased"}).iloc[0]
    assert np.isnan(unbiased["printed"])  # it is about the printed reading of votes
    assert unbiased["corrected"] > unbiased["best"] > 0
    beyond = replace(CMDP, threshold=0.9 * CMDP.return_bound(80))
    row = measured.beside(found, beyond, BEST, replace(LONG, horizon=0), READING).iloc[0]
    assert row[["printed", "corrected", "best"]].isna().all()
    assert row["measured"] == pytest.approx(0.25)


def test_bounds_are_those_of_the_table_over_lengths():
    lists = [16, None], [1], [100, 10**6]
    table, _ = lengths.lengths(CMDP, BEST, LONG, *lists, 0, ())
    chosen = table[table["statement"].isin(lengths.THEOREMS["npgpd_hf"])]
    found = lengths.bounds_at(CMDP, BEST, LONG, lengths.THEOREMS["npgpd_hf"], *lists)
    assert len(found) == 20
    pd.testing.assert_frame_equal(found, chosen[found.columns].reset_index(drop=True))
