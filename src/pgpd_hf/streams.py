r"""Random streams, named by what they are for.

A stream has named axes, such as ``purpose="run", algorithm="npgpd_hf", evaluators=64, seed=3``, and
is seeded with their digest, so that its numbers depend on nothing else.

Kernels read words of 64 random bits, from SFC64 (Doty-Humphrey 2010) in 32 copies side by side.
Each iteration reads the same number of words: where more are needed, they are derived from a word
of the stream by SplitMix64 (Steele, Lea and Flood 2014). Normal numbers are made by the ziggurat
method (Marsaglia and Tsang 2000), from a word each.
"""

import hashlib
import json
from dataclasses import dataclass

import numpy as np
from numpy.random import SFC64, Generator, SeedSequence

from pgpd_hf.compilation import njit

LANES = 32
_WARM_UP = 12  # rows that are discarded, as in NumPy's SFC64: they still resemble the seed
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


@dataclass
class WordStream:
    """Where a stream stands."""

    lanes: np.ndarray  # (3, 32): state of the copies of SFC64, except their counter
    counter: np.ndarray  # (1,)
    rest: np.ndarray  # words of the last row of 32 that nobody has had


def _seed_sequence(axes):
    name = json.dumps(axes, sort_keys=True, default=int)  # `default` is for NumPy's integers
    return SeedSequence(int.from_bytes(hashlib.sha256(name.encode()).digest(), "big"))


def generator(**axes):
    """NumPy's generator at the beginning of the stream with these axes."""
    return Generator(SFC64(_seed_sequence(axes)))


def word_stream(**axes):
    """Stream of words with these axes, for :func:`draw_words` and :func:`draw_normals`."""
    lanes = _seed_sequence(axes).generate_state(3 * LANES, np.uint64).reshape(3, LANES)
    stream = WordStream(lanes, np.ones(1, np.uint64), np.empty(0, np.uint64))
    draw_words(stream, np.empty((_WARM_UP, LANES), np.uint64))
    return stream


def draw_words(stream, words):
    """Write the next words of a stream into an array of uint64."""
    words = words.reshape(-1)
    first = min(len(stream.rest), len(words))
    words[:first], stream.rest = stream.rest[:first], stream.rest[first:]
    last = len(words) - (len(words) - first) % LANES
    _draw_rows(stream.lanes, stream.counter, words[first:last].reshape(-1, LANES))
    if last < len(words):
        row = np.empty((1, LANES), np.uint64)
        _draw_rows(stream.lanes, stream.counter, row)
        words[last:], stream.rest = np.split(row[0], [len(words) - last])


@njit
def _draw_rows(lanes, counter, rows):
    count, width = rows.shape  # the width is no constant: its loop becomes vectors
    for i in range(count):
        number = counter[0] + np.uint64(i)
        for k in range(width):
            b, c = lanes[1, k], lanes[2, k]
            word = lanes[0, k] + b + number
            lanes[0, k] = b ^ (b >> np.uint64(11))
            lanes[1, k] = c + (c << np.uint64(3))
            lanes[2, k] = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
            rows[i, k] = word
    counter[0] += np.uint64(count)


@njit
def derived_word(word, index):
    """Further word number `index` = 1, 2, ... from a word of a stream (SplitMix64)."""
    word += index * _GOLDEN
    word = (word ^ (word >> np.uint64(30))) * _FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * _SECOND_FACTOR
    return word ^ (word >> np.uint64(31))


LAYERS = 256
_TAIL, _AREA = 3.6541528853610088, 0.00492867323399  # where the tail begins, area of a layer


def _layer_edges():
    edges = np.zeros(LAYERS + 1)
    edges[:2] = _AREA / np.exp(-(_TAIL**2) / 2), _TAIL
    for i in range(1, LAYERS - 1):
        edges[i + 1] = np.sqrt(-2 * np.log(np.exp(-(edges[i] ** 2) / 2) + _AREA / edges[i]))
    return edges


EDGES = _layer_edges()
_HEIGHTS = np.exp(-(EDGES**2) / 2)


def draw_normals(stream, normals):
    """Write standard normal numbers into an array of float64, each from the next word."""
    words = np.empty(normals.size, np.uint64)
    draw_words(stream, words)
    _to_normals(words, normals.reshape(-1))


@njit
def _to_normals(words, normals):
    for k in range(len(normals)):  # without branches, so that it becomes vectors
        normals[k] = _uniform(words[k]) * EDGES[words[k] & np.uint64(LAYERS - 1)]
    for k in range(len(normals)):
        layer = words[k] & np.uint64(LAYERS - 1)
        if not abs(normals[k]) < EDGES[layer + np.uint64(1)]:
            normals[k] = _beyond_edge(words[k], layer, normals[k])


@njit
def _beyond_edge(word, layer, x):
    """Finish a number that is not surely below the density: wedge of a layer, or the tail."""
    index = np.uint64(0)
    while layer > 0:
        index += np.uint64(2)
        chance = abs(_uniform(derived_word(word, index - np.uint64(1))))
        height = _HEIGHTS[layer]
        height += chance * (_HEIGHTS[layer + np.uint64(1)] - height)
        if height < np.exp(-x * x / 2):
            return x
        point = derived_word(word, index)
        layer = point & np.uint64(LAYERS - 1)
        x = _uniform(point) * EDGES[layer]
        if abs(x) < EDGES[layer + np.uint64(1)]:
            return x
    while True:
        index += np.uint64(2)
        beyond = -np.log1p(-abs(_uniform(derived_word(word, index - np.uint64(1))))) / _TAIL
        if -2 * np.log1p(-abs(_uniform(derived_word(word, index)))) > beyond * beyond:
            return np.copysign(_TAIL + beyond, x)


@njit
def _uniform(word):
    """A number in [-1, 1) from the upper 54 bits of a word."""
    return np.float64(np.int64(word) >> np.int64(10)) * 2.0**-53
