import numpy as np
import pandas as pd
import pytest
from scipy import stats

from pgpd_hf import statistics
from pgpd_hf.runs.traces import COLUMNS


def test_interval_is_the_t_interval():
    samples = np.random.default_rng(1).normal(2, 3, size=12)
    expected = stats.ttest_1samp(samples, 0).confidence_interval(0.9)
    mean, low, high = statistics.mean_interval(samples, level=0.9)
    assert mean == pytest.approx(samples.mean())
    assert (low, high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_one_sample_has_no_interval():
    mean, low, high = statistics.mean_interval([3.0])
    assert mean == 3
    assert np.isnan(low)
    assert np.isnan(high)


def test_text_of_one_sample_says_that_there_is_no_interval():
    row = statistics.named_intervals(pd.DataFrame({"gap": [0.25]}), ["gap"])
    assert statistics.with_interval(row, "gap", ".2f") == "0.25 (no interval)"


def test_mean_test_is_students_t_test_in_both_directions():
    samples = np.random.default_rng(3).normal(0.3, size=9)
    p = stats.ttest_1samp(samples, 0, alternative="greater").pvalue
    assert statistics.mean_test(samples) == (pytest.approx(p), pytest.approx(1 - p))


@pytest.mark.parametrize(
    ("samples", "expected"),
    [([], (1, 1)), ([2.0], (1, 1)), ([0, 0], (1, 1)), ([2, 2], (0, 1)), ([-2, -2], (1, 0))],
)
def test_without_variance_the_sign_is_known_and_one_sample_shows_nothing(samples, expected):
    assert statistics.mean_test(samples) == expected


@pytest.mark.parametrize(("count", "rate"), [(20, 0.05), (60, 0.03), (300, 0.017)])
def test_skewed_samples_err_more_often_than_the_level_says(count, rate):
    """docs/claims.md has these rates of tests at level 0.01; 4.5 standard errors are allowed."""
    samples = np.random.default_rng(5).exponential(size=(4000, count)) - 1
    below = sum(statistics.mean_test(sample)[1] <= 0.01 for sample in samples)
    assert abs(below - 4000 * rate) < 4.5 * np.sqrt(4000 * rate)


def test_power_is_the_share_of_tests_that_show_a_difference():
    power = statistics.student_power(0.8, 0.5, 7, 0.05)
    assert power == pytest.approx(stats.nct.sf(stats.t.isf(0.05, 7), 7, 0.8 / 0.5))
    errors = statistics.errors_for(0.9, 0.05)
    assert statistics.student_power(errors, 1.0, 1e9, 0.05) == pytest.approx(0.9)
    assert statistics.student_power(0.1, 0.0, 7, 0.05) == 1


def test_all_parts_hold_or_one_fails():
    assert statistics.joint_test([0.01, 0.2], [0.3, 0.04]) == (0.2, 0.08)
    assert statistics.joint_test([0.9], [0.6, 0.7]) == (0.9, 1)
    assert [statistics.verdict(*it) for it in ((1, 0), (0, 1), (0, 0))] == [*statistics.VERDICTS]


def test_interval_covers_at_its_level():
    """95 % of 4000 intervals of 5 samples; the count is binomial, 4.5 standard errors allowed."""
    samples = np.random.default_rng(2).normal(size=(4000, 5))
    _, low, high = np.transpose([statistics.mean_interval(sample) for sample in samples])
    covered = ((low <= 0) & (high >= 0)).sum()
    assert abs(covered - 3800) < 4.5 * np.sqrt(4000 * 0.95 * 0.05)


def trace(algorithm, evaluators, seed, values):
    table = pd.DataFrame(dict.fromkeys(COLUMNS, 0.0), index=range(len(values)))
    table["algorithm"] = algorithm
    table["evaluators"] = pd.array([evaluators] * len(values), dtype="Int64")
    table["seed"] = seed
    table["iteration"] = range(len(values))
    table["optimality_gap"] = values
    return table


def test_aggregate_keeps_infinitely_many_evaluators_and_does_not_depend_on_order():
    traces = [
        trace("a", 16, 0, [1.0, 2.0]),
        trace("a", 16, 1, [3.0, 6.0]),
        trace("a", None, 0, [5.0, 7.0]),
    ]
    table = statistics.aggregate(pd.concat(traces))
    assert list(table["optimality_gap"]) == [2, 4, 5, 7]
    assert list(table["seeds"]) == [2, 2, 1, 1]
    assert list(table["evaluators"].isna()) == [False, False, True, True]
    pd.testing.assert_frame_equal(table, statistics.aggregate(pd.concat(traces[::-1])))


def test_slope_of_a_power_is_its_exponent():
    lengths = np.array([100, 200, 400, 800])
    samples = [np.full(5, 7 * T**-0.5) for T in lengths]
    slope, low, high = statistics.loglog_slope(lengths, samples)
    assert (slope, low, high) == pytest.approx((-0.5, -0.5, -0.5))


def test_slope_interval_covers_the_exponent():
    """Of 100 intervals at 95 %, fewer than 84 covering has probability below 1e-5."""
    random = np.random.default_rng(3)
    lengths = np.array([100, 200, 400, 800, 1600])
    covered = 0
    for _ in range(100):
        samples = [T**-0.25 * random.lognormal(0, 0.3, size=20) for T in lengths]
        _, low, high = statistics.loglog_slope(lengths, samples, resamples=500)
        covered += low <= -0.25 <= high
    assert 84 <= covered


def test_mean_that_is_not_positive_has_no_slope():
    slope, low, high = statistics.loglog_slope([1, 2], [[1.0, 1.0], [-1.0, 1.0]])
    assert np.isnan([slope, low, high]).all()


def test_difference_interval_is_welchs():
    random = np.random.default_rng(5)
    first, second = random.normal(1, 1, 9), random.normal(0, 3, 14)
    expected = stats.ttest_ind(first, second, equal_var=False).confidence_interval(0.9)
    difference, low, high = statistics.difference_interval(first, second, 0.9)
    assert difference == pytest.approx(first.mean() - second.mean())
    assert (low, high) == pytest.approx((expected.low, expected.high))
    assert np.isnan(statistics.difference_interval([1.0], second)[1:]).all()
    assert statistics.difference_interval([2.0, 2.0], [1.0, 1.0]) == (1, 1, 1)


@pytest.mark.parametrize(("floor", "power"), [(0.0, -0.5), (0.02, -0.5), (0.3, -1.0), (0.05, -0.3)])
def test_power_with_floor_finds_both(floor, power):
    x = np.geomspace(1, 1000, 7)
    samples = [[value, value] for value in floor + x**power]
    (found, *ends), (slope, *_) = statistics.power_with_floor(x, samples)
    assert slope == pytest.approx(power, abs=1e-6)
    assert found == pytest.approx(floor, abs=1e-6)
    assert ends == pytest.approx([floor, floor], abs=1e-6)


def test_fitted_power_tends_to_be_too_low_where_there_is_no_floor():
    random = np.random.default_rng(6)
    lengths = 1000 * 2.0 ** np.arange(6)
    curves = lengths**-0.5 * random.lognormal(0, 0.05, size=(200, 6))
    fits = [statistics.power_with_floor(lengths, curve[:, None]) for curve in curves]
    powers = np.array([power for _, (power, *_) in fits])
    assert powers.mean() < -0.5 - 4.5 * powers.std() / np.sqrt(200)


def test_floor_bends_a_plain_slope_but_not_the_fitted_power():
    x = np.geomspace(1, 1000, 7)
    means = 0.1 + x**-0.5
    plain = statistics.loglog_slope(x, [[mean] for mean in means])[0]
    assert plain > -0.35
    random = np.random.default_rng(1)
    samples = [random.normal(mean, 0.05 * mean, 20) for mean in means]
    (floor, *floors), (power, low, high) = statistics.power_with_floor(x, samples)
    assert low < -0.5 < high
    assert floors[0] < 0.1 < floors[1]
    assert power == pytest.approx(-0.5, abs=0.05)
    assert floor == pytest.approx(0.1, abs=0.02)


def test_power_with_floor_needs_positive_means_and_four_positions():
    assert np.isnan(statistics.power_with_floor([1, 2, 3], [[1.0]] * 3)).all()
    assert np.isnan(statistics.power_with_floor([1, 2, 3, 4], [[1.0]] * 3 + [[-1.0]])).all()
    floor, power = statistics.power_with_floor([1, 2, 4, 8], [[1.0], [0.5], [0.25], [0.125]])
    assert power[0] == pytest.approx(-1)
    assert np.isnan(power[1:]).all()
    assert floor[0] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("low", [-2.0, 0.5])
def test_slopes_and_floors_have_no_interval_where_a_resample_has_no_fit(low):
    """An interval of the other resamples alone would be too narrow, however few are missing."""
    x, samples = [1, 2, 4, 8], [[9.0] * 6, [5.0] * 6, [3.0] * 6, [low, *[2.0] * 5]]
    drawn = statistics._resampled_means([np.array(group) for group in samples], 500)
    failed = (drawn <= 0).any(1).mean()
    assert (0 < failed < 0.1) == (low == -2)
    rows = statistics.loglog_slope(x, samples), *statistics.power_with_floor(x, samples)
    for estimate, *ends in rows:
        assert np.isfinite(estimate)
        assert np.isnan(ends).all() == (low == -2)


def test_rising_means_are_all_floor():
    (floor, *_), _ = statistics.power_with_floor([1, 2, 4, 8], [[1.0], [1.1], [1.2], [1.3]])
    assert floor == pytest.approx(1.13, abs=0.05)


def test_errors_of_the_fit_are_relative():
    """Small means far out count as much as large ones at the start."""
    x = np.geomspace(1, 1000, 7)
    means = x**-1.0 * np.array([1.1, 0.9, 1.1, 0.9, 1.1, 0.9, 1.1])
    _, (power, *_) = statistics.power_with_floor(x, [[mean] for mean in means])
    assert power == pytest.approx(-1, abs=0.05)
