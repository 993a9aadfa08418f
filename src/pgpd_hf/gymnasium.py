r"""Gymnasium's environments with a table of transitions, such as FrozenLake, as CMDPs.

A CMDP pays by state and action and never ends; a table also pays by the next state, and has
episodes that end. The two agree in every value:

* A step that ends an episode leads to an absorbing state. What it pays, r, is paid there in equal
  instalments, :math:`r\,(1-\gamma)/\gamma` per step from the next step on, which is worth the same.
  Costs are treated likewise. So trajectories show what happened, and not only its probability.
* Other steps pay the mean over their next states.
* Rewards, those of absorbing states included, are shifted and scaled to :math:`[0, 1-\gamma]`, and
  the utility is :math:`(1-\gamma)(1 - \mathrm{cost}/\max\mathrm{cost})`: values lie in [0, 1].

Limits on the number of steps are left out, since states do not count steps; and so are states that
no policy reaches.
"""

from __future__ import annotations  # help() shows names of types

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pgpd_hf.arguments import require_integer, require_number, shown
from pgpd_hf.arrays import require_array
from pgpd_hf.cmdp import CMDP, Map
from pgpd_hf.costs import Units, require_memory

_FALL, _STEP = -100.0, -1.0  # rewards of CliffWalking
_HARMLESS = ("Autoreset", "OrderEnforcing", "PassiveEnvChecker", "TimeLimit")  # wrappers
_SINGLE, _DOUBLE = 1e-6, 1e-9  # how far sums of probabilities of both precisions are from one
_LAKE, _CLIFF = "FrozenLakeEnv", "CliffWalkingEnv"  # environments whose states lie on a grid
_UP, _RIGHT, _DOWN, _LEFT = (-1, 0), (0, 1), (1, 0), (0, -1)


class _Step(NamedTuple):
    """An entry of a table."""

    state: int
    action: int
    probability: float
    next: int
    reward: float
    ends: bool


def from_gymnasium(
    env: Any,
    *,
    cost: str | ArrayLike | Callable[[int, int, int], float],
    at_most: float,
    discount: float = 0.99,
    **options: Any,
) -> CMDP:
    r"""Make a CMDP from the table of a Gymnasium environment.

    Parameters
    ----------
    env : str or gymnasium.Env
        Name of the environment, with its version, such as "FrozenLake-v1"; or the environment
        itself. A name "module:Name-v0" makes Gymnasium import the module.
    cost : str, array_like of shape (S, A), or callable
        What is to be avoided: "steps"; "holes" of FrozenLake; "cliff" of CliffWalking; or the cost
        of each action in each state of the table; or a function of state, action and next state
        that gives the cost of a step. Costs are not negative. With "cliff", the cliff's own reward
        of -100 is that of any other step, -1, since the constraint takes its place.
    at_most : float
        Largest :math:`E\sum_t \gamma^t c_t` with the cost :math:`c_t` of step t, which counts from
        0: a discounted probability where a step that ends the episode costs one, and others none.
    discount : float
        :math:`\gamma` in (0, 1).
    **options
        Options of an environment that is made by its name, such as ``map_name="8x8"``.

    Returns
    -------
    CMDP
        State s is the s-th state of the table that some policy reaches; :meth:`CMDP.in_units` gives
        returns and costs of the table.

    Raises
    ------
    ValueError
        If Gymnasium is not installed, the environment has no table or a wrong one, or no step has
        the cost.

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.from_gymnasium("FrozenLake-v1", map_name="8x8", cost="holes", at_most=0.05)
    <CMDP: |S| = 64, |A| = 4, discount 0.99, cost at most 0.05, units: reward 1.0101, cost 1.0101>
    """
    discount = require_number("discount", discount, above=0, below=1)
    at_most = require_number("at_most", at_most)
    name, env = _open(env, options)
    steps, initial, shape = _steps(name, env)
    steps, costs = _with_costs(env, steps, cost, shape)
    transition, reward, costs, initial, places = _tables(steps, costs, initial, shape[1], discount)
    lowest, width = reward.min(), np.ptp(reward) or 1.0
    if not costs.max() > 0:
        raise ValueError(f"cost: no step that a policy can make in {name} has the {shown(cost)}")
    price = (1 - discount) / costs.max()
    return CMDP(
        transition=transition,
        reward=(1 - discount) * ((reward - lowest) / width),
        utility=(1 - discount) * (1 - costs / costs.max()),
        initial=initial,
        discount=discount,
        threshold=1 - price * at_most,
        scale=1 - discount,
        units=Units(width / (1 - discount), 1 / price, lowest / (1 - discount), 1 / price),
        map=_map(env, places),
    )


def _open(env, options):
    """Name of an environment, and itself without wrappers; refused if it has no table."""
    try:
        import gymnasium  # which is optional, and takes a while
    except ImportError:
        needed = "pip install 'pgpd-hf[gymnasium]' installs it"
        raise ValueError(f"from_gymnasium: gymnasium is not installed; {needed}") from None
    if isinstance(env, gymnasium.Env) and options:
        raise ValueError(f"{next(iter(options))}: an option of an environment made by its name")
    name = env if isinstance(env, str) else type(getattr(env, "unwrapped", env)).__name__
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which repeat the error
            env = gymnasium.make(env, **options) if isinstance(env, str) else env
    except Exception as error:  # whatever an environment raises on options that it does not know
        told = " ".join(str(error).split())
        raise ValueError(f"env: {name!r} with {options} cannot be made: {told}") from None
    while isinstance(env, gymnasium.Wrapper) and type(env).__name__ in _HARMLESS:
        env = env.env
    if isinstance(env, gymnasium.Wrapper) or getattr(env, "fickle_passenger", False):
        raise ValueError(f"env: the table of {name} is not what a wrapper or option makes of it")
    if not (hasattr(env, "P") and hasattr(env, "initial_state_distrib")):
        raise ValueError(
            "env: an environment with a table (P, initial_state_distrib), or its name, expected, "
            f"got {name}"
        )
    return name, env


def _steps(name, env):
    """All entries of the table, the distribution of first states, and numbers (S, A)."""

    def listed(entries):
        return [entries[number] for number in range(len(entries))]

    try:
        table = [[listed(outcomes) for outcomes in listed(row)] for row in listed(env.P)]
        widths = {len(row) for row in table}
        lengths = {len(outcome) for row in table for outcomes in row for outcome in outcomes}
    except (KeyError, IndexError, TypeError):
        widths = lengths = None
    if widths is None or len(widths) != 1 or lengths != {4}:
        expected = "in each state the same actions, with outcomes (probability, state, reward, end)"
        raise ValueError(f"env: a table P, {expected}, expected of {name}")
    steps, shape = [], (len(table), *widths)
    for state, action in np.ndindex(shape):
        place, outcomes = f"env: {name}.P[{state}][{action}]", table[state][action]
        numbers = [require_number(f"{place}, probability", it[0], at_least=0) for it in outcomes]
        for p, (_, to, reward, ends) in zip(_normalized(place, numbers), outcomes, strict=True):
            to = require_integer(f"{place}, next state", to, 0, shape[0] - 1)
            reward = require_number(f"{place}, reward", reward)
            if p > 0:
                steps.append(_Step(state, action, p, to, reward, bool(ends)))
    place = f"env: {name}.initial_state_distrib"
    initial = require_array(place, env.initial_state_distrib, shape[:1])
    return steps, np.array(_normalized(place, initial.tolist())), shape


def _normalized(place, probabilities):
    """Probabilities; those of single precision are divided by their sum."""
    total = math.fsum(probabilities)
    if not abs(total - 1) <= _SINGLE:
        raise ValueError(f"{place}: probabilities that sum to 1 expected, got {total}")
    return probabilities if abs(total - 1) <= _DOUBLE else [p / total for p in probabilities]


def _with_costs(env, steps, cost, shape):
    """Steps, and the cost of each."""
    kind = type(env).__name__
    if callable(cost):
        return steps, [_price(cost, step) for step in steps]
    if not isinstance(cost, str):
        table = require_array("cost", cost, shape)
        if (table < 0).any():
            raise ValueError(f"cost: numbers of at least 0 expected, got {table.min():g}")
        return steps, [float(table[step.state, step.action]) for step in steps]
    if cost == "steps":
        return steps, [1.0] * len(steps)
    if cost == "holes" and kind == _LAKE:
        return steps, [float(env.desc.flat[step.next] == b"H") for step in steps]
    if cost == "cliff" and kind == _CLIFF:
        falls = [float(step.reward == _FALL) for step in steps]
        return [it._replace(reward=max(it.reward, _STEP)) for it in steps], falls
    raise ValueError(
        "cost: 'steps', 'holes' of FrozenLake, 'cliff' of CliffWalking, an array or a function "
        f"expected, got {shown(cost)}"
    )


def _price(cost, step):
    """What a function says that a step costs."""
    place = step.state, step.action, step.next
    price = cost(*place)
    price = float(price) if isinstance(price, bool | np.bool_) else price
    return require_number(f"cost{place}", price, at_least=0)


def _tables(steps, costs, initial, actions, discount):
    """Transitions, reward and cost (S, A), initial distribution, and states of the table (S,)."""
    ends, places = {}, list(range(len(initial)))
    for step, cost in zip(steps, costs, strict=True):  # a state for each way to end
        if step.ends and (step.next, step.reward, cost) not in ends:
            ends[step.next, step.reward, cost] = len(places)
            places.append(step.next)
    require_memory((len(places), actions, len(places)))
    transition = np.zeros((len(places), actions, len(places)))
    payments = np.zeros((2, len(places), actions))
    for step, cost in zip(steps, costs, strict=True):
        following = ends[step.next, step.reward, cost] if step.ends else step.next
        transition[step.state, step.action, following] += step.probability
        if not step.ends:
            payments[:, step.state, step.action] += step.probability * np.array([step.reward, cost])
    for (_, *paid), state in ends.items():
        transition[state, :, state] = 1
        payments[:, state] = (1 - discount) / discount * np.array(paid)[:, None]
    initial = np.append(initial, np.zeros(len(ends)))
    reached = initial > 0  # by some policy
    while (grown := reached | (transition[reached] > 0).any((0, 1))).sum() > reached.sum():
        reached = grown
    places = np.array(places)
    states = np.flatnonzero(reached)
    states = states[np.argsort(places[states], kind="stable")]
    inside = np.ix_(states, range(actions), states)
    return transition[inside], *payments[:, states], initial[states], places[states]


def _map(env, places):
    """Where the states of FrozenLake and CliffWalking lie."""
    if type(env).__name__ == _LAKE:
        return Map(env.desc.astype(str), places, np.array([_LEFT, _DOWN, _RIGHT, _UP]))
    if type(env).__name__ == _CLIFF:
        letters = np.full(env.shape, "F")
        letters[-1] = ["S", *"C" * (env.shape[1] - 2), "G"]
        return Map(letters, places, np.array([_UP, _RIGHT, _DOWN, _LEFT]))
    return None
