"""Streams: named by their axes, and by nothing else."""

import itertools

import numpy as np
import pytest
from chance import assert_mean, assert_uncorrelated

from pgpd_hf.core import streams
from pgpd_hf.core.streams import LANES, bit_generator, derived_word, draw_words, word_stream

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


def drawn(*sizes, **axes):
    stream, parts = word_stream(**axes), []
    for size in sizes:
        parts.append(np.empty(size, np.uint64))
        draw_words(stream, parts[-1])
    return np.concatenate([part.ravel() for part in parts])


def test_each_lane_is_numpy_s_generator():
    """From the same three seeds, without the twelve words that NumPy leaves out, too."""
    found = drawn(50 * LANES, **AXES).reshape(50, LANES)
    seeds = streams._seed_sequence(AXES).generate_state(3 * LANES, np.uint64).reshape(3, LANES)
    for lane in range(LANES):
        bits = np.random.SFC64()
        state = np.array([*seeds[:, lane], 1], np.uint64)
        bits.state = {**bits.state, "state": {"state": state}}
        assert bits.random_raw(62)[12:].tolist() == found[:, lane].tolist()


@pytest.mark.parametrize(
    "sizes", [[1] * 100, [31, 1, 32, 33, 3], [(2, 5), 0, (4, 5), 63, 7], [100]]
)
def test_words_are_the_same_however_they_are_drawn(sizes):
    assert drawn(*sizes, **AXES).tolist() == drawn(100, **AXES).tolist()


def test_lanes_are_uniform_and_uncorrelated():
    """Beside each other, and each word and the one after it."""
    uniform = drawn(20_000 * LANES, **AXES).astype(float).reshape(-1, LANES) / 2**64
    assert_mean(uniform, 0.5, np.sqrt(1 / 12))
    assert_uncorrelated(np.hstack([uniform[:-1, :8], uniform[1:, :8]]))


def test_derived_words_are_those_of_splitmix():
    """Published outputs for the seed 1234567."""
    found = [int(derived_word(np.uint64(1234567), np.uint64(k))) for k in range(1, 6)]
    assert found == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
