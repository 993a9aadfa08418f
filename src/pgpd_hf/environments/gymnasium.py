r"""Gymnasium's environments as CMDPs, and CMDPs as environments of Gymnasium.

Environments with a table of transitions (``env.unwrapped.P``), such as FrozenLake and CliffWalking,
can be made CMDPs. A CMDP pays by state and action and never ends; a table also pays by the next
state, and has episodes that end. The two agree in every value:

* A step that ends an episode leads to an absorbing state. What it pays, r, is paid there in equal
  instalments, :math:`r\,(1-\gamma)/\gamma` per step from the next step on, which is worth the same.
  Costs are treated likewise. So trajectories show what happened, and not only its probability.
* Other steps pay the mean over their next states.
* Rewards, those of absorbing states included, are shifted and scaled to :math:`[0, 1-\gamma]`, and
  the utility is :math:`(1-\gamma)(1 - \mathrm{cost}/\max\mathrm{cost})`: values lie in [0, 1].

Limits on the number of steps are left out, since states do not count steps; and so are states that
no policy reaches.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pgpd_hf.core.arguments import require_integer, require_number, shown
from pgpd_hf.core.cmdp import CMDP, Map
from pgpd_hf.core.extras import lacking
from pgpd_hf.core.optima import require_cmdp, utility_range
from pgpd_hf.core.sampling import default_horizon

try:
    import gymnasium
    from gymnasium import Env, spaces
    from gymnasium.error import ResetNeeded
except ImportError:  # said where an environment is made, so that the name can be imported
    Env = object  # type: ignore[assignment, misc]

_FALL, _STEP = -100.0, -1.0  # rewards of CliffWalking
_HARMLESS = ("Autoreset", "OrderEnforcing", "PassiveEnvChecker", "TimeLimit")  # wrappers


class _Step(NamedTuple):
    """One entry of a table."""

    state: int
    action: int
    probability: float
    next: int
    reward: float
    ends: bool


class _World(NamedTuple):
    """What the table of a known environment does not say of itself."""

    letters: np.ndarray  # as of a Map
    moves: tuple
    costs: dict  # by name, the cost of a step


def from_gymnasium(
    env: str | gymnasium.Env,
    *,
    cost: str | Iterable[int] | ArrayLike | Callable[[int, int, int], float],
    at_most: float | None = None,
    threshold: float | None = None,
    discount: float = 0.99,
    **options: Any,
) -> CMDP:
    r"""Make a CMDP from the table of a Gymnasium environment.

    Parameters
    ----------
    env : str or gymnasium.Env
        Name of the environment, with its version, such as "FrozenLake-v1"; or the environment
        itself.
    cost : str, iterable of int, array_like of shape (S, A), or callable
        What is to be avoided: "holes" of FrozenLake; "cliff" of CliffWalking, or "edge", which is
        the cliff and the cells beside it; or states by their number in the table, to enter which
        costs one; or the cost of each action in each state of the table; or a function of state,
        action and next state that gives the cost of a step. Costs are not negative. With "cliff"
        and "edge", the cliff's own reward of -100 is that of any other step, -1, since the
        constraint takes its place.
    at_most : float, optional
        Largest :math:`E\sum_t \gamma^t c_t` with the cost :math:`c_t` of step t, which counts from
        0: a discounted probability where entering a state that ends the episode costs one. At most
        what it is if every step has the largest cost.
    threshold : float, optional
        :math:`b` itself, in place of `at_most`.
    discount : float
        :math:`\gamma` in (0, 1).
    **options
        Options of the environment that is made by name, such as ``map_name="8x8"``.

    Returns
    -------
    CMDP
        State s is the s-th state of the table that some policy reaches. A return of the environment
        is (value - `value_zero`) / `value_unit`.

    Raises
    ------
    ValueError
        If Gymnasium is not installed, the environment has no table or a wrong one, no step has the
        cost, or no policy exceeds the threshold; the message says what to do.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.from_gymnasium("FrozenLake-v1", map_name="8x8", cost="holes", at_most=0.05)
    >>> cmdp
    <CMDP: |S| = 64, |A| = 4, discount 0.99, threshold 0.9505, values in [0, 1]>
    >>> round(pgpd_hf.solve(cmdp).reward_value / cmdp.value_unit, 5)
    0.41352
    """
    if not 0 < require_number("discount", discount) < 1:
        raise ValueError(f"discount: 0 < gamma < 1 expected, got {discount}")
    if at_most is None and threshold is None:
        raise ValueError("at_most: this or threshold expected")
    if at_most is not None and threshold is not None:
        raise ValueError("at_most: this or threshold expected, not both")
    name, env = _open(env, options)
    table, initial = _table(name, env)
    shape = len(table), len(table[0])
    world = _world(env)
    steps, costs = _with_costs(_steps(name, table), cost, world, shape)
    transition, reward, costs, initial, places = _tables(steps, costs, initial, shape[1], discount)
    lowest, width = reward.min(), np.ptp(reward)
    if not width > 0:
        raise ValueError(f"env: all steps of {name} have the same reward, nothing to learn")
    if not costs.max() > 0:
        raise ValueError(
            f"cost: no step of {name} that a policy can make has the cost {shown(cost)}"
        )
    unit, price = (1 - discount) / width, (1 - discount) / costs.max()
    if threshold is None:
        threshold = 1 - price * require_number("at_most", at_most)
        if threshold < -1e-9:
            most = f"at most {1 / price:.6g} expected, since no policy can cost more"
            raise ValueError(f"at_most: {most}; got {at_most}")
    cmdp = CMDP(
        transition=transition,
        reward=(1 - discount) * ((reward - lowest) / width),
        utility=(1 - discount) * (1 - costs / costs.max()),
        initial=initial,
        discount=discount,
        threshold=threshold,
        scale=1 - discount,
        value_unit=unit,
        value_zero=-unit * lowest / (1 - discount),
        map=world and Map(world.letters, places, np.array(world.moves)),
    )
    safest = utility_range(cmdp)[1]
    if safest - cmdp.threshold <= 1e-12:
        given = f"threshold: {threshold}" if at_most is None else f"at_most: {at_most}"
        least = max(0.0, round((1 - safest) / price, 9))
        limit = f"less than {safest:.6g}" if at_most is None else f"more than {least:g}"
        raise ValueError(
            f"{given} leaves no policy any slack, which learning needs (Slater's condition); give "
            f"{limit}"
        )
    return cmdp


def make(gymnasium, cost, at_most=None, threshold=None, discount=0.99, options=None):
    """Make a CMDP as :func:`from_gymnasium` does, from the keys of a study.

    Parameters
    ----------
    gymnasium : str
        Name of the environment.
    cost, at_most, threshold, discount
        As for :func:`from_gymnasium`.
    options : dict, optional
        Options of the environment.

    Returns
    -------
    CMDP

    Raises
    ------
    ValueError
        As :func:`from_gymnasium`, and if `options` are no dict.
    """
    if not isinstance(options, dict | None):
        raise ValueError(f"options: keys and values expected, got {shown(options)}")
    given = {"at_most": at_most, "threshold": threshold, "discount": discount}
    try:
        return from_gymnasium(gymnasium, cost=cost, **given, **(options or {}))
    except ValueError as error:
        message = str(error)
        if message.startswith("env:"):  # which is another key of a study
            message = "gymnasium" + message.removeprefix("env")
        raise ValueError(message) from None


def _open(env, options):
    """Name of an environment, and itself without wrappers; refused if it has no table."""
    if lack := lacking("environments", "gymnasium"):
        raise ValueError(f"from_gymnasium: {lack}")
    if isinstance(env, gymnasium.Env):
        if options:
            raise ValueError(f"{next(iter(options))}: an option of an environment made by name")
        name = type(env.unwrapped).__name__
    elif isinstance(env, str):
        name, env = env, _make(env, options)
    else:
        raise ValueError(f"env: an environment or its name expected, got {shown(env)}")
    while isinstance(env, gymnasium.Wrapper):
        wrapper = type(env).__name__
        if wrapper not in _HARMLESS:
            raise ValueError(f"env: {wrapper} changes {name}, and not its table")
        env = env.env
    if not (hasattr(env, "P") and hasattr(env, "initial_state_distrib")):
        raise ValueError(
            f"env: {name} has no table of transitions (P, initial_state_distrib); "
            "FrozenLake-v1, CliffWalking-v1, CliffWalkingSlippery-v1 and Taxi-v4 have"
        )
    if getattr(env, "fickle_passenger", False):
        raise ValueError(
            "fickle_passenger: changes the destination outside of the table; leave it out"
        )
    return name, env


def _make(name, options):
    """Make an environment by name."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # which repeat the error
            return gymnasium.make(name, **options)
    except Exception as error:  # whatever an environment raises on options that it does not know
        reason = " ".join(str(error).split())
        given = f" with {options}" if options else ""
        raise ValueError(f"env: Gymnasium cannot make {name!r}{given}: {reason}") from None


def _table(name, env):
    """Outcomes by state and action, and the initial distribution."""

    def listed(entries):
        if isinstance(entries, dict):
            return [entries[place] for place in range(len(entries))]
        return list(entries)

    try:
        table = [
            [[(p, *rest) for p, *rest in outcomes] for outcomes in listed(actions)]
            for actions in listed(env.P)
        ]
        initial = np.array(env.initial_state_distrib, float)
    except (KeyError, TypeError, ValueError):
        table = []
    outcomes = [outcome for actions in table for each in actions for outcome in each]
    alike = len({len(actions) for actions in table}) == 1 and {len(it) for it in outcomes} == {4}
    if not (alike and initial.shape == (len(table),)):
        raise ValueError(
            f"env: in the table of {name} all states have to have the same actions, numbered from "
            "0, with outcomes (probability, state, reward, end); initial_state_distrib has to give "
            "a probability for each state"
        )
    return table, initial


def _steps(name, table):
    """All entries of the table, which has to be one of probabilities."""
    steps, states = [], range(len(table))
    for state, actions in enumerate(table):
        for action, outcomes in enumerate(actions):
            for p, following, reward, _ in outcomes:
                if not (p >= 0 and following in states and math.isfinite(reward)):
                    raise ValueError(
                        f"env: in the table of {name} state {state} and action {action} have the "
                        f"outcome {shown((p, following, reward))}; a probability, a state of the "
                        "table and a finite reward expected"
                    )
            total = math.fsum(outcome[0] for outcome in outcomes)
            if not abs(total - 1) <= 1e-9:
                raise ValueError(
                    f"env: in the table of {name} the probabilities of state {state} and action "
                    f"{action} sum to {total}, not to 1"
                )
            steps += [
                _Step(int(state), int(action), float(p), int(following), float(reward), bool(ends))
                for p, following, reward, ends in outcomes
                if p > 0
            ]
    return steps


def _world(env):
    """Map and named costs of FrozenLake and CliffWalking; None for others."""
    kind = type(env).__name__
    if kind == "FrozenLakeEnv":
        letters = env.desc.astype(str)
        holes = {"holes": lambda step: letters.flat[step.next] == "H"}
        return _World(letters, ((0, -1), (1, 0), (0, 1), (-1, 0)), holes)
    if kind == "CliffWalkingEnv":
        letters = np.where(env._cliff, "C", "F")
        letters.flat[env.start_state_index], letters[-1, -1] = "S", "G"
        below = np.roll(env._cliff, -1, axis=0)  # cells above the cliff
        costs = {
            "cliff": lambda step: step.reward == _FALL,
            "edge": lambda step: step.reward == _FALL or below.flat[step.next],
        }
        return _World(letters, ((-1, 0), (0, 1), (1, 0), (0, -1)), costs)
    return None


def _with_costs(steps, cost, world, shape):
    """Steps, and the cost of each."""
    named = world.costs if world else {}
    if isinstance(cost, str) and cost in named:
        prices = [float(named[cost](step)) for step in steps]
        if "cliff" in named:
            steps = [it._replace(reward=_STEP) if it.reward == _FALL else it for it in steps]
    elif callable(cost):
        prices = [_price(cost, step) for step in steps]
    else:
        try:
            prices = _prices(steps, cost, shape)
        except (TypeError, ValueError):
            names = "".join(f"{name!r}, " for name in named)
            raise ValueError(
                f"cost: {names}numbers of states from 0 to {shape[0] - 1}, costs of shape {shape} "
                f"that are not negative, or a function expected, got {shown(cost)}"
            ) from None
    return steps, prices


def _price(cost, step):
    """What a function says that a step costs."""
    place = step.state, step.action, step.next
    try:
        price = cost(*place)
    except TypeError as error:
        raise ValueError(
            f"cost: a function of state, action and next state expected: {error}"
        ) from None
    price = float(price) if isinstance(price, bool | np.bool_) else price
    return require_number(f"cost{place}", price, at_least=0)


def _prices(steps, cost, shape):
    """Costs of steps, by states to enter or by state and action; an error if it is neither."""
    rows = isinstance(cost, list | tuple) and any(isinstance(row, list | tuple) for row in cost)
    if not rows and getattr(cost, "ndim", 1) != 2:
        avoided = {require_integer("cost", state, 0, shape[0] - 1) for state in cost}
        return [float(it.next in avoided and it.state != it.next) for it in steps]
    table = np.array(cost, dtype=float)
    possible = np.isfinite(table) & (table >= 0)
    if table.shape != shape or not possible.all() or np.ma.is_masked(cost):
        raise ValueError
    return [float(table[step.state, step.action]) for step in steps]


def _tables(steps, costs, initial, actions, discount):
    """Transitions, and what is paid: reward and cost, each by state and action.

    With them the initial distribution and the states of the table, for those states that some
    policy reaches: states of the table, and those added for episodes that end there in different
    ways.
    """
    passed = {step.next for step in steps if not step.ends and step.next != step.state}
    passed |= set(np.flatnonzero(initial).tolist())
    entries = list(zip(steps, costs, strict=True))
    paid = {}  # where episodes end: what the last step pays
    for step, cost in entries:
        if step.ends and (step.next != step.state or step.state in passed):
            paid.setdefault(step.next, set()).add((step.reward, cost))
    # What a table says of the steps from a state in which every episode has ended means nothing.
    alone = {state for state, kinds in paid.items() if len(kinds) == 1 and state not in passed}
    entries = [entry for entry in entries if entry[0].state not in alone]
    ends = {}  # absorbing states, by the state of the table and what the last step pays
    for step, cost in entries:
        if step.ends:
            added = step.next if step.next in alone else len(initial) + len(ends)
            ends.setdefault((step.next, (step.reward, cost)), added)
    size = len(initial) + len(ends)
    places = np.arange(size)
    transition, payments = np.zeros((size, actions, size)), np.zeros((2, size, actions))
    for step, cost in entries:
        following = ends[step.next, (step.reward, cost)] if step.ends else step.next
        transition[step.state, step.action, following] += step.probability
        if not step.ends:
            payments[:, step.state, step.action] += step.probability * np.array([step.reward, cost])
    for (place, kind), state in ends.items():
        places[state] = place
        transition[state, :, state] = 1
        payments[:, state] = (1 - discount) / discount * np.array(kind)[:, None]
    initial = np.append(initial, np.zeros(len(ends)))
    reached = initial > 0
    while (grown := reached | (transition[reached] > 0).any((0, 1))).sum() > reached.sum():
        reached = grown
    states = np.flatnonzero(reached)
    inside = np.ix_(states, range(actions), states)
    return transition[inside], *payments[:, states], initial[states], places[states]


class CMDPEnv(Env):
    r"""A CMDP as a Gymnasium environment whose steps tell a cost.

    An episode begins in a state that :math:`\rho` draws and is cut off after H + 1 steps; a CMDP
    does not end it before. A step pays the reward r(s, a), and ``info["cost"]`` is the scale minus
    the utility g(s, a), so that it is in [0, scale]. The constraint :math:`V_g \ge b` is that the
    expected sum of :math:`\gamma^t c_t` is at most `cost_limit`.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    horizon : int, optional
        H; by default as long as the algorithms' trajectories.

    Attributes
    ----------
    cost_limit : float
        Largest discounted cost, :math:`\mathrm{scale}/(1-\gamma) - b`.

    Raises
    ------
    ValueError
        If Gymnasium is not installed, or an argument is out of range.

    Examples
    --------
    >>> import pgpd_hf
    >>> env = pgpd_hf.CMDPEnv(pgpd_hf.media_streaming())
    >>> env.reset(seed=0)
    (10, {})
    >>> state, reward, terminated, truncated, info = env.step(1)
    >>> reward, info
    (0.0, {'cost': 0.0})
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 # as Gymnasium has it

    def __init__(self, cmdp: CMDP, horizon: int | None = None) -> None:
        if lack := lacking("environments", "gymnasium"):
            raise ValueError(f"CMDPEnv: {lack}")
        require_cmdp(cmdp)
        if horizon is None:
            horizon = default_horizon(cmdp.discount)
        self.cmdp, self.horizon = cmdp, require_integer("horizon", horizon, 0)
        self.cost_limit = cmdp.value_bound - cmdp.threshold
        self.observation_space = spaces.Discrete(cmdp.states)
        self.action_space = spaces.Discrete(cmdp.actions)
        self._state: int | None = None  # until the first reset

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[int, dict[str, Any]]:
        """Begin an episode, as every environment of Gymnasium does."""
        super().reset(seed=seed)
        self._left = self.horizon + 1
        self._state = int(self.np_random.choice(self.cmdp.states, p=self.cmdp.initial))
        return self._state, {}

    def step(self, action: int) -> tuple[int, float, bool, bool, dict[str, Any]]:
        """Make a step; after an episode has been cut off, `reset` begins the next one."""
        if self._state is None:
            raise ResetNeeded("CMDPEnv: reset has to be called before the first step")
        if not self.action_space.contains(action):
            most = self.cmdp.actions - 1
            raise ValueError(f"action: an integer from 0 to {most} expected, got {shown(action)}")
        place = self._state, int(action)
        self._state = int(self.np_random.choice(self.cmdp.states, p=self.cmdp.transition[place]))
        self._left -= 1
        cost = self.cmdp.scale - float(self.cmdp.utility[place])
        return self._state, float(self.cmdp.reward[place]), False, self._left <= 0, {"cost": cost}
