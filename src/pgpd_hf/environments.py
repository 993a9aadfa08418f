r"""Environments: the random CMDPs of Section 5, Gymnasium's, and what a configuration describes.

Those of Gymnasium have a table of transitions, such as FrozenLake's. A CMDP pays by state and
action and never ends; a table also pays by the next state, and has episodes that end. The two agree
in every value:

* A state in which episodes end is absorbing. What the last step pays, r, is paid there in equal
  instalments, :math:`r\,(1-\gamma)/\gamma` per step from the next step on, which is worth the same.
  Costs are treated likewise. So trajectories show what happened, and not only its probability.
* Other steps pay the mean over their next states.
* Rewards, those of absorbing states included, are shifted and scaled to :math:`[0, 1-\gamma]`, and
  the utility is :math:`(1-\gamma)(1 - \mathrm{cost}/\max\mathrm{cost})`: values lie in [0, 1].

Limits on the number of steps are left out, since states do not count steps.
"""

from __future__ import annotations  # help() shows names of types

import re
import warnings
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from pgpd_hf.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.arrays import refuse, require_array
from pgpd_hf.cmdp import CMDP
from pgpd_hf.costs import Units, require_memory
from pgpd_hf.streams import generator

_LAKE = "FrozenLakeEnv"  # whose states lie on a grid


def random_cmdp(
    states: int = 10,
    actions: int = 4,
    instance: int = 1,
    *,
    discount: float = 0.9,
    concentration: float = 5.0,
    threshold: float = 0.55,
    scale: Literal["normalized", "unit"] = "normalized",
) -> CMDP:
    r"""Draw a random environment (Section 5 of the paper).

    Rows of the transition probabilities are Dirichlet, rewards and utilities uniform, all of them
    independent; the initial distribution is uniform.

    Parameters
    ----------
    states, actions : int
    instance : int
        Number of the draw, at least 0. The default experiment has 42.
    discount : float
        :math:`\gamma` in [0, 1).
    concentration : float
        Parameter of the symmetric Dirichlet distribution, positive.
    threshold : float
        b, in units of values.
    scale : {"normalized", "unit"}
        Rewards and utilities lie in [0, 1] if "unit"; if "normalized" they are multiplied by
        :math:`1-\gamma`, so that values lie in [0, 1].

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.random_cmdp()
    <CMDP: |S| = 10, |A| = 4, discount 0.9, threshold 0.55, values in [0, 1]>
    """
    states = require_integer("states", states, 1)
    actions = require_integer("actions", actions, 1)
    require_memory((states, actions, states), "states, actions")
    instance = require_integer("instance", instance, 0)
    concentration = require_number("concentration", concentration, above=0, at_most=1e6)
    require_one_of("scale", scale, ("normalized", "unit"))
    discount = require_number("discount", discount, at_least=0, below=1)
    random = generator(purpose="environment", instance=instance)
    transition = random.dirichlet(np.full(states, concentration), size=(states, actions))
    reward, utility = random.random((states, actions)), random.random((states, actions))
    largest = 1.0 - discount if scale == "normalized" else 1.0
    return CMDP(
        transition=transition,
        reward=largest * reward,
        utility=largest * utility,
        initial=np.full(states, 1 / states),
        discount=discount,
        threshold=threshold,
        scale=largest,
    )


def from_gymnasium(
    env: Any, *, cost: str | ArrayLike, at_most: float, discount: float = 0.99, **options: Any
) -> CMDP:
    r"""Make a CMDP from the table of a Gymnasium environment.

    States are those of the table; :meth:`CMDP.in_units` gives its returns and costs.

    Parameters
    ----------
    env : str or gymnasium.Env
        Name of the environment, with its version, such as "FrozenLake-v1"; or the environment
        itself, whose wrappers do not count. A name "module:Name-v0" imports the module.
    cost : str or array_like of shape (S, A)
        What is to be avoided: "steps"; "holes" of FrozenLake; or the cost of each action in each
        state of the table, not negative.
    at_most : float
        Largest :math:`E\sum_{t \ge 0} \gamma^t c_t` with the cost :math:`c_t` of step t: a
        discounted probability if the last step of an episode costs one and others nothing.
    discount : float
        :math:`\gamma` in (0, 1).
    **options
        Options of an environment that is made by its name, such as ``map_name="8x8"``.

    Raises
    ------
    ValueError
        If there is no table, or episodes end in a state sometimes only, or begin there.

    Examples
    --------
    >>> import pgpd_hf
    >>> pgpd_hf.from_gymnasium("FrozenLake-v1", map_name="8x8", cost="holes", at_most=0.05)
    <CMDP: |S| = 64, |A| = 4, discount 0.99, cost at most 0.05, units: reward 1.0101, cost 1.0101>
    """
    discount = require_number("discount", discount, above=0, below=1)
    at_most = require_number("at_most", at_most)
    env = _open(env, options)
    transition, reward, costs, initial = _tables(env, cost, discount)
    lowest, width = reward.min(), np.ptp(reward) or 1.0
    require_number("cost, its largest", costs.max(), above=0)
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
        map=env.desc.astype(str) if type(env).__name__ == _LAKE else None,
    )


def _open(env, options):
    """An environment without wrappers; refused if it has no table."""
    try:
        import gymnasium  # which is optional, and takes a while
    except ImportError:
        raise ValueError("gymnasium: not installed; pip install gymnasium installs it") from None
    if isinstance(env, str):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # they repeat the error
                env = gymnasium.make(env, **options)
        except Exception as error:  # whatever an environment raises on options it does not know
            told = " ".join(str(error).split())
            raise ValueError(f"env: {env!r} with {options} cannot be made: {told}") from None
    elif options:
        raise ValueError(f"{next(iter(options))}: an option of an environment made by its name")
    env = getattr(env, "unwrapped", env)
    complete = hasattr(env, "P") and hasattr(env, "initial_state_distrib")
    if not complete or getattr(env, "fickle_passenger", False):  # of Taxi, and not in its table
        expected = "an environment with a table (P, initial_state_distrib), or its name"
        raise ValueError(f"env: {expected}, expected, got {shown(env)}")
    return env


def _outcomes(env):
    """Outcomes of all actions in all states, a row for each."""
    names = ["state", "action", "probability", "following", "reward", "ends"]
    try:
        rows = [
            (state, action, *map(float, outcome))
            for state in range(len(env.P))
            for action in range(len(env.P[state]))
            for outcome in env.P[state][action]
        ]
        table = pd.DataFrame(require_array("P", rows, (None, len(names))), columns=names)
        if not table["following"].isin(range(len(env.P))).all():
            raise ValueError
    except (KeyError, TypeError, ValueError):
        expected = "with outcomes (probability, next state, reward, end) in P[state][action]"
        raise ValueError(f"env: a table, {expected}, expected of {shown(env)}") from None
    return table.astype({"state": int, "action": int, "following": int, "ends": bool})


def _costs(env, cost, shape, table):
    """Cost of each outcome."""
    if not isinstance(cost, str):
        costs = require_array("cost", cost, shape)
        refuse("cost", costs < 0, costs, "numbers of at least 0")
        return costs[table["state"], table["action"]]
    if cost == "steps":
        return 1.0
    if cost == "holes" and type(env).__name__ == _LAKE:
        return (env.desc.ravel()[table["following"]] == b"H").astype(float)
    expected = "'steps', 'holes' of FrozenLake, or in Python an array expected"
    raise ValueError(f"cost: {expected}, got {shown(cost)}")


def _tables(env, cost, discount):
    """Transitions, reward and cost (S, A), and the initial distribution."""
    table, name = _outcomes(env), "env: initial_state_distrib"
    initial = require_array(name, env.initial_state_distrib, (len(env.P),))
    shape = len(initial), int(table["action"].max()) + 1
    require_memory((*shape, len(initial)))
    table["cost"] = _costs(env, cost, shape, table)
    possible, reached = table[table["probability"] > 0], initial > 0
    goes_on = possible[~possible["ends"]]
    for _ in range(len(initial)):  # a state is reached in at most so many steps
        reached[goes_on["following"][reached[goes_on["state"]]]] = True
    # States in which episodes end, and what the outcomes that lead there pay.
    last = possible["following"][possible["ends"] & reached[possible["state"]]].unique()
    into = possible[reached[possible["state"]] & possible["following"].isin(last)]
    paid = into.drop_duplicates(["following", "reward", "cost"])
    varies = not into["ends"].all() or paid["following"].duplicated().any()
    if varies or (initial[last] > 0).any():
        told = "states in which episodes always end and never begin, with one reward and one cost"
        raise ValueError(f"env: {told}, expected of {shown(env)}")
    transition, payments = np.zeros((*shape, len(initial))), np.zeros((2, *shape))
    before = table[~table["state"].isin(last)]  # what the table says of later steps is left out
    place, weight = (before["state"], before["action"]), before["probability"]
    np.add.at(transition, (*place, before["following"]), weight)
    transition[last, :, last] = 1
    for payment, name in zip(payments, ("reward", "cost"), strict=True):
        np.add.at(payment, place, weight * before[name] * ~before["ends"])
        payment[paid["following"]] = (1 - discount) / discount * paid[name].to_numpy()[:, None]
    return transition, *payments, initial


def make_environment(settings: dict[str, Any], folder: str | PathLike[str]) -> CMDP:
    """Make the environment of a configuration, which may be a stranger's.

    `settings` is what `workflow/config.schema.yaml` allows as `environment`; the schema refuses
    names of Gymnasium that import a module. A file is read only if it lies in `folder`, that of the
    configuration.
    """
    if "file" in settings:
        path = Path(folder, settings["file"])
        if not path.resolve().is_relative_to(Path(folder).resolve()):
            told = f"a file in {folder} expected, got {shown(settings['file'])}"
            raise ValueError(f"environment.file: {told}")
        return CMDP.load(path)
    try:
        if "gymnasium" not in settings:
            return random_cmdp(**settings)
        given = {key: it for key, it in settings.items() if key not in ("gymnasium", "options")}
        return from_gymnasium(settings["gymnasium"], **given, **settings.get("options", {}))
    except ValueError as error:
        raise ValueError(f"environment.{re.sub('^env:', 'gymnasium:', str(error))}") from None
