"""Small random CMDPs, policies, and all their trajectories."""

import numpy as np

from pgpd_hf.core import optima, streams
from pgpd_hf.environments.random import random_cmdp


def random_numbers(step, case):
    """Random numbers of one case of a check.

    Parameters
    ----------
    step : str
        Name of the check.
    case : int
        Number of the case.

    Returns
    -------
    numpy.random.Generator
    """
    return np.random.Generator(streams.bit_generator(purpose="proofs", check=step, case=case))


def small_cmdp(random, states=None, actions=None, discounts=(0.5, 0.8, 0.9), scale=None):
    """Draw a CMDP whose threshold binds, if any can.

    Parameters
    ----------
    random : numpy.random.Generator
        Source of everything.
    states, actions : int, optional
        By default 2 to 5, and 2 to 4.
    discounts : sequence of float
        Values to choose from.
    scale : str, optional
        "normalized" or "unit"; by default also drawn.

    Returns
    -------
    cmdp : CMDP
        What was drawn.
    optimum : Optimum
        Its optimum.
    """
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
    """Draw a policy, which may be nearly deterministic.

    Parameters
    ----------
    random : numpy.random.Generator
        Source of random numbers.
    cmdp : CMDP
        Says how many states and actions there are.

    Returns
    -------
    ndarray, float64, shape (S, A)
        Positive everywhere.
    """
    rows = random.dirichlet(np.full(cmdp.actions, random.choice([0.1, 1.0, 5.0])), cmdp.states)
    rows = np.maximum(rows, 1e-12)
    return rows / rows.sum(-1, keepdims=True)


def trajectories(cmdp, policy, first, horizon, action=None):
    """Enumerate all trajectories of steps 0..H.

    Parameters
    ----------
    cmdp : CMDP
        Has to be small, since all (|S||A|)^(H + 1) trajectories are enumerated.
    policy : ndarray, float64, shape (S, A)
        What is followed.
    first : ndarray, float64, shape (S,)
        Distribution of the first state.
    horizon : int
        H.
    action : int, optional
        The first action, if it is fixed.

    Returns
    -------
    probabilities : ndarray, float64, shape (K,)
        Probabilities of the trajectories.
    returns : ndarray, float64, shape (K, 2)
        Returns of reward and utility.

    Examples
    --------
    >>> random = random_numbers("example", 0)
    >>> cmdp, optimum = small_cmdp(random, states=2, actions=2)
    >>> chances, returns = trajectories(cmdp, optimum.policy, cmdp.initial, horizon=2)
    >>> len(chances), round(float(chances.sum()), 12)
    (64, 1.0)
    """
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
