"""Normal numbers from random words; the words themselves are tested with every run."""

import numpy as np
from chance import LEVEL
from scipy import stats

from pgpd_hf.streams import draw_normals, word_stream
from reference import EDGES, normal, stream

AXES = {"purpose": "run", "algorithm": "zpgpd_hf", "evaluators": 64, "seed": 3}


def test_normal_numbers_are_those_of_the_slow_version():
    """Many enough for every layer, hundreds of rejections, and the tail."""
    numbers = np.empty((100, 400))
    draw_normals(word_stream(**AXES), numbers)
    words = stream(40_000, **AXES)
    expected = np.array([normal(word) for word in words])
    np.testing.assert_allclose(numbers.ravel(), expected, rtol=1e-12)
    assert (np.abs(expected) > EDGES[1]).sum() > 3


def test_normal_numbers_have_their_law():
    """Also sums of squares, whose law uniform directions need."""
    numbers = np.empty(1_000_000)
    draw_normals(word_stream(test="law"), numbers)
    cells = np.bincount((stats.norm.cdf(numbers) * 5000).astype(int), minlength=5000)
    assert stats.chisquare(cells).pvalue > LEVEL
    squares = (numbers.reshape(-1, 40) ** 2).sum(1)
    assert stats.kstest(squares, stats.chi2(40).cdf).pvalue > LEVEL
