r"""Theorem 1 with the variance of the estimated advantages, which its proof omits.

The one-step inequality in this module replaces Lemma:nonmonotone (line 1878), and
:func:`pgpd_hf.theory.bounds.corrected_theorem_1_gap` follows from it (docs/audit.md).
:func:`pgpd_hf.theory.bounds.semi_a_priori_gap` does not need the inequality, and is smaller.
"""

import numpy as np
from scipy import special

from pgpd_hf.algorithms import get_algorithm
from pgpd_hf.core import optima
from pgpd_hf.core.links import get_link
from pgpd_hf.statistics import mean_interval
from pgpd_hf.theory import bounds, exact
from pgpd_hf.theory.certificates import advantage_levels
from pgpd_hf.theory.constants import make_constants
from pgpd_hf.theory.records import record


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


def bias_bounds(cmdp, setting):
    r"""Largest biases of the two estimates of NPGPD-HF, over all policies.

    Truncation changes an advantage and a value by at most :math:`B\gamma^{H+1}`; the bias of an
    answer is at most the largest :math:`|B_M(\Delta)|`, taken on a fine grid.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    setting : Setting
        M, H, link and estimator.

    Returns
    -------
    advantage, excess : float
        :math:`\beta_A` and :math:`\beta_c` of :func:`bounds.corrected_theorem_1_gap`.
    """
    largest = cmdp.return_bound(setting.horizon)
    truncation = cmdp.value_bound - largest
    grids = (
        np.linspace(*ends, 2001)
        for ends in ((-largest, largest), (-cmdp.threshold, largest - cmdp.threshold))
    )
    votes = setting.evaluators, get_link(setting.link), largest, setting.estimator
    return tuple(
        truncation + float(np.abs(exact.feedback_error(grid, *votes).bias).max()) for grid in grids
    )


def corrected_theorem_1(cmdp, setting, seeds, optimum=None):
    r"""Estimate the corrected bounds of NPGPD-HF's average gap from runs.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    setting : Setting
        Any step sizes with :math:`\eta_1 > 0`.
    seeds : iterable of int
        One run each, at least two.
    optimum : Optimum, optional
        Optimum of the CMDP; computed if it is not given.

    Returns
    -------
    dict of float
        `measured`, `low`, `high`: mean over seeds of the average gap, and its 95 % interval;
        `oscillation`: mean of :math:`\max_s\mathrm{osc}(e)^2`; `bound`: the corrected bound;
        `without_variance`: the same without the variance term; `semi_a_priori`: the bound in terms
        of observable quantities; `without_bias`: the same without the biases.
    """
    optimum = optima.solve(cmdp) if optimum is None else optimum
    algorithm = get_algorithm("npgpd_hf")(cmdp, optimum, setting)
    rows = []
    for seed in seeds:
        run = record(algorithm, optimum, seed)
        answered = advantage_levels(run)[-1]
        rows.append(
            (
                optimum.reward_value - cmdp.evaluate(run.policies[:-1])[0].mean(),
                (oscillations(run) ** 2).mean(),
                (np.ptp(answered, axis=-1).max(-1) ** 2).mean(),
                (run.answered_excess**2).mean(),
            )
        )
    measured, low, high = mean_interval([row[0] for row in rows])
    _, noise, oscillation, square = (float(x) for x in np.mean(rows, axis=0))
    steps = algorithm.primal_step, algorithm.dual_step
    constants, biases = make_constants(cmdp, optimum, setting), bias_bounds(cmdp, setting)
    corrected, semi = bounds.corrected_theorem_1_gap, bounds.semi_a_priori_gap
    return {
        "measured": measured,
        "low": low,
        "high": high,
        "oscillation": noise,
        "bound": corrected(constants, *steps, noise, biases),
        "without_variance": corrected(constants, *steps, 0.0, biases),
        "semi_a_priori": semi(constants, *steps, oscillation, square, biases),
        "without_bias": semi(constants, *steps, oscillation, square, (0.0, 0.0)),
    }
