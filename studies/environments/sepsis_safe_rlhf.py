r"""ICU-Sepsis with Safe RLHF: reward and utility from answers about the random policy, then a plan.

After Dai et al. (2023, arXiv 2310.12773). Evaluators compare pairs of stays in which treatments are
drawn at random, and say whether the first stay is harmless enough. Reward and utility have the
largest likelihood of these answers, with a ridge around half of the largest signal of a step. The
policy is then best for these estimates by the transitions, which the other methods do not know.
"""

from functools import cache

import numpy as np
from scipy import sparse, special

from pgpd_hf import CMDP, solve
from pgpd_hf.likelihood import fit
from pgpd_hf.optimum import Infeasible, maximize
from pgpd_hf.streams import generator
from pgpd_hf.trajectories import absorbing_states

QUESTIONS = 3  # about each pair


def sample_visits(cmdp, count, horizon, random):
    """Discounted visits (count, S * A), sparse, of trajectories of the uniform policy.

    All that is left of a trajectory in an absorbing state counts for the first action.
    """
    following = sparse.csr_array(cmdp.transition.reshape(-1, cmdp.states))
    edges = np.append(0.0, np.cumsum(following.data))  # a part of the line for each next state
    absorbing = absorbing_states(cmdp)
    who, state = np.arange(count), random.choice(cmdp.states, count, p=cmdp.initial)
    steps = []
    for t in range(horizon + 1):
        ended = absorbing[state]
        pair = cmdp.actions * state
        pair += np.where(ended, 0, random.integers(cmdp.actions, size=len(state)))
        rest = (1 - cmdp.discount ** (horizon + 1 - t)) / (1 - cmdp.discount)
        steps.append((cmdp.discount**t * np.where(ended, rest, 1.0), who, pair))
        who, pair = who[~ended], pair[~ended]
        first, last = edges[following.indptr[pair]], edges[following.indptr[pair + 1]]
        point = first + random.random(len(pair)) * (last - first)
        state = following.indices[np.searchsorted(edges, point, side="right") - 1]
    weight, who, pair = (np.concatenate(column) for column in zip(*steps, strict=True))
    return sparse.csr_array((weight, (who, pair)), shape=(count, cmdp.reward.size))


def chances(cmdp, visits):
    """Of a vote for the first of each pair as more helpful, more harmless, harmless enough."""
    returns = visits @ np.stack([cmdp.reward.ravel(), cmdp.utility.ravel()], axis=1)
    differences = returns[::2] - returns[1::2]
    return special.expit(np.column_stack([differences, returns[::2, 1] - cmdp.threshold]))


def plan(cmdp, reward, utility):
    """Policy (S, A) that is best for estimates, and its multiplier: nan if no policy is safe."""
    told = cmdp.transition, reward, -utility, -cmdp.threshold, cmdp.initial, cmdp.discount
    try:
        found = solve(CMDP.from_costs(*told, reward_unit=1.0, cost_unit=1.0))
    except Infeasible:  # by the estimates; this policy is the safest
        return maximize(cmdp, utility), np.nan
    return found.policy, found.multiplier


def learn(cmdp, visits, votes, evaluators, choices):
    """Policy and multiplier from votes (n, 3), for each choice of ridges of reward and utility.

    Of the CMDP only transitions, first states, b, and the largest signals are used. Utility
    may have no ridge of its own.
    """
    first, offsets = visits[::2], np.repeat([0.0, -cmdp.threshold], len(votes))
    comparisons = first - visits[1::2]
    both = sparse.vstack([comparisons, first], format="csr")
    asked = {  # features, votes in favour, offsets, and the largest signal of a step
        "reward": (comparisons, votes[:, 0], 0.0, cmdp.reward.max()),
        "utility": (both, votes[:, 1:].ravel("F"), offsets, cmdp.utility.max()),
    }

    @cache
    def estimate(what, ridge):
        """Signal (S, A) of largest likelihood."""
        features, favourable, offset, largest = asked[what]
        weight, center = ridge / cmdp.scale**2, np.full(cmdp.reward.size, largest / 2)
        numbers = np.full(len(favourable), evaluators)
        theta = fit(features, favourable, numbers, "logistic", weight, center, offset)
        signal = theta.reshape(cmdp.reward.shape)
        return np.where(absorbing_states(cmdp)[:, None], signal[:, :1], signal)

    for choice in choices:
        ridge = choice["ridge"]
        other = choice.get("utility_ridge", ridge)
        yield plan(cmdp, estimate("reward", ridge), estimate("utility", other))


def learned(cmdp, given, choices, seed, purpose):
    """Policies that are learned from so many answers, and what is told of each."""
    pairs = min(given["most_pairs"], given["answers"] // (QUESTIONS * given["evaluators"]))
    evaluators = given["answers"] // (QUESTIONS * pairs)  # more of them at the most pairs
    told = {"iteration": np.nan, "answers": QUESTIONS * pairs * evaluators}
    random = generator(purpose=purpose, method="safe_rlhf", answers=given["answers"], seed=seed)
    visits = sample_visits(cmdp, 2 * pairs, given["horizon"], random)
    votes = random.binomial(evaluators, chances(cmdp, visits))
    found = learn(cmdp, visits, votes, evaluators, choices)
    for options, (policy, multiplier) in zip(choices, found, strict=True):
        yield policy, options | told | {"multiplier": multiplier}
