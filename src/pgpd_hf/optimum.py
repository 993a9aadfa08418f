r"""The optimum of a constrained Markov decision process, by two independent methods.

A linear program over occupancy measures q (proof of Theorem 2 of the paper), and policy iteration
on the Lagrangian, whose maximum over policies is piecewise linear in :math:`\lambda`: its minimum,
:math:`V_r^\star` by strong duality (Lemma 2.1), is found by intersecting the lines of two policies.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import linprog

from pgpd_hf.arguments import require_instance, require_one_of
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.costs import Units


@dataclass(frozen=True, eq=False, repr=False)
class Optimum:
    """An optimal policy, its values and the optimal multiplier, in stored units.

    Attributes
    ----------
    policy : ndarray, float64, shape (S, A)
    reward_value, utility_value : float
        V_r and V_g of the policy.
    multiplier : float
        lambda*, at least 0.
    slack : float
        Slater's xi: max V_g - b (Assumption 2.2).
    threshold : float
        b.
    units : Units, optional
        Of a user: `repr` is in these.
    """

    policy: Array
    reward_value: float
    utility_value: float
    multiplier: float
    slack: float
    threshold: float
    units: Units | None = None

    def __repr__(self) -> str:
        free = self.multiplier == 0 and self.utility_value >= self.threshold
        told = " (the constraint does not bind)" if free else ""
        multiplier, slack = self.multiplier, self.slack
        found = f"V_r = {self.reward_value:g}, V_g = {self.utility_value:g}"
        limit = f"threshold {self.threshold:g}"
        if self.units is not None:
            reward, cost = self.units.shown(self.reward_value, self.utility_value)
            multiplier *= self.units.reward_unit / self.units.cost_unit
            slack *= self.units.cost_unit
            found = f"reward {reward}, cost {cost}"
            limit = f"cost at most {self.units.shown(0.0, self.threshold)[1]}"
        return f"<Optimum: {found}, multiplier {multiplier:g}{told}, {limit}, slack {slack:g}>"


class Infeasible(ValueError):
    """No policy exceeds the threshold; the message says what the largest utility value is."""


METHODS = ("linear_program", "policy_iteration")
_MOST_IN_PROGRAM = 10**6  # transition probabilities of a linear program: up to a minute
_LARGEST_DISCOUNT = 0.99  # of linear programs, which lose digits beyond


def solve(
    cmdp: CMDP, method: Literal["linear_program", "policy_iteration"] | None = None
) -> Optimum:
    """Solve the constrained problem (equation 3 of the paper).

    Parameters
    ----------
    cmdp : CMDP
    method : {"linear_program", "policy_iteration"}, optional
        By default the first, or the second beyond a million transition probabilities or a discount
        factor of 0.99. Both give the same values, and the same multiplier where it is unique.

    Raises
    ------
    ValueError
        If no policy exceeds the threshold (Slater's condition fails).

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.solve(pgpd_hf.random_cmdp(states=10, actions=4, instance=1))
    <Optimum: V_r = 0.680825, V_g = 0.55, multiplier 0.513774, threshold 0.55, slack 0.100158>
    """
    require_instance("cmdp", cmdp, CMDP)
    if method is None:
        large = cmdp.transition.size > _MOST_IN_PROGRAM or cmdp.discount > _LARGEST_DISCOUNT
        method = METHODS[1 if large else 0]
    require_one_of("method", method, METHODS)
    slack = float(cmdp.evaluate(maximize(cmdp, cmdp.utility))[1]) - cmdp.threshold
    if slack <= 1e-12 * cmdp.utility.max() / (1 - cmdp.discount):
        most, given = slack + cmdp.threshold, f"{cmdp.threshold:.6g}"
        told = f"threshold: strictly less than {most:.6g}, the largest utility value of any policy"
        if cmdp.units is not None:
            least, given = (cmdp.units.shown(0.0, it)[1] for it in (most, cmdp.threshold))
            told = f"at_most: strictly more than {least}, the least cost of any policy"
        raise Infeasible(f"{told}, expected, got {given}")
    find = _by_linear_program if method == METHODS[0] else _by_policy_iteration
    policy, multiplier = find(cmdp)
    return _optimum(cmdp, policy, multiplier, slack)


def solve_unconstrained(cmdp: CMDP) -> Optimum:
    """Solve the problem without its constraint; the multiplier is 0, the slack may be negative."""
    require_instance("cmdp", cmdp, CMDP)
    slack = utility_range(cmdp)[1] - cmdp.threshold
    return _optimum(cmdp, maximize(cmdp, cmdp.reward), 0.0, slack)


def given_optimum(cmdp, optimum):
    """Return an optimum that is given for a CMDP, whose policy has to be safe here, or find it."""
    if optimum is None:
        return solve(cmdp)
    require_instance("optimum", optimum, Optimum)
    policy = cmdp.check_policy(optimum.policy, "optimum.policy", single=True)
    claimed, values = (optimum.reward_value, optimum.utility_value), cmdp.evaluate(policy)
    rounding = 1e-9 * cmdp.value_bound
    same = np.allclose(claimed, values, rtol=0, atol=rounding)
    safe = optimum.threshold == cmdp.threshold <= values[1] + rounding and optimum.slack > 0
    if not (same and safe):
        raise ValueError(f"optimum: that of this CMDP expected, got {optimum}")
    return optimum


def utility_range(cmdp):
    """V_g of the policy with the largest V_r, and the largest V_g: a binding b is between."""
    signals = cmdp.reward, cmdp.utility
    return tuple(float(cmdp.evaluate(maximize(cmdp, signal))[1]) for signal in signals)


def maximize(cmdp, signal):
    """Deterministic policy (S, A) of the largest value of a signal (S, A), by policy iteration."""
    everywhere = np.arange(cmdp.states)
    actions, seen = signal.argmax(1), set()
    while True:
        system = np.eye(cmdp.states) - cmdp.discount * cmdp.transition[everywhere, actions]
        values = np.linalg.solve(system, signal[everywhere, actions])
        rounding = 1e-14 * np.abs(values).max()
        values -= values.mean()  # what all states share grows like 1 / (1 - gamma)
        rounding += 1e-13 * (np.abs(signal).max() + np.ptp(values))
        action_values = signal + cmdp.discount * cmdp.transition @ values  # (S, A)
        best = action_values.max(1)
        better = best > action_values[everywhere, actions] + rounding
        if not better.any() or actions.tobytes() in seen:  # rounding could lead in a circle
            first = (action_values >= best[:, None] - rounding).argmax(1)
            return np.eye(cmdp.actions)[first]
        seen.add(actions.tobytes())
        actions = np.where(better, action_values.argmax(1), actions)


def _by_linear_program(cmdp):
    # Signals in units of the scale, or of their own size where it is tiny beside that, and an
    # occupancy of total mass one: the solver's tolerances are absolute.
    reward, utility, mass = cmdp.reward, cmdp.utility, 1 / (1 - cmdp.discount)
    of_reward, of_utility = (_unit(signal, cmdp.scale) for signal in (reward, utility))
    stay = np.repeat(np.eye(cmdp.states), cmdp.actions, axis=0)  # (S * A, S)
    flow = (stay - cmdp.discount * cmdp.transition.reshape(-1, cmdp.states)).T
    result = linprog(
        c=-reward.ravel() / of_reward,
        A_ub=-utility.reshape(1, -1) / of_utility,
        b_ub=[-cmdp.threshold / of_utility / mass],
        A_eq=flow,
        b_eq=cmdp.initial / mass,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if result.status != 0:
        raise ValueError("method: policy_iteration expected, since the linear program failed")
    occupancy = np.maximum(result.x, 0).reshape(cmdp.states, cmdp.actions)
    multiplier = -float(result.ineqlin.marginals[0]) * (of_reward / of_utility)
    return proportional(occupancy), max(0.0, multiplier)


def _unit(signal, scale):
    """Unit of a signal in the linear program."""
    largest = np.abs(signal).max()
    return scale if largest == 0 or largest >= 1e-3 * scale else largest


def _by_policy_iteration(cmdp):
    reward, utility = cmdp.reward, cmdp.utility

    def line(signal):
        """Policy of the largest value of a signal, its V_r, and its V_g - b."""
        policy = maximize(cmdp, signal)
        occupancy = cmdp.occupancy(policy)[:, None] * policy
        return policy, (occupancy * reward).sum(), (occupancy * utility).sum() - cmdp.threshold

    sizes = [np.abs(signal).max() / (1 - cmdp.discount) for signal in (reward, utility)]
    (unsafe, unsafe_v_r, below), (safe, safe_v_r, above) = line(reward), line(utility)
    if below >= 0:  # the constraint does not bind
        return unsafe, 0.0
    seen = [unsafe, safe]
    while True:
        # The Lagrangians of an unsafe and of a safe policy meet at or below the minimum.
        multiplier = (unsafe_v_r - safe_v_r) / (above - below)
        policy, v_r, excess = line(reward + multiplier * utility)
        known = any((policy == it).all() for it in seen)  # whatever the rounding
        seen.append(policy)
        rounding = 1e-12 * (sizes[0] + multiplier * sizes[1])
        if known or v_r + multiplier * excess <= unsafe_v_r + multiplier * below + rounding:
            break
        if excess < 0:
            unsafe, unsafe_v_r, below = policy, v_r, excess
        else:
            safe, safe_v_r, above = policy, v_r, excess
    # Both policies maximise the Lagrangian; their mixture has utility value b exactly.
    weight = above / (above - below)
    return mixture(cmdp, unsafe, safe, weight), max(0.0, float(multiplier))


def proportional(weights):
    """Distributions proportional to weights (..., n); uniform where all weights are zero."""
    total = weights.sum(-1, keepdims=True)
    uniform = np.full_like(weights, 1 / weights.shape[-1])
    return np.divide(weights, total, out=uniform, where=total > 0)


def mixture(cmdp, first, second, weight):
    """Policy with the mean of the values of two policies; `weight` is that of the first policy."""
    occupancy = [cmdp.occupancy(policy)[:, None] * policy for policy in (first, second)]
    return proportional(weight * occupancy[0] + (1 - weight) * occupancy[1])


def _optimum(cmdp, policy, multiplier, slack):
    policy = cmdp.fold(policy)
    reward_value, utility_value = (float(value) for value in cmdp.evaluate(policy))
    values = reward_value, utility_value, multiplier, slack, cmdp.threshold
    return Optimum(policy, *values, cmdp.units)
