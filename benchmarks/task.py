"""What all contestants are asked to do, in plain arrays and numbers."""

from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    """A CMDP, an algorithm and its setting: everything that a peer needs to know.

    Attributes
    ----------
    algorithm : str
        "npgpd_hf" or "zpgpd_hf".
    transition : ndarray, float64, shape (S, A, S)
        P(s'|s, a).
    reward, utility : ndarray, float64, shape (S, A)
        Per step.
    initial : ndarray, float64, shape (S,)
        Distribution of the first state.
    discount, threshold, scale : float
        gamma, b, and the largest possible reward.
    evaluators, rounds, horizon : int
        M, N and H.
    primal_step, dual_step, multiplier_bound, perturbation : float
        eta_1, eta_2, the upper end of Lambda, and mu.
    """

    algorithm: str
    transition: np.ndarray
    reward: np.ndarray
    utility: np.ndarray
    initial: np.ndarray
    discount: float
    threshold: float
    scale: float
    evaluators: int
    rounds: int
    horizon: int
    primal_step: float
    dual_step: float
    multiplier_bound: float
    perturbation: float

    @property
    def return_bound(self):
        """float: largest return of a trajectory, at which frequencies are clipped."""
        return self.scale * (1 - self.discount ** (self.horizon + 1)) / (1 - self.discount)

    @property
    def steps_per_iteration(self):
        """int: environment steps of one iteration."""
        states, actions = self.reward.shape
        natural = self.algorithm == "npgpd_hf"
        trajectories = states + states * actions + 1 if natural else 2
        return self.rounds * trajectories * (self.horizon + 1)

    def save(self, path):
        """Write the task to a NumPy archive."""
        np.savez(path, **self._asdict())

    @classmethod
    def load(cls, path):
        """Read a task from a NumPy archive."""
        with np.load(path) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return cls(**{k: v if v.ndim else v.item() for k, v in arrays.items()})
