"""The package itself, behind the peers' interface."""

import numpy as np

import pgpd_hf


def run(task, seeds, iterations, cores):
    """Run all seeds as the workflow does."""
    rows = trace(task, seeds, iterations, cores)
    last = rows[rows["iteration"] == iterations]
    values = last[["reward_value", "utility_value", "multiplier"]].to_numpy()
    gap = last[["optimality_gap", "constraint_violation"]].to_numpy()
    mean_gap = last[["mean_optimality_gap", "mean_constraint_violation"]].to_numpy()
    means = values[:, :2] + gap - mean_gap  # of the values themselves
    return np.concatenate([values, means], axis=1)


def trace(task, seeds, iterations, cores):
    """Trace of all seeds at the default checkpoints."""
    cmdp = pgpd_hf.CMDP(
        task.transition,
        task.reward,
        task.utility,
        task.initial,
        task.discount,
        task.threshold,
        task.scale,
    )
    return pgpd_hf.run(
        cmdp,
        task.algorithm,
        evaluators=task.evaluators,
        seeds=seeds,
        iterations=iterations,
        rounds=task.rounds,
        horizon=task.horizon,
        primal_step=task.primal_step,
        dual_step=task.dual_step,
        multiplier_bound=task.multiplier_bound,
        threads=cores,
        **pgpd_hf.ALGORITHMS[task.algorithm].pick({"perturbation": task.perturbation}),
    )
