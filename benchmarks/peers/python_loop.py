"""Plain Python, the field's usual research code: step by step, ``rng.choice`` twice in each."""

import math
from functools import partial
from multiprocessing import get_context

import numpy as np


def run(task, seeds, iterations, cores):
    """Run every seed, on several cores in as many processes."""
    simulate = partial(run_seed, task, iterations)
    if cores == 1:
        traces = np.array([simulate(seed) for seed in seeds])
    else:
        with get_context("fork").Pool(cores) as pool:
            traces = np.array(pool.map(simulate, seeds))
    return np.concatenate([traces[:, -1], traces[:, :, :2].mean(axis=1)], axis=1)


def run_seed(task, iterations, seed):
    rng = np.random.default_rng(seed)
    states, actions = task.reward.shape
    natural = task.algorithm == "npgpd_hf"
    theta = np.zeros((states, actions)) if natural else np.full((states, actions), 1 / actions)
    multiplier = 0.0
    trace = []
    for _ in range(iterations):
        policy = softmax(theta) if natural else theta
        trace.append([*exact_values(task, policy), multiplier])
        if natural:
            direction, excess = estimate_advantages(task, rng, policy, multiplier)
            theta = theta + task.primal_step / (1 - task.discount) * direction
        else:
            direction, excess = estimate_gradient(task, rng, policy, multiplier)
            theta = project(theta + task.primal_step * direction)
        multiplier = min(max(multiplier - task.dual_step * excess, 0), task.multiplier_bound)
    trace.append([*exact_values(task, softmax(theta) if natural else theta), multiplier])
    return trace


def estimate_advantages(task, rng, policy, multiplier):
    """NPGPD-HF: compare a trajectory from every (s, a) with one from s."""
    states, actions = policy.shape
    advantage, excess = np.zeros((states, actions)), 0.0
    for _ in range(task.rounds):
        from_state = [sample(task, rng, policy, s) for s in range(states)]
        for s in range(states):
            for a in range(actions):
                reward, utility = sample(task, rng, policy, s, a)
                advantage[s, a] += ask(task, rng, reward - from_state[s][0])
                advantage[s, a] += multiplier * ask(task, rng, utility - from_state[s][1])
        _, utility = sample(task, rng, policy, rng.choice(states, p=task.initial))
        excess += ask(task, rng, utility - task.threshold)
    return advantage / task.rounds, excess / task.rounds


def estimate_gradient(task, rng, policy, multiplier):
    """ZPGPD-HF: compare trajectories of a randomly perturbed policy with those of the policy."""
    direction = rng.standard_normal(policy.shape)
    direction /= np.linalg.norm(direction)
    perturbed = project(policy + task.perturbation * direction)
    slope = excess = 0.0
    for _ in range(task.rounds):
        first = rng.choice(len(policy), p=task.initial)
        base = sample(task, rng, policy, first)
        other = sample(task, rng, perturbed, first)
        slope += ask(task, rng, other[0] - base[0])
        slope += multiplier * ask(task, rng, other[1] - base[1])
        excess += ask(task, rng, base[1] - task.threshold)
    slope *= policy.size / task.perturbation / task.rounds
    return slope * direction, excess / task.rounds


def sample(task, rng, policy, state, action=None):
    """Discounted sums of reward and utility along one trajectory."""
    states, actions = policy.shape
    reward = utility = 0.0
    weight = 1.0
    for _ in range(task.horizon + 1):
        if action is None:
            action = rng.choice(actions, p=policy[state])
        reward += weight * task.reward[state, action]
        utility += weight * task.utility[state, action]
        state = rng.choice(states, p=task.transition[state, action])
        action = None
        weight *= task.discount
    return reward, utility


def ask(task, rng, difference):
    """Estimate a difference from M votes: the inverse link of the clipped frequency."""
    votes = rng.binomial(task.evaluators, 1 / (1 + math.exp(-difference)))
    bound = task.return_bound
    lowest, highest = 1 / (1 + math.exp(bound)), 1 / (1 + math.exp(-bound))
    frequency = min(max(votes / task.evaluators, lowest), highest)
    return math.log(frequency / (1 - frequency))


def exact_values(task, policy):
    kernel = np.einsum("sa,sat->st", policy, task.transition)
    resolvent = np.eye(len(policy)) - task.discount * kernel
    occupancy = np.linalg.solve(resolvent.T, task.initial)[:, None] * policy
    return (occupancy * task.reward).sum(), (occupancy * task.utility).sum()


def softmax(theta):
    weights = np.exp(theta - theta.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def project(theta):
    """Project each row on the simplex, by sorting."""
    descending = -np.sort(-theta, axis=1)
    excess = np.cumsum(descending, axis=1) - 1
    counts = np.arange(1, theta.shape[1] + 1)
    support = (descending - excess / counts > 0).sum(axis=1)
    shift = excess[np.arange(len(theta)), support - 1] / support
    return np.maximum(theta - shift[:, None], 0)
