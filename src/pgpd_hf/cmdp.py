r"""Constrained Markov decision processes, and the exact values of policies.

The model is the paper's :math:`\mathrm{CMDP}(S, A, P, r, g, b, \gamma, \rho)` (Section 2): maximise
:math:`V_r^\pi(\rho)` subject to :math:`V_g^\pi(\rho) \ge b`. With
:math:`P_\pi(s, s') = \sum_a \pi(a|s) P(s'|s, a)` the discounted state occupancy q solves
:math:`(I - \gamma P_\pi)^\top q = \rho`, and values are inner products with it,
:math:`V_\diamond^\pi(\rho) = \sum_{s, a} q(s)\, \pi(a|s)\, \diamond(s, a)`.
"""

from __future__ import annotations  # help() shows names of types

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from pgpd_hf.arguments import optional, require_integer, require_number, require_path, shown
from pgpd_hf.arrays import frozen, require_array, require_probabilities, require_signal, sizes
from pgpd_hf.compilation import njit
from pgpd_hf.costs import Units, require_bound, require_mask, stored

Array = NDArray[np.float64]

_LANES = 32  # policies that are evaluated side by side
_LAPACK_FROM = 33  # from this number of states on, LAPACK is faster than the kernel below
_MATRIX_ENTRIES = 2**20  # of matrices in one call of LAPACK: 8 MiB


@dataclass(frozen=True, eq=False, repr=False)
class CMDP:
    r"""A finite constrained Markov decision process (CMDP), with one constraint.

    Parameters
    ----------
    transition : array_like, float, shape (S, A, S)
        :math:`P(s'|s, a)`; each row sums to one.
    reward, utility : array_like, float, shape (S, A)
        Helpfulness r and harmlessness g of a step, in [0, scale].
    initial : array_like, float, shape (S,)
        Distribution :math:`\rho` of the first state.
    discount : float
        :math:`\gamma` in [0, 1).
    threshold : float
        b, the smallest utility value that satisfies the constraint.
    scale : float
        Largest reward or utility of a step: 1 in the paper; values lie in [0, scale / (1-gamma)].
    largest_return : float, optional
        Largest possible return, if known to be less; answers are clipped there.
    units : Units, optional
        From values to a user's units, as :meth:`from_costs` sets them.
    map : array_like, str, shape (rows, columns), optional
        For pictures, where states are the cells of a grid, row by row: S start, G goal, H hole, F
        other cells; actions lead left, down, right and up.
    allowed : array_like, bool, shape (S, A), optional
        Actions that are allowed; others are copies of the first of these.

    Examples
    --------
    One state and two actions: the first earns more reward, the second more utility.

    >>> import pgpd_hf
    >>> P, r, g = [[[1.0], [1.0]]], [[1.0, 0.0]], [[0.0, 1.0]]
    >>> cmdp = pgpd_hf.CMDP(P, r, g, initial=[1.0], discount=0.5, threshold=1.5)
    >>> cmdp
    <CMDP: |S| = 1, |A| = 2, discount 0.5, threshold 1.5, values in [0, 2]>
    >>> v_r, v_g = cmdp.evaluate([[0.25, 0.75]])
    >>> float(v_r), float(v_g)
    (0.5, 1.5)
    """

    # Arrays are given as array_like.
    transition: Array | Any
    reward: Array | Any
    utility: Array | Any
    initial: Array | Any
    discount: float
    threshold: float
    scale: float = 1.0
    largest_return: float | None = None
    units: Units | None = None
    map: NDArray[np.str_] | Any = None
    allowed: NDArray[np.bool_] | Any = None

    def __post_init__(self) -> None:
        transition = require_probabilities("transition", self.transition, (None, None, None))
        shape = sizes(transition)
        scale = require_number("scale", self.scale, above=0)
        discount = require_number("discount", self.discount, at_least=0, below=1)
        require_number("scale / (1 - discount), the largest value", scale / (1 - discount))
        largest = optional(require_number, "largest_return", self.largest_return, above=0)
        checked = {
            "transition": frozen(transition),
            "reward": frozen(require_signal("reward", self.reward, shape, scale)),
            "utility": frozen(require_signal("utility", self.utility, shape, scale)),
            "initial": frozen(require_probabilities("initial", self.initial, shape[:1])),
            "discount": discount,
            "threshold": require_bound("threshold", self.threshold),
            "scale": scale,
            "largest_return": largest,
            "units": optional(_units, "units", self.units),
            "map": optional(_map, "map", self.map, *shape),
            "allowed": optional(require_mask, "allowed", self.allowed, shape),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if self.allowed is not None:
            self._require_copies()

    @classmethod
    def from_costs(
        cls,
        transition: ArrayLike | sparse.sparray,
        reward: ArrayLike,
        cost: ArrayLike,
        at_most: float,
        initial: ArrayLike,
        discount: float,
        actions: ArrayLike | None = None,
        reward_unit: float | None = None,
        cost_unit: float | None = None,
    ) -> CMDP:
        r"""Make a CMDP from rewards and costs of any range, and a budget for the cost.

        Its reward is (reward - smallest reward) / `reward_unit`, its utility (largest cost - cost)
        / `cost_unit`; :meth:`in_units` leads back.

        Parameters
        ----------
        transition : array_like or sparse matrix, float, shape (S, A, S) or, if sparse, (S * A, S)
            :math:`P(s'|s, a)`, up to about a thousand states.
        reward, cost : array_like, float, shape (S, A) or (S, A, S)
            Of a step, of any sign; what depends on the next state is replaced by its expectation.
        at_most : float
            Largest expected discounted cost.
        initial, discount
            As for :class:`CMDP`.
        actions : array_like, bool, shape (S, A), optional
            Which are allowed; others become copies of the first of these, as in :meth:`fold`.
        reward_unit, cost_unit : float, optional
            Differences of returns at which evaluators with the logistic link vote .73 to .27; by
            default the largest return, so that returns of the CMDP lie in [0, 1].

        Examples
        --------
        >>> import pgpd_hf
        >>> process = {"transition": [[[1.0], [1.0]]], "initial": [1.0], "discount": 0.5}
        >>> reward, cost = [[-5.0, 5.0]], [[0.0, 3.0]]
        >>> pgpd_hf.CMDP.from_costs(reward=reward, cost=cost, at_most=2.0, **process)
        <CMDP: |S| = 1, |A| = 2, discount 0.5, cost at most 2, units: reward 20, cost 6>
        """
        at_most = require_bound("at_most", at_most)
        tables = stored(transition, reward, cost, discount, actions, reward_unit, cost_unit)
        threshold = (tables["units"].cost_zero - at_most) / tables["units"].cost_unit
        return cls(initial=initial, threshold=threshold, **tables)

    def __setstate__(self, state):
        self.__init__(**state)  # arrays leave a pickle writeable

    def __repr__(self) -> str:
        told = f"threshold {self.threshold:g}, values in [0, {self.value_bound:g}]"
        if self.units is not None:
            told = f"cost at most {self.in_units(0.0, self.threshold)[1]:g}, units: "
            told += f"reward {self.units.reward_unit:g}, cost {self.units.cost_unit:g}"
        size = f"|S| = {self.states}, |A| = {self.actions}"
        return f"<CMDP: {size}, discount {self.discount:g}, {told}>"

    @property
    def states(self) -> int:
        """Number of states, :math:`|S|`."""
        return self.transition.shape[0]

    @property
    def actions(self) -> int:
        """Number of actions, :math:`|A|`."""
        return self.transition.shape[1]

    @property
    def value_bound(self) -> float:
        r"""Bound of all values, the scale times :math:`1/(1-\gamma)`."""
        return self.scale / (1 - self.discount)

    def return_bound(self, horizon: int) -> float:
        r"""Largest return of H + 1 steps, at most the scale times G(H) (Section 2).

        :math:`G(H) = (1-\gamma^{H+1})/(1-\gamma)`.
        """
        horizon = require_integer("horizon", horizon, 0)
        bound = self.value_bound * (1 - self.discount ** (horizon + 1))
        return bound if self.largest_return is None else min(bound, self.largest_return)

    def in_units(self, v_r: Any, v_g: Any) -> tuple[Any, Any]:
        """Reward and cost in the user's units, of two values; without units, the values."""
        return (v_r, v_g) if self.units is None else self.units.of_values(v_r, v_g)

    def fold(self, policy: ArrayLike) -> Array:
        """Policies (..., S, A) of the same values that take allowed actions only."""
        policy = self.check_policy(policy)
        if self.allowed is None:
            return policy
        folded = np.where(self.allowed, policy, 0.0)
        first = np.arange(self.states), self.allowed.argmax(1)
        folded[..., *first] += np.where(self.allowed, 0.0, policy).sum(-1)
        return folded

    def evaluate(self, policy: ArrayLike) -> tuple[Array, Array]:
        r"""Evaluate policies exactly.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.

        Returns
        -------
        v_r, v_g : ndarray, float64, shape (...)
            :math:`V_r^\pi(\rho)` and :math:`V_g^\pi(\rho)`, in [0, value_bound].
        """
        policy = self.check_policy(policy)
        batch = policy.reshape(-1, self.states, self.actions)  # (B, S, A)
        if self.states < _LAPACK_FROM:
            model = self.transition, self.reward, self.utility, self.initial, self.discount
            values = _values(batch, *model)
        else:
            size = max(1, _MATRIX_ENTRIES // self.states**2)
            parts = [batch[i : i + size] for i in range(0, max(1, len(batch)), size)]
            occupancy = np.concatenate([self.occupancy(part) for part in parts])
            weighted = occupancy[:, :, None] * batch
            values = np.stack([(weighted * it).sum((1, 2)) for it in (self.reward, self.utility)])
        v_r, v_g = (value.reshape(policy.shape[:-2])[()] for value in values)
        return v_r, v_g

    def occupancy(self, policy: ArrayLike) -> Array:
        r"""Discounted occupancy :math:`q(s) = \sum_t \gamma^t P^\pi(s_t = s)`, shape (..., S).

        It sums to :math:`1/(1-\gamma)`; :math:`(1-\gamma)\,q` is the paper's :math:`d_\rho^\pi`.
        """
        policy = self.check_policy(policy)
        matrix = np.swapaxes(self._balance(policy), -1, -2)
        initial = np.broadcast_to(self.initial[:, None], (*policy.shape[:-1], 1))
        return np.linalg.solve(matrix, initial)[..., 0]

    def state_values(self, policy: ArrayLike, signal: ArrayLike) -> Array:
        r"""State values :math:`V^\pi(s)`, shape (..., S), of a signal (S, A) such as the reward."""
        policy = self.check_policy(policy)
        signal = require_array("signal", signal, (self.states, self.actions))
        per_step = (policy * signal).sum(-1)[..., None]
        return np.linalg.solve(self._balance(policy), per_step)[..., 0]

    def action_values(self, policy: ArrayLike, signal: ArrayLike) -> Array:
        r"""Action values :math:`Q^\pi(s, a)`, shape (..., S, A), of a signal (S, A)."""
        return self._look_ahead(signal, self.state_values(policy, signal))

    def advantages(self, policy: ArrayLike, signal: ArrayLike) -> Array:
        r"""Advantages :math:`Q^\pi(s, a) - V^\pi(s)`, shape (..., S, A), of a signal (S, A)."""
        values = self.state_values(policy, signal)
        return self._look_ahead(signal, values) - values[..., None]

    def check_policy(self, policy: ArrayLike, name: str = "policy", single: bool = False) -> Array:
        """Return policies, shape (..., S, A), as float64, or refuse them; `single`: one policy."""
        shape = (self.states, self.actions)
        if type(policy) is np.ndarray and policy.dtype == np.float64 and policy.flags.c_contiguous:
            right = (policy.shape if single else policy.shape[-2:]) == shape
            if right and _proper(policy.reshape(-1, self.actions)):
                return policy
        return require_probabilities(name, policy, shape if single else (..., *shape))

    def save(self, path: str | PathLike[str]) -> None:
        """Write the CMDP to a NumPy archive; ``.npz`` is added to a name without it."""
        arrays = {name: it for name, it in vars(self).items() if it is not None}
        np.savez(require_path("path", path), **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> CMDP:
        """Read a CMDP from a NumPy archive of its arguments; nothing in the file is executed."""
        arrays = read_archive(path)
        try:
            return cls(**arrays)
        except TypeError as error:  # an unknown array, or a missing one
            raise ValueError(f"{path}: arrays as CMDP's arguments expected: {error}") from None
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None

    def _require_copies(self):
        first = np.arange(self.states), self.allowed.argmax(1)
        for part in (self.transition, self.reward, self.utility):
            if (part != part[first][:, None])[~self.allowed].any():
                told = "copies of the first allowed action expected of others"
                raise ValueError(f"allowed: {told}, as CMDP.from_costs makes them")

    def _look_ahead(self, signal, values):
        return signal + self.discount * np.einsum("sat,...t->...sa", self.transition, values)

    def _balance(self, policy):
        kernel = np.einsum("...sa,sat->...st", policy, self.transition)
        return np.eye(self.states) - self.discount * kernel


def read_archive(path):
    """Arrays of a NumPy archive by name; nothing in the file is executed."""
    path = require_path("path", path)
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            return {name: archive[name] for name in archive.files}
    except Exception as error:  # damaged archives raise almost anything
        reason = getattr(error, "strerror", None) or "damaged, or no archive"
        told = f"{path}: {reason}; a NumPy archive (.npz) of plain arrays expected"
        raise ValueError(told) from error


def _units(name, value):
    units = Units(*require_array(name, value, (4,)).tolist())
    if min(units[:2]) <= 0:
        raise ValueError(f"{name}: positive units of reward and cost expected, got {units}")
    return units


def _map(name, value, states, actions):
    letters = np.asarray(value)
    if letters.ndim != 2 or letters.dtype.kind != "U" or (letters.size, actions) != (states, 4):
        told = f"letters in rows and columns, {states} in all, and 4 actions expected"
        raise ValueError(f"{name}: {told}, got {shown(value)}")
    return frozen(letters)


@njit
def _proper(rows):
    """Whether all rows are distributions beyond doubt; if not, NumPy finds out what they are."""
    for i in range(rows.shape[0]):
        total, least = 0.0, rows[i, 0]
        for a in range(rows.shape[1]):
            total += rows[i, a]
            least = min(least, rows[i, a])
        if not (least >= 0 and abs(total - 1) <= 5e-10):
            return False
    return True


@njit(allocates=True)
def _values(policies, transition, reward, utility, initial, discount):
    """Both values of each policy (B, S, A), shape (2, B), by elimination for 32 policies at a time.

    Elimination without pivoting is stable here, since the matrix is strictly diagonally dominant by
    columns. The values of a policy do not depend on the other policies.
    """
    count, states, actions = policies.shape
    width = max(1, min(_LANES, count))  # no constant: its loops become vectors
    values = np.empty((2, count))
    policy = np.empty((states, actions, width))
    matrix = np.empty((states, states, width))
    occupancy = np.empty((states, width))
    factor, inverse = np.empty(width), np.empty(width)
    for first in range(0, count, width):
        lanes = min(width, count - first)
        for s in range(states):
            for a in range(actions):
                for k in range(width):
                    policy[s, a, k] = policies[first + min(k, lanes - 1), s, a]
        # The system (I - gamma P_pi)^T q = rho.
        for s in range(states):
            for k in range(width):
                occupancy[s, k] = initial[s]
            for z in range(states):
                for k in range(width):
                    matrix[z, s, k] = 1.0 if z == s else 0.0
                for a in range(actions):
                    probability = discount * transition[s, a, z]
                    for k in range(width):
                        matrix[z, s, k] -= probability * policy[s, a, k]
        for pivot in range(states):
            for k in range(width):
                inverse[k] = 1 / matrix[pivot, pivot, k]
            for row in range(pivot + 1, states):
                for k in range(width):
                    factor[k] = matrix[row, pivot, k] * inverse[k]
                    occupancy[row, k] -= factor[k] * occupancy[pivot, k]
                for column in range(pivot + 1, states):
                    for k in range(width):
                        matrix[row, column, k] -= factor[k] * matrix[pivot, column, k]
        for row in range(states - 1, -1, -1):
            for column in range(row + 1, states):
                for k in range(width):
                    occupancy[row, k] -= matrix[row, column, k] * occupancy[column, k]
            for k in range(width):
                occupancy[row, k] /= matrix[row, row, k]
        for k in range(lanes):
            v_r = 0.0
            v_g = 0.0
            for s in range(states):
                for a in range(actions):
                    q = occupancy[s, k] * policy[s, a, k]
                    v_r += q * reward[s, a]
                    v_g += q * utility[s, a]
            values[0, first + k] = v_r
            values[1, first + k] = v_g
    return values
