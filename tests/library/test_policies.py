"""Softmax and projection: optimality conditions and independent formulations."""

import numpy as np
import pytest
from reference import project
from scipy import special
from scipy.optimize import minimize

from pgpd_hf.core.policies import project_rows, softmax, uniform_policy


def thetas(seed, scale, rows=50, columns=4):
    return scale * np.random.default_rng(seed).normal(size=(rows, columns))


def projected(theta):
    result = np.full_like(theta, np.nan)
    project_rows(theta, result)
    return result


@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0, 1e4])
@pytest.mark.parametrize("columns", [1, 2, 7])
def test_softmax_is_that_of_scipy(scale, columns):
    theta = thetas(1, scale, columns=columns)
    policy = np.full_like(theta, np.nan)
    softmax(theta, policy)
    np.testing.assert_allclose(policy, special.softmax(theta, axis=1), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("shift", [-1e308, -745.0, 0.0, 710.0, 1e308])
def test_softmax_of_huge_parameters_is_finite(shift):
    theta = np.array([[shift, shift], [0.0, shift]])
    policy = np.empty_like(theta)
    softmax(theta, policy)
    np.testing.assert_allclose(policy.sum(1), 1, rtol=1e-15)
    assert (policy[0] == 0.5).all()
    assert policy[1, 1] == pytest.approx(special.expit(shift), abs=1e-300)


@pytest.mark.parametrize("write", [softmax, project_rows])
def test_result_may_overwrite_the_parameter(write):
    theta = thetas(2, 1.0)
    kept, result = theta.copy(), np.empty_like(theta)
    write(theta, result)
    assert (theta == kept).all()
    write(theta, theta)
    assert (theta == result).all()


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("columns", [1, 2, 3, 10])
def test_projection_satisfies_the_optimality_conditions(scale, columns):
    """There is a shift nu with x = theta - nu where x > 0 and theta - nu <= 0 elsewhere."""
    theta = thetas(3, scale, columns=columns)
    x = projected(theta)
    assert (x >= 0).all()
    np.testing.assert_allclose(x.sum(1), 1, atol=1e-13 * max(1, scale))
    for row, result in zip(theta, x, strict=True):
        shifts = row - result
        nu = shifts[result > 0].mean()
        np.testing.assert_allclose(shifts[result > 0], nu, atol=1e-13 * max(1, scale))
        assert (row[result == 0] <= nu + 1e-13 * max(1, scale)).all()


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 100.0])
@pytest.mark.parametrize("columns", [1, 2, 3, 10])
def test_projection_agrees_with_bisection(scale, columns):
    theta = thetas(4, scale, columns=columns)
    np.testing.assert_allclose(projected(theta), project(theta), atol=1e-13 * max(1, scale))


def test_projection_is_the_nearest_point_of_the_simplex():
    """By a general solver, for a few rows."""
    theta = thetas(5, 1.0, rows=5, columns=4)
    for row, result in zip(theta, projected(theta), strict=True):
        found = minimize(
            lambda x, row=row: ((x - row) ** 2).sum(),
            np.full(4, 0.25),
            jac=lambda x, row=row: 2 * (x - row),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda x: x.sum() - 1, "jac": np.ones_like},
            method="SLSQP",
            options={"ftol": 1e-14},
        )
        np.testing.assert_allclose(result, found.x, atol=1e-6)


@pytest.mark.parametrize(
    ("theta", "expected"),
    [
        ([0.2, 0.3, 0.5], [0.2, 0.3, 0.5]),
        ([1.2, 1.3, 1.5], [0.2, 0.3, 0.5]),
        ([5.0, 0.0, 0.0], [1, 0, 0]),
        ([0.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3]),
        ([-1.0, -1.0, -9.0], [0.5, 0.5, 0]),
        ([0.9, 0.3, 0.0], [0.8, 0.2, 0]),
        ([0.0, 0.3, 0.9], [0, 0.2, 0.8]),
        ([1.0, 0.0, 0.0], [1, 0, 0]),
        ([7.0], [1]),
    ],
)
def test_projection_by_hand(theta, expected):
    np.testing.assert_allclose(projected(np.array([theta])), [expected], atol=1e-15)


def test_rows_are_projected_apart():
    theta = thetas(6, 1.0)
    together = projected(theta)
    for s in range(len(theta)):
        assert (projected(theta[s : s + 1]) == together[s]).all()


def test_uniform_policy():
    assert (uniform_policy(3, 4) == np.full((3, 4), 0.25)).all()
