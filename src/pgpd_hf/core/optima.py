r"""The optimum of a constrained Markov decision process, by two independent methods.

Linear program, over occupancy measures :math:`q` (proof of Theorem 2 of the paper),
:math:`\max \langle q, r\rangle` subject to :math:`\sum_a (I - \gamma P_a^\top) q_a = \rho`,
:math:`\langle q, g\rangle \ge b`, :math:`q \ge 0`; the multiplier of the second constraint is
:math:`\lambda^\star`.

Policy iteration on the Lagrangian: strong duality (Lemma 2.1) gives
:math:`V_r^\star = \min_{\lambda \ge 0} \max_\pi V_r^\pi + \lambda (V_g^\pi - b)`. The inner
maximum is an unconstrained problem, solved by policy iteration. As a function of :math:`\lambda` it
is convex and piecewise linear; its minimum is found exactly, by intersecting the lines of two
policies, one on either side of it. With a million transition probabilities it takes a fraction of
a second, and the linear program half a minute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from pgpd_hf.core.arguments import require_one_of, shown
from pgpd_hf.core.cmdp import CMDP, Array

METHODS = ("linear_program", "policy_iteration")
_INFEASIBLE = 2  # status of scipy.optimize.linprog
_MOST_IN_PROGRAM = 10**6  # transition probabilities of a linear program: up to a minute
_LARGEST_DISCOUNT = 0.99  # largest discount factor of linear programs


@dataclass(frozen=True, eq=False)
class Optimum:
    r"""An optimal policy, its values and the optimal multiplier.

    Attributes
    ----------
    policy : ndarray, float64, shape (S, A)
        :math:`\pi^\star`.
    reward_value, utility_value : float
        :math:`V_r^{\pi^\star}(\rho)` and :math:`V_g^{\pi^\star}(\rho)`.
    multiplier : float
        :math:`\lambda^\star \ge 0`.
    slack : float
        Slater slack :math:`\xi = \max_\pi V_g^\pi(\rho) - b` (Assumption 2.2).
    method : str
        How it was found, one of :data:`METHODS`.
    threshold : float
        :math:`b` of the CMDP.

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.solve(pgpd_hf.random_cmdp())
    <Optimum: V_r = 0.680825, V_g = 0.55, multiplier 0.513774, threshold 0.55, slack 0.100158>
    """

    policy: Array
    reward_value: float
    utility_value: float
    multiplier: float
    slack: float
    method: str
    threshold: float

    def __repr__(self) -> str:
        return (
            f"<Optimum: V_r = {self.reward_value:g}, V_g = {self.utility_value:g}, "
            f"multiplier {self.multiplier:g}, threshold {self.threshold:g}, slack {self.slack:g}>"
        )


def solve(
    cmdp: CMDP, method: Literal["linear_program", "policy_iteration"] | None = None
) -> Optimum:
    """Solve the constrained problem (equation 3 of the paper).

    Parameters
    ----------
    cmdp : CMDP
        The problem.
    method : {"linear_program", "policy_iteration"}, optional
        Both give the same values, up to rounding, and the same multiplier where it is unique. By
        default the first, or the second if there are more than a million transition probabilities,
        or gamma exceeds 0.99, where programs lose digits, or fail.

    Returns
    -------
    Optimum

    Raises
    ------
    ValueError
        If no policy exceeds the threshold (Slater's condition fails), or the method is unknown.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(states=10, actions=4, instance=1)
    >>> optimum = pgpd_hf.solve(cmdp)
    >>> optimum
    <Optimum: V_r = 0.680825, V_g = 0.55, multiplier 0.513774, threshold 0.55, slack 0.100158>
    >>> optimum.policy.shape
    (10, 4)
    """
    require_cmdp(cmdp)
    method = _default_method(cmdp) if method is None else method
    require_one_of("method", method, METHODS)
    _, slack = find_safest(cmdp)
    found = _SOLVERS[method](cmdp, cmdp.reward, cmdp.utility)
    if found is None:  # the slack is within the tolerance of the solver
        name = method.replace("_", " ")
        other = METHODS[method == METHODS[0]]
        raise ValueError(
            f"threshold: {cmdp.threshold}: {name} failed: infeasible; method={other!r} may succeed"
        )
    policy, multiplier = found
    return _optimum(cmdp, policy, multiplier, slack, method)


def require_cmdp(cmdp):
    """Check that an argument is a CMDP.

    Parameters
    ----------
    cmdp : object
        The argument.

    Raises
    ------
    ValueError
        If it is not a :class:`~pgpd_hf.core.cmdp.CMDP`.
    """
    if not isinstance(cmdp, CMDP):
        raise ValueError(f"cmdp: a CMDP expected, got {shown(cmdp)}")


def given_optimum(cmdp, optimum):
    """Check that an argument is an optimum of this CMDP, not of another one; if it is None, solve.

    Its policy must have the values that it states, and its threshold must be that of the CMDP.
    Whether the policy is optimal is not checked.

    Parameters
    ----------
    cmdp : CMDP
        The problem.
    optimum : object
        The argument.

    Returns
    -------
    Optimum

    Raises
    ------
    ValueError
        If `optimum` is not an :class:`Optimum`, belongs to another CMDP, or says that no policy
        exceeds the threshold.
    """
    if optimum is None:
        return solve(cmdp)
    if not isinstance(optimum, Optimum):
        raise ValueError(f"optimum: an Optimum expected, got {shown(optimum)}")
    policy = cmdp.check_policy(optimum.policy, "optimum.policy", single=True)
    claimed = optimum.reward_value, optimum.utility_value
    values = tuple(float(value) for value in cmdp.evaluate(policy))
    if not np.allclose(claimed, values, rtol=0, atol=1e-9 * cmdp.value_bound):
        raise ValueError(
            f"optimum: of another CMDP; in this one its policy has the values {values}, "
            f"not {claimed}"
        )
    if optimum.threshold != cmdp.threshold:
        raise ValueError(
            f"optimum: of another CMDP, with threshold {optimum.threshold}, not {cmdp.threshold}"
        )
    if not optimum.slack > 0:
        raise ValueError(f"optimum: a positive slack expected, got {optimum.slack:.6g}")
    return optimum


def low_bound(bound, optimum):
    """Say in one line that the multiplier cannot reach that of the optimum, if it cannot.

    Parameters
    ----------
    bound : float
        Upper end of the multiplier's interval.
    optimum : Optimum
        Of the CMDP.

    Returns
    -------
    str
        Empty if nothing has to be said.
    """
    if bound >= optimum.multiplier:
        return ""
    return (
        f"multiplier_bound: {bound:g} is below the optimal multiplier, {optimum.multiplier:.3g}, "
        "so the runs cannot reach the optimum"
    )


def find_safest(cmdp):
    r"""Find a policy of largest utility value, and by how much it exceeds the threshold.

    Parameters
    ----------
    cmdp : CMDP
        The problem.

    Returns
    -------
    policy : ndarray, float64, shape (S, A)
        A deterministic policy.
    slack : float
        Slater slack :math:`\xi > 0` (Assumption 2.2).

    Raises
    ------
    ValueError
        If no policy exceeds the threshold (Slater's condition fails).
    """
    safest = maximize(cmdp, cmdp.utility)
    slack = float(cmdp.evaluate(safest)[1]) - cmdp.threshold
    if slack <= 1e-12 * cmdp.utility.max() / (1 - cmdp.discount):
        raise ValueError(
            f"threshold: {cmdp.threshold} leaves no slack; the largest utility value that any "
            f"policy reaches is {slack + cmdp.threshold:.6g}"
        )
    return safest, slack


def solve_unconstrained(cmdp: CMDP) -> Optimum:
    """Solve the problem without its constraint, by policy iteration on the reward.

    Parameters
    ----------
    cmdp : CMDP
        The problem; its threshold matters for the slack only.

    Returns
    -------
    Optimum
        With multiplier zero and the slack of the constrained problem (negative if infeasible).

    Raises
    ------
    ValueError
        If `cmdp` is not a CMDP.

    Examples
    --------
    Without the constraint more reward is possible, but the threshold is missed.

    >>> import pgpd_hf
    >>> pgpd_hf.solve_unconstrained(pgpd_hf.random_cmdp())
    <Optimum: V_r = 0.721482, V_g = 0.384275, multiplier 0, threshold 0.55, slack 0.100158>
    """
    require_cmdp(cmdp)
    slack = utility_range(cmdp)[1] - cmdp.threshold
    return _optimum(cmdp, maximize(cmdp, cmdp.reward), 0.0, slack, "policy_iteration")


def utility_range(cmdp):
    """Utility values of the policy that is best for the reward alone, and of the safest policy.

    Parameters
    ----------
    cmdp : CMDP
        The environment; its threshold has no effect.

    Returns
    -------
    boldest, safest : float
        A constraint binds if its threshold lies between the two.
    """
    signals = cmdp.reward, cmdp.utility
    return tuple(float(cmdp.evaluate(maximize(cmdp, signal))[1]) for signal in signals)


def utility_span(cmdp):
    r"""Difference between the largest and the smallest utility value of any policy.

    Parameters
    ----------
    cmdp : CMDP
        The environment; its threshold has no effect.

    Returns
    -------
    float
        :math:`\max_\pi V_g^\pi(\rho) - \min_\pi V_g^\pi(\rho)`.
    """
    signals = cmdp.utility, -cmdp.utility
    most, least = (cmdp.evaluate(maximize(cmdp, signal))[1] for signal in signals)
    return float(most - least)


def maximize(cmdp, signal):
    """Find a policy that maximises the value of one signal, by policy iteration.

    Parameters
    ----------
    cmdp : CMDP
        The environment; its threshold has no effect.
    signal : ndarray, float64, shape (S, A)
        The signal, such as the reward.

    Returns
    -------
    ndarray, float64, shape (S, A)
        A deterministic policy: in each state, the first of its best actions.
    """
    everywhere = np.arange(cmdp.states)
    actions, seen = signal.argmax(1), set()
    while True:
        system = np.eye(cmdp.states) - cmdp.discount * cmdp.transition[everywhere, actions]
        values = np.linalg.solve(system, signal[everywhere, actions])
        rounding = 1e-14 * np.abs(values).max()
        values -= values.mean()  # what all states have in common, which grows like 1 / (1 - gamma)
        rounding += 1e-13 * (np.abs(signal).max() + np.ptp(values))
        action_values = signal + cmdp.discount * cmdp.transition @ values  # (S, A)
        best = action_values.max(1)
        better = best > action_values[everywhere, actions] + rounding
        if not better.any() or actions.tobytes() in seen:  # rounding could lead in a circle
            first = (action_values >= best[:, None] - rounding).argmax(1)
            return np.eye(cmdp.actions)[first]
        seen.add(actions.tobytes())
        actions = np.where(better, action_values.argmax(1), actions)


def best_for(cmdp, reward, utility):
    r"""Solve the constrained problem for other signals, such as estimates.

    By the method that :func:`solve` uses by default.

    Parameters
    ----------
    cmdp : CMDP
        Supplies everything else.
    reward, utility : ndarray, float64, shape (S, A)
        In place of :math:`r` and :math:`g`; any numbers.

    Returns
    -------
    tuple of (ndarray, float) or None
        An optimal policy and the multiplier; None if no policy reaches the threshold.

    Raises
    ------
    ValueError
        If the solver fails.
    """
    return _SOLVERS[_default_method(cmdp)](cmdp, reward, utility)


def _default_method(cmdp):
    """Name the method that is used where none is given."""
    return METHODS[cmdp.transition.size > _MOST_IN_PROGRAM or cmdp.discount > _LARGEST_DISCOUNT]


def _by_linear_program(cmdp, reward, utility):
    from scipy.optimize import linprog  # slow to import, and needed here only

    # Signals in units of the scale, or of their own size where it is tiny beside that, and an
    # occupancy of total mass one: the solver's tolerances are absolute.
    mass = 1 / (1 - cmdp.discount)
    of_reward, of_utility = (_size(signal, cmdp.scale) for signal in (reward, utility))
    result = linprog(
        c=-reward.ravel() / of_reward,
        A_ub=-utility.reshape(1, -1) / of_utility,
        b_ub=[-cmdp.threshold / of_utility / mass],
        A_eq=flow(cmdp),
        b_eq=cmdp.initial / mass,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status == _INFEASIBLE:
        return None
    if result.status != 0:
        # The solver does not always recognise that no policy reaches the threshold.
        safest = maximize(cmdp, utility)
        if cmdp.initial @ cmdp.state_values(safest, utility) < cmdp.threshold:
            return None
        raise ValueError(f"threshold: {cmdp.threshold}: linear program failed: {result.message}")
    occupancy = np.maximum(result.x, 0).reshape(cmdp.states, cmdp.actions)
    multiplier = -float(result.ineqlin.marginals[0]) * (of_reward / of_utility)
    return proportional(occupancy), max(0.0, multiplier)


def _size(signal, scale):
    """The scale, or the largest entry of a signal that is tiny beside it."""
    largest = np.abs(signal).max()
    return scale if largest == 0 or largest >= 1e-3 * scale else largest


def flow(cmdp):
    r"""The matrix that maps occupancy measures to :math:`\rho`.

    Parameters
    ----------
    cmdp : CMDP
        Supplies the transitions.

    Returns
    -------
    ndarray, float64, shape (S, S * A)
        :math:`\sum_a (I - \gamma P_a^\top) q_a` as a matrix on q.
    """
    stay = np.repeat(np.eye(cmdp.states), cmdp.actions, axis=0)  # (S * A, S)
    return (stay - cmdp.discount * cmdp.transition.reshape(-1, cmdp.states)).T


def _by_policy_iteration(cmdp, reward, utility):
    def line(policy):
        occupancy = cmdp.state_occupancy(policy)[:, None] * policy
        return policy, (occupancy * reward).sum(), (occupancy * utility).sum() - cmdp.threshold

    sizes = [np.abs(signal).max() / (1 - cmdp.discount) for signal in (reward, utility)]
    left, right = line(maximize(cmdp, reward)), line(maximize(cmdp, utility))
    if right[2] < 0:
        return None
    if left[2] >= 0:
        return left[0], 0.0
    seen = [left[0], right[0]]
    while True:
        # The lines of an unsafe and of a safe policy meet at or below the minimum.
        multiplier = (left[1] - right[1]) / (right[2] - left[2])
        bound = left[1] + multiplier * left[2]
        found = line(maximize(cmdp, reward + multiplier * utility))
        known = any((found[0] == policy).all() for policy in seen)  # whatever the rounding
        seen.append(found[0])
        rounding = 1e-12 * (sizes[0] + multiplier * sizes[1])
        if known or found[1] + multiplier * found[2] <= bound + rounding:
            break
        if found[2] < 0:
            left = found
        else:
            right = found
    # Both policies maximise the Lagrangian; their mixture has utility value b exactly.
    weight = right[2] / (right[2] - left[2])
    return mixtures(cmdp, left[0], right[0], weight), max(0.0, float(multiplier))


_SOLVERS = dict(zip(METHODS, (_by_linear_program, _by_policy_iteration), strict=True))


def proportional(weights):
    """Distributions proportional to weights, such as the policy of an occupancy measure.

    Parameters
    ----------
    weights : ndarray, float64, shape (..., n)
        Non-negative.

    Returns
    -------
    ndarray, float64, shape (..., n)
        Uniform where all weights are zero, as in states that are never visited.
    """
    total = weights.sum(-1, keepdims=True)
    uniform = np.full_like(weights, 1 / weights.shape[-1])
    return np.divide(weights, total, out=uniform, where=total > 0)


def mixtures(cmdp, first, second, weight):
    r"""Mixtures of two policies, whose values are the mixtures of their values.

    Parameters
    ----------
    cmdp : CMDP
        The environment.
    first, second : ndarray, float64, shape (S, A)
        The policies.
    weight : float or ndarray, float64, shape (..., 1, 1)
        Weight of the first, in [0, 1]; the second has the rest.

    Returns
    -------
    ndarray, float64, shape (..., S, A)
    """
    occupancy = [cmdp.state_occupancy(policy)[:, None] * policy for policy in (first, second)]
    return proportional(weight * occupancy[0] + (1 - weight) * occupancy[1])


def _optimum(cmdp, policy, multiplier, slack, method):
    reward_value, utility_value = (float(value) for value in cmdp.evaluate(policy))
    return Optimum(policy, reward_value, utility_value, multiplier, slack, method, cmdp.threshold)
