"""Normal numbers from random words; the words themselves are tested with every run."""

import numpy as np
from chance import LEVEL
from scipy import stats

from pgpd_hf.streams import draw_normals, word_stream
from reference import EDGES, normal, stream

AXES = {"purpose": "run", "algorithm": "zpgpd_hf", "evaluators": 64, "seed": 3}


def test_normal_numbers_are_those_of_the_slow_version_and_have_their_law():
    """All layers, above all the one with the tail, and sums of squares, as directions need."""
    numbers, words = np.empty((1000, 1000)), stream(1_000_000, **AXES)
    draw_normals(word_stream(**AXES), numbers)
    numbers = numbers.ravel()
    some = np.flatnonzero((words % 256 == 0) | (np.arange(len(words)) < 30_000))
    expected = np.array([normal(word) for word in words[some]])
    np.testing.assert_allclose(numbers[some], expected, rtol=1e-12)
    assert (np.abs(expected) > EDGES[1]).sum() > 200
    cells = np.bincount((stats.norm.cdf(numbers) * 5000).astype(int), minlength=5000)
    assert stats.chisquare(cells).pvalue > LEVEL
    squares = (numbers.reshape(-1, 40) ** 2).sum(1)
    assert stats.kstest(squares, stats.chi2(40).cdf).pvalue > LEVEL
