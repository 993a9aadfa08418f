r"""Safe RLHF with features: reward and utility are linear in them; not of the paper.

The likelihood is that of :math:`r = \Phi w_r` and :math:`g = \Phi w_g`, with the prior on the d
weights in the place of that on :math:`|S||A|` numbers. Since features are shares that sum to one,
equal weights are equal rewards, and the prior's centre stays where it is.
"""

from pgpd_hf.algorithms.safe_rlhf import SafeRLHF


class LinearSafeRLHF(SafeRLHF):
    """Regression on features, then linear program or NPG-PD."""

    name = "linear_safe_rlhf"
    label = "Safe RLHF (features)"

    def fit(self, run, questions, start):  # noqa: D102
        visits, *others = questions
        features = run.cmdp.feature_matrix
        center = run.center[: features.shape[1]]
        weights = super().fit(run.having(center=center), (visits @ features, *others), center)
        return (features @ weights).reshape(start.shape)
