r"""The one-step inequality that replaces Lemma:nonmonotone (line 1878; step 3.4).

It has the variance of the estimated advantages, which the printed proof omits (docs/audit.md).
"""

import numpy as np
from scipy import special

from replication.theory.certificates import advantage_levels


def oscillations(run):
    r"""Oscillation :math:`\max_s \mathrm{osc}(e^t(s, \cdot))` of the advantages' errors.

    Parameters
    ----------
    run : Record
        A run of NPGPD-HF.

    Returns
    -------
    ndarray, float64, shape (T,)
        Largest minus smallest entry of :math:`\hat A_L - A_L` in the worst state.
    """
    exact_advantages, _, _, answered = advantage_levels(run)
    return np.ptp(answered - exact_advantages, axis=-1).max(-1)


def one_step(run, start):
    r"""Terms of the one-step inequality that replaces Lemma:nonmonotone (line 1878).

    It holds on every path and for every :math:`\mu`: with :math:`\tilde A = \hat A_L -
    \langle\pi^t, \hat A_L\rangle`, :math:`V_L^{t+1}(\mu) - V_L^t(\mu) +
    \frac{\eta_1}{8(1-\gamma)^2}\max_s \mathrm{osc}(e^t(s,\cdot))^2 \ge
    \frac{1-\gamma}{\eta_1}E_\mu\log\tilde Z`. (Pinsker's
    inequality bounds :math:`\langle\pi^{t+1}-\pi^t, e\rangle` by the Kullback-Leibler divergence
    that the paper's proof drops.)

    Parameters
    ----------
    run : Record
        A run of NPGPD-HF.
    start : ndarray, float64, shape (S,)
        :math:`\mu`.

    Returns
    -------
    gain, variance, logarithm : ndarray, float64, shape (T,)
        The three terms in the order of the formula; `gain + variance >= logarithm`.
    """
    primal_step, cmdp = run.algorithm.primal_step, run.algorithm.cmdp
    stretch = 1 / (1 - cmdp.discount)
    signals = cmdp.reward, cmdp.utility
    values = [cmdp.state_values(run.policies, signal) @ start for signal in signals]
    gain = run.lagrangian([np.diff(value) for value in values])
    variance = primal_step * stretch**2 / 8 * oscillations(run) ** 2
    answered = run.lagrangian(run.answered)
    centred = answered - (run.policies[:-1] * answered).sum(-1, keepdims=True)
    logarithms = special.log_softmax(run.thetas[:-1], axis=-1)
    normalizer = special.logsumexp(logarithms + primal_step * stretch * centred, axis=-1)
    return gain, variance, normalizer @ start / (primal_step * stretch)
