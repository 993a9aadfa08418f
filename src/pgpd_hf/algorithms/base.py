"""What an algorithm is, to the rest of the package.

A file in this folder that defines a subclass of :class:`Algorithm` adds an algorithm: the registry
finds it, and so do :func:`pgpd_hf.run`, the workflow and the contract test
(tests/unit/test_contract.py). The class has the file's name as its `name`, and a method `advance`;
everything else has a default:

* `label` is the name, `parameterizations` is softmax alone;
* `words_per_iteration` and `normals_per_iteration` are zero: no randomness;
* `effort` is none: no trajectories and no questions;
* `theorem_steps` refuses: without a theorem, step sizes have to be given;
* `estimate` refuses: it is for methods that ask people, so that their errors can be measured.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from pgpd_hf.core import links, policies
from pgpd_hf.core.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.optima import Optimum

DIRECTIONS = ("sphere", "tangent")
# Beyond these, the tables of one run would fill the memory of any machine, or the run a lifetime.
LARGEST = {"iterations": 10**9, "pairs": 10**4, "horizon": 10**5}
OPTIONS = ("perturbation", "directions")  # that only some algorithms know
MOST_WORDS = 2**24  # random words of one iteration: 128 MiB


@dataclass(frozen=True)
class Setting:
    r"""Everything that a run depends on, beside the process and the seed.

    Attributes
    ----------
    evaluators : int or None
        M, people per question; None for infinitely many.
    iterations : int
        T.
    pairs : int
        N, rounds of trajectories per iteration.
    horizon : int
        H: trajectories have H + 1 steps.
    primal_step, dual_step : float or None
        :math:`\eta_1` and :math:`\eta_2`; None for those of the algorithm's theorem.
    multiplier_bound : float or None
        Upper end of :math:`\Lambda`; None for the paper's :math:`2/((1-\gamma)\xi)`.
    link : str
        The link function of all three questions.
    perturbation : float or None
        :math:`\mu` of zeroth-order methods; None for that of Theorem 2.
    directions : {"sphere", "tangent"}
        Perturb in all directions, as written, or only in those that keep rows summing to one.
    parameterization : str or None
        "softmax" or "direct", where an algorithm leaves the choice; None for the paper's.
    """

    evaluators: int | None
    iterations: int
    pairs: int = 1
    horizon: int = 80
    primal_step: float | None = None
    dual_step: float | None = None
    multiplier_bound: float | None = None
    link: str = "logistic"
    perturbation: float | None = None
    directions: str = "sphere"
    parameterization: str | None = None

    def __post_init__(self):
        if self.evaluators is not None:
            require_integer("evaluators", self.evaluators, 1)
        for name, most in LARGEST.items():
            require_integer(name, getattr(self, name), 0 if name == "horizon" else 1, most)
        for name in ("primal_step", "dual_step", "multiplier_bound", "perturbation"):
            value = getattr(self, name)
            if value is None:
                continue
            number = require_number(name, value)
            positive = name == "perturbation"
            if number < 0 or (positive and number == 0):
                least = "positive" if positive else "non-negative"
                raise ValueError(f"{name}: a {least} number expected, got {shown(value)}")
            object.__setattr__(self, name, number)
        links.get_link(self.link)
        require_one_of("directions", self.directions, DIRECTIONS)
        if self.parameterization is not None:
            known = policies.PARAMETERIZATIONS
            require_one_of("parameterization", self.parameterization, known)


class Algorithm(ABC):
    r"""A primal-dual method, ready to iterate on one process under one setting.

    Subclasses have a `name` and implement :meth:`advance`; the rest has defaults.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    optimum : Optimum
        Its optimum; supplies the Slater slack :math:`\xi`.
    setting : Setting
        The run.

    Attributes
    ----------
    name, label : str
        For files and configurations, and for people; the label is the name by default.
    parameterizations : tuple of str
        Those that it can run with, the paper's first; softmax by default.
    options : tuple of str
        Those of :data:`OPTIONS` that it knows; none by default.
    words_per_iteration, normals_per_iteration : int
        64-bit words and standard normal numbers that one iteration consumes.
    questions_per_iteration, steps_per_iteration : int
        Questions (each put to M people) and environment steps of one iteration.
    multiplier_bound : float
        Upper end of :math:`\Lambda`.
    """

    name: str
    label: str
    parameterizations: tuple[str, ...] = ("softmax",)
    options: tuple[str, ...] = ()
    words_per_iteration: int = 0
    normals_per_iteration: int = 0

    def __init_subclass__(cls):
        super().__init_subclass__()
        if "label" not in vars(cls):  # an inherited one would be that of another algorithm
            cls.label = getattr(cls, "name", cls.__name__)

    def __init__(self, cmdp: CMDP, optimum: Optimum, setting: Setting):
        self.cmdp = cmdp
        self.setting = setting
        trajectories, self.questions_per_iteration = self.effort(
            cmdp.states, cmdp.actions, setting.pairs
        )
        self.steps_per_iteration = trajectories * (setting.horizon + 1)
        if trajectories:  # a word for each step, each round's first state and each vote
            self.words_per_iteration = (
                self.steps_per_iteration + setting.pairs + self.questions_per_iteration
            )
        if self.words_per_iteration > MOST_WORDS:
            raise ValueError(
                f"pairs, horizon: one iteration draws {self.words_per_iteration} random words; "
                f"at most {MOST_WORDS} are possible"
            )
        self.parameterization = setting.parameterization or self.parameterizations[0]
        if self.parameterization not in self.parameterizations:
            raise ValueError(
                f"parameterization: {self.name} runs with "
                f"{' or '.join(self.parameterizations)}, got {self.parameterization!r}"
            )
        self.primal_step, self.dual_step = self.steps(cmdp, optimum, setting)
        self.multiplier_bound = setting.multiplier_bound
        if self.multiplier_bound is None:
            self.multiplier_bound = 2 / ((1 - cmdp.discount) * optimum.slack)

    @classmethod
    def refuse_idle(cls, given):
        """Refuse options that would have no effect.

        Parameters
        ----------
        given : iterable of str
            Names of options.

        Raises
        ------
        ValueError
            If the algorithm does not know one of :data:`OPTIONS`; the message names it.
        """
        for name in OPTIONS:
            if name in given and name not in cls.options:
                known = ", ".join(cls.options) or "none"
                raise ValueError(
                    f"{name}: no option of {cls.name}; of {', '.join(OPTIONS)} it knows {known}"
                )

    @classmethod
    def known(cls, options):
        """Leave out what another algorithm of the same settings knows, but this one does not.

        Parameters
        ----------
        options : dict
            Keyword arguments of :func:`pgpd_hf.run`.

        Returns
        -------
        dict
        """
        idle = set(OPTIONS) - set(cls.options)
        return {name: value for name, value in options.items() if name not in idle}

    @staticmethod
    def effort(states, actions, pairs):
        r"""What one iteration asks of the process and of people.

        Parameters
        ----------
        states, actions : int
            Size of the process.
        pairs : int
            N.

        Returns
        -------
        trajectories, questions : int
            Numbers of both; none for a method that asks nobody.
        """
        return 0, 0

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):
        r"""Step sizes of the algorithm's theorem.

        Parameters
        ----------
        cmdp : CMDP
            The process.
        optimum : Optimum
            Its optimum.
        iterations : int
            T.

        Returns
        -------
        primal_step, dual_step : float
            :math:`\eta_1` and :math:`\eta_2`.

        Raises
        ------
        ValueError
            If there is no such theorem.
        """
        raise ValueError(
            "primal_step, dual_step: numbers expected, since this algorithm has no theorem"
        )

    @classmethod
    def has_theorem(cls):
        """Whether the algorithm has a theorem that gives step sizes.

        Returns
        -------
        bool
        """
        return cls.theorem_steps is not Algorithm.theorem_steps

    @classmethod
    def steps(cls, cmdp, optimum, setting):
        r"""Step sizes of a run: those of the setting, and the theorem's where it leaves them open.

        Parameters
        ----------
        cmdp : CMDP
            The process.
        optimum : Optimum
            Its optimum.
        setting : Setting
            The run.

        Returns
        -------
        primal_step, dual_step : float
            :math:`\eta_1` and :math:`\eta_2`.
        """
        given = setting.primal_step, setting.dual_step
        if None not in given:
            return given
        theorem = cls.theorem_steps(cmdp, optimum, setting.iterations)
        return tuple(
            other if step is None else step for step, other in zip(given, theorem, strict=True)
        )

    @abstractmethod
    def advance(self, theta, multiplier, words, normals):
        r"""Do as many iterations as there are rows of randomness.

        Parameters
        ----------
        theta : ndarray, float64, shape (S, A)
            :math:`\theta^{(t)}`; updated in place.
        multiplier : float
            :math:`\lambda^{(t)}`.
        words : ndarray, uint64, shape (iterations, words_per_iteration)
            Random bits.
        normals : ndarray, float64, shape (iterations, normals_per_iteration)
            Standard normal numbers.

        Returns
        -------
        policies : ndarray, float64, shape (iterations, S, A)
            The policy at the beginning of each iteration.
        multipliers : ndarray, float64, shape (iterations,)
            The multiplier at the beginning of each iteration.
        multiplier : float
            After the last iteration.
        """

    def estimate(self, theta, words, normals):
        r"""Estimate what one iteration estimates, without updating anything.

        Parameters
        ----------
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
            If the algorithm estimates nothing.
        """
        raise TypeError(f"{self.name} asks nobody, so there is nothing to estimate")

    def initial_parameter(self, initial_policy=None):
        r"""First parameter :math:`\theta^{(0)}`: zero for softmax, uniform for direct.

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
            If `initial_policy` is no policy, or a softmax policy is asked to start at probability
            zero.
        """
        shape = (self.cmdp.states, self.cmdp.actions)
        softmax = self.parameterization == "softmax"
        if initial_policy is None:
            return np.zeros(shape) if softmax else policies.uniform_policy(*shape)
        initial_policy = self.cmdp.check_policy(initial_policy, "initial_policy").copy()
        if initial_policy.shape != shape:
            raise ValueError(f"initial_policy: shape {shape} expected, got {initial_policy.shape}")
        if not softmax:
            return initial_policy
        if not (initial_policy > 0).all():
            index = tuple(int(i) for i in np.argwhere(initial_policy == 0)[0])
            raise ValueError(
                f"initial_policy: the probability at {index} is zero, which no softmax policy's is"
            )
        return np.log(initial_policy)

    def policy(self, theta):
        """Policy of a parameter.

        Parameters
        ----------
        theta : ndarray, float64, shape (S, A)
            The parameter.

        Returns
        -------
        ndarray, float64, shape (S, A)
        """
        policy = np.array(theta)
        if self.parameterization == "softmax":
            policies.softmax(theta, policy)
        return policy
