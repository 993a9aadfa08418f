r"""Policies that are best under pessimism about estimated signals: a cone program.

.. math::
   \max_q \langle q, \hat r\rangle - B\,\|q - \nu\|_{\Sigma_r} \quad\text{subject to}\quad
   \langle q, \hat g\rangle - B_g\,\|q\|_{\Sigma_g} \ge b

over occupancy measures q, where :math:`\Sigma` are the covariances of the estimates. The first
norm is B standard deviations of what the estimate says about q beside a reference :math:`\nu`, as
in Zhu, Jordan and Jiao (2023, arXiv 2301.11270); a constant in all rewards, which comparisons leave
open, has no effect on it. Solved by Clarabel, an interior-point method.
"""

import numpy as np
from scipy.linalg import solve_triangular

from pgpd_hf.core.extras import lacking
from pgpd_hf.core.optima import flow, proportional

_ROUNDING = 1e-6  # of values in [0, 1]


def pessimistic(cmdp, reward, utility, pessimism, margin, reference):
    r"""Solve the cone program; if nothing is safe enough, be as safe as possible.

    Parameters
    ----------
    cmdp : CMDP
        Supplies transitions, threshold, scale and :math:`\rho`.
    reward, utility : tuple of ndarray
        Estimate, shape (S, A), and its information matrix, the inverse of its covariance, positive
        definite, shape (S * A, S * A).
    pessimism, margin : float
        :math:`B \ge 0` and :math:`B_g \ge 0`.
    reference : ndarray, float64, shape (S, A)
        :math:`\nu`; scaled to the mass of an occupancy measure.

    Returns
    -------
    policy : ndarray, float64, shape (S, A)
    multiplier : float
        Multiplier of the constraint; infinite if nothing is safe enough, so that the policy is the
        one with the largest :math:`\langle q, \hat g\rangle - B_g \|q\|_{\Sigma_g}`.

    Raises
    ------
    ValueError
        If the solver fails.

    Examples
    --------
    The better of two actions is the one about which little is known.

    >>> import numpy as np
    >>> from pgpd_hf import CMDP
    >>> cmdp = CMDP([[[1.0], [1.0]]], [[0.5, 0.6]], [[0.5, 0.5]], [1.0], 0.0, 0.3)
    >>> reward = cmdp.reward, np.diag([100.0, 1.0])
    >>> utility = cmdp.utility, np.diag([100.0, 100.0])
    >>> for pessimism in (0.0, 1.0):
    ...     policy, _ = pessimistic(cmdp, reward, utility, pessimism, 0.0, np.array([[1.0, 0.0]]))
    ...     print(policy.round(2))
    [[0. 1.]]
    [[1. 0.]]
    """
    # As in pgpd_hf.core.optima: rewards in units of the scale, occupancy of mass one.
    unit, nothing = 1 - cmdp.discount, np.zeros(cmdp.states * cmdp.actions)
    threshold = cmdp.threshold / cmdp.scale * unit
    first = _Part(reward, pessimism, (reference / reference.sum()).ravel(), cmdp.scale)
    second = _Part(utility, margin, nothing, cmdp.scale)
    found = _solve(cmdp, first, second, threshold)
    if found is None:
        policy, _ = _solve(cmdp, second, None, None)
        return policy, np.inf
    return found


class _Part:
    """An estimate minus a multiple of its standard deviation, in scaled units."""

    def __init__(self, estimate, factor, reference, scale):
        signal, information = estimate
        self.signal = signal.ravel() / scale
        factorization = np.linalg.cholesky(information * scale**2)
        root = solve_triangular(factorization, np.eye(len(information)), lower=True)
        self.root, self.offset = factor * root, factor * root @ reference


def _solve(cmdp, objective, constraint, threshold):
    """Maximise one part subject to another one; None if that is infeasible."""
    if lack := lacking("compare", "clarabel"):
        raise ValueError(f"pessimistic_safe_rlhf: {lack}")
    import clarabel  # both are slow to import, and needed here only
    from scipy import sparse

    pairs = cmdp.states * cmdp.actions
    # Variables: q, and the norms of objective and constraint.
    size = pairs + 2
    balance = np.hstack([flow(cmdp), np.zeros((cmdp.states, 2))])
    rows = [balance, np.hstack([-np.eye(pairs), np.zeros((pairs, 2))])]
    sides = [cmdp.initial * (1 - cmdp.discount), np.zeros(pairs)]
    inequalities, cones = pairs, []
    for place, part in enumerate((objective, constraint)):
        row = np.zeros((1, size))
        if part is None:  # its norm is not used: zero
            row[0, pairs + place] = -1
            rows, sides = [*rows, row], [*sides, [0.0]]
            inequalities += 1
            continue
        if part is constraint:
            row[0, :pairs], row[0, -1] = -part.signal, 1
            rows, sides = [*rows, row], [*sides, [-threshold]]
            inequalities += 1
        norm = np.zeros((pairs + 1, size))
        norm[0, pairs + place] = -1
        norm[1:, :pairs] = -part.root
        cones.append((norm, np.concatenate([[0.0], -part.offset])))
    cost = np.zeros(size)
    cost[:pairs], cost[pairs] = -objective.signal, 1
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((size, size)),
        cost,
        sparse.csc_matrix(np.vstack([*rows, *(norm for norm, _ in cones)])),
        np.concatenate([*sides, *(side for _, side in cones)]),
        [
            clarabel.ZeroConeT(cmdp.states),
            clarabel.NonnegativeConeT(inequalities),
            *(clarabel.SecondOrderConeT(pairs + 1) for _ in cones),
        ],
        settings,
    ).solve()
    status = str(solution.status)
    solved = status == "Solved"
    if constraint is not None and not solved:
        # The solver may not recognise what is infeasible by little.
        if "PrimalInfeasible" in status or not _within_reach(cmdp, constraint, threshold):
            return None
    if not solved:
        raise ValueError(f"pessimism: the cone program ended with {status}")
    occupancy = np.maximum(solution.x[:pairs], 0).reshape(cmdp.states, cmdp.actions)
    return proportional(occupancy), float(solution.z[cmdp.states + pairs])


def _within_reach(cmdp, part, threshold):
    """Whether a policy brings the constraint's part above the threshold, by more than rounding."""
    policy, _ = _solve(cmdp, part, None, None)
    occupancy = (1 - cmdp.discount) * (cmdp.state_occupancy(policy)[:, None] * policy).ravel()
    most = part.signal @ occupancy - np.linalg.norm(part.root @ occupancy - part.offset)
    return most > threshold + _ROUNDING
