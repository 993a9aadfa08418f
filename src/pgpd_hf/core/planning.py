r"""NPG-PD on estimated signals, with the multiplier rule of Safe RLHF.

A linear program gives the best policy at once. This method approaches it in steps, as Dai et al.
(2023, arXiv 2310.12773) do: the policy follows the exact natural gradient of the Lagrangian divided
by :math:`1 + \lambda`, and :math:`\ln\lambda` grows by the mean cost, :math:`b - V_g`, times
:math:`\lambda` and a step size.
"""

import math

import numpy as np
from scipy.special import softmax

ITERATIONS = 2000
PRIMAL_STEP, DUAL_STEP = 1.0, 0.01  # in units of the largest value
_LARGEST_EXPONENT = 709.0  # of a float


def primal_dual(cmdp, reward, utility, multiplier_bound, iterations=ITERATIONS):
    r"""Iterate from the uniform policy and :math:`\lambda = 1`.

    Parameters
    ----------
    cmdp : CMDP
        Supplies everything but the signals.
    reward, utility : ndarray, float64, shape (S, A)
        Signals, such as estimates.
    multiplier_bound : float
        Largest multiplier, at least 0; without one, it would grow without bound where no policy is
        safe. If it is 0, the constraint is ignored.
    iterations : int
        How many.

    Returns
    -------
    policy : ndarray, float64, shape (S, A)
        After the last iteration.
    multiplier : float

    Examples
    --------
    >>> import pgpd_hf
    >>> from pgpd_hf.core.planning import primal_dual
    >>> cmdp, best = pgpd_hf.random_cmdp(), pgpd_hf.solve(pgpd_hf.random_cmdp())
    >>> policy, _ = primal_dual(cmdp, cmdp.reward, cmdp.utility, multiplier_bound=10.0)
    >>> reward_value, utility_value = cmdp.evaluate(policy)
    >>> round(float(best.reward_value - reward_value), 3), round(float(utility_value - 0.55), 3)
    (0.005, 0.01)
    """
    theta, multiplier = np.zeros_like(reward), min(1.0, multiplier_bound)
    identity, signals = np.eye(cmdp.states), np.stack([reward, utility])
    for _ in range(iterations):
        policy = softmax(theta, 1)
        followed = np.einsum("sa,sat->st", policy, cmdp.transition)
        means = (policy * signals).sum(2).T  # (S, 2)
        values = np.linalg.solve(identity - cmdp.discount * followed, means)
        weights = np.array([1, multiplier]) / (1 + multiplier)
        lagrangian, value = np.tensordot(weights, signals, 1), values @ weights
        advantage = lagrangian + cmdp.discount * cmdp.transition @ value - value[:, None]
        theta += PRIMAL_STEP / cmdp.value_bound * advantage
        cost = (cmdp.threshold - cmdp.initial @ values[:, 1]) / cmdp.value_bound
        if multiplier > 0:  # a bound of zero has no logarithm
            growth = math.log(multiplier) + DUAL_STEP * multiplier * cost
            # Beyond the largest exponent the bound applies in any case.
            multiplier = min(math.exp(min(growth, _LARGEST_EXPONENT)), multiplier_bound)
    return softmax(theta, 1), multiplier
