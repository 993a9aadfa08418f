"""The theorems' step sizes and printed bounds, and what is outside of their assumptions."""

import dataclasses
import math

import pytest

from pgpd_hf import NPGPD, NPGPDHF, PGPD, ZPGPDHF, solve
from pgpd_hf.evaluators import LINKS, feedback_bias
from pgpd_hf.theory import OutsideAssumptions, printed_bounds
from reference import random_process, resolvent

T, N, H = 900, 7, 6


@pytest.mark.parametrize("evaluators", [2, 50, None])
@pytest.mark.parametrize("scale", [1.0, 0.2])
@pytest.mark.parametrize(
    ("algorithm", "exact", "mu"), [(NPGPDHF, NPGPD, 1), (ZPGPDHF, PGPD, 0.3), (ZPGPDHF, PGPD, None)]
)
def test_steps_and_bounds_are_the_papers(algorithm, exact, mu, scale, evaluators):
    """As in the paper with rewards in [0, 1]; else values are at most B = scale / (1 - gamma)."""
    cmdp = random_process(3, 3, 2, 0.8, threshold=1.2 * scale, scale=scale)
    optimum, options = solve(cmdp), {"evaluators": evaluators, "rounds": N, "horizon": H}
    options |= {"perturbation": mu} if algorithm is ZPGPDHF else {}
    ours = algorithm(**options)

    b, g = scale / 0.2, scale * sum(0.8**t for t in range(H + 1))
    cap, truncation, lipschitz = 2 / (0.2 * optimum.slack), b * 0.8**H, 4 * math.cosh(g / 2) ** 2
    beta, square, m = 0.0, 0.0, evaluators
    if m is not None:
        beta = lipschitz * math.sqrt(2 * math.log(m) / m) + 2 * g / m**2
        square = 2 * lipschitz**2 * math.log(m) / m + 4 * g**2 / m**2
    sigma_2 = 3 * square + 6 * g**2 / N + 6 * truncation**2 + 3 * b**2
    mu = mu or math.sqrt(max(2 * 0.8**H / 0.2, beta))
    if algorithm is NPGPDHF:
        primal, dual = 2 * math.log(2), 0.2 / 30
        lagrangian = math.log(2) / (primal * T) + b / (0.2 * T)
        lagrangian += 2 * dual * b**2 / 0.2 + 2 * (1 + cap) / 0.2 * (beta + 2 * truncation)
    else:
        mismatch = max(0.2 * cmdp.initial @ resolvent(cmdp, optimum.policy) / cmdp.initial)
        distance, curvature = 24 / 0.2**2 * mismatch**2, 4 * (1 + 2 / optimum.slack) / 0.2**4
        primal, dual = 1 / curvature, 0.2**2 * distance * curvature / (2 * 30)
        bias = 6 * (mu * (2 * scale * 0.8 * 2 / 0.2**3) / 2 + (2 * truncation + beta) / mu)
        lagrangian = 2 * distance * curvature / T**0.25 + (1 + cap) * math.sqrt(distance) * bias
    gap = lagrangian + cap * (truncation + beta) + dual * sigma_2 / 2
    violation = 2 / cap * (lagrangian + cap**2 / (2 * dual * T) + dual * sigma_2 / 2)
    assert printed_bounds(cmdp, optimum, ours, T) == pytest.approx((gap, violation), rel=1e-12)
    for theirs in (ours, exact()):
        steps = theirs.prepare(cmdp, optimum, T).steps
        expected = pytest.approx((primal, dual, cap), rel=1e-12)
        assert (steps.primal, steps.dual, steps.multiplier_bound) == expected


def test_bias_of_a_single_evaluator_is_told_where_l_is_infinite():
    assert feedback_bias(1, LINKS["probit"], 1000.0) == 2000.0


@pytest.mark.parametrize(
    ("change", "options", "name"),
    [
        ({"scale": 1.5}, {}, "scale"),
        ({"threshold": -0.1}, {}, "threshold"),
        ({"initial": [0.5, 0.5, 0.0]}, {"primal_step": 0.1, "dual_step": 0.1}, "initial"),
        ({}, {"normalize": "linear"}, "normalize"),
        ({}, {"random_answers": 0.1}, "random_answers"),
        ({}, {"directions": "tangent"}, "directions"),
        ({}, {"dual_step": 0}, "dual_step"),
        ({"discount": 0.999}, {"link": "probit", "horizon": 100}, "link"),
    ],
)
def test_setting_outside_of_the_assumptions_is_refused(change, options, name):
    cmdp = dataclasses.replace(random_process(3, 3, 2, 0.8, threshold=1.2), **change)
    algorithm = ZPGPDHF(**{"evaluators": 4, "horizon": H, "perturbation": 0.3, **options})
    with pytest.raises(OutsideAssumptions, match=f"^{name}: "):
        printed_bounds(cmdp, solve(cmdp), algorithm, 10)
