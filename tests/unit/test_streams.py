"""Streams: named by their axes, and by nothing else."""

import itertools

import numpy as np
import pytest
from chance import assert_mean, assert_uncorrelated

from pgpd_hf.core.streams import bit_generator, draw_words, word_state

AXES = {"purpose": "run", "algorithm": "npgpd_hf", "evaluators": 64, "seed": 3}


def words(count=4, **axes):
    return bit_generator(**axes).random_raw(count).tolist()


def test_same_name_same_stream():
    assert words(**AXES) == words(**AXES)
    assert words(**dict(reversed(AXES.items()))) == words(**AXES)
    assert words(**{**AXES, "seed": np.int64(3), "evaluators": np.uint8(64)}) == words(**AXES)


@pytest.mark.parametrize(
    "change",
    [
        {"purpose": "calibration"},
        {"algorithm": "zpgpd_hf"},
        {"evaluators": 65},
        {"evaluators": None},
        {"evaluators": "64"},
        {"evaluators": 6, "seed": 43},
        {"seed": 4},
        {"seed": "3"},
        {"kind": "words"},
    ],
)
def test_any_other_name_is_another_stream(change):
    assert not set(words(**{**AXES, **change})) & set(words(**AXES))


def test_names_of_axes_count():
    assert words(a=1, b=2) != words(a=2, b=1)
    assert words(a="None") != words(a=None)
    assert words(a='1, "b": 2') != words(a=1, b=2)


def test_no_two_streams_of_a_study_begin_alike():
    purposes, algorithms = ("run", "calibration"), ("npgpd_hf", "zpgpd_hf")
    axes = itertools.product(purposes, algorithms, (16, 64, 256, None), range(200))
    firsts = [words(1, purpose=p, algorithm=a, evaluators=m, seed=s)[0] for p, a, m, s in axes]
    assert len(set(firsts)) == len(firsts) == 3200


def test_neighbouring_streams_are_uniform_and_uncorrelated():
    streams = [words(20_000, **{**AXES, "seed": seed}) for seed in range(8)]
    uniform = np.array(streams, dtype=float).T / 2**64
    assert_mean(uniform, 0.5, np.sqrt(1 / 12))
    assert_uncorrelated(uniform)


@pytest.mark.parametrize("shapes", [[(1, 1)], [(3, 7)], [(2, 5), (0, 5), (4, 5), (1, 900)]])
def test_words_are_those_of_numpy_however_they_are_drawn(shapes):
    state = word_state(**AXES)
    drawn = [np.empty(shape, np.uint64) for shape in shapes]
    for array in drawn:
        draw_words(state, array)
    expected = bit_generator(**AXES).random_raw(sum(array.size for array in drawn))
    assert np.concatenate([array.ravel() for array in drawn]).tolist() == expected.tolist()
