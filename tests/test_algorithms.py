"""The paper's algorithms: its pseudo-code, run by run, and exact limits."""

import dataclasses
import itertools

import numpy as np
import pytest

from pgpd_hf import ALGORITHMS, run
from reference import iterates, random_policies, random_process, values

ASKING, EXACT = ("npgpd_hf", "zpgpd_hf"), ("npg_pd", "pg_pd")
COLUMNS = ["reward_value", "utility_value", "multiplier"]
every_algorithm = pytest.mark.parametrize("name", ALGORITHMS)
asking_algorithms = pytest.mark.parametrize("name", ASKING)


def with_defaults(name, options):
    """Options of an algorithm that leave nothing to its theorem."""
    usual = {"primal_step": 0.3, "dual_step": 0.2, "multiplier_bound": 1.5}
    usual |= {"evaluators": 16, "horizon": 5} if name in ASKING else {}
    return usual | ({"perturbation": 0.4} if name == "zpgpd_hf" else {}) | options


def follow(cmdp, name, iterations, seeds=(3,), **options):
    """Trace with a row for every iterate, and the last policies."""
    every = {"checkpoints": range(iterations + 1), "return_policies": True, "seeds": seeds}
    return run(cmdp, name, iterations=iterations, **every, **with_defaults(name, options))


def assert_followed(cmdp, name, iterations=3, policy=None, multiplier=0.0, **options):
    """Decisions are the slow version's, so that real numbers differ by rounding only."""
    start = {"initial_policy": policy, "initial_multiplier": multiplier}
    trace, policies = follow(cmdp, name, iterations, **start, **options)
    start = {"policy": policy, "multiplier": multiplier, "seed": 3}
    slow = iterates(name, cmdp, iterations, **start, **with_defaults(name, options))
    slow_policies, multipliers = zip(*slow, strict=True)
    expected = [[*values(cmdp, p), m] for p, m in zip(slow_policies, multipliers, strict=True)]
    np.testing.assert_allclose(trace[COLUMNS], expected, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(policies[0], slow_policies[-1], rtol=1e-11, atol=1e-12)
    return trace


def options_of(name):
    """Settings that matter to an algorithm."""
    divided = [{"normalize": how} for how in ("linear", "quadratic")]
    if name in EXACT:
        return [{}, *divided]
    sizes = itertools.product((1, 16, 100, None), (1, 3), (0, 5))
    listed = [{"evaluators": m, "rounds": n, "horizon": h} for m, n, h in sizes]
    listed += [{"link": link, "random_answers": 0.1} for link in ("probit", "cauchy")]
    listed += [{"random_answers": share} for share in (0.3, 1.0, 2.0)]
    listed += [{"estimator": "unbiased", "horizon": 0, "evaluators": m} for m in (1, 4, None)]
    forms = itertools.product(("direct", "softmax"), ("sphere", "tangent"), (1, 3))
    if name == "zpgpd_hf":
        names = "parameterization", "directions", "rounds"
        listed += [dict(zip(names, form, strict=True)) for form in forms]
    return listed + [{"rounds": 2, **how} for how in divided]


@pytest.mark.parametrize(
    ("name", "options"), [(n, options) for n in ALGORITHMS for options in options_of(n)]
)
def test_runs_are_those_of_the_pseudo_code(name, options):
    cmdp = random_process(13, 3, 2, 0.5, threshold=0.9)
    start = {"policy": random_policies(13, cmdp), "multiplier": 0.7}
    trace = assert_followed(cmdp, name, **start, **options)
    assert trace["multiplier"].nunique() > 1
    assert np.ptp(trace["reward_value"]) > 1e-3


@asking_algorithms
@pytest.mark.parametrize("size", [(1, 1), (1, 4), (5, 3), (10, 4), (2, 5), (3, 6), (4, 1)])
def test_other_sizes_follow_the_pseudo_code_too(name, size):
    """With odd numbers of trajectories among them."""
    assert_followed(random_process(14, *size, 0.5, threshold=0.1), name, rounds=3, multiplier=0.4)


@asking_algorithms
def test_long_runs_with_another_scale_and_purpose_follow_it_too(name):
    cmdp = random_process(15, 3, 2, 0.8, threshold=0.55, scale=0.2)
    trace = assert_followed(cmdp, name, 60, evaluators=70, purpose="other", horizon=9)
    assert trace["multiplier"].nunique() > 30


@asking_algorithms
@pytest.mark.parametrize("horizon", [0, 1, 8])
def test_trajectories_may_end_in_absorbing_states(name, horizon):
    """States 1 and 2 are absorbing; 3 to 5 only seem to be: actions pay, or lead, elsewhere."""
    cmdp = random_process(5, 6, 3, 0.8)
    parts = {key: np.array(getattr(cmdp, key)) for key in ("transition", "reward", "utility")}
    parts["transition"][1:] = np.eye(6)[1:, None]
    parts["transition"][5, 0] = cmdp.transition[0, 0]
    for key, same in (("reward", [1, 2, 3, 5]), ("utility", [1, 2, 4, 5])):
        parts[key][same] = parts[key][same, :1]
    assert_followed(dataclasses.replace(cmdp, **parts), name, horizon=horizon, rounds=3)


@every_algorithm
@pytest.mark.parametrize(("threshold", "step", "end"), [(0, 1e6, 0), (1.1, 1e6, 1.5), (1, 0, 0.3)])
def test_multiplier_is_projected_at_both_ends_and_frozen_without_a_step(name, threshold, step, end):
    cmdp = random_process(1, 3, 2, 0.5, threshold=threshold)
    options = {"evaluators": None} if name in ASKING else {}
    trace = assert_followed(cmdp, name, 1, multiplier=0.3, dual_step=step, **options)
    assert trace["multiplier"].tolist() == [0.3, end]
