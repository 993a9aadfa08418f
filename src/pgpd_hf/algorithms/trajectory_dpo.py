r"""Direct preference optimisation on trajectories: the policy itself is fitted to comparisons.

After Rafailov et al. (2023, arXiv 2305.18290; 2024, arXiv 2404.12358). The policy that maximises a
reward with an entropy of temperature :math:`\beta` satisfies :math:`\beta\log\pi(a|s) = Q(s, a) -
V(s)` with soft values. Where transitions are deterministic, the discounted sum of these along a
trajectory is its return minus the value of its first state. So the policy is fitted by the largest
Bradley-Terry likelihood of

.. math:: z = \beta \sum_{t} \gamma^t \bigl(\log\pi(a_t|s_t) - \log\pi(a'_t|s'_t)\bigr),

which leaves out the difference of the values of the two first states.

Where transitions are random, the identity fails, and so does the policy, however many answers there
are. Reward and utility are fitted apart, and their logarithms added with a fixed weight of the
utility, as for several objectives by Zhou et al. (2024, arXiv 2310.03708): the method knows no
threshold, so that it asks no absolute questions.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax, softmax

from pgpd_hf.algorithms.base import HumanFeedback, option
from pgpd_hf.core.likelihood import log_likelihood
from pgpd_hf.core.links import get_link
from pgpd_hf.core.questions import (
    DESIGNS,
    Answers,
    ask_about,
    compared,
    no_answers,
    require_differences,
)

# Gradients of the mean log-likelihood: the search ends at the first. If rounding ends it before,
# the second is small enough.
_SOUGHT, _ENOUGH = 1e-7, 1e-4


class Preferred(NamedTuple):
    r"""State of direct preference optimisation.

    Attributes
    ----------
    theta, multiplier, iteration
        As of :class:`~pgpd_hf.algorithms.State`; the multiplier stays zero.
    answers : Answers
        All answers so far.
    logits : ndarray, float64, shape (2, S, A)
        Logits of the policies that are fitted to reward and to utility.
    """

    theta: np.ndarray
    multiplier: float
    iteration: int
    answers: Answers
    logits: np.ndarray


class TrajectoryDPO(HumanFeedback):
    """Policies fitted to comparisons."""

    name = "trajectory_dpo"
    label = "Trajectory DPO"

    design: str = option(
        "uniform",
        "Which pairs are compared: of the uniform policy, of deterministic ones, or NPGPD-HF's.",
        one_of=DESIGNS,
    )
    temperature: float = option(
        0.01, "Temperature of the entropy, in units of the largest value.", above=0
    )
    utility_weight: float = option(1.0, "Weight of utility beside reward.", at_least=0)

    @staticmethod
    def effort(states, actions, rounds):  # noqa: D102
        return 2 * rounds, 2 * rounds

    def initial_state(self, run, initial_policy=None):  # noqa: D102
        start = super().initial_state(run, initial_policy)
        shape = start.theta.shape
        return Preferred(*start, no_answers(*shape, 2), np.zeros((2, *shape)))

    def update(self, run, state, policy, words, normals):  # noqa: D102
        answers = ask_about(run.simulator, self.design, run.cmdp.actions, words, state.answers)
        differences = compared(answers)
        logits = np.stack(
            [
                self.fit(run, differences, answers.shares[:, k], answers.weights, state.logits[k])
                for k in range(2)
            ]
        )
        theta = logits[0] + self.utility_weight * logits[1]
        return state._replace(theta=theta, logits=logits, answers=answers)

    def require_result(self, state):  # noqa: D102
        require_differences(state.answers)

    def fit(self, run, differences, shares, weights, start):
        """Fit a policy to comparisons.

        Parameters
        ----------
        run : Run
            The run.
        differences : ndarray, float64, shape (n, S * A)
            Discounted visits of the first trajectory minus those of the second.
        shares, weights : ndarray, float64, shape (n,)
            Shares of votes for the first one, and numbers of votes.
        start : ndarray, float64, shape (S, A)
            Logits where the search begins.

        Returns
        -------
        ndarray, float64, shape (S, A)
            Logarithms of the policy's probabilities.

        Raises
        ------
        ValueError
            If the search does not converge.
        """
        from scipy.optimize import minimize  # slow to import, and needed here only

        link, temperature = get_link(self.link), self.temperature * run.cmdp.value_bound
        weights = weights / weights.sum()
        # If the few votes all agree with a policy, its logits would grow without bound. Temperature
        # times logarithm stands for an advantage, which is at most the largest value.
        largest = 1 / self.temperature
        centred = np.clip(start - start.mean(1, keepdims=True), -largest, largest)

        def negative(theta):
            logits = theta.reshape(start.shape)
            z = temperature * (differences @ log_softmax(logits, 1).ravel())
            total, score = log_likelihood(link, z, shares, weights)
            slope = temperature * (differences.T @ score).reshape(start.shape)
            slope -= softmax(logits, 1) * slope.sum(1, keepdims=True)
            return -total, -slope.ravel()

        found = minimize(
            negative,
            centred.ravel(),
            method="L-BFGS-B",
            jac=True,
            bounds=[(-largest, largest)] * start.size,
            options={
                "gtol": _SOUGHT,
                "ftol": 1e-13,
                "maxiter": 5000,
                "maxfun": 10000,
                "maxcor": 30,
            },
        )
        left = found.x - np.clip(found.x - found.jac, -largest, largest)  # projected gradient
        if not (found.success or np.abs(left).max() < _ENOUGH):
            raise ValueError(f"temperature: {len(shares)} comparisons: {found.message}")
        return log_softmax(found.x.reshape(start.shape), 1)
