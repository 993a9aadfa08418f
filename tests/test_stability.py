"""Predictions of stability: the law of the policy at a frozen multiplier, against exact chains."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy import special, stats

from pgpd_hf import CMDP, ZPGPDHF, predict_stability, random_cmdp, solve, stability
from pgpd_hf.primal_dual import Run
from reference import LEVEL

PRINTED = {"evaluators": 16, "primal_step": 0.001, "dual_step": 0.0003}
BANDIT = CMDP([[[1.0], [1.0]]], [[0.55, 0.45]], [[0.44, 0.56]], [1.0], 0.0, 0.5)


def outcomes(grid, multiplier, radius, angles=48, evaluators=4):
    """All that Algorithm 2 can draw at policies (x, 1 - x): chances, answers' sums, tilts of v."""
    votes = np.arange(evaluators + 1)
    numbers = np.clip(special.logit(votes / evaluators), -1, 1)  # the largest return is one
    for angle in 2 * math.pi * (np.arange(angles) + 0.5) / angles:
        tilt = (math.cos(angle) - math.sin(angle)) / 2  # of v, once its mean is projected away
        perturbed = np.clip(grid + radius * tilt, 0, 1)
        for one, other in itertools.product(range(2), repeat=2):
            chance = np.where(one == 0, grid, 1 - grid) / angles
            chance = chance * np.where(other == 0, perturbed, 1 - perturbed)
            r, g = (
                stats.binom.pmf(votes, evaluators, special.expit(signal[0, other] - signal[0, one]))
                for signal in (BANDIT.reward, BANDIT.utility)
            )
            for (i, p), (j, q) in itertools.product(enumerate(r), enumerate(g)):
                yield chance * p * q, numbers[i] + multiplier * numbers[j], tilt


@pytest.mark.parametrize("power", [0, 2])
@pytest.mark.parametrize("multiplier", [0.5, 4.0])
def test_mean_values_are_those_of_the_exact_chain(power, multiplier):
    """A bandit with two arms; between points of the grid chances are shared so that means stay."""
    radius, cells, step = 0.5, 401, 0.006 / math.sqrt(1 + multiplier**2)
    grid, places, kernel = np.linspace(0, 1, cells), np.arange(cells), np.zeros(cells**2)
    for chance, y, tilt in outcomes(grid, multiplier, radius):
        moved = np.clip(grid + step * 2 / radius * y * tilt, 0, 1) * (cells - 1)
        left = np.minimum(moved.astype(int), cells - 2)
        np.add.at(kernel, places * cells + left, chance * (1 - moved + left))
        np.add.at(kernel, places * cells + left + 1, chance * (moved - left))
    system = kernel.reshape(cells, cells).T - np.eye(cells)
    system[-1] = 1
    law = np.linalg.solve(system, np.eye(cells)[-1])
    given = {"evaluators": 4, "horizon": 0, "perturbation": radius, "multipliers": [multiplier]}
    given["primal_step"] = step * (1 + multiplier**2 if power else 1)
    given["normalize"] = "quadratic" if power else "none"
    found = predict_stability(BANDIT, "zpgpd_hf", **given)
    for value, signal in ((found.rewards, BANDIT.reward), (found.utilities, BANDIT.utility)):
        exact = law @ (grid * signal[0, 0] + (1 - grid) * signal[0, 1])
        assert value[0] == pytest.approx(exact, abs=0.002)


@pytest.mark.parametrize(("evaluators", "rounds"), [(16, 1), (16, 4), (None, 1)])
def test_noise_is_that_of_the_algorithm_s_own_estimates(evaluators, rounds):
    """Of returns alone, whose covariances are predicted, with infinitely many evaluators."""
    cmdp = random_cmdp()
    algorithm = ZPGPDHF(**PRINTED | {"evaluators": evaluators, "rounds": rounds})
    setting, theta = algorithm.prepare(cmdp, solve(cmdp), 1), algorithm.start(cmdp)
    case = Run(algorithm, setting, 21, "run")
    drawn = [case.ask(theta) for _ in range(4000)]
    both = np.array([[it.reward, it.utility] for it in drawn])  # along one direction each
    both *= setting.perturbation.radius / setting.perturbation.dimension
    predicted = stability._Law(cmdp, stability._prepared(cmdp, algorithm)).noise
    products = np.einsum("nisa,njsa->nij", both, both)
    assert stats.ttest_1samp(products, predicted).pvalue.min() > LEVEL


@pytest.mark.parametrize(
    ("change", "peak", "breaks"),
    [
        ({}, -0.03113223179483604, True),
        ({"rounds": 10}, 0.06769166296649143, False),
        ({"evaluators": 64}, 0.01252331221232117, False),
        ({"normalize": "linear"}, 0.043913567437747436, False),
        ({"directions": "tangent"}, -0.018459505069095217, True),
        ({"estimator": "unbiased"}, -0.03166794926362859, True),
        ({"random_answers": 0.3}, -0.04961932812104708, True),
        ({"rounds": 2, "dual_step": None}, 0.005607204752029138, False),
        ({"rounds": 2, "dual_step": 0.00127}, 0.005607204752029138, False),
        ({"rounds": 2, "dual_step": 0.00128}, 0.005607204752029138, True),
    ],
)
def test_predictions_are_those_on_record(change, peak, breaks):
    """Of an earlier version of this package."""
    found = predict_stability(random_cmdp(), "zpgpd_hf", **PRINTED | change)
    assert found.peak == pytest.approx(peak, abs=1e-8)
    assert found.breaks == breaks
    assert (found.stable is None) == (peak < 0)
    if found.stable is not None:  # larger multipliers do not show where the excess rises
        later = np.linspace(found.stable + 0.1, found.stable + 0.2, 2)
        further = predict_stability(
            random_cmdp(), "zpgpd_hf", **PRINTED | change, multipliers=later
        )
        assert (further.breaks, further.stable) == (False, None)


def test_without_pressure_or_with_too_much_the_policy_is_as_safe_as_the_uniform_one():
    safe = dataclasses.replace(BANDIT, utility=[[0.9, 0.7]])
    found = predict_stability(safe, "zpgpd_hf", **PRINTED, horizon=0, perturbation=0.5)
    assert (found.breaks, found.stable, found.unstable) == (False, 0.0, None)
    cmdp = random_cmdp()
    pressed = predict_stability(cmdp, "zpgpd_hf", **PRINTED, multiplier_bound=1e5).utilities[-1]
    assert pressed == pytest.approx(cmdp.evaluate(np.full((10, 4), 0.25))[1], abs=0.005)
    with pytest.raises(ValueError, match="^algorithm: zpgpd_hf, direct"):
        predict_stability(cmdp, "zpgpd_hf", **PRINTED, parameterization="softmax")
