"""Normal numbers from random words; the words themselves are tested with every run."""

import math

import numpy as np
import pytest
from scipy import stats

from pgpd_hf.streams import draw_normals, word_stream
from reference import AREA, EDGES, TAIL, normal, stream

AXES = {"purpose": "run", "algorithm": "zpgpd_hf", "evaluators": 64, "seed": 3}


def test_normal_numbers_are_those_of_the_slow_version():
    """All layers, above all the lowest one with the tail."""
    numbers, words = np.empty(1_000_000), stream(1_000_000, **AXES)
    draw_normals(word_stream(**AXES), numbers)
    some = np.flatnonzero((words % 256 == 0) | (np.arange(len(words)) < 30_000))
    expected = np.array([normal(word) for word in words[some]])
    np.testing.assert_allclose(numbers[some], expected, rtol=1e-12)
    assert (np.abs(expected) > TAIL).sum() > 200


def test_layers_have_the_same_area():
    """The lowest layer with the tail, and the highest one, which ends at the top."""
    density, top = math.exp(-(TAIL**2) / 2), EDGES[-2]
    tail = stats.norm.sf(TAIL) * math.sqrt(math.tau)
    assert TAIL * density + tail == pytest.approx(AREA, rel=1e-9)
    assert top * (1 - math.exp(-(top**2) / 2)) == pytest.approx(AREA, rel=1e-6)
