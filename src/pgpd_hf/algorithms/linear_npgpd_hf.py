r"""NPGPD-HF with features: Algorithm 1 where action values are linear; not of the paper.

In a linear CMDP :math:`Q^{(t)}(s, a) = \phi(s, a) \cdot w`, so that the values of d pairs whose
features span :math:`\mathbb{R}^d`, the *core*, determine all others (Lattimore, Szepesvári and
Weisz 2020, "Learning with good feature representations in bandits and in RL with a generative
model"). With their features in the rows of the matrix C,

.. math:: \hat Q = \Phi C^{-1} x

takes the place of Algorithm 1's advantages, where :math:`x_k` estimates the value of the k-th pair
of the core up to a constant. The constant stays one, since features are shares that sum to one, and
it changes no softmax policy.

In each round :math:`\tau_1` starts with one pair of the core, all in turn from a random one on, and
:math:`\tau_0` from :math:`\rho`; both follow :math:`\pi^{(t)}`. Votes on
:math:`R(\tau_1) - R(\tau_0)` are read as :math:`x_k`, those on :math:`R_g(\tau_0) - b` give the
dual step. With N = d every pair of the core is asked about once in an iteration, in the place of
all :math:`|S||A|` pairs.
"""

import numpy as np
import scipy  # imports its parts when they are used

from pgpd_hf.algorithms.base import PrimalDualHF
from pgpd_hf.core.compilation import njit
from pgpd_hf.core.evaluators import ask, compare
from pgpd_hf.core.sampling import (
    action_thresholds,
    draw,
    make_trajectories,
    require_words,
    sample_returns,
)


class LinearNPGPDHF(PrimalDualHF):
    """Algorithm 1's step, from one pair of the core and three questions per round."""

    name = "linear_npgpd_hf"
    label = "NPGPD-HF (features)"

    def prepare(self, cmdp, optimum, iterations):  # noqa: D102
        run = super().prepare(cmdp, optimum, iterations)
        features = cmdp.feature_matrix
        core = core_pairs(features)
        return run.having(core=core, from_core=features @ np.linalg.inv(features[core]))

    def estimate(self, run, theta, words, normals):  # noqa: D102
        values = np.zeros((len(run.core), 2))
        excess = _estimate(run.simulator, run.core, run.policy(theta), words, values)
        return (run.from_core @ values).T.reshape(2, *theta.shape), excess


def core_pairs(features):
    """Choose pairs whose features span their space and differ much, by a pivoted factorization.

    Parameters
    ----------
    features : ndarray, float64, shape (S * A, d)
        Of rank d.

    Returns
    -------
    ndarray, int64, shape (d,)
        Numbers of pairs, s A + a.

    Examples
    --------
    >>> import numpy as np
    >>> from pgpd_hf.algorithms.linear_npgpd_hf import core_pairs
    >>> sorted(core_pairs(np.array([[0.5, 0.5], [0.0, 1.0], [0.9, 0.1]])).tolist())
    [1, 2]
    """
    _, order = scipy.linalg.qr(features.T, mode="r", pivoting=True)
    return order[: features.shape[1]].astype(np.int64)


@njit
def _estimate(simulator, core, policy, words, values):
    """Add the estimates of both values of the core to zeros, and return that of V_g - b."""
    tables, people, rounds = simulator.tables, simulator.evaluators, simulator.rounds
    states, actions = policy.shape
    trajectories = make_trajectories(2 * rounds, states, actions)
    action_thresholds(policy, trajectories.thresholds[0])
    starts = 2 * rounds * (simulator.horizon + 1)  # one word per step; then first states and votes
    require_words(words, starts + rounds + 3 * rounds)
    # The lower half of a word chooses a state, the upper half of the first one a pair of the core.
    offset = np.int64((words[starts] >> np.uint64(32)) * np.uint64(len(core)) >> np.uint64(32))
    for n in range(rounds):
        pair = core[(offset + n) % len(core)]
        trajectories.start[2 * n] = pair // actions
        trajectories.first_action[2 * n] = pair % actions
        first = draw(tables.starts, np.uint64(0), words[starts + n], np.uint64(1))
        trajectories.start[2 * n + 1] = first
    sample_returns(tables, trajectories, words, simulator.horizon)

    share = len(core) / rounds
    excess = 0.0
    for n in range(rounds):
        vote = starts + rounds + 3 * n
        k = (offset + n) % len(core)
        first, second = trajectories.returns[2 * n], trajectories.returns[2 * n + 1]
        reward, utility = first[0] - second[0], first[1] - second[1]
        values[k, 0] += share * compare(people, reward, utility, words[vote])
        values[k, 1] += share * compare(people, utility, reward, words[vote + 1])
        excess += ask(people, second[1] - simulator.threshold, words[vote + 2]) / rounds
    return excess
