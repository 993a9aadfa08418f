r"""The one-step inequality that replaces Lemma:nonmonotone (line 1878; step 3.4).

It has the variance of the estimated advantages, which the printed proof omits (docs/audit.md).
"""

import numpy as np


def oscillations(run):
    r"""Oscillation :math:`\max_s \mathrm{osc}(e^t(s, \cdot))` of the advantages' errors, (T,)."""
    return np.ptp(run.errors(), axis=-1).max(-1)


def one_step(run, start):
    """Terms of the one-step inequality that replaces Lemma:nonmonotone (line 1878), each (T,)."""
    # It holds on every path and for every mu: gain + variance >= logarithm, which are
    # V_L^{t+1}(mu) - V_L^t(mu), eta_1/(8 (1 - gamma)^2) max_s osc(e^t(s, .))^2 and
    # (1 - gamma)/eta_1 E_mu log Z~ of A~ = A^_L - <pi^t, A^_L>. Pinsker's inequality bounds
    # <pi^{t+1} - pi^t, e> by the Kullback-Leibler divergence that the paper's proof drops.
    primal_step, cmdp = run.algorithm.primal_step, run.algorithm.cmdp
    stretch = 1 / (1 - cmdp.discount)
    signals = cmdp.reward, cmdp.utility
    values = [cmdp.state_values(run.policies, signal) @ start for signal in signals]
    gain = run.lagrangian([np.diff(value) for value in values])
    variance = primal_step * stretch**2 / 8 * oscillations(run) ** 2
    step = primal_step * stretch
    return gain, variance, run.log_normalizers(step) @ start / step
