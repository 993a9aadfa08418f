r"""Gradients from perturbed policies: items 5 and 8, which need a mean over directions.

Directions are tangent to the simplex, and as long as the policy stays a policy: beyond it the
paper's objects are not defined (docs/audit.md). The functions of the items take a
:class:`~pgpd_hf.theory.problems.Problem` and return a list of
:class:`~pgpd_hf.theory.problems.Result`.
"""

import math
from dataclasses import dataclass

import numpy as np

from pgpd_hf.policies import uniform_policy
from pgpd_hf.theory import exact
from pgpd_hf.theory.constants import OutsideAssumptions
from pgpd_hf.theory.problems import Result, mean_error

_DIRECTIONS = 2000


@dataclass
class Sphere:
    """Directions tangent to the simplex around the uniform policy.

    Attributes
    ----------
    centre : ndarray, float64, shape (S, A)
        The uniform policy.
    directions, inside : ndarray, float64, shape (K, S, A)
        Uniform on the unit sphere and in the unit ball of the tangent space.
    radius : float
        Largest perturbation up to that of the setting that leaves policies policies.
    dimension : int
        |S|(|A| - 1).
    """

    centre: np.ndarray
    directions: np.ndarray
    inside: np.ndarray
    radius: float
    dimension: int

    @property
    def note(self):
        """str: what was measured where."""
        return f"tangent directions, dimension {self.dimension}, mu = {self.radius:.3g}"


def tangent_sphere(problem, count=_DIRECTIONS):
    """Sample directions in which a perturbed uniform policy stays a policy.

    Parameters
    ----------
    problem : Problem
        Supplies the process and the perturbation.
    count : int
        Number of directions.

    Returns
    -------
    Sphere
    """
    states, actions = problem.cmdp.states, problem.cmdp.actions
    if actions == 1:
        raise OutsideAssumptions("actions: with one action there is no direction to perturb in")
    random = problem.random("sphere")
    normals = random.standard_normal((count, states, actions))
    normals -= normals.mean(-1, keepdims=True)
    directions = normals / np.sqrt((normals**2).sum((1, 2), keepdims=True))
    dimension = states * (actions - 1)
    shrink = random.random((count, 1, 1)) ** (1 / dimension)
    # An entry of a tangent unit vector is at most sqrt(1 - 1/A).
    room = 1 / (actions * math.sqrt(1 - 1 / actions))
    radius = min(problem.constants.perturbation, room)
    centre = uniform_policy(states, actions)
    return Sphere(centre, directions, shrink * directions[::-1], radius, dimension)


def smoothing(problem):
    """Item 5: the sphere's estimate against the ball's gradient, and their distances."""
    sphere, smoothness = tangent_sphere(problem), problem.constants.smoothness
    radius, dimension = sphere.radius, sphere.dimension
    moves = {"method": "Monte Carlo", "reason": sphere.note}
    worst = {}
    for signal in problem.signals:
        cmdp = problem.cmdp
        steepest = _tangent(exact.gradient(cmdp, sphere.centre, signal))
        value = exact.value(cmdp, sphere.centre, signal)
        ahead = exact.value(cmdp, sphere.centre + radius * sphere.directions, signal) - value
        behind = exact.value(cmdp, sphere.centre - radius * sphere.directions, signal) - value
        # E[(d/mu) <grad, mu v> v] is the gradient: only what is not linear needs sampling.
        linear = radius * (steepest * sphere.directions).sum((1, 2))
        bent = dimension / radius * ((ahead - behind) / 2 - linear)[:, None, None]
        sphere_part = bent * sphere.directions
        around = [
            _tangent(exact.gradient(cmdp, sphere.centre + sign * radius * sphere.inside, signal))
            for sign in (1, -1)
        ]
        ball_part = sum(around) / 2 - steepest
        difference, noise = _mean_norm(sphere_part, ball_part)
        smoothed = [
            exact.value(cmdp, sphere.centre + sign * radius * sphere.inside, signal) - value
            for sign in (1, -1)
        ]
        shift, shift_error = mean_error(sum(smoothed) / 2)
        bend, bend_noise = _mean_norm(ball_part)
        squares, squares_error = mean_error((dimension / radius * ahead) ** 2)
        steepness = 2 * dimension * (steepest**2).sum()
        found = {
            # The two means differ by chance only: three standard errors.
            "5a": Result("5a", difference, 3 * noise, **moves),
            "5b": Result("5b", abs(shift), smoothness * radius**2 / 2, error=shift_error, **moves),
            "5c": Result(
                "5c", bend, radius * smoothness * dimension / 2, error=2 * bend_noise, **moves
            ),
            "5d": Result(
                "5d",
                squares,
                steepness + (radius * smoothness * dimension) ** 2 / 2,
                error=squares_error,
                **moves,
            ),
        }
        for key, result in found.items():
            # 0 <= 0 where the value is linear in the policy
            harder = result.measured / result.bound if result.bound > 0 else result.measured
            if key not in worst or harder > worst[key][0]:
                worst[key] = harder, result
    return [result for _, result in worst.values()]


def gradient_bias(problem):
    r"""Item 8: smoothing and truncation over directions, and people's largest bias.

    With :math:`|f| \le c`, :math:`\|E f(v) v\| \le c\,E|\langle v, u\rangle| \le c/\sqrt d`.
    """
    cmdp, constants, sphere = problem.cmdp, problem.constants, tangent_sphere(problem)
    scale = sphere.dimension / sphere.radius
    largest = constants.return_bound
    bias = np.abs(problem.feedback_error(-largest, largest).bias).max()
    worst = 0.0, 0.0
    for signal in problem.signals:
        steepest = _tangent(exact.gradient(cmdp, sphere.centre, signal))
        linear = sphere.radius * (steepest * sphere.directions).sum((1, 2))
        returns = [
            exact.finite_horizon_values(
                cmdp,
                sphere.centre + sign * sphere.radius * sphere.directions,
                signal,
                problem.setting.horizon,
            )[0]
            @ cmdp.initial
            for sign in (1, -1)
        ]
        odd = (returns[0] - returns[1]) / 2  # what is even in v has mean zero
        worst = max(worst, _mean_norm(scale * (odd - linear)[:, None, None] * sphere.directions))
    return [
        Result(
            "8",
            worst[0] + scale * bias / math.sqrt(sphere.dimension),
            constants.gradient_bias_at(sphere.radius, sphere.dimension),
            "Monte Carlo",
            2 * worst[1],
            sphere.note,
        )
    ]


def _tangent(gradients):
    """Part of a gradient that keeps rows' sums."""
    return gradients - gradients.mean(-1, keepdims=True)


def _mean_norm(*samples):
    """Norm of the (difference of) means of arrays, and the standard error of that norm."""
    means = [sample.mean(0) for sample in samples]
    noise = sum(sample.var(0, ddof=1).sum() / len(sample) for sample in samples)
    difference = means[0] - means[1] if len(means) == 2 else means[0]
    return float(np.sqrt((difference**2).sum())), float(np.sqrt(noise))
