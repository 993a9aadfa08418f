r"""ZPGPD-HF, Algorithm 2 of the paper: zeroth-order policy gradient primal-dual from votes.

Direct parameterization. In each iteration evaluators compare trajectories of the policy and of a
randomly perturbed policy; the inverse link of their votes, times the direction of the perturbation,
estimates the gradient. Comments and kernels name lines of Algorithm 2, other docstrings lines of
the LaTeX source.
The paper leaves open what :math:`\theta + \mu v` is outside of the simplex: here each row is
projected before it is followed.

PG-PD follows the gradient itself, :math:`\partial V / \partial \pi(a|s) = q(s) Q(s, a)`. Inside of
the simplices it is the limit of the mean estimate as M, N and H grow and :math:`\mu` vanishes; at
their border the projection of :math:`\theta + \mu v` is a bias.
"""

import math
from dataclasses import dataclass, replace
from typing import ClassVar, NamedTuple

import numpy as np

from pgpd_hf.arguments import require_number, require_one_of
from pgpd_hf.compilation import njit
from pgpd_hf.evaluators import LINKS, ask, feedback_bias
from pgpd_hf.policies import project_rows, softmax, unit_direction
from pgpd_hf.primal_dual import Answers, HumanFeedback, PrimalDual, State, dual_update, normalizer
from pgpd_hf.trajectories import action_thresholds, draw_start, make_trajectories, sample_returns

_SMALLEST = 1e-15  # rounding loses perturbations of a probability that are not much larger
_LARGEST = 1e6  # beyond, rounding loses probabilities of a perturbed policy


class OutsideAssumptions(ValueError):
    """A setting that violates an assumption of a theorem; the message says which."""


class Perturbation(NamedTuple):
    """How parameters are perturbed."""

    radius: float  # mu
    dimension: int  # d, of the sphere that directions come from
    tangent: bool  # whether rows keep their sum
    softmax: bool  # or direct parameterization


@dataclass(frozen=True, kw_only=True)
class ZPGPDHF(HumanFeedback):
    r"""Algorithm 2, by default with the step sizes and the perturbation radius of Theorem 2.

    Parameters
    ----------
    perturbation : float, optional
        :math:`\mu`; by default :math:`\mu^2 = \max\{2\gamma^H/(1-\gamma), \beta\}` (Theorem 2).
    parameterization : {"direct", "softmax"}
    directions : {"sphere", "tangent"}
        Perturb in all directions, as written, or only so that rows keep their sum.
    **options
        Those of :class:`pgpd_hf.HumanFeedback` and :class:`pgpd_hf.PrimalDual`.
    """

    name: ClassVar[str] = "zpgpd_hf"
    label: ClassVar[str] = "ZPGPD-HF"

    perturbation: float | None = None
    parameterization: str = "direct"  # type: ignore[misc]
    directions: str = "sphere"

    def __post_init__(self) -> None:
        super().__post_init__()
        bounds = {"above": _SMALLEST, "at_most": _LARGEST}
        self._check("perturbation", require_number, optional=True, **bounds)
        self._check("parameterization", require_one_of, ("softmax", "direct"))
        self._check("directions", require_one_of, ("sphere", "tangent"))

    def theorem_steps(self, cmdp, optimum, iterations):
        r"""Step sizes of Theorem 2 (line 546).

        :math:`\eta_1 = 1/L_\theta` with :math:`L_\theta = 2|A|(1+2/\xi)/(1-\gamma)^4`, and
        :math:`\eta_2 = 4|S| L_\theta \|d^\star/\rho\|_\infty^2/\sqrt T`.
        """
        mismatch = visitation_mismatch(cmdp, optimum.policy)
        if mismatch == np.inf:
            told = "since Theorem 2's is infinite where rho is zero"
            raise OutsideAssumptions(f"dual_step: a number expected, {told}")
        curvature = 2 * cmdp.actions * (1 + 2 / optimum.slack) / (1 - cmdp.discount) ** 4
        return 1 / curvature, 4 * cmdp.states * curvature * mismatch**2 / math.sqrt(iterations)

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        setting = super().prepare(cmdp, optimum, iterations)
        tangent, softmax = self.directions == "tangent", self.parameterization == "softmax"
        dimension = cmdp.states * (cmdp.actions - tangent)
        if dimension == 0:
            raise ValueError("directions: sphere expected, since one action has no tangents")
        radius, horizon = self.perturbation, setting.simulator.horizon
        if radius is None:
            truncation = 2 * cmdp.discount**horizon / (1 - cmdp.discount)
            bias = feedback_bias(self.evaluators, LINKS[self.link], cmdp.return_bound(horizon))
            radius = math.sqrt(max(truncation, bias))
        if not _SMALLEST < radius < math.inf:
            raise ValueError(f"perturbation: a number expected, since Theorem 2's is {radius} here")
        perturbation = Perturbation(radius, dimension, tangent, softmax)
        return replace(setting, perturbation=perturbation, normals=cmdp.states * cmdp.actions)

    def estimate(self, setting, theta, words, normals):
        """Estimate both gradients, and V_g - b, from the answers of one iteration: `run.ask`."""
        simulator, how = setting.simulator, setting.perturbation
        policy, direction, perturbed = self.policy(theta), np.empty_like(theta), theta.copy()
        unit_direction(normals, how.tangent, direction)
        trajectories = make_trajectories(2 * self.rounds, *theta.shape, 2)
        reward, utility, excess = _estimate(
            simulator, how, theta, policy, direction, words, perturbed, trajectories
        )
        scale = how.dimension / how.radius
        return Answers(scale * reward * direction, scale * utility * direction, excess)

    def advance(self, setting, state, words, normals):
        """Make as many iterations as there are rows of random numbers."""
        theta, given = state.theta.copy(), (setting.simulator, setting.perturbation, setting.steps)
        random = words, normals, make_trajectories(2 * self.rounds, *theta.shape, 2)
        *iterates, multiplier = _advance(*given, theta, state.multiplier, *random)
        return *iterates, State(theta, multiplier)


@dataclass(frozen=True, kw_only=True)
class PGPD(PrimalDual):
    """PG-PD (Ding et al. 2022): the exact gradient in place of Algorithm 2's estimates.

    Its options are those of :class:`pgpd_hf.PrimalDual`.
    """

    name: ClassVar[str] = "pg_pd"
    label: ClassVar[str] = "PG-PD (exact)"
    parameterization: ClassVar[str] = "direct"

    theorem_steps = ZPGPDHF.theorem_steps

    def update(self, run, state):
        """Make one iteration."""
        cmdp, policy, theta = run.cmdp, state.theta, np.empty_like(state.theta)
        lagrangian = cmdp.reward + state.multiplier * cmdp.utility
        gradient = cmdp.occupancy(policy)[:, None] * cmdp.action_values(policy, lagrangian)
        project_rows(policy + run.primal_step(state.multiplier) * gradient, theta)
        excess = cmdp.evaluate(policy)[1] - cmdp.threshold
        return state.next(theta, run.dual_update(state.multiplier, excess))


def visitation_mismatch(cmdp, policy):
    r""":math:`\|d^\pi_\rho/\rho\|_\infty` (line 1383); infinite where :math:`\rho` is zero."""
    visitation = (1 - cmdp.discount) * cmdp.occupancy(policy)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nanmax(visitation / cmdp.initial)  # 0/0 in states that are never visited


@njit(allocates=True)
def _advance(simulator, perturbation, steps, theta, multiplier, words, normals, trajectories):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    multipliers = np.empty(len(words))
    direction = np.empty((states, actions))
    perturbed = np.empty((states, actions))
    scale = perturbation.dimension / perturbation.radius
    for t in range(len(words)):  # line 1
        policy = policies[t]
        for s in range(states):
            for a in range(actions):
                policy[s, a] = theta[s, a]
        if perturbation.softmax:
            softmax(policy, policy)
        multipliers[t] = multiplier
        # Line 2: a uniform direction.
        unit_direction(normals[t], perturbation.tangent, direction)
        # Lines 3-15: estimate the differences of both values from votes, and V_g - b.
        reward, utility, excess = _estimate(
            simulator, perturbation, theta, policy, direction, words[t], perturbed, trajectories
        )
        # Lines 14 and 16: d / mu times a difference is a slope; projected gradient step.
        primal_step = steps.primal / normalizer(steps.power, multiplier)
        slope = scale * (reward + multiplier * utility)
        for s in range(states):
            for a in range(actions):
                theta[s, a] += primal_step * slope * direction[s, a]
        if not perturbation.softmax:
            project_rows(theta, theta)
        # Line 17: projected dual step.
        multiplier = dual_update(multiplier, excess, steps)
    return policies, multipliers, multiplier


@njit(forceinline=True)
def _estimate(simulator, perturbation, theta, policy, direction, words, perturbed, trajectories):
    """Lines 3-15: estimate the differences of both values between the policies, and V_g - b."""
    tables, evaluators, rounds = simulator.tables, simulator.evaluators, simulator.rounds
    of_steps = 2 * rounds * (simulator.horizon + 1)  # words; then of first states, votes

    # Line 3: the perturbed policy.
    for s in range(theta.shape[0]):
        for a in range(theta.shape[1]):
            perturbed[s, a] = theta[s, a] + perturbation.radius * direction[s, a]
    if perturbation.softmax:
        softmax(perturbed, perturbed)
    else:
        project_rows(perturbed, perturbed)

    # Lines 4-7: in each round, trajectories of both policies that share their first state.
    for n in range(rounds):
        first = draw_start(tables, words[of_steps + n])
        trajectories.start[2 * n] = trajectories.start[2 * n + 1] = first
    action_thresholds(policy, trajectories.thresholds[0])
    action_thresholds(perturbed, trajectories.thresholds[1])
    sample_returns(tables, trajectories, words, simulator.horizon)

    # Lines 8-15: votes, and the means of their clipped inverse links, without line 14's d / mu.
    returns, vote = trajectories.returns, of_steps + rounds
    reward = utility = excess = 0.0
    for n in range(rounds):
        i, j = 2 * n, 2 * n + 1  # of the policy and of the perturbed one
        better, safer = returns[j, 0] - returns[i, 0], returns[j, 1] - returns[i, 1]
        reward += ask(evaluators, better, words[vote]) / rounds
        utility += ask(evaluators, safer, words[vote + 1]) / rounds
        excess += ask(evaluators, returns[i, 1] - simulator.threshold, words[vote + 2]) / rounds
        vote += 3
    return reward, utility, excess
