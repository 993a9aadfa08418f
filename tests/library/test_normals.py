"""Normal numbers: the ziggurat's geometry, what a word decides, and the law."""

import math

import numpy as np
import pytest
from chance import LEVEL, assert_distributed, assert_mean
from reference import random_words, splitmix
from scipy import stats

from pgpd_hf.core.normals import EDGES, LAYERS, draw_normals, normal
from pgpd_hf.core.streams import draw_words, word_stream

HEIGHTS = np.exp(-(EDGES**2) / 2)


def uniform(word):
    """In [-1, 1), from the upper 54 bits, read as a signed number."""
    signed = int(word) - 2**64 * (int(word) >= 2**63)
    return (signed >> 10) / 2**53


def slow_normal(word):
    """Step by step as the method is described; further words are SplitMix64's."""
    further = (splitmix(word, index) for index in range(1, 1000))
    point = int(word)
    while True:
        layer = point % LAYERS
        x = uniform(point) * EDGES[layer]
        if abs(x) < EDGES[layer + 1]:
            return x
        if layer == 0:
            while True:
                beyond = -math.log(1 - abs(uniform(next(further)))) / EDGES[1]
                if -2 * math.log(1 - abs(uniform(next(further)))) > beyond**2:
                    return math.copysign(EDGES[1] + beyond, x)
        share = abs(uniform(next(further)))
        if HEIGHTS[layer] + share * (HEIGHTS[layer + 1] - HEIGHTS[layer]) < math.exp(-x * x / 2):
            return x
        point = next(further)


def test_layers_have_equal_areas_and_cover_the_curve():
    boxes = EDGES[1:-1] * np.diff(HEIGHTS[1:])
    lowest = EDGES[1] * HEIGHTS[1] + math.sqrt(2 * math.pi) * stats.norm.sf(EDGES[1])
    np.testing.assert_allclose(boxes, lowest, rtol=2e-9)
    assert EDGES[0] * HEIGHTS[1] == pytest.approx(lowest, rel=1e-11)
    assert (np.diff(EDGES) < 0).all()
    assert (EDGES[-1], HEIGHTS[-1], len(EDGES)) == (0, 1, LAYERS + 1)


def test_numbers_are_those_of_the_slow_version():
    words = random_words(1, 20_000)
    words[:2000] &= ~np.uint64(LAYERS - 1)  # the lowest layer, with the tail
    words[2000:4000] |= np.uint64(LAYERS - 1)  # the uppermost one, where rejections are most common
    expected = [slow_normal(word) for word in words]
    np.testing.assert_allclose([normal(word) for word in words], expected, rtol=1e-14)
    refused = [abs(x) >= EDGES[int(w) % LAYERS + 1] for x, w in zip(expected, words, strict=True)]
    assert sum(refused) > 200


def test_a_number_is_made_of_each_word():
    numbers, words = np.empty((3, 50)), np.empty(150, np.uint64)
    draw_normals(word_stream(test="normals"), numbers)
    draw_words(word_stream(test="normals"), words)
    assert numbers.ravel().tolist() == [normal(word) for word in words]


@pytest.fixture(scope="module")
def sample():
    numbers = np.empty(2_000_000)
    draw_normals(word_stream(test="law"), numbers)
    return numbers


def test_law(sample):
    assert_distributed(sample, stats.norm.cdf)
    cells = np.bincount((stats.norm.cdf(sample) * 5000).astype(int), minlength=5000)
    assert stats.chisquare(cells).pvalue > LEVEL
    assert_mean(np.stack([sample, sample**3, np.sign(sample)], axis=1), 0)
    assert_mean(np.stack([sample**2, sample**4 / 3, sample**6 / 15], axis=1), 1)


def test_tails(sample):
    beyond = np.abs(sample[np.abs(sample) > EDGES[1]])
    assert stats.binomtest(len(beyond), len(sample), 2 * stats.norm.sf(EDGES[1])).pvalue > LEVEL
    assert_distributed(beyond, lambda x: 1 - stats.norm.sf(x) / stats.norm.sf(EDGES[1]))


def test_neighbours_are_independent(sample):
    """Squares, too: their sums have the chi-square law that uniform directions need."""
    pairs = sample.reshape(-1, 2)
    assert_mean(pairs.prod(1), 0, 1)
    assert_mean(((pairs**2) - 1).prod(1), 0, 2)
    assert_distributed((sample.reshape(-1, 40) ** 2).sum(1), stats.chi2(40).cdf)
