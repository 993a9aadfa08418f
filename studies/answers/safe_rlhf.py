r"""Safe RLHF, tabular: infer reward and utility from all answers, then plan with them.

After Dai et al. (2023, arXiv 2310.12773). The reward r has the largest likelihood by Bradley and
Terry of the comparisons, their equation (6). The utility g has that of comparisons and of the
answers whether a trajectory is harmless enough together, which is their cost loss, equation (7),
term by term with the cost :math:`C = b - R_g`. Both have a ridge, since comparisons leave
directions open. Then the policy is chosen for these estimates, equation (9): here by the linear
program of the constrained problem, which needs the transitions; they take PPO with a multiplier.
Where the estimates say that no policy is safe, it is the policy of largest estimated utility.
"""

import numpy as np
from scipy.optimize import linprog

from pgpd_hf.likelihood import fit
from pgpd_hf.optimum import maximize, proportional

_PRIOR_MEAN = 0.5  # of rewards and utilities, in units of their scale
_INFEASIBLE = 2  # status of a linear program
_TOLERANCES = {f"{kind}_feasibility_tolerance": 1e-10 for kind in ("primal", "dual")}


def learn(cmdp, answers, ridge):
    """Policy (S, A) from answers; of the CMDP only transitions, rho and b are used, and the scale.

    `ridge` is the weight of the prior in units of the scale; that of a uniform distribution is 12.
    """
    reward = estimate(cmdp, *reward_questions(answers), ridge)
    utility = estimate(cmdp, *utility_questions(answers, cmdp.threshold), ridge)
    return plan(cmdp, reward, utility)


def reward_questions(answers):
    """Comparisons of reward as a regression: features, votes, numbers of votes, offsets."""
    zeros = np.zeros(len(answers.votes))
    return answers.differences, answers.votes[:, 0], answers.numbers, zeros


def utility_questions(answers, threshold):
    """Comparisons of utility and answers about harmlessness as one regression."""
    features = np.concatenate([answers.differences, answers.visits[::2]])
    votes = np.concatenate([answers.votes[:, 1], answers.votes[:, 2]])
    offsets = np.repeat([0.0, -threshold], len(answers.votes))
    return features, votes, np.tile(answers.numbers, 2), offsets


def estimate(cmdp, features, votes, numbers, offsets, ridge):
    """Signal (S, A) of largest likelihood."""
    # In units of the scale, so that the search stops at the same precision whatever it is.
    prior = np.full(cmdp.reward.size, _PRIOR_MEAN)
    found = fit(features * cmdp.scale, votes, numbers, "logistic", ridge, prior, offsets)
    return cmdp.scale * found.reshape(cmdp.reward.shape)


def plan(cmdp, reward, utility):
    """Policy (S, A) that is best for estimates, by the linear program over occupancy measures."""
    mass = 1 / (1 - cmdp.discount)
    stay = np.repeat(np.eye(cmdp.states), cmdp.actions, axis=0)  # (S * A, S)
    result = linprog(
        c=-reward.ravel() / cmdp.scale,
        A_ub=-utility.reshape(1, -1) / cmdp.scale,
        b_ub=[-cmdp.threshold / cmdp.scale / mass],
        A_eq=(stay - cmdp.discount * cmdp.transition.reshape(-1, cmdp.states)).T,
        b_eq=cmdp.initial / mass,
        method="highs",
        options=_TOLERANCES,
    )
    if result.status == 0:
        return proportional(np.maximum(result.x, 0).reshape(reward.shape))
    safest = maximize(cmdp, utility)
    most = cmdp.initial @ cmdp.state_values(safest, utility)
    if result.status != _INFEASIBLE and most >= cmdp.threshold:
        raise ValueError(
            f"ridge: another one expected; the linear program failed: {result.message}"
        )
    return safest
