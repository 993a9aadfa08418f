r"""What an algorithm is to the rest of the package, and how to add one.

A file in this folder that defines one subclass of :class:`Algorithm` adds an algorithm: the
registry finds it, and so do :func:`pgpd_hf.run`, the workflow and the contract test. The class has
the name of its file as `name`, its options as fields, and a method `update` that makes one
iteration; everything else has a default:

* `label` and `streams` are the name, and the parameterization is softmax;
* `effort` is none: no trajectories and no questions; of methods that ask people it is two
  trajectories and three questions in each round;
* `theorem_steps` raises: without a theorem, step sizes have to be given;
* `rate` and `limit_of` are None: no theorem promises a rate, and no algorithm has it as its limit;
* `estimate` raises: it is for methods that follow estimated directions, to measure their errors;
* `require_result` accepts every end of a run.

Subclasses of :class:`PrimalDual` have step sizes, those of :class:`HumanFeedback` ask people, and
those of :class:`PrimalDualHF` do both. Every subclass is a frozen dataclass, without a decorator.
An object of it holds options and nothing else: what depends on the CMDP is in a :class:`Run`, which
all methods are given, and what goes from iteration to iteration is in a :class:`State`.

This file, `decaying.py`, is a complete algorithm with a step size that decays::

    from pgpd_hf.algorithms.base import PrimalDual, option

    class Decaying(PrimalDual):
        name = "decaying"
        decay: float = option(0.5, "Power of t by which the step falls.", at_least=0, at_most=1)

        def update(self, run, state, policy, words, normals):
            step = run.primal_step / (state.iteration + 1) ** self.decay
            signal = run.cmdp.reward + state.multiplier * run.cmdp.utility
            theta = state.theta + step * run.cmdp.advantages(policy, signal)
            excess = run.cmdp.evaluate(policy)[1] - run.cmdp.threshold
            multiplier = run.dual_update(state.multiplier, excess)
            return state._replace(theta=theta, multiplier=multiplier)

It runs by ``pgpd_hf.run(cmdp, "decaying", decay=1, primal_step=10, dual_step=0.1, ...)``, and with
the entry ``decaying: {iterations: 1000, primal_step: 10, dual_step: 0.1, decay: 1}`` of a study.
A class that is defined elsewhere, as in a notebook, runs as an object: ``Decaying(decay=1)``.

An algorithm with memory has a state with more fields. This one follows the mean of all gradients so
far::

    from typing import NamedTuple

    import numpy as np

    from pgpd_hf.algorithms.base import PrimalDual

    class MeanState(NamedTuple):
        theta: np.ndarray  # (S, A)
        multiplier: float
        iteration: int
        mean: np.ndarray  # (S, A)

    class Averaged(PrimalDual):
        name = "averaged"

        def initial_state(self, run, initial_policy=None):
            start = super().initial_state(run, initial_policy)
            return MeanState(*start, mean=np.zeros_like(start.theta))

        def update(self, run, state, policy, words, normals):
            signal = run.cmdp.reward + state.multiplier * run.cmdp.utility
            gradient = run.cmdp.advantages(policy, signal)
            mean = state.mean + (gradient - state.mean) / (state.iteration + 1)
            theta = state.theta + run.primal_step * mean
            excess = run.cmdp.evaluate(policy)[1] - run.cmdp.threshold
            multiplier = run.dual_update(state.multiplier, excess)
            return state._replace(theta=theta, multiplier=multiplier, mean=mean)

An algorithm that asks people can take its estimates from another one. This is NPGPD-HF with clipped
steps::

    import numpy as np

    from pgpd_hf.algorithms.base import option
    from pgpd_hf.algorithms.npgpd_hf import NPGPDHF

    class Clipped(NPGPDHF):
        name = "clipped"
        streams = "npgpd_hf"
        largest: float = option(1.0, "Largest change of an entry of theta.", above=0)

        def update(self, run, state, policy, words, normals):
            (reward, utility), excess = run.estimate(state.theta, words, normals)
            lagrangian = reward + state.multiplier * utility
            step = run.primal_step / (1 - run.cmdp.discount) * lagrangian
            theta = state.theta + np.clip(step, -self.largest, self.largest)
            multiplier = run.dual_update(state.multiplier, excess)
            return state._replace(theta=theta, multiplier=multiplier)

By its line ``streams`` it draws the random numbers that NPGPD-HF draws (common random numbers):
where both do the same, their results have the same bits, and where they differ, the difference is
less noisy.

Then run the contract test, which tests every algorithm in this folder:
``pytest tests/library/test_contract.py``.
"""

import math
from dataclasses import FrozenInstanceError, dataclass
from functools import cache
from types import SimpleNamespace
from typing import ClassVar, NamedTuple, dataclass_transform

import numpy as np
import scipy  # imports its parts when they are used

from pgpd_hf.core import links, options, policies
from pgpd_hf.core.arguments import require_integer, shown
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import (
    AS_ASSUMED,
    ESTIMATORS,
    Simulator,
    count_words,
    make_simulator,
    unlike_assumed,
)
from pgpd_hf.core.optima import Optimum
from pgpd_hf.core.options import REQUIRED, option
from pgpd_hf.core.sampling import LONGEST, default_horizon

MOST_ITERATIONS = 10**9  # beyond it, a run would take a lifetime
STEPS = ("primal_step", "dual_step")
RACED = (*STEPS, "perturbation")  # what races can choose
NORMALIZERS = {"none": 0, "linear": 1, "quadratic": 2}  # powers of lambda in `normalizer`
_MOST_WORDS = 2**24  # random words of one iteration: 128 MiB


class State(NamedTuple):
    r"""What one iteration hands to the next; an algorithm with memory has further fields.

    Attributes
    ----------
    theta : ndarray, float64, shape (S, A)
        :math:`\theta^{(t)}`.
    multiplier : float
        :math:`\lambda^{(t)}`.
    iteration : int
        t, counted from 0, the number of completed iterations.
    """

    theta: np.ndarray
    multiplier: float
    iteration: int


class Steps(NamedTuple):
    r"""Both steps, as kernels take them.

    Attributes
    ----------
    primal, dual : float
        :math:`\eta_1` and :math:`\eta_2`, undivided.
    power : int
        A value of :data:`NORMALIZERS`, of the option `normalize`.
    decay : float
        :math:`\kappa`, the option `step_decay`.
    regularization : float
        :math:`\omega`, the option `dual_regularization`.
    multiplier_bound : float
        Upper end of :math:`\Lambda`.
    """

    primal: float
    dual: float
    power: int
    decay: float
    regularization: float
    multiplier_bound: float


class Run(SimpleNamespace):
    r"""An algorithm that is ready to iterate on a CMDP, made by :meth:`Algorithm.prepare`.

    Nothing in it changes. Algorithms may add what they prepare for themselves.

    Attributes
    ----------
    algorithm : Algorithm
        The algorithm with its options.
    cmdp : CMDP
        The CMDP.
    optimum : Optimum
        Its optimum.
    iterations : int
        T.
    multiplier_bound : float
        Upper end of :math:`\Lambda`.
    primal_step, dual_step : float
        :math:`\eta_1` and :math:`\eta_2`; zero if the algorithm makes no steps.
    horizon : int
        H, if the algorithm samples trajectories.
    simulator : Simulator
        Evaluators, and the CMDP to sample from, if it asks people.
    questions_per_iteration, steps_per_iteration : int
        Questions (each put to M evaluators) and environment steps of one iteration.
    words_per_iteration, normals_per_iteration : int
        64-bit random words and standard normal numbers that one iteration consumes.
    """

    algorithm: "Algorithm"
    cmdp: CMDP
    optimum: Optimum
    iterations: int
    multiplier_bound: float
    primal_step: float = 0.0
    dual_step: float = 0.0
    horizon: int
    simulator: Simulator
    questions_per_iteration: int = 0
    steps_per_iteration: int = 0
    words_per_iteration: int = 0
    normals_per_iteration: int = 0

    @property
    def name(self):
        """str: name of the algorithm."""
        return self.algorithm.name

    @property
    def steps(self):
        """Steps: both steps, for kernels."""
        return Steps(
            primal=self.primal_step,
            dual=self.dual_step,
            power=NORMALIZERS[self.algorithm.normalize],
            decay=self.algorithm.step_decay,
            regularization=self.algorithm.dual_regularization,
            multiplier_bound=self.multiplier_bound,
        )

    def __setattr__(self, name, value):
        raise FrozenInstanceError(f"cannot assign to {name!r} of a run")

    def having(self, **more):
        """Add what an algorithm prepares, or change what is there.

        Parameters
        ----------
        **more : object
            Attributes.

        Returns
        -------
        Run
            Another one.
        """
        return type(self)(**vars(self) | more)

    def initial_state(self, initial_policy=None):
        """State before the first iteration, :meth:`Algorithm.initial_state`."""
        return self.algorithm.initial_state(self, initial_policy)

    def advance(self, state, words, normals):
        """Make as many iterations as there are rows of randomness, :meth:`Algorithm.advance`."""
        return self.algorithm.advance(self, state, words, normals)

    def estimate(self, theta, words, normals):
        """Estimate as one iteration does, :meth:`Algorithm.estimate`."""
        return self.algorithm.estimate(self, theta, words, normals)

    def at(self, state):
        """Take the steps of one iteration: divided as normalize and step_decay say.

        Parameters
        ----------
        state : State
            Before the iteration.

        Returns
        -------
        Run
            With the divided steps.
        """
        if self.algorithm.normalize == "none" and self.algorithm.step_decay == 0:
            return self
        primal_step, dual_step = step_sizes(self.steps, state.multiplier, state.iteration)
        return self.having(primal_step=primal_step, dual_step=dual_step)

    def dual_update(self, multiplier, excess):
        r"""Make the projected dual step, :func:`dual_update`.

        Parameters
        ----------
        multiplier : float
            :math:`\lambda`.
        excess : float
            :math:`V_g - b`, or an estimate of it.

        Returns
        -------
        float
        """
        return dual_update(multiplier, excess, self.dual_step, self.steps)

    def initial_parameter(self, initial_policy=None):
        r"""First parameter :math:`\theta^{(0)}`, by default that of the uniform policy.

        Parameters
        ----------
        initial_policy : array_like, float, shape (S, A), optional
            Start from this policy instead.

        Returns
        -------
        ndarray, float64, shape (S, A)

        Raises
        ------
        ValueError
            If `initial_policy` is not a policy, or if it has a probability of zero and the
            parameterization is softmax.
        """
        shape = (self.cmdp.states, self.cmdp.actions)
        softmax = self.algorithm.parameterization == "softmax"
        if initial_policy is None:
            return np.zeros(shape) if softmax else policies.uniform_policy(*shape)
        policy = self.cmdp.check_policy(initial_policy, "initial_policy", single=True).copy()
        if not softmax:
            return policy
        if not (policy > 0).all():
            index = tuple(int(i) for i in np.argwhere(policy == 0)[0])
            raise ValueError(
                f"initial_policy: the probability at {index} is zero, which no softmax policy has"
            )
        return np.log(policy)

    def policy(self, theta):
        """Policy of a parameter.

        Parameters
        ----------
        theta : ndarray, float64, shape (S, A)
            The parameter.

        Returns
        -------
        ndarray, float64, shape (S, A)

        Raises
        ------
        ValueError
            If `theta` has another shape.
        """
        shape = (self.cmdp.states, self.cmdp.actions)
        if np.shape(theta) != shape:
            raise ValueError(f"theta: shape {shape} expected, got {np.shape(theta)}")
        policy = np.array(theta, dtype=float)
        if self.algorithm.parameterization == "softmax":
            policies.softmax(theta, policy)
        return policy


def parameterized(*names):
    """Declare which parameterizations an algorithm can run with, the paper's first.

    Parameters
    ----------
    *names : {"softmax", "direct"}
        At least one.

    Returns
    -------
    dataclasses.Field
        Of the field `parameterization`.
    """
    return option(names[0], "Parameterization of the policy.", one_of=names)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
@dataclass(frozen=True, kw_only=True, repr=False)
class Algorithm:
    r"""A method that improves a policy iteration by iteration; its fields are its options.

    Subclasses have a `name` and a method :meth:`update`, or :meth:`advance` where a kernel makes
    many iterations at once; the rest has defaults. Each is a frozen dataclass with keywords only.

    Attributes
    ----------
    name, label : str
        In files and configurations, and in figures; by default the label is the name, which is not
        inherited.
    streams : str
        Name of the algorithm whose random streams it shares, by default its own; not inherited.
    rate : float or None
        Exponent of T in its theorem's bounds of the average gap and violation; not inherited.
    limit_of : str or None
        Name of the algorithm whose exact limit it is; not inherited.
    has_steps : bool
        Whether it makes steps; other methods solve for their policy.

    Raises
    ------
    ValueError
        If an option is out of range; the message names it.
    TypeError
        If its class has no name of its own.

    Examples
    --------
    >>> from pgpd_hf import NPGPDHF
    >>> NPGPDHF(evaluators=64, rounds=10)
    NPGPDHF(evaluators=64, rounds=10)
    >>> NPGPDHF(evaluators=0)
    Traceback (most recent call last):
    ValueError: evaluators: an integer of at least 1, or None, expected, got 0
    """

    name = label = streams = "algorithm"
    rate: ClassVar[float | None] = None
    limit_of: ClassVar[str | None] = None
    has_steps = False
    normalize, step_decay, dual_regularization = "none", 0.0, 0.0  # no options without steps

    parameterization: str = parameterized("softmax")
    multiplier_bound: float | None = option(
        None, "Upper end of the multiplier's interval, by default 2 / ((1 - gamma) xi).", at_least=0
    )

    def __init_subclass__(cls):
        super().__init_subclass__()
        # What these say holds for one algorithm, and not for a variant of it.
        name = vars(cls).get("name")
        own = {"name": None, "label": name, "streams": name, "rate": None, "limit_of": None}
        for attribute, value in own.items():
            if attribute not in vars(cls):
                setattr(cls, attribute, value)
        if "update" in vars(cls) and "advance" not in vars(cls):
            cls.advance = Algorithm.advance  # a parent's kernel would not call it
        elif "estimate" in vars(cls) and "advance" not in vars(cls):
            if cls.advance is not Algorithm.advance:
                raise TypeError(
                    f"class {cls.__name__}: a method 'update' expected beside 'estimate', which "
                    "the compiled iterations of its parent do not call"
                )
        dataclass(frozen=True, kw_only=True, repr=False)(cls)
        cls.__doc__ = options.documented(cls)

    def __post_init__(self):
        if self.name is None:
            kind = type(self).__name__
            raise TypeError(f"class {kind}: name = '...' expected, by which its results are called")
        for name, each in self.options().items():
            object.__setattr__(self, name, each.check(getattr(self, name)))

    def __repr__(self):
        defaults = {name: each.default for name, each in self.options().items()}
        told = [f"{name}={x!r}" for name, x in vars(self).items() if x != defaults[name]]
        return f"{type(self).__name__}({', '.join(told)})"

    @classmethod
    @cache
    def options(cls):
        """All options, with their types, ranges, defaults and meanings.

        Returns
        -------
        dict of pgpd_hf.core.options.Option
            By name.
        """
        return options.read(cls)

    @classmethod
    def pick(cls, settings):
        """Pick the algorithm's options out of settings that are also about others.

        Parameters
        ----------
        settings : dict
            By name; stays as it is.

        Returns
        -------
        dict
        """
        return {name: settings[name] for name in cls.options() if name in settings}

    @classmethod
    def refuse_unknown(cls, names):
        """Refuse what is neither an option of the algorithm, nor one that families share.

        So that all algorithms can be called alike, one that has no use for an option of
        :class:`PrimalDual` or :class:`HumanFeedback` lets it be given, and leaves it aside.

        Parameters
        ----------
        names : iterable of str
            What is given.

        Raises
        ------
        ValueError
            One line that names what is unknown, and the algorithm's options.
        """
        known = cls.options()
        for name in names:
            if name not in known and name not in shared_options():
                listed = ", ".join(known)
                raise ValueError(f"{name}: no option of {cls.name} (its options: {listed})")

    @classmethod
    def having(cls, settings):
        """Make the algorithm with options that are given by name.

        Parameters
        ----------
        settings : dict
            Options by name; those that families share may be without use for this algorithm.

        Returns
        -------
        Algorithm

        Raises
        ------
        ValueError
            One line that names what is unknown, missing or out of range.
        """
        cls.refuse_unknown(settings)
        for name in settings:
            if name not in cls.options():
                shared_options()[name].check(settings[name])
        for name, each in cls.options().items():
            if each.default is REQUIRED and name not in settings:
                raise ValueError(f"{name}: needed by {cls.name}: {each.text}")
        return cls(**cls.pick(settings))

    @staticmethod
    def effort(states, actions, rounds):
        r"""Number of trajectories and of questions in one iteration.

        Parameters
        ----------
        states, actions : int
            Size of the CMDP.
        rounds : int
            N.

        Returns
        -------
        trajectories, questions : int
            Both are zero by default: exact methods sample nothing and ask nobody. Methods that ask
            people by default compare two trajectories in each round, by reward and by utility, and
            ask whether one of them is harmless enough.
        """
        return 0, 0

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):
        r"""Step sizes of the algorithm's theorem.

        Parameters
        ----------
        cmdp : CMDP
            The CMDP.
        optimum : Optimum
            Its optimum.
        iterations : int
            T.

        Returns
        -------
        primal_step, dual_step : float
            :math:`\eta_1` and :math:`\eta_2`; infinite where the theorem has none.

        Raises
        ------
        ValueError
            If the algorithm has no theorem.
        """
        raise ValueError(
            "primal_step, dual_step: numbers expected, since this algorithm has no theorem"
        )

    @classmethod
    def has_theorem(cls):
        """Whether a theorem gives the algorithm's step sizes.

        Returns
        -------
        bool
        """
        return cls.theorem_steps is not Algorithm.theorem_steps

    def steps(self, cmdp, optimum, iterations):
        r"""Step sizes of a run: the given ones, or the theorem's where they are None.

        Parameters
        ----------
        cmdp : CMDP
            The CMDP.
        optimum : Optimum
            Its optimum.
        iterations : int
            T.

        Returns
        -------
        primal_step, dual_step : float
            :math:`\eta_1` and :math:`\eta_2`; zero if the algorithm makes no steps.
        """
        return 0.0, 0.0

    def prepare(self, cmdp, optimum, iterations):
        r"""Make ready to iterate; subclasses add what they need by :meth:`Run.having`.

        Parameters
        ----------
        cmdp : CMDP
            The CMDP.
        optimum : Optimum
            Its optimum; supplies the Slater slack :math:`\xi`.
        iterations : int
            T.

        Returns
        -------
        Run

        Raises
        ------
        ValueError
            If the options do not fit the CMDP; the message names them.
        """
        iterations = require_integer("iterations", iterations, 1, MOST_ITERATIONS)
        primal_step, dual_step = self.steps(cmdp, optimum, iterations)
        multiplier_bound = self.multiplier_bound
        if multiplier_bound is None:
            multiplier_bound = 2 / ((1 - cmdp.discount) * optimum.slack)
        return Run(
            algorithm=self,
            cmdp=cmdp,
            optimum=optimum,
            iterations=iterations,
            multiplier_bound=multiplier_bound,
            primal_step=primal_step,
            dual_step=dual_step,
        )

    def initial_state(self, run, initial_policy=None):
        r"""State before the first iteration: :math:`\theta^{(0)}` and :math:`\lambda^{(0)} = 0`.

        Parameters
        ----------
        run : Run
            The run.
        initial_policy : array_like, float, shape (S, A), optional
            Passed on to :meth:`Run.initial_parameter`.

        Returns
        -------
        State
            Or a NamedTuple with at least the same fields.
        """
        return State(run.initial_parameter(initial_policy), 0.0, 0)

    def update(self, run, state, policy, words, normals):
        r"""Make one iteration.

        Parameters
        ----------
        run : Run
            The run, whose steps are divided already, as normalize and step_decay say.
        state : State
            Before the iteration; its arrays must not be modified.
        policy : ndarray, float64, shape (S, A)
            The policy of :math:`\theta^{(t)}`.
        words : ndarray, uint64, shape (words_per_iteration,)
            Random bits.
        normals : ndarray, float64, shape (normals_per_iteration,)
            Standard normal numbers.

        Returns
        -------
        State
            After the iteration; :meth:`advance` counts `iteration`.
        """
        raise ValueError(f"algorithm: {type(self).__name__} has no method 'update'")

    def advance(self, run, state, words, normals):
        r"""Make as many iterations as there are rows of randomness.

        Parameters
        ----------
        run : Run
            The run.
        state : State
            Before the first of them; its arrays must not be modified.
        words : ndarray, uint64, shape (iterations, words_per_iteration)
            Random bits; the caller overwrites the array after the call.
        normals : ndarray, float64, shape (iterations, normals_per_iteration)
            Standard normal numbers; likewise.

        Returns
        -------
        policies : ndarray, float64, shape (iterations, S, A)
            The policy at the beginning of each iteration.
        multipliers : ndarray, float64, shape (iterations,)
            The multiplier at the beginning of each iteration.
        state : State
            After the last iteration.
        """
        policies = np.empty((len(words), *state.theta.shape))
        multipliers = np.empty(len(words))
        for t in range(len(words)):
            policy = run.policy(state.theta)
            policies[t], multipliers[t] = policy, state.multiplier
            following = self.update(run.at(state), state, policy, words[t], normals[t])
            _require_state(run, following, type(state))
            require_multipliers(run, np.array([following.multiplier], dtype=float))
            state = following._replace(iteration=state.iteration + 1)
        return policies, multipliers, state

    def estimate(self, run, theta, words, normals):
        r"""Estimate the directions and the constraint as one iteration does, and update nothing.

        Parameters
        ----------
        run : Run
            The run.
        theta : ndarray, float64, shape (S, A)
            :math:`\theta^{(t)}`.
        words : ndarray, uint64, shape (words_per_iteration,)
            Random bits.
        normals : ndarray, float64, shape (normals_per_iteration,)
            Standard normal numbers.

        Returns
        -------
        estimates : ndarray, float64, shape (2, S, A)
            The primal step's directions for reward and utility: :math:`\hat A_r, \hat A_g` of
            Algorithm 1 or :math:`\hat h_r, \hat h_g` of Algorithm 2.
        excess : float
            :math:`\hat h_c`, the estimate of :math:`V_g - b`.

        Raises
        ------
        TypeError
            If the algorithm follows no estimated directions.
        """
        raise TypeError(f"{self.name} follows no estimated directions")

    def require_result(self, state):
        """Refuse the end of a run from which nothing follows; by default nothing is refused.

        Parameters
        ----------
        state : State
            After the last iteration, of the last phase if there are several.

        Raises
        ------
        ValueError
            One line that names what has to change.
        """


class PrimalDual(Algorithm):
    r"""What methods share that make a primal and a dual step: both step sizes.

    The sum :math:`\hat g_r + \lambda \hat g_g` that the primal step follows grows with
    :math:`\lambda`, and so does the step, as printed. Libraries for safe reinforcement learning
    divide it by :math:`1 + \lambda`: the weights of reward and utility then add up to one. The
    variance of an estimated sum grows like :math:`1 + \lambda^2`; dividing by this undoes what
    the multiplier adds to the noise. The step is divided, not the estimates, so
    :meth:`Algorithm.estimate` knows nothing of it.

    With `step_decay`, the steps of iteration t are :math:`\eta_i/\sqrt{1 + \kappa t}`: what noise
    does to an iterate vanishes in the long run. With `dual_regularization`, the multiplier descends
    :math:`\lambda (V_g - b) + \frac{\omega}{2} \lambda^2`, as that of RPG-PD does (Ding et al.
    2023, "Last-iterate convergent policy gradient primal-dual methods for constrained MDPs"), which
    also adds the policy's entropy to its objective. Where :math:`\lambda` comes to rest above zero,
    the violation is then :math:`\omega \lambda`.
    """

    has_steps = True

    primal_step: float | None = option(
        None, "Step size eta_1 of the policy, by default the theorem's.", at_least=0
    )
    dual_step: float | None = option(
        None, "Step size eta_2 of the multiplier, by default the theorem's.", at_least=0
    )
    normalize: str = option(
        "none",
        "What the primal step is divided by: 1, as printed, 1 + lambda (linear), or 1 + lambda^2 "
        "(quadratic).",
        one_of=NORMALIZERS,
    )
    step_decay: float = option(
        0.0,
        "How fast steps fall: in iteration t both are divided by sqrt(1 + step_decay t).",
        at_least=0,
    )
    dual_regularization: float = option(
        0.0,
        "Weight omega of lambda^2 / 2 in the objective of the dual step, which keeps lambda small.",
        at_least=0,
    )
    initial_multiplier: float = option(
        0.0, "Multiplier lambda at the start; a dual_step of 0 freezes it.", at_least=0
    )

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        if self.initial_multiplier > run.multiplier_bound:
            raise ValueError(
                f"initial_multiplier: at most the multiplier's bound, {run.multiplier_bound:.6g}, "
                f"expected, got {self.initial_multiplier:g}"
            )
        return run

    def initial_state(self, run, initial_policy=None):  # noqa: D102
        state = super().initial_state(run, initial_policy)
        return state._replace(multiplier=self.initial_multiplier)

    def steps(self, cmdp, optimum, iterations):  # noqa: D102
        given = self.primal_step, self.dual_step
        if None not in given:
            return given
        theorem = self.theorem_steps(cmdp, optimum, iterations)
        return tuple(
            other if step is None else step for step, other in zip(given, theorem, strict=True)
        )


class HumanFeedback(Algorithm):
    """What methods share that ask people about trajectories."""

    estimator = "plug-in"  # of the simulator; no option of methods that do not step by answers

    evaluators: int | None = option(
        REQUIRED, "M, people per question; None for infinitely many.", at_least=1
    )
    rounds: int = option(
        1, "N, rounds of trajectories and questions per iteration.", at_least=1, at_most=10**4
    )
    horizon: int | None = option(
        None,
        "H: trajectories have H + 1 steps; by default long enough, and at least 80.",
        at_least=0,
        at_most=LONGEST,
    )
    link: str = option("logistic", "Link by which people are assumed to vote.", one_of=links.LINKS)
    true_link: str | None = option(
        None, "Link by which people vote, by default the same.", one_of=links.LINKS
    )
    random_answers: float = option(
        0.0, "Share of answers that are given at random.", at_least=0, at_most=1
    )
    flipped_answers: float = option(
        0.0, "Share of the other answers that say the opposite.", at_least=0, at_most=1
    )
    recency: float | None = option(
        None,
        "What each step weighs in people's memory, in units of the one before; by default gamma.",
        above=0,
        at_most=2,
    )
    peak_end: float = option(
        0.0, "Weight of the peak and the end in people's memory.", at_least=0, at_most=1
    )
    disagreement: float = option(
        0.0,
        "How much people differ: a fifth of them add 4 times this times the other signal, the "
        "others subtract it once.",
        at_least=0,
    )
    semiorder: float = option(
        0.0,
        "Differences of returns below it are not noticed; people vote by the other signal then.",
        at_least=0,
    )

    def __post_init__(self):
        super().__post_init__()
        if self.evaluators is None and (strange := unlike_assumed(self)):
            raise ValueError(
                "evaluators: an integer expected, since infinitely many answer with the difference "
                f"itself, whatever {' and '.join(strange)} may be"
            )

    @staticmethod
    def effort(states, actions, rounds):  # noqa: D102
        return 2 * rounds, 3 * rounds

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        horizon = default_horizon(cmdp.discount) if self.horizon is None else self.horizon
        trajectories, questions = self.effort(cmdp.states, cmdp.actions, self.rounds)
        words = count_words(self.rounds, horizon, trajectories, questions)
        if words > _MOST_WORDS:
            raise ValueError(
                f"rounds, horizon: one iteration draws {words} random words; at most {_MOST_WORDS} "
                "are possible"
            )
        people = {name: getattr(self, name) for name in ("estimator", "link", *AS_ASSUMED)}
        return run.having(
            horizon=horizon,
            simulator=make_simulator(cmdp, self.evaluators, self.rounds, horizon, **people),
            questions_per_iteration=questions,
            steps_per_iteration=trajectories * (horizon + 1),
            words_per_iteration=words,
        )


class PrimalDualHF(HumanFeedback, PrimalDual):
    """What primal-dual methods share whose steps follow estimates from people's votes.

    By default the step is that of Algorithm 1 (lines 21 to 23), along what :meth:`estimate` gives.
    """

    estimator: str = option(
        "plug-in",
        "How differences are read from votes: by the inverse link of their clipped share, as "
        "printed, or without bias by a power series, where what remains of it is small.",
        one_of=ESTIMATORS,
    )

    def update(self, run, state, policy, words, normals):  # noqa: D102
        (reward, utility), excess = self.estimate(run, state.theta, words, normals)
        step = run.primal_step / (1 - run.cmdp.discount)
        theta = state.theta + step * (reward + state.multiplier * utility)
        return state._replace(theta=theta, multiplier=run.dual_update(state.multiplier, excess))


def shared_options():
    """Options that families share: they may be given to an algorithm that has no use for them.

    Returns
    -------
    dict of pgpd_hf.core.options.Option
        By name.
    """
    return {**PrimalDual.options(), **HumanFeedback.options()}


@njit
def normalizer(power, multiplier):
    r"""What the primal step is divided by.

    Parameters
    ----------
    power : int
        0, 1 or 2; a value of :data:`NORMALIZERS`.
    multiplier : float
        :math:`\lambda \ge 0`.

    Returns
    -------
    float
        1, :math:`1 + \lambda` or :math:`1 + \lambda^2`.

    Examples
    --------
    >>> from pgpd_hf.algorithms.base import normalizer
    >>> [normalizer(power, 3.0) for power in (0, 1, 2)]
    [1.0, 4.0, 10.0]
    """
    if power == 0:
        return 1.0
    return 1.0 + (multiplier if power == 1 else multiplier * multiplier)


@njit
def step_sizes(steps, multiplier, iteration):
    r"""Step sizes of one iteration.

    Parameters
    ----------
    steps : Steps
        Both steps.
    multiplier : float
        :math:`\lambda \ge 0`.
    iteration : int
        t, counted from 0.

    Returns
    -------
    primal_step, dual_step : float
        :math:`\eta_1/(n(\lambda)\sqrt{1 + \kappa t})`, where n is :func:`normalizer`, and
        :math:`\eta_2/\sqrt{1 + \kappa t}`.

    Examples
    --------
    >>> from pgpd_hf.algorithms.base import Steps, step_sizes
    >>> steps = Steps(6.0, 2.0, power=1, decay=3.0, regularization=0.0, multiplier_bound=1.0)
    >>> step_sizes(steps, multiplier=0.5, iteration=1)
    (2.0, 1.0)
    """
    fallen = math.sqrt(1 + steps.decay * iteration)
    return steps.primal / (normalizer(steps.power, multiplier) * fallen), steps.dual / fallen


@njit
def dual_update(multiplier, excess, dual_step, steps):
    r"""Projected dual step, :math:`P_\Lambda(\lambda - \eta_2 (\hat h_c + \omega \lambda))`.

    Parameters
    ----------
    multiplier : float
        :math:`\lambda`.
    excess : float
        :math:`V_g - b`, or an estimate of it.
    dual_step : float
        :math:`\eta_2` of this iteration.
    steps : Steps
        Supplies :math:`\omega`, which is zero as printed, and the upper end of :math:`\Lambda`.

    Returns
    -------
    float

    Examples
    --------
    >>> from pgpd_hf.algorithms.base import Steps, dual_update
    >>> steps = Steps(6.0, 2.0, power=0, decay=0.0, regularization=0.0, multiplier_bound=2.0)
    >>> dual_update(0.5, excess=-1.0, dual_step=0.25, steps=steps)
    0.75
    """
    descent = excess + steps.regularization * multiplier
    return min(max(multiplier - dual_step * descent, 0.0), steps.multiplier_bound)


def require_multipliers(run, multipliers, method="update"):
    """Refuse multipliers that are not in their interval.

    Parameters
    ----------
    run : Run
        The run.
    multipliers : ndarray, float64, shape (n,)
        Of consecutive iterates.
    method : str
        Name of the method that returned them.

    Raises
    ------
    ValueError
        If one is not a number from 0 to the run's bound; the message names the algorithm.
    """
    bound = run.multiplier_bound
    if not (multipliers.min() >= 0 and multipliers.max() <= bound):
        wrong = multipliers[~((multipliers >= 0) & (multipliers <= bound))][0]
        raise ValueError(
            f"algorithm: {method} of {run.name} returned the multiplier {wrong}; a number "
            f"in [0, {bound:.6g}] expected, as from run.dual_update"
        )


def require_explicit_state(run, words, normals, initial_policy=None):
    """Refuse an algorithm whose iterations depend on more than its state and the randomness.

    The same iterations are made twice in one piece, and once one by one; the bits have to agree.

    Parameters
    ----------
    run : Run
        The run.
    words : ndarray, uint64, shape (iterations, words_per_iteration)
        Random bits.
    normals : ndarray, float64, shape (iterations, normals_per_iteration)
        Standard normal numbers.
    initial_policy : array_like, float, shape (S, A), optional
        Where to start.

    Raises
    ------
    ValueError
        If they do not agree, or the state is not one; the message says what has to be done.
    """
    place = f"algorithm: update of {run.name}"
    remedy = (
        "what goes from iteration to iteration belongs in the state, not in self; arrays of the "
        "state stay as they are; randomness comes from words and normals alone "
        "(tests/library/test_contract.py tests this)"
    )
    start = run.initial_state(initial_policy)
    if not {*State._fields} <= {*getattr(start, "_fields", ())}:
        raise ValueError(
            f"algorithm: initial_state of {run.name} returned {shown(start)}; a NamedTuple with "
            f"{', '.join(State._fields)} expected"
        )
    _require_state(run, start, type(start), "initial_state")
    require_multipliers(run, np.array([start.multiplier]), "initial_state")
    try:
        whole = run.advance(start, words, normals)
    except FrozenInstanceError as error:
        raise ValueError(f"{place}: {error}: {remedy}") from None
    if whole[2].iteration != start.iteration + len(words):
        raise ValueError(
            f"{place} returned a state with iteration {whole[2].iteration} after {len(words)} "
            f"iterations from {start.iteration}"
        )
    again = run.advance(start, words, normals)
    word, normal, state, parts = words[:1].copy(), normals[:1].copy(), start, []
    for t in range(len(words)):
        word[:], normal[:] = words[t], normals[t]
        *part, state = run.advance(state, word, normal)
        parts.append(part)
    pieces = (*map(np.concatenate, zip(*parts, strict=True)), state)
    for result, how in ((again, "when repeated"), (pieces, "one iteration at a time")):
        if not _same(whole, result):
            raise ValueError(
                f"{place} gave other numbers for the same state and randomness {how}: {remedy}"
            )


def _require_state(run, state, kind, method="update"):
    place = f"algorithm: {method} of {run.name} returned"
    if not isinstance(state, kind):
        raise ValueError(
            f"{place} {shown(state)}; a {kind.__name__} expected, as from state._replace"
        )
    theta, shape = state.theta, (run.cmdp.states, run.cmdp.actions)
    dtype = getattr(theta, "dtype", type(theta).__name__)
    if dtype != np.float64 or theta.shape != shape:
        raise ValueError(
            f"{place} theta as {dtype} of shape {np.shape(theta)}; float64 of shape {shape} "
            "expected"
        )
    if not isinstance(state.multiplier, int | float | np.floating | np.integer):
        raise ValueError(
            f"{place} the multiplier {shown(state.multiplier)}; a number expected, as from "
            "run.dual_update"
        )


def _same(ours, theirs):
    """Whether two results of `advance`, or two states, have the same bits."""
    return all(
        _same(one, other) if isinstance(one, tuple) else _equal(one, other)
        for one, other in zip(ours, theirs, strict=True)
    )


def _equal(one, other):
    if scipy.sparse.issparse(one) and scipy.sparse.issparse(other):
        return one.shape == other.shape and (one != other).nnz == 0
    return np.array_equal(one, other, equal_nan=True)
