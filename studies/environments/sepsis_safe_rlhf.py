r"""ICU-Sepsis with Safe RLHF: reward and utility from answers about the random policy, then a plan.

After Dai et al. (2023, arXiv 2310.12773). Evaluators compare pairs of stays in which treatments are
drawn at random, and say whether the first stay is harmless enough. Reward and utility have the
largest likelihood of these answers, with a ridge around half of the largest signal of a step. The
policy is then best for these estimates by the transitions, which the other methods do not know.
"""

import argparse
import itertools
import json
from functools import cache, partial

import numpy as np
import pandas as pd
from environments.sepsis import declared_cmdp, load_model
from environments.sepsis_runs import horizon_of
from scipy import sparse, special

from pgpd_hf import CMDP, solve
from pgpd_hf.likelihood import fit
from pgpd_hf.optimum import Infeasible, maximize
from pgpd_hf.streams import generator
from pgpd_hf.tables import one_line, write_table
from pgpd_hf.trajectories import absorbing_states

QUESTIONS = 3  # about each pair


def panel(answers, evaluators, most_pairs):
    """Pairs, and evaluators of each: more of them where there may be no more pairs."""
    pairs = min(most_pairs, answers // (QUESTIONS * evaluators))
    return pairs, answers // (QUESTIONS * pairs)


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


def regressions(cmdp, visits, votes):
    """Largest signal, features, votes in favour and offsets, for reward and for utility."""
    first, zeros = visits[::2], np.zeros(len(votes))
    comparisons = first - visits[1::2]
    both = sparse.vstack([comparisons, first], format="csr")
    about_utility = np.concatenate([votes[:, 1], votes[:, 2]])
    offsets = np.concatenate([zeros, zeros - cmdp.threshold])
    yield cmdp.reward.max(), comparisons, votes[:, 0], zeros
    yield cmdp.utility.max(), both, about_utility, offsets


def estimate(cmdp, evaluators, largest, features, favourable, offsets, ridge):
    """Signal (S, A) of largest likelihood."""
    numbers, center = np.full(len(favourable), evaluators), np.full(cmdp.reward.size, largest / 2)
    weight = ridge / cmdp.scale**2
    theta = fit(features, favourable, numbers, "logistic", weight, center, offsets)
    signal = theta.reshape(cmdp.reward.shape)
    return np.where(absorbing_states(cmdp)[:, None], signal[:, :1], signal)


def plan(cmdp, reward, utility):
    """Policy (S, A) that is best for estimates, and its multiplier: nan if no policy is safe."""
    told = cmdp.transition, reward, -utility, -cmdp.threshold, cmdp.initial, cmdp.discount
    try:
        found = solve(CMDP.from_costs(*told, reward_unit=1.0, cost_unit=1.0))
    except Infeasible:  # by the estimates; this policy is the safest
        return maximize(cmdp, utility), np.nan
    return found.policy, found.multiplier


def learn(cmdp, visits, votes, evaluators, ridges):
    """Policy and multiplier from votes (n, 3), for pairs of a ridge of reward and one of utility.

    Of the CMDP only transitions, first states, b, and the largest signals are used. A ridge of
    utility that is None is that of reward.
    """
    asked = regressions(cmdp, visits, votes)
    of_reward, of_utility = (cache(partial(estimate, cmdp, evaluators, *it)) for it in asked)
    return [plan(cmdp, of_reward(ridge), of_utility(other or ridge)) for ridge, other in ridges]


def learned(cmdp, optimum, told, answers, seeds, purpose, ridges):
    """Values of what is learned from so many answers, for each seed and each pair of ridges."""
    pairs, evaluators = panel(answers, told["evaluators"], told["most_pairs"])
    horizon, spent, rows = horizon_of(cmdp, optimum), QUESTIONS * pairs * evaluators, []
    for seed in seeds:
        random = generator(purpose=purpose, method="safe_rlhf", answers=answers, seed=seed)
        visits = sample_visits(cmdp, 2 * pairs, horizon, random)
        votes = random.binomial(evaluators, chances(cmdp, visits))
        found = learn(cmdp, visits, votes, evaluators, ridges)
        for given, (policy, multiplier) in zip(ridges, found, strict=True):
            rows.append((seed, *given, multiplier, spent, *map(float, cmdp.evaluate(policy))))
    names = ["seed", "ridge", "utility_ridge", "multiplier", "answers"]
    return pd.DataFrame(rows, columns=[*names, "reward_value", "utility_value"])


def search(cmdp, optimum, told, answers, seeds, purpose):
    """Scores of all ridges after so many answers, as of steps, and which are best."""
    grid = itertools.product(told["search"]["ridge"], told["search"]["utility_ridge"])
    table = learned(cmdp, optimum, told, answers, seeds, purpose, [*grid])
    gap = (optimum.reward_value - table["reward_value"]).clip(lower=0)
    violation = (cmdp.threshold - table["utility_value"]).clip(lower=0)
    table = table.assign(answers=answers, score=gap + violation)
    keys = ["answers", "ridge", "utility_ridge"]
    table = table.groupby(keys, as_index=False, dropna=False)["score"].mean()
    return table.assign(chosen=table["score"].eq(table["score"].min()))


def main():
    """Read arguments, and write a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--told", required=True, type=json.loads, help="of config.yaml, as JSON")
    parser.add_argument("--part", required=True, choices=["ridge", "runs"])
    parser.add_argument("--name", required=True, help="of the method")
    parser.add_argument("--answers", required=True, type=int, help="that are asked for")
    parser.add_argument("--table", required=True, help="CSV file that is written")
    options = parser.parse_args()
    told, model = options.told, load_model()
    cmdp = declared_cmdp(model, told)
    asked = cmdp, solve(cmdp), told["method"], options.answers, range(told["seeds"])
    if options.part == "ridge":
        table = search(*asked, f"{told['purpose']} search")
    else:
        table = learned(*asked, told["purpose"], [told["ridges"]])
        values = table.pop("reward_value"), table.pop("utility_value")
        table["survival"], table["fluids"] = cmdp.in_units(*values)
        table.insert(1, "iteration", None)  # there are none
        table = table.drop(columns=["ridge", "utility_ridge"])
    table.insert(0, "method", options.name)
    write_table(table, options.table)


if __name__ == "__main__":
    with one_line():
        main()
