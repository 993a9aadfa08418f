"""Random streams, identified by names instead of numbers.

A stream is identified by named axes such as ``purpose="run", algorithm="npgpd_hf",
evaluators=64, seed=3``, and seeded with a digest of their names and values. A seed's random numbers
are therefore independent of the other seeds and of the block, thread or order of computation.

Kernels read words of 64 random bits. They come from SFC64 (Doty-Humphrey 2010), the fastest of
NumPy's generators, in :data:`LANES` independent copies whose words alternate, since a
processor can work on several copies at once (measured, ns per word: 0.5 instead of 1.7). Where the
number of words that is needed is itself random, further ones are derived from a word of the stream
by SplitMix64 (Steele, Lea and Flood 2014), so that every iteration reads the same number of words.
"""

import hashlib
import json
from typing import NamedTuple

import numpy as np
from numpy.random import SFC64, SeedSequence

from pgpd_hf.core.compilation import njit

LANES = 32
_WARM_UP = 12  # rows that are discarded, as in NumPy's SFC64: they still resemble the seed
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST_FACTOR, _SECOND_FACTOR = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)


class WordStream(NamedTuple):
    """Where a stream of words stands; its arrays are changed by :func:`draw_words`.

    Attributes
    ----------
    lanes : ndarray, uint64, shape (3, LANES)
        State of the copies of SFC64, except their counter.
    row : ndarray, uint64, shape (1, LANES)
        The words that were drawn last, one by each copy.
    position : ndarray, int64, shape (2,)
        The counter that all copies share, and how many words of the row have been used.
    """

    lanes: np.ndarray
    row: np.ndarray
    position: np.ndarray


def _seed_sequence(axes):
    name = json.dumps(axes, sort_keys=True, default=int)  # `default` is for NumPy's integers
    return SeedSequence(int.from_bytes(hashlib.sha256(name.encode()).digest(), "big"))


def bit_generator(**axes):
    """Make a NumPy generator at the beginning of the stream with the given axes.

    Parameters
    ----------
    **axes : str, int or None
        Names and values that identify the stream.

    Returns
    -------
    numpy.random.SFC64

    Examples
    --------
    >>> from pgpd_hf.core.streams import bit_generator
    >>> bit_generator(purpose="run", seed=3).random_raw() % 1000
    959
    """
    return SFC64(_seed_sequence(axes))


def word_stream(**axes):
    """Make the stream of words with the given axes, for :func:`draw_words`.

    Parameters
    ----------
    **axes : str, int or None
        Names and values that identify the stream.

    Returns
    -------
    WordStream

    Examples
    --------
    >>> import numpy as np
    >>> from pgpd_hf.core.streams import draw_words, word_stream
    >>> words = np.empty(3, np.uint64)
    >>> draw_words(word_stream(purpose="run", seed=3), words)
    >>> (words % 1000).tolist()
    [914, 471, 400]
    """
    lanes = _seed_sequence(axes).generate_state(3 * LANES, np.uint64).reshape(3, LANES)
    stream = WordStream(lanes, np.empty((1, LANES), np.uint64), np.array([1, LANES]))
    draw_words(stream, np.empty((_WARM_UP, LANES), np.uint64))
    return stream


@njit
def draw_words(stream, words):
    """Draw the next words of a stream into an array.

    Parameters
    ----------
    stream : WordStream
        Made by :func:`word_stream`; advanced in place.
    words : ndarray, uint64, any shape
        Overwritten.
    """
    lanes, row, position = stream
    words = words.reshape(-1)
    used = position[1]
    rest = min(LANES - used, len(words))  # words of the last row that nobody has had
    rows = (len(words) - rest) // LANES
    whole = rest + rows * LANES
    for k in range(rest):
        words[k] = row[0, used + k]
    _draw_rows(lanes, position, words[rest:whole].reshape(rows, LANES))
    position[1] += rest
    if whole < len(words):
        _draw_rows(lanes, position, row)
        position[1] = len(words) - whole
        for k in range(position[1]):
            words[whole + k] = row[0, k]


@njit
def _draw_rows(lanes, position, rows):
    """Draw a word from each copy of SFC64, row by row."""
    # The width comes from the array: loops of known length are unrolled instead of vectorized.
    count, width = rows.shape
    for i in range(count):
        counter = np.uint64(position[0] + i)
        for k in range(width):
            b, c = lanes[1, k], lanes[2, k]
            word = lanes[0, k] + b + counter
            lanes[0, k] = b ^ (b >> np.uint64(11))
            lanes[1, k] = c + (c << np.uint64(3))
            lanes[2, k] = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
            rows[i, k] = word
    position[0] += count


@njit
def derived_word(word, index):
    """Derive a further random word from a word of a stream: number `index` of SplitMix64.

    Parameters
    ----------
    word : uint64
        Random bits, which the generator is seeded with.
    index : uint64
        Counted from 1.

    Returns
    -------
    uint64
    """
    word += index * _GOLDEN
    word = (word ^ (word >> np.uint64(30))) * _FIRST_FACTOR
    word = (word ^ (word >> np.uint64(27))) * _SECOND_FACTOR
    return word ^ (word >> np.uint64(31))
