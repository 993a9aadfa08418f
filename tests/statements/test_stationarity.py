"""T by stationarity: the smallest T after which no curve moves by the margin."""

import numpy as np
import pandas as pd
import pytest

from replication.statements import stationarity

SCALES = {"optimality_gap": 0.5, "constraint_violation": 0.25, "multiplier": 2.0}


def traces(longest=4000, seeds=4, noise=0.0, evaluators=(16, 64), **curves):
    """Runs whose curves are functions of the iteration, zero unless given."""
    random, tables = np.random.default_rng(0), []
    iterations = np.arange(0, longest + 1, 10)
    for m in evaluators:
        for seed in range(seeds):
            table = {"iteration": iterations, "seed": seed, "evaluators": m}
            for name in stationarity.CURVES:
                curve = curves.get(name, np.zeros_like)(iterations.astype(float))
                table[name] = curve + noise * random.normal()
            tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)


def settled(table, candidates, scales):
    found = {length: stationarity.moves(table, length, scales) for length in candidates}
    return stationarity.settled_length(found)


def test_candidates_are_1_2_5_times_powers_of_ten():
    assert stationarity.lengths(5000) == [100, 200, 500, 1000, 2000, 5000]
    assert stationarity.lengths(700)[-1] == 500
    assert stationarity.lengths(100) == [100]


def test_flat_curves_settle_at_once_and_a_ramp_never():
    assert settled(traces(), [100, 200], SCALES) == 100
    ramp = traces(optimality_gap=lambda t: -t / 1000)
    assert settled(ramp, [500, 1000, 2000], SCALES) is None


@pytest.mark.parametrize("curve", stationarity.CURVES)
@pytest.mark.parametrize(("share", "found"), [(0.9, 100), (1.1, 1000)])
def test_each_curve_counts_in_its_own_unit(curve, share, found):
    """A step after 705 iterations, just below or just above the margin."""
    height = share * 0.1 * SCALES[curve]
    step = traces(**{curve: lambda t: height * (t > 705)})
    # At 500 the step is ahead; at 1000 it is before the last quarter begins.
    assert settled(step, [100, 500, 1000, 2000], SCALES) == found


def test_rest_before_a_breakdown_is_not_taken_for_the_end():
    """Nothing moves from 100 to 1000, and then the multiplier runs away."""
    breaks = traces(multiplier=lambda t: np.maximum(t - 1500, 0) / 100)
    assert settled(breaks, [100, 200, 500], SCALES) == 100
    assert settled(breaks, [100, 200, 500, 1000, 2000], SCALES) is None


def test_one_m_that_moves_keeps_all_from_settling():
    still = traces(evaluators=(16,))
    moving = traces(evaluators=(64,), multiplier=lambda t: t / 100)
    both = pd.concat([still, moving])
    assert settled(still, [100, 1000], SCALES) == 100
    assert settled(both, [100, 1000], SCALES) is None


def test_moves_are_differences_of_means_over_quarters():
    table = traces(evaluators=(16,), optimality_gap=lambda t: t / 1000)
    found = stationarity.moves(table, 1000, SCALES)
    found = found[found["curve"] == "optimality_gap"]
    # Means of a line are its values in the middle: at 875, and at 1125, 1375, ...
    expected = [(middle - 875) / 1000 / 0.5 for middle in (1125, 1375, 1625, 1875)]
    assert found["move"].tolist() == pytest.approx(expected)
    assert found["low"].tolist() == pytest.approx(expected)  # all seeds are alike


def test_what_few_seeds_do_not_show_has_not_settled():
    """Each seed drifts by a number of its own, whose mean is zero, but not for sure."""
    few = traces(seeds=2)
    few["multiplier"] = few["iteration"] * few["seed"].map({0: -1.0, 1: 1.0}) / 1000
    assert settled(few, [1000], SCALES) is None


def test_curve_without_a_unit_is_left_out():
    ramp = traces(multiplier=lambda t: t)
    scales = SCALES | {"multiplier": 0.0}
    assert settled(ramp, [100], scales) == 100
    assert set(stationarity.moves(ramp, 100, scales)["curve"]) == set(stationarity.CURVES[:2])


def test_trace_that_ends_too_early_is_refused():
    with pytest.raises(ValueError, match=r"^traces: at least 6000 iterations expected, to judge"):
        stationarity.moves(traces(), 3000, SCALES)


def test_what_has_not_settled_is_labelled_and_runs_on():
    assert stationarity.label(2000, 5000) == (2000, "")
    assert stationarity.label(None, 5000) == (5000, "still moving")
