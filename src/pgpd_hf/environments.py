"""Environments: the random CMDPs of Section 5, and those that a configuration describes."""

import re
from os import PathLike
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pgpd_hf.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.cmdp import CMDP
from pgpd_hf.costs import require_memory
from pgpd_hf.gymnasium import from_gymnasium
from pgpd_hf.streams import generator


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
