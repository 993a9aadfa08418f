"""Checks of arrays. An error is one line: the argument, what is allowed, what was given, where."""

import numpy as np

from pgpd_hf.arguments import shown

_NEAR = 1e-6  # of the scale, or of a sum: what rounding to single precision may change
_EXACT = 1e-9  # rows whose sum is this close to 1 are not divided by it


def require_array(name, value, shape, finite=True):
    """Array of (finite) numbers as float64; None in the shape is any length, ... any axes."""
    try:
        array = np.asarray(value)
        # Text and times can be read as numbers, and NumPy would drop a mask.
        if array.dtype.kind in "cSUmM" or value is None or np.ma.isMaskedArray(value):
            raise TypeError
        array = np.asarray(array, dtype=np.float64, order="C")
    except (TypeError, ValueError, OverflowError, RuntimeError):  # RuntimeError: PyTorch
        raise ValueError(f"{name}: an array of numbers expected, got {shown(value)}") from None
    lengths = shape[1:] if shape[0] is ... else shape
    found = array.shape[array.ndim - len(lengths) :] if shape[0] is ... else array.shape
    if len(found) != len(lengths) or any(
        length not in (None, size) for length, size in zip(lengths, found, strict=True)
    ):
        allowed = str(shape).replace("Ellipsis", "...").replace("None", "any")
        raise ValueError(f"{name}: shape {allowed} expected, got {array.shape}")
    if finite:
        refuse(name, ~np.isfinite(array), array, "a finite number")
    return array


def refuse(name, wrong, array, allowed):
    """Refuse an array some of whose entries are wrong, and tell the first of them."""
    if wrong.any():
        index = tuple(int(i) for i in np.argwhere(wrong)[0])
        place = f" at {index}" if index else ""
        raise ValueError(f"{name}: {allowed} expected, got {array[index]}{place}")


def require_signal(name, value, shape, scale):
    """Rewards or utilities in [0, scale]; what rounding has put beyond an end is put there."""
    array = require_array(name, value, shape)
    outside = (array < -_NEAR * scale) | (array > (1 + _NEAR) * scale)
    refuse(name, outside, array, f"numbers in [0, {scale:g}]")
    return np.clip(array, 0.0, scale)


def require_probabilities(name, value, shape):
    """Distributions along the last axis; rows of low precision are divided by their sum."""
    array = require_array(name, value, shape)
    refuse(name, array < -_NEAR, array, "probabilities")
    array = np.where(array < 0, 0.0, array)
    sums = array.sum(axis=-1)
    distance = abs(sums - 1)
    refuse(name, distance > _NEAR, sums, "probabilities that sum to 1")
    return np.divide(array, sums[..., None], out=array, where=distance[..., None] > _EXACT)


def sizes(transition):
    """|S| and |A| of transitions (S, A, S)."""
    states, actions, following = transition.shape
    if states == 0 or actions == 0 or following != states:
        raise ValueError(f"transition: shape (S, A, S) expected, got {transition.shape}")
    return states, actions


def frozen(value):
    """Copy of an array that nobody can change."""
    array = np.array(value, order="C")
    array.flags.writeable = False
    return array
