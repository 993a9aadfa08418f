r"""ZPGPD-HF: zeroth-order policy gradient primal-dual method from human feedback.

Algorithm 2 of the paper, direct parameterization. In each iteration people compare trajectories of
the policy and of a randomly perturbed one; the inverse link of their votes, along the direction of
the perturbation, estimates the gradient. Line numbers in comments are those of Algorithm 2.

What the paper leaves open and the options decide: :math:`\theta + \mu v` is no policy in general
(direct parameterization: each row is projected on the simplex before it is followed); the
directions ("sphere": uniform on the unit sphere of :math:`\mathbb{R}^d`, as written; "tangent":
of the subspace in which rows sum to zero, with that subspace's dimension in place of d); and the
softmax parameterization, under which nothing needs to be projected.
"""

import math
from typing import NamedTuple

import numpy as np

from pgpd_hf.algorithms.base import Algorithm
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import Crowd, ask, make_crowd
from pgpd_hf.core.links import get_link
from pgpd_hf.core.policies import project_rows, softmax
from pgpd_hf.core.sampling import (
    FREE,
    Tables,
    action_thresholds,
    draw,
    make_tables,
    sample_returns,
)


class ZPGPDHF(Algorithm):
    """Algorithm 2; step sizes and perturbation radius of Theorem 2."""

    name = "zpgpd_hf"
    label = "ZPGPD-HF"
    parameterizations = ("direct", "softmax")
    options = ("perturbation", "directions")

    def __init__(self, cmdp, optimum, setting):
        super().__init__(cmdp, optimum, setting)
        dimension = cmdp.states * cmdp.actions
        self.normals_per_iteration = dimension
        tangent = setting.directions == "tangent"
        if tangent and cmdp.actions == 1:
            raise ValueError("directions: with one action there is no tangent direction")
        link, bound = get_link(setting.link), cmdp.return_bound(setting.horizon)
        perturbation = setting.perturbation
        if perturbation is None:
            perturbation = theorem_perturbation(
                cmdp.discount, setting.horizon, setting.evaluators, link, bound
            )
            if not 0 < perturbation < math.inf:
                raise ValueError(
                    f"perturbation: that of Theorem 2 is {perturbation} here; a positive number "
                    "has to be given"
                )
        self.survey = Survey(
            make_tables(cmdp),
            make_crowd(setting.evaluators, link, bound),
            setting.pairs,
            setting.horizon,
            cmdp.threshold,
            dimension - cmdp.states if tangent else dimension,
            float(perturbation),
            tangent,
            self.parameterization == "softmax",
        )

    @staticmethod
    def effort(states, actions, pairs):  # noqa: D102
        return 2 * pairs, 3 * pairs

    @staticmethod
    def theorem_steps(cmdp, optimum, iterations):  # noqa: D102
        states, actions, discount = cmdp.states, cmdp.actions, cmdp.discount
        visitation = (1 - discount) * cmdp.state_occupancy(optimum.policy)
        with np.errstate(divide="ignore", invalid="ignore"):
            mismatch = np.nanmax(visitation / cmdp.initial)  # ||d*/rho||, infinite off rho
        curvature = 2 * actions * (1 + 2 / optimum.slack) / (1 - discount) ** 4
        return 1 / curvature, 4 * states * curvature * mismatch**2 / math.sqrt(iterations)

    def estimate(self, theta, words, normals):  # noqa: D102
        estimates = np.empty((2, *theta.shape))
        direction = np.array(normals).reshape(theta.shape)
        _normalize(direction, self.survey.tangent)
        slopes = _estimate(
            self.survey, theta, self.policy(theta), direction, words, _workspace(self.survey, theta)
        )
        scale = self.survey.dimension / self.survey.perturbation
        estimates[0] = scale * slopes[0] * direction
        estimates[1] = scale * slopes[1] * direction
        return estimates, slopes[2]

    def advance(self, theta, multiplier, words, normals):  # noqa: D102
        return _advance(
            self.survey,
            theta,
            multiplier,
            words,
            normals,
            self.primal_step,
            self.dual_step,
            self.multiplier_bound,
        )


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
        Supplies :math:`L`.
    bound : float
        Largest return, the paper's :math:`G(H)`.

    Returns
    -------
    float
        :math:`\mu` with :math:`\mu^2 = \max\{2\gamma^H/(1-\gamma),
        L\sqrt{2 \log M / M} + 2 G(H) / M^2\}`.
    """
    truncation = 2 * discount**horizon / (1 - discount)
    feedback = 0.0
    if evaluators is not None:
        lipschitz = link.inverse_lipschitz(bound)
        feedback = lipschitz * math.sqrt(2 * math.log(evaluators) / evaluators)
        feedback += 2 * bound / evaluators**2
    return math.sqrt(max(truncation, feedback))


class Survey(NamedTuple):
    """Whom to ask, and about what.

    Attributes
    ----------
    tables : Tables
        Of the process.
    crowd : Crowd
        The evaluators.
    rounds : int
        N.
    horizon : int
        H.
    threshold : float
        b.
    dimension : int
        d, of the sphere that directions come from.
    perturbation : float
        mu.
    tangent, softmax : bool
        Whether directions are tangent to the simplex, and policies are softmax.
    """

    tables: Tables
    crowd: Crowd
    rounds: int
    horizon: int
    threshold: float
    dimension: int
    perturbation: float
    tangent: bool
    softmax: bool


class Workspace(NamedTuple):
    """Arrays that iterations reuse; K = 2 N trajectories per iteration."""

    perturbed: np.ndarray  # (S, A), float64
    thresholds: np.ndarray  # (2, S, A), uint64
    followed: np.ndarray  # (K,), uint64
    start: np.ndarray  # (K,), uint64
    first_action: np.ndarray  # (K,), int64
    returns: np.ndarray  # (K, 2), float64


@njit
def _advance(survey, theta, multiplier, words, normals, primal_step, dual_step, multiplier_bound):
    states, actions = theta.shape
    policies = np.empty((len(words), states, actions))
    multipliers = np.empty(len(words))
    work = _workspace(survey, theta)
    for t in range(len(words)):  # line 1
        if survey.softmax:
            softmax(theta, policies[t])
        else:
            policies[t] = theta
        multipliers[t] = multiplier
        # Line 2: a uniform direction.
        direction = normals[t].copy().reshape(states, actions)
        _normalize(direction, survey.tangent)
        # Lines 3-15: people estimate the slope of both values along it, and V_g - b.
        reward_slope, utility_slope, excess = _estimate(
            survey, theta, policies[t], direction, words[t], work
        )
        # Line 16: projected gradient step on the Lagrangian.
        slope = survey.dimension / survey.perturbation * (reward_slope + multiplier * utility_slope)
        for s in range(states):
            for a in range(actions):
                theta[s, a] += primal_step * slope * direction[s, a]
        if not survey.softmax:
            project_rows(theta, theta)
        # Line 17: projected dual step.
        multiplier = min(max(multiplier - dual_step * excess, 0.0), multiplier_bound)
    return policies, multipliers, multiplier


@njit
def _estimate(survey, theta, policy, direction, word, work):
    """Lines 3-15: differences of both returns along a direction, and of V_g from b."""
    rounds = survey.rounds
    steps = 2 * rounds * (survey.horizon + 1)

    # Line 3: the perturbed policy.
    for s in range(theta.shape[0]):
        for a in range(theta.shape[1]):
            work.perturbed[s, a] = theta[s, a] + survey.perturbation * direction[s, a]
    if survey.softmax:
        softmax(work.perturbed, work.perturbed)
    else:
        project_rows(work.perturbed, work.perturbed)

    # Lines 5-7: pairs of trajectories that share their first state.
    for n in range(rounds):
        first = draw(survey.tables.starts, np.uint64(0), word[steps + n], np.uint64(1))
        work.start[2 * n] = work.start[2 * n + 1] = first
    action_thresholds(policy, work.thresholds[0])
    action_thresholds(work.perturbed, work.thresholds[1])
    moves = word[:steps].reshape(survey.horizon + 1, 2 * rounds)
    sample_returns(
        survey.tables,
        work.thresholds,
        work.followed,
        work.start,
        work.first_action,
        moves,
        work.returns,
    )

    # Lines 8-12, 14 and 15: votes, clipped frequencies, and the means of their inverse links.
    crowd = survey.crowd
    reward_slope = 0.0
    utility_slope = 0.0
    excess = 0.0
    vote = steps + rounds
    for n in range(rounds):
        base, other = work.returns[2 * n], work.returns[2 * n + 1]
        reward_slope += ask(crowd, other[0] - base[0], word[vote]) / rounds
        utility_slope += ask(crowd, other[1] - base[1], word[vote + 1]) / rounds
        excess += ask(crowd, base[1] - survey.threshold, word[vote + 2]) / rounds
        vote += 3
    return reward_slope, utility_slope, excess


@njit
def _workspace(survey, theta):
    """Make the arrays; trajectories follow the policy and the perturbed one in turn."""
    states, actions = theta.shape
    trajectories = 2 * survey.rounds
    return Workspace(
        np.empty((states, actions)),
        np.empty((2, states, actions), np.uint64),
        np.arange(trajectories).astype(np.uint64) % np.uint64(2),
        np.empty(trajectories, np.uint64),
        np.full(trajectories, FREE),
        np.empty((trajectories, 2)),
    )


@njit
def _normalize(direction, tangent):
    """Turn normal numbers into a uniform direction of the sphere, or of its tangent part."""
    squares = 0.0
    for s in range(direction.shape[0]):
        mean = direction[s].mean() if tangent else 0.0
        for a in range(direction.shape[1]):
            direction[s, a] -= mean
            squares += direction[s, a] ** 2
    scale = 1 / np.sqrt(squares)
    for s in range(direction.shape[0]):
        for a in range(direction.shape[1]):
            direction[s, a] *= scale
