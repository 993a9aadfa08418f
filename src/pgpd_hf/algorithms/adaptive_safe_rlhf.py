r"""Safe RLHF whose questions depend on earlier answers: posterior sampling.

After Dueling Posterior Sampling (Novoseller et al. 2020, arXiv 1908.01289), with a constraint. The
first iteration asks as Safe RLHF does. In later ones the two trajectories of a pair come from two
policies, each of which is best for a draw of reward and utility from their posterior. So questions
are about policies that may still be the best ones, and about what distinguishes them.

The posterior is Laplace's approximation: normal, with the estimate as its mean and the inverse of
the information, that of the prior included, as its covariance.
"""

import numpy as np

from pgpd_hf.algorithms.base import option
from pgpd_hf.algorithms.safe_rlhf import SafeRLHF, reward_questions, utility_questions
from pgpd_hf.core.questions import ask_about


class AdaptiveSafeRLHF(SafeRLHF):
    """Regression and linear program, with questions about policies that may be best."""

    name = "adaptive_safe_rlhf"
    label = "Safe RLHF, adaptive"
    streams = "safe_rlhf"

    draws: int = option(
        8,
        "Pairs of policies that each later iteration draws; questions use them in turn.",
        at_least=1,
        at_most=1000,
    )

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        return run.having(normals_per_iteration=4 * self.draws * cmdp.states * cmdp.actions)

    def ask(self, run, state, words, normals):  # noqa: D102
        if len(state.answers.weights) == 0:
            return super().ask(run, state, words, normals)
        shape = (2 * self.draws, 2, *state.theta.shape)
        rewards, utilities = self.posterior_draws(run, state, normals.reshape(shape))
        known = self.as_known(run, state.answers)
        policies = [
            self.solve(known, state._replace(reward=reward, utility=utility))[0]
            for reward, utility in zip(rewards, utilities, strict=True)
        ]
        pairs = np.reshape(policies, (self.draws, 2, *state.theta.shape))
        return ask_about(run.simulator, self.design, run.cmdp.actions, words, state.answers, pairs)

    def posterior_draws(self, run, state, normals):
        """Draw rewards and utilities, given all answers so far.

        Parameters
        ----------
        run : Run
            The run.
        state : Fit
            Holds the estimates, and the answers that they come from.
        normals : ndarray, float64, shape (K, 2, S, A)
            Standard normal numbers.

        Returns
        -------
        rewards, utilities : ndarray, float64, shape (K, S, A)
        """
        both = utility_questions(state.answers, run.cmdp.threshold)
        signals = (reward_questions(state.answers), state.reward), (both, state.utility)
        drawn = []
        for k, (questions, estimate) in enumerate(signals):
            # With precision L L', the solution of L' x = z has the covariance (L L')^-1.
            root = np.linalg.cholesky(self.information(run, questions, estimate))
            deviations = np.linalg.solve(root.T, normals[:, k].reshape(len(normals), -1).T)
            drawn.append(estimate + deviations.T.reshape(len(normals), *estimate.shape))
        return tuple(drawn)
