r"""The two parameterizations of the paper (Section 2), and the projection on the simplex.

Softmax: :math:`\pi_\theta(a|s) = e^{\theta_{s,a}} / \sum_{a'} e^{\theta_{s,a'}}`.
Direct: :math:`\pi_\theta(a|s) = \theta_{s,a}` with every row :math:`\theta_s` in the simplex.
"""

import numpy as np

from pgpd_hf.core.compilation import njit

PARAMETERIZATIONS = ("softmax", "direct")


@njit
def softmax(theta, policy):
    """Write the softmax policy of `theta` into `policy`.

    Parameters
    ----------
    theta : ndarray, float64, shape (S, A)
        Parameters, any real numbers.
    policy : ndarray, float64, shape (S, A)
        Overwritten; may be `theta` itself.
    """
    for s in range(theta.shape[0]):
        largest = theta[s].max()
        total = 0.0
        for a in range(theta.shape[1]):
            policy[s, a] = np.exp(theta[s, a] - largest)
            total += policy[s, a]
        for a in range(theta.shape[1]):
            policy[s, a] /= total


@njit
def project_rows(theta, projected):
    r"""Project each row on the probability simplex.

    The Euclidean projection is :math:`\max(\theta_s - \nu, 0)` with the :math:`\nu` that makes it
    sum to one (Held, Wolfe and Crowder 1974). For every set of entries :math:`K`,
    :math:`\sum_K (\theta_{s,a} - \nu) \le 1`, with equality for the support, so that
    :math:`\nu = \max_K (\sum_K \theta_{s,a} - 1)/|K|`, and it is enough to look at the sets of all
    entries that are at least as large as a given one. Nothing is sorted: comparisons that become
    sums do not stall the processor, branches on random numbers do (measured: three
    times as fast for 4 actions, half as fast for 50).

    Parameters
    ----------
    theta : ndarray, float64, shape (S, A)
        Any real numbers.
    projected : ndarray, float64, shape (S, A)
        Overwritten; may be `theta` itself.
    """
    rows, columns = theta.shape
    for s in range(rows):
        shift = -np.inf
        for a in range(columns):
            total = -1.0
            count = 0.0
            for other in range(columns):
                counted = 1.0 if theta[s, other] >= theta[s, a] else 0.0
                total += counted * theta[s, other]
                count += counted
            shift = max(shift, total / count)
        for a in range(columns):
            projected[s, a] = max(theta[s, a] - shift, 0.0)


def uniform_policy(states, actions):
    """Uniform policy, the start of both algorithms.

    Parameters
    ----------
    states, actions : int
        Sizes.

    Returns
    -------
    ndarray, float64, shape (S, A)
    """
    return np.full((states, actions), 1 / actions)
