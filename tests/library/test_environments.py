"""Environments: kinds found by name, random ones by their distributions, those from files."""

import re
import sys

import numpy as np
import pytest
from chance import Z, assert_distributed, assert_mean
from reference import deterministic_policies
from scipy import stats

from pgpd_hf import CMDP, ding_cmdp, environments, media_streaming, random_cmdp, solve
from pgpd_hf.core.optima import METHODS, utility_range

# Random instances (Section 5).


def test_transition_rows_are_dirichlet():
    """One coordinate of Dirichlet(5, ..., 5) in ten dimensions is Beta(5, 45)."""
    cmdp = random_cmdp(10, 400)
    rows = cmdp.transition.reshape(-1, 10)  # 4000 independent rows
    law = stats.beta(5, 45)
    for coordinate in range(10):
        assert_distributed(rows[:, coordinate], law.cdf)
    assert_mean(rows, 0.1, law.std())
    # Covariance of two coordinates: -a_i a_j / (a^2 (a + 1)).
    assert_mean((rows[:, 0] - 0.1) * (rows[:, 1] - 0.1), -25 / (50**2 * 51))


def test_concentration_is_that_of_the_dirichlet():
    rows = random_cmdp(3, 2000, concentration=0.5).transition.reshape(-1, 3)
    assert_distributed(rows[:, 2], stats.beta(0.5, 1.0).cdf)


@pytest.mark.parametrize(("scale", "largest"), [("unit", 1.0), ("normalized", 0.2)])
def test_signals_are_uniform_and_independent(scale, largest):
    cmdp = random_cmdp(10, 400, discount=0.8, scale=scale)
    reward, utility = cmdp.reward.ravel(), cmdp.utility.ravel()
    assert cmdp.scale == pytest.approx(largest)
    for signal in (reward, utility):
        assert_distributed(signal, stats.uniform(0, largest).cdf)
    correlation = np.corrcoef(reward, utility)[0, 1]
    assert abs(np.arctanh(correlation)) * np.sqrt(len(reward) - 3) < Z


def test_defaults_are_those_of_the_experiment():
    cmdp = random_cmdp()
    assert cmdp.transition.shape == (10, 4, 10)
    assert (cmdp.initial == 0.1).all()
    assert (cmdp.discount, cmdp.threshold) == (0.9, 0.55)
    assert cmdp.value_bound == pytest.approx(1)


def test_scales_differ_by_the_factor_only():
    normalized, unit = random_cmdp(), random_cmdp(scale="unit")
    assert (normalized.transition == unit.transition).all()
    np.testing.assert_allclose(normalized.reward, 0.1 * unit.reward, rtol=1e-14)
    np.testing.assert_allclose(normalized.utility, 0.1 * unit.utility, rtol=1e-14)
    assert unit.value_bound == pytest.approx(10)


def test_instance_is_a_name_and_not_a_place_in_a_sequence():
    fifth = random_cmdp(instance=5)
    np.random.default_rng(0).random(100)
    others = [random_cmdp(instance=k) for k in (3, 4, 6)]
    again = random_cmdp(instance=np.int64(5), threshold=0.1)
    assert (fifth.transition == again.transition).all()
    assert (fifth.reward == again.reward).all()
    assert (fifth.utility == again.utility).all()
    for other in others:
        assert not np.isclose(other.reward, fifth.reward).any()
        assert not np.isclose(other.transition, fifth.transition).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[(name, value) for name in ("states", "actions") for value in (0, -1, 2.0, "2", True)],
        *[("instance", value) for value in (-1, 1.5, None, False)],
        *[("features", value) for value in (0, 41, 2.5, "d")],
        *[("concentration", value) for value in (0, -1, np.nan, "five", None)],
        *[("scale", value) for value in ("paper", None, 1.0, [1])],
        *[("discount", value) for value in (1, -0.1, np.nan, "0.9.")],
        *[("threshold", value) for value in (np.nan, np.inf, "b")],
    ],
)
def test_bad_argument_of_a_random_instance_is_named(name, value):
    with pytest.raises(ValueError, match=f"^{name}: "):
        random_cmdp(**{name: value})


@pytest.mark.parametrize("instance", range(20))
def test_midway_threshold_leaves_slack_where_the_safest_policy_earns_the_most(instance):
    cmdp = random_cmdp(2, 2, instance, threshold="midway")
    boldest, safest = utility_range(cmdp)
    found = solve(cmdp)
    assert found.slack > 1e-3
    assert (found.multiplier > 0) == (boldest < safest - 1e-9)


@pytest.mark.parametrize("size", [{}, {"states": 4, "actions": 2}, {"states": 7}, {"actions": 4}])
@pytest.mark.parametrize("instance", range(3))
def test_midway_threshold_is_halfway_between_two_policies(size, instance):
    """Midway between the utility of the most rewarding policy and the largest utility."""
    options = {"states": 5, "actions": 3, "discount": 0.8, "instance": instance, **size}
    cmdp = random_cmdp(**options, threshold="midway")
    reward, utility = cmdp.evaluate(deterministic_policies(cmdp))
    assert cmdp.threshold == pytest.approx((utility[reward.argmax()] + utility.max()) / 2)
    assert solve(cmdp).multiplier > 0
    for name in ("transition", "reward", "utility", "initial"):
        assert (getattr(cmdp, name) == getattr(random_cmdp(**options), name)).all()


@pytest.mark.parametrize("threshold", ["b", "", "Midway"])
def test_only_one_word_may_stand_for_the_threshold(threshold):
    with pytest.raises(ValueError, match=r"^threshold: a number or 'midway' expected, got '"):
        random_cmdp(threshold=threshold)


# Published ones.


def test_largest_seed_of_ding_et_al_makes_another_process():
    largest = ding_cmdp(seed=2**32 - 1)
    assert not np.array_equal(largest.transition, ding_cmdp(seed=2**32 - 2).transition)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("scale", ["normalized", "unit"])
def test_optimum_of_ding_et_al_is_the_known_one(scale, method):
    cmdp = ding_cmdp(scale=scale)
    optimum = solve(cmdp, method)
    assert optimum.reward_value / cmdp.value_unit == pytest.approx(4.462444, abs=5e-7)
    assert optimum.multiplier == pytest.approx(0.2427, abs=5e-5)


def test_buffer_of_media_streaming_moves_by_the_difference_of_two_coins():
    """Arrival minus departure; what would leave the buffer at either end stays."""
    cmdp = media_streaming(5, fast=0.8, slow=0.25, leaving=0.6)
    for action, arriving in enumerate((0.25, 0.8)):
        for state in range(5):
            row = np.zeros(5)
            for packet, p in ((1, arriving), (0, 1 - arriving)):
                for gone, q in ((1, 0.6), (0, 0.4)):
                    row[np.clip(state + packet - gone, 0, 4)] += p * q
            np.testing.assert_allclose(cmdp.transition[state, action], row, atol=1e-15)


@pytest.mark.parametrize("method", METHODS)
def test_constraint_of_media_streaming_binds(method):
    """Always slow misses it; the value of always slow by the recursion from an empty buffer."""
    cmdp = media_streaming()
    assert solve(cmdp, method).utility_value == pytest.approx(0.9)
    assert solve(cmdp, method).multiplier == pytest.approx(1.0572487, abs=1e-6)
    always = np.tile([1.0, 0.0], (20, 1))
    reward, utility = cmdp.evaluate(always)
    assert reward == pytest.approx(1)
    law, empty = np.eye(20)[10], 0.0
    for t in range(600):
        empty += 0.05 * 0.95**t * law[0]
        law = law @ cmdp.transition[:, 0]
    assert utility == pytest.approx(1 - empty, abs=1e-12)


@pytest.mark.parametrize(("name", "value"), [("leaving", 0), ("slow", 0), ("fast", 1)])
def test_coins_of_media_streaming_may_be_sure_of_their_side(name, value):
    assert media_streaming(**{name: value}).states == 20


@pytest.mark.parametrize("name", ["fast", "slow", "leaving"])
def test_coins_of_media_streaming_may_be_of_single_precision(name):
    ours = media_streaming(**{name: np.float32(0.7)})
    theirs = media_streaming(**{name: float(np.float32(0.7))})
    assert (ours.transition == theirs.transition).all()


@pytest.mark.parametrize(
    ("make", "name", "value"),
    [
        (ding_cmdp, "seed", -1),
        (ding_cmdp, "seed", 2**32),
        (ding_cmdp, "scale", "log"),
        (ding_cmdp, "threshold", None),
        (media_streaming, "buffer", 1),
        *[
            (media_streaming, name, value)
            for name in ("fast", "slow", "leaving", "at_most")
            for value in (-0.1, 1.1)
        ],
        (media_streaming, "discount", 1),
        (media_streaming, "at_most", 0),
    ],
)
def test_bad_argument_of_a_published_environment_is_named(make, name, value):
    with pytest.raises(ValueError, match=f"^{name}: "):
        make(**{name: value})


# Kinds, found by their names.

EXPERIMENT = {
    "states": 6,
    "actions": 3,
    "discount": 0.8,
    "concentration": 2,
    "threshold": 0.5,
    "scale": "unit",
    "instance": 4,
}


def assert_same(one, other):
    for name in CMDP.__dataclass_fields__:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


@pytest.mark.parametrize("kind", [{"file": None}, {"name": "random"}, {}])
def test_random_environment_is_made_of_its_options(kind):
    options = {**kind, **EXPERIMENT}
    assert_same(environments.make(options), random_cmdp(**EXPERIMENT))
    assert options == {**kind, **EXPERIMENT}  # as it was


def test_environment_is_read_from_a_file_whatever_the_other_keys_say(tmp_path):
    path = tmp_path / "mine.npz"
    cmdp = random_cmdp(3, 2, 1, threshold=0.4)
    cmdp.save(path)
    assert_same(environments.make({**EXPERIMENT, "file": path}), cmdp)
    assert_same(environments.make({"name": "file", "path": path}), cmdp)


def test_file_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"none\.npz: No such file"):
        environments.make({"file": tmp_path / "none.npz"})


@pytest.fixture
def another_kind(tmp_path, monkeypatch):
    """A kind of environment in a single new file."""
    (tmp_path / "coin.py").write_text(
        "from pgpd_hf import CMDP\n\n\n"
        "def make(threshold, *, discount=0.5):\n"
        "    return CMDP([[[1.0]] * 2], [[1, 0]], [[0, 1]], [1], discount, threshold)\n"
    )
    (tmp_path / "broken.py").write_text("import a_library_that_nobody_has\n")
    monkeypatch.setattr(environments, "__path__", [*environments.__path__, str(tmp_path)])
    yield
    sys.modules.pop("pgpd_hf.environments.coin", None)


@pytest.mark.usefixtures("another_kind")
def test_new_kind_takes_one_file():
    cmdp = environments.make({"name": "coin", "threshold": 1.5})
    assert (cmdp.states, cmdp.actions, cmdp.discount, cmdp.threshold) == (1, 2, 0.5, 1.5)
    assert environments.make({"name": "coin", "threshold": 0.1, "discount": 0}).discount == 0


@pytest.mark.usefixtures("another_kind")
def test_kind_that_is_not_asked_for_is_not_imported():
    assert {"broken", "coin", "file", "random"} <= {*environments.kinds()}
    environments.make({"name": "coin", "threshold": 1.5})
    with pytest.raises(ModuleNotFoundError, match="a_library_that_nobody_has"):
        environments.make({"name": "broken"})


@pytest.mark.usefixtures("another_kind")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"name": "maze"},
            f"name: one of {', '.join(sorted({'broken', 'coin', *environments.kinds()}))} "
            "expected, got 'maze'",
        ),
        (
            {"name": "coin", "threshold": 1.5, "states": 3},
            "states: not an option of the environment 'coin'; allowed are threshold, discount",
        ),
        ({"name": "coin"}, "threshold: required by the environment 'coin'"),
        (
            {"name": "coin", "file": "mine.npz", "threshold": 0.5},
            "file: not an option of the environment 'coin'; allowed are threshold, discount",
        ),
        ({"name": "file"}, "path: required by the environment 'file'"),
        (
            {"statse": 3},
            "statse: not an option of the environment 'random'; allowed are states, actions, "
            "instance, discount, concentration, threshold, scale, discrimination, features",
        ),
        ({"name": "coin", "threshold": "high"}, "threshold: a number expected, got 'high'"),
    ],
)
def test_environment_that_cannot_be_made_is_refused_in_one_line(options, message):
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        environments.make(options)
