"""Maximum likelihood of votes: what noise-free shares give, score and Fisher information."""

import numpy as np
import pytest
from scipy import optimize, sparse

from pgpd_hf import LINKS
from pgpd_hf.evaluators import vote_probability
from pgpd_hf.likelihood import fit, information, log_likelihood, require_maximum

every_link = pytest.mark.parametrize("link", LINKS)


@every_link
def test_score_is_the_derivative_of_the_likelihood_and_information_its_variance(link):
    code, random = LINKS[link].code, np.random.default_rng(1)
    z, shares, numbers = random.normal(size=4), random.random(4), 10 * random.random(4)
    error = optimize.check_grad(
        lambda z: log_likelihood(code, z, shares, numbers)[0],
        lambda z: log_likelihood(code, z, shares, numbers)[1],
        z,
    )
    assert error < 1e-5
    chance = np.array([vote_probability(code, x) for x in z])
    each = np.ones(4)  # one vote: its score is drawn for a vote in favour or against
    scores = [log_likelihood(code, z, share * each, each)[1] for share in (1.0, 0.0)]
    np.testing.assert_allclose(chance * scores[0] + (1 - chance) * scores[1], 0, atol=1e-12)
    variance = chance * scores[0] ** 2 + (1 - chance) * scores[1] ** 2
    np.testing.assert_allclose(log_likelihood(code, z, each, each)[2], variance, rtol=1e-9)


@every_link
def test_shares_without_noise_give_theta_back(link):
    """Offsets, as of the question whether a trajectory is harmless, make the level known."""
    random = np.random.default_rng(2)
    features, theta = random.random((60, 3)), np.array([0.3, -0.2, 0.5])
    offsets = random.normal(size=60)
    votes = [1e5 * vote_probability(LINKS[link].code, z) for z in features @ theta + offsets]
    found = fit(features, np.array(votes), np.full(60, 1e5), link, 1e-6, np.ones(3), offsets)
    np.testing.assert_allclose(found, theta, atol=1e-4)


@every_link
def test_sparse_features_give_the_same_estimate(link):
    random = np.random.default_rng(5)
    dense = random.normal(size=(300, 8)) * (random.random((300, 8)) < 0.3)
    votes, numbers = random.integers(21, size=300), np.full(300, 20)
    asked = votes, numbers, link, 2.0, np.zeros(8), np.zeros(300)
    found = [fit(features, *asked) for features in (dense, sparse.csr_array(dense))]
    curved = information(dense, numbers, found[0], link, 2.0, np.zeros(300))
    # Both searches stop at a gradient of this size, so that they agree up to twice that.
    stop = 1e-6 * np.sqrt(numbers.sum()) + 1e-7 * numbers.sum()
    assert np.linalg.norm(curved @ (found[1] - found[0])) < 2 * stop


@every_link
def test_differences_so_large_that_a_chance_is_no_number_are_fitted(link):
    votes, numbers, offsets = np.array([7e5, 1]), [1e6, 1e6], np.array([0.0, 1000.0])
    assert np.isfinite(fit(np.ones((2, 1)), votes, numbers, link, 1e-6, np.zeros(1), offsets)).all()


def test_a_search_may_end_where_rounding_hides_the_rest():
    found = {"success": False, "message": "", "fun": -1.0, "hess": np.eye(1)}
    require_maximum(optimize.OptimizeResult(found, jac=np.array([1e-6])))
    with pytest.raises(ValueError, match="^ridge: no maximum of the likelihood was found"):
        require_maximum(optimize.OptimizeResult(found, jac=np.array([1e-5])))
