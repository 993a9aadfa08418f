r"""The paper's two parameterizations of a policy (Section 2), in compiled form.

Softmax: :math:`\pi_\theta(a|s) = e^{\theta_{s,a}} / \sum_{a'} e^{\theta_{s,a'}}`.
Direct: :math:`\pi_\theta(a|s) = \theta_{s,a}`, where each row of :math:`\theta` is a distribution.
"""

import numpy as np

from pgpd_hf.compilation import njit


@njit
def softmax(theta, policy):
    """Write the softmax policy of `theta` (S, A) into `policy`, which may be `theta` itself."""
    for s in range(theta.shape[0]):
        largest = theta[s, 0]
        for a in range(1, theta.shape[1]):
            largest = max(largest, theta[s, a])
        total = 0.0
        for a in range(theta.shape[1]):
            policy[s, a] = np.exp(theta[s, a] - largest)
            total += policy[s, a]
        for a in range(theta.shape[1]):
            policy[s, a] /= total


@njit
def project_rows(theta, projected):
    r"""Project each row of `theta` (S, A) onto the simplex; `projected` may be `theta` itself.

    The projection is :math:`\max(\theta_s - \nu, 0)` with the :math:`\nu` for which it sums to one
    (Held, Wolfe and Crowder 1974): the largest :math:`(\sum_{a \in K} \theta_{s,a} - 1)/|K|` over
    all sets K of largest entries.
    """
    rows, columns = theta.shape
    for s in range(rows):
        shift = _shift_of_few(theta, s) if columns <= 4 else _shift(theta, s)
        for a in range(columns):
            projected[s, a] = max(theta[s, a] - shift, 0.0)


@njit
def _shift(theta, s):
    """Find nu in O(A^2) operations, without the branches of a sort."""
    shift = -np.inf
    for a in range(theta.shape[1]):
        total = -1.0
        count = 0.0
        for other in range(theta.shape[1]):
            counted = 1.0 if theta[s, other] >= theta[s, a] else 0.0
            total += counted * theta[s, other]
            count += counted
        shift = max(shift, total / count)
    return shift


@njit(forceinline=True)
def _shift_of_few(theta, s):
    """Find nu for at most four actions with a sorting network."""
    actions = theta.shape[1]
    a, b, c, d = theta[s, 0], -np.inf, -np.inf, -np.inf
    if actions > 1:
        b = theta[s, 1]
    if actions > 2:
        c = theta[s, 2]
    if actions > 3:
        d = theta[s, 3]
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    two = a + b - 1
    three = two + c
    return max(max(a - 1, two / 2), max(three / 3, (three + d) / 4))


@njit
def unit_direction(normals, tangent, direction):
    """Turn S * A normal numbers into a uniform direction (S, A) of the unit sphere.

    With `tangent`, rows of the direction sum to zero: it is uniform among such directions.
    """
    states, actions = direction.shape
    squares = 0.0
    for s in range(states):
        mean = 0.0
        if tangent:
            for a in range(actions):
                mean += normals[s * actions + a] / actions
        part = 0.0  # a sum for each state, so that none waits for another
        for a in range(actions):
            direction[s, a] = normals[s * actions + a] - mean
            part += direction[s, a] ** 2
        squares += part
    scale = 1 / np.sqrt(squares)
    for s in range(states):
        for a in range(actions):
            direction[s, a] *= scale
