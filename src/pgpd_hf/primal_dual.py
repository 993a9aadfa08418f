r"""What all algorithms share: options, step sizes, the dual step, and what an update is given.

An algorithm of one's own is a subclass, a frozen dataclass with a `name` and a `label`; its fields
are its options. Its method `update` makes one iteration, from a :class:`State` to the next. This is
NPGPD-HF with momentum::

    from dataclasses import dataclass
    from typing import ClassVar

    import pgpd_hf
    from pgpd_hf.primal_dual import Run, State

    @dataclass(frozen=True, kw_only=True)
    class Momentum(pgpd_hf.NPGPDHF):
        name: ClassVar[str] = "momentum"
        label: ClassVar[str] = "NPGPD-HF with momentum"
        streams: ClassVar[str] = "npgpd_hf"
        momentum: float = 0.0

        def update(self, run: Run, state: State) -> State:
            answers = run.ask(state.theta)
            velocity = answers.reward + state.multiplier * answers.utility
            if state.memory is not None:
                velocity = velocity + self.momentum * state.memory
            step = run.primal_step(state.multiplier) / (1 - run.cmdp.discount)
            multiplier = run.dual_update(state.multiplier, answers.excess)
            return state.next(state.theta + step * velocity, multiplier, velocity)

    algorithm = Momentum(evaluators=64, momentum=0.9, primal_step=0.01, dual_step=0.1)
    trace = pgpd_hf.run(pgpd_hf.random_cmdp(), algorithm, seeds=range(5), iterations=1000)

With `streams` it draws the random numbers of NPGPD-HF. `run` is a :class:`Run`, whose `ask` puts
the questions of one iteration of the parent class. A factor of `answers.excess` in `dual_update`
changes the dual step. An `update` of ZPGPD-HF, whose parameter is the policy itself, ends with
``pgpd_hf.policies.project_rows(theta, theta)``. The paper's algorithms have an `advance` instead,
which makes many iterations in a compiled kernel.

In an experiment the class, which has to ask questions, is in a file beside the configuration:
``algorithms: {momentum: {class: mine.py:Momentum, iterations: 1000, momentum: 0.9, ...}}``.
"""

from __future__ import annotations  # help() shows names of types

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np

from pgpd_hf.arguments import require_integer, require_number, require_one_of, shown
from pgpd_hf.arrays import refuse, require_array
from pgpd_hf.cmdp import CMDP, Array
from pgpd_hf.compilation import njit
from pgpd_hf.evaluators import ESTIMATORS, LINKS, MOST_EVALUATORS, Simulator, make_simulator
from pgpd_hf.optimum import Optimum
from pgpd_hf.policies import softmax
from pgpd_hf.streams import draw_normals, draw_words, word_stream
from pgpd_hf.trajectories import LONGEST_HORIZON, default_horizon

MOST_ITERATIONS = 10**9
_MOST_WORDS = 2**24  # random words of an iteration: 128 MiB
# k, where the primal step is divided by 1 + lambda^k; with 0 by 1.
_POWERS = {"none": 0, "linear": 1, "quadratic": 2}


class State(NamedTuple):
    r""":math:`\theta^{(t)}` (S, A), :math:`\lambda^{(t)}`, and what else an algorithm remembers."""

    theta: Array
    multiplier: float
    memory: Any = None

    def next(self, theta: Array, multiplier: float, memory: Any = None) -> State:
        """State after an iteration; a memory that is not given is forgotten."""
        return State(theta, multiplier, memory)


class Answers(NamedTuple):
    """Estimates from the answers of one iteration."""

    reward: Array  # (S, A): advantages in Algorithm 1, gradients in Algorithm 2
    utility: Array  # likewise
    excess: float  # V_g - b


class Steps(NamedTuple):
    """Step sizes as kernels take them."""

    primal: float
    dual: float
    power: int
    multiplier_bound: float


@dataclass(frozen=True)
class Setting:
    """An algorithm that is ready to iterate on a CMDP, made by :meth:`PrimalDual.prepare`."""

    cmdp: CMDP
    optimum: Optimum
    iterations: int
    steps: Steps
    simulator: Simulator | None = None
    perturbation: Any = None
    # Of an iteration: random words, normal numbers, questions and environment steps.
    words: int = 0
    normals: int = 0
    questions: int = 0
    env_steps: int = 0


@dataclass(frozen=True, kw_only=True)
class PrimalDual:
    r"""Options of all algorithms; ``help("pgpd_hf.primal_dual")`` has one of your own.

    Parameters
    ----------
    primal_step, dual_step : float, optional
        :math:`\eta_1` and :math:`\eta_2`; by default those of the algorithm's theorem.
    multiplier_bound : float, optional
        Upper end of :math:`\Lambda`; by default :math:`2 / ((1 - \gamma) \xi)`, where
        :math:`\xi` is the largest slack, which only the optimum tells.
    normalize : {"none", "linear", "quadratic"}
        What the primal step is divided by: 1, as printed, :math:`1 + \lambda`, or
        :math:`1 + \lambda^2`.
    """

    name: ClassVar[str] = ""
    label: ClassVar[str] = ""
    streams: ClassVar[str] = ""  # algorithm whose random numbers are drawn; by default its own
    parameterization: ClassVar[str] = "softmax"  # or "direct"

    primal_step: float | None = None
    dual_step: float | None = None
    multiplier_bound: float | None = None
    normalize: str = "none"

    def __post_init__(self) -> None:
        if not vars(type(self)).get("name"):
            raise ValueError(f"class {type(self).__name__}: name = '...' expected")
        if not (hasattr(self, "update") or "advance" in vars(type(self))):
            raise ValueError(f"class {type(self).__name__}: a method update expected")
        for name in ("primal_step", "dual_step", "multiplier_bound"):
            self._check(name, require_number, optional=True, at_least=0)
        self._check("normalize", require_one_of, _POWERS)

    def _check(self, name, require, *bounds, optional=False, **named):
        value = getattr(self, name)
        if value is not None or not optional:
            object.__setattr__(self, name, require(name, value, *bounds, **named))

    def theorem_steps(self, cmdp: CMDP, optimum: Optimum, iterations: int) -> tuple[float, float]:
        r""":math:`\eta_1` and :math:`\eta_2` of the algorithm's theorem."""
        raise ValueError("primal_step, dual_step: numbers expected, since there is no theorem")

    def prepare(self, cmdp: CMDP, optimum: Optimum, iterations: int) -> Setting:
        """Make ready to iterate; options that do not fit the CMDP are refused."""
        iterations = require_integer("iterations", iterations, 1, MOST_ITERATIONS)
        primal, dual, bound = self.primal_step, self.dual_step, self.multiplier_bound
        if primal is None or dual is None:
            theorem = self.theorem_steps(cmdp, optimum, iterations)
            primal = theorem[0] if primal is None else primal
            dual = theorem[1] if dual is None else dual
        if bound is None:
            bound = 2 / ((1 - cmdp.discount) * optimum.slack)
        steps = Steps(primal, dual, _POWERS[self.normalize], bound)
        return Setting(cmdp, optimum, iterations, steps)

    def start(self, cmdp: CMDP, policy: Array | None = None) -> Array:
        r""":math:`\theta^{(0)}` (S, A) of a policy, by default uniform."""
        direct = self.parameterization == "direct"
        if policy is None:
            return np.full_like(cmdp.reward, 1 / cmdp.actions if direct else 0.0)
        policy = cmdp.check_policy(policy, "initial_policy", single=True)
        if direct:
            return policy.copy()
        zero = (policy == 0) & (True if cmdp.allowed is None else cmdp.allowed)
        refuse("initial_policy", zero, policy, "positive probabilities")
        with np.errstate(divide="ignore"):  # actions that are not allowed keep their zeros
            return np.log(policy)

    def policy(self, theta: Array) -> Array:
        """Policy (S, A) of a parameter (S, A)."""
        policy = np.array(theta, dtype=np.float64)
        if self.parameterization == "softmax":
            softmax(policy, policy)
        return policy


@dataclass(frozen=True, kw_only=True)
class HumanFeedback(PrimalDual):
    r"""Options of the algorithms that learn from votes, in addition to those of all algorithms.

    Parameters
    ----------
    evaluators : int or None
        M; None stands for infinitely many, who answer with the difference of returns itself.
    rounds : int
        N, rounds of trajectories and questions in an iteration.
    horizon : int, optional
        H: trajectories have H + 1 steps; by default 80, or what a larger discount factor needs.
    link : {"logistic", "probit", "cauchy"}
        Link function of the votes.
    estimator : {"plug-in", "unbiased"}
        How a difference is read from votes: by the inverse link of their clipped share, as printed,
        or by a power series without bias.
    random_answers : float
        Share of answers that are given at random, in [0, 1]; 2 reverses all answers.
    """

    evaluators: int | None
    rounds: int = 1
    horizon: int | None = None
    link: str = "logistic"
    estimator: str = "plug-in"
    random_answers: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check("evaluators", require_integer, 1, MOST_EVALUATORS, optional=True)
        self._check("rounds", require_integer, 1, 10**4)
        self._check("horizon", require_integer, 0, LONGEST_HORIZON, optional=True)
        self._check("link", require_one_of, LINKS)
        self._check("estimator", require_one_of, ESTIMATORS)
        self._check("random_answers", require_number, at_least=0, at_most=2)
        if self.estimator == "unbiased" and self.link != "logistic":
            raise ValueError(f"estimator: plug-in expected with the {self.link} link")
        share = self.random_answers
        if 1 < share < 2:
            raise ValueError(f"random_answers: a share of at most 1, or 2, expected, got {share:g}")
        if self.evaluators is None and share > 0:
            raise ValueError("random_answers: 0 expected with infinitely many evaluators")

    def effort(self, cmdp: CMDP) -> tuple[int, int]:
        """Numbers of trajectories and of questions in an iteration: by default Algorithm 2's."""
        return 2 * self.rounds, 3 * self.rounds

    def prepare(self, cmdp: CMDP, optimum: Optimum, iterations: int) -> Setting:  # noqa: D102
        setting = super().prepare(cmdp, optimum, iterations)
        horizon = default_horizon(cmdp.discount) if self.horizon is None else self.horizon
        trajectories, questions = self.effort(cmdp)
        # One word for each step, for each first state from rho, and for each question.
        words = trajectories * (horizon + 1) + self.rounds + questions
        require_integer("rounds, horizon, random words of an iteration", words, 0, _MOST_WORDS)
        answering = self.evaluators, self.link, self.estimator, self.random_answers
        simulator = make_simulator(cmdp, self.rounds, horizon, *answering)
        env_steps = trajectories * (horizon + 1)
        return replace(
            setting, simulator=simulator, words=words, questions=questions, env_steps=env_steps
        )


class Run:
    """One run with its random streams: what the method `update` of an algorithm is given."""

    cmdp: CMDP

    def __init__(self, algorithm, setting, seed, purpose):
        self.algorithm, self.setting, self.cmdp = algorithm, setting, setting.cmdp
        self.asked = 0  # how often questions were put
        axes = {"purpose": purpose, "algorithm": algorithm.streams or algorithm.name, "seed": seed}
        axes["evaluators"] = getattr(algorithm, "evaluators", None)
        self._words, self._normals = (word_stream(kind=it, **axes) for it in ("words", "normals"))

    def draw(self, rows):
        """Draw random words and normal numbers of the next iterations, a row for each."""
        words = np.empty((rows, self.setting.words), np.uint64)
        normals = np.empty((rows, self.setting.normals))
        draw_words(self._words, words)
        draw_normals(self._normals, normals)
        return words, normals

    def ask(self, theta: Array) -> Answers:
        """Put the questions of one iteration about the policy of `theta` to the evaluators."""
        if not hasattr(self.algorithm, "estimate"):
            raise ValueError(f"algorithm: {self.algorithm.name} has no questions to ask")
        theta = require_array("theta of run.ask", theta, self.cmdp.reward.shape, finite=False)
        if self.algorithm.parameterization == "direct" and np.isfinite(theta).all():
            self.cmdp.check_policy(theta, "theta of run.ask")
        words, normals = self.draw(1)
        self.asked += 1
        return self.algorithm.estimate(self.setting, theta, words[0], normals[0])

    def primal_step(self, multiplier: float) -> float:
        r""":math:`\eta_1`, divided as the option `normalize` says, not by :math:`1-\gamma`."""
        return self.setting.steps.primal / normalizer(self.setting.steps.power, multiplier)

    def dual_update(self, multiplier: float, excess: float) -> float:
        r"""Projected dual step, :math:`P_\Lambda(\lambda - \eta_2 (V_g - b))`."""
        multiplier = require_number("multiplier", multiplier)
        excess = require_number("excess", excess)
        return dual_update(multiplier, excess, self.setting.steps)

    def advance(self, state, rows):
        """Policies, multipliers and numbers of asked iterations before each, and the last state."""
        if not hasattr(self.algorithm, "update"):
            asked = np.arange(self.asked, self.asked + rows)
            self.asked += rows
            drawn = self.draw(rows)
            policies, multipliers, state = self.algorithm.advance(self.setting, state, *drawn)
            return policies, multipliers, asked, state
        policies = np.empty((rows, *state.theta.shape))
        multipliers, asked = np.empty(rows), np.empty(rows, np.int64)
        with np.errstate(over="ignore", invalid="ignore"):  # the policy is checked later
            for t in range(rows):
                policies[t] = self.algorithm.policy(state.theta)
                multipliers[t], asked[t] = state.multiplier, self.asked
                state = self._checked(self.algorithm.update(self, state))
        return policies, multipliers, asked, state

    def _checked(self, state):
        place = f"algorithm: update of {self.algorithm.name} returned"
        if not isinstance(state, State):
            raise ValueError(f"{place} {shown(state)}; a State expected, as from state.next")
        theta, multiplier = state.theta, state.multiplier
        if getattr(theta, "dtype", None) != np.float64 or theta.shape != self.cmdp.reward.shape:
            found = f"{getattr(theta, 'dtype', type(theta).__name__)} {np.shape(theta)}"
            raise ValueError(f"{place} theta of {found}; float64 {self.cmdp.reward.shape} expected")
        bound = self.setting.steps.multiplier_bound
        single = isinstance(multiplier, int | float | np.integer | np.floating)
        if not (single and 0 <= multiplier <= bound):
            told = f"a number in [0, {bound:g}] expected, as from run.dual_update"
            raise ValueError(f"{place} the multiplier {shown(multiplier)}; {told}")
        return state


@njit
def normalizer(power, multiplier):
    r"""What the primal step is divided by: 1, :math:`1 + \lambda` or :math:`1 + \lambda^2`."""
    if power == 0:
        return 1.0
    return 1.0 + (multiplier if power == 1 else multiplier * multiplier)


@njit
def dual_update(multiplier, excess, steps):
    """Projected dual step (Algorithm 1, line 23; Algorithm 2, line 17)."""
    return min(max(multiplier - steps.dual * excess, 0.0), steps.multiplier_bound)
