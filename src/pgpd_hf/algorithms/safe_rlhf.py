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

from pgpd_hf.algorithms.base import HumanFeedback, option, parameterized
from pgpd_hf.core.likelihood import fit, information
from pgpd_hf.core.links import get_link
from pgpd_hf.core.optima import best_for, maximize, proportional
from pgpd_hf.core.planning import primal_dual
from pgpd_hf.core.questions import (
    DESIGNS,
    Answers,
    ask_about,
    compared,
    no_answers,
    require_differences,
    stacked,
)


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


class SafeRLHF(HumanFeedback):
    """Regression, then linear program or NPG-PD."""

    name = "safe_rlhf"
    label = "Safe RLHF (regression)"

    parameterization: str = parameterized("direct")
    design: str = option(
        "uniform",
        "Which pairs are compared: of the uniform policy, of deterministic ones, or NPGPD-HF's.",
        one_of=DESIGNS,
    )
    transitions: str = option(
        "known",
        "Whether P is known, or estimated from the same trajectories.",
        one_of=("known", "estimated"),
    )
    ridge: float = option(
        1.0, "Weight of the prior of rewards, in units of their scale; a uniform has 12.", above=0
    )
    prior_mean: float = option(
        0.5, "Centre of the prior of rewards, in units of their scale.", at_least=0, at_most=1
    )
    planner: str = option(
        "linear-program",
        "How a policy is found: by a linear program, or by NPG-PD with the authors' multipliers.",
        one_of=("linear-program", "npg-pd"),
    )

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        center = np.full(cmdp.states * cmdp.actions, cmdp.scale * self.prior_mean)
        return run.having(center=center)

    def initial_state(self, run, initial_policy=None):  # noqa: D102
        start = super().initial_state(run, initial_policy)
        middle = run.center.reshape(start.theta.shape)
        return Fit(*start, no_answers(*start.theta.shape, 3), middle, middle)

    def update(self, run, state, policy, words, normals):  # noqa: D102
        answers = self.ask(run, state, words, normals)
        reward = self.fit(run, reward_questions(answers), state.reward)
        utility = self.fit(run, utility_questions(answers, run.cmdp.threshold), state.utility)
        state = state._replace(answers=answers, reward=reward, utility=utility)
        policy, multiplier = self.solve(self.as_known(run, answers), state)
        return state._replace(theta=policy, multiplier=min(multiplier, run.multiplier_bound))

    def require_result(self, state):  # noqa: D102
        require_differences(state.answers)

    def ask(self, run, state, words, normals):
        """Put the questions of one iteration.

        Parameters
        ----------
        run, state, words, normals
            As for :meth:`~pgpd_hf.algorithms.Algorithm.update`.

        Returns
        -------
        Answers
            All answers so far.
        """
        return ask_about(run.simulator, self.design, run.cmdp.actions, words, state.answers)

    def as_known(self, run, answers):
        """Put what is known of the transitions in the place of the true ones.

        Parameters
        ----------
        run : Run
            The run.
        answers : Answers
            All answers so far.

        Returns
        -------
        Run
        """
        if self.transitions == "known":
            return run
        return run.having(cmdp=replace(run.cmdp, transition=proportional(answers.steps)))

    def fit(self, run, questions, start):
        r"""Estimate a signal from the answers about it.

        Parameters
        ----------
        run : Run
            The run.
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
        scale, link = run.cmdp.scale, get_link(self.link)
        center, first = run.center / scale, start.ravel() / scale
        found = fit(features * scale, offsets, shares, weights, link, self.ridge, center, first)
        return scale * found.reshape(start.shape)

    def information(self, run, questions, estimate):
        """Information about a signal: of the answers and of the prior.

        Parameters
        ----------
        run : Run
            The run.
        questions : tuple of ndarray
            As for :meth:`fit`.
        estimate : ndarray, float64, shape (S, A)
            Where it is taken.

        Returns
        -------
        ndarray, float64, shape (S * A, S * A)
        """
        features, offsets, _, weights = questions
        link, ridge = get_link(self.link), self.ridge / run.cmdp.scale**2
        return information(features, offsets, weights, link, estimate.ravel(), ridge)

    def solve(self, run, state):
        """Choose the policy, given the estimates.

        Parameters
        ----------
        run : Run
            The run; its CMDP has estimated transitions if they are not known.
        state : Fit
            Holds the estimates, and the answers that they come from.

        Returns
        -------
        policy : ndarray, float64, shape (S, A)
        multiplier : float
            Infinite if no policy seems to be safe.
        """
        cmdp = run.cmdp
        if self.planner == "npg-pd":
            return primal_dual(cmdp, state.reward, state.utility, run.multiplier_bound)
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
    zeros = np.zeros(len(answers.weights))
    return compared(answers), zeros, answers.shares[:, 0], answers.weights


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
    features = stacked(compared(answers), answers.visits[::2])
    offsets = np.repeat([0.0, -threshold], len(answers.weights))
    shares = np.concatenate([answers.shares[:, 1], answers.shares[:, 2]])
    return features, offsets, shares, np.tile(answers.weights, 2)
