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
from functools import lru_cache

import numpy as np

from pgpd_hf.core import streams
from pgpd_hf.core.arguments import located, require_integer, require_number, require_one_of
from pgpd_hf.core.compilation import njit

SCALES = ("normalized", "unit")
_MOST_ENTRIES = 2**27  # of the transition array of a random process: a gibibyte
_LANES = 32  # policies eliminated side by side: 200 ns each, 230 by 16, 380 by 8 (measured)
_LAPACK_FROM = 33  # states from which LAPACK's blocked elimination is faster than ours
_MATRIX_ENTRIES = 2**20  # that LAPACK is given at once: several small matrices, or one large


@dataclass(frozen=True, eq=False)
class CMDP:
    r"""A finite constrained Markov decision process.

    Parameters
    ----------
    transition : array_like, float, shape (S, A, S)
        :math:`P(s'|s, a)`; every row sums to one.
    reward, utility : array_like, float, shape (S, A)
        Helpfulness :math:`r` and harmlessness :math:`g` per step, in [0, scale].
    initial : array_like, float, shape (S,)
        Distribution :math:`\rho` of the first state.
    discount : float
        :math:`\gamma` in [0, 1).
    threshold : float
        :math:`b`: the utility value that a policy has to reach.
    scale : float, default 1.0
        Largest possible reward or utility of a step. The paper's rewards lie in [0, 1]; the
        normalized scale multiplies them by :math:`1-\gamma`, so that values lie in [0, 1].

    Raises
    ------
    ValueError
        If an array has a wrong shape, a value that is not finite, a probability that is negative
        or a distribution that does not sum to one; the message names argument and index.
    """

    transition: np.ndarray
    reward: np.ndarray
    utility: np.ndarray
    initial: np.ndarray
    discount: float
    threshold: float
    scale: float = 1.0

    def __post_init__(self):
        transition = _array("transition", self.transition, 3)  # (S, A, S)
        states, actions, _ = transition.shape
        if transition.shape != (states, actions, states):
            raise ValueError(f"transition: shape (S, A, S) expected, got {transition.shape}")
        if states == 0 or actions == 0:
            raise ValueError(f"transition: at least one state and action, got {transition.shape}")
        _require_distribution("transition", transition)
        initial = _array("initial", self.initial, 1, (states,))  # (S,)
        _require_distribution("initial", initial)
        scale = require_number("scale", self.scale)
        if not scale > 0:
            raise ValueError(f"scale: a positive number expected, got {scale}")
        for name in ("reward", "utility"):
            signal = _array(name, getattr(self, name), 2, (states, actions))  # (S, A)
            outside = (signal < 0) | (signal > scale)
            if outside.any():
                index = tuple(int(i) for i in np.argwhere(outside)[0])
                raise ValueError(f"{name}: {signal[index]} at {index} is not in [0, {scale}]")
            object.__setattr__(self, name, signal)
        discount = require_number("discount", self.discount)
        if not 0 <= discount < 1:
            raise ValueError(f"discount: 0 <= gamma < 1 expected, got {discount}")
        object.__setattr__(self, "transition", transition)
        object.__setattr__(self, "initial", initial)
        object.__setattr__(self, "discount", discount)
        object.__setattr__(self, "threshold", require_number("threshold", self.threshold))
        object.__setattr__(self, "scale", scale)

    @property
    def states(self):
        """int: number of states, :math:`|S|`."""
        return self.transition.shape[0]

    @property
    def actions(self):
        """int: number of actions, :math:`|A|`."""
        return self.transition.shape[1]

    @property
    def value_bound(self):
        r"""float: largest possible value, scale :math:`/(1-\gamma)`."""
        return self.scale / (1 - self.discount)

    def return_bound(self, horizon):
        r"""Largest return of a trajectory of steps 0..horizon, scale :math:`\times G(H)`.

        Parameters
        ----------
        horizon : int
            :math:`H \ge 0`, so that a trajectory has :math:`H + 1` steps.

        Returns
        -------
        float
            scale :math:`(1-\gamma^{H+1})/(1-\gamma)` (Section 2 of the paper).
        """
        return self.value_bound * (1 - self.discount ** (horizon + 1))

    def evaluate(self, policy):
        r"""Exact values of policies under the initial distribution.

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
            If `policy` does not hold distributions over actions.
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
            occupancy = np.concatenate([self._state_occupancy(part) for part in parts])
            weighted = occupancy[:, :, None] * batch
            values = np.stack(
                [(weighted * signal).sum((1, 2)) for signal in (self.reward, self.utility)]
            )
        return tuple(value.reshape(policy.shape[:-2])[()] for value in values)

    def state_occupancy(self, policy):
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
        return self._state_occupancy(self.check_policy(policy))

    def state_values(self, policy, signal):
        r"""State values :math:`V^\pi(s)` of a per-step signal such as :attr:`reward`.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        signal : ndarray, float, shape (S, A)
            What is summed: reward, utility, or a mixture of the two.

        Returns
        -------
        ndarray, float64, shape (..., S)

        Raises
        ------
        ValueError
            If `policy` is no policy, or `signal` no array of finite numbers of this shape.
        """
        return self._state_values(self.check_policy(policy), self._check_signal(signal))

    def action_values(self, policy, signal):
        r"""Action values :math:`Q^\pi(s, a)` of a per-step signal.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        signal : ndarray, float, shape (S, A)
            What is summed.

        Returns
        -------
        ndarray, float64, shape (..., S, A)

        Raises
        ------
        ValueError
            As :meth:`state_values`.
        """
        policy, signal = self.check_policy(policy), self._check_signal(signal)
        return self._action_values(signal, self._state_values(policy, signal))

    def advantages(self, policy, signal):
        r"""Advantages :math:`A^\pi(s, a) = Q^\pi(s, a) - V^\pi(s)` of a per-step signal.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        signal : ndarray, float, shape (S, A)
            What is summed.

        Returns
        -------
        ndarray, float64, shape (..., S, A)

        Raises
        ------
        ValueError
            As :meth:`state_values`.
        """
        policy, signal = self.check_policy(policy), self._check_signal(signal)
        values = self._state_values(policy, signal)
        return self._action_values(signal, values) - values[..., None]

    def check_policy(self, policy, name="policy"):
        r"""Refuse what is no policy of this process.

        Parameters
        ----------
        policy : array_like, float, shape (..., S, A)
            :math:`\pi(a|s)`.
        name : str
            Of the argument, for the message.

        Returns
        -------
        ndarray, float64, shape (..., S, A)
            The same numbers.

        Raises
        ------
        ValueError
            If `policy` does not hold distributions over actions.
        """
        policy = _real(name, policy)
        if policy.shape[-2:] != (self.states, self.actions):
            expected = f"(..., {self.states}, {self.actions})"
            raise ValueError(f"{name}: shape {expected} expected, got {policy.shape}")
        _require_distribution(name, policy)
        return policy

    def save(self, path):
        """Write the process to a NumPy archive.

        Parameters
        ----------
        path : path-like
            File with the ending ``.npz``.
        """
        np.savez(path, **{name: getattr(self, name) for name in self.__dataclass_fields__})

    @classmethod
    def load(cls, path):
        """Read a process from a NumPy archive; nothing in the file is executed.

        Parameters
        ----------
        path : path-like
            An archive with the arrays `transition`, `reward`, `utility`, `initial`, `discount`,
            `threshold` and, optionally, `scale`.

        Returns
        -------
        CMDP

        Raises
        ------
        ValueError
            If the file is no such archive; the message names the file.
        """
        names = list(cls.__dataclass_fields__)
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
        except Exception as error:  # of a damaged archive, readers raise almost anything
            expected = "a NumPy archive (.npz) of plain arrays"
            reason = getattr(error, "strerror", None)  # such as that there is no such file
            reason = f"{reason}; {expected} expected" if reason else f"not {expected}"
            raise ValueError(f"{path}: {reason}") from error
        unknown, missing = set(arrays) - set(names), set(names[:-1]) - set(arrays)
        if unknown or missing:
            wrong = sorted(unknown) or sorted(missing)
            kind = "unknown" if unknown else "missing"
            raise ValueError(f"{path}: {kind} array {wrong[0]!r}; the arrays are {names}")
        with located(path):
            return cls(**arrays)

    def _check_signal(self, signal):
        signal = _real("signal", signal)
        shape = self.transition.shape[:2]
        if signal.shape != shape:
            raise ValueError(f"signal: shape {shape} expected, got {signal.shape}")
        _require_finite("signal", signal)
        return signal

    def _state_values(self, policy, signal):
        per_step = (policy * signal).sum(-1)[..., None]  # (..., S, 1)
        return np.linalg.solve(self._resolvent(policy), per_step)[..., 0]

    def _action_values(self, signal, values):
        return signal + self.discount * np.einsum("sat,...t->...sa", self.transition, values)

    def _resolvent(self, policy):
        kernel = np.einsum("...sa,sat->...st", policy, self.transition)  # (..., S, S)
        return _identity(self.states) - self.discount * kernel

    def _state_occupancy(self, policy):
        matrix = np.swapaxes(self._resolvent(policy), -1, -2)
        initial = np.broadcast_to(self.initial[:, None], (*policy.shape[:-1], 1))
        return np.linalg.solve(matrix, initial)[..., 0]


def random_cmdp(
    states=10,
    actions=4,
    instance=1,
    *,
    discount=0.9,
    concentration=5.0,
    threshold=0.55,
    scale="normalized",
):
    r"""Draw an environment as the paper's Section 5 does.

    Parameters
    ----------
    states, actions : int
        :math:`|S|` and :math:`|A|`.
    instance : int
        Which draw: the same number gives the same process, whatever else runs.
    discount : float
        :math:`\gamma` in [0, 1).
    concentration : float
        Parameter of the symmetric Dirichlet distribution of the transition rows.
    threshold : float
        :math:`b`, in units of the value.
    scale : {"normalized", "unit"}
        Rewards and utilities are Unif[0, 1], times :math:`1-\gamma` if "normalized".

    Returns
    -------
    CMDP
        With uniform initial distribution.

    Raises
    ------
    ValueError
        If a number is out of range; the message names the argument.
    """
    require_integer("states", states, 1)
    require_integer("actions", actions, 1)
    if states**2 * actions > _MOST_ENTRIES:
        raise ValueError(
            f"states, actions: at most {_MOST_ENTRIES} transition probabilities expected, "
            f"got {states} x {actions} x {states}"
        )
    require_integer("instance", instance, 0)
    if not require_number("concentration", concentration) > 0:
        raise ValueError(f"concentration: a positive number expected, got {concentration}")
    require_one_of("scale", scale, SCALES)
    if not 0 <= require_number("discount", discount) < 1:
        raise ValueError(f"discount: 0 <= gamma < 1 expected, got {discount}")
    random = np.random.Generator(streams.bit_generator(purpose="environment", instance=instance))
    transition = random.dirichlet(np.full(states, float(concentration)), size=(states, actions))
    largest = 1 - discount if scale == "normalized" else 1.0
    return CMDP(
        transition=transition,
        reward=largest * random.random((states, actions)),
        utility=largest * random.random((states, actions)),
        initial=np.full(states, 1 / states),
        discount=discount,
        threshold=threshold,
        scale=largest,
    )


def _array(name, value, dimensions, shape=None):
    """Read-only float64 copy of `value`, checked for shape and finiteness."""
    array = np.array(_real(name, value), order="C")
    if array.ndim != dimensions:
        raise ValueError(f"{name}: {dimensions} dimensions expected, got {array.ndim}")
    if shape is not None and array.shape != shape:
        raise ValueError(f"{name}: shape {shape} expected, got {array.shape}")
    _require_finite(name, array)
    array.flags.writeable = False
    return array


def _real(name, value):
    """The array of float64 that `value` stands for; its own memory, if it is one."""
    try:
        array = np.asarray(value)
        if np.iscomplexobj(array):
            raise TypeError
        return np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name}: an array of numbers expected") from None


def _require_finite(name, array):
    if not _is_finite(array.reshape(-1)):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{name}: {array[index]} at {index} is not a finite number")


def _require_distribution(name, array):
    """Refuse rows (last axis) that are not probability distributions."""
    row = _first_improper(array.reshape(-1, array.shape[-1]))
    if row < 0:
        return
    index = tuple(int(i) for i in np.unravel_index(row, array.shape[:-1]))
    probabilities = array[index]
    negative = ~(probabilities >= 0)
    if negative.any():
        index += (int(np.argmax(negative)),)
        raise ValueError(f"{name}: probability {array[index]} at {index} is negative or no number")
    where = f" at {index}" if index else ""
    raise ValueError(f"{name}: probabilities{where} sum to {probabilities.sum()}, not to 1")


@lru_cache(maxsize=8)
def _identity(size):
    """Made once: to make it takes as long as what signals are checked for."""
    return np.eye(size)


@njit
def _is_finite(numbers):
    """Whether all are; for a signal NumPy takes three times as long."""
    for number in numbers:
        if not np.isfinite(number):
            return False
    return True


@njit
def _first_improper(rows):
    """First row that is no distribution, or -1; NumPy takes seven times as long."""
    for row in range(rows.shape[0]):
        total = 0.0
        for k in range(rows.shape[1]):
            if not rows[row, k] >= 0:
                return row
            total += rows[row, k]
        if not abs(total - 1) <= 1e-9:
            return row
    return -1


@njit
def _values(policies, transition, reward, utility, initial, discount):
    """Both values of each policy, up to `_LANES` policies side by side.

    Gaussian elimination without pivoting is stable here: the transposed resolvent is an M-matrix
    that is strictly diagonally dominant by columns. A lane's arithmetic does not depend on the
    other lanes, so a policy's values do not depend on the batch it is in.
    """
    count, states, actions = policies.shape
    # No constant: the compiler unrolls short loops of known length instead of vectorizing them.
    width = max(1, min(_LANES, count))
    values = np.empty((2, count))
    policy = np.empty((states, actions, width))
    matrix = np.empty((states, states, width))
    occupancy = np.empty((states, width))
    factor = np.empty(width)
    for first in range(0, count, width):
        lanes = min(width, count - first)
        for s in range(states):
            for a in range(actions):
                for k in range(width):
                    policy[s, a, k] = policies[first + min(k, lanes - 1), s, a]
        # (I - gamma P_pi) transposed, and the right side rho
        for s in range(states):
            occupancy[s, :] = initial[s]
            for z in range(states):
                matrix[z, s, :] = 1.0 if z == s else 0.0
                for a in range(actions):
                    probability = discount * transition[s, a, z]
                    for k in range(width):
                        matrix[z, s, k] -= probability * policy[s, a, k]
        for pivot in range(states):
            for row in range(pivot + 1, states):
                for k in range(width):
                    factor[k] = matrix[row, pivot, k] / matrix[pivot, pivot, k]
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
