"""Statistical assertions with one declared error rate for the whole suite.

All seeds are fixed, so a test that passes always passes; the error rate is the probability that a
correct program had failed under seeds chosen blindly. With fewer than `COMPARISONS` comparisons,
each at level `LEVEL`, it is below `ALPHA` by the union bound.
"""

import numpy as np
from scipy import stats

ALPHA = 1e-6
COMPARISONS = 1000
LEVEL = ALPHA / COMPARISONS
Z = stats.norm.isf(LEVEL / 2)  # 6.1


def assert_mean(samples, expected, standard_deviation=None):
    """Compare means along the first axis with what they should be.

    With a known standard deviation of one sample the test is a z-test, else a t-test.
    """
    samples = np.asarray(samples)
    count = len(samples)
    if standard_deviation is None:
        standard_deviation = samples.std(axis=0, ddof=1)
        quantile = stats.t.isf(LEVEL / 2, count - 1)
    else:
        quantile = Z
    deviation = np.abs(samples.mean(axis=0) - expected)
    allowed = quantile * np.asarray(standard_deviation) / np.sqrt(count) + 1e-12
    assert np.all(deviation <= allowed), f"{deviation} exceeds {allowed}"


def assert_uncorrelated(samples):
    """Compare the correlations of the columns with zero; Fisher's transform makes them normal."""
    samples = np.asarray(samples)
    count, columns = samples.shape
    correlations = np.corrcoef(samples.T)[np.triu_indices(columns, 1)]
    scores = np.arctanh(correlations) * np.sqrt(count - 3)
    assert np.abs(scores).max() <= Z, f"correlations {correlations}"


def assert_distributed(samples, distribution):
    """Compare a sample with a continuous distribution (Kolmogorov and Smirnov)."""
    assert stats.kstest(samples, distribution).pvalue > LEVEL
