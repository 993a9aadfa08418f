"""Links: Assumption 2.1, and the laws of the random errors they come from."""

import numpy as np
import pytest
from reference import DISTRIBUTIONS

from pgpd_hf.core.links import LINKS, get_link, probability

BOUNDS = [0.5, 1.0, 5.0]
pytestmark = pytest.mark.parametrize("link", LINKS.values(), ids=LINKS)


def sigma(link, x):
    return np.array([probability(link.code, value) for value in np.atleast_1d(x)])


def test_name_and_code_are_the_links_own(link):
    assert LINKS[link.name] is link is get_link(link.name)
    assert [other.code for other in LINKS.values()].count(link.code) == 1


def test_one_half_at_zero_and_symmetric(link):
    x = np.linspace(-30, 30, 601)
    assert sigma(link, 0.0) == 0.5
    np.testing.assert_allclose(sigma(link, x) + sigma(link, -x), 1, rtol=1e-15)


def test_increases_within_zero_and_one(link):
    x = np.linspace(-5, 5, 2001)
    assert (np.diff(sigma(link, x)) > 0).all()
    extreme = sigma(link, np.array([-np.inf, -1e300, -1000, 1000, 1e300, np.inf]))
    assert ((extreme >= 0) & (extreme <= 1)).all()
    assert (np.diff(extreme) >= 0).all()
    np.testing.assert_allclose(extreme[[0, -1]], [0, 1], atol=1e-15)


def test_is_the_distribution_function_it_is_named_after(link):
    law = DISTRIBUTIONS[link.name]  # a new link needs its law in reference.py
    x = np.linspace(-20, 20, 401)
    np.testing.assert_allclose(sigma(link, x), law.cdf(x), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose([link.density(v) for v in x], law.pdf(x), rtol=1e-12)


def test_inverse_is_the_inverse(link):
    x = np.linspace(-5, 5, 1001)
    p = np.linspace(0.001, 0.999, 999)
    np.testing.assert_allclose(link.inverse(sigma(link, x)), x, rtol=1e-8, atol=1e-14)
    np.testing.assert_allclose(sigma(link, link.inverse(p)), p, rtol=1e-13)
    assert link.inverse(np.array([0.5])) == 0


def test_density_is_the_derivative(link):
    for x in np.linspace(-4, 4, 33):
        rise = sigma(link, x + 1e-5) - sigma(link, x - 1e-5)
        assert link.density(x) == pytest.approx(rise[0] / 2e-5, rel=1e-6)


@pytest.mark.parametrize("bound", [0.1, 1.0, 10.0, 1e3])
def test_clipped_inverse_ends_at_the_bound(link, bound):
    """Also where sigma(B) rounds to one, so that the frequency itself could not be clipped."""
    p = np.array([0.0, 1e-300, 0.25, 0.5, 0.75, 1 - 2**-53, 1.0])
    result = link.clipped_inverse(p, bound)
    assert np.isfinite(result).all()
    assert (result[0], result[3], result[-1]) == (-bound, 0, bound)
    assert (np.abs(result) <= bound).all()
    assert (np.diff(result) >= 0).all()
    inside = np.abs(link.inverse(p)) < bound
    assert (result[inside] == link.inverse(p)[inside]).all()


@pytest.mark.parametrize("bound", BOUNDS)
def test_clipping_the_inverse_is_clipping_the_frequency(link, bound):
    """Lines 12 and 17 of Algorithm 1 clip the frequency."""
    p = np.linspace(0, 1, 1001)
    low, high = sigma(link, np.array([-bound, bound]))
    expected = link.inverse(np.minimum(np.maximum(p, low), high))
    np.testing.assert_allclose(link.clipped_inverse(p, bound), expected, rtol=1e-8, atol=1e-14)


@pytest.mark.parametrize("bound", BOUNDS)
def test_lipschitz_constant_is_the_steepest_slope_of_the_inverse(link, bound):
    """No chord is steeper, and some are nearly as steep. (The other half is its mirror image.)"""
    p = sigma(link, np.linspace(-bound, 0, 5001))
    slopes = np.diff(link.inverse(p)) / np.diff(p)
    lipschitz = link.inverse_lipschitz(bound)
    assert slopes.max() <= lipschitz * (1 + 1e-9)
    assert slopes.max() >= lipschitz * (1 - 1e-2)


@pytest.mark.parametrize("bound", [1e3, 1e6])
def test_lipschitz_constant_of_a_flat_tail_is_large_and_no_crash(link, bound):
    assert link.inverse_lipschitz(bound) > bound


@pytest.mark.parametrize("name", ["logit", None, 0, ["probit"]])
def test_unknown_name_is_refused_with_those_there_are(link, name):
    with pytest.raises(ValueError, match=f"^link: one of .*{link.name}"):
        get_link(name)


FIRST = {
    "logistic": [2, 2 / 3, 2 / 5],
    "probit": np.sqrt(2) * np.array([np.pi**0.5 / 2, np.pi**1.5 / 24, 7 * np.pi**2.5 / 960]),
    "cauchy": [np.pi / 2, np.pi**3 / 24, np.pi**5 / 240],
}


def test_series_is_that_of_the_inverse(link):
    """In y = 2p - 1: its first coefficients, all of them positive, and its sum near both ends."""
    coefficients = link.series(300)
    np.testing.assert_allclose(coefficients[:3], FIRST[link.name], rtol=1e-14)
    assert (coefficients > 0).all()
    y = np.linspace(-0.95, 0.95, 39)
    terms = y[:, None] ** np.arange(1, 600, 2) * coefficients
    np.testing.assert_allclose(terms.sum(1), link.inverse((1 + y) / 2), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("terms", [1, 2, 7])
def test_series_has_as_many_terms_as_asked_for(link, terms):
    np.testing.assert_array_equal(link.series(terms), link.series(50)[:terms])
