"""Environments: the paper's random CMDPs, and what a configuration names."""

import re
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pgpd_hf.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.cmdp import CMDP
from pgpd_hf.gymnasium import from_gymnasium
from pgpd_hf.streams import generator

SCALES = ("normalized", "unit")
_MOST_ENTRIES = 2**27  # of the transition array: one gibibyte
_WITH_TABLES = re.compile(r"(FrozenLake|FrozenLake8x8|CliffWalking|CliffWalkingSlippery|Taxi)-v\d+")


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
        :math:`|S| \ge 1` and :math:`|A| \ge 1`.
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
    if states**2 * actions > _MOST_ENTRIES:
        raise ValueError(
            f"states, actions: at most {_MOST_ENTRIES} transition probabilities expected, "
            f"got {states} x {actions} x {states}"
        )
    instance = require_integer("instance", instance, 0)
    concentration = require_number("concentration", concentration, above=0, at_most=1e6)
    require_one_of("scale", scale, SCALES)
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


def make_environment(settings: dict[str, Any], folder: str | PathLike[str]) -> CMDP:
    """Make the environment that a configuration describes, whoever wrote it.

    Settings are the key `environment` of `workflow/config.schema.yaml`. Nothing outside the folder,
    in which the configuration lies, is read, and no module is imported that the settings name.
    ValueError names the key that is wrong.
    """
    if "file" in settings:
        return CMDP.load(_inside(settings["file"], Path(folder)))
    try:
        return _by_name(**settings) if "gymnasium" in settings else random_cmdp(**settings)
    except ValueError as error:
        raise ValueError(f"environment.{re.sub('^env:', 'gymnasium:', str(error))}") from None


def _inside(file, folder):
    """Path of a file in a folder, or in a folder below."""
    if not (folder / file).resolve().is_relative_to(folder.resolve()):
        raise ValueError(f"environment.file: a file in {folder} expected, got {shown(file)}")
    return folder / file


def _by_name(gymnasium, cost, at_most, discount=0.99, options=None):
    """One of Gymnasium's own environments that have a table."""
    if not _WITH_TABLES.fullmatch(gymnasium):
        raise ValueError(
            "gymnasium: FrozenLake-v1, CliffWalking-v1, CliffWalkingSlippery-v1 or Taxi-v4 "
            f"expected, got {shown(gymnasium)}; a file may hold another environment"
        )
    options = options or {}
    return from_gymnasium(gymnasium, cost=cost, at_most=at_most, discount=discount, **options)
