"""Small random CMDPs, policies, and all their trajectories."""

import numpy as np

from pgpd_hf.core import optima, streams
from pgpd_hf.environments.random import random_cmdp


def random_numbers(step, case):
    """Random numbers of one case of a check."""
    return np.random.Generator(streams.bit_generator(purpose="proofs", check=step, case=case))


def small_cmdp(random, states=None, actions=None, discounts=(0.5, 0.8, 0.9), scale=None):
    """Draw a CMDP whose threshold binds, if any can, and solve it."""
    options = {
        "states": states or int(random.integers(2, 6)),
        "actions": actions or int(random.integers(2, 5)),
        "instance": int(random.integers(10**6)),
        "discount": float(random.choice(discounts)),
        "concentration": float(random.choice([0.3, 1.0, 5.0])),
        "scale": scale or str(random.choice(["normalized", "unit"])),
    }
    free = random_cmdp(**options, threshold=0.0)
    unsafest, safest = optima.utility_range(free)
    margin = max((safest - unsafest) * random.uniform(0.2, 0.8), 0.02 * safest)
    cmdp = random_cmdp(**options, threshold=safest - margin)
    return cmdp, optima.solve(cmdp)


def random_policy(random, cmdp):
    """Draw a policy that is positive everywhere, and may be nearly deterministic."""
    rows = random.dirichlet(np.full(cmdp.actions, random.choice([0.1, 1.0, 5.0])), cmdp.states)
    rows = np.maximum(rows, 1e-12)
    return rows / rows.sum(-1, keepdims=True)


def trajectories(cmdp, policy, first, horizon, action=None):
    """Probabilities, (K,), and returns, (K, 2), of all trajectories of steps 0..H."""
    chances, states = np.asarray(first, dtype=np.float64), np.arange(cmdp.states)
    returns = np.zeros((cmdp.states, 2))
    signals = np.stack([cmdp.reward, cmdp.utility], axis=-1)  # (S, A, 2)
    for step in range(horizon + 1):
        chosen = policy[states]
        if step == 0 and action is not None:
            chosen = np.zeros_like(chosen)
            chosen[:, action] = 1
        chances = chances[:, None] * chosen  # (K, A)
        returns = returns[:, None] + cmdp.discount**step * signals[states]
        if step < horizon:
            chances = chances[..., None] * cmdp.transition[states]  # (K, A, S)
            returns = np.repeat(returns[:, :, None], cmdp.states, axis=2)
            states = np.broadcast_to(np.arange(cmdp.states), chances.shape).ravel()
        chances, returns = chances.ravel(), returns.reshape(-1, 2)
    return chances, returns
