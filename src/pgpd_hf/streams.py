"""Random streams that are named, not numbered.

A stream belongs to a set of named axes such as ``purpose="run", algorithm="npgpd_hf",
evaluators=64, seed=3``. Its entropy is a digest of exactly these, so a seed's numbers depend
neither on the other seeds, nor on the block, thread or order in which it is computed.
"""

import hashlib
import json

from numpy.random import SFC64, SeedSequence


def bit_generator(**axes):
    """Start the stream of the given axes.

    Parameters
    ----------
    **axes : str, int or None
        Names and values that identify the stream.

    Returns
    -------
    numpy.random.SFC64
        The fastest of NumPy's generators (measured: 1.7 ns for 64 bits).
    """
    name = json.dumps(axes, sort_keys=True, default=int)  # NumPy's integers are integers, too
    entropy = int.from_bytes(hashlib.sha256(name.encode()).digest(), "big")
    return SFC64(SeedSequence(entropy))
