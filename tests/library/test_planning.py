"""NPG-PD on estimated signals, with the multiplier rule of Safe RLHF."""

import numpy as np
import pytest
from preparing import prepare, randomness
from reference import softmax

from pgpd_hf import random_cmdp, solve
from pgpd_hf.core.planning import primal_dual


@pytest.mark.parametrize(("scale", "threshold"), [("normalized", 0.5), ("unit", 5.0)])
def test_iterations_are_those_of_the_rule(scale, threshold):
    """Against the formulas, with everything from the model's own methods."""
    cmdp = random_cmdp(4, 3, 5, scale=scale, threshold=threshold)
    theta, multiplier = np.zeros((4, 3)), 1.0
    for _ in range(4):
        policy = softmax(theta)
        lagrangian = (cmdp.reward + multiplier * cmdp.utility) / (1 + multiplier)
        cost = (threshold - cmdp.evaluate(policy)[1]) / cmdp.value_bound
        theta += cmdp.advantages(policy, lagrangian) / cmdp.value_bound
        multiplier = np.exp(np.log(multiplier) + 0.01 * multiplier * cost)
    found = primal_dual(cmdp, cmdp.reward, cmdp.utility, 10.0, iterations=4)
    np.testing.assert_allclose(found[0], softmax(theta), rtol=1e-11)
    assert found[1] == pytest.approx(multiplier, rel=1e-11)


@pytest.mark.parametrize("instance", [1, 4, 7])
def test_it_gets_close_to_the_linear_program(instance):
    """Priced gaps after the default number of iterations; they are never negative."""
    cmdp = random_cmdp(instance=instance)
    optimum = solve(cmdp)
    policy, _ = primal_dual(cmdp, cmdp.reward, cmdp.utility, 50.0)
    reward, utility = cmdp.evaluate(policy)
    violation = cmdp.threshold - utility
    assert -1e-9 < optimum.reward_value - reward + optimum.multiplier * violation < 0.01
    assert violation < 0.01


def test_multiplier_is_bounded_where_no_policy_is_safe():
    cmdp = random_cmdp(3, 2)
    policy, multiplier = primal_dual(cmdp, cmdp.reward, np.zeros((3, 2)), 7.0)
    assert multiplier == 7
    assert np.isfinite(policy).all()


def test_a_multiplier_bound_of_zero_ignores_the_constraint():
    cmdp = random_cmdp(3, 2)
    ignored, multiplier = primal_dual(cmdp, cmdp.reward, cmdp.utility, 0.0, iterations=50)
    useless, _ = primal_dual(cmdp, cmdp.reward, np.zeros((3, 2)), 0.0, iterations=50)
    assert multiplier == 0
    assert (ignored == useless).all()


def test_multiplier_may_grow_beyond_the_range_of_the_exponential():
    """A small Slater slack has a large bound; one step may then multiply by more than a float."""
    cmdp = random_cmdp(3, 2)
    policy, multiplier = primal_dual(cmdp, cmdp.reward, np.zeros((3, 2)), 1e6)
    assert multiplier == 1e6
    assert np.isfinite(policy).all()


def test_safe_rlhf_takes_it_as_an_option():
    cmdp = random_cmdp(3, 2, 1, threshold=0.4)
    options = {"rounds": 200, "horizon": 20, "evaluators": 3}
    fits = []
    for planner in ("linear-program", "npg-pd"):
        algorithm = prepare("safe_rlhf", cmdp, planner=planner, **options)
        words, normals = randomness(algorithm, 0, 1)
        fits.append(algorithm.advance(algorithm.initial_state(), words, normals)[2])
    assert (fits[0].reward == fits[1].reward).all()
    expected = primal_dual(cmdp, fits[1].reward, fits[1].utility, algorithm.multiplier_bound)
    assert (fits[1].theta == expected[0]).all()
    assert not (fits[0].theta == fits[1].theta).all()
