"""The contract of an algorithm, for every one that the registry finds."""

import numpy as np
import pytest
from preparing import prepare, randomness
from reference import random_policies, random_process, softmax

from pgpd_hf import ALGORITHMS, resources, solve
from pgpd_hf.algorithms import Algorithm, Setting, get_algorithm

VARIANTS = [(name, form) for name, kind in ALGORITHMS.items() for form in kind.parameterizations]
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
every_variant = pytest.mark.parametrize(("name", "form"), VARIANTS)


@every_algorithm
def test_registry_holds_it_under_its_name(name):
    kind = get_algorithm(name)
    assert issubclass(kind, Algorithm)
    assert kind.name == name
    assert kind.label
    assert [other.label for other in ALGORITHMS.values()].count(kind.label) == 1
    assert isinstance(kind.parameterizations, tuple)
    assert kind.parameterizations
    assert set(kind.parameterizations) <= {"softmax", "direct"}


@every_algorithm
@pytest.mark.parametrize("pairs", [1, 3])
def test_price_is_that_of_its_effort(name, pairs):
    algorithm = prepare(name, random_process(1, 4, 3), pairs=pairs, horizon=7)
    trajectories, questions = algorithm.effort(4, 3, pairs)
    assert algorithm.steps_per_iteration == 8 * trajectories
    assert algorithm.questions_per_iteration == questions
    seconds = resources.run_seconds(name, {"iterations": 9, "pairs": pairs, "horizon": 7}, 4, 3)
    assert seconds > resources.RUN


@every_algorithm
def test_steps_that_are_not_given_are_the_theorems_or_refused(name):
    process, kind = random_process(2, 3, 2, 0.8, threshold=1.2), ALGORITHMS[name]
    optimum = solve(process)
    setting = Setting(None, 400, perturbation=0.1)
    if kind.has_theorem():
        algorithm = kind(process, optimum, setting)
        expected = kind.theorem_steps(process, optimum, 400)
        assert (algorithm.primal_step, algorithm.dual_step) == expected
        assert min(expected) > 0
    else:
        with pytest.raises(ValueError, match=r"^primal_step, dual_step: numbers expected"):
            kind(process, optimum, setting)


@every_algorithm
def test_estimates_are_refused_or_have_a_shape(name):
    algorithm = prepare(name, random_process(3))
    theta = algorithm.initial_parameter()
    words, normals = randomness(algorithm, 3, 1)
    if type(algorithm).estimate is Algorithm.estimate:
        with pytest.raises(TypeError, match=rf"^{name} asks nobody"):
            algorithm.estimate(theta, words[0], normals[0])
        return
    estimates, excess = algorithm.estimate(theta, words[0], normals[0])
    assert estimates.shape == (2, 3, 2)
    assert np.isfinite([*estimates.ravel(), excess]).all()
    assert (theta == algorithm.initial_parameter()).all()


@every_variant
@pytest.mark.parametrize(("states", "actions"), [(1, 2), (2, 1), (3, 2), (4, 5)])
@pytest.mark.parametrize("evaluators", [1, 16, None])
def test_iterates_are_policies_and_multipliers_stay_in_bounds(
    name, form, states, actions, evaluators
):
    process = random_process(1, states, actions, 0.8, threshold=0.3)
    steps = {"primal_step": 3.0, "dual_step": 2.0, "multiplier_bound": 0.5}
    algorithm = prepare(name, process, parameterization=form, evaluators=evaluators, **steps)
    words, normals = randomness(algorithm, 1, 40)
    theta = algorithm.initial_parameter()
    policies, multipliers, last = algorithm.advance(theta, 0.0, words, normals)
    assert policies.shape == (40, states, actions)
    assert multipliers.shape == (40,)
    np.testing.assert_allclose(policies[0], 1 / actions, rtol=1e-15)
    np.testing.assert_allclose(policies.sum(2), 1, rtol=1e-12)
    assert (policies >= 0).all()
    assert multipliers[0] == 0
    everything = np.append(multipliers, last)
    assert ((everything >= 0) & (everything <= 0.5)).all()
    assert np.isfinite(theta).all()


@every_variant
def test_randomness_decides_everything_and_is_left_alone(name, form):
    process = random_process(2)
    algorithm = prepare(name, process, parameterization=form)
    words, normals = randomness(algorithm, 2, 5)
    kept = words.copy(), normals.copy()
    results = []
    for fresh in (algorithm, algorithm, prepare(name, process, parameterization=form)):
        theta = fresh.initial_parameter()
        results.append((*fresh.advance(theta, 0.25, words, normals), theta))
    for result in results[1:]:
        for ours, theirs in zip(results[0], result, strict=True):
            assert np.array_equal(ours, theirs)
    assert (words == kept[0]).all()
    assert (normals == kept[1]).all()


@every_variant
def test_iterations_may_be_done_in_pieces(name, form):
    algorithm = prepare(name, random_process(3), parameterization=form, pairs=2)
    words, normals = randomness(algorithm, 3, 9)
    whole = algorithm.initial_parameter()
    policies, multipliers, last = algorithm.advance(whole, 0.0, words, normals)
    theta, multiplier, first = algorithm.initial_parameter(), 0.0, 0
    for count in (1, 0, 5, 3):
        piece = slice(first, first + count)
        some, some_multipliers, multiplier = algorithm.advance(
            theta, multiplier, words[piece], normals[piece]
        )
        assert (some == policies[piece]).all()
        assert (some_multipliers == multipliers[piece]).all()
        first += count
    assert (theta == whole).all()
    assert multiplier == last


@every_variant
def test_policy_of_a_parameter(name, form):
    process = random_process(4)
    algorithm = prepare(name, process, parameterization=form)
    theta = random_policies(4, process)
    kept = theta.copy()
    expected = softmax(theta) if form == "softmax" else theta
    result = algorithm.policy(theta)
    np.testing.assert_allclose(result, expected, rtol=1e-14)
    result[:] = 7
    assert (theta == kept).all()


@every_variant
def test_start_from_a_given_policy(name, form):
    process = random_process(5)
    algorithm = prepare(name, process, parameterization=form)
    policy = random_policies(5, process)
    theta = algorithm.initial_parameter(policy.tolist())
    np.testing.assert_allclose(algorithm.policy(theta), policy, rtol=1e-14)
    words, normals = randomness(algorithm, 5, 2)
    kept = policy.copy()
    theta = algorithm.initial_parameter(policy)
    policies, _, _ = algorithm.advance(theta, 0.0, words, normals)
    np.testing.assert_allclose(policies[0], policy, rtol=1e-14)
    assert (policy == kept).all()  # the caller's array is not the parameter


@every_variant
@pytest.mark.parametrize(
    "policy",
    [
        [[0.5, 0.5]] * 2,
        [[0.5, 0.6]] * 3,
        [[1.5, -0.5]] * 3,
        [[[0.5, 0.5]] * 3] * 2,
        "uniform",
        [[0.5, 0.5], [1.0]],
        {},
        0.5,
        [[np.nan, 1.0]] * 3,
    ],
)
def test_bad_start_is_named(name, form, policy):
    algorithm = prepare(name, random_process(6), parameterization=form)
    with pytest.raises(ValueError, match=r"^initial_policy: "):
        algorithm.initial_parameter(policy)


@every_variant
def test_start_at_a_vertex(name, form):
    algorithm = prepare(name, random_process(7), parameterization=form)
    vertex = [[1.0, 0.0]] * 3
    if form == "softmax":
        with pytest.raises(ValueError, match=r"^initial_policy: .* zero"):
            algorithm.initial_parameter(vertex)
    else:
        assert (algorithm.initial_parameter(vertex) == vertex).all()


@every_algorithm
def test_given_steps_are_used_even_if_zero(name):
    zero = {"primal_step": 0.0, "dual_step": 0.0, "multiplier_bound": 0.0}
    algorithm = prepare(name, random_process(9), **zero)
    for attribute in zero:
        assert getattr(algorithm, attribute) == 0
    words, normals = randomness(algorithm, 9, 3)
    theta = algorithm.initial_parameter()
    before = algorithm.policy(theta)
    policies, multipliers, last = algorithm.advance(theta, 0.0, words, normals)
    np.testing.assert_allclose(policies, np.broadcast_to(before, policies.shape), rtol=1e-15)
    assert (*multipliers, last) == (0,) * 4


@every_algorithm
def test_parameterization_that_it_cannot_run_with_is_refused(name):
    for form in {"softmax", "direct"} - set(ALGORITHMS[name].parameterizations):
        with pytest.raises(ValueError, match=f"^parameterization: {name} runs with "):
            prepare(name, random_process(10), parameterization=form)
