"""Simulated evaluators: numbers of votes have the binomial law."""

import dataclasses
import math
from fractions import Fraction

import numba
import numpy as np
import pytest
from chance import LEVEL, assert_mean
from reference import DISTRIBUTIONS, answer, random_words, splitmix, votes
from scipy import stats

from pgpd_hf.core.evaluators import (
    ask,
    chance_of_vote,
    count_votes,
    feedback_bias_bound,
    make_evaluators,
    unbiased_estimates,
)
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


# Estimates without bias.

LARGEST = 1 - 0.9**81  # of a difference in the paper's experiment
PEOPLE = [*range(1, 41), 64, 256]


def degree_of(size, link, bound):
    """The declared degree: the first that misses less than a millionth, up to (M + 1)/2."""
    mean = 2 * DISTRIBUTIONS[link].cdf(bound) - 1
    missing, degree = bound, -1
    while missing > 1e-6 * bound and degree + 2 <= max(1, (size + 1) // 2):
        degree += 2
        missing -= LINKS[link].series(degree)[degree // 2] * mean**degree
    return degree


def mean_product(size, votes, degree):
    """Mean product of votes, as +-1, over all sets of so many people: those who differ are odd."""
    signed = sum(
        (-1) ** against * math.comb(size - votes, against) * math.comb(votes, degree - against)
        for against in range(degree + 1)
    )
    return Fraction(signed, math.comb(size, degree))


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", PEOPLE)
def test_mean_estimate_is_the_difference_up_to_the_remainder(link, size):
    """By enumeration of the votes; the remainder is attained at the largest difference."""
    estimates, remainder = unbiased_estimates(size, LINKS[link], LARGEST)
    law = DISTRIBUTIONS[link]
    differences = np.linspace(-LARGEST, LARGEST, 41)
    mass = stats.binom.pmf(np.arange(size + 1), size, law.cdf(differences)[:, None])
    bias = mass @ estimates - differences
    assert abs(bias).max() == pytest.approx(remainder, abs=1e-13)
    assert bias[0] == pytest.approx(remainder, abs=1e-13)
    # It is that of the series, whose later terms are summed here.
    later = np.arange(degree_of(size, link, LARGEST) + 2, 400, 2)
    y = 2 * law.cdf(differences)[:, None] - 1
    missed = (LINKS[link].series(200)[later // 2] * y**later).sum(1)
    np.testing.assert_allclose(bias, -missed, atol=1e-12)


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", [*range(1, 41), 64])
def test_unbiased_estimates_are_sums_over_sets_of_people(link, size):
    """In rational numbers, by counting the sets of each kind."""
    estimates, _ = unbiased_estimates(size, LINKS[link], LARGEST)
    degrees = range(1, degree_of(size, link, LARGEST) + 1, 2)
    coefficients = [Fraction(c) for c in LINKS[link].series(len(degrees))]
    expected = [
        float(
            sum(
                c * mean_product(size, votes, j) for c, j in zip(coefficients, degrees, strict=True)
            )
        )
        for votes in range(size + 1)
    ]
    np.testing.assert_allclose(estimates, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("size", [509, 4096])
def test_recurrence_is_stable_up_to_the_highest_degree(size):
    """Degree 255, with the Cauchy link, whose coefficients do not fall; in rational numbers."""
    link, bound = LINKS["cauchy"], 20.0
    estimates, remainder = unbiased_estimates(size, link, bound)
    assert remainder > 1e-6 * bound  # so that the degree is the highest one
    coefficients = [Fraction(c) for c in link.series(128)]
    middle = size // 2
    for k in (0, 1, 7, size // 4, middle - 3, middle, middle + 1, size - 2, size):
        before, now, expected = Fraction(1), Fraction(2 * k - size, size), Fraction(0)
        for j in range(1, 256):
            expected += coefficients[j // 2] * now if j % 2 else 0
            before, now = now, ((2 * k - size) * now - j * before) / (size - j)
        assert estimates[k] == pytest.approx(float(expected), rel=1e-11, abs=1e-14)


def test_products_of_most_votes_are_those_of_few_with_a_random_sign():
    """Why the degree ends at (M + 1)/2."""
    for k in range(10):
        for degree in range(10):
            few, everyone = mean_product(9, k, degree), mean_product(9, k, 9)
            assert mean_product(9, k, 9 - degree) == everyone * few
            assert abs(everyone) == 1


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("size", [*PEOPLE, 1000, 4096])
def test_unbiased_estimates_are_odd_and_grow_with_the_votes(link, size):
    estimates, _ = unbiased_estimates(size, LINKS[link], LARGEST)
    assert (estimates == -estimates[::-1]).all()
    assert (np.diff(estimates[(size + 1) // 2 :]) > 0).all()


@pytest.mark.parametrize("size", [1, 2, 5, 16, 64, 256, 1024])
def test_variance_and_size_of_unbiased_estimates_are_bounded(size):
    """Logistic link and degree m: variance at most 4m/M, estimates at most 2 + log m."""
    estimates, _ = unbiased_estimates(size, LINKS["logistic"], LARGEST)
    degree = degree_of(size, "logistic", LARGEST)
    chances = DISTRIBUTIONS["logistic"].cdf(np.linspace(-LARGEST, LARGEST, 41))
    mass = stats.binom.pmf(np.arange(size + 1), size, chances[:, None])
    variance = mass @ estimates**2 - (mass @ estimates) ** 2
    assert variance.max() <= 4 * degree / size * (1 + 1e-12)
    assert estimates[-1] <= 2 + math.log(degree) + 1e-12


@pytest.mark.parametrize("link", LINKS)
@pytest.mark.parametrize("difference", [-0.9, 0.0, 0.5])
def test_mean_unbiased_answer_is_the_difference(link, difference):
    evaluators = make_evaluators(64, LINKS[link], 1.0, "unbiased")
    assert_mean(all_answers(evaluators, difference, random_words(64, 20_000)), difference)


@pytest.mark.parametrize("link", LINKS)
def test_plug_in_is_the_default_and_infinitely_many_need_no_estimator(link):
    default, given = make_evaluators(16, LINKS[link], 1.0), table_of(16, link, 1.0)
    printed = make_evaluators(16, LINKS[link], 1.0, "plug-in")
    assert (default.estimate == printed.estimate).all()
    assert (given.estimate == printed.estimate).all()
    everyone = make_evaluators(None, LINKS[link], 1e6, "unbiased")
    assert (all_answers(everyone, 0.25, random_words(1, 5)) == 0.25).all()


@pytest.mark.parametrize(
    ("size", "link", "bound"),
    [
        (256, "logistic", 10.0),
        (10**6, "logistic", 10.0),
        (4, "probit", 1.0),
        (1000, "probit", 10.0),
        (16, "cauchy", 10.0),
        (4, "cauchy", 1.0),
        (256, "logistic", 50.0),
        (256, "probit", 50.0),
        (256, "cauchy", 1e17),
    ],
)
def test_estimator_that_would_be_biased_is_refused(size, link, bound):
    make_evaluators(size, LINKS[link], bound)
    message = rf"^estimator: plug-in expected, since with {size} evaluators and the {link} "
    with pytest.raises(ValueError, match=message) as refused:
        make_evaluators(size, LINKS[link], bound, "unbiased")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("size", "link", "bound"),
    [(1, "logistic", 1.0), (5, "probit", 1.0), (5, "cauchy", 1.0), (256, "cauchy", 10.0)],
)
def test_estimator_that_is_nearly_unbiased_is_not_refused(size, link, bound):
    make_evaluators(size, LINKS[link], bound, "unbiased")


def test_link_without_series_is_refused():
    link = dataclasses.replace(LINKS["logistic"], name="mine", series=None)
    make_evaluators(16, link, 1.0)
    with pytest.raises(ValueError, match=r"^estimator: plug-in expected, since the mine link has"):
        make_evaluators(16, link, 1.0, "unbiased")


@pytest.mark.parametrize("size", [0, 10**7 + 1, 2.0])
@pytest.mark.parametrize("estimator", ["plug-in", "unbiased"])
def test_number_of_evaluators_without_a_table_is_refused(size, estimator):
    with pytest.raises(ValueError, match=r"^evaluators: an integer of at "):
        make_evaluators(size, LINKS["logistic"], 1.0, estimator)


@pytest.mark.parametrize("true_link", LINKS)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("flipped", [0.0, 0.2, 1.0])
def test_people_may_vote_otherwise_than_assumed(true_link, share, flipped):
    """The mean answer is a binomial sum, with their chances and the logistic table."""
    people = {"true_link": true_link, "random_answers": share, "flipped_answers": flipped}
    evaluators = make_evaluators(16, LINKS["logistic"], 2.0, **people)
    assert (evaluators.estimate == table_of(16, "logistic", 2.0).estimate).all()
    meant, opposite = DISTRIBUTIONS[true_link].cdf([0.7, -0.7])
    chance = (1 - share) * ((1 - flipped) * meant + flipped * opposite) + share / 2
    assert chance_of_vote(evaluators, 0.7) == pytest.approx(chance, rel=1e-14)
    expected = stats.binom.pmf(np.arange(17), 16, chance) @ evaluators.estimate
    assert_mean(all_answers(evaluators, 0.7, random_words(16, 20_000)), expected)
