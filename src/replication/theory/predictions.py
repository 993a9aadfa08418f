r"""Bias and variance of the estimates for finite M and H, predicted without running an algorithm.

Both algorithms use two kinds of estimates. The primal step uses differences of the returns of two
trajectories, the dual step the difference :math:`\hat h_c` of one trajectory's return from
:math:`b`. Truncation after :math:`H + 1` steps removes the tail :math:`\gamma^{H+1} V(s_{H+1})`
from every return. Most of it cancels in the difference of two trajectories and nothing cancels in
:math:`\hat h_c`, so that the dual step underestimates the utility of the policy.
"""

import itertools
import math
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd

from pgpd_hf.algorithms.npgpd_hf import NPGPDHF
from pgpd_hf.core import optima, streams
from pgpd_hf.core.evaluators import ESTIMATORS, feedback_bias_bound
from pgpd_hf.core.links import get_link
from replication.theory import exact
from replication.theory.records import sample_estimates

_GRID = 201  # differences, where the largest of an error is looked for
_SMALLEST = 1e-12  # probability that a softmax policy gives to actions that are never taken


def truncated_optimum(cmdp, horizon):
    r"""Optimum, if any, under the constraint that the dual step enforces: :math:`V_g^H \ge b`."""
    # This is V_g >= b + (V_g - V_g^H), whose right side depends on the policy: a fixed point.
    # Without one, the policy is that of largest utility.
    threshold = cmdp.threshold
    for _ in range(200):
        try:
            policy = optima.solve(replace(cmdp, threshold=threshold)).policy
        except ValueError:
            return optima.maximize(cmdp, cmdp.utility), False
        tightened = cmdp.threshold - exact.truncation_biases(cmdp, policy, horizon)[1]
        if abs(tightened - threshold) <= 1e-10:
            break
        threshold = tightened
    return policy, True


def feedback_moments(cmdp, policy, horizon, link, evaluators, count=200):
    """Exact moments of an answer's error by M, averaged over sampled trajectories of a policy."""
    algorithm = NPGPDHF(evaluators=None, horizon=horizon).prepare(cmdp, optima.solve(cmdp), 1)
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
    """Largest bias and standard deviation of the answers of each estimator by M, exactly."""
    # Differences in [-B, 0] have the errors of those in [0, B] with the opposite sign, because
    # links are symmetric. Where an estimator is refused, it has no row.
    kind, differences = get_link(link), np.linspace(0, bound, _GRID)
    rows = []
    for estimator, m in itertools.product(ESTIMATORS, evaluators):
        with suppress(ValueError):
            error = exact.feedback_error(differences, m, kind, bound, estimator)
            deviation = math.sqrt((error.square - error.bias**2).max())
            promised = feedback_bias_bound(m, kind, bound)
            rows.append((estimator, m, np.abs(error.bias).max(), deviation, promised))
    names = ["estimator", "evaluators", "bias", "deviation", "promised"]
    return pd.DataFrame(rows, columns=names)
