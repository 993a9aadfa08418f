r"""Safe RLHF, tabular: infer reward and utility from all answers, then solve for the policy.

After Dai et al. (2023, arXiv 2310.12773). The reward has the largest Bradley-Terry likelihood of
the comparisons; the utility that of comparisons and absolute answers together, which is their cost
loss term by term with the cost :math:`C = b - R_g`. The policy solves the linear program of these
estimates; where they say that no policy is safe, it is the one of largest estimated utility. As an
option, it comes from NPG-PD on the estimates, with their rule for the multiplier.

An iteration puts the three questions about each of N pairs of trajectories, which a design chooses
in advance (:mod:`pgpd_hf.core.questions`), and fits a policy to all answers so far.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pgpd_hf.algorithms.base import Algorithm
from pgpd_hf.core.evaluators import make_simulator
from pgpd_hf.core.likelihood import fit, information
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import best_for, maximize, proportional
from pgpd_hf.core.planning import primal_dual
from pgpd_hf.core.questions import Answers, ask_about, no_answers, require_differences


class Fit(NamedTuple):
    r"""State of a method that learns from all answers so far.

    Attributes
    ----------
    theta, multiplier, iteration
        As of :class:`~pgpd_hf.algorithms.State`; the parameter is the policy.
    answers : Answers
        All answers so far.
    reward, utility : ndarray, float64, shape (S, A)
        Estimates of :math:`r` and :math:`g`; comparisons leave a constant of the reward open.
    """

    theta: np.ndarray
    multiplier: float
    iteration: int
    answers: Answers
    reward: np.ndarray
    utility: np.ndarray


class SafeRLHF(Algorithm):
    """Regression, then linear program or NPG-PD."""

    name = "safe_rlhf"
    label = "Safe RLHF (regression)"
    parameterizations = ("direct",)
    options = ("design", "transitions", "ridge", "prior_mean", "planner")
    has_steps = False

    def __init__(self, cmdp, optimum, setting):
        super().__init__(cmdp, optimum, setting)
        self.simulator = make_simulator(cmdp, setting)
        self.link = get_link(setting.link)
        self.center = np.full(cmdp.states * cmdp.actions, cmdp.scale * setting.prior_mean)
        self.ridge = setting.ridge / cmdp.scale**2

    @staticmethod
    def effort(states, actions, rounds):  # noqa: D102
        return 2 * rounds, 3 * rounds

    def initial_state(self, initial_policy=None):  # noqa: D102
        start = super().initial_state(initial_policy)
        middle = self.center.reshape(start.theta.shape)
        return Fit(*start, no_answers(*start.theta.shape, 3), middle, middle)

    def update(self, state, policy, words, normals):  # noqa: D102
        design, actions = self.setting.design, self.cmdp.actions
        answers = ask_about(self.simulator, design, actions, words, state.answers)
        state = state._replace(
            answers=answers,
            reward=self.fit(reward_questions(answers), state.reward),
            utility=self.fit(utility_questions(answers, self.cmdp.threshold), state.utility),
        )
        cmdp = self.cmdp
        if self.setting.transitions == "estimated":
            cmdp = replace(cmdp, transition=proportional(answers.steps))
        policy, multiplier = self.solve(cmdp, state)
        return state._replace(theta=policy, multiplier=min(multiplier, self.multiplier_bound))

    def require_result(self, state):  # noqa: D102
        require_differences(state.answers)

    def fit(self, questions, start):
        r"""Estimate a signal from the answers about it.

        Parameters
        ----------
        questions : tuple of ndarray
            Features, offsets, shares and weights of :func:`pgpd_hf.core.likelihood.fit`.
        start : ndarray, float64, shape (S, A)
            An earlier estimate, where the search begins.

        Returns
        -------
        ndarray, float64, shape (S, A)
        """
        # In units of the scale, so that the search stops at the same precision whatever it is.
        features, offsets, shares, weights = questions
        scale = self.cmdp.scale
        found = fit(
            features * scale,
            offsets,
            shares,
            weights,
            self.link,
            self.setting.ridge,
            self.center / scale,
            start.ravel() / scale,
        )
        return scale * found.reshape(start.shape)

    def information(self, questions, estimate):
        """Information about a signal: of the answers and of the prior.

        Parameters
        ----------
        questions : tuple of ndarray
            As for :meth:`fit`.
        estimate : ndarray, float64, shape (S, A)
            Where it is taken.

        Returns
        -------
        ndarray, float64, shape (S * A, S * A)
        """
        features, offsets, _, weights = questions
        return information(features, offsets, weights, self.link, estimate.ravel(), self.ridge)

    def solve(self, cmdp, state):
        """Choose the policy, given the estimates.

        Parameters
        ----------
        cmdp : CMDP
            The CMDP, with estimated transitions if they are not known.
        state : Fit
            Holds the estimates, and the answers that they come from.

        Returns
        -------
        policy : ndarray, float64, shape (S, A)
        multiplier : float
            Infinite if no policy seems to be safe.
        """
        if self.setting.planner == "npg-pd":
            return primal_dual(cmdp, state.reward, state.utility, self.multiplier_bound)
        found = best_for(cmdp, state.reward, state.utility)
        return found or (maximize(cmdp, state.utility), np.inf)


def reward_questions(answers):
    """Comparisons of reward as a regression.

    Parameters
    ----------
    answers : Answers
        All answers.

    Returns
    -------
    features, offsets, shares, weights : ndarray
        As for :func:`pgpd_hf.core.likelihood.fit`.
    """
    differences = answers.visits[:, 0] - answers.visits[:, 1]
    return differences, np.zeros(len(differences)), answers.shares[:, 0], answers.weights


def utility_questions(answers, threshold):
    """Comparisons of utility and absolute answers as one regression.

    Parameters
    ----------
    answers : Answers
        All answers.
    threshold : float
        b, what an absolute answer compares a return with.

    Returns
    -------
    features, offsets, shares, weights : ndarray
        As for :func:`pgpd_hf.core.likelihood.fit`.
    """
    first, second = answers.visits[:, 0], answers.visits[:, 1]
    offsets = np.repeat([0.0, -threshold], len(first))
    shares = np.concatenate([answers.shares[:, 1], answers.shares[:, 2]])
    return np.concatenate([first - second, first]), offsets, shares, np.tile(answers.weights, 2)
