r"""Standard normal numbers by the ziggurat method (Marsaglia and Tsang 2000; Doornik 2005).

The area under :math:`f(x) = e^{-x^2/2}`, :math:`x \ge 0`, is covered by 256 horizontal layers of
equal area V. Layer i reaches from 0 to :math:`x_i` and from :math:`f(x_i)` up to
:math:`f(x_{i+1})`; the lowest one, of width :math:`x_0 = V / f(x_1)`, stands for a rectangle and
the tail beyond :math:`x_1`. A point that is uniform in a layer lies left of :math:`x_{i+1}`, and so
below the curve, 99 times in 100. This takes one random word and a multiplication (measured: less
than half the time that NumPy's generator takes, which is called for every word).
"""

import numpy as np

from pgpd_hf.core.compilation import njit
from pgpd_hf.core.streams import derived_word, draw_words

LAYERS = 256
_TAIL = 3.6541528853610088  # x_1: with it, the curve's top is that of the uppermost layer
_AREA = 0.00492867323399  # V


def _edges():
    """Make x_0 > x_1 > ... > x_LAYERS = 0."""
    edges = np.zeros(LAYERS + 1)
    edges[:2] = _AREA / np.exp(-(_TAIL**2) / 2), _TAIL
    for i in range(1, LAYERS - 1):
        edges[i + 1] = np.sqrt(-2 * np.log(np.exp(-(edges[i] ** 2) / 2) + _AREA / edges[i]))
    return edges


EDGES = _edges()
_HEIGHTS = np.exp(-(EDGES**2) / 2)


@njit
def draw_normals(stream, normals):
    """Draw standard normal numbers into an array.

    Parameters
    ----------
    stream : WordStream
        Where random words come from, one for each number; advanced in place.
    normals : ndarray, float64, any shape
        Overwritten.

    Examples
    --------
    >>> import numpy as np
    >>> from pgpd_hf.core.streams import word_stream
    >>> numbers = np.empty(100_000)
    >>> draw_normals(word_stream(purpose="example"), numbers)
    >>> abs(numbers.mean()).round(2).item(), numbers.std().round(2).item()
    (0.0, 1.0)
    """
    normals = normals.reshape(-1)
    words = np.empty(len(normals), np.uint64)
    draw_words(stream, words)
    for k in range(len(normals)):
        normals[k] = normal(words[k])


@njit(forceinline=True)
def normal(word):
    """Make a standard normal number from a random word.

    Parameters
    ----------
    word : uint64
        Random bits; where they are not enough, further ones are derived from them.

    Returns
    -------
    float
    """
    layer = word & np.uint64(LAYERS - 1)
    x = _uniform(word) * EDGES[layer]
    return x if abs(x) < EDGES[layer + np.uint64(1)] else _beyond_edge(word, layer, x)


@njit
def _beyond_edge(word, layer, x):
    """Keep a point to the right of the edge if it is below the curve, or draw new ones."""
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
    return np.copysign(_tail(word, index), x)


@njit
def _uniform(word):
    """Uniform number in [-1, 1) from the upper 54 bits of a word."""
    return np.float64(np.int64(word) >> np.int64(10)) * 2.0**-53


@njit
def _tail(word, index):
    """Number beyond x_1 with the tail's law (Marsaglia 1964), from words that follow `index`."""
    while True:
        index += np.uint64(2)
        beyond = -np.log1p(-abs(_uniform(derived_word(word, index - np.uint64(1))))) / _TAIL
        if -2 * np.log1p(-abs(_uniform(derived_word(word, index)))) > beyond * beyond:
            return _TAIL + beyond
