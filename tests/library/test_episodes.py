"""A CMDP as an environment of Gymnasium: its checker, its values, its cost and its end."""

import dataclasses

import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env

import pgpd_hf

CMDPS = [
    pgpd_hf.random_cmdp(3, 2, 1),
    pgpd_hf.media_streaming(),
    pgpd_hf.from_gymnasium("FrozenLake-v1", cost="holes", at_most=0.5, discount=0.9),
]


def episode(env, policy, seed):
    """Discounted sums of rewards and of costs, and whether and when the episode ended."""
    discount, random = env.cmdp.discount, np.random.default_rng([seed, 1])  # not the environment's
    state, _ = env.reset(seed=seed)
    sums, step = np.zeros(2), 0
    while True:
        action = int(random.choice(env.cmdp.actions, p=policy[state]))
        state, reward, terminated, truncated, info = env.step(action)
        sums += discount**step * np.array([reward, info["cost"]])
        step += 1
        if terminated or truncated:
            return sums, step, terminated


@pytest.mark.parametrize("cmdp", CMDPS)
def test_checker_of_gymnasium_finds_nothing(cmdp):
    check_env(pgpd_hf.CMDPEnv(cmdp), skip_render_check=True)  # there is nothing to draw


def test_returns_of_deterministic_steps_are_the_values():
    """In a cycle of three states, whose returns can be summed by hand."""
    transition = np.roll(np.eye(3), 1, axis=1)[:, None].repeat(2, axis=1)
    reward, utility = np.array([[0.0, 1], [2, 3], [4, 5]]), np.array([[5.0, 4], [3, 2], [1, 0]])
    cmdp = pgpd_hf.CMDP(transition, reward, utility, [0, 1, 0], 0.5, 4.0, scale=5.0)
    env = pgpd_hf.CMDPEnv(cmdp, horizon=60)
    policy = np.eye(2)[[1, 0, 1]]
    (value, cost), steps, terminated = episode(env, policy, seed=0)
    v_r, v_g = cmdp.evaluate(policy)
    assert (steps, terminated) == (61, False)
    assert value == pytest.approx(v_r, abs=1e-14)
    assert env.cost_limit - cost == pytest.approx(v_g - cmdp.threshold, abs=1e-14)


@pytest.mark.parametrize("cmdp", CMDPS[:2])  # in the third one rewards are rare
def test_mean_returns_are_the_values(cmdp):
    """Within six standard errors."""
    env = pgpd_hf.CMDPEnv(cmdp)
    policy = np.random.default_rng(1).dirichlet(np.ones(cmdp.actions), cmdp.states)
    sums = np.array([episode(env, policy, seed)[0] for seed in range(200)])
    v_r, v_g = cmdp.evaluate(policy)
    expected = np.array([v_r, cmdp.value_bound - v_g])
    error = 6 * sums.std(0, ddof=1) / np.sqrt(len(sums)) + 1e-3 * cmdp.value_bound
    assert (np.abs(sums.mean(0) - expected) < error).all()


def test_episode_follows_from_its_seed():
    env, policy = pgpd_hf.CMDPEnv(CMDPS[0]), np.full((3, 2), 0.5)
    first, again, other = (episode(env, policy, seed)[0].tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_steps_that_cannot_be_made_are_refused():
    env = pgpd_hf.CMDPEnv(CMDPS[0])
    with pytest.raises(ResetNeeded, match=r"^CMDPEnv: reset has to be called"):
        env.step(0)
    env.reset(seed=0)
    for action in (-1, 2, 0.5, "left"):
        with pytest.raises(ValueError, match=r"^action: an integer from 0 to 1 expected, got "):
            env.step(action)
    for action in (1, np.int64(1), np.array(1)):  # as agents give them
        env.step(action)


def test_episode_that_is_over_stays_so():
    env = pgpd_hf.CMDPEnv(CMDPS[0], horizon=1)
    env.reset(seed=0)
    assert [env.step(0)[3] for _ in range(4)] == [False, True, True, True]


def test_what_cannot_be_made_is_refused():
    with pytest.raises(ValueError, match=r"^cmdp: a CMDP expected, got 3"):
        pgpd_hf.CMDPEnv(3)
    with pytest.raises(ValueError, match=r"^horizon: an integer of at least 0 expected, got -1"):
        pgpd_hf.CMDPEnv(CMDPS[0], horizon=-1)
    threshold = CMDPS[0].threshold - 0.1
    lower = pgpd_hf.CMDPEnv(dataclasses.replace(CMDPS[0], threshold=threshold))
    assert lower.cost_limit == pytest.approx(pgpd_hf.CMDPEnv(CMDPS[0]).cost_limit + 0.1)
