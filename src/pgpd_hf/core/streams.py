"""Random streams that are named, not numbered.

A stream belongs to a set of named axes such as ``purpose="run", algorithm="npgpd_hf",
evaluators=64, seed=3``. Its entropy is a digest of exactly these, so a seed's numbers depend
neither on the other seeds, nor on the block, thread or order in which it is computed.
"""

import hashlib
import json

import numpy as np
from numpy.random import SFC64, SeedSequence

from pgpd_hf.core.compilation import njit


def bit_generator(**axes):
    """Start the stream of the given axes.

    Parameters
    ----------
    **axes : str, int or None
        Names and values that identify the stream.

    Returns
    -------
    numpy.random.SFC64
        The fastest of NumPy's generators.
    """
    name = json.dumps(axes, sort_keys=True, default=int)  # NumPy's integers are integers, too
    entropy = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big")
    return SFC64(SeedSequence(entropy))


def word_state(**axes):
    """State from which :func:`draw_words` starts the stream of the given axes.

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
    """Draw the next words of a stream, those of NumPy's ``random_raw``, into an array.

    NumPy makes a new array each time, whose pages the system has to find (measured, ns per word:
    1.4 instead of 1.7 to 2.8).

    Parameters
    ----------
    state : ndarray, uint64, shape (4,)
        From :func:`word_state`; moved on.
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
