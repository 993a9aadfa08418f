"""Safe RLHF with pessimism about the reward and a safety margin for the utility.

Both estimates are lowered by multiples of their standard deviations before the policy is chosen
(:mod:`pgpd_hf.core.pessimism`), which is a cone program instead of a linear one. A policy that is
best by an estimate is more likely one whose utility was overestimated: the margin counters this.
"""

from typing import ClassVar

from pgpd_hf.algorithms.base import option
from pgpd_hf.algorithms.safe_rlhf import SafeRLHF, reward_questions, utility_questions
from pgpd_hf.core.pessimism import pessimistic


class PessimisticSafeRLHF(SafeRLHF):
    """Regression, then a cone program."""

    name = "pessimistic_safe_rlhf"
    label = "Pessimistic safe RLHF"

    planner: ClassVar = "cone-program"  # type: ignore[misc]  # there is no choice
    pessimism: float = option(
        1.0, "Standard deviations by which estimated rewards are lowered.", at_least=0
    )
    margin: float = option(
        1.0, "Standard deviations by which estimated utility is lowered.", at_least=0
    )

    def solve(self, run, state):  # noqa: D102
        comparisons = reward_questions(state.answers)
        both = utility_questions(state.answers, run.cmdp.threshold)
        reward = state.reward, self.information(run, comparisons, state.reward)
        utility = state.utility, self.information(run, both, state.utility)
        reference = state.answers.visits.mean(0).reshape(state.theta.shape)
        return pessimistic(run.cmdp, reward, utility, self.pessimism, self.margin, reference)
