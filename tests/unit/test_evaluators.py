"""Simulated evaluators: numbers of votes have the binomial law, exactly."""

import math

import numba
import numpy as np
import pytest
from reference import DISTRIBUTIONS, answer, random_words, votes
from scipy import special, stats

from pgpd_hf.core.evaluators import ask, count_votes, feedback_bias_bound, make_evaluators
from pgpd_hf.core.links import LINKS

SIZES = [1, 2, 3, 16, 64, 257, 10_000]
CHANCES = [1e-300, 1e-12, 1e-3, 0.1, 1 / 3, 0.5, 0.77, 0.999, 1 - 1e-12, 1 - 2**-53]
GRID = 2**14


def table_of(size, link="logistic", bound=2.0):
    return make_evaluators(size, LINKS[link], bound)


def even_words(count=GRID):
    """Middles of equal intervals of all words."""
    step = 2**64 // count
    return np.arange(count, dtype=np.uint64) * np.uint64(step) + np.uint64(step // 2)


@numba.njit
def all_counts(evaluators, chance, words):
    counts = np.empty(len(words), np.int64)
    for k in range(len(words)):
        counts[k] = count_votes(evaluators, chance, words[k])
    return counts


@numba.njit
def all_answers(evaluators, difference, words):
    answers = np.empty(len(words))
    for k in range(len(words)):
        answers[k] = ask(evaluators, difference, words[k])
    return answers


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chance", CHANCES)
def test_every_number_of_votes_has_its_binomial_share_of_the_words(size, chance):
    """An outcome's words are one interval, so a regular grid meets it to within one point."""
    counts = all_counts(table_of(size), chance, even_words())
    assert counts.min() >= 0
    assert counts.max() <= size
    found = np.bincount(counts, minlength=size + 1)
    expected = GRID * stats.binom.pmf(np.arange(size + 1), size, chance)
    assert np.abs(found - expected).max() <= 1 + 1e-6


@pytest.mark.parametrize("size", SIZES)
def test_certain_votes(size):
    evaluators = table_of(size)
    ends = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    for chance, expected in [(0.0, 0), (-0.0, 0), (1.0, size), (1 + 1e-16, size), (5e-324, 0)]:
        assert (all_counts(evaluators, chance, ends) == expected).all()


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chance", CHANCES)
def test_first_and_last_words(size, chance):
    """The first word gives the mode; the last one, which rounding may leave over, is legal."""
    first, last = all_counts(table_of(size), chance, np.array([0, 2**64 - 1], np.uint64))
    assert first == math.floor((size + 1) * chance)
    assert 0 <= last <= size


@pytest.mark.parametrize("size", [1, 2, 16, 100])
def test_votes_are_those_of_the_slow_version(size):
    evaluators = table_of(size)
    random = np.random.default_rng(size)
    for word in random_words(size, 100):
        chance = random.random()
        assert count_votes(evaluators, chance, word) == votes(size, chance, word)


def test_votes_grow_with_the_chance_on_average():
    """And are a fair picture of it: the mean over all words is M p."""
    evaluators = table_of(100)
    for chance in np.linspace(0.01, 0.99, 25):
        mean = all_counts(evaluators, chance, even_words()).mean()
        assert mean == pytest.approx(100 * chance, abs=0.1)


@pytest.mark.parametrize("size", SIZES)
def test_logarithms_of_binomial_coefficients(size):
    k = np.arange(size + 1)
    expected = special.gammaln(size + 1) - special.gammaln(k + 1) - special.gammaln(size - k + 1)
    result = table_of(size).log_choose
    rounding = 3 * np.finfo(float).eps * special.gammaln(size + 2)  # of three logarithms
    np.testing.assert_allclose(result, expected, atol=2 * rounding)
    for votes_cast in {0, size // 3, size // 2, size}:
        exact = math.log(math.comb(size, votes_cast))
        assert result[votes_cast] == pytest.approx(exact, rel=0, abs=rounding)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("bound", [0.5, 2.0])
@pytest.mark.parametrize("size", [1, 2, 16, 1000])
def test_estimate_is_the_inverse_link_of_the_clipped_frequency(link, bound, size):
    """Lines 12 and 19 of Algorithm 1, with the law that SciPy has for the link."""
    law = DISTRIBUTIONS[link]
    frequency = np.arange(size + 1) / size
    expected = law.ppf(np.clip(frequency, law.cdf(-bound), law.cdf(bound)))
    estimate = table_of(size, link, bound).estimate
    np.testing.assert_allclose(estimate, expected, rtol=1e-12, atol=1e-14)
    assert (estimate[0], estimate[-1]) == (-bound, bound)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("difference", [-3.0, 0.0, 0.25, 7.5])
def test_infinitely_many_evaluators_know_the_difference(link, difference):
    answers = all_answers(table_of(None, link, bound=1.0), difference, random_words(1, 5))
    assert (answers == difference).all()


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", [1, 16, 1000])
@pytest.mark.parametrize("difference", [-1.5, 0.0, 0.1, 4.0])
def test_mean_answer_is_the_binomial_sum(link, size, difference):
    bound = 2.0
    chance = DISTRIBUTIONS[link].cdf(difference)
    law = DISTRIBUTIONS[link]
    table = law.ppf(np.clip(np.arange(size + 1) / size, law.cdf(-bound), law.cdf(bound)))
    expected = stats.binom.pmf(np.arange(size + 1), size, chance) @ table
    answers = all_answers(table_of(size, link, bound), difference, even_words())
    # Each outcome's share is off by one grid point at most; shares of the two ends matter most.
    outcomes = len(np.unique(answers))
    assert abs(answers.mean() - expected) <= bound * (outcomes + 1) / GRID


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", [1, 16, None])
def test_answers_are_those_of_the_slow_version(link, size):
    evaluators = table_of(size, link, 1.5)
    random = np.random.default_rng(3)
    for word in random_words(4, 50):
        difference = random.normal()
        expected = answer(link, 1.5, size, difference, word)
        assert ask(evaluators, difference, word) == pytest.approx(expected, rel=1e-12, abs=1e-14)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", [2, 16, 256])
@pytest.mark.parametrize("bound", [0.5, 2.0])
def test_bound_of_the_bias(link, size, bound):
    """The formula of line 963, and that the bias, a binomial sum, is within it."""
    found = feedback_bias_bound(size, LINKS[link], bound)
    law = DISTRIBUTIONS[link]
    root = math.sqrt(2 * math.log(size) / size)
    assert found == pytest.approx(root / law.pdf(bound) + 2 * bound / size**2, rel=1e-12)
    votes_cast, table = np.arange(size + 1), table_of(size, link, bound).estimate
    for difference in np.linspace(-bound, bound, 9):
        mean = stats.binom.pmf(votes_cast, size, law.cdf(difference)) @ table
        assert abs(mean - difference) <= found


def test_infinitely_many_evaluators_have_no_bias():
    assert feedback_bias_bound(None, LINKS["logistic"], 2.0) == 0
