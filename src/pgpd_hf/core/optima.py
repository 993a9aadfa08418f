r"""The optimum of a constrained Markov decision process, by two independent methods.

Linear program: over occupancy measures :math:`q` (proof of Theorem 2 of the paper),
:math:`\max \langle q, r\rangle` subject to :math:`\sum_a (I - \gamma P_a^\top) q_a = \rho`,
:math:`\langle q, g\rangle \ge b`, :math:`q \ge 0`; the multiplier of the second constraint is
:math:`\lambda^\star`.

Value iteration: strong duality (Lemma 2.1) gives :math:`V_r^\star = \min_{\lambda \ge 0}
\max_\pi V_r^\pi + \lambda (V_g^\pi - b)`. The inner maximum is an unconstrained problem, solved by
value iteration; the outer one is a piecewise linear convex function of one number, minimised
exactly by intersecting the lines of the two policies that bracket the kink.
"""

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linprog

from pgpd_hf.core.arguments import require_one_of, shown
from pgpd_hf.core.cmdp import CMDP

METHODS = ("linear_program", "value_iteration")


@dataclass(frozen=True, eq=False)
class Optimum:
    r"""Optimal policy and what belongs to it.

    Attributes
    ----------
    policy : ndarray, float64, shape (S, A)
        :math:`\pi^\star`.
    reward_value, utility_value : float
        :math:`V_r^{\pi^\star}(\rho)` and :math:`V_g^{\pi^\star}(\rho)`.
    multiplier : float
        :math:`\lambda^\star \ge 0`.
    slack : float
        Slater slack :math:`\xi = \max_\pi V_g^\pi(\rho) - b` (Assumption 2).
    method : str
        How it was found.
    threshold : float
        :math:`b` of the process.
    """

    policy: np.ndarray
    reward_value: float
    utility_value: float
    multiplier: float
    slack: float
    method: str
    threshold: float


def solve(cmdp, method="linear_program"):
    """Solve the constrained problem (equation 1 of the paper).

    Parameters
    ----------
    cmdp : CMDP
        The process.
    method : {"linear_program", "value_iteration"}
        How; both give the same numbers.

    Returns
    -------
    Optimum

    Raises
    ------
    ValueError
        If no policy exceeds the threshold (Slater's condition fails), or there is no such method.
    """
    require_process(cmdp)
    require_one_of("method", method, METHODS)
    safest, slack = find_safest(cmdp)
    found = _linear_program(cmdp) if method == "linear_program" else _dual(cmdp, safest)
    policy, multiplier = found
    reward_value, utility_value = (float(value) for value in cmdp.evaluate(policy))
    return Optimum(policy, reward_value, utility_value, multiplier, slack, method, cmdp.threshold)


def require_process(cmdp):
    """Refuse what is no process.

    Parameters
    ----------
    cmdp : object
        What was given.

    Raises
    ------
    ValueError
        If `cmdp` is no :class:`~pgpd_hf.core.cmdp.CMDP`.
    """
    if not isinstance(cmdp, CMDP):
        raise ValueError(f"cmdp: a CMDP expected, got {shown(cmdp)}")


def require_optimum(cmdp, optimum):
    """Refuse what is no optimum of a process, or that of another one.

    That the policy is the best one is not looked into: it has the values here that are said, and
    the threshold is the process's.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    optimum : object
        What was given.

    Raises
    ------
    ValueError
        If `optimum` is no :class:`Optimum`, or belongs to another process.
    """
    if not isinstance(optimum, Optimum):
        raise ValueError(f"optimum: an Optimum expected, got {shown(optimum)}")
    shape = (cmdp.states, cmdp.actions)
    policy = cmdp.check_policy(optimum.policy, "optimum.policy")
    if policy.shape != shape:
        raise ValueError(f"optimum.policy: shape {shape} expected, got {policy.shape}")
    claimed = optimum.reward_value, optimum.utility_value
    values = tuple(float(value) for value in cmdp.evaluate(policy))
    if not np.allclose(claimed, values, rtol=0, atol=1e-9 * cmdp.value_bound):
        raise ValueError(
            f"optimum: of another process; its policy has the values {values} here, not {claimed}"
        )
    if optimum.threshold != cmdp.threshold:
        raise ValueError(
            f"optimum: of another process, with threshold {optimum.threshold}, not {cmdp.threshold}"
        )


def find_safest(cmdp):
    """Find the policy of largest utility value, and by how much it exceeds the threshold.

    Parameters
    ----------
    cmdp : CMDP
        The process.

    Returns
    -------
    policy : ndarray, float64, shape (S, A)
        A deterministic policy.
    slack : float
        The paper's xi, positive.

    Raises
    ------
    ValueError
        If no policy exceeds the threshold (Slater's condition fails).
    """
    safest = maximize(cmdp, cmdp.utility)
    slack = float(cmdp.evaluate(safest)[1]) - cmdp.threshold
    if slack <= 1e-12:
        raise ValueError(
            f"threshold: {cmdp.threshold} leaves no slack; the largest utility value that any "
            f"policy reaches is {slack + cmdp.threshold:.6g}"
        )
    return safest, slack


def solve_unconstrained(cmdp):
    """Solve the problem without its constraint, by value iteration on the reward.

    Parameters
    ----------
    cmdp : CMDP
        The process.

    Returns
    -------
    Optimum
        With multiplier zero and the slack of the constrained problem (negative if infeasible).

    Raises
    ------
    ValueError
        If `cmdp` is no process.
    """
    require_process(cmdp)
    policy = maximize(cmdp, cmdp.reward)
    reward_value, utility_value = (float(value) for value in cmdp.evaluate(policy))
    safest = cmdp.evaluate(maximize(cmdp, cmdp.utility))[1]
    slack = float(safest) - cmdp.threshold
    method = "value_iteration"
    return Optimum(policy, reward_value, utility_value, 0.0, slack, method, cmdp.threshold)


def maximize(cmdp, signal, tolerance=1e-13):
    """Policy that maximises the discounted sum of one signal, by value iteration.

    Parameters
    ----------
    cmdp : CMDP
        Its threshold plays no part.
    signal : ndarray, float64, shape (S, A)
        What is maximised.
    tolerance : float
        Value iteration stops when no value changes by more than this fraction of the largest
        possible value.

    Returns
    -------
    ndarray, float64, shape (S, A)
        A deterministic policy.
    """
    values = np.zeros(cmdp.states)
    enough = tolerance * np.abs(signal).max() / (1 - cmdp.discount)
    while True:
        action_values = signal + cmdp.discount * cmdp.transition @ values  # (S, A)
        improved = action_values.max(1)
        change = np.abs(improved - values).max()
        values = improved
        if change <= enough:
            return np.eye(cmdp.actions)[action_values.argmax(1)]


def _linear_program(cmdp):
    """Optimal policy and multiplier by HiGHS."""
    states, actions = cmdp.states, cmdp.actions
    stay = np.repeat(np.eye(states), actions, axis=0)  # (S * A, S)
    flow = stay - cmdp.discount * cmdp.transition.reshape(-1, states)
    # In units of the largest step and of total mass one, so that tolerances mean the same.
    mass = 1 / (1 - cmdp.discount)
    result = linprog(
        c=-cmdp.reward.ravel() / cmdp.scale,
        A_ub=-cmdp.utility.reshape(1, -1) / cmdp.scale,
        b_ub=[-cmdp.threshold / cmdp.scale / mass],
        A_eq=flow.T,
        b_eq=cmdp.initial / mass,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise ValueError(f"threshold: {cmdp.threshold}: linear program failed: {result.message}")
    occupancy = np.maximum(result.x, 0).reshape(states, actions)
    return _policy_of(occupancy), max(0.0, -float(result.ineqlin.marginals[0]))


def _dual(cmdp, safest):
    """Optimal policy and multiplier by value iteration on the Lagrangian."""

    def line(policy):
        reward_value, utility_value = cmdp.evaluate(policy)
        return float(reward_value), float(utility_value) - cmdp.threshold

    boldest = maximize(cmdp, cmdp.reward)
    left, right = (boldest, *line(boldest)), (safest, *line(safest))
    if left[2] >= 0:
        return boldest, 0.0
    while True:
        # Where the lines of an unsafe and of a safe policy meet is a lower bound of the minimum.
        multiplier = (left[1] - right[1]) / (right[2] - left[2])
        bound = left[1] + multiplier * left[2]
        policy = maximize(cmdp, cmdp.reward + multiplier * cmdp.utility)
        value, excess = line(policy)
        if value + multiplier * excess <= bound + 1e-12 * cmdp.value_bound:
            break
        if excess < 0:
            left = (policy, value, excess)
        else:
            right = (policy, value, excess)
    # Both policies are optimal for the Lagrangian; their mixture meets the threshold.
    weight = right[2] / (right[2] - left[2])
    occupancy = weight * _occupancy(cmdp, left[0]) + (1 - weight) * _occupancy(cmdp, right[0])
    return _policy_of(occupancy), multiplier


def _occupancy(cmdp, policy):
    return cmdp.state_occupancy(policy)[:, None] * policy


def _policy_of(occupancy):
    """Policy of an occupancy measure; uniform in states that it never visits."""
    visits = occupancy.sum(1, keepdims=True)
    uniform = np.full_like(occupancy, 1 / occupancy.shape[1])
    return np.where(visits > 0, occupancy / np.where(visits > 0, visits, 1), uniform)
