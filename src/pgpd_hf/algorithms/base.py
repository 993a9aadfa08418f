r"""What an algorithm is to the rest of the package, and how to add one.

A file in this folder that defines one subclass of :class:`Algorithm` adds an algorithm: the
registry finds it, and so do :func:`pgpd_hf.run`, the workflow and the contract test. The class has
the name of its file as `name`, and a method `update` that makes one iteration; everything else has
a default:

* `label` is the name, and `parameterizations` is softmax alone;
* `words_per_iteration` and `normals_per_iteration` are zero: the algorithm is deterministic;
* `effort` is none: no trajectories and no questions;
* `has_steps` is true, and `theorem_steps` raises: without a theorem, step sizes have to be given;
* `rate` and `limit_of` are None: no theorem promises a rate, and no algorithm has it as its limit;
* `estimate` raises: it is for methods that follow estimated directions, to measure their errors;
* `require_result` accepts every end of a run.

This file, `decaying.py`, is a complete algorithm with a decaying step size::

    import math

    from pgpd_hf.algorithms.base import Algorithm

    class Decaying(Algorithm):
        name = "decaying"

        def update(self, state, policy, words, normals):
            step = self.primal_step / math.sqrt(state.iteration + 1)
            signal = self.cmdp.reward + state.multiplier * self.cmdp.utility
            theta = state.theta + step * self.cmdp.advantages(policy, signal)
            excess = self.cmdp.evaluate(policy)[1] - self.cmdp.threshold
            multiplier = self.dual_update(state.multiplier, excess)
            return state._replace(theta=theta, multiplier=multiplier)

Everything that an iteration needs from earlier ones is part of the state: keep no state of your own
in `self`, which serves all seeds. An algorithm with memory has a state with more fields. This one
follows the mean of all gradients so far::

    from typing import NamedTuple

    import numpy as np

    from pgpd_hf.algorithms.base import Algorithm

    class MeanState(NamedTuple):
        theta: np.ndarray  # (S, A)
        multiplier: float
        iteration: int
        mean: np.ndarray  # (S, A)

    class Averaged(Algorithm):
        name = "averaged"

        def initial_state(self, initial_policy=None):
            start = super().initial_state(initial_policy)
            return MeanState(*start, mean=np.zeros_like(start.theta))

        def update(self, state, policy, words, normals):
            signal = self.cmdp.reward + state.multiplier * self.cmdp.utility
            gradient = self.cmdp.advantages(policy, signal)
            mean = state.mean + (gradient - state.mean) / (state.iteration + 1)
            theta = state.theta + self.primal_step * mean
            excess = self.cmdp.evaluate(policy)[1] - self.cmdp.threshold
            multiplier = self.dual_update(state.multiplier, excess)
            return state._replace(theta=theta, multiplier=multiplier, mean=mean)

Then run the contract test, which tests every algorithm in this folder:
``pytest tests/unit/test_contract.py``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from pgpd_hf.core import links, policies
from pgpd_hf.core.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.core.cmdp import CMDP
from pgpd_hf.core.evaluators import ESTIMATORS, count_words
from pgpd_hf.core.optima import Optimum
from pgpd_hf.core.questions import DESIGNS

DIRECTIONS = ("sphere", "tangent")
# Beyond these, one run would exceed the memory of any machine, or take a lifetime.
LARGEST = {"iterations": 10**9, "rounds": 10**4, "horizon": 10**5}
# Options that only some algorithms have.
OPTIONS = (
    *("estimator", "perturbation", "directions"),
    *("design", "transitions", "ridge", "prior_mean", "planner"),
    *("pessimism", "margin", "temperature", "utility_weight"),
)
TRANSITIONS = ("known", "estimated")
PLANNERS = ("linear-program", "npg-pd")
_POSITIVE = ("perturbation", "ridge", "temperature")
MOST_WORDS = 2**24  # random words of one iteration: 128 MiB


@dataclass(frozen=True)
class Setting:
    r"""Everything that a run depends on, except the CMDP and the seed.

    Attributes
    ----------
    evaluators : int or None
        M, evaluators per question; None for infinitely many.
    iterations : int
        T.
    rounds : int
        N, rounds of trajectories and questions per iteration.
    horizon : int
        H: trajectories have H + 1 steps.
    primal_step, dual_step : float or None
        :math:`\eta_1` and :math:`\eta_2`; None for those of the algorithm's theorem.
    multiplier_bound : float or None
        Upper end of :math:`\Lambda`; None for the paper's :math:`2/((1-\gamma)\xi)`.
    link : str
        Name of the link function of all three questions that the algorithm assumes.
    true_link : str or None
        Name of the one by which people vote; None for `link`.
    random_answers : float
        Share of answers that are given at random, in [0, 1].
    estimator : {"plug-in", "unbiased"}
        How differences are estimated from votes: as printed, or without bias
        (:func:`~pgpd_hf.core.evaluators.unbiased_estimates`).
    perturbation : float or None
        :math:`\mu`, the perturbation radius of zeroth-order methods; None for Theorem 2's.
    directions : {"sphere", "tangent"}
        Perturb in all directions, as in the paper, or only in those along which the rows of a
        direct parameter keep summing to one.
    parameterization : str or None
        "softmax" or "direct", for algorithms that have both; None for the paper's.
    design : {"uniform", "deterministic", "state-action"}
        Which pairs of trajectories are compared, for methods that infer rewards
        (:data:`pgpd_hf.core.questions.DESIGNS`).
    transitions : {"known", "estimated"}
        Whether such a method knows P, or estimates it from the same trajectories.
    ridge : float
        :math:`\kappa > 0`, the weight of the prior of rewards in units of their scale
        (:mod:`pgpd_hf.core.likelihood`); 12 is the precision of a uniform distribution.
    prior_mean : float
        Centre of that prior in the same units; 1/2, the middle of the range, is also the mean of
        random environments.
    planner : {"linear-program", "npg-pd"}
        How such a method finds a policy for its estimates (:mod:`pgpd_hf.core.planning`).
    pessimism, margin : float
        Standard deviations by which estimates of reward and utility are lowered
        (:mod:`pgpd_hf.core.pessimism`).
    temperature : float
        :math:`\beta > 0` of direct preference optimisation, in units of the largest value.
    utility_weight : float
        Weight of utility beside reward in direct preference optimisation.

    Raises
    ------
    ValueError
        If a value is out of range; the message names it.

    Examples
    --------
    >>> from pgpd_hf.algorithms import Setting
    >>> Setting(evaluators=64, iterations=1000).horizon
    80
    >>> Setting(evaluators=0, iterations=1000)
    Traceback (most recent call last):
    ValueError: evaluators: an integer of at least 1 expected, got 0
    """

    evaluators: int | None
    iterations: int
    rounds: int = 1
    horizon: int = 80
    primal_step: float | None = None
    dual_step: float | None = None
    multiplier_bound: float | None = None
    link: str = "logistic"
    true_link: str | None = None
    random_answers: float = 0.0
    estimator: str = "plug-in"
    perturbation: float | None = None
    directions: str = "sphere"
    parameterization: str | None = None
    design: str = "uniform"
    transitions: str = "known"
    ridge: float = 1.0
    prior_mean: float = 0.5
    planner: str = "linear-program"
    pessimism: float = 1.0
    margin: float = 1.0
    temperature: float = 0.01
    utility_weight: float = 1.0

    def __post_init__(self):
        if self.evaluators is not None:
            evaluators = require_integer("evaluators", self.evaluators, 1)
            object.__setattr__(self, "evaluators", evaluators)
        for name, most in LARGEST.items():
            value = require_integer(name, getattr(self, name), 0 if name == "horizon" else 1, most)
            object.__setattr__(self, name, value)
        optional = ("primal_step", "dual_step", "multiplier_bound", "perturbation")
        numbers = ("ridge", "prior_mean", "pessimism", "margin", "temperature", "utility_weight")
        for name in (*optional, *numbers):
            value = getattr(self, name)
            if value is None and name in optional:
                continue
            number = require_number(name, value)
            positive = name in _POSITIVE
            if number < 0 or (positive and number == 0):
                least = "positive" if positive else "non-negative"
                raise ValueError(f"{name}: a {least} number expected, got {shown(value)}")
            object.__setattr__(self, name, number)
        links.get_link(self.link)
        self._check_people()
        require_one_of("estimator", self.estimator, ESTIMATORS)
        require_one_of("directions", self.directions, DIRECTIONS)
        require_one_of("design", self.design, DESIGNS)
        require_one_of("transitions", self.transitions, TRANSITIONS)
        require_one_of("planner", self.planner, PLANNERS)
        if self.parameterization is not None:
            known = policies.PARAMETERIZATIONS
            require_one_of("parameterization", self.parameterization, known)

    def _check_people(self):
        if self.true_link is not None:
            require_one_of("true_link", self.true_link, links.LINKS)
        share = require_number("random_answers", self.random_answers)
        if not 0 <= share <= 1:
            raise ValueError(f"random_answers: a number in [0, 1] expected, got {shown(share)}")
        object.__setattr__(self, "random_answers", share)
        if self.evaluators is None and (share or self.true_link not in (None, self.link)):
            raise ValueError(
                "evaluators: an integer expected, since infinitely many answer with the difference "
                "itself, whatever true_link and random_answers are"
            )


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


class Algorithm:
    r"""A primal-dual method, ready to iterate on one CMDP under one setting.

    Subclasses have a `name` and a method :meth:`update`, or :meth:`advance` where a kernel makes
    many iterations at once; the rest has defaults.

    Parameters
    ----------
    cmdp : CMDP
        The CMDP.
    optimum : Optimum
        Its optimum; supplies the Slater slack :math:`\xi`.
    setting : Setting
        The setting.

    Attributes
    ----------
    name, label : str
        In files and configurations, and in figures; by default the label is the name.
    parameterizations : tuple of str
        The parameterizations that it can run with, the paper's first; softmax by default.
    options : tuple of str
        Those of :data:`OPTIONS` that it has; none by default.
    rate : float or None
        Exponent of T in its theorem's bounds of the average gap and violation; not inherited.
    limit_of : str or None
        Name of the algorithm whose exact limit it is; not inherited.
    has_steps : bool
        Whether it makes steps; a method that solves for its policy ignores both step sizes.
    words_per_iteration, normals_per_iteration : int
        64-bit random words and standard normal numbers that one iteration consumes.
    questions_per_iteration, steps_per_iteration : int
        Questions (each put to M evaluators) and environment steps of one iteration.
    primal_step, dual_step : float
        :math:`\eta_1` and :math:`\eta_2`.
    multiplier_bound : float
        Upper end of :math:`\Lambda`.
    """

    name: str
    label: str
    parameterizations: tuple[str, ...] = ("softmax",)
    options: tuple[str, ...] = ()
    rate: float | None = None
    limit_of: str | None = None
    has_steps: bool = True
    words_per_iteration: int = 0
    normals_per_iteration: int = 0

    def __init_subclass__(cls):
        super().__init_subclass__()
        # What these say holds for one algorithm, and not for a variant of it.
        own = {"label": getattr(cls, "name", cls.__name__), "rate": None, "limit_of": None}
        for attribute, value in own.items():
            if attribute not in vars(cls):
                setattr(cls, attribute, value)
        if "update" in vars(cls) and "advance" not in vars(cls):
            cls.advance = Algorithm.advance  # a parent's kernel would not call it

    def __init__(self, cmdp: CMDP, optimum: Optimum, setting: Setting):
        self.cmdp = cmdp
        self.setting = setting
        trajectories, self.questions_per_iteration = self.effort(
            cmdp.states, cmdp.actions, setting.rounds
        )
        self.steps_per_iteration = trajectories * (setting.horizon + 1)
        if trajectories:
            self.words_per_iteration = count_words(
                setting.rounds, setting.horizon, trajectories, self.questions_per_iteration
            )
        if self.words_per_iteration > MOST_WORDS:
            raise ValueError(
                f"rounds, horizon: one iteration draws {self.words_per_iteration} random words; "
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
            If one of :data:`OPTIONS` is given that the algorithm lacks; the message names it.
        """
        for name in OPTIONS:
            if name in given and name not in cls.options:
                known = ", ".join(cls.options) or "none"
                raise ValueError(f"{name}: no option of {cls.name} (its options: {known})")

    @classmethod
    def known(cls, options):
        """Leave out the options that only other algorithms have.

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
            Both are zero by default: exact methods sample nothing and ask nobody.
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

    @classmethod
    def steps(cls, cmdp, optimum, setting):
        r"""Step sizes of a run: the setting's, or the theorem's where the setting has None.

        Parameters
        ----------
        cmdp : CMDP
            The CMDP.
        optimum : Optimum
            Its optimum.
        setting : Setting
            The setting.

        Returns
        -------
        primal_step, dual_step : float
            :math:`\eta_1` and :math:`\eta_2`; zero if the algorithm makes no steps.
        """
        given = setting.primal_step, setting.dual_step
        if not cls.has_steps:
            return 0.0, 0.0
        if None not in given:
            return given
        theorem = cls.theorem_steps(cmdp, optimum, setting.iterations)
        return tuple(
            other if step is None else step for step, other in zip(given, theorem, strict=True)
        )

    def initial_state(self, initial_policy=None):
        r"""State before the first iteration: :math:`\theta^{(0)}` and :math:`\lambda^{(0)} = 0`.

        Parameters
        ----------
        initial_policy : array_like, float, shape (S, A), optional
            Passed on to :meth:`initial_parameter`.

        Returns
        -------
        State
            Or a NamedTuple with at least the same fields.
        """
        return State(self.initial_parameter(initial_policy), 0.0, 0)

    def update(self, state, policy, words, normals):
        r"""Make one iteration.

        Parameters
        ----------
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
        raise NotImplementedError

    def dual_update(self, multiplier, excess):
        r"""Projected dual step, :math:`P_\Lambda(\lambda - \eta_2 \hat h_c)`.

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
        return min(max(multiplier - self.dual_step * excess, 0.0), self.multiplier_bound)

    def advance(self, state, words, normals):
        r"""Make as many iterations as there are rows of randomness.

        Parameters
        ----------
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
            policy = self.policy(state.theta)
            policies[t], multipliers[t] = policy, state.multiplier
            following = self.update(state, policy, words[t], normals[t])
            state = following._replace(iteration=state.iteration + 1)
        return policies, multipliers, state

    def estimate(self, theta, words, normals):
        r"""Estimate the directions and the constraint as one iteration does, and update nothing.

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
                f"initial_policy: the probability at {index} is zero, which no softmax policy has"
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


def require_explicit_state(algorithm, words, normals, initial_policy=None):
    """Refuse an algorithm whose iterations depend on more than its state and the randomness.

    The same iterations are made twice in one piece, and once one by one; the bits have to agree.

    Parameters
    ----------
    algorithm : Algorithm
        Ready to iterate.
    words : ndarray, uint64, shape (iterations, words_per_iteration)
        Random bits.
    normals : ndarray, float64, shape (iterations, normals_per_iteration)
        Standard normal numbers.
    initial_policy : array_like, float, shape (S, A), optional
        Where to start.

    Raises
    ------
    ValueError
        If they do not agree; the message says what has to be done.
    """
    start = algorithm.initial_state(initial_policy)
    whole = algorithm.advance(start, words, normals)
    if whole[2].iteration != start.iteration + len(words):
        raise ValueError(
            f"algorithm: update of {algorithm.name} returned a state with iteration "
            f"{whole[2].iteration} after {len(words)} iterations from {start.iteration}"
        )
    again = algorithm.advance(start, words, normals)
    word, normal, state, parts = words[:1].copy(), normals[:1].copy(), start, []
    for t in range(len(words)):
        word[:], normal[:] = words[t], normals[t]
        *part, state = algorithm.advance(state, word, normal)
        parts.append(part)
    pieces = (*map(np.concatenate, zip(*parts, strict=True)), state)
    for result, how in ((again, "when repeated"), (pieces, "one iteration at a time")):
        if not _same(whole, result):
            raise ValueError(
                f"algorithm: update of {algorithm.name} gave other numbers for the same state and "
                f"randomness {how}: what goes from iteration to iteration belongs in the state, "
                f"not in self (tests/unit/test_contract.py tests this)"
            )


def _same(ours, theirs):
    """Whether two results of `advance`, or two states, have the same bits."""
    return all(
        _same(one, other) if isinstance(one, tuple) else np.array_equal(one, other, equal_nan=True)
        for one, other in zip(ours, theirs, strict=True)
    )
