"""Simulated evaluators: links, numbers of votes, and what is read from them."""

import math

import numpy as np
import pytest
from scipy import stats

from pgpd_hf import evaluators
from pgpd_hf.evaluators import LINKS, count_votes, make_evaluators
from reference import DISTRIBUTIONS, votes

every_link = pytest.mark.parametrize("link", LINKS)
CHANCES = [0.0, 5e-324, 1e-12, 0.1, 1 / 3, 0.5, 0.77, 1 - 2**-53, 1.0, 1 + 2**-52]
LARGEST = 1 - 0.9**81  # of a difference in the paper's experiment


@every_link
def test_link_is_the_distribution_it_is_named_after(link):
    law, x, mine = DISTRIBUTIONS[link], np.linspace(-20, 20, 401), LINKS[link]
    sigma = [evaluators.vote_probability(mine.code, value) for value in x]
    np.testing.assert_allclose(sigma, law.cdf(x), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose([mine.density(v) for v in x], law.pdf(x), rtol=1e-12)
    ends = [evaluators.vote_probability(mine.code, x) for x in (-np.inf, -1e300, 0.0, 1e300)]
    assert ends == [0, 0, 0.5, 1]


@every_link
@pytest.mark.parametrize("size", [1, 2, 16, 256])
@pytest.mark.parametrize("bound", [0.5, 2.0])
def test_estimates_are_inverse_links_of_clipped_frequencies_and_their_bias_is_the_papers(
    link, bound, size
):
    """Lines 12 and 19 of Algorithm 1, and line 963."""
    law, shares = DISTRIBUTIONS[link], np.arange(size + 1) / size
    estimate = make_evaluators(size, link, bound).estimate
    expected = law.ppf(np.clip(shares, law.cdf(-bound), law.cdf(bound)))
    np.testing.assert_allclose(estimate, expected, rtol=1e-12, atol=1e-14)
    assert make_evaluators(size, link, 1e3).estimate[[0, -1]].tolist() == [-1e3, 1e3]
    found = evaluators.feedback_bias(size, LINKS[link], bound)
    noise = math.sqrt(2 * math.log(size) / size) / law.pdf(bound)
    assert found == pytest.approx(noise + 2 * bound / size**2, rel=1e-12)


@pytest.mark.parametrize("size", [1, 2, 16, 63, 64, 65, 128, 129, 300, 4100])
def test_votes_are_those_of_the_slow_version(size):
    random = np.random.default_rng(size)
    for word in random.integers(2**64, size=100 if size < 1000 else 3, dtype=np.uint64):
        for chance in (random.random(), *CHANCES[::2]):
            assert count_votes(size, chance, word) == votes(size, chance, word)


@pytest.mark.parametrize("size", [*range(1, 12), 40, 64, 256])
def test_unbiased_estimates_miss_only_later_terms_of_the_series(size):
    """The terms are 2 y^j / j over odd j, and what is missing is largest where y is."""
    differences = np.linspace(-LARGEST, LARGEST, 41)
    chances, odd = stats.logistic.cdf(differences), np.arange(1, 400, 2)
    terms = 2 / odd * (2 * chances[:, None] - 1) ** odd
    last, most = 1, max(1, (size + 1) // 2)  # degree of the last term, and how far it may go
    while last + 2 <= most and terms[-1, odd > last].sum() > 1e-6 * LARGEST:
        last += 2
    estimates, remainder = evaluators.unbiased_estimates(size, LARGEST)
    mass = stats.binom.pmf(np.arange(size + 1), size, chances[:, None])
    missing = terms[:, odd > last].sum(1)
    np.testing.assert_allclose(mass @ estimates - differences, -missing, atol=1e-12)
    assert remainder == pytest.approx(missing[-1], abs=1e-13)


@pytest.mark.parametrize(("size", "link", "bound"), [(256, "logistic", 10.0), (64, "probit", 1.0)])
def test_estimator_that_would_be_biased_is_refused(size, link, bound):
    with pytest.raises(ValueError, match=r"^estimator: plug-in expected"):
        make_evaluators(size, link, bound, "unbiased")
    make_evaluators(5, "logistic", 1.0, "unbiased")
