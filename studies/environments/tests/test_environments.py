"""Published numbers of the environments, and how the ends of runs are read."""

from pathlib import Path

import numpy as np
import pytest
import yaml
from environments.ding import UNIT, ding_cmdp
from environments.ends import ends

from pgpd_hf import CMDP, run, solve, solve_unconstrained
from pgpd_hf.environments import make_environment
from pgpd_hf.optimum import METHODS

FOLDER = Path(__file__).parents[1]


@pytest.mark.parametrize("method", METHODS)
def test_optimum_of_ding_et_al_is_that_of_the_published_code(method):
    optimum = solve(ding_cmdp(), method)
    assert optimum.reward_value / UNIT == pytest.approx(4.462444, abs=5e-7)
    assert optimum.multiplier == pytest.approx(0.2427, abs=5e-5)


def test_frozen_lake_has_its_published_value_and_a_constraint_that_binds():
    pytest.importorskip("gymnasium")
    declared = yaml.safe_load((FOLDER / "config.yaml").read_text())["environments"]
    cmdp = make_environment(declared["frozen-lake"]["environment"], FOLDER)
    free = solve_unconstrained(cmdp)
    assert cmdp.in_units(free.reward_value, 0)[0] == pytest.approx(0.41464, abs=5e-6)
    assert solve(cmdp).multiplier > 0.01


def priced(at_most):
    """A process with rewards and costs of other sizes, of which so much is allowed."""
    random = np.random.default_rng(0)
    transition = random.dirichlet(np.ones(3), (3, 2))
    reward, cost = random.normal(size=(2, 3, 2)) * [[[7.0]], [[3.0]]]
    return CMDP.from_costs(transition, reward, cost, at_most, initial=[1, 0, 0], discount=0.9)


def test_ends_are_in_the_users_units():
    free = priced(at_most=100)
    most = free.in_units(*free.evaluate(solve_unconstrained(free).policy))[1] - 0.1
    cmdp = priced(most)
    optimum = solve(cmdp)
    options = {"primal_step": 0.1, "dual_step": 0.1, "evaluators": 8, "horizon": 9}
    trace = run(cmdp, "npgpd_hf", seeds=[0, 1, 2], iterations=5, **options)
    row = ends(trace.assign(environment="any"), cmdp, optimum).iloc[0]
    last = trace[trace["iteration"] == 5]
    reward, cost = cmdp.in_units(last["reward_value"].mean(), last["utility_value"].mean())
    best = cmdp.in_units(optimum.reward_value, 0)[0]
    assert row["gap"] == pytest.approx(best - reward)
    assert row["violation"] == pytest.approx(cost - most)
    uniform = cmdp.in_units(*cmdp.evaluate(np.full((3, 2), 0.5)))[0]
    assert row["gap_first"] == pytest.approx(best - uniform)
