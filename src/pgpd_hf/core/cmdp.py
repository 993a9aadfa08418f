r"""Constrained Markov decision processes with exact evaluation of policies.

The model is the paper's tuple :math:`\mathrm{CMDP}(S, A, P, r, g, b, \gamma, \rho)` (Section 2):
maximise :math:`V_r^\pi(\rho)` subject to :math:`V_g^\pi(\rho) \ge b`. A policy is evaluated by one
linear solve. With :math:`P_\pi(s, s') = \sum_a \pi(a|s) P(s'|s, a)` the discounted state occupancy
:math:`q` solves :math:`(I - \gamma P_\pi)^\top q = \rho`, and both values are inner products with
it, :math:`V_\diamond^\pi(\rho) = \sum_{s, a} q(s)\, \pi(a|s)\, \diamond(s, a)`, which is the
paper's occupancy-measure form (proof of Theorem 2) and equals
:math:`\rho^\top (I - \gamma P_\pi)^{-1} r_\pi` of its Section 5.
"""

from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pgpd_hf.core.arguments import located, require_integer, require_number, shown
from pgpd_hf.core.compilation import njit

Array = NDArray[np.float64]

# Policies eliminated side by side (measured, ns per policy: 200; 230 with 16, 380 with 8).
_LANES = 32
_LAPACK_FROM = 33  # from this number of states on, LAPACK is faster than the kernel below
_MATRIX_ENTRIES = 2**20  # matrix entries per call of LAPACK, unless one matrix has more
_ROUNDING = 1e-12  # of the scale: what lies no farther beyond an end is taken for the end
# Arrays of an archive; the second tuple only if the reward was rescaled.
_ARRAYS = ("transition", "reward", "utility", "initial", "discount", "threshold", "scale")
_RESCALED = ("value_unit", "value_zero")


class Map(NamedTuple):
    """Where the states of a CMDP lie, for pictures of its policies.

    Attributes
    ----------
    letters : ndarray, str, shape (rows, columns)
        What each cell is: S for the start, G for the goal, H for a hole, C for the cliff, and F
        for anything else.
    cells : ndarray, int64, shape (S,)
        Number of each state's cell, counted row by row.
    moves : ndarray, int64, shape (A, 2)
        Rows down and columns to the right that each action means to go.
    """

    letters: NDArray[np.str_]
    cells: NDArray[np.int64]
    moves: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CMDP:
    r"""A finite constrained Markov decision process (CMDP).

    Parameters
    ----------
    transition : array_like, float, shape (S, A, S)
        :math:`P(s'|s, a)`; every row sums to one.
    reward, utility : array_like, float, shape (S, A)
        Helpfulness :math:`r` and harmlessness :math:`g` per step, in [0, scale].
    initial : array_like, float, shape (S,)
        Distribution :math:`\rho` of the initial state.
    discount : float
        :math:`\gamma` in [0, 1).
    threshold : float
        :math:`b`, the smallest utility value that satisfies the constraint.
    scale : float, default 1.0
        Largest possible reward or utility of one step. The paper's rewards lie in [0, 1]; the
        normalized scale multiplies them by :math:`1-\gamma`, so that values lie in [0, 1].
    value_unit, value_zero : float, default 1.0 and 0.0
        If the reward was rescaled: what one unit of the original return is worth in reward values
        of the CMDP, and the reward value of an original return of zero.
    map : Map, optional
        Where the states lie, if they do so on a map.
    features : array_like, float, shape (S, A, d), optional
        :math:`\phi(s, a)` for methods that use features: shares that sum to one, and span
        :math:`\mathbb{R}^d`. In a *linear* CMDP transitions, reward and utility are linear in them,
        and so are the action values of all policies.

    Raises
    ------
    ValueError
        If an array has the wrong shape or a number that is not finite, a reward or utility lies
        outside [0, scale], a probability is negative, or a distribution does not sum to one; all
        of them by more than rounding; or if features do not span their space. The message names
        the argument and the index.

    Examples
    --------
    One state and two actions: the first earns more reward, the second more utility.

    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.CMDP(
    ...     transition=[[[1.0], [1.0]]],
    ...     reward=[[1.0, 0.0]],
    ...     utility=[[0.0, 1.0]],
    ...     initial=[1.0],
    ...     discount=0.5,
    ...     threshold=1.5,
    ... )
    >>> cmdp
    <CMDP: |S| = 1, |A| = 2, discount 0.5, threshold 1.5, values in [0, 2]>
    >>> v_r, v_g = cmdp.evaluate([[0.25, 0.75]])
    >>> float(v_r), float(v_g)
    (0.5, 1.5)
    """

    transition: Array
    reward: Array
    utility: Array
    initial: Array
    discount: float
    threshold: float
    scale: float = 1.0
    value_unit: float = 1.0
    value_zero: float = 0.0
    map: Map | None = None
    features: Array | None = None

    if TYPE_CHECKING:  # which takes more than the fields hold

        def __init__(
            self,
            transition: ArrayLike,
            reward: ArrayLike,
            utility: ArrayLike,
            initial: ArrayLike,
            discount: float,
            threshold: float,
            scale: float = 1.0,
            value_unit: float = 1.0,
            value_zero: float = 0.0,
            map: Map | None = None,
            features: ArrayLike | None = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        transition = _array("transition", _probabilities("transition", self.transition), 3)
        states, actions, _ = transition.shape
        if transition.shape != (states, actions, states):
            raise ValueError(f"transition: shape (S, A, S) expected, got {transition.shape}")
        if states == 0 or actions == 0:
            raise ValueError(f"transition: at least one state and action, got {transition.shape}")
        _require_distribution("transition", transition)
        initial = _array("initial", _probabilities("initial", self.initial), 1, (states,))
        _require_distribution("initial", initial)
        scale = require_number("scale", self.scale, above=0)
        discount = require_number("discount", self.discount)
        if not 0 <= discount < 1:
            raise ValueError(f"discount: 0 <= gamma < 1 expected, got {discount}")
        require_number("scale / (1 - discount), the largest value", scale / (1 - discount))
        checked = {"transition": transition, "initial": initial, "discount": discount}
        checked |= {"threshold": require_number("threshold", self.threshold), "scale": scale}
        checked["value_unit"] = require_number("value_unit", self.value_unit, above=0)
        checked["value_zero"] = require_number("value_zero", self.value_zero)
        if self.map is not None:
            checked["map"] = _checked_map(self.map, states, actions)
        if self.features is not None:
            checked["features"] = _checked_features(self.features, states, actions)
        for name in ("reward", "utility"):
            shape = (states, actions)
            checked[name] = signal = _array(name, getattr(self, name), 2, shape, scale)
            outside = (signal < 0) | (signal > scale)
            if outside.any():
                index = tuple(int(i) for i in np.argwhere(outside)[0])
                raise ValueError(f"{name}: {signal[index]} at {index} is not in [0, {scale}]")
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]  # arrays leave a pickle writeable

    def __repr__(self) -> str:
        return (
            f"<CMDP: |S| = {self.states}, |A| = {self.actions}, discount {self.discount:g}, "
            f"threshold {self.threshold:g}, values in [0, {self.value_bound:g}]>"
        )

    @property
    def states(self) -> int:
        """int: number of states, :math:`|S|`."""
        return self.transition.shape[0]

    @property
    def actions(self) -> int:
        """int: number of actions, :math:`|A|`."""
        return self.transition.shape[1]

    @property
    def feature_matrix(self) -> Array:
        r"""ndarray, float64, shape (S * A, d): a row of features for each pair :math:`(s, a)`.

        Without features it is the unit matrix: every pair is a feature of its own.
        """
        pairs = self.states * self.actions
        return np.eye(pairs) if self.features is None else self.features.reshape(pairs, -1)

    @property
    def value_bound(self) -> float:
        r"""float: largest possible value, scale :math:`/(1-\gamma)`."""
        return self.scale / (1 - self.discount)

    def return_bound(self, horizon: int) -> float:
        r"""Largest possible return of a trajectory of :math:`H + 1` steps.

        Parameters
        ----------
        horizon : int
            :math:`H \ge 0`.

        Returns
        -------
        float
            The scale times :math:`G(H) = (1-\gamma^{H+1})/(1-\gamma)` (Section 2 of the paper).

        Raises
        ------
        ValueError
            If the horizon is no such integer.
        """
        horizon = require_integer("horizon", horizon, 0)
        return self.value_bound * (1 - self.discount ** (horizon + 1))

    def evaluate(self, policy: ArrayLike) -> tuple[Array, Array]:
        r"""Evaluate policies exactly, by linear solves.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.

        Returns
        -------
        v_r, v_g : ndarray, float64, shape (...)
            :math:`V_r^\pi(\rho)` and :math:`V_g^\pi(\rho)`, in [0, value_bound].

        Raises
        ------
        ValueError
            If `policy` does not hold distributions over actions; the message names the index.

        Examples
        --------
        >>> import numpy as np
        >>> import pgpd_hf
        >>> cmdp = pgpd_hf.random_cmdp(states=10, actions=4)
        >>> v_r, v_g = cmdp.evaluate(np.full((10, 4), 0.25))  # one policy
        >>> round(float(v_r), 3), round(float(v_g), 3)
        (0.433, 0.389)
        >>> v_r, v_g = cmdp.evaluate(np.full((7, 10, 4), 0.25))  # several at once
        >>> v_r.shape
        (7,)
        """
        policy = self.check_policy(policy)
        batch = policy.reshape(-1, self.states, self.actions)  # (B, S, A)
        if self.states < _LAPACK_FROM:
            values = _values(
                batch, self.transition, self.reward, self.utility, self.initial, self.discount
            )
        else:
            size = max(1, _MATRIX_ENTRIES // self.states**2)
            parts = [batch[i : i + size] for i in range(0, max(1, len(batch)), size)]
            occupancy = np.concatenate([self.state_occupancy(part) for part in parts])
            weighted = occupancy[:, :, None] * batch
            values = np.stack(
                [(weighted * signal).sum((1, 2)) for signal in (self.reward, self.utility)]
            )
        v_r, v_g = (value.reshape(policy.shape[:-2])[()] for value in values)
        return v_r, v_g

    def state_occupancy(self, policy: ArrayLike) -> Array:
        r"""Discounted state occupancy :math:`\sum_t \gamma^t P^\pi(s_t = s)`.

        It is :math:`d_\rho^\pi(s) / (1-\gamma)` with the paper's visitation distribution.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.

        Returns
        -------
        ndarray, float64, shape (..., S)
            Non-negative; sums to :math:`1/(1-\gamma)`.
        """
        policy = self.check_policy(policy)
        matrix = np.swapaxes(self._balance(policy), -1, -2)
        initial = np.broadcast_to(self.initial[:, None], (*policy.shape[:-1], 1))
        return np.linalg.solve(matrix, initial)[..., 0]

    def state_values(self, policy: ArrayLike, signal: ArrayLike) -> Array:
        r"""State values :math:`V^\pi(s)` of a per-step signal such as :attr:`reward`.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        signal : ndarray, float, shape (S, A)
            The signal: reward, utility, or a linear combination of them.

        Returns
        -------
        ndarray, float64, shape (..., S)

        Raises
        ------
        ValueError
            If `policy` does not hold distributions over actions, or `signal` is not an array of
            finite numbers with shape (S, A).
        """
        policy, signal = self.check_policy(policy), _real("signal", signal)
        shape = (self.states, self.actions)
        if signal.shape != shape:
            raise ValueError(f"signal: shape {shape} expected, got {signal.shape}")
        _require_finite("signal", signal)
        per_step = (policy * signal).sum(-1)[..., None]  # (..., S, 1)
        return np.linalg.solve(self._balance(policy), per_step)[..., 0]

    def action_values(self, policy: ArrayLike, signal: ArrayLike) -> Array:
        r"""Action values :math:`Q^\pi(s, a)` of a per-step signal.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        signal : ndarray, float, shape (S, A)
            The signal.

        Returns
        -------
        ndarray, float64, shape (..., S, A)

        Raises
        ------
        ValueError
            As :meth:`state_values`.
        """
        return self._look_ahead(signal, self.state_values(policy, signal))

    def advantages(self, policy: ArrayLike, signal: ArrayLike) -> Array:
        r"""Advantages :math:`A^\pi(s, a) = Q^\pi(s, a) - V^\pi(s)` of a per-step signal.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        signal : ndarray, float, shape (S, A)
            The signal.

        Returns
        -------
        ndarray, float64, shape (..., S, A)

        Raises
        ------
        ValueError
            As :meth:`state_values`.
        """
        values = self.state_values(policy, signal)
        return self._look_ahead(signal, values) - values[..., None]

    def check_policy(self, policy: ArrayLike, name: str = "policy", single: bool = False) -> Array:
        r"""Check that an argument holds policies for this CMDP.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        name : str
            Name of the argument, for the message.
        single : bool
            Whether only one policy is allowed.

        Returns
        -------
        ndarray, float64, shape (..., S, A)
            The policies as an array; the same memory where possible. What rounding has put below
            zero is put there, and rows of single precision are divided by their sum.

        Raises
        ------
        ValueError
            If `policy` does not hold distributions over actions.
        """
        policy, shape = _probabilities(name, policy), (self.states, self.actions)
        if (policy.shape if single else policy.shape[-2:]) != shape:
            expected = shape if single else f"(..., {self.states}, {self.actions})"
            raise ValueError(f"{name}: shape {expected} expected, got {policy.shape}")
        _require_distribution(name, policy)
        return policy

    def save(self, path: str | PathLike[str]) -> None:
        """Write the CMDP to a NumPy archive.

        Parameters
        ----------
        path : path-like
            File to write, ending in ``.npz``.

        Raises
        ------
        ValueError
            If its name ends otherwise: NumPy would write to another file.
        """
        if not str(path).endswith(".npz"):
            raise ValueError(f"path: a name that ends in .npz expected, got {shown(str(path))}")
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        if self.value_unit != 1 or self.value_zero != 0:
            arrays |= {name: getattr(self, name) for name in _RESCALED}
        if self.map is not None:
            arrays |= {f"map_{name}": array for name, array in self.map._asdict().items()}
        if self.features is not None:
            arrays["features"] = self.features
        np.savez(path, **arrays)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "CMDP":
        """Read a CMDP from a NumPy archive; no code in the file is executed.

        Parameters
        ----------
        path : path-like
            An archive with the arrays `transition`, `reward`, `utility`, `initial`, `discount`,
            `threshold` and, optionally, `scale`, `value_unit`, `value_zero` and `features`; those
            of a map are `map_letters`, `map_cells` and `map_moves`.

        Returns
        -------
        CMDP

        Raises
        ------
        ValueError
            If the file is not such an archive; the message names the file.
        """
        on_map = [f"map_{name}" for name in Map._fields]
        names = [*_ARRAYS, *_RESCALED, *on_map, "features"]
        try:
            if Path(path).is_fifo():  # reading it would wait for ever
                raise OSError(None, "a pipe")
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except Exception as error:  # damaged archives raise almost anything
            expected = "a NumPy archive (.npz) of plain arrays"
            reason = getattr(error, "strerror", None)  # such as "No such file or directory"
            reason = f"{reason}; {expected} expected" if reason else f"not {expected}"
            raise ValueError(f"{path}: {reason}") from error
        required = {*_ARRAYS} - {"scale"} | ({*on_map} if {*on_map} & {*arrays} else set())
        unknown, missing = set(arrays) - set(names), required - set(arrays)
        for kind, wrong in (("unknown", unknown), ("missing", missing)):
            if wrong:
                raise ValueError(f"{path}: {kind} array {min(wrong)!r}; the arrays are {names}")
        with located(path):
            if on_map[0] in arrays:
                arrays["map"] = Map(*map(arrays.pop, on_map))
            return cls(**arrays)

    def _look_ahead(self, signal, values):
        """Action values that follow from the values of the next state."""
        return signal + self.discount * np.einsum("sat,...t->...sa", self.transition, values)

    def _balance(self, policy):
        """The matrix I - gamma P_pi, shape (..., S, S)."""
        kernel = np.einsum("...sa,sat->...st", policy, self.transition)
        return np.eye(self.states) - self.discount * kernel


def _checked_map(value, states, actions):
    """Make a map of read-only arrays; check that they fit each other and the CMDP."""
    if not isinstance(value, tuple) or len(value) != len(Map._fields):
        raise ValueError(f"map: a Map of letters, cells and moves expected, got {shown(value)}")
    letters, cells, moves = (np.array(part) for part in value)
    if letters.ndim != 2 or letters.dtype.kind != "U":
        raise ValueError("map.letters: a rectangle of letters expected")
    for name, array, shape in (("cells", cells, (states,)), ("moves", moves, (actions, 2))):
        if array.shape != shape or array.dtype.kind not in "iu":
            raise ValueError(f"map.{name}: integers of shape {shape} expected, got {array.shape}")
    if not ((cells >= 0) & (cells < letters.size)).all():
        raise ValueError(f"map.cells: numbers of the {letters.size} cells expected")
    for array in (letters, cells, moves):
        array.flags.writeable = False
    return Map(letters, cells, moves)


def _checked_features(value, states, actions):
    """Make a read-only array of features; check that they are shares that span their space."""
    features = _array("features", _probabilities("features", value), 3)
    count = features.shape[2]
    if features.shape[:2] != (states, actions):
        expected = f"({states}, {actions}, d)"
        raise ValueError(f"features: shape {expected} expected, got {features.shape}")
    _require_distribution("features", features)
    rank = np.linalg.matrix_rank(features.reshape(-1, count))
    if rank < count:
        raise ValueError(f"features: {count} that span their space expected, got rank {rank}")
    return features


def _array(name, value, dimensions, shape=None, most=None):
    """Make a read-only float64 copy of `value`; check its shape and that it is finite.

    Numbers that rounding alone has put below zero, or above `most`, are put there.
    """
    array = np.array(_real(name, value), order="C")
    if array.ndim != dimensions:
        raise ValueError(f"{name}: {dimensions} dimensions expected, got {array.ndim}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name}: shape {shape} expected, got {array.shape}")
    _require_finite(name, array)
    single = np.asarray(value).dtype == np.float32
    near = (np.finfo(np.float32).eps if single else _ROUNDING) * (1.0 if most is None else most)
    array[(array < 0) & (array >= -near)] = 0.0
    if most is not None:
        array[(array > most) & (array <= most + near)] = most
    array.flags.writeable = False
    return array


def _real(name, value):
    """Convert `value` to an array of float64, without a copy where it is one already."""
    try:
        array = np.asarray(value)
        # Strings and times can be read as numbers, and NumPy would drop the mask.
        if array.dtype.kind in "cSUmM" or value is None or np.ma.isMaskedArray(value):
            raise TypeError
        return np.asarray(array, dtype=np.float64, order="C")
    # RuntimeError: of a tensor that keeps a record of gradients.
    except (TypeError, ValueError, OverflowError, RuntimeError):
        raise ValueError(f"{name}: an array of numbers expected") from None


def _probabilities(name, value):
    """Convert distributions to float64, which is more than what they may have been computed in.

    What rounding alone has put below zero is put there. Rows of single precision are divided by
    their sum if it is one up to their rounding.
    """
    array = _real(name, value)
    single = np.asarray(value).dtype == np.float32
    below = (array < 0) & (array >= -(np.finfo(np.float32).eps if single else _ROUNDING))
    if below.any():
        array = np.where(below, 0.0, array)
    if array.ndim == 0 or not single:
        return array
    sums = array.sum(axis=-1, keepdims=True)
    rounding = array.shape[-1] * np.finfo(np.float32).eps
    return np.divide(array, sums, out=array, where=abs(sums - 1) <= rounding)


def _require_finite(name, array):
    finite = np.isfinite(array)
    if not finite.all():
        index = tuple(int(i) for i in np.argwhere(~finite)[0])
        raise ValueError(f"{name}: {array[index]} at {index} is not a finite number")


def _require_distribution(name, array):
    """Check that all rows (last axis) are probability distributions."""
    proper = (array >= 0).all(axis=-1) & (abs(array.sum(axis=-1) - 1) <= 1e-9)
    if proper.all():
        return
    index = tuple(int(i) for i in np.argwhere(~proper)[0])
    probabilities = array[index]
    negative = ~(probabilities >= 0)
    if negative.any():
        index += (int(np.argmax(negative)),)
        raise ValueError(
            f"{name}: probability {array[index]} at {index} is negative or not a number"
        )
    where = f" at {index}" if index else ""
    raise ValueError(f"{name}: probabilities{where} sum to {probabilities.sum()}, not to 1")


@njit
def _values(policies, transition, reward, utility, initial, discount):
    """Compute both values of each policy, `_LANES` policies at a time.

    Gaussian elimination without pivoting is stable here: the transposed resolvent is an M-matrix
    that is strictly diagonally dominant by columns. A policy's values do not depend on the batch
    it is in, because no lane's arithmetic involves another lane.
    """
    count, states, actions = policies.shape
    # Not a compile-time constant: loops of known length are unrolled instead of vectorized.
    width = max(1, min(_LANES, count))
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
