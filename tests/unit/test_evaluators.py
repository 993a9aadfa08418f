"""Simulated evaluators: numbers of votes have the binomial law."""

import math

import numba
import numpy as np
import pytest
from chance import LEVEL, assert_mean
from reference import DISTRIBUTIONS, answer, random_words, splitmix, votes
from scipy import stats

from pgpd_hf.core.evaluators import ask, count_votes, feedback_bias_bound, make_evaluators
from pgpd_hf.core.links import LINKS

SIZES = [1, 2, 3, 16, 63, 64, 65, 257, 1000]
CHANCES = [1e-300, 1e-12, 1e-3, 0.1, 1 / 3, 0.5, 0.77, 0.999, 1 - 1e-12, 1 - 2**-53]


def table_of(size, link="logistic", bound=2.0):
    return make_evaluators(size, LINKS[link], bound)


@numba.njit
def all_counts(size, chance, words):
    counts = np.empty(len(words), np.int64)
    for k in range(len(words)):
        counts[k] = count_votes(size, chance, words[k])
    return counts


@numba.njit
def all_answers(evaluators, difference, words):
    answers = np.empty(len(words))
    for k in range(len(words)):
        answers[k] = ask(evaluators, difference, words[k])
    return answers


@pytest.mark.parametrize("size", [1, 2, 16, 63, 64])
def test_a_voter_is_in_favour_if_its_number_is_below_the_chance(size):
    """Up to 64 voters, exactly: number j is the j-th bits of the derived words, 64 digits long."""
    for word in random_words(size, 20):
        digits = [splitmix(word, index) for index in range(1, 65)]
        numbers = [sum((digits[k] >> j & 1) << (63 - k) for k in range(64)) for j in range(size)]
        # The voters' own numbers are the chances at which one vote more is cast.
        for chance in [*CHANCES, 2.0**-64, 2.0**-65, *(number / 2**64 for number in numbers)]:
            expected = sum(number < math.floor(chance * 2**64) for number in numbers)
            assert count_votes(size, chance, word) == expected


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("chance", CHANCES)
def test_votes_have_the_binomial_law(size, chance):
    """Chi-square test; outcomes with fewer than five expected counts are one class."""
    count = 50_000
    found = np.bincount(all_counts(size, chance, random_words(size, count)), minlength=size + 1)
    assert len(found) == size + 1
    expected = count * stats.binom.pmf(np.arange(size + 1), size, chance)
    rare = expected < 5
    surplus = found[rare].sum()
    assert stats.poisson.sf(surplus - 1, expected[rare].sum()) > LEVEL
    if (~rare).sum() > 1:
        common = expected[~rare] * found[~rare].sum() / expected[~rare].sum()
        assert stats.chisquare(found[~rare], common).pvalue > LEVEL


@pytest.mark.parametrize("size", [10_000, 10**6])
def test_many_votes_have_the_binomial_moments(size):
    counts = all_counts(size, 0.3, random_words(size, 4000 if size < 10**6 else 400))
    deviation = math.sqrt(size * 0.21)
    assert_mean(counts, 0.3 * size, deviation)
    assert_mean((counts - 0.3 * size) ** 2, deviation**2)


@pytest.mark.parametrize("size", [*SIZES, 10_000])
def test_certain_votes(size):
    ends = np.array([0, 1, 2**63, 2**64 - 1], np.uint64)
    for chance, expected in [(0.0, 0), (-0.0, 0), (1.0, size), (1 + 1e-16, size), (5e-324, 0)]:
        assert (all_counts(size, chance, ends) == expected).all()


@pytest.mark.parametrize("size", [1, 2, 16, 64, 65, 100, 256, 300])
def test_votes_are_those_of_the_slow_version(size):
    random = np.random.default_rng(size)
    for word in random_words(size, 100):
        chance = random.random()
        assert count_votes(size, chance, word) == votes(size, chance, word)


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
@pytest.mark.parametrize("difference", [-1.5, 0.0, 0.1, 1.0])
def test_mean_answer_is_the_binomial_sum(link, size, difference):
    bound = 2.0
    law = DISTRIBUTIONS[link]
    table = law.ppf(np.clip(np.arange(size + 1) / size, law.cdf(-bound), law.cdf(bound)))
    expected = stats.binom.pmf(np.arange(size + 1), size, law.cdf(difference)) @ table
    answers = all_answers(table_of(size, link, bound), difference, random_words(size, 20_000))
    assert_mean(answers, expected)


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
