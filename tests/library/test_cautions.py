"""Runs that say little come with a warning, which names the remedy."""

import warnings

import pytest

from pgpd_hf import CMDP, NPGPD, NPGPDHF, ZPGPDHF, random_cmdp, run, solve
from pgpd_hf.core.evaluators import wide_values
from pgpd_hf.stability import StabilityWarning

STEPS = {"primal_step": 0.3, "dual_step": 0.1}


def told(cmdp, algorithm, iterations=5):
    """What a run warns of, and where each warning points to."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        run(cmdp, algorithm, seeds=[0], iterations=iterations)
    kinds = [it for it in found if it.category is not StabilityWarning]
    assert {(it.category, it.filename) for it in kinds} <= {(UserWarning, __file__)}
    return [str(it.message) for it in kinds]


def times(cmdp, factor):
    """The CMDP in another scale."""
    parts = {name: getattr(cmdp, name) * factor for name in ("reward", "utility", "threshold")}
    kept = {name: getattr(cmdp, name) for name in ("transition", "discount", "initial")}
    return CMDP(**kept, **parts, scale=cmdp.scale * factor)


def test_values_beyond_one_are_told_where_people_vote():
    wide = times(random_cmdp(), 10)
    line = wide_values(wide)
    assert line.startswith("values lie in [0, 10], where votes are almost unanimous and say little")
    assert told(wide, NPGPDHF(evaluators=4, **STEPS)) == [line]
    assert told(wide, NPGPDHF(evaluators=None, **STEPS)) == []
    assert told(wide, NPGPD(**STEPS)) == []
    assert told(random_cmdp(), NPGPDHF(evaluators=4, **STEPS)) == []


@pytest.mark.parametrize("factor", [0.9, 1.1])
def test_multiplier_that_cannot_reach_the_optimum_is_told(factor):
    cmdp = random_cmdp()
    needed = solve(cmdp).multiplier
    lines = told(cmdp, NPGPD(**STEPS, multiplier_bound=factor * needed))
    assert lines == [
        f"multiplier_bound: {factor * needed:g} is below the optimal multiplier, {needed:.3g}, so "
        "the runs cannot reach the optimum"
    ] * (factor < 1)


def test_theorems_bound_that_is_too_low_in_a_wide_scale_is_told():
    """The bound 2 / ((1 - gamma) xi) falls as the scale grows, and the optimal multiplier stays."""
    for factor, low in ((1, False), (1000, True)):
        lines = told(times(random_cmdp(), factor), NPGPD(primal_step=1e-4, dual_step=1e-4))
        assert any(line.startswith("multiplier_bound: 0.19") for line in lines) == low


@pytest.mark.parametrize(
    ("steps", "iterations", "still"), [({}, 1000, True), ({}, 999, False), (STEPS, 1000, False)]
)
def test_theorem_s_steps_that_do_nothing_are_told(steps, iterations, still):
    lines = told(random_cmdp(), ZPGPDHF(evaluators=16, **steps), iterations)
    assert len(lines) == still
    for line in lines:
        assert line.startswith("ZPGPD-HF hardly moves with the theorem's steps: in 1,000 iterat")
        assert line.endswith("choose_steps finds steps that do more")


def test_theorem_s_steps_that_do_nothing_are_told_of_phases_too():
    phases = [{"iterations": 500}] * 2
    with pytest.warns(UserWarning, match=r"hardly moves with the theorem's steps: in 1,000"):
        run(random_cmdp(), ZPGPDHF(evaluators=16), seeds=[0], phases=phases)


def test_theorem_s_steps_that_do_something_are_not():
    assert told(random_cmdp(), NPGPDHF(evaluators=16), 1000) == []


@pytest.mark.parametrize(
    ("discount", "options", "count"),
    [(0.99999, {}, 1), (0.99999, {"horizon": 10}, 0), (0.999, {}, 0)],
)
def test_default_horizon_that_misses_much_of_a_value_is_told(discount, options, count):
    cmdp = random_cmdp(2, 2, discount=discount, threshold="midway")
    lines = told(cmdp, NPGPDHF(evaluators=4, **STEPS, **options), 1)
    beginning = "horizon: the default, 100000, misses 0.37 of a value"
    assert [it.startswith(beginning) for it in lines if it.startswith("horizon")] == [True] * count
