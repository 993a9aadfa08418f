from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from pgpd_hf import CMDP, random_cmdp
from pgpd_hf.core import optima
from pgpd_hf.core.evaluators import feedback_bias_bound
from pgpd_hf.core.links import get_link
from replication.analyses import effects
from replication.theory import exact, predictions


@pytest.fixture(scope="module")
def constant():
    """Every step is worth the same, so every tail is known."""
    cmdp = random_cmdp(states=3, actions=2)
    ones = np.ones((3, 2))
    return CMDP(cmdp.transition, 0.1 * ones, 0.1 * ones, cmdp.initial, 0.9, 0.5)


@pytest.mark.parametrize("horizon", [0, 3, 20])
def test_constant_signal_truncates_only_the_dual(constant, horizon):
    policy = np.full((3, 2), 0.5)
    primal, dual = exact.truncation_biases(constant, policy, horizon)
    assert primal == pytest.approx(0, abs=1e-14)
    assert dual == pytest.approx(-(0.9 ** (horizon + 1)), abs=1e-14)


def test_truncation_acts_through_the_dual():
    cmdp = random_cmdp()
    primal, dual = exact.truncation_biases(cmdp, optima.solve(cmdp).policy, 20)
    assert dual < -0.05
    assert primal < 1e-10


def test_truncated_optimum_meets_the_constraint_that_the_dual_sees():
    cmdp = random_cmdp()
    optimum = optima.solve(cmdp)
    policy, feasible = predictions.truncated_optimum(cmdp, 30)
    assert feasible
    reward, utility = cmdp.evaluate(policy)
    assert utility > cmdp.threshold + 0.01
    assert reward < optimum.reward_value
    # It is the optimum for its own utility, and there the truncated value is b.
    tightened = optima.solve(replace(cmdp, threshold=float(utility)))
    assert reward == pytest.approx(tightened.reward_value, abs=1e-8)
    dual = exact.truncation_biases(cmdp, policy, 30)[1]
    assert utility + dual == pytest.approx(cmdp.threshold, abs=1e-8)


def test_too_short_trajectories_leave_only_the_safest_policy():
    cmdp = random_cmdp()
    policy, feasible = predictions.truncated_optimum(cmdp, 5)
    assert not feasible
    assert cmdp.evaluate(policy)[1] == pytest.approx(cmdp.threshold + optima.solve(cmdp).slack)


def test_long_trajectories_change_nothing():
    cmdp = random_cmdp()
    policy, _ = predictions.truncated_optimum(cmdp, 400)
    optimum = optima.solve(cmdp)
    assert cmdp.evaluate(policy) == pytest.approx((optimum.reward_value, 0.55), abs=1e-8)


def test_feedback_moments_of_one_evaluator_who_is_always_clipped(constant):
    """All differences are zero: one vote gives the end of the interval, up or down."""
    policy = np.full((3, 2), 0.5)
    table = predictions.feedback_moments(constant, policy, 80, "logistic", [1, None], count=3)
    bound = constant.return_bound(80)
    assert table["primal_square"][0] == pytest.approx(bound**2)
    assert table["primal_bias"][0] == pytest.approx(0, abs=1e-12)
    assert table["sampling_square"][0] == pytest.approx(0, abs=1e-24)
    assert list(table["evaluators"].isna()) == [False, True]
    assert (table.loc[1, ["primal_bias", "primal_square", "dual_bias", "promised"]] == 0).all()


def test_feedback_noise_falls_like_one_over_M_and_bias_stays_far_below_the_promise():
    cmdp = random_cmdp()
    policy = np.full((10, 4), 0.25)
    table = predictions.feedback_moments(cmdp, policy, 80, "logistic", [64, 256, 1024], count=5)
    slope = np.polyfit(np.log(table["evaluators"]), np.log(table["primal_square"]), 1)[0]
    assert slope == pytest.approx(-1, abs=0.03)
    assert (table["primal_bias"] < table["promised"] / 100).all()


def test_feedback_bias_bound_is_the_lemmas():
    link = get_link("logistic")
    expected = 4 * np.cosh(0.5) ** 2 * np.sqrt(2 * np.log(16) / 16) + 2 / 256
    assert feedback_bias_bound(16, link, 1.0) == pytest.approx(expected)
    assert feedback_bias_bound(None, link, 1.0) == 0


def test_errors_of_both_estimators_are_those_of_the_enumeration():
    """Largest bias and variance at M = 16 and 256, found on a finer grid by SciPy alone."""
    bound = 1 - 0.9**81
    table = predictions.estimator_errors("logistic", bound, [16, 256]).set_index(
        ["estimator", "evaluators"]
    )
    assert table["bias"].round(4).to_dict() == {
        ("plug-in", 16): 0.2033,
        ("plug-in", 256): 0.0542,
        ("unbiased", 16): 0.0003,
        ("unbiased", 256): 0.0,
    }
    assert (table["deviation"] ** 2).round(4).to_dict() == {
        ("plug-in", 16): 0.2455,
        ("plug-in", 256): 0.0173,
        ("unbiased", 16): 0.3317,
        ("unbiased", 256): 0.0199,
    }
    assert table["promised"]["plug-in", 256] == feedback_bias_bound(
        256, get_link("logistic"), bound
    )


def test_refused_estimator_has_no_errors():
    table = predictions.estimator_errors("cauchy", 1.0, [1, 4, 8])
    assert list(table["estimator"]) == ["plug-in"] * 3 + ["unbiased"]
    assert list(table["evaluators"]) == [1, 4, 8, 8]


def test_effects_are_read_off_the_runs_that_they_name():
    """An excess is over M = ∞ of the same curve, from M = 16 on; a share is of the run's start."""
    values = {"people": (4, 16, 64, 256, 1024, np.inf), "states": (5, 10), "rounds": (1,)}
    rows = [
        {"sweep": sweep, "curve": curve, "value": float(value), "algorithm": "zpgpd_hf", "seed": 0}
        for sweep, found in values.items()
        for curve in (["μ = 1", "μ = theorem"] if sweep == "people" else [""])
        for value in found
    ]
    table = pd.DataFrame(rows)
    table["evaluators"] = table["value"].where(table["sweep"].eq("people") & table["value"].lt(1e9))
    table = table.assign(**dict.fromkeys(effects.summaries.METRICS, 0.0))
    table["priced_gap"] = np.arange(1.0, len(table) + 1)
    table["start_priced_gap"] = 10 * table["priced_gap"] ** 2
    parts = effects.parts(table)
    many = parts["excess over M = ∞, M ≥ 16"]
    excess = dict(zip(many["value"], many["priced_gap"], strict=True))
    assert excess == {16: -4, 64: -3, 256: -2, 1024: -1}
    assert set(many["curve"]) == {"μ = 1"}  # Theorem 2's radius changes with M
    assert parts["excess over M = ∞, 16 ≤ M ≤ 256"]["value"].tolist() == [16, 64, 256]
    sizes = parts["share of the start that is left"]["priced_gap"]
    assert sizes.tolist() == pytest.approx([1 / 130, 1 / 140])


def test_bias_of_the_dual_step_is_that_of_answers_about_the_threshold(constant):
    """All answers of one kind are about one difference here, so that the errors are known."""
    link, policy = get_link("logistic"), np.full((3, 2), 0.5)
    table = predictions.feedback_moments(constant, policy, 20, "logistic", [16], count=3)
    bound = constant.return_bound(20)
    error = exact.feedback_error([1 - 0.9**21 - constant.threshold], 16, link, bound)
    assert table["dual_bias"].item() == pytest.approx(error.bias.item())
    assert table["dual_square"].item() == pytest.approx(error.square.item())
    assert abs(error.bias.item()) > 0.01
