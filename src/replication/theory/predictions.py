r"""Bias and variance of the estimates for finite M and H, predicted without running an algorithm.

Both algorithms use two kinds of estimates. The primal step uses differences of the returns of two
trajectories, the dual step the difference :math:`\hat h_c` of one trajectory's return from
:math:`b`. Truncation after :math:`H + 1` steps removes the tail :math:`\gamma^{H+1} V(s_{H+1})`
from every return. Most of it cancels in the difference of two trajectories and nothing cancels in
:math:`\hat h_c`, so that the dual step underestimates the utility of the policy.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core import optima, streams
from pgpd_hf.core.evaluators import ESTIMATORS, feedback_bias_bound
from pgpd_hf.core.links import get_link
from replication.theory import exact
from replication.theory.records import sample_estimates

_GRID = 201  # differences, where the largest of an error is looked for
_SMALLEST = 1e-12  # probability that a softmax policy gives to actions that are never taken


def truncated_optimum(cmdp, horizon, tolerance=1e-10):
    r"""Optimum under the constraint that the dual step enforces, :math:`V_g^H(\rho) \ge b`.

    This is :math:`V_g \ge b + (V_g - V_g^H)`. The right side depends on the policy, and is found by
    fixed-point iteration.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    horizon : int
        H.
    tolerance : float
        The iteration ends when the threshold changes by less.

    Returns
    -------
    policy : ndarray, float64, shape (S, A)
        The optimal policy; the policy of largest utility if the constraint is infeasible.
    feasible : bool
        Whether the constraint is feasible.

    Examples
    --------
    >>> import pgpd_hf
    >>> cmdp = pgpd_hf.random_cmdp(instance=1)
    >>> policy, feasible = truncated_optimum(cmdp, horizon=10)
    >>> feasible  # no policy earns b in 11 steps
    False
    """
    threshold = cmdp.threshold
    for _ in range(200):
        try:
            policy = optima.solve(replace(cmdp, threshold=threshold)).policy
        except ValueError:
            return optima.maximize(cmdp, cmdp.utility), False
        tightened = cmdp.threshold - exact.truncation_biases(cmdp, policy, horizon)[1]
        if abs(tightened - threshold) <= tolerance:
            break
        threshold = tightened
    return policy, True


def feedback_moments(cmdp, policy, horizon, link, evaluators, count=200):
    r"""Exact moments of an answer's error, averaged over sampled trajectories of a policy.

    Parameters
    ----------
    cmdp : CMDP
        The model.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi(a|s)`.
    horizon : int
        H.
    link : str
        Name of the link function.
    evaluators : list of int or None
        Values of M; None for infinitely many.
    count : int
        Number of rounds of trajectories; the expectation over votes is exact.

    Returns
    -------
    pandas.DataFrame
        A row per M: evaluators (Int64), primal_bias (root mean square of :math:`B_M` over the
        questions of the primal step), primal_square (mean of :math:`S_M`), sampling_square
        (variance of a sampled difference, for comparison), dual_bias and dual_square (means for
        :math:`\hat h_c`), and promised (the paper's :math:`\beta`,
        :func:`~pgpd_hf.core.evaluators.feedback_bias_bound`).
    """
    setting = Setting(evaluators=None, iterations=1, pairs=1, horizon=horizon)
    algorithm = get_algorithm("npgpd_hf")(cmdp, optima.solve(cmdp), setting)
    theta = np.log(np.maximum(policy, _SMALLEST))
    bits = streams.bit_generator(purpose="effects", horizon=horizon)
    # Without votes, answers are the differences that the evaluators are asked about.
    pairs, excess = sample_estimates(algorithm, theta, bits, count)
    kind, bound = get_link(link), cmdp.return_bound(horizon)
    spread = pairs.reshape(count, -1).var(0, ddof=1).mean()
    rows = []
    for m in evaluators:
        primal = exact.feedback_error(pairs.ravel(), m, kind, bound)
        dual = exact.feedback_error(excess, m, kind, bound)
        rows.append(
            {
                "evaluators": m,
                "primal_bias": math.sqrt((primal.bias**2).mean()),
                "primal_square": primal.square.mean(),
                "sampling_square": spread,
                "dual_bias": dual.bias.mean(),
                "dual_square": dual.square.mean(),
                "promised": feedback_bias_bound(m, kind, bound),
            }
        )
    return pd.DataFrame(rows).astype({"evaluators": "Int64"})


def estimator_errors(link, bound, evaluators):
    r"""Largest bias and standard deviation of the answers of each estimator, exactly.

    Both are binomial sums. The largest is taken over a grid of differences in [0, B]; those in
    [-B, 0] have the same errors with the opposite sign, because links are symmetric.

    Parameters
    ----------
    link : str
        Name of the link function.
    bound : float
        :math:`B`, the largest difference; in the paper :math:`G(H)`.
    evaluators : list of int
        Values of M.

    Returns
    -------
    pandas.DataFrame
        A row per estimator and M: estimator ("plug-in" or "unbiased"), evaluators (int64), bias,
        deviation, and promised (the paper's :math:`\beta` for the printed estimator, line 959).
        Where an estimator is refused, it has no row.

    Examples
    --------
    >>> errors = estimator_errors("logistic", 1.0, [16, 64])
    >>> print(errors[["estimator", "evaluators", "bias", "deviation"]].round(4).to_string())
      estimator  evaluators    bias  deviation
    0   plug-in          16  0.2033     0.4955
    1   plug-in          64  0.1052     0.2559
    2  unbiased          16  0.0003     0.5759
    3  unbiased          64  0.0000     0.2832
    """
    kind, differences = get_link(link), np.linspace(0, bound, _GRID)
    rows = []
    for estimator in ESTIMATORS:
        for m in evaluators:
            try:
                error = exact.feedback_error(differences, m, kind, bound, estimator)
            except ValueError:
                continue
            rows.append(
                {
                    "estimator": estimator,
                    "evaluators": m,
                    "bias": np.abs(error.bias).max(),
                    "deviation": math.sqrt((error.square - error.bias**2).max()),
                    "promised": feedback_bias_bound(m, kind, bound),
                }
            )
    return pd.DataFrame(rows)
