"""NumPy without compilation: all seeds and all trajectories take each step together."""

from functools import partial
from multiprocessing import get_context

import numpy as np


def run(task, seeds, iterations, cores):
    """Run all seeds together; on several cores, a share of them in each process."""
    if cores == 1:
        return run_together(task, iterations, seeds)
    shares = [share for share in np.array_split(seeds, cores) if len(share)]
    with get_context("fork").Pool(cores) as pool:
        return np.concatenate(pool.map(partial(run_together, task, iterations), shares))


def run_together(task, iterations, seeds):
    rng = np.random.default_rng(list(seeds))
    states, actions = task.reward.shape
    natural = task.algorithm == "npgpd_hf"
    estimate = estimate_advantages if natural else estimate_gradient
    theta = np.full((len(seeds), states, actions), 0 if natural else 1 / actions)
    multiplier = np.zeros(len(seeds))
    trace = np.empty((len(seeds), iterations + 1, 3))
    for t in range(iterations + 1):
        policy = softmax(theta) if natural else theta
        trace[:, t, :2] = exact_values(task, policy)
        trace[:, t, 2] = multiplier
        if t == iterations:
            return np.concatenate([trace[:, -1], trace[:, :, :2].mean(axis=1)], axis=1)
        direction, excess = estimate(task, rng, policy, multiplier)
        if natural:
            theta = theta + task.primal_step / (1 - task.discount) * direction
        else:
            theta = project(theta + task.primal_step * direction)
        multiplier = np.clip(multiplier - task.dual_step * excess, 0, task.multiplier_bound)


def estimate_advantages(task, rng, policy, multiplier):
    """NPGPD-HF: compare a trajectory from every (s, a) with one from s."""
    seeds, states, actions = policy.shape
    every = np.arange(states)
    round_start = np.concatenate([every, np.repeat(every, actions), [0]])
    first_action = np.concatenate([np.full(states, -1), np.tile(np.arange(actions), states), [-1]])
    start = np.tile(round_start, (seeds, task.rounds, 1))  # (seeds, N, S + S A + 1)
    start[:, :, -1] = rng.choice(states, p=task.initial, size=(seeds, task.rounds))
    first_action = np.broadcast_to(first_action, start.shape)
    returns = sample(task, rng, policy[:, None], np.zeros_like(start), start, first_action)
    from_state = returns[:, :, :states]
    from_pair = returns[:, :, states:-1].reshape(seeds, task.rounds, states, actions, 2)
    answers = ask(task, rng, from_pair - from_state[:, :, :, None]).mean(1)  # (seeds, S, A, 2)
    excess = ask(task, rng, returns[:, :, -1, 1] - task.threshold).mean(1)
    return answers[..., 0] + multiplier[:, None, None] * answers[..., 1], excess


def estimate_gradient(task, rng, policy, multiplier):
    """ZPGPD-HF: compare trajectories of a randomly perturbed policy with those of the policy."""
    seeds, states, actions = policy.shape
    direction = rng.standard_normal(policy.shape)
    direction /= np.linalg.norm(direction, axis=(1, 2), keepdims=True)
    followed = np.stack([policy, project(policy + task.perturbation * direction)], axis=1)
    first = rng.choice(states, p=task.initial, size=(seeds, task.rounds, 1))
    start = np.broadcast_to(first, (seeds, task.rounds, 2))
    which = np.broadcast_to([0, 1], start.shape)
    returns = sample(task, rng, followed, which, start, np.full(start.shape, -1))
    answers = ask(task, rng, returns[:, :, 1] - returns[:, :, 0]).mean(1)  # (seeds, 2)
    excess = ask(task, rng, returns[:, :, 0, 1] - task.threshold).mean(1)
    slope = states * actions / task.perturbation * (answers[:, 0] + multiplier * answers[:, 1])
    return slope[:, None, None] * direction, excess


def sample(task, rng, followed, which, start, first_action):
    """Discounted sums of reward and utility, shape (*start.shape, 2), of all trajectories."""
    cumulative_policy = followed.cumsum(-1)
    cumulative_transition = task.transition.cumsum(-1)
    signals = np.stack([task.reward, task.utility], axis=-1)
    states, actions = task.reward.shape
    seed = np.arange(len(start))[:, None, None]
    state = start
    returns = np.zeros((*start.shape, 2))
    weight = 1.0
    for t in range(task.horizon + 1):
        chance = rng.random((2, *start.shape, 1))
        action = (chance[0] >= cumulative_policy[seed, which, state]).sum(-1)
        action = np.minimum(action, actions - 1)  # the last cumulative sum may be below one
        if t == 0:
            action = np.where(first_action >= 0, first_action, action)
        returns += weight * signals[state, action]
        state = (chance[1] >= cumulative_transition[state, action]).sum(-1)
        state = np.minimum(state, states - 1)
        weight *= task.discount
    return returns


def ask(task, rng, difference):
    """Estimate a difference from M votes: the inverse link of the clipped frequency."""
    votes = rng.binomial(task.evaluators, 1 / (1 + np.exp(-difference)))
    lowest = 1 / (1 + np.exp(task.return_bound))
    frequency = np.clip(votes / task.evaluators, lowest, 1 - lowest)
    return np.log(frequency / (1 - frequency))


def exact_values(task, policy):
    kernel = np.einsum("...sa,sat->...st", policy, task.transition)
    resolvent = np.eye(len(task.initial)) - task.discount * kernel
    right = np.broadcast_to(task.initial[:, None], (len(policy), len(task.initial), 1))
    occupancy = np.linalg.solve(np.swapaxes(resolvent, 1, 2), right) * policy
    signals = np.stack([task.reward, task.utility], axis=-1)
    return np.einsum("bsa,sac->bc", occupancy, signals)


def softmax(theta):
    weights = np.exp(theta - theta.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def project(theta):
    """Project each row on the simplex, by sorting."""
    descending = -np.sort(-theta, axis=-1)
    excess = np.cumsum(descending, axis=-1) - 1
    counts = np.arange(1, theta.shape[-1] + 1)
    support = (descending - excess / counts > 0).sum(axis=-1, keepdims=True)
    shift = np.take_along_axis(excess, support - 1, axis=-1) / support
    return np.maximum(theta - shift, 0)
