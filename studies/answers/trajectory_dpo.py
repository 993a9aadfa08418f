r"""Direct preference optimisation on trajectories: the policy itself is fitted to comparisons.

After Rafailov et al. (2023, arXiv 2305.18290; 2024, arXiv 2404.12358). The policy that maximises a
reward with an entropy of temperature :math:`\beta` satisfies :math:`\beta\log\pi(a|s) = Q(s, a) -
V(s)` with soft values. Where transitions are deterministic, the discounted sum of these along a
trajectory is its return minus the value of its first state. So the policy is fitted by the largest
likelihood by Bradley and Terry of

.. math:: z = \beta \sum_{t} \gamma^t \bigl(\log\pi(a_t|s_t) - \log\pi(a'_t|s'_t)\bigr),

which leaves out the difference of the values of the two first states. Where all votes agree, this
likelihood would make logits grow without bound, so they have a normal prior. Times :math:`\beta`
they stand for advantages, which are at most the largest value: that is the standard deviation.

Where transitions are random, the identity fails, and so does the policy, however many answers there
are. Reward and utility are fitted apart, and their logarithms added with a fixed weight of the
utility, as for several objectives by Zhou et al. (2024, arXiv 2310.03708): the method knows neither
transitions nor a threshold, so it does not ask whether a trajectory is harmless enough.
"""

import math

import numpy as np
from scipy import linalg, optimize
from scipy.special import log_softmax

from pgpd_hf import LINKS
from pgpd_hf.likelihood import log_likelihood, require_maximum
from pgpd_hf.policies import softmax

# The search ends where the gradient, divided by the number of votes and multiplied by the root of
# the temperature, is this small. Smaller gradients change the likelihood by less than its rounding.
_TOLERANCE = 1e-7
_SMOOTH = 0.1  # temperature, in units of the largest value, at which the search begins


def learn(cmdp, answers, temperature, utility_weight):
    """Policy (S, A) from answers; of the CMDP only the largest value and the sizes are used."""
    shares = answers.votes / answers.evaluators
    reward, utility = (
        log_policy(cmdp, answers.differences, shares[:, k], answers.numbers, temperature)
        for k in range(2)
    )
    policy = reward + utility_weight * utility
    softmax(policy, policy)
    return policy


def log_policy(cmdp, differences, shares, numbers, temperature):
    """Logarithms (S, A) of the policy that is fitted to comparisons of one signal."""
    shape, numbers = cmdp.reward.shape, numbers.astype(np.float64)
    # At a low temperature the likelihood has kinks, where searches get stuck: approach it.
    advantages = np.zeros(math.prod(shape))
    for steps in range(max(0, math.ceil(math.log10(_SMOOTH / temperature))), -1, -1):
        beta = temperature * 10.0**steps
        found = optimize.minimize(
            negative,
            advantages,
            (beta, cmdp.value_bound, shape, differences, shares, numbers),
            method="trust-exact",
            jac=True,
            hess=hessian,
            options={"gtol": _TOLERANCE / math.sqrt(beta) * numbers.sum()},
        )
        require_maximum(found)
        advantages = found.x
    return log_softmax(advantages.reshape(shape) / temperature, 1)


def negative(advantages, beta, bound, shape, differences, shares, numbers):
    """Negative log-likelihood and log-prior of advantages, and their gradient.

    Advantages are beta times logits, both in units of the largest value.
    """
    given = _parts(advantages, beta, bound, shape, differences, shares, numbers)
    _, centring, (total, score, _) = given
    slope = advantages - bound * centring.T @ (differences.T @ score)
    return advantages @ advantages / 2 - total, slope


def hessian(advantages, beta, bound, shape, differences, shares, numbers):
    """Hessian of `negative`, with the expected information of the votes."""
    given = _parts(advantages, beta, bound, shape, differences, shares, numbers)
    policy, centring, (_, score, information) = given
    fisher = centring.T @ ((differences.T * information) @ differences) @ centring
    # The logarithms of the probabilities are curved themselves.
    bend = policy * (differences.T @ score).reshape(shape).sum(1, keepdims=True)
    curvature = bound**2 * fisher + bound / beta * bend.reshape(-1, 1) * centring
    return np.eye(policy.size) + curvature


def _parts(advantages, beta, bound, shape, differences, shares, numbers):
    """Policy, derivatives of its logarithms by logits, and likelihood of the votes."""
    logits = log_softmax(advantages.reshape(shape) / beta, 1)
    z = bound * beta * (differences @ logits.ravel())
    policy = np.exp(logits)
    centring = linalg.block_diag(*(np.eye(shape[1]) - chances for chances in policy))
    return policy, centring, log_likelihood(LINKS["logistic"].code, z, shares, numbers)
