"""Safe RLHF with pessimism about the reward and a safety margin for the utility.

Both estimates are lowered by multiples of their standard deviations before the policy is chosen
(:mod:`pgpd_hf.core.pessimism`), which is a cone program instead of a linear one. A policy that is
best by an estimate is more likely one whose utility was overestimated: the margin counters this.
"""

from pgpd_hf.algorithms.safe_rlhf import SafeRLHF, reward_questions, utility_questions
from pgpd_hf.core.pessimism import pessimistic


class PessimisticSafeRLHF(SafeRLHF):
    """Regression, then a cone program."""

    name = "pessimistic_safe_rlhf"
    label = "Pessimistic safe RLHF"
    options = ("design", "transitions", "ridge", "prior_mean", "pessimism", "margin")

    def solve(self, cmdp, state):  # noqa: D102
        comparisons = reward_questions(state.answers)
        both = utility_questions(state.answers, cmdp.threshold)
        return pessimistic(
            cmdp,
            (state.reward, self.information(comparisons, state.reward)),
            (state.utility, self.information(both, state.utility)),
            self.setting.pessimism,
            self.setting.margin,
            state.answers.visits.mean((0, 1)).reshape(state.theta.shape),
        )
