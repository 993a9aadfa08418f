r"""ZPGPD-HF: zeroth-order policy gradient primal-dual method from human feedback.

Algorithm 2 of the paper, direct parameterization. In each iteration evaluators compare trajectories
of the policy and of a randomly perturbed one; the inverse link of their votes, times the direction
of the perturbation, estimates the gradient. Line numbers in comments are those of Algorithm 2.

The paper leaves three things open. In the direct parameterization :math:`\theta + \mu v` is no
policy in general: here, each of its rows is projected onto the simplex before it is followed. The
option `directions` chooses where v comes from: "sphere" is the unit sphere of
:math:`\mathbb{R}^d`, as written; "tangent" that of the subspace in which rows sum to zero, whose
dimension then takes the place of d. And in the softmax parameterization, also available, nothing
has to be projected.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.algorithms.base import PrimalDualHF, dual_update, option, parameterized, step_sizes
from pgpd_hf.core.arguments import require_integer
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import ask, compare, feedback_bias_bound
from pgpd_hf.core.links import get_link
from pgpd_hf.core.policies import project_rows, softmax
from pgpd_hf.core.sampling import (
    action_thresholds,
    draw,
    make_trajectories,
    require_words,
    sample_returns,
)

SMALLEST = 1e-15  # rounding loses perturbations of a probability that are not much larger


class Perturbation(NamedTuple):
    """How parameters are perturbed.

    Attributes
    ----------
    radius : float
        mu.
    dimension : int
        d, of the sphere that directions come from.
    tangent, softmax : bool
        Whether directions are tangent to the simplex, and the parameterization is softmax.
    """

    radius: float
    dimension: int
    tangent: bool
    softmax: bool


class Theorem2Steps:
    """Step sizes of Theorem 2, for the two algorithms that have them."""

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):  # noqa: D102
        mismatch = visitation_mismatch(cmdp, optimum.policy)
        return theorem_2_steps(
            cmdp.states, cmdp.actions, cmdp.discount, optimum.slack, mismatch, iterations
        )

    def steps(self, cmdp, optimum, iterations):  # noqa: D102
        primal_step, dual_step = super().steps(cmdp, optimum, iterations)
        if dual_step == math.inf:
            visited = cmdp.state_occupancy(optimum.policy) > 0
            state = int(np.argmax(visited & (cmdp.initial == 0)))
            raise ValueError(
                f"dual_step: Theorem 2's is infinite, since initial is 0 in state {state}; give a "
                "number"
            )
        return primal_step, dual_step


class ZPGPDHF(Theorem2Steps, PrimalDualHF):
    """Algorithm 2; step sizes and perturbation radius of Theorem 2."""

    name = "zpgpd_hf"
    label = "ZPGPD-HF"
    rate = -1 / 4

    parameterization: str = parameterized("direct", "softmax")
    perturbation: float | None = option(
        None,
        "Radius mu of the perturbation, by default Theorem 2's (too small for very many people).",
        above=SMALLEST,
    )
    directions: str = option(
        "sphere",
        "Perturb in all directions, as written, or only in those along which rows keep their sum.",
        one_of=("sphere", "tangent"),
    )

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        normals = dimension = cmdp.states * cmdp.actions
        tangent = self.directions == "tangent"
        if tangent:
            dimension -= cmdp.states
        if dimension == 0:
            raise ValueError("directions: with one action there is no tangent direction")
        radius = self.perturbation
        if radius is None:
            link, bound = get_link(self.link), cmdp.return_bound(run.horizon)
            radius = theorem_perturbation(cmdp.discount, run.horizon, self.evaluators, link, bound)
            if not SMALLEST < radius < math.inf:
                raise ValueError(
                    f"perturbation: Theorem 2's is {radius} here; a positive number has to be given"
                )
        softmax = self.parameterization == "softmax"
        perturbation = Perturbation(float(radius), dimension, tangent, softmax)
        return run.having(normals_per_iteration=normals, perturbation=perturbation)

    def estimate(self, run, theta, words, normals):  # noqa: D102
        simulator, perturbation = run.simulator, run.perturbation
        policy, direction = run.policy(theta), self._direction(run, normals)
        perturbed = np.empty_like(theta)
        trajectories = paired_trajectories(simulator.rounds, *theta.shape)
        *slopes, excess = _estimate(
            simulator, perturbation, theta, policy, direction, words, perturbed, trajectories
        )
        scale = perturbation.dimension / perturbation.radius
        return np.array([scale * slope * direction for slope in slopes]), excess

    def _direction(self, run, normals):
        """Turn normal numbers into the direction in which the parameter is perturbed."""
        direction = np.empty((run.cmdp.states, run.cmdp.actions))
        unit_direction(normals, run.perturbation.tangent, direction)
        return direction

    def advance(self, run, state, words, normals):  # noqa: D102
        theta = state.theta.copy()  # the kernel updates it in place
        simulator, perturbation, steps = run.simulator, run.perturbation, run.steps
        multiplier, iteration = state.multiplier, state.iteration
        policies, multipliers, multiplier = _advance(
            simulator, perturbation, theta, multiplier, words, normals, steps, iteration
        )
        iteration += len(words)
        state = state._replace(theta=theta, multiplier=multiplier, iteration=iteration)
        return policies, multipliers, state


def visitation_mismatch(cmdp, policy):
    r"""Distribution mismatch coefficient :math:`\|d^\pi_\rho/\rho\|_\infty` (line 1383).

    Parameters
    ----------
    cmdp : CMDP
        Supplies :math:`\rho` and the transitions.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi(a|s)`.

    Returns
    -------
    float
        At least one; infinite if the policy visits a state in which :math:`\rho` is zero.
    """
    visitation = (1 - cmdp.discount) * cmdp.state_occupancy(policy)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nanmax(visitation / cmdp.initial)  # 0/0 in states that are never visited


def theorem_2_steps(states, actions, discount, slack, mismatch, iterations):
    r"""Step sizes of Theorem 2 (line 546).

    Parameters
    ----------
    states, actions : int
        :math:`|S|` and :math:`|A|`.
    discount : float
        :math:`\gamma`.
    slack : float
        :math:`\xi > 0`.
    mismatch : float
        :math:`\|d^\star/\rho\|_\infty`.
    iterations : int or float
        T; theory also asks for lengths that only a float can hold.

    Returns
    -------
    primal_step, dual_step : float
        :math:`\eta_1 = 1/L_\theta` with :math:`L_\theta = 2|A|(1+2/\xi)/(1-\gamma)^4`, and
        :math:`\eta_2 = 4|S| L_\theta \|d^\star/\rho\|_\infty^2/\sqrt T`.

    Examples
    --------
    >>> from pgpd_hf.algorithms.zpgpd_hf import theorem_2_steps
    >>> theorem_2_steps(states=2, actions=2, discount=0.5, slack=1, mismatch=1, iterations=100)
    (0.005208333333333333, 153.6)
    """
    states = require_integer("states", states, 1)
    actions = require_integer("actions", actions, 1)
    curvature = 2 * actions * (1 + 2 / slack) / (1 - discount) ** 4
    return 1 / curvature, 4 * states * curvature * mismatch**2 / math.sqrt(iterations)


def theorem_perturbation(discount, horizon, evaluators, link, bound):
    r"""Perturbation radius of Theorem 2.

    Parameters
    ----------
    discount : float
        :math:`\gamma`.
    horizon : int
        :math:`H`.
    evaluators : int or None
        :math:`M`; None for infinitely many.
    link : Link
        The link function.
    bound : float
        Largest return, the paper's :math:`G(H)`.

    Returns
    -------
    float
        :math:`\mu` with :math:`\mu^2 = \max\{2\gamma^H/(1-\gamma), \beta\}`, where :math:`\beta` is
        :func:`~pgpd_hf.core.evaluators.feedback_bias_bound`.

    Examples
    --------
    >>> from pgpd_hf import LINKS
    >>> from pgpd_hf.algorithms.zpgpd_hf import theorem_perturbation
    >>> theorem_perturbation(0.5, horizon=4, evaluators=None, link=LINKS["logistic"], bound=1.9)
    0.5
    """
    horizon = require_integer("horizon", horizon, 0)
    truncation = 2 * discount**horizon / (1 - discount)
    return math.sqrt(max(truncation, feedback_bias_bound(evaluators, link, bound)))


@njit
def _advance(simulator, perturbation, theta, multiplier, words, normals, steps, iteration):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    multipliers = np.empty(len(words))
    direction = np.empty((states, actions))
    perturbed = np.empty((states, actions))
    trajectories = paired_trajectories(simulator.rounds, states, actions)
    scale = perturbation.dimension / perturbation.radius
    for t in range(len(words)):  # line 1
        policy = policies[t]
        if perturbation.softmax:
            softmax(theta, policy)
        else:
            policy[:] = theta
        multipliers[t] = multiplier
        # Line 2: a uniform direction.
        unit_direction(normals[t], perturbation.tangent, direction)
        # Lines 3-15: estimate the slopes of both values along it from votes, and V_g - b.
        reward_slope, utility_slope, excess = _estimate(
            simulator, perturbation, theta, policy, direction, words[t], perturbed, trajectories
        )
        # Line 16: projected gradient step on the Lagrangian.
        primal_step, dual_step = step_sizes(steps, multiplier, iteration + t)
        slope = scale * (reward_slope + multiplier * utility_slope)
        for s in range(states):
            for a in range(actions):
                theta[s, a] += primal_step * slope * direction[s, a]
        if not perturbation.softmax:
            project_rows(theta, theta)
        # Line 17: projected dual step; as printed, without regularization.
        multiplier = dual_update(multiplier, excess, dual_step, steps)
    return policies, multipliers, multiplier


@njit(forceinline=True)  # measured: iterations with N = 1 take a fifth less
def _estimate(simulator, perturbation, theta, policy, direction, words, perturbed, trajectories):
    """Lines 3-15: estimate the differences of both values along a direction, and V_g - b."""
    evaluators, rounds = simulator.evaluators, simulator.rounds
    vote = sample_pairs(
        simulator, perturbation, theta, policy, direction, words, perturbed, trajectories
    )

    # Lines 8-12, 14 and 15: votes, clipped frequencies, and the means of their inverse links.
    require_words(words, vote + 3 * rounds)
    returns = trajectories.returns
    reward_slope = utility_slope = excess = 0.0
    for n in range(rounds):
        i, j = 2 * n, 2 * n + 1  # of the policy and of the perturbed one
        reward = returns[j, 0] - returns[i, 0]
        utility = returns[j, 1] - returns[i, 1]
        reward_slope += compare(evaluators, reward, utility, words[vote]) / rounds
        utility_slope += compare(evaluators, utility, reward, words[vote + 1]) / rounds
        difference = returns[i, 1] - simulator.threshold
        excess += ask(evaluators, difference, words[vote + 2]) / rounds
        vote += 3
    return reward_slope, utility_slope, excess


@njit
def sample_pairs(simulator, perturbation, theta, policy, direction, words, perturbed, trajectories):
    """Lines 3-7: follow a policy and a perturbed one from the same first states.

    Parameters
    ----------
    simulator : Simulator
        Of the run.
    perturbation : Perturbation
        How the parameter is perturbed.
    theta, policy : ndarray, float64, shape (S, A)
        The parameter and its policy.
    direction : ndarray, float64, shape (S, A)
        v.
    words : ndarray, uint64, shape (words,)
        Random bits of the iteration.
    perturbed : ndarray, float64, shape (S, A)
        Overwritten by the perturbed policy.
    trajectories : Trajectories
        Of both policies in turn; its returns are overwritten.

    Returns
    -------
    int
        Position of the first word that is left for votes.
    """
    tables, rounds = simulator.tables, simulator.rounds
    steps = 2 * rounds * (simulator.horizon + 1)  # one word each; then first states and votes

    # Line 3: the perturbed policy.
    for s in range(theta.shape[0]):
        for a in range(theta.shape[1]):
            perturbed[s, a] = theta[s, a] + perturbation.radius * direction[s, a]
    if perturbation.softmax:
        softmax(perturbed, perturbed)
    else:
        project_rows(perturbed, perturbed)

    # Lines 5-7: pairs of trajectories that share their first state.
    require_words(words, steps + rounds)
    for n in range(rounds):
        first = draw(tables.starts, np.uint64(0), words[steps + n], np.uint64(1))
        trajectories.start[2 * n] = trajectories.start[2 * n + 1] = first
    action_thresholds(policy, trajectories.thresholds[0])
    action_thresholds(perturbed, trajectories.thresholds[1])
    sample_returns(tables, trajectories, words, simulator.horizon)
    return steps + rounds


@njit
def paired_trajectories(rounds, states, actions):
    """Lay out the trajectories; the policy and the perturbed one are followed in turn.

    Parameters
    ----------
    rounds, states, actions : int
        N, and the size of the CMDP.

    Returns
    -------
    Trajectories
    """
    trajectories = make_trajectories(2 * rounds, states, actions, 2)
    trajectories.policy[1::2] = 1
    return trajectories


@njit
def unit_direction(normals, tangent, direction):
    """Turn normal numbers into a uniform direction: of the sphere, or of its tangent part.

    Parameters
    ----------
    normals : ndarray, float64, shape (S * A,)
        Standard normal numbers.
    tangent : bool
        Whether rows of the direction shall sum to zero.
    direction : ndarray, float64, shape (S, A)
        Overwritten.

    Raises
    ------
    ValueError
        If there are fewer normal numbers.
    """
    states, actions = direction.shape
    if len(normals) < states * actions:
        raise ValueError("normals: one number for each state and action expected")
    squares = 0.0
    for s in range(states):
        mean = 0.0
        if tangent:
            for a in range(actions):
                mean += normals[s * actions + a] / actions
        part = 0.0  # one sum per state, which does not wait for those of other states
        for a in range(actions):
            direction[s, a] = normals[s * actions + a] - mean
            part += direction[s, a] ** 2
        squares += part
    scale = 1 / np.sqrt(squares)
    for s in range(states):
        for a in range(actions):
            direction[s, a] *= scale
