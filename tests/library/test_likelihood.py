"""Maximum likelihood against closed forms, and against the Fisher information of its answers."""

import numpy as np
import pytest
from scipy import optimize, sparse, stats
from scipy.optimize import OptimizeResult, check_grad, minimize

from pgpd_hf import LINKS
from pgpd_hf.core.likelihood import fit, information, log_likelihood, require_maximum
from pgpd_hf.core.links import derivative, probability

LOGISTIC = LINKS["logistic"]
every_link = pytest.mark.parametrize("name", LINKS)


@every_link
def test_derivative_is_the_density(name):
    link = LINKS[name]
    for x in (-3.0, -0.2, 0.0, 1.5):
        assert derivative(link.code, x) == pytest.approx(link.density(x), rel=1e-12)


@every_link
@pytest.mark.parametrize("share", [0.2, 0.5, 0.7])
def test_two_arms_have_the_closed_form(name, share):
    """Their difference is the inverse link of the share of votes."""
    features = np.array([[1.0, -1.0]])
    nothing = np.zeros(1)
    found = fit(
        features, nothing, np.array([share]), np.array([1e4]), LINKS[name], 1e-6, np.zeros(2)
    )
    assert found[0] - found[1] == pytest.approx(float(LINKS[name].inverse(share)), abs=1e-5)
    assert found.sum() == pytest.approx(0, abs=1e-6)  # what comparisons leave open is the prior's


@every_link
def test_score_is_the_derivative_of_the_likelihood(name):
    random = np.random.default_rng(1)
    shares, weights = random.random(4), 10 * random.random(4)
    link = LINKS[name]
    error = check_grad(
        lambda z: log_likelihood(link.code, z, shares, weights)[0],
        lambda z: log_likelihood(link.code, z, shares, weights)[1],
        random.normal(size=4),
    )
    assert error < 1e-5


@every_link
def test_what_is_minimized_has_the_gradient_that_is_told(monkeypatch, name):
    def checked(function, start, **named):
        error = check_grad(lambda x: function(x)[0], lambda x: function(x)[1], start + 0.3)
        assert error < 1e-5
        return minimize(function, start, **named)

    monkeypatch.setattr(optimize, "minimize", checked)
    random = np.random.default_rng(4)
    features, shares, weights = random.random((5, 3)), random.random(5), 10 * random.random(5)
    fit(features, np.zeros(5), shares, weights, LINKS[name], 3.0, np.array([0.2, -0.1, 0.0]))


@every_link
def test_exact_shares_give_the_parameter_back(name):
    """Offsets, as of absolute answers, make the constant identifiable."""
    random = np.random.default_rng(2)
    features, theta = random.random((60, 3)), np.array([0.3, -0.2, 0.5])
    offsets = random.normal(size=60)
    link = LINKS[name]
    z = features @ theta + offsets
    shares = np.array([probability(link.code, x) for x in z])
    found = fit(features, offsets, shares, np.full(60, 1e5), link, 1e-6, np.ones(3))
    np.testing.assert_allclose(found, theta, atol=1e-4)


@every_link
def test_sparse_features_give_the_same_estimate_and_information(name):
    random = np.random.default_rng(5)
    features = random.normal(size=(300, 8)) * (random.random((300, 8)) < 0.3)
    offsets, shares, weights = random.normal(size=300), random.random(300), np.full(300, 20.0)
    found, told = [], []
    for kept in (features, sparse.csr_array(features)):
        found.append(fit(kept, offsets, shares, weights, LINKS[name], 2.0, np.full(8, 0.5)))
        told.append(information(kept, offsets, weights, LINKS[name], found[0], 2.0))
    # Both searches stop at a gradient of this size, so that they agree up to twice that.
    stop = 1e-6 * np.sqrt(weights.sum()) + 1e-7 * weights.sum()
    assert np.linalg.norm(told[0] @ (found[1] - found[0])) < 2 * stop
    np.testing.assert_allclose(told[1], told[0], rtol=1e-12, atol=1e-12)


@every_link
def test_differences_so_large_that_a_chance_is_no_number_are_fitted(name):
    """The search begins where one vote in a million has the chance zero, rounded."""
    features, share = np.array([[1.0], [1.0]]), np.array([0.7, 1e-6])
    offsets, people = np.array([0.0, 1000.0]), np.array([1e6, 1e6])
    found = fit(features, offsets, share, people, LINKS[name], 1e-6, np.zeros(1))
    assert np.isfinite(found).all()


def test_no_answers_leave_the_prior():
    center = np.array([0.5, 0.25])
    none = np.empty(0)
    assert (fit(np.empty((0, 2)), none, none, none, LOGISTIC, 2.0, center) == center).all()


def test_estimates_have_the_covariance_of_their_information():
    """800 sets of answers: squared errors, in units of the information, are chi-squared.

    The mean of 800 chi-squared numbers with 3 degrees of freedom has the standard deviation
    sqrt(6/800); the bound is five of them. Coverage of the 90 % ellipsoid likewise.
    """
    random = np.random.default_rng(3)
    features, theta, weights = random.normal(size=(60, 3)), np.array([0.4, -0.3, 0.2]), 50.0
    chance = 1 / (1 + np.exp(-features @ theta))
    zeros, everyone = np.zeros(60), np.full(60, weights)
    known = information(features, zeros, everyone, LOGISTIC, theta)
    squares = []
    for _ in range(800):
        shares = random.binomial(50, chance) / weights
        error = fit(features, zeros, shares, everyone, LOGISTIC, 1e-9, np.zeros(3)) - theta
        squares.append(error @ known @ error)
    assert abs(np.mean(squares) - 3) < 5 * np.sqrt(6 / 800)
    covered = np.mean(np.array(squares) < stats.chi2.ppf(0.9, 3))
    assert abs(covered - 0.9) < 5 * np.sqrt(0.09 / 800)


@pytest.mark.parametrize(("share", "reason"), [(np.nan, "array must not"), (0.7, "Maximum number")])
def test_a_search_that_does_not_converge_is_refused_in_one_line(monkeypatch, share, reason):
    def one_step(*arguments, options, **named):
        return minimize(*arguments, options=options | {"maxiter": 1}, **named)

    monkeypatch.setattr(optimize, "minimize", one_step)
    features, shares = np.array([[1.0]]), np.array([share])
    said = rf"^ridge: no maximum of the likelihood was found; .*: {reason}"
    with pytest.raises(ValueError, match=said) as error:
        fit(features, np.zeros(1), shares, np.full(1, 1e6), LOGISTIC, 1.0, np.full(1, 9.0))
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("slope", "curvature", "found"),
    [(1e-7, 1.0, True), (1e-5, 1.0, False), (1e-7, -1.0, False), (1e-5, 1e6, True)],
)
def test_a_search_may_end_where_rounding_hides_what_is_left(slope, curvature, found):
    """A step of Newton would gain the square of the slope by twice the curvature."""
    end = OptimizeResult(
        success=False,
        message="A bad approximation caused failure to predict improvement.",
        fun=10.0,
        jac=np.array([slope, 0.0]),
        hess=np.diag([curvature, 1.0]),
    )
    if found:
        require_maximum(end)
    else:
        with pytest.raises(ValueError, match=r"^A bad approximation"):
            require_maximum(end)
