"""Statistical assertions with one declared error rate for all tests together.

Seeds are fixed, so a test that passes always passes. That a correct program had failed under seeds
chosen blindly has a probability below 1e-6: a thousand comparisons, each at the level `LEVEL`.
"""

import numpy as np
from scipy import stats

LEVEL = 1e-6 / 1000


def assert_mean(samples, expected):
    """Compare means along the first axis with what they should be, by t-tests."""
    samples = np.asarray(samples)
    quantile = stats.t.isf(LEVEL / 2, len(samples) - 1)
    allowed = quantile * samples.std(axis=0, ddof=1) / np.sqrt(len(samples)) + 1e-12
    deviation = np.abs(samples.mean(axis=0) - expected)
    assert np.all(deviation <= allowed), f"{deviation} exceeds {allowed}"
