r"""What finitely many people and finite trajectories do to the estimates, without running anything.

Both algorithms learn from two kinds of estimates. The primal step uses differences of returns of
two trajectories, the dual step the difference :math:`\hat h_c` of one trajectory's return from
:math:`b`. Stopping after :math:`H + 1` steps takes the tail :math:`\gamma^{H+1} V(s_{H+1})` off
every return. In a difference of two trajectories most of the tail cancels; in :math:`\hat h_c`
nothing does, so the dual step takes the policy for less safe than it is.
"""

import math
from dataclasses import replace

import numpy as np
import pandas as pd

from pgpd_hf.algorithms import Setting, get_algorithm
from pgpd_hf.core import optima, streams
from pgpd_hf.core.links import get_link
from pgpd_hf.theory import exact

_ALMOST_NEVER = 1e-12  # probability of an action that a policy does not take


def truncation_biases(cmdp, policy, horizon):
    r"""Bias of both kinds of estimates at a policy, from the horizon alone.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi(a|s)`.
    horizon : int
        H.

    Returns
    -------
    primal : float
        :math:`\max_{s,a} |A^H - A|`, the larger of reward and utility.
    dual : float
        :math:`V_g^H(\rho) - V_g(\rho) \le 0`.
    """
    primal = 0.0
    for signal in (cmdp.reward, cmdp.utility):
        values, action_values = exact.finite_horizon_values(cmdp, policy, signal, horizon)
        error = action_values - values[:, None] - cmdp.advantages(policy, signal)
        primal = max(primal, float(np.abs(error).max()))
    # The last signal was the utility.
    return primal, float(cmdp.initial @ values - cmdp.evaluate(policy)[1])


def truncated_optimum(cmdp, horizon, tolerance=1e-10):
    r"""Optimum of the problem that the dual step sees: :math:`V_g^H(\rho) \ge b`.

    That is :math:`V_g \ge b + (V_g - V_g^H)`, whose right side depends on the policy: it is solved
    by repetition.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    horizon : int
        H.
    tolerance : float
        Of the threshold.

    Returns
    -------
    policy : ndarray, float64, shape (S, A)
        Its solution; the safest policy if there is none.
    feasible : bool
        Whether there is a solution.
    """
    threshold = cmdp.threshold
    for _ in range(200):
        try:
            policy = optima.solve(replace(cmdp, threshold=threshold)).policy
        except ValueError:
            return optima.maximize(cmdp, cmdp.utility), False
        tightened = cmdp.threshold - truncation_biases(cmdp, policy, horizon)[1]
        if abs(tightened - threshold) <= tolerance:
            break
        threshold = tightened
    return policy, True


def sampled_differences(cmdp, policy, horizon, count=200):
    r"""What people are asked about at a policy.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi(a|s)`.
    horizon : int
        H.
    count : int
        Rounds of trajectories.

    Returns
    -------
    pairs : ndarray, float64, shape (count * 2 * S * A,)
        :math:`R(\tau(s,a)) - R(\tau(s))` of both signals, as NPGPD-HF asks.
    excess : ndarray, float64, shape (count,)
        :math:`R_g(\tau) - b`.
    """
    setting = Setting(evaluators=None, iterations=1, pairs=1, horizon=horizon)
    process = get_algorithm("npgpd_hf")(cmdp, optima.solve(cmdp), setting)
    theta = np.log(np.maximum(policy, _ALMOST_NEVER))
    bits = streams.bit_generator(purpose="effects", horizon=horizon)
    words = (bits.random_raw(process.words_per_iteration) for _ in range(count))
    answers = [process.estimate(theta, word, np.empty(0)) for word in words]
    return np.concatenate([a[0].ravel() for a in answers]), np.array([a[1] for a in answers])


def feedback_moments(cmdp, policy, horizon, link, crowds, count=200):
    r"""Exact moments of people's error, averaged over sampled trajectories of a policy.

    Parameters
    ----------
    cmdp : CMDP
        The process.
    policy : ndarray, float64, shape (S, A)
        :math:`\pi(a|s)`.
    horizon : int
        H.
    link : str
        Of all questions.
    crowds : list of int or None
        Values of M.
    count : int
        Rounds of trajectories; the votes are summed over exactly.

    Returns
    -------
    pandas.DataFrame
        A row per M: evaluators, primal_bias (root mean square of :math:`B_M` over the questions
        of the primal step), primal_square (mean of :math:`S_M`), sampling_square (variance of a
        sampled difference about its mean, for comparison), dual_bias and dual_square (means for
        :math:`\hat h_c`), and promised (:func:`feedback_scale`).
    """
    pairs, excess = sampled_differences(cmdp, policy, horizon, count)
    kind, bound = get_link(link), cmdp.return_bound(horizon)
    spread = pairs.reshape(count, -1).var(0, ddof=1).mean()
    rows = []
    for people in crowds:
        primal = exact.feedback_error(pairs, people, kind, bound)
        dual = exact.feedback_error(excess, people, kind, bound)
        rows.append(
            {
                "evaluators": math.inf if people is None else people,
                "primal_bias": math.sqrt((primal.bias**2).mean()),
                "primal_square": primal.square.mean(),
                "sampling_square": spread,
                "dual_bias": dual.bias.mean(),
                "dual_square": dual.square.mean(),
                "promised": feedback_scale(people, kind, bound),
            }
        )
    return pd.DataFrame(rows)


def feedback_scale(evaluators, link, bound):
    r"""The paper's bound of people's bias (line 959), :math:`L\sqrt{2 \log M/M} + 2 G(H)/M^2`.

    Parameters
    ----------
    evaluators : int or None
        M.
    link : Link
        Supplies L.
    bound : float
        :math:`G(H)`.

    Returns
    -------
    float
        Zero for infinitely many.
    """
    if evaluators is None:
        return 0.0
    lipschitz = link.inverse_lipschitz(bound)
    return lipschitz * math.sqrt(2 * math.log(evaluators) / evaluators) + 2 * bound / evaluators**2
