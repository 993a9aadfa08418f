"""A CMDP as an environment of Gymnasium, for methods that learn from episodes with costs."""

from __future__ import annotations

from typing import Any

from pgpd_hf.algorithms.base import default_horizon
from pgpd_hf.core.arguments import require_integer, shown
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.extras import lacking
from pgpd_hf.core.optima import require_cmdp

try:
    from gymnasium import Env, spaces
    from gymnasium.error import ResetNeeded
except ImportError:  # said where an environment is made, so that the name can be imported
    Env = object  # type: ignore[assignment, misc]


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
