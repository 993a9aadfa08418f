"""JAX: one iteration is a function, ``scan`` repeats it, ``vmap`` adds seeds, ``jit`` compiles.

On several cores the seeds are sharded over as many host devices; ``XLA_FLAGS`` has to announce them
before JAX is imported (see `worker`).
"""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec


def run(task, seeds, iterations, cores):
    """Run all seeds together, as many of them on each core."""
    keys = jax.vmap(jax.random.key)(jnp.asarray(seeds))
    used = max(k for k in range(1, cores + 1) if len(seeds) % k == 0)
    mesh = Mesh(np.array(jax.devices()[:used]), ("seeds",))
    keys = jax.device_put(keys, NamedSharding(mesh, PartitionSpec("seeds")))
    arrays = (task.transition, task.reward, task.utility, task.initial)
    rest = tuple(v for v in task if not isinstance(v, np.ndarray))
    return np.asarray(simulate(keys, *arrays, rest=rest, iterations=iterations))


@partial(jax.jit, static_argnames=("rest", "iterations"))
def simulate(keys, transition, reward, utility, initial, *, rest, iterations):
    """Run one seed per key."""
    algorithm, discount, threshold, scale, evaluators, rounds, horizon, *steps = rest
    primal_step, dual_step, multiplier_bound, perturbation = steps
    states, actions = reward.shape
    natural = algorithm == "npgpd_hf"
    signals = jnp.stack([reward, utility], axis=-1)
    cumulative_transition = jnp.cumsum(transition, axis=-1)
    cumulative_initial = jnp.cumsum(initial)
    bound = scale * (1 - discount ** (horizon + 1)) / (1 - discount)

    def exact_values(policy):
        resolvent = jnp.eye(states) - discount * jnp.einsum("sa,sat->st", policy, transition)
        occupancy = jnp.linalg.solve(resolvent.T, initial)[:, None] * policy
        return jnp.einsum("sa,sac->c", occupancy, signals)

    def ask(key, difference):
        chance = jax.nn.sigmoid(difference)
        votes = (jax.random.uniform(key, (evaluators, *chance.shape)) < chance).sum(0)
        frequency = jnp.clip(votes / evaluators, jax.nn.sigmoid(-bound), jax.nn.sigmoid(bound))
        return jnp.log(frequency / (1 - frequency))

    def sample(key, followed, which, start, first_action):
        """Discounted sums of reward and utility, shape (trajectories, 2)."""
        cumulative_policy = jnp.cumsum(followed, axis=-1)
        chances = jax.random.uniform(key, (horizon + 1, 2, *start.shape))

        def step(carry, inputs):
            state, forced, returns = carry
            chance, weight = inputs
            # The last cumulative sum is left out: rounding may leave it below one.
            cuts = cumulative_policy[which, state, :-1]
            action = (chance[0][:, None] >= cuts).sum(-1)
            action = jnp.where(forced >= 0, forced, action)
            returns = returns + weight * signals[state, action]
            cuts = cumulative_transition[state, action, :-1]
            state = (chance[1][:, None] >= cuts).sum(-1)
            return (state, jnp.full_like(forced, -1), returns), None

        weights = discount ** jnp.arange(horizon + 1)
        begin = (start, first_action, jnp.zeros((*start.shape, 2)))
        return jax.lax.scan(step, begin, (chances, weights))[0][2]

    def first_states(key):
        chances = jax.random.uniform(key, (rounds, 1))
        return (chances >= cumulative_initial[:-1]).sum(-1)

    def estimate_advantages(key, policy, multiplier):
        """NPGPD-HF: compare a trajectory from every (s, a) with one from s."""
        keys = jax.random.split(key, 4)
        every = jnp.arange(states)
        fixed = jnp.concatenate([every, jnp.repeat(every, actions)])
        fixed = jnp.broadcast_to(fixed, (rounds, len(fixed)))
        start = jnp.concatenate([fixed, first_states(keys[0])[:, None]], axis=1)
        first_action = jnp.concatenate(
            [jnp.full(states, -1), jnp.tile(jnp.arange(actions), states), jnp.array([-1])]
        )
        first_action = jnp.broadcast_to(first_action, start.shape)
        which = jnp.zeros(start.size, int)
        returns = sample(keys[1], policy[None], which, start.ravel(), first_action.ravel())
        returns = returns.reshape(rounds, -1, 2)
        from_pair = returns[:, states:-1].reshape(rounds, states, actions, 2)
        answers = ask(keys[2], from_pair - returns[:, :states, None]).mean(0)
        excess = ask(keys[3], returns[:, -1, 1] - threshold).mean()
        return answers[..., 0] + multiplier * answers[..., 1], excess

    def estimate_gradient(key, policy, multiplier):
        """ZPGPD-HF: compare trajectories of a randomly perturbed policy with the policy's."""
        keys = jax.random.split(key, 5)
        direction = jax.random.normal(keys[0], policy.shape)
        direction /= jnp.linalg.norm(direction)
        followed = jnp.stack([policy, project(policy + perturbation * direction)])
        start = jnp.repeat(first_states(keys[1]), 2)
        which = jnp.tile(jnp.arange(2), rounds)
        returns = sample(keys[2], followed, which, start, jnp.full_like(start, -1))
        returns = returns.reshape(rounds, 2, 2)
        answers = ask(keys[3], returns[:, 1] - returns[:, 0]).mean(0)
        excess = ask(keys[4], returns[:, 0, 1] - threshold).mean()
        slope = states * actions / perturbation * (answers[0] + multiplier * answers[1])
        return slope * direction, excess

    def iteration(carry, _):
        key, theta, multiplier = carry
        key, now = jax.random.split(key)
        policy = jax.nn.softmax(theta) if natural else theta
        record = jnp.append(exact_values(policy), multiplier)
        if natural:
            direction, excess = estimate_advantages(now, policy, multiplier)
            theta = theta + primal_step / (1 - discount) * direction
        else:
            direction, excess = estimate_gradient(now, policy, multiplier)
            theta = project(theta + primal_step * direction)
        multiplier = jnp.clip(multiplier - dual_step * excess, 0, multiplier_bound)
        return (key, theta, multiplier), record

    def one(key):
        theta = jnp.full((states, actions), 0.0 if natural else 1 / actions)
        carry, trace = jax.lax.scan(iteration, (key, theta, 0.0), length=iterations)
        _, theta, multiplier = carry
        policy = jax.nn.softmax(theta) if natural else theta
        last = jnp.append(exact_values(policy), multiplier)
        mean = (trace[:, :2].sum(0) + last[:2]) / (iterations + 1)
        return jnp.concatenate([last, mean])

    return jax.vmap(one)(keys)


def project(theta):
    """Project each row on the simplex, by sorting."""
    descending = -jnp.sort(-theta, axis=-1)
    excess = jnp.cumsum(descending, axis=-1) - 1
    counts = jnp.arange(1, theta.shape[-1] + 1)
    support = (descending - excess / counts > 0).sum(axis=-1, keepdims=True)
    shift = jnp.take_along_axis(excess, support - 1, axis=-1) / support
    return jnp.maximum(theta - shift, 0)
