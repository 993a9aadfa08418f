r"""The two parameterizations of the paper (Section 2), and the projection on the simplex.

Softmax: :math:`\pi_\theta(a|s) = e^{\theta_{s,a}} / \sum_{a'} e^{\theta_{s,a'}}`.
Direct: :math:`\pi_\theta(a|s) = \theta_{s,a}` with every row :math:`\theta_s` in the simplex.
"""

import numpy as np

from pgpd_hf._compilation import njit

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
    sum to one; :math:`\nu` is found by sorting (Held, Wolfe and Crowder 1974).

    Parameters
    ----------
    theta : ndarray, float64, shape (S, A)
        Any real numbers.
    projected : ndarray, float64, shape (S, A)
        Overwritten; may be `theta` itself.
    """
    rows, columns = theta.shape
    ordered = np.empty(columns)
    for s in range(rows):
        # Insertion sort, descending: rows are short and there are many of them.
        for a in range(columns):
            value = theta[s, a]
            place = a
            while place > 0 and ordered[place - 1] < value:
                ordered[place] = ordered[place - 1]
                place -= 1
            ordered[place] = value
        total = 0.0
        shift = 0.0
        for count in range(columns):
            total += ordered[count]
            candidate = (total - 1) / (count + 1)
            if ordered[count] - candidate > 0:
                shift = candidate
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
