"""Random streams, identified by names instead of numbers.

A stream is identified by named axes such as ``purpose="run", algorithm="npgpd_hf",
evaluators=64, seed=3``, and seeded with a digest of their names and values. A seed's random numbers
are therefore independent of the other seeds and of the block, thread or order of computation.
"""

import hashlib
import json

import numpy as np
from numpy.random import SFC64, SeedSequence

from pgpd_hf.core.compilation import njit


def bit_generator(**axes):
    """Make the generator of the stream with the given axes.

    Parameters
    ----------
    **axes : str, int or None
        Names and values that identify the stream.

    Returns
    -------
    numpy.random.SFC64
        At the beginning of the stream; the fastest of NumPy's generators.

    Examples
    --------
    >>> from pgpd_hf.core.streams import bit_generator
    >>> bit_generator(purpose="run", seed=3).random_raw() % 1000
    959
    """
    name = json.dumps(axes, sort_keys=True, default=int)  # `default` is for NumPy's integers
    entropy = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big")
    return SFC64(SeedSequence(entropy))


def word_state(**axes):
    """Make the state with which :func:`draw_words` begins the stream with the given axes.

    Parameters
    ----------
    **axes : str, int or None
        Names and values that identify the stream.

    Returns
    -------
    ndarray, uint64, shape (4,)
    """
    return bit_generator(**axes).state["state"]["state"]


@njit
def draw_words(state, words):
    """Draw the next words of a stream into an array.

    These are the numbers that NumPy's ``random_raw`` returns, which allocates a new array at each
    call (measured, ns per word: 1.4 instead of 1.7 to 2.8).

    Parameters
    ----------
    state : ndarray, uint64, shape (4,)
        Made by :func:`word_state`; advanced in place.
    words : ndarray, uint64, shape (iterations, width)
        Overwritten.
    """
    a, b, c, counter = state
    for t in range(words.shape[0]):
        for i in range(words.shape[1]):
            word = a + b + counter
            counter += np.uint64(1)
            a = b ^ (b >> np.uint64(11))
            b = c + (c << np.uint64(3))
            c = ((c << np.uint64(24)) | (c >> np.uint64(40))) + word
            words[t, i] = word
    state[0], state[1], state[2], state[3] = a, b, c, counter
