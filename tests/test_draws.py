"""What random words decide, exactly: normal numbers, actions, states, votes and their estimates."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import reference
from pgpd_hf import CMDP, LINKS, NPGPDHF, evaluators, policies, trajectories
from pgpd_hf.evaluators import count_votes, make_evaluators, vote_probability
from pgpd_hf.streams import draw_normals, word_stream
from reference import AREA, DISTRIBUTIONS, EDGES, ONE, TAIL

AXES = {"purpose": "run", "algorithm": "zpgpd_hf", "evaluators": 64, "seed": 3}
CHANCES = [0.0, 5e-324, 1e-12, 0.1, 1 / 3, 0.5, 0.77, 1 - 2**-53, 1.0, 1 + 2**-52]
LARGEST = 1 - 0.9**81  # of a difference in the paper's experiment

LAWS = {
    "single": [1.0],
    "tenths": [0.1] * 10,
    "certain_last": [0.0, 0.0, 0.0, 0.0, 1.0],
    "nearly_even": [1 / 3 - 1e-13, 1 / 3 + 1e-13, 1 / 3],  # a share that rounds to all of 2^32
    "tiny": [1e-12, 1 - 2e-12, 1e-12],
    "surplus": [0.0, 0.6, 0.4 + 9e-10],
    "hundred": np.random.default_rng(8).dirichlet(np.ones(100)),
}
every_link = pytest.mark.parametrize("link", LINKS)
real = st.floats(-1e3, 1e3, allow_nan=False)
thetas = arrays(float, st.tuples(st.integers(1, 4), st.integers(1, 6)), elements=real)


def test_normal_numbers_are_those_of_the_slow_version():
    """All layers, above all the lowest one with the tail."""
    numbers, words = np.empty(1_000_000), reference.stream(1_000_000, **AXES)
    draw_normals(word_stream(**AXES), numbers)
    some = np.flatnonzero((words % 256 == 0) | (np.arange(len(words)) < 30_000))
    expected = np.array([reference.normal(word) for word in words[some]])
    np.testing.assert_allclose(numbers[some], expected, rtol=1e-12)
    assert (np.abs(expected) > TAIL).sum() > 200


def test_layers_have_the_same_area():
    """The lowest layer with the tail, and the highest one, which ends at the top."""
    density, top = math.exp(-(TAIL**2) / 2), EDGES[-2]
    tail = stats.norm.sf(TAIL) * math.sqrt(math.tau)
    assert TAIL * density + tail == pytest.approx(AREA, rel=1e-9)
    assert top * (1 - math.exp(-(top**2) / 2)) == pytest.approx(AREA, rel=1e-6)


@given(thetas, st.sampled_from([1e-6, 1e-3, 1.0]), real)
def test_policies_are_those_of_the_slow_version_and_of_every_shift(theta, scale, shift):
    theta, forms = theta * scale, {"project_rows": reference.project, "softmax": reference.softmax}
    for name, slow in forms.items():
        policy, moved = np.empty_like(theta), theta + shift
        getattr(policies, name)(theta, policy)
        np.testing.assert_allclose(policy.sum(1), 1, atol=1e-12)
        np.testing.assert_allclose(policy, slow(theta), atol=1e-12)
        getattr(policies, name)(moved, moved)  # in place
        np.testing.assert_allclose(moved, policy, atol=1e-11)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_alias_table_holds_the_distribution_in_exact_arithmetic(law):
    slow = zip(*reference.alias_table(law), strict=True)
    implied, total = [Fraction(0)] * len(law), ONE * len(law)
    for column, (entry, kept) in enumerate(zip(trajectories.alias_table(law), slow, strict=True)):
        stay, alias = divmod(int(entry), ONE)
        assert (stay, alias) == kept
        implied[column] += Fraction(stay, total)
        implied[alias] += Fraction(ONE - stay, total)
    excess = abs(Fraction(float(np.sum(law))) - 1)  # of one law, on purpose
    for probability, entry in zip(law, implied, strict=True):
        assert abs(entry - Fraction(probability)) <= Fraction(2, ONE) + excess
        assert (entry == 0) == (probability == 0) or probability < 1e-9


def returns_of(cmdp, policy, words):
    """Returns of trajectories from state 0, as many as there are columns of words."""
    paths = trajectories.make_trajectories(words.shape[1], *policy.shape, 1)
    trajectories.action_thresholds(policy, paths.thresholds[0])
    tables = trajectories.make_tables(cmdp)
    trajectories.sample_returns(tables, paths, words.ravel(), len(words) - 1)
    return paths.returns


def test_action_and_state_change_exactly_at_their_thresholds():
    """Rewards of the first step name the action, those of the second the state; H is 0 or 1."""
    policy = np.array([[0.1, 0.0, 0.25, 0.65]] * 2)
    first = np.array([[0.0, 0.25, 0.5, 1.0]] * 2)
    cmdp = CMDP([[[0.25, 0.75]] * 4] * 2, first, [[0.0] * 4, [1.0] * 4], [1, 0], 0.5, 0)
    cuts = [round(Fraction(c) * ONE) for c in (0.1, 0.35)]
    chances = [0, cuts[0] - 1, cuts[0], cuts[1] - 1, cuts[1], ONE - 1]
    kept = ONE // 4  # state 0 keeps half of its column, the lower half of all words
    for low, state in ((0, 0), (kept - 1, 0), (kept, 1), (ONE - 1, 1)):
        words = np.array([[(chance << 32) + low for chance in chances]] * 2, np.uint64)
        rewards = returns_of(cmdp, policy, words[:1])[:, 0]
        assert rewards.tolist() == [0.0, 0.0, 0.5, 0.5, 1.0, 1.0]  # never action 1
        assert (returns_of(cmdp, policy, words)[:, 1] == 0.5 * state).all()


@pytest.mark.parametrize("discount", [0.0, 0.9, 0.95, 0.99, 0.999])
def test_default_horizon_misses_at_most_what_the_papers_does(discount):
    horizon = trajectories.default_horizon(discount)
    assert discount ** (horizon + 1) <= 2e-4
    assert horizon == 80 or (horizon > 80 and discount**horizon > 2e-4)


def test_a_short_horizon_is_told():
    assert trajectories.horizon_caution(0.9, 80) == trajectories.horizon_caution(0.0, 0) == ""
    told = "H = 80 misses 44% of a value at discount 0.99: horizon: 847 misses next to nothing."
    assert trajectories.horizon_caution(0.99, 80) == told
    assert trajectories.horizon_caution(0.99, 847) == ""


@every_link
def test_link_is_the_distribution_it_is_named_after(link):
    law, x, mine = DISTRIBUTIONS[link], np.linspace(-20, 20, 401), LINKS[link]
    sigma = [vote_probability(mine.code, value) for value in x]
    np.testing.assert_allclose(sigma, law.cdf(x), rtol=1e-13, atol=1e-16)
    np.testing.assert_allclose([mine.density(v) for v in x], law.pdf(x), rtol=1e-12)
    ends = [vote_probability(mine.code, x) for x in (-np.inf, -1e300, 0.0, 1e300)]
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
            assert count_votes(size, chance, word) == reference.votes(size, chance, word)


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


def test_estimator_that_would_be_biased_is_refused():
    with pytest.raises(ValueError, match=r"^estimator: plug-in expected"):
        make_evaluators(256, "logistic", 10.0, "unbiased")
    with pytest.raises(ValueError, match=r"^estimator: plug-in expected"):
        make_evaluators(64, "probit", 1.0, "unbiased")
    with pytest.raises(ValueError, match=r"^estimator: plug-in expected"):
        NPGPDHF(evaluators=64, link="probit", estimator="unbiased")
    make_evaluators(5, "logistic", 1.0, "unbiased")
