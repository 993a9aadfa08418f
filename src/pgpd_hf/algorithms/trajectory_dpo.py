r"""Direct preference optimisation on trajectories: the policy itself is fitted to comparisons.

After Rafailov et al. (2023, arXiv 2305.18290; 2024, arXiv 2404.12358). The policy that maximises a
reward with an entropy of temperature :math:`\beta` satisfies :math:`\beta\log\pi(a|s) = Q(s, a) -
V(s)` with soft values. Where transitions are deterministic, the discounted sum of these along a
trajectory is its return minus the value of its first state. So the policy is fitted by the largest
Bradley-Terry likelihood of

.. math:: z = \beta \sum_{t} \gamma^t \bigl(\log\pi(a_t|s_t) - \log\pi(a'_t|s'_t)\bigr),

which leaves out the difference of the values of the two first states. Where all votes agree, this
likelihood would make logits grow without bound, so they have a normal prior. Times :math:`\beta`
they stand for advantages, which are at most the largest value; with a ridge of one, that is the
prior's standard deviation.

Where transitions are random, the identity fails, and so does the policy, however many answers there
are. Reward and utility are fitted apart, and their logarithms added with a fixed weight of the
utility, as for several objectives by Zhou et al. (2024, arXiv 2310.03708): the method knows no
threshold, so that it asks no absolute questions.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy  # imports its parts when they are used
from scipy.special import log_softmax

from pgpd_hf.algorithms.base import HumanFeedback, option
from pgpd_hf.core.arguments import located
from pgpd_hf.core.likelihood import NOT_FOUND, log_likelihood, require_maximum
from pgpd_hf.core.links import get_link
from pgpd_hf.core.questions import (
    DESIGNS,
    Answers,
    ask_about,
    compared,
    no_answers,
    require_differences,
)

# The search ends where the gradient, divided by the number of votes and multiplied by the root of
# the temperature, is this small. Smaller gradients change the likelihood by less than its rounding.
_TOLERANCE = 1e-7
_SMOOTH = 0.1  # temperature, in units of the largest value, at which the search begins


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
    ridge: float = option(
        1.0, "Weight of the prior of advantages, in units of the largest value.", above=0
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
            [self.fit(run, differences, answers.shares[:, k], answers.weights) for k in range(2)]
        )
        theta = logits[0] + self.utility_weight * logits[1]
        return state._replace(theta=theta, logits=logits, answers=answers)

    def require_result(self, state):  # noqa: D102
        require_differences(state.answers)

    def fit(self, run, differences, shares, weights):
        """Fit a policy to comparisons.

        Parameters
        ----------
        run : Run
            The run.
        differences : ndarray or scipy.sparse.csr_array, float64, shape (n, S * A)
            Discounted visits of the first trajectory minus those of the second.
        shares, weights : ndarray, float64, shape (n,)
            Shares of votes for the first one, and numbers of votes.

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

        shape, bound, link = run.cmdp.reward.shape, run.cmdp.value_bound, get_link(self.link)

        # In units of the largest value: temperature times logits, which stand for advantages.
        def parts(advantages, temperature):
            logits = log_softmax(advantages.reshape(shape) / temperature, 1)
            z = bound * temperature * (differences @ logits.ravel())
            policy = np.exp(logits)
            centring = scipy.linalg.block_diag(*(np.eye(shape[1]) - chances for chances in policy))
            return policy, centring, log_likelihood(link.code, z, shares, weights)

        def negative(advantages, temperature):
            _, centring, (total, score, _) = parts(advantages, temperature)
            slope = self.ridge * advantages - bound * centring.T @ (differences.T @ score)
            return self.ridge / 2 * advantages @ advantages - total, slope

        def hessian(advantages, temperature):
            policy, centring, (_, score, information) = parts(advantages, temperature)
            fisher = centring.T @ ((differences.T * information) @ differences) @ centring
            # The logarithms of the probabilities are curved themselves.
            bend = policy * (differences.T @ score).reshape(shape).sum(1, keepdims=True)
            likelihood = bound**2 * fisher + bound / temperature * bend.reshape(-1, 1) * centring
            return self.ridge * np.eye(policy.size) + likelihood

        search = {"method": "trust-exact", "jac": True, "hess": hessian}
        # At a low temperature the likelihood has kinks, where searches get stuck: approach it.
        advantages = np.zeros(shape).ravel()
        for steps in range(max(0, math.ceil(math.log10(_SMOOTH / self.temperature))), -1, -1):
            temperature = self.temperature * 10.0**steps
            options = {"gtol": _TOLERANCE / math.sqrt(temperature) * weights.sum()}
            with located(f"temperature: {NOT_FOUND}"):
                found = minimize(negative, advantages, (temperature,), **search, options=options)
                require_maximum(found)
            advantages = found.x
        return log_softmax(advantages.reshape(shape) / self.temperature, 1)
