"""Rewards and costs of any range, and what a CMDP holds instead of them."""

import math
import os
from typing import NamedTuple

import numpy as np
from scipy import sparse

from pgpd_hf.arguments import optional, require_number, shown
from pgpd_hf.arrays import frozen, refuse, require_array, require_probabilities, sizes

_ROUNDING = 1e-12
_TABLES = 4  # copies of the transitions in memory: given, indexed, kept, alias tables


class Units(NamedTuple):
    """From values to a user's units: reward :math:`z_r + u_r V_r`, cost :math:`z_c - u_c V_g`."""

    reward_unit: float  # u_r and u_c, positive
    cost_unit: float
    reward_zero: float = 0.0  # z_r and z_c
    cost_zero: float = 0.0

    def of_values(self, v_r, v_g):
        """Reward and cost of two values."""
        return self.reward_zero + self.reward_unit * v_r, self.cost_zero - self.cost_unit * v_g

    def shown(self, v_r, v_g):
        """Reward and cost as text; what only rounding tells from zero is zero."""
        values, zeros = np.array(self.of_values(v_r, v_g)), np.array(self[2:])
        values[abs(values) < _ROUNDING * abs(zeros)] = 0.0
        return [f"{value:.6g}" for value in values]


def require_bound(name, value):
    """Return the bound of the constraint as float."""
    if isinstance(value, list | tuple) or getattr(value, "ndim", 0) > 0:
        told = "a single number, since there is one constraint, as in the paper"
        raise ValueError(f"{name}: {told}, expected, got {shown(value)}")
    return require_number(name, value)


def stored(transition, reward, cost, discount, actions, reward_unit, cost_unit):
    """Arguments of a CMDP, from the arguments of :meth:`CMDP.from_costs`."""
    discount = require_number("discount", discount, at_least=0, below=1)
    transition = _dense(transition)
    shape = sizes(require_array("transition", transition, (None, None, None), finite=False))
    allowed = optional(require_mask, "actions", actions, shape)
    taken = np.arange(shape[1])  # whose rows an action takes: its own, or the first allowed one's
    if allowed is not None:
        taken = np.where(allowed, taken, allowed.argmax(1)[:, None])
    source = np.arange(shape[0])[:, None], taken
    transition = np.asarray(transition)[source]
    transition = require_probabilities("transition", transition, (*shape, shape[0]))

    def scaled(name, value, sign, unit):
        """Signal in its unit, from zero on; the unit; the value of zero; and the largest return."""
        signal = sign * _per_step(name, value, transition, source)
        lowest, highest = float(signal.min()), float(signal.max())
        width = require_number(f"{name}, largest return", (highest - lowest) / (1 - discount))
        relative = (1 - discount) * (signal - lowest) / ((highest - lowest) or 1.0)
        if highest - lowest <= _ROUNDING * max(-lowest, highest):  # a constant, but for rounding
            relative = np.zeros_like(signal)
        largest = width * largest_return(transition, relative, discount)
        unit = require_number(f"{name}_unit", (largest or 1.0) if unit is None else unit, above=0)
        factor = require_number(f"{name}_unit, returns in this unit", width / unit)
        return relative * factor, unit, sign * lowest / (1 - discount), largest / unit

    reward, reward_unit, reward_zero, most_reward = scaled("reward", reward, 1.0, reward_unit)
    utility, cost_unit, cost_zero, most_utility = scaled("cost", cost, -1.0, cost_unit)
    return {
        "transition": transition,
        "reward": reward,
        "utility": utility,
        "discount": discount,
        "scale": max(float(reward.max()), float(utility.max())) or 1.0,
        "largest_return": max(most_reward, most_utility) or None,
        "units": Units(reward_unit, cost_unit, reward_zero, cost_zero),
        "allowed": allowed,
    }


def require_memory(shape, name="transition"):
    """Refuse transitions of a shape (S, A, S) if what is made of them does not fit into memory."""
    needed = 8 * _TABLES * math.prod(shape)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    if needed > memory:
        told = f"at most {memory / 1e9:.3g} GB, this machine's memory, expected"
        raise ValueError(f"{name}: tables {shape} need {needed / 1e9:.3g} GB, {told}")


def _dense(transition):
    """Transitions as an array (S, A, S)."""
    shape = getattr(transition, "shape", ())
    if not sparse.issparse(transition):
        require_memory(shape)
        return transition
    if len(shape) != 2 or 0 in shape or shape[0] % shape[1]:
        raise ValueError(f"transition: a sparse matrix (S * A, S) expected, got shape {shape}")
    shape = shape[1], shape[0] // shape[1], shape[1]
    require_memory(shape)
    return transition.toarray().reshape(shape)


def require_mask(name, value, shape):
    """Which actions are allowed, (S, A); at least one in every state."""
    allowed = require_array(name, value, shape) > 0
    if not all(isinstance(it, bool | np.bool_) for it in np.asarray(value).flat):
        raise ValueError(f"{name}: True or False of shape {shape} expected, got numbers")
    refuse(name, ~allowed.any(1), allowed.sum(1), "at least one in every state")
    return frozen(allowed)


def _per_step(name, value, transition, source):
    """Reward or cost (S, A); what depends on the next state, by its expectation."""
    array = require_array(name, value, (...,), finite=False)
    if array.shape not in (shapes := (transition.shape[:2], transition.shape)):
        expected = f"shape {shapes[0]} or {shapes[1]} expected"
        raise ValueError(f"{name}: {expected}, got {array.shape}")
    array = require_array(name, array[source], array.shape)
    return array if array.ndim == 2 else np.einsum("sat,sat->sa", transition, array)


def largest_return(transition, signal, discount):
    """Largest discounted sum of a signal (S, A) along any possible path, from any state.

    By policy iteration in the process where the next state can be chosen.
    """
    everywhere = np.arange(len(signal))
    stay = np.eye(len(signal))
    best = np.full_like(stay, -np.inf)  # signal of the best action that can lead from s to s'
    for action in range(signal.shape[1]):
        possible = transition[:, action] > 0
        np.maximum(best, signal[:, action, None], out=best, where=possible)
    following, seen = best.argmax(1), set()
    while following.tobytes() not in seen:  # rounding could lead in a circle
        seen.add(following.tobytes())
        values = np.linalg.solve(stay - discount * stay[following], best[everywhere, following])
        ahead = best + discount * values
        better = ahead.max(1) > ahead[everywhere, following] + 1e-13 * values.max()
        following = np.where(better, ahead.argmax(1), following)
    return float(values.max())
